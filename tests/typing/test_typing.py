"""The package's types, as a user's type checker sees them."""

from __future__ import annotations

import inspect
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyburn
import pytest
import user_code

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
PACKAGE = Path(str(pyburn.__file__)).parent

SAMPLES = [
    function
    for _, function in inspect.getmembers(user_code, inspect.isfunction)
    if function.__module__ == user_code.__name__ and not inspect.signature(function).parameters
]

WRONG = {
    "pyburn.sotfmax(pyburn.ones(2), 0)": "reportAttributeAccessIssue",
    "pyburn.special.efr(pyburn.ones(2))": "reportAttributeAccessIssue",
    "pyburn.ones(2).sotfmax(0)": "reportAttributeAccessIssue",
    "pyburn.ones(2).softmax(dimension=0)": "reportCallIssue",
    "pyburn.ones(2).softmax('rows')": "reportArgumentType",
    "pyburn.exp(3)": "reportArgumentType",
    "pyburn.ones(2).max(0).valeus": "reportAttributeAccessIssue",
    "pyburn.ones(2) + 'x'": "reportOperatorIssue",
    "pyburn.tensor([1], dtyp=pyburn.int8)": "reportCallIssue",
}
"""Mistakes, and the rule by which pyright must see each of them."""


def pyright(folder: Path, *arguments: str) -> dict[str, Any]:
    """What pyright, run in a folder, reports."""
    command = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which(
        "pyright"
    )
    if command is None:
        pytest.skip("pyright is not installed; it comes with the group `check`")
    called = [command, "--outputjson", "--pythonpath", sys.executable, *arguments]
    done = subprocess.run(called, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder whose files pyright checks strictly, with the package in the search path."""
    settings = {
        "typeCheckingMode": "strict",
        "pythonVersion": "3.10",
        "extraPaths": [str(PACKAGE.parent)],
        "reportUnusedExpression": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    return tmp_path


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.__name__)
def test_samples_run(sample: Callable[[], None]) -> None:
    sample()


def test_samples_have_the_types_they_assert(project: Path) -> None:
    shutil.copy(HERE / "user_code.py", project / "user_code.py")
    report = pyright(project, "user_code.py")
    found = [
        f"line {each['range']['start']['line'] + 1}: {each['message']}"
        for each in report["generalDiagnostics"]
    ]
    assert found == []
    assert report["summary"]["filesAnalyzed"] == 1


def test_mistakes_are_found(project: Path) -> None:
    lines = ["import pyburn", *WRONG]
    (project / "wrong.py").write_text("\n".join(lines) + "\n")
    report = pyright(project, "wrong.py")
    found: dict[str, set[str]] = {}
    for each in report["generalDiagnostics"]:
        found.setdefault(lines[each["range"]["start"]["line"]], set()).add(each.get("rule", ""))
    assert {line for line, rule in WRONG.items() if rule not in found.get(line, set())} == set()


def test_the_marker_of_typed_packages_is_there() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert (PACKAGE / "_core.pyi").exists()


def test_every_method_of_tensor_is_in_the_stub() -> None:
    text = (PACKAGE / "_core.pyi").read_text(encoding="utf-8")
    body = text.partition("\nclass Tensor:")[2].partition("\nclass ")[0]
    public = {name for name in vars(pyburn.Tensor) if not name.startswith("_")}
    assert len(public) > 400
    assert {name for name in public if f"    def {name}(" not in body} == set()
