"""Two results held against each other: kind, shape, dtype, values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tolerance import Tolerance

FLOAT64_ROOM = 10.0
"""How many times torch's own distance from the float64 result may be exceeded; see `Judge`."""


class Mismatch(Exception):
    """The two results differ; the message says where and how."""


class Judge:
    """Decides whether a result agrees with torch's.

    Where rounding decides the last digits (the inverse of a nearly singular matrix), two correct
    implementations differ by more than any fixed tolerance. So a value that is too far from
    torch's gets a second hearing against the same computation in float64: it passes if its
    distance from that is of the order of torch's own. Without this, torch computed in float64 and
    rounded to float32 would fail 22 entries of `op_db` for being too exact.
    """

    def __init__(
        self,
        tolerance: Tolerance,
        *,
        values: bool = True,
        in_float64: Callable[[], Any] | None = None,
    ) -> None:
        """Compare within `tolerance`; without `values` only kind, shape and dtype are compared."""
        self.tolerance = tolerance
        self.values = values
        self.in_float64 = in_float64

    def __call__(self, actual: Any, expected: Any) -> None:
        """Raise `Mismatch` unless `actual` agrees with `expected`."""
        self._compare(actual, expected, ())

    def _compare(self, actual: Any, expected: Any, path: tuple[int, ...]) -> None:
        where = "result" + "".join(f"[{step}]" for step in path)
        if isinstance(expected, torch.Tensor):
            if not isinstance(actual, torch.Tensor):
                raise Mismatch(f"{where}: expected a tensor, got {type(actual).__name__}")
            if actual.shape != expected.shape:
                raise Mismatch(
                    f"{where}: expected shape {tuple(expected.shape)}, got {tuple(actual.shape)}"
                )
            if actual.dtype != expected.dtype:
                raise Mismatch(f"{where}: expected {expected.dtype}, got {actual.dtype}")
            self._compare_values(actual, expected, path, where)
        elif isinstance(expected, (list, tuple)):
            if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
                raise Mismatch(f"{where}: expected {len(expected)} items, got {actual!r:.80}")
            for i, (one, other) in enumerate(zip(actual, expected, strict=True)):
                self._compare(one, other, (*path, i))
        elif isinstance(expected, (bool, int, float, complex)):
            if type(actual) is not type(expected):
                raise Mismatch(f"{where}: expected {expected!r}, got {actual!r:.80}")
            self._compare_values(torch.tensor(actual), torch.tensor(expected), path, where)
        elif actual != expected:
            raise Mismatch(f"{where}: expected {expected!r:.80}, got {actual!r:.80}")

    def _compare_values(
        self, actual: torch.Tensor, expected: torch.Tensor, path: tuple[int, ...], where: str
    ) -> None:
        if not self.values:
            return
        rtol, atol = self.tolerance.bounds(expected.dtype)
        if torch.allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True):
            return
        if self.in_float64 is not None and self._close_in_float64(actual, expected, path):
            return
        try:
            torch.testing.assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
        except AssertionError as difference:
            detail = " ".join(str(difference).split())
            raise Mismatch(f"{where}: {detail}") from None

    def _close_in_float64(
        self, actual: torch.Tensor, expected: torch.Tensor, path: tuple[int, ...]
    ) -> bool:
        if not (expected.is_floating_point() or expected.is_complex()):
            return False
        try:
            truth = self.in_float64()
            for step in path:
                truth = truth[step]
        except Exception:  # torch has no float64 form of this sample: no second hearing
            return False
        if not isinstance(truth, torch.Tensor) or truth.shape != expected.shape:
            return False
        if not (truth.isfinite().all() and expected.isfinite().all() and actual.isfinite().all()):
            return False
        rtol, atol = self.tolerance.bounds(expected.dtype)
        size, error = truth.abs(), (expected - truth).abs()
        # The smaller of the two: near a pole the absolute error says little, near a zero the
        # relative one.
        relative = torch.where(size > 0, error / size, 0).max()
        room = atol + rtol * size + FLOAT64_ROOM * torch.minimum(error.max(), relative * size)
        return bool(((actual - truth).abs() <= room).all())
