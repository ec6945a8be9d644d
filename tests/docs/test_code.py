"""The code in README.md and in the guides runs and prints what it says.

Every fenced block marked `python` is executed, those that begin with `>>>` as doctests. The blocks
of one file share one namespace, as if typed one after the other.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyburn
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS


@dataclass(frozen=True)
class Block:
    """A fenced block, and where it begins."""

    code: str
    line: int


def python_blocks(text: str) -> Iterator[Block]:
    """The blocks marked `python`."""
    for found in FENCE.finditer(text):
        if found.group(1) == "python":
            yield Block(found.group(2), text.count("\n", 0, found.start(2)))


def run(block: Block, page: Path, namespace: dict[str, Any]) -> None:
    """Execute a block, with the page's own line numbers in errors."""
    if not block.code.lstrip().startswith(">>>"):
        code = compile("\n" * block.line + block.code, str(page), "exec")
        exec(code, namespace)
        return
    test = doctest.DocTestParser().get_doctest(
        block.code, namespace, page.name, str(page), block.line
    )
    failures: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    runner.run(test, out=failures.append, clear_globs=False)
    namespace.update(test.globs)
    assert not failures, "".join(failures)


@pytest.fixture
def defaults() -> Iterator[None]:
    """What a page may change for the whole process, put back afterwards."""
    dtype, device = pyburn.get_default_dtype(), pyburn.get_default_device()
    threads, state = pyburn.get_num_threads(), pyburn.get_rng_state()
    yield
    pyburn.set_default_dtype(dtype)
    pyburn.set_default_device(device)
    pyburn.set_num_threads(threads)
    pyburn.set_rng_state(state)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, defaults: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in python_blocks(page.read_text()):
        run(block, page, namespace)


@pytest.mark.parametrize(
    "code",
    [">>> 1 + 1\n3\n", "raise ValueError\n", ">>> undefined\n"],
    ids=["doctest", "plain", "name"],
)
def test_a_wrong_block_is_found(code: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        run(Block(code, 0), Path("page.md"), {})


def test_blocks_are_found() -> None:
    text = "a\n```python\n>>> 1\n1\n```\n```text\nnot this\n```\n```python\nx = 1\n```\n"
    assert list(python_blocks(text)) == [Block(">>> 1\n1\n", 2), Block("x = 1\n", 9)]
