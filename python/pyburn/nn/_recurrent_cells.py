"""Recurrent cells: one step of a layer, for loops of one's own."""

from __future__ import annotations

import math
from typing import cast

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn.nn import init
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What the cells share: their weights.

    Args:
        input_size: the number of features of an input.
        hidden_size: the number of features of a state.
        bias: whether both sums have biases.
        num_chunks: how many times ``hidden_size`` the sums are wide.
    """

    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Parameter
    weight_hh: Parameter
    bias_ih: Parameter | None
    bias_hh: Parameter | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        width = num_chunks * hidden_size
        self.weight_ih = empty_parameter((width, input_size), device, dtype)
        self.weight_hh = empty_parameter((width, hidden_size), device, dtype)
        for name in ("bias_ih", "bias_hh"):
            given = empty_parameter((width,), device, dtype) if bias else None
            self.register_parameter(name, given)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws all weights anew, uniformly from ``±1/sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0.0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            shown += f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return shown if nonlinearity == "tanh" else f"{shown}, nonlinearity={nonlinearity}"

    def _step(
        self, cell: str, input: Tensor, states: tuple[Tensor | None, ...]
    ) -> tuple[Tensor, Tensor | None]:
        """The states after one step of the engine's layer."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead (shape "
                f"{list(input.shape)})"
            )
        batched = input.ndim == 2
        rows = input if batched else input.unsqueeze(0)
        if rows.shape[1] != self.input_size:
            raise RuntimeError(
                f"{name}: input has inconsistent input_size: got {rows.shape[1]} expected "
                f"{self.input_size}"
            )
        shape = (rows.shape[0], self.hidden_size)
        ready: list[Tensor] = []
        for at, state in enumerate(states):
            if state is None:
                ready.append(_core._full(shape, 0, rows.dtype, rows.device))
            else:
                label = "hidden" if len(states) == 1 else f"hx[{at}]"
                ready.append(self._checked(state, shape, at, label, batched))
        _, h, c = _core.recurrent(
            rows,
            ready[0],
            ready[1] if len(ready) > 1 else None,
            cell,
            [shape[0]],
            False,
            self.weight_ih,
            self.weight_hh,
            self.bias_ih,
            self.bias_hh,
            None,
        )
        if batched:
            return h, c
        return h.squeeze(0), None if c is None else c.squeeze(0)

    def _checked(
        self, state: Tensor, shape: tuple[int, int], at: int, label: str, batched: bool
    ) -> Tensor:
        """A given state as rows."""
        name = type(self).__name__
        if state.ndim not in (1, 2):
            raise ValueError(
                f"{name}: Expected {label} to be 1D or 2D, got {state.ndim}D instead (shape "
                f"{list(state.shape)})"
            )
        rows = state if batched else state.unsqueeze(0)
        if rows.ndim != 2 or rows.shape[0] != shape[0]:
            raise RuntimeError(
                f"{name}: Input batch size {shape[0]} doesn't match hidden{at} batch size "
                f"{rows.shape[0]} (shape {list(state.shape)})"
            )
        if rows.shape[1] != self.hidden_size:
            raise RuntimeError(
                f"{name}: hidden{at} has inconsistent hidden_size: got {rows.shape[1]}, expected "
                f"{self.hidden_size}"
            )
        return rows


class RNNCell(RNNCellBase):
    """One step of :class:`RNN`: ``tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)``.

    Shapes: ``(batch, input_size)`` and ``(batch, hidden_size)``, or both without batch; without a
    state it is zero.

    Example:
        >>> cell = nn.RNNCell(3, 5)
        >>> state = cell(pyburn.ones(2, 3))
        >>> cell(pyburn.ones(2, 3), state).shape
        pyburn.Size([2, 5])
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(
                f"Unknown nonlinearity: {self.nonlinearity}; expected 'tanh' or 'relu'"
            )
        return self._step(f"rnn_{self.nonlinearity}", input, (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of :class:`LSTM`.

    Shapes: ``(batch, input_size)`` and a pair of ``(batch, hidden_size)``, or all without batch;
    without states they are zero.

    Example:
        >>> cell = nn.LSTMCell(3, 5)
        >>> h, c = cell(pyburn.ones(2, 3))
        >>> h, c = cell(pyburn.ones(2, 3), (h, c))
        >>> h.shape
        pyburn.Size([2, 5])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The next state and cell state."""
        if hx is not None and (not isinstance(hx, tuple | list) or len(hx) != 2):
            raise TypeError(
                f"LSTMCell: expected hx to be a pair of tensors (h, c), got {type(hx).__name__}"
            )
        h, c = self._step("lstm", input, (None, None) if hx is None else tuple(hx))
        return h, cast(Tensor, c)


class GRUCell(RNNCellBase):
    """One step of :class:`GRU`.

    Shapes: ``(batch, input_size)`` and ``(batch, hidden_size)``, or both without batch; without a
    state it is zero.

    Example:
        >>> cell = nn.GRUCell(3, 5)
        >>> cell(pyburn.ones(3)).shape
        pyburn.Size([5])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The next state."""
        return self._step("gru", input, (hx,))[0]
