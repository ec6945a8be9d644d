"""Calls that are wrong in one way each, made from the calls of the rows by a seed.

Run as a program it makes calls until enough were refused and writes what came of them, a JSON
object a line: first what is about to be called, so that a call which ends the process is known.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyburn as pb
from helpers import arrays_in, map_arrays, plain

from ops.row import Call, Row
from ops.runner import find
from ops.specs import ROWS

JUNK = (
    None,
    "text",
    b"bytes",
    object(),
    [],
    {},
    1j,
    10**30,
    -(10**30),
    float("nan"),
    [[1], [2, 3]],
)
SHAPES = ((7,), (5, 7), (2, 0), (11, 1, 3), (3, 3, 3, 3), (13,), (), (0,))
DIMS = (99, -99, 1.5, "dim", (0, 0), 2**70, 2**63 - 1, -(2**63), 2**62, 2**32)
MEMORY = 8 << 30
"""Bytes of address space for the process: a call that would fill the machine fails instead."""


@dataclass
class Wrong:
    """One call."""

    row: Row
    how: str
    args: list[Any]
    kwargs: dict[str, Any]
    right: tuple[int, np.ndarray] | None = None
    """When one shape was changed: whose, and zeros of the shape it had."""
    no_tensor: bool = False
    """Whether what is no tensor, nor a number, stands where one is expected."""
    as_method: bool = False

    def __str__(self) -> str:
        def short(value: Any) -> Any:
            return map_arrays(value, lambda a: f"<{a.dtype}{list(a.shape)}>")

        def text(value: Any) -> str:
            if isinstance(value, pb.Tensor):
                return f"<{value.dtype}{list(value.shape)} {value.device}>"
            return repr(short(value))[:80]

        args = [text(value) for value in self.args]
        args += [f"{name}={text(value)}" for name, value in self.kwargs.items()]
        return f"{self.row.name}({', '.join(args)}) [{self.how}]"

    def run(self) -> Any:
        args, kwargs = map_arrays([self.args, self.kwargs], lambda a: plain(a, str(a.dtype)))
        if self.as_method and args and isinstance(args[0], pb.Tensor):
            return getattr(args[0], self.row.public)(*args[1:], **kwargs)
        return find(self.row.name)(*args, **kwargs)

    def shapes(self) -> list[list[int]]:
        """Every shape of the call, if shapes are what is wrong with it: nothing else differs from
        a call that is accepted."""
        if self.right is None:
            return []
        at, zeros = self.right
        args = [*self.args[:at], zeros, *self.args[at + 1 :]]
        try:
            replace(self, args=args).run()
        except Exception:
            return []
        return [list(array.shape) for array in arrays_in([self.args, self.kwargs])]


def calls(seed: int) -> Iterator[Wrong]:
    """Wrong calls without end."""
    chance = random.Random(seed)
    rows = [row for row in ROWS if not row.name.endswith("_")]
    pools: dict[str, list[Call]] = {}
    ways = (
        _shape,
        _shape,
        _shape,
        _dtype,
        _device,
        _junk,
        _missing,
        _extra,
        _keyword,
        _dim,
        _index,
        _none,
    )
    while True:
        row = chance.choice(rows)
        pool = pools.setdefault(
            row.name, [call for call in row.calls(row.dtypes[0]) if not call.extreme]
        )
        call = chance.choice(pool)
        way = chance.choice(ways)
        wrong = Wrong(row, way.__name__[1:], list(call.args), dict(call.kwargs))
        if way(wrong, chance):
            wrong.as_method = row.method and row.function and chance.random() < 0.5
            yield wrong


def _places(wrong: Wrong) -> list[int]:
    return [at for at, value in enumerate(wrong.args) if isinstance(value, np.ndarray)]


def _shape(wrong: Wrong, chance: random.Random) -> bool:
    places = _places(wrong)
    if not places:
        return False
    at = chance.choice(places)
    old = wrong.args[at]
    shape = chance.choice(SHAPES)
    wrong.args[at] = np.zeros(shape, old.dtype)
    wrong.right = (at, np.zeros(old.shape, old.dtype))
    return shape != old.shape


def _dtype(wrong: Wrong, chance: random.Random) -> bool:
    places = _places(wrong)
    if not places:
        return False
    at = chance.choice(places)
    kind = chance.choice(("bool", "uint8", "int64", "float32", "complex64"))
    old = wrong.args[at]
    wrong.args[at] = np.zeros(old.shape, kind)
    return str(old.dtype) != kind


def _device(wrong: Wrong, chance: random.Random) -> bool:
    places = _places(wrong)
    if len(places) < 2:
        return False
    at = chance.choice(places)
    wrong.args[at] = pb.empty(wrong.args[at].shape, device="meta")
    return True


def _junk(wrong: Wrong, chance: random.Random) -> bool:
    if not wrong.args:
        return False
    return _put(wrong, chance.randrange(len(wrong.args)), chance.choice(JUNK))


def _none(wrong: Wrong, chance: random.Random) -> bool:
    if not wrong.args:
        return False
    return _put(wrong, chance.randrange(len(wrong.args)), None)


def _put(wrong: Wrong, at: int, junk: Any) -> bool:
    # Lists are tensors to some functions, and None past the first argument may mean its absence.
    may_be_meant = isinstance(junk, (int, float, complex, list, dict)) or (junk is None and at > 0)
    wrong.no_tensor = isinstance(wrong.args[at], np.ndarray) and not may_be_meant
    wrong.args[at] = junk
    return True


def _missing(wrong: Wrong, chance: random.Random) -> bool:
    if not wrong.args:
        return False
    del wrong.args[chance.randrange(len(wrong.args))]
    return True


def _extra(wrong: Wrong, chance: random.Random) -> bool:
    wrong.args.extend([chance.choice(JUNK)] * chance.randint(1, 5))
    return True


def _keyword(wrong: Wrong, chance: random.Random) -> bool:
    name = chance.choice(("dim", "axis", "keepdim", "dtype", "device", "out", "nonsense", "input"))
    wrong.kwargs[name] = chance.choice((*JUNK, *DIMS))
    return True


def _dim(wrong: Wrong, chance: random.Random) -> bool:
    places = [at for at, value in enumerate(wrong.args) if type(value) in (int, tuple)]
    if not places:
        return False
    wrong.args[chance.choice(places)] = chance.choice(DIMS)
    return True


def _index(wrong: Wrong, chance: random.Random) -> bool:
    places = [at for at in _places(wrong) if wrong.args[at].dtype == np.int64]
    if not places:
        return False
    at = chance.choice(places)
    if not wrong.args[at].size:
        return False
    wrong.args[at] = wrong.args[at] + chance.choice((1000, -1000, 2**62, -(2**62)))
    return True


def main(seed: int, wanted: int) -> None:
    warnings.simplefilter("ignore")
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    refused = 0
    for wrong in calls(seed):
        print(json.dumps({"call": str(wrong)}), flush=True)
        try:
            wrong.run()
        except BaseException as error:
            refused += 1
            report = {
                "raised": type(error).__name__,
                "is_exception": isinstance(error, Exception),
                "text": str(error),
                "no_tensor": wrong.no_tensor,
                "shapes": wrong.shapes(),
                "call": str(wrong),
            }
            print(json.dumps(report), flush=True)
        if refused == wanted:
            break


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
