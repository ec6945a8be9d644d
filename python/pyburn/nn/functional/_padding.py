"""Borders put around a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from pyburn import _core
from pyburn._api import check_tensor
from pyburn._core import Tensor

__all__ = ["pad"]

_MODES = ("constant", "reflect", "replicate", "circular")


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Widens the last dimensions of a tensor; negative numbers cut elements off.

    Args:
        input: Any tensor. Modes other than ``"constant"`` widen one, two or three dimensions after
            the channels, and a batch before these is optional.
        pad: How much before and after, the last dimension first:
            ``(left, right, top, bottom, ...)``.
        mode: ``"constant"``; ``"reflect"``: the elements mirrored, without the outermost;
            ``"replicate"``: the outermost element; ``"circular"``: the elements from the other end.
        value: What ``"constant"`` fills with; zero by default.

    Example:
        >>> F.pad(pyburn.tensor([[1, 2, 3]]), (1, 2))
        tensor([[0, 1, 2, 3, 0, 0]])
        >>> F.pad(pyburn.tensor([[1, 2, 3]]), (2, 1), mode="reflect")
        tensor([[3, 2, 1, 2, 3, 2]])
    """
    check_tensor("pad", input)
    pads = list(pad)
    if mode not in _MODES:
        raise NotImplementedError(
            f"pad: Unrecognised padding mode: expected one of {', '.join(_MODES)}, got {mode!r}"
        )
    if mode == "constant":
        return _core.pad(input, pads, mode, 0 if value is None else value)
    if value:
        raise RuntimeError(f'pad: Padding mode "{mode}" doesn\'t take in value argument')
    dims = len(pads) // 2
    if len(pads) % 2 == 0 and (not 1 <= dims <= 3 or input.ndim not in (dims + 1, dims + 2)):
        raise NotImplementedError(
            f"pad: Padding size {len(pads)} is not supported for {input.ndim}D input tensor: mode "
            f"{mode!r} widens up to three dimensions after channels, got shape {list(input.shape)}"
        )
    if mode != "circular" and 0 in input.shape[-dims - 1 :]:
        raise RuntimeError(
            f"pad: Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch "
            f"size and other non-zero dimensions for input, but got: {list(input.shape)}"
        )
    if mode == "circular" and min(pads, default=0) < 0:
        # What is cut off does not come back at the other end.
        input = _core.pad(input, [min(number, 0) for number in pads], "constant", 0)
        pads = [max(number, 0) for number in pads]
    return _core.pad(input, pads, mode, None)
