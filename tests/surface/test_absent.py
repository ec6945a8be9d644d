"""What PyTorch has and PyBurn has not says so by name, with the reason."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pyburn
import pytest
from pyburn._absent import ABSENT


def attribute(name):
    value = pyburn
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_using_an_absent_name_gives_its_reason(name):
    with pytest.raises(NotImplementedError) as caught:
        attribute(name)
    text = str(caught.value)
    assert isinstance(caught.value, AttributeError)
    # The reason is that of the name, or of the missing package it is in.
    assert text.startswith("pyburn.")
    assert name.startswith(text.partition(":")[0].removeprefix("pyburn."))
    owner = text.partition(":")[0].removeprefix("pyburn.")
    assert text.endswith(ABSENT[owner])


MODULES = [
    "fx",
    "sparse",
    "nested",
    "hub",
    "compiler",
    "distributed",
    "multiprocessing",
    "quantization",
    "profiler",
    "utils.tensorboard",
    "fx.passes.graph_drawer",
    "mps",
]


@pytest.mark.parametrize("name", MODULES)
def test_importing_an_absent_module_gives_the_reason(name):
    with pytest.raises(NotImplementedError, match=rf"pyburn\.{name.partition('.')[0]}.*: "):
        importlib.import_module(f"pyburn.{name}")
    with pytest.raises(ImportError):
        importlib.import_module(f"pyburn.{name}")


def test_import_statements():
    for statement in (
        "import pyburn.fx",
        "from pyburn import fx",
        "from pyburn.sparse import mm",
        "from pyburn.distributed import init_process_group",
    ):
        with pytest.raises(NotImplementedError, match="pyburn"):
            exec(statement, {})
        with pytest.raises(ImportError):
            exec(statement, {})


def test_unknown_names_are_plain_errors():
    with pytest.raises(AttributeError, match="no attribute 'nothing'") as caught:
        pyburn.nothing  # noqa: B018
    assert not isinstance(caught.value, NotImplementedError)
    with pytest.raises(ModuleNotFoundError, match="No module named") as missing:
        importlib.import_module("pyburn.nothing")
    assert not isinstance(missing.value, NotImplementedError)


def test_asking_is_allowed():
    for name in ABSENT:
        if "." not in name:
            assert not hasattr(pyburn, name)
            assert getattr(pyburn, name, None) is None
            assert name not in dir(pyburn)


def test_no_listed_name_exists():
    for name in ABSENT:
        head, _, tail = name.rpartition(".")
        module = attribute(head) if head and hasattr(pyburn, head) else pyburn
        assert (tail or name) not in vars(module) or head, name


def test_lazy_modules_load_on_demand():
    program = (
        "import sys, pyburn\n"
        "early = [m for m in sys.modules if m.startswith('pyburn.')]\n"
        "for name in ('serialization', 'distributions', 'func', 'jit', 'testing', 'signal'):\n"
        "    assert f'pyburn.{name}' not in early, name\n"
        "    assert getattr(pyburn, name).__name__ == f'pyburn.{name}'\n"
        "assert pyburn.vmap is pyburn.func.vmap\n"
        "assert pyburn.save is pyburn.serialization.save\n"
        "assert pyburn.load is pyburn.serialization.load\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
