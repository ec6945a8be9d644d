"""The wheel holds what it should, and asks for NumPy alone."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

MAX_MEGABYTES = 40


@pytest.fixture
def names(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture
def metadata(wheel: Path, names: list[str]) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in names if name.endswith(".dist-info/METADATA"))
        return message_from_string(archive.read(name).decode())


def test_one_file_for_every_python(wheel: Path) -> None:
    assert "-cp310-abi3-" in wheel.name


def test_size(wheel: Path) -> None:
    assert wheel.stat().st_size / 2**20 <= MAX_MEGABYTES


def test_packages(names: list[str]) -> None:
    tops = {name.partition("/")[0] for name in names}
    assert {re.sub(r"-.*", "", top) for top in tops} == {"pyburn"}
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_one_native_module(names: list[str]) -> None:
    native = [name for name in names if name.endswith((".so", ".pyd", ".dylib"))]
    assert len(native) == 1
    assert re.fullmatch(r"pyburn/_core\.(abi3\.so|pyd)", native[0])


@pytest.mark.parametrize("name", ["pyburn/py.typed", "pyburn/_core.pyi", "pyburn/__init__.py"])
def test_file_is_there(names: list[str], name: str) -> None:
    assert name in names


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_licence_is_there(names: list[str], metadata: Message, name: str) -> None:
    assert any(re.fullmatch(rf"pyburn-[^/]*\.dist-info/licenses/{name}", path) for path in names)
    assert name in metadata.get_all("License-File", [])


def test_metadata(metadata: Message) -> None:
    assert metadata["Name"] == "pyburn"
    assert metadata["License-Expression"] == "MIT OR Apache-2.0"
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert [re.match(r"[\w-]+", line).group() for line in needed] == ["numpy"]  # type: ignore[union-attr]


def test_installed_from_the_wheel(
    wheel: Path, metadata: Message, python: Callable[[str], str]
) -> None:
    program = """
import importlib.metadata, json, sys
import pyburn
installed = sorted(found.name.lower() for found in importlib.metadata.distributions())
inside = pyburn.__file__.startswith(sys.prefix)
print(json.dumps([pyburn.__version__, installed, inside]))
"""
    version, installed, inside = json.loads(python(program))
    assert version == metadata["Version"]
    assert set(installed) - {"pip", "setuptools", "wheel"} == {"numpy", "pyburn"}
    assert inside


def test_every_public_module_imports(names: list[str], python: Callable[[str], str]) -> None:
    modules = sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in names
        if re.fullmatch(r"(?:\w+/)*(?:__init__|[a-z]\w*)\.py", name)
    )
    assert "pyburn.backend" in modules
    program = f"import importlib\nfor name in {modules!r}:\n    importlib.import_module(name)"
    assert python(program) == ""


def test_computes(python: Callable[[str], str]) -> None:
    program = """
import numpy as np
import pyburn
x = pyburn.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
(x @ x).sum().backward()
assert np.array_equal(x.grad.numpy(), [[7.0, 11.0], [9.0, 13.0]])
print(pyburn.linalg.det(x).item())
"""
    assert float(python(program)) == pytest.approx(-2.0)
