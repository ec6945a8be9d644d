"""What the pages refer to exists: files, headings, make targets, scripts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").rglob("*.md"),
        *(ROOT / "benches").rglob("*.md"),
    ]
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
MAKE = re.compile(r"(?:^|`|&& )make (?:-\w )?([a-z-]+)", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The names that links give to a page's headings."""
    text = CODE.sub("", page.read_text())
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    broken: list[str] = []
    for target in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def test_every_guide_is_listed() -> None:
    index = ROOT / "docs" / "index.md"
    listed = {
        (index.parent / target.partition("#")[0]) for target in LINK.findall(index.read_text())
    }
    assert [page for page in (ROOT / "docs").rglob("*.md") if page not in listed | {index}] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_exist(page: Path) -> None:
    text = page.read_text()
    rules = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(MAKE.findall(text)) <= rules
    for script in set(re.findall(r"python ((?:examples|tools|benches)/\S+\.py)", text)):
        assert (ROOT / script).is_file(), script
