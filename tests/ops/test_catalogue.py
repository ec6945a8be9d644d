"""Every public op has a row, and every row names something public."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pyburn as pb
import pytest

from ops.row import Row
from ops.runner import find
from ops.specs import ROWS
from ops.specs.exempt import ELSEWHERE, NOT_OPS
from ops.specs.random import LAWS

HERE = Path(__file__).parent


def _names() -> set[str]:
    """The names that rows speak for; a method is named like its function."""
    names = {law.name for law in LAWS}
    for row in ROWS:
        names |= {row.name, *row.aliases}
        if row.inplace:
            names |= {name + "_" for name in (row.name, *row.aliases)}
    return {name.removeprefix("Tensor.") for name in names}


def _is_function(value: Any) -> bool:
    return inspect.isroutine(value) or type(value).__name__ == "method_descriptor"


def _public_functions() -> list[str]:
    return [name for name in dir(pb) if name[0] != "_" and _is_function(getattr(pb, name))]


def _public_methods() -> list[str]:
    return [name for name in dir(pb.Tensor) if name[0] != "_"]


def test_every_public_op_has_a_row() -> None:
    known = _names() | set(NOT_OPS) | set(ELSEWHERE)
    missing = [f"pyburn.{name}" for name in _public_functions() if name not in known]
    missing += [f"Tensor.{name}" for name in _public_methods() if name not in known]
    assert not missing, f"without a row and without a reason: {', '.join(missing)}"


@pytest.mark.parametrize("module", ["fft", "linalg", "special"])
def test_every_function_of_a_module_is_tested(module: str) -> None:
    """Functions of the modules are other names in rows, or their test file calls them."""
    file = HERE / f"test_{module}.py"
    # Names may be put together there: what its constants hold counts too.
    parts = vars(importlib.import_module(f"ops.{file.stem}")).values()
    built = [str(part) for part in parts if isinstance(part, tuple | list | dict)]
    text = " ".join([file.read_text(encoding="utf-8"), *built])
    rows = {name for row in ROWS for name in (row.name, *row.aliases)}
    missing = [
        name
        for name in getattr(pb, module).__all__
        if f"{module}.{name}" not in rows and not re.search(rf"\b{name}\b", text)
    ]
    assert not missing, f"pyburn.{module} has untested {missing}"


def test_every_row_names_something_public() -> None:
    names = [row.name for row in ROWS] + [alias for row in ROWS for alias in row.aliases]
    names += [law.name for law in LAWS]
    lost = []
    for name in names:
        try:
            find(name)
        except AttributeError:
            lost.append(name)
    assert not lost, f"rows of nothing: {lost}"


def test_no_reason_is_given_for_nothing() -> None:
    public = {*_public_functions(), *_public_methods()}
    lost = [name for name in (*NOT_OPS, *ELSEWHERE) if name not in public]
    assert not lost, f"reasons for nothing: {lost}"
    twice = (set(NOT_OPS) | set(ELSEWHERE)) & _names()
    assert not twice, f"a row and a reason: {sorted(twice)}"


@pytest.mark.parametrize("file", sorted(set(ELSEWHERE.values())))
def test_what_is_tested_elsewhere_is(file: str) -> None:
    text = (HERE.parent / file).read_text(encoding="utf-8")
    names = [name for name, where in ELSEWHERE.items() if where == file]
    lost = [name for name in names if name not in text]
    assert not lost, f"{file} says nothing of {lost}"


def test_a_name_has_one_row() -> None:
    names = [row.name for row in ROWS]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", ROWS, ids=repr)
def test_forms_are_the_ones_that_exist(row: Row) -> None:
    """A row says which forms a function has, and these are the ones that are there."""
    function = find(row.name)
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # a native method
        parameters = {}
    if row.result != "value" and row.function:
        assert not ("out" in parameters and not row.out and row.name not in OUT_UNTESTED), (
            "has out="
        )
    assert not row.out or not row.function or "out" in parameters, "has no out="
    if row.function and "." not in row.name:
        has = hasattr(pb.Tensor, row.name + "_")
        assert has == row.inplace or row.name + "_" in _names(), f"in place: {has}"
        assert not row.method or hasattr(pb.Tensor, row.name), "has no method"


OUT_UNTESTED = {
    "max": "takes one tensor or two by the form of the call",
    "min": "takes one tensor or two by the form of the call",
    "median": "takes one tensor or two by the form of the call",
    "nanmedian": "takes one tensor or two by the form of the call",
}


@pytest.mark.parametrize("row", [row for row in ROWS if row.aliases], ids=repr)
def test_aliases_are_the_same(row: Row) -> None:
    """Another name is the same function or gives the same."""
    from ops.runner import tensors
    from ops.test_forward import agree

    function = find(row.name)
    for alias in row.aliases:
        if find(alias) is function:
            continue
        for call in row.calls(row.dtypes[0]):
            args, kwargs = tensors([list(call.args), call.kwargs], row.dtypes[0])
            agree(find(alias)(*args, **kwargs), function(*args, **kwargs), f"{alias} {call!r}")
