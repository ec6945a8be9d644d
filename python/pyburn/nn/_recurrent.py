"""Recurrent layers over whole sequences.

Every layer runs in each direction as one operation of the engine: the input's products of all steps
at once, then step by step what depends on the state. Weights are laid out and named as PyTorch's:
``weight_ih_l0`` for the input of the first layer, ``weight_hh_l1_reverse`` for the state of the
second one in the other direction.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from pyburn import _core
from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn._movement import cat, stack
from pyburn.nn import init
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn._recurrent_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from pyburn.nn.parameter import Parameter
from pyburn.nn.utils.rnn import PackedSequence

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}

States: TypeAlias = tuple[Tensor, Tensor]


def _check_dropout(dropout: float, num_layers: int) -> None:
    if not isinstance(dropout, int | float) or isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            f"being zeroed, got {dropout!r}"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and num_layers=1",
            stacklevel=4,
        )


def _check_sizes(input_size: int, hidden_size: int, num_layers: int, proj_size: int) -> None:
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero, got {size}")
    if num_layers <= 0:
        raise ValueError(f"num_layers must be greater than zero, got {num_layers}")
    if proj_size < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections, got "
            f"{proj_size}"
        )
    if proj_size >= hidden_size:
        raise ValueError(
            f"proj_size has to be smaller than hidden_size, got {proj_size} and {hidden_size}"
        )


class RNNBase(Module):
    """What the recurrent layers share: their weights, and the way through layers and directions.

    Args:
        mode: ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``.
        input_size: the number of features of an input.
        hidden_size: the number of features of a state.
        num_layers: how many layers, each over the outputs of the one before.
        bias: whether both sums of a step have biases.
        batch_first: whether inputs and outputs are ``(batch, steps, features)``; states are not.
        dropout: how likely an element is dropped between layers, in training.
        bidirectional: whether a second set of weights runs from the last step to the first.
        proj_size: the number of features the states of an LSTM are projected to.
    """

    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int
    _all_weights: list[list[str]]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__()
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}; expected one of {list(_GATES)}")
        _check_dropout(dropout, num_layers)
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
        _check_sizes(input_size, hidden_size, num_layers, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                self._add_weights(layer, suffix, device, dtype)
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _state_size(self) -> int:
        """The number of features of an output in one direction."""
        return self.proj_size or self.hidden_size

    def _add_weights(
        self, layer: int, suffix: str, device: DeviceLike | None, dtype: DTypeLike | None
    ) -> None:
        width = _GATES[self.mode] * self.hidden_size
        features = self.input_size if layer == 0 else self._state_size * self._directions
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (width, features),
            "weight_hh": (width, self._state_size),
        }
        if self.bias:
            shapes |= {"bias_ih": (width,), "bias_hh": (width,)}
        if self.proj_size > 0:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names: list[str] = []
        for name, shape in shapes.items():
            names.append(f"{name}_l{layer}{suffix}")
            setattr(self, names[-1], empty_parameter(shape, device, dtype))
        self._all_weights.append(names)

    def reset_parameters(self) -> None:
        """Draws all weights anew, uniformly from ``±1/sqrt(hidden_size)``."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Does nothing: the engine takes weights as they lie, and packs them as it needs them."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of each layer and direction, in the order of their names."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [weight for weights in self.all_weights for weight in weights]

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuses an input of a wrong dtype, rank or size."""
        dtype = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype != dtype and not _core._autocast_active():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). Convert "
                f"input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        rank = 3 if batch_sizes is None else 2
        if input.ndim != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]} (shape {list(input.shape)})"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of the states that go with an input."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.shape[0 if self.batch_first else 1]
        return self.num_layers * self._directions, batch, self._state_size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuses states of another shape."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuses an input or states that do not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """States in another order of the batch."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def extra_repr(self) -> str:
        shown = [f"{self.input_size}, {self.hidden_size}"]
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        shown += [
            f"{name}={getattr(self, name)}"
            for name, value in usual.items()
            if getattr(self, name) != value
        ]
        return ", ".join(shown)

    # The way through layers and directions, which is the same for all cells.

    def _zeros(self, input: Tensor, batch: int, size: int) -> Tensor:
        shape = (self.num_layers * self._directions, batch, size)
        return _core._full(shape, 0, input.dtype, input.device)

    def _run(
        self, rows: Tensor, batch_sizes: Sequence[int], h: Tensor, c: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """All layers over the rows of all steps: their last outputs and states."""
        cell = self.mode.lower()
        sizes = list(batch_sizes)
        last_h: list[Tensor] = []
        last_c: list[Tensor] = []
        for layer in range(self.num_layers):
            outputs: list[Tensor] = []
            for direction in range(self._directions):
                at = layer * self._directions + direction
                weights: list[Tensor] = [getattr(self, name) for name in self._all_weights[at]]
                bias_ih, bias_hh = weights[2:4] if self.bias else (None, None)
                out, state, cell_state = _core.recurrent(
                    rows,
                    h[at],
                    None if c is None else c[at],
                    cell,
                    sizes,
                    direction == 1,
                    weights[0],
                    weights[1],
                    bias_ih,
                    bias_hh,
                    weights[-1] if self.proj_size else None,
                )
                outputs.append(out)
                last_h.append(state)
                if cell_state is not None:
                    last_c.append(cell_state)
            rows = outputs[0] if len(outputs) == 1 else cat(outputs, -1)
            if self.dropout and self.training and layer < self.num_layers - 1:
                rows = _core.dropout(rows, self.dropout, True, None)
        return rows, stack(last_h), stack(last_c) if last_c else None

    def _forward(
        self, input: Tensor | PackedSequence, hx: Tensor | States | None
    ) -> tuple[Tensor | PackedSequence, Tensor, Tensor | None]:
        """Outputs and last states, in the form and order of the input."""
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.ndim}D tensor "
                f"instead (shape {list(input.shape)})"
            )
        batched = input.ndim == 3
        states = self._states(hx, batched)
        if not batched:
            input = input.unsqueeze(0 if self.batch_first else 1)
        h, c = self._checked(input, None, states)
        steps = input.transpose(0, 1) if self.batch_first else input
        length, batch = steps.shape[:2]
        if length == 0:
            raise RuntimeError(
                f"{type(self).__name__}: Expected sequence length to be larger than 0 in RNN, got "
                f"input of shape {list(input.shape)}"
            )
        rows, h, c = self._run(steps.reshape(length * batch, -1), [batch] * length, h, c)
        out = rows.reshape(length, batch, -1)
        if self.batch_first:
            out = out.transpose(0, 1)
        if not batched:
            out = out.squeeze(0 if self.batch_first else 1)
            h, c = h.squeeze(1), None if c is None else c.squeeze(1)
        return out, h, c

    def _forward_packed(
        self, input: PackedSequence, hx: Tensor | States | None
    ) -> tuple[PackedSequence, Tensor, Tensor | None]:
        data, batch_sizes, order, back = input
        states = self._states(hx, True)
        if states is not None:
            states = tuple(self.permute_hidden(state, order) for state in states)
        h, c = self._checked(data, batch_sizes, states)
        rows, h, c = self._run(data, cast("list[int]", batch_sizes.tolist()), h, c)
        out = PackedSequence(rows, batch_sizes, order, back)
        return (
            out,
            self.permute_hidden(h, back),
            self.permute_hidden(c, back) if c is not None else None,
        )

    def _states(self, hx: Tensor | States | None, batched: bool) -> tuple[Tensor, ...] | None:
        """Given states in the form that layers take."""
        if hx is None:
            return None
        states = hx if isinstance(hx, tuple | list) else (hx,)
        expected = 2 if self.mode == "LSTM" else 1
        if len(states) != expected or not all(isinstance(state, Tensor) for state in states):
            form = "a pair of tensors (h_0, c_0)" if expected == 2 else "a tensor"
            raise TypeError(
                f"{type(self).__name__}: expected hx to be {form}, got {type(hx).__name__}"
            )
        rank = 3 if batched else 2
        if any(state.ndim != rank for state in states):
            kind = "batched 3-D" if batched else "unbatched 2-D"
            names = "hx and cx" if expected == 2 else "hx"
            ranks = ", ".join(f"{state.ndim}-D" for state in states)
            raise RuntimeError(
                f"For {kind} input, {names} should also be {rank}-D but got {ranks} tensor"
            )
        return tuple(states) if batched else tuple(state.unsqueeze(1) for state in states)

    def _checked(
        self, input: Tensor, batch_sizes: Tensor | None, states: tuple[Tensor, ...] | None
    ) -> tuple[Tensor, Tensor | None]:
        """The states to start with, once all is known to fit."""
        if states is None:
            self.check_input(input, batch_sizes)
            _, batch, size = self.get_expected_hidden_size(input, batch_sizes)
            h = self._zeros(input, batch, size)
            return h, self._zeros(input, batch, self.hidden_size) if self.mode == "LSTM" else None
        self.check_forward_args(input, states if self.mode == "LSTM" else states[0], batch_sizes)
        return states[0], states[1] if self.mode == "LSTM" else None


