"""The example of an extension module in a crate of its own, built and called."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATE = ROOT / "examples" / "third_crate"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the compiled module. Cargo's own folder is the one the package was built in."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "pyburn" / "target"))
    # Alone in the target folder, which other checkouts may share.
    alone = [] if sys.platform == "win32" else [str(ROOT / "tools" / "with_target.sh")]
    built = subprocess.run(
        [*alone, "cargo", "build", "--release", "--locked", "--package", "third_crate"],
        cwd=ROOT,
        env={**os.environ, "CARGO_TARGET_DIR": str(target)},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr[-4000:]
    names = {"win32": "third_crate.dll", "darwin": "libthird_crate.dylib"}
    suffix = ".pyd" if sys.platform == "win32" else ".abi3.so"
    folder = tmp_path_factory.mktemp("extension")
    library = target / "release" / names.get(sys.platform, "libthird_crate.so")
    shutil.copy(library, folder / f"third_crate{suffix}")
    return folder


@pytest.fixture
def run(folder):
    """Runs a script that may import the module; the subprocess keeps two engines out of this "
    "one."""

    def run(script):
        path = os.pathsep.join([str(folder), str(ROOT / "python"), *sys.path])
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_readme_runs(run):
    text = (CRATE / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len(blocks) == 2
    expected = [line.split("# ")[1] for line in "".join(blocks).splitlines() if "print(" in line]
    assert run("\n".join(blocks)).splitlines() == expected


def test_memory_is_shared_both_ways(run):
    run("""
import gc
import third_crate, pyburn

x = pyburn.arange(12.0).reshape(3, 4)
y = third_crate.same(x)
assert y.data_ptr() == x.data_ptr() and y.shape == x.shape and y.dtype == x.dtype
y[0, 0] = 7.0
assert x[0, 0].item() == 7.0
view = third_crate.same(x.t()[1:])
assert view.data_ptr() == x.t()[1:].data_ptr() and view.stride() == x.t()[1:].stride()
assert (view == x.t()[1:]).all()

# The result keeps the memory when the argument is gone.
del x, view
gc.collect()
filler = [pyburn.full((3, 4), -1.0) for _ in range(100)]
assert y.tolist()[0] == [7.0, 1.0, 2.0, 3.0]

for dtype in (pyburn.bool, pyburn.uint8, pyburn.int64, pyburn.float16, pyburn.bfloat16,
              pyburn.float64, pyburn.complex64):
    x = pyburn.ones(2, dtype=dtype)
    assert third_crate.same(x).dtype == dtype and third_crate.same(x).data_ptr() == x.data_ptr()
assert third_crate.same(pyburn.tensor(3.0)).shape == ()
assert third_crate.same(pyburn.zeros(0, 3)).shape == (0, 3)
""")


def test_values_match(run):
    run("""
import numpy as np
import third_crate, pyburn

x = pyburn.randn(50, 7, dtype=pyburn.float64)[::2].t()
wanted = np.sign(x.numpy()) * np.maximum(np.abs(x.numpy()) - 0.5, 0)
got = third_crate.soft_threshold(x, 0.5)
assert isinstance(got, pyburn.Tensor) and got.shape == x.shape
np.testing.assert_array_equal(got.numpy(), wanted)
assert np.isnan(third_crate.soft_threshold(pyburn.tensor([float("nan")]), 0.5).numpy()).all()
# Other libraries' arrays go in by the same protocol.
assert third_crate.soft_threshold(np.array([2.0]), 0.5).tolist() == [1.5]
""")


def test_gradient_by_function(run):
    run("""
import third_crate, pyburn

class SoftThreshold(pyburn.autograd.Function):
    @staticmethod
    def forward(ctx, x, by):
        ctx.save_for_backward(x)
        ctx.by = by
        return third_crate.soft_threshold(x.detach(), by)

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return third_crate.soft_threshold_backward(grad.detach(), x.detach(), ctx.by), None

x = pyburn.linspace(-3, 3, 12, dtype=pyburn.float64).reshape(3, 4).requires_grad_()
assert pyburn.autograd.gradcheck(lambda x: SoftThreshold.apply(x, 0.5) * x, (x,))
""")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("same([1.0])", "TypeError", "expected a pyburn.Tensor or another object with __dlpack__"),
        ("same(pyburn.ones(2, requires_grad=True))", "BufferError", "detach"),
        ("same(pyburn.ones(2, device='meta'))", "BufferError", "meta tensor has no data"),
        (
            "soft_threshold(pyburn.tensor([1]), 1.0)",
            "RuntimeError",
            "not implemented for dtype int64",
        ),
        ("soft_threshold(pyburn.ones(2), 'a')", "TypeError", "must be real number, not str"),
        (
            "soft_threshold_backward(pyburn.ones(2), pyburn.ones(3), 1.0)",
            "RuntimeError",
            "expected two tensors of one shape and dtype",
        ),
    ],
)
def test_errors_are_exceptions(run, call, error, message):
    printed = run(f"""
import third_crate, pyburn
try:
    third_crate.{call}
except Exception as fault:
    print(type(fault).__name__, fault)
""")
    assert printed.startswith(f"{error} ")
    assert message in printed
