"""Tables looked up by number, and bags of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F

ROWS, SIZE = 7, 3


def table(grad: bool = True) -> pyburn.Tensor:
    data = np.random.default_rng(0).normal(size=(ROWS, SIZE))
    return pyburn.tensor(data, requires_grad=grad)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 1, 3), (0,)])
@pytest.mark.parametrize("padding", [None, 2, -1])
@pytest.mark.parametrize("by_frequency", [False, True])
def test_rows_and_their_gradients(
    shape: tuple[int, ...], padding: int | None, by_frequency: bool
) -> None:
    rng = np.random.default_rng(1)
    index = np.asarray(rng.integers(0, ROWS, shape))
    weight = table()
    out = F.embedding(pyburn.tensor(index), weight, padding, scale_grad_by_freq=by_frequency)
    np.testing.assert_array_equal(out.detach().numpy(), weight.detach().numpy()[index])
    grad = rng.normal(size=(*shape, SIZE))
    out.backward(pyburn.tensor(grad))
    expected = np.zeros((ROWS, SIZE))
    np.add.at(expected, index.reshape(-1), grad.reshape(-1, SIZE))
    if by_frequency:
        expected /= np.maximum(np.bincount(index.reshape(-1), minlength=ROWS), 1)[:, None]
    if padding is not None:
        expected[padding] = 0
    assert weight.grad is not None
    np.testing.assert_allclose(weight.grad.numpy(), expected, rtol=1e-12, atol=1e-15)


def test_gradients_of_gradients() -> None:
    index = pyburn.tensor([[1, 2], [2, 6]])
    assert gradcheck(lambda weight: F.embedding(index, weight), (table(),))
    assert gradgradcheck(lambda weight: F.embedding(index, weight, 2), (table(),))
    for dtype in (pyburn.float16, pyburn.bfloat16, pyburn.float32):
        weight = table(False).to(dtype).requires_grad_()
        out = F.embedding(index.int(), weight)
        assert out.dtype == dtype
        out.sum().backward()
        assert weight.grad is not None
        assert weight.grad.sum(1).tolist() == [0, SIZE, 2 * SIZE, 0, 0, 0, SIZE]


@pytest.mark.parametrize("norm_type", [1.0, 2.0])
def test_rows_are_shortened_when_they_are_used(norm_type: float) -> None:
    weight = table(False)
    before = weight.numpy().copy()
    index = pyburn.tensor([1, 4, 1])
    out = F.embedding(index, weight, max_norm=1.0, norm_type=norm_type)
    sizes = np.linalg.norm(before, norm_type, 1)
    assert (sizes[[1, 4]] > 1).any()
    short = before / np.maximum(sizes, 1)[:, None]
    np.testing.assert_allclose(out.numpy(), short[[1, 4, 1]], rtol=1e-6)
    np.testing.assert_allclose(weight.numpy()[[1, 4]], short[[1, 4]], rtol=1e-6)
    np.testing.assert_array_equal(weight.numpy()[[0, 2, 3, 5, 6]], before[[0, 2, 3, 5, 6]])
    layer = nn.Embedding(ROWS, SIZE, max_norm=0.5, norm_type=norm_type)
    out = layer(index)
    assert out.detach().norm(norm_type, -1).max().item() < 0.5 + 1e-5
    out.sum().backward()
    assert layer.weight.grad is not None


def test_embedding_layer() -> None:
    pyburn.manual_seed(0)
    layer = nn.Embedding(1000, 50, padding_idx=-2)
    assert layer.padding_idx == 998
    assert not layer.weight[998].any()
    assert abs(layer.weight.mean().item()) < 0.02
    assert abs(layer.weight.std().item() - 1) < 0.02
    assert list(layer.state_dict()) == ["weight"]
    assert repr(nn.Embedding(3, 2)) == "Embedding(3, 2)"
    assert repr(nn.Embedding(3, 2, 1, 2.0, 1.0, True)) == (
        "Embedding(3, 2, padding_idx=1, max_norm=2.0, norm_type=1.0, scale_grad_by_freq=True)"
    )
    made = nn.Embedding(3, 2, device="meta", dtype=pyburn.float16)
    assert made.weight.is_meta
    assert made.weight.dtype == pyburn.float16
    given = table(False).float()
    frozen = nn.Embedding.from_pretrained(given)
    assert not frozen.weight.requires_grad
    assert frozen(pyburn.tensor(3)).equal(given[3])
    assert nn.Embedding.from_pretrained(given, freeze=False, padding_idx=1).weight.requires_grad
    with pytest.raises(ValueError, match="expected to be 2-dimensional"):
        nn.Embedding.from_pretrained(given[0])
    with pytest.raises(ValueError, match="shape of weight does not match"):
        nn.Embedding(3, 2, _weight=given)


def test_embedding_refuses() -> None:
    weight = table(False)
    for wrong in (-1, ROWS):
        with pytest.raises(IndexError, match=f"^embedding: index {wrong} is out of bounds"):
            F.embedding(pyburn.tensor([0, wrong]), weight)
        with pytest.raises(ValueError, match="padding_idx must be within"):
            nn.Embedding(3, 2, padding_idx=4 if wrong > 0 else -4)
    with pytest.raises(RuntimeError, match="^embedding: expected indices of dtype int64"):
        F.embedding(pyburn.tensor([1.0]), weight)
    with pytest.raises(RuntimeError, match="^embedding: 'weight' must be 2-D"):
        F.embedding(pyburn.tensor([1]), weight[0])
    for refused in (
        lambda: F.embedding(pyburn.tensor([1]), weight, sparse=True),
        lambda: F.embedding_bag(pyburn.tensor([[1]]), weight, sparse=True),
        lambda: nn.Embedding(3, 2, sparse=True),
        lambda: nn.EmbeddingBag(3, 2, sparse=True),
    ):
        with pytest.raises(NotImplementedError, match="no sparse gradients"):
            refused()


def bag(weight: np.ndarray, rows: np.ndarray, mode: str, factors: np.ndarray | None) -> np.ndarray:
    if not len(rows):
        return np.zeros(weight.shape[1])
    found = weight[rows] * (1 if factors is None else factors[:, None])
    return {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](found, axis=0)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("offsets", [[0, 2, 5], [0, 0, 3, 10], [0], [0, 10]])
def test_bags(mode: str, padding: int | None, offsets: list[int]) -> None:
    rng = np.random.default_rng(2)
    rows, weight = rng.integers(0, ROWS, 10), table()
    data = weight.detach().numpy()
    factors = rng.normal(size=10) if mode == "sum" else None
    given = None if factors is None else pyburn.tensor(factors, requires_grad=True)
    ends = [*offsets[1:], 10]
    counted = rows != padding if padding is not None else np.ones(10, bool)
    parts = [
        np.arange(start, end)[counted[start:end]] for start, end in zip(offsets, ends, strict=True)
    ]
    expected = np.stack(
        [bag(data, rows[part], mode, None if factors is None else factors[part]) for part in parts]
    )
    index = pyburn.tensor(rows)

    def run(weight: pyburn.Tensor, given: pyburn.Tensor | None = None) -> pyburn.Tensor:
        return F.embedding_bag(
            index,
            weight,
            pyburn.tensor(offsets),
            mode=mode,
            padding_idx=padding,
            per_sample_weights=given,
        )

    np.testing.assert_allclose(run(weight, given).detach().numpy(), expected, rtol=1e-12)
    with_end = F.embedding_bag(
        index,
        weight,
        pyburn.tensor([*offsets, 10]),
        mode=mode,
        padding_idx=padding,
        per_sample_weights=given,
        include_last_offset=True,
    )
    assert with_end.equal(run(weight, given))
    assert gradcheck(run, (weight,) if given is None else (weight, given))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_one_size_and_layers(mode: str) -> None:
    rows = np.random.default_rng(3).integers(0, ROWS, (4, 5))
    weight = table(False)
    expected = np.stack([bag(weight.numpy(), row, mode, None) for row in rows])
    layer = nn.EmbeddingBag.from_pretrained(weight, mode=mode)
    np.testing.assert_allclose(layer(pyburn.tensor(rows)).numpy(), expected, rtol=1e-12)
    assert not layer.weight.requires_grad
    assert nn.EmbeddingBag.from_pretrained(weight, freeze=False).weight.requires_grad
    assert layer(pyburn.zeros(2, 0, dtype=pyburn.int64)).tolist() == [[0.0] * SIZE] * 2
    assert repr(nn.EmbeddingBag(3, 2, mode=mode, padding_idx=0)) == (
        f"EmbeddingBag(3, 2, mode='{mode}', padding_idx=0)"
    )


def test_frequencies_of_bags() -> None:
    index, weight = pyburn.tensor([1, 1, 2]), table()
    out = F.embedding_bag(index, weight, pyburn.tensor([0, 1]), mode="sum", scale_grad_by_freq=True)
    out.sum().backward()
    assert weight.grad is not None
    assert weight.grad[:, 0].tolist() == [0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_bags_refuse() -> None:
    weight, index, offsets = table(False), pyburn.tensor([1, 2]), pyburn.tensor([0])

    def wrong(match: str, *args: Any, **kwargs: Any) -> None:
        with pytest.raises((ValueError, NotImplementedError), match=f"^embedding_bag: .*{match}"):
            F.embedding_bag(*args, **kwargs)

    wrong("offsets has to be a 1D Tensor but got None", index, weight)
    wrong("offsets has to be None", index[None], weight, offsets)
    wrong(r"offsets\[0\] has to be 0", index, weight, pyburn.tensor([1, 2]))
    wrong(r"can not be greater than input's length", index, weight, pyburn.tensor([0, 3]))
    wrong("input has to be 1D or 2D", index[None, None], weight)
    wrong("mode has to be one of", index, weight, offsets, mode="min")
    wrong("only supported for mode='sum'", index, weight, offsets, per_sample_weights=index * 1.0)
    wrong("same shape as the input", index, weight, offsets, per_sample_weights=weight, mode="sum")
    wrong("max mode", index, weight, offsets, mode="max", scale_grad_by_freq=True)
    wrong(
        "number of offsets should be at least 1",
        index,
        weight,
        offsets[:0],
        include_last_offset=True,
    )
    with pytest.raises(IndexError, match="index 9 is out of bounds"):
        F.embedding_bag(pyburn.tensor([9]), weight, offsets)
    with pytest.raises(RuntimeError, match="expected input of dtype int64"):
        F.embedding_bag(index * 1.0, weight, offsets)


def test_one_hot() -> None:
    index = pyburn.tensor([[0, 4], [2, 1]])
    assert F.one_hot(index).shape == (2, 2, 5)
    np.testing.assert_array_equal(F.one_hot(index, 6).numpy(), np.eye(6, dtype=int)[index.numpy()])
    with pytest.raises(RuntimeError, match="^one_hot: class values must be smaller"):
        F.one_hot(index, 3)