class RNN(RNNBase):
    """A recurrent layer: ``h = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)``.

    Args:
        input_size: the number of features of an input.
        hidden_size: the number of features of a state.
        num_layers: how many layers, each over the outputs of the one before.
        nonlinearity: ``"tanh"`` or ``"relu"``.
        bias: whether both sums have biases.
        batch_first: whether inputs and outputs are ``(batch, steps, features)``; states are not.
        dropout: how likely an element is dropped between layers, in training.
        bidirectional: whether a second set of weights runs from the last step to the first.

    Shapes: ``(steps, batch, input_size)``, without batch, or a :class:`PackedSequence`, and states
    ``(layers * directions, batch, hidden_size)``; gives all states of the last layer and the last
    states of all.

    Example:
        >>> layer = nn.RNN(3, 5, num_layers=2)
        >>> output, state = layer(pyburn.ones(4, 2, 3))
        >>> output.shape, state.shape
        (pyburn.Size([4, 2, 5]), pyburn.Size([2, 2, 5]))
    """

    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )
        self.nonlinearity = nonlinearity

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Tensor | PackedSequence, Tensor]:
        """All states of the last layer, and the last states of all layers."""
        output, h, _ = self._forward(input, hx)
        return output, h


class LSTM(RNNBase):
    """A layer with long short-term memory: a cell state ``c`` behind gates.

    ``i, f, g, o`` are parts of ``x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh``, and

    ``c = sigmoid(f) * c + sigmoid(i) * tanh(g)``, ``h = sigmoid(o) * tanh(c)``,

    with ``proj_size`` then ``h @ weight_hr.T``.

    Args:
        input_size: the number of features of an input.
        hidden_size: the number of features of a cell state.
        num_layers: how many layers, each over the outputs of the one before.
        bias: whether both sums have biases.
        batch_first: whether inputs and outputs are ``(batch, steps, features)``; states are not.
        dropout: how likely an element is dropped between layers, in training.
        bidirectional: whether a second set of weights runs from the last step to the first.
        proj_size: the number of features states are projected to.

    Shapes: as :class:`RNN`; states are a pair ``(h, c)``.

    Example:
        >>> layer = nn.LSTM(3, 5, bidirectional=True)
        >>> output, (h, c) = layer(pyburn.ones(4, 2, 3))
        >>> output.shape, h.shape
        (pyburn.Size([4, 2, 10]), pyburn.Size([2, 2, 5]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of the cell states that go with an input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return layers, batch, self.hidden_size

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuses an input or states that do not fit the layer."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        self.check_hidden_size(hidden[0], expected, "Expected hidden[0] size {}, got {}")
        expected = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], expected, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """States in another order of the batch."""
        if isinstance(hx, tuple):
            return tuple(self.permute_hidden(state, permutation) for state in hx)
        return super().permute_hidden(hx, permutation)

    def forward(
        self, input: Tensor | PackedSequence, hx: States | None = None
    ) -> tuple[Tensor | PackedSequence, States]:
        """All states of the last layer, and the last states and cell states of all layers."""
        output, h, c = self._forward(input, hx)
        return output, (h, cast(Tensor, c))


class GRU(RNNBase):
    """A layer of gated recurrent units.

    With the parts ``xr, xz, xn`` of ``x @ weight_ih.T + bias_ih`` and ``hr, hz, hn`` of
    ``h @ weight_hh.T + bias_hh``:

    ``r = sigmoid(xr + hr)``, ``z = sigmoid(xz + hz)``, ``n = tanh(xn + r * hn)``,
    ``h = (1 - z) * n + z * h``.

    Args:
        input_size: the number of features of an input.
        hidden_size: the number of features of a state.
        num_layers: how many layers, each over the outputs of the one before.
        bias: whether both sums have biases.
        batch_first: whether inputs and outputs are ``(batch, steps, features)``; states are not.
        dropout: how likely an element is dropped between layers, in training.
        bidirectional: whether a second set of weights runs from the last step to the first.

    Shapes: as :class:`RNN`.

    Example:
        >>> layer = nn.GRU(3, 5, batch_first=True)
        >>> output, state = layer(pyburn.ones(2, 4, 3))
        >>> output.shape, state.shape
        (pyburn.Size([2, 4, 5]), pyburn.Size([1, 2, 5]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            0,
            device,
            dtype,
        )

    def forward(
        self, input: Tensor | PackedSequence, hx: Tensor | None = None
    ) -> tuple[Tensor | PackedSequence, Tensor]:
        """All states of the last layer, and the last states of all layers."""
        output, h, _ = self._forward(input, hx)
        return output, h
