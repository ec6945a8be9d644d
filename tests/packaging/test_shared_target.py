"""Checkouts that share Cargo's target folder do not run one another's builds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

WRAPPER = Path(__file__).parents[2] / "tools" / "with_target.sh"


@pytest.fixture
def checkouts(tmp_path: Path) -> list[Path]:
    """Two versions of a workspace; the second has the older files."""
    if sys.platform == "win32" or shutil.which("cargo") is None:
        pytest.skip("needs cargo and a shell")
    made: list[Path] = []
    for at, name in enumerate(["first", "second"]):
        root = tmp_path / name
        source = root / "crates" / "say" / "src" / "main.rs"
        source.parent.mkdir(parents=True)
        (root / "examples").mkdir()
        (root / "tools").mkdir()
        shutil.copy(WRAPPER, root / "tools")
        (root / "Cargo.toml").write_text('[workspace]\nresolver = "3"\nmembers = ["crates/*"]\n')
        (root / "crates" / "say" / "Cargo.toml").write_text(
            '[package]\nname = "say"\nversion = "0.1.0"\nedition = "2024"\n'
        )
        source.write_text(f'fn main() {{ println!("{name}"); }}\n')
        hour = time.time() - 3600 * (at + 1)
        os.utime(source, (hour, hour))
        made.append(root)
    return made


def run(root: Path, *prefix: str) -> str:
    """What the workspace's program says."""
    return subprocess.run(
        [*prefix, "cargo", "run", "--quiet"],
        cwd=root,
        env={**os.environ, "CARGO_TARGET_DIR": str(root.parent / "target")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def test_each_runs_its_own(checkouts: list[Path]) -> None:
    wrapper = "tools/with_target.sh"
    assert [run(root, wrapper) for root in checkouts * 2] == ["first", "second"] * 2


def test_cargo_alone_mixes_them_up(checkouts: list[Path]) -> None:
    """The wrapper is needed; once this fails, it is not."""
    assert [run(root) for root in checkouts] == ["first", "first"]
