"""The generator of the stub: what it reads out of Rust, and what its check finds."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parent.parent.parent / "tools"

TABLE = """
fn dims(ints: &Option<Ints>) -> Option<&[i64]> { None }
fn local(x: &Tensor) -> Result<bool> { Ok(true) }

macro_rules! pairs {
    ($($one:ident $two:ident $text:literal),* $(,)?) => {
        native! {
            $(
                fn $one(input, n: Option<i64>) => input.$one(n);
                fn $two(input, s: Option<Ints>) => input.$one(dims(&s));
            )*
        }
    };
}

pairs! { fft fft2 "the first {", ifft ifft2 "the second" } // a comment with a brace {

native! {
    #[pyo3(name = "std")]
    fn deviation(input, dim: Option<Ints>) => input.fft(None);
    fn check(input) => local(input);
    fn both(input, b: T) -> (Tensor, Vec<Tensor>) => { let x = input; Ok((x, y)) };
}
"""


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Imports a module of tools/."""
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return importlib.import_module


@pytest.fixture
def rust(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The reader of Rust, over small crates."""
    module = tool("rust_signatures")
    native, engine = tmp_path / "native", tmp_path / "engine"
    native.mkdir()
    engine.mkdir()
    (native / "table.rs").write_text(TABLE)
    (engine / "lib.rs").write_text(
        "impl Tensor { pub fn fft(&self, n: Option<i64>) -> Result<Tensor> { todo!() }\n"
        "pub fn ifft(&self) -> Result<(Tensor, Tensor)> { todo!() } }"
    )
    monkeypatch.setattr(module, "NATIVE", native)
    monkeypatch.setattr(module, "ENGINE", engine)
    return module


def test_tables_are_read(rust: Any) -> None:
    found = rust.scan().functions
    assert {name: (each.arguments, each.result) for name, each in found.items()} == {
        "fft": ({"input": "T", "n": "Option<i64>"}, "table:Result<Tensor>"),
        "fft2": ({"input": "T", "s": "Option<Ints>"}, "table:Result<Tensor>"),
        "ifft": ({"input": "T", "n": "Option<i64>"}, "table:Result<(Tensor,Tensor)>"),
        "ifft2": ({"input": "T", "s": "Option<Ints>"}, "table:Result<(Tensor,Tensor)>"),
        "std": ({"input": "T", "dim": "Option<Ints>"}, "table:Result<Tensor>"),
        "check": ({"input": "T"}, "table:Result<bool>"),
        "both": ({"input": "T", "b": "T"}, "table:(Tensor,Vec<Tensor>)"),
    }


def test_a_result_that_cannot_be_read_is_an_error(rust: Any) -> None:
    path = rust.NATIVE / "more.rs"
    path.write_text("native! { fn odd(input) => input.unheard_of(); }")
    with pytest.raises(LookupError, match="odd: the type of its result cannot be read"):
        rust.scan()


@pytest.mark.parametrize(
    ("rust_type", "expected"),
    [
        ("Option<Vec<T>>", "Sequence[Tensor] | None"),
        ("Option<(f64,i64)>", "tuple[float, int] | None"),
        ("DTypeArg", "DTypeLike"),
    ],
)
def test_types_of_arguments(tool: Any, rust_type: str, expected: str) -> None:
    tables, generator = tool("stub_tables"), tool("gen_stubs")
    assert generator.python_type(rust_type, tables.ARGUMENTS, "Sequence[{}]") == expected


def test_a_type_nobody_knows_is_an_error(tool: Any) -> None:
    with pytest.raises(LookupError, match="the Rust type Strange is not known"):
        tool("gen_stubs").python_type("Option<Strange>", {}, "list[{}]")


def test_the_check_sees_an_old_stub(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generator, check = tool("gen_stubs"), tool("check_stubs")
    text = generator.STUB.read_text(encoding="utf-8")
    old = tmp_path / "_core.pyi"
    old.write_text(text.replace("def softmax(self, dim: builtins.int,", "def softmax(self, "))
    monkeypatch.setattr(generator, "generate", lambda: text)
    monkeypatch.setattr(generator, "STUB", old)
    monkeypatch.setattr(generator.rust_signatures, "ROOT", tmp_path)
    monkeypatch.setattr(check, "undocumented", list[str])
    monkeypatch.setattr(check, "vague", list[str])
    assert check.main() == 1
    assert "+    def softmax(self, dim: builtins.int," in capsys.readouterr().out
    old.write_text(text)
    assert check.main() == 0


def test_the_check_sees_what_says_nothing(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator, check = tool("gen_stubs"), tool("check_stubs")
    stub = tmp_path / "_core.pyi"
    stub.write_text(
        "class Tensor:\n    def a(self, x: Incomplete) -> int: ...\ndef b() -> Any: ...\n"
    )
    monkeypatch.setattr(generator, "STUB", stub)
    assert list(check.vague()) == [
        "b: the result has no type",
        "Tensor.a: an argument or the result has no type",
    ]


def test_the_check_sees_a_missing_docstring(tool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyburn

    def bare() -> None: ...

    bare.__module__ = "pyburn"
    monkeypatch.setattr(pyburn, "bare", bare, raising=False)
    assert "pyburn.bare: no docstring" in list(tool("check_stubs").undocumented())
