"""The examples in docstrings run and print what they say.

They know the names of their module, `pyburn`, and `nn` and `F` as every program abbreviates them.
"""

from __future__ import annotations

import ast
import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pyburn
import pytest

PACKAGE = Path(pyburn.__file__).parent
DOCUMENTED = ast.Module, ast.ClassDef, ast.FunctionDef


def module_of(path: Path) -> str:
    """The name of the module that a file holds."""
    dotted = path.relative_to(PACKAGE.parent).with_suffix("").as_posix().replace("/", ".")
    return dotted.removesuffix(".__init__")


def examples(path: Path) -> Iterator[doctest.DocTest]:
    """The docstrings of a file that have examples."""
    module = module_of(path)
    parser = doctest.DocTestParser()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, DOCUMENTED) and ">>>" in (text := ast.get_docstring(node) or ""):
            own = f"{module}.{getattr(node, 'name', '')}".removesuffix(".")
            yield parser.get_doctest(text, {}, own, str(path), node.body[0].lineno)


EXAMPLES = [test for path in sorted(PACKAGE.rglob("*.py")) for test in examples(path)]


@pytest.fixture
def defaults() -> Iterator[None]:
    """What an example may change for the whole process, put back afterwards."""
    dtype, device = pyburn.get_default_dtype(), pyburn.get_default_device()
    threads, state, options = (
        pyburn.get_num_threads(),
        pyburn.get_rng_state(),
        pyburn.get_printoptions(),
    )
    yield
    pyburn.set_default_dtype(dtype)
    pyburn.set_default_device(device)
    pyburn.set_num_threads(threads)
    pyburn.set_rng_state(state)
    pyburn.set_printoptions(**options)


@pytest.mark.parametrize("test", EXAMPLES, ids=lambda test: test.name)
def test_example(
    test: doctest.DocTest, defaults: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(module_of(Path(test.filename or "")))
    known = {"pyburn": pyburn, "nn": pyburn.nn, "F": pyburn.nn.functional}
    test.globs = {**vars(module), **known}
    failures: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    runner.run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_examples_are_found() -> None:
    assert len(EXAMPLES) > 200
