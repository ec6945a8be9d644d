"""A device that is not there is an exception that says why, never an abort."""

import subprocess
import sys

import pyburn
import pytest


def missing():
    """Names of the backends this machine or this build lacks."""
    return [name for name in ("cuda", "wgpu") if not available(name)]


def available(name):
    try:
        pyburn.zeros(1, device=name)
    except (pyburn.DeviceError, RuntimeError, NotImplementedError):
        return False
    return True


@pytest.mark.parametrize("name", ["cuda", "wgpu", "cuda:77", "wgpu:77"])
def test_using_it_raises_and_names_it(name):
    if available(name):
        pytest.skip(f"this machine has {name}")
    for use in (
        lambda: pyburn.zeros(1, device=name),
        lambda: pyburn.ones(2).to(name),
        lambda: pyburn.tensor([1.0], device=name),
    ):
        with pytest.raises(RuntimeError, match=name.split(":")[0]) as caught:
            use()
        assert isinstance(caught.value, pyburn.DeviceError)
        assert "panic" not in str(caught.value)


def test_the_process_goes_on():
    for name in missing():
        with pytest.raises(RuntimeError):
            pyburn.zeros(1, device=name)
    assert (pyburn.ones(2) + 1).tolist() == [2, 2]


def test_the_list_of_backends_says_why():
    found = {str(entry.name).lower(): entry for entry in pyburn.backends()}
    assert any("cpu" in name or "ndarray" in name for name in found)
    for entry in found.values():
        assert isinstance(entry.available, bool)
        if not entry.available:
            assert entry.reason


def test_asking_for_cuda_is_always_answered():
    assert pyburn.cuda.is_available() is available("cuda")
    assert pyburn.cuda.device_count() == 0 or available("cuda")


def test_import_touches_no_device():
    """A fresh interpreter that only imports must not load a driver."""
    script = (
        "import pyburn\n"
        "maps = open('/proc/self/maps').read() if __import__('os').path.exists('/proc/self/maps') "
        "else ''\n"
        "assert 'libcuda.so' not in maps and 'libvulkan' not in maps, 'a driver was loaded'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
