"""TorchScript's names in eager mode."""

from __future__ import annotations

import pyburn
import pytest
from pyburn import jit


def test_decorators_give_back_what_they_are_given():
    def function(x):
        return x + 1

    class Module:
        pass

    for decorator in (
        jit.script,
        jit.script_method,
        jit.script_if_tracing,
        jit.export,
        jit.unused,
        jit.ignore,
        jit.interface,
    ):
        assert decorator(function) is function
    assert jit.script(Module) is Module
    assert jit.ignore(drop=True)(function) is function
    assert jit.ignore()(function) is function
    with jit.strict_fusion():
        assert function(1) == 2


def test_questions_and_annotations():
    assert jit.is_scripting() is False
    assert jit.is_tracing() is False
    assert jit.annotate(list, 3) == 3
    assert jit.Attribute(3, int) == 3
    assert jit.isinstance(3, (int, str))

    class Holder:
        __constants__ = ["size"]
        size: jit.Final[int] = 3

    assert Holder.size == 3


@pytest.mark.parametrize("name", ["trace", "load", "save", "freeze", "ScriptModule", "fork"])
def test_what_needs_a_compiler_is_refused(name):
    with pytest.raises(NotImplementedError, match=rf"pyburn\.jit\.{name}: .*save a state_dict"):
        getattr(jit, name)
    with pytest.raises(AttributeError):
        getattr(pyburn.jit, "nothing")  # noqa: B009
