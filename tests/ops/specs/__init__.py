"""The rows, a file for each family."""

from __future__ import annotations

import importlib

from ops.row import Row

FAMILIES = (
    "pointwise",
    "binary",
    "reduce",
    "movement",
    "index",
    "create",
    "random",
    "order",
    "linalg",
    "vision",
)

ROWS: list[Row] = [
    row for family in FAMILIES for row in importlib.import_module(f"ops.specs.{family}").ROWS
]
BY_NAME: dict[str, Row] = {row.name: row for row in ROWS}
