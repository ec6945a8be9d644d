"""Recurrent layers and cells, against one step after the other in NumPy."""

from __future__ import annotations

import copy
import itertools
import warnings
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import gru
from pyburn.nn.utils.rnn import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
)

KINDS = ("rnn_tanh", "rnn_relu", "lstm", "gru")


def make(kind: str, *args: Any, **kwargs: Any) -> nn.RNNBase:
    if kind.startswith("rnn"):
        return nn.RNN(*args, nonlinearity=kind[4:], **kwargs)
    return (nn.LSTM if kind == "lstm" else nn.GRU)(*args, **kwargs)


def make_cell(kind: str, *args: Any, **kwargs: Any) -> nn.RNNCellBase:
    if kind.startswith("rnn"):
        return nn.RNNCell(*args, nonlinearity=kind[4:], **kwargs)
    return (nn.LSTMCell if kind == "lstm" else nn.GRUCell)(*args, **kwargs)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def step(
    kind: str, x: np.ndarray, h: np.ndarray, c: np.ndarray, weights: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """One step from the definition."""
    of_x = x @ weights["weight_ih"].T + weights.get("bias_ih", 0)
    of_h = h @ weights["weight_hh"].T + weights.get("bias_hh", 0)
    if kind == "rnn_tanh":
        return np.tanh(of_x + of_h), c
    if kind == "rnn_relu":
        return np.maximum(of_x + of_h, 0), c
    if kind == "gru":
        (xr, xz, xn), (hr, hz, hn) = np.split(of_x, 3, -1), np.split(of_h, 3, -1)
        r, z = sigmoid(xr + hr), sigmoid(xz + hz)
        n = np.tanh(xn + r * hn)
        return (1 - z) * n + z * h, c
    i, f, g, o = np.split(of_x + of_h, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return (h @ weights["weight_hr"].T if "weight_hr" in weights else h), c


def reference(
    layer: nn.RNNBase, kind: str, x: np.ndarray, h: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All layers and directions over one batch ``(steps, batch, features)``."""
    h, c = h.copy(), c.copy()
    for number in range(layer.num_layers):
        outputs: list[np.ndarray] = []
        for direction in range(2 if layer.bidirectional else 1):
            suffix = f"_l{number}" + ("_reverse" if direction else "")
            weights = {
                name.removesuffix(suffix): value.detach().numpy()
                for name, value in layer.named_parameters()
                if name.endswith(suffix)
            }
            at = number * (2 if layer.bidirectional else 1) + direction
            steps = range(len(x))[::-1] if direction else range(len(x))
            states: list[Any] = [None] * len(x)
            for t in steps:
                h[at], c[at] = step(kind, x[t], h[at], c[at], weights)
                states[t] = h[at].copy()
            outputs.append(np.stack(states))
        x = np.concatenate(outputs, -1)
    return x, h, c


def doubles(*shape: int) -> pyburn.Tensor:
    return pyburn.randn(*shape, dtype=pyburn.float64, requires_grad=True)


def close(actual: pyburn.Tensor, expected: np.ndarray) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=1e-10, atol=1e-12)


def states_of(kind: str, result: Any) -> tuple[pyburn.Tensor, ...]:
    return result if kind == "lstm" else (result,)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("layers", "bias", "batch"), [(1, True, 3), (2, False, 1), (3, True, 20)])
def test_layers(kind: str, bidirectional: bool, layers: int, bias: bool, batch: int) -> None:
    layer = make(
        kind, 5, 7, num_layers=layers, bias=bias, bidirectional=bidirectional, dtype=pyburn.float64
    )
    rows = layers * (2 if bidirectional else 1)
    x, h, c = doubles(6, batch, 5), doubles(rows, batch, 7), doubles(rows, batch, 7)
    expected, last_h, last_c = reference(layer, kind, *(t.detach().numpy() for t in (x, h, c)))
    output, states = layer(x, (h, c) if kind == "lstm" else h)
    close(output, expected)
    for state, last in zip(states_of(kind, states), (last_h, last_c), strict=False):
        close(state, last)
    # Zeros stand for states that are not given.
    zero = np.zeros((rows, batch, 7))
    close(layer(x)[0], reference(layer, kind, x.detach().numpy(), zero, zero)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients(kind: str) -> None:
    layer = make(kind, 2, 3, num_layers=2, bidirectional=True, dtype=pyburn.float64)
    names = [name for name, _ in layer.named_parameters()]

    def run(x: pyburn.Tensor, h: pyburn.Tensor, c: pyburn.Tensor, *weights: pyburn.Tensor) -> Any:
        given = dict(zip(names, weights, strict=True))
        states = (h, c) if kind == "lstm" else h
        output, states = nn.utils.stateless.functional_call(layer, given, (x, states))
        return (output, *states_of(kind, states))

    weights = [weight.detach().clone().requires_grad_() for weight in layer.parameters()]
    states = (doubles(4, 2, 3), doubles(4, 2, 3).detach())
    if kind == "lstm":
        states = (states[0], states[1].requires_grad_())
    assert gradcheck(run, (doubles(3, 2, 2), *states, *weights))
    assert gradgradcheck(run, (doubles(2, 2, 2), *states, *weights))


def test_gradients_of_projected_states() -> None:
    layer = nn.LSTM(2, 4, proj_size=3, dtype=pyburn.float64)

    def run(x: pyburn.Tensor, *weights: pyburn.Tensor) -> Any:
        given = dict(zip(layer.state_dict(), weights, strict=True))
        output, (h, c) = nn.utils.stateless.functional_call(layer, given, (x,))
        return output, h, c

    weights = [weight.detach().clone().requires_grad_() for weight in layer.parameters()]
    assert gradcheck(run, (doubles(3, 2, 2), *weights))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_projected_states(bidirectional: bool) -> None:
    layer = nn.LSTM(5, 7, 2, proj_size=3, bidirectional=bidirectional, dtype=pyburn.float64)
    rows = 4 if bidirectional else 2
    x, h, c = doubles(4, 2, 5), doubles(rows, 2, 3), doubles(rows, 2, 7)
    expected, last_h, last_c = reference(layer, "lstm", *(t.detach().numpy() for t in (x, h, c)))
    output, (new_h, new_c) = layer(x, (h, c))
    close(output, expected)
    close(new_h, last_h)
    close(new_c, last_c)
    assert layer.weight_hr_l0.shape == (3, 7)


@pytest.mark.parametrize("kind", KINDS)
def test_batch_first_and_without_batch(kind: str) -> None:
    layer = make(kind, 3, 4, num_layers=2, dtype=pyburn.float64)
    x = doubles(5, 2, 3)
    output, states = layer(x)
    first = copy.deepcopy(layer)
    first.batch_first = True
    other, other_states = first(x.transpose(0, 1))
    assert other.equal(output.transpose(0, 1))
    for a, b in zip(states_of(kind, states), states_of(kind, other_states), strict=True):
        assert a.equal(b)
    alone, alone_states = layer(x[:, 1])
    close(alone, output[:, 1].detach().numpy())
    assert alone.shape == (5, 4)
    for a, b in zip(states_of(kind, states), states_of(kind, alone_states), strict=True):
        assert b.shape == (2, 4)
        close(b, a[:, 1].detach().numpy())
    again, _ = layer(x[:, 1], alone_states)
    assert again.shape == (5, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ordered", [False, True])
def test_packed_sequences(kind: str, ordered: bool) -> None:
    layer = make(kind, 3, 4, num_layers=2, bidirectional=True, dtype=pyburn.float64)
    lengths = [5, 3, 3, 1] if ordered else [3, 5, 1, 3]
    sequences = [doubles(length, 3) for length in lengths]
    h, c = doubles(4, 4, 4), doubles(4, 4, 4)
    packed = pack_sequence(sequences, enforce_sorted=ordered)
    output, states = layer(packed, (h, c) if kind == "lstm" else h)
    assert isinstance(output, PackedSequence)
    padded, found = pad_packed_sequence(output)
    assert found.tolist() == lengths
    # Every sequence is as if it were alone.
    loss: Any = 0
    for at, sequence in enumerate(sequences):
        own = (h[:, at], c[:, at]) if kind == "lstm" else h[:, at]
        alone, alone_states = layer(sequence, own)
        close(padded[: len(sequence), at], alone.detach().numpy())
        for a, b in zip(states_of(kind, states), states_of(kind, alone_states), strict=True):
            close(a[:, at], b.detach().numpy())
        loss = loss + alone.square().sum() + sum(s.sum() for s in states_of(kind, alone_states))
    inputs = [*sequences, h, *layer.parameters()]
    expected = pyburn.autograd.grad(loss, inputs)
    loss = output.data.square().sum() + sum(s.sum() for s in states_of(kind, states))
    for one, two in zip(pyburn.autograd.grad(loss, inputs), expected, strict=True):
        close(one, two.numpy())


def test_packed_in_any_precision() -> None:
    layer = nn.LSTM(3, 4)
    x = pyburn.randn(5, 2, 3)
    packed = pack_padded_sequence(x, [5, 5])
    output, _ = layer(packed)
    assert output.data.equal(layer(x)[0].reshape(10, 4))


def test_dropout_lies_between_layers() -> None:
    x = pyburn.ones(3, 2, 4)
    layer = nn.GRU(4, 64, num_layers=2, dropout=0.5)
    pyburn.manual_seed(1)
    one = layer(x)[0]
    assert not layer(x)[0].equal(one)
    pyburn.manual_seed(1)
    assert layer(x)[0].equal(one)
    layer.eval()
    assert layer(x)[0].equal(layer(x)[0])
    # All that the second layer gets is dropped: as if the first one's outputs were zero.
    layer = nn.GRU(4, 8, num_layers=2, dropout=1.0)
    second = nn.GRU(8, 8)
    second.load_state_dict(
        {name: getattr(layer, name.replace("_l0", "_l1")) for name in second.state_dict()}
    )
    assert layer(x)[0].equal(second(pyburn.zeros(3, 2, 8))[0])
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.RNN(2, 3, dropout=0.2)


def test_names_shapes_and_first_values() -> None:
    layer = nn.LSTM(3, 16, num_layers=2, bidirectional=True, proj_size=5)
    shapes = {name: tuple(value.shape) for name, value in layer.state_dict().items()}
    parts = {
        "weight_ih": {0: (64, 3), 1: (64, 10)},
        "weight_hh": dict.fromkeys((0, 1), (64, 5)),
        "bias_ih": dict.fromkeys((0, 1), (64,)),
        "bias_hh": dict.fromkeys((0, 1), (64,)),
        "weight_hr": dict.fromkeys((0, 1), (5, 16)),
    }
    expected = {
        f"{name}_l{number}{suffix}": shape[number]
        for number, suffix in itertools.product((0, 1), ("", "_reverse"))
        for name, shape in parts.items()
    }
    assert shapes == expected
    assert list(shapes) == list(expected)
    assert [len(weights) for weights in layer.all_weights] == [5] * 4
    assert layer.all_weights[1][0] is layer.weight_ih_l0_reverse
    assert all(float(w.abs().max()) <= 0.25 for w in layer.parameters())
    assert float(layer.weight_ih_l1.std()) == pytest.approx(0.25 / 3**0.5, rel=0.1)
    assert layer.flatten_parameters() is None
    assert repr(layer) == "LSTM(3, 16, proj_size=5, num_layers=2, bidirectional=True)"
    assert repr(nn.RNN(3, 4, bias=False, batch_first=True)) == (
        "RNN(3, 4, bias=False, batch_first=True)"
    )
    assert list(nn.GRU(3, 4, bias=False).state_dict()) == ["weight_ih_l0", "weight_hh_l0"]
    assert gru.GRU is nn.GRU
    assert gru.GRUCell is nn.GRUCell
    made = nn.LSTM(3, 4, device="meta", dtype=pyburn.float64)
    assert made(pyburn.ones(2, 1, 3, device="meta", dtype=pyburn.float64))[0].is_meta


def test_half_floats_and_autocast() -> None:
    layer = nn.LSTM(4, 8)
    x = pyburn.randn(5, 2, 4)
    expected = layer(x)[0].detach().numpy()
    half = copy.deepcopy(layer).bfloat16()
    output, (h, _) = half(x.bfloat16())
    assert output.dtype == h.dtype == pyburn.bfloat16
    np.testing.assert_allclose(output.detach().float().numpy(), expected, atol=2e-2)
    output.float().sum().backward()
    assert half.weight_hh_l0.grad.dtype == pyburn.bfloat16


def test_weights_put_in_their_place() -> None:
    layer = nn.GRU(2, 3)
    x = pyburn.randn(4, 1, 2)
    nn.utils.parametrizations.weight_norm(layer, "weight_hh_l0")
    before = layer(x)[0]
    with pyburn.no_grad():
        layer.parametrizations.weight_hh_l0.original0.mul_(2)
    assert not layer(x)[0].equal(before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("batch", "bias"), [(None, True), (1, False), (3, True), (40, True)])
def test_cells(kind: str, batch: int | None, bias: bool) -> None:
    cell = make_cell(kind, 5, 7, bias=bias, dtype=pyburn.float64)
    lead = () if batch is None else (batch,)
    x, h, c = doubles(*lead, 5), doubles(*lead, 7), doubles(*lead, 7)
    weights = {name: value.detach().numpy() for name, value in cell.named_parameters()}
    arrays = [t.detach().numpy() for t in (x, h, c)]
    expected = step(kind, *arrays, weights)
    found = states_of(kind, cell(x, (h, c) if kind == "lstm" else h))
    for state, values in zip(found, expected, strict=False):
        close(state, values)
    zero = np.zeros_like(arrays[1])
    close(states_of(kind, cell(x))[0], step(kind, arrays[0], zero, zero, weights)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_cells(kind: str) -> None:
    cell = make_cell(kind, 2, 3, dtype=pyburn.float64)

    def run(x: pyburn.Tensor, h: pyburn.Tensor, c: pyburn.Tensor, *weights: pyburn.Tensor) -> Any:
        given = dict(zip(cell.state_dict(), weights, strict=True))
        states = (h, c) if kind == "lstm" else h
        return states_of(kind, nn.utils.stateless.functional_call(cell, given, (x, states)))

    weights = [weight.detach().clone().requires_grad_() for weight in cell.parameters()]
    c = doubles(2, 3) if kind == "lstm" else doubles(2, 3).detach()
    assert gradcheck(run, (doubles(2, 2), doubles(2, 3), c, *weights))
    assert gradgradcheck(run, (doubles(2, 2), doubles(2, 3), c, *weights))


def test_a_cell_steps_like_its_layer() -> None:
    layer, cell = nn.LSTM(3, 4, dtype=pyburn.float64), nn.LSTMCell(3, 4, dtype=pyburn.float64)
    cell.load_state_dict({name: getattr(layer, f"{name}_l0") for name in cell.state_dict()})
    x = doubles(6, 2, 3)
    states = None
    outputs = []
    for row in x:
        states = cell(row, states)
        outputs.append(states[0])
    close(pyburn.stack(outputs), layer(x)[0].detach().numpy())


def test_one_tensor_as_both_states() -> None:
    # Each place counts on its own, also in gradients of gradients.
    cell = nn.LSTMCell(2, 3, dtype=pyburn.float64)
    x = doubles(2, 2)

    def run(state: pyburn.Tensor) -> Any:
        return cell(x, (state, state))

    assert gradcheck(run, (doubles(2, 3),))
    assert gradgradcheck(run, (doubles(2, 3),))


def two_states(*sizes: int) -> tuple[pyburn.Tensor, ...]:
    return tuple(pyburn.ones(1, 1, size) for size in sizes)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: nn.LSTM(0, 3), ValueError, "input_size must be greater than zero, got 0"),
        (lambda: nn.LSTM(3, 0), ValueError, "hidden_size must be greater than zero, got 0"),
        (lambda: nn.LSTM(2.5, 3), TypeError, "input_size should be of type int, got: float"),
        (lambda: nn.GRU(2, "3"), TypeError, "hidden_size should be of type int, got: str"),
        (lambda: nn.GRU(2, 3, 0), ValueError, "num_layers must be greater than zero"),
        (lambda: nn.GRU(2, 3, bias=1), TypeError, "bias should be of type bool, got: int"),
        (lambda: nn.RNN(2, 3, batch_first=0), TypeError, "batch_first should be of type bool"),
        (lambda: nn.RNN(2, 3, dropout=1.5), ValueError, "number in range"),
        (lambda: nn.RNN(2, 3, dropout=True), ValueError, "number in range"),
        (lambda: nn.RNN(2, 3, nonlinearity="sin"), ValueError, "Unknown nonlinearity 'sin'"),
        (lambda: nn.LSTM(2, 3, proj_size=3), ValueError, "smaller than hidden_size, got 3 and 3"),
        (lambda: nn.LSTM(2, 3, proj_size=-1), ValueError, "positive integer or zero"),
        (lambda: nn.RNNBase("CNN", 2, 3), ValueError, "Unrecognized RNN mode: CNN"),
    ],
)
def test_bad_layers(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        make()


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: nn.GRU(2, 3)(pyburn.ones(2)), ValueError, "GRU: Expected input to be 2D or 3D"),
        (lambda: nn.GRU(2, 3)(pyburn.ones(4, 1, 5)), RuntimeError, "Expected 2, got 5"),
        (lambda: nn.GRU(2, 3)(pyburn.ones(0, 1, 2)), RuntimeError, "to be larger than 0"),
        (
            lambda: nn.GRU(2, 3)(pyburn.ones(4, 1, 2).double()),
            ValueError,
            "RNN input dtype .* does not match weight dtype",
        ),
        (
            lambda: nn.GRU(2, 3)(pyburn.ones(4, 5, 2), pyburn.ones(1, 4, 3)),
            RuntimeError,
            r"Expected hidden size \(1, 5, 3\), got \[1, 4, 3\]",
        ),
        (
            lambda: nn.GRU(2, 3)(pyburn.ones(4, 5, 2), pyburn.ones(5, 3)),
            RuntimeError,
            "For batched 3-D input, hx should also be 3-D but got 2-D",
        ),
        (
            lambda: nn.LSTM(2, 3)(pyburn.ones(4, 2), (pyburn.ones(1, 1, 3), pyburn.ones(1, 3))),
            RuntimeError,
            "For unbatched 2-D input, hx and cx should also be 2-D but got 3-D, 2-D",
        ),
        (
            lambda: nn.LSTM(2, 3)(
                pyburn.ones(4, 1, 2), (pyburn.ones(1, 1, 3), pyburn.ones(1, 1, 4))
            ),
            RuntimeError,
            r"Expected hidden\[1\] size \(1, 1, 3\), got \[1, 1, 4\]",
        ),
        (
            lambda: nn.LSTM(2, 3)(pyburn.ones(4, 1, 2), pyburn.ones(1, 1, 3)),
            TypeError,
            "LSTM: expected hx to be a pair",
        ),
        (
            lambda: nn.GRU(2, 3)(pyburn.ones(4, 1, 2), pyburn.ones(1, 1, 3).double()),
            RuntimeError,
            "gru: expected states and weights of the input's dtype float32, got float64",
        ),
        (
            lambda: nn.GRUCell(10, 20)(pyburn.ones(3, 11), pyburn.ones(3, 20)),
            RuntimeError,
            "input has inconsistent input_size: got 11 expected 10",
        ),
        (
            lambda: nn.RNNCell(10, 20)(pyburn.ones(3, 10), pyburn.ones(3, 21)),
            RuntimeError,
            "hidden0 has inconsistent hidden_size: got 21, expected 20",
        ),
        (
            lambda: nn.RNNCell(10, 20)(pyburn.ones(3, 10), pyburn.ones(5, 20)),
            RuntimeError,
            "Input batch size 3 doesn't match hidden0 batch size 5",
        ),
        (
            lambda: nn.GRUCell(10, 20)(pyburn.ones(3, 10), pyburn.ones(3, 1, 1, 20)),
            ValueError,
            "Expected hidden to be 1D or 2D, got 4D instead",
        ),
        (
            lambda: nn.LSTMCell(2, 3)(pyburn.ones(1, 2), (pyburn.ones(1, 3), pyburn.ones(1, 4))),
            RuntimeError,
            "hidden1 has inconsistent hidden_size",
        ),
        (lambda: nn.LSTMCell(2, 3)(pyburn.ones(1, 1, 2)), ValueError, "to be 1D or 2D, got 3D"),
        (
            lambda: nn.LSTMCell(2, 3)(pyburn.ones(1, 2), pyburn.ones(1, 3)),
            TypeError,
            "LSTMCell: expected hx to be a pair",
        ),
        (
            lambda: nn.RNNCell(2, 3, nonlinearity="sin")(pyburn.ones(1, 2)),
            RuntimeError,
            "Unknown nonlinearity: sin",
        ),
    ],
)
def test_bad_calls(call: Any, kind: type[Exception], message: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kind, match=message):
            call()
