"""Pools and their layers, beside loops over windows."""

from __future__ import annotations

import doctest
import itertools
import math
from typing import Any

import numpy as np
import pyburn
import pytest
from ops.specs.vision import largest, max_pool, parts, windows
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F
from pyburn.nn.functional import _conv, _pool

SIZES = {1: (9,), 2: (6, 7), 3: (4, 5, 4)}


def doubles(*shape: int) -> pyburn.Tensor:
    """Numbers that all differ, so that the largest stays the largest under small steps."""
    count = math.prod(shape)
    order = np.random.default_rng(count).permutation(count) / count
    return pyburn.from_numpy(order.reshape(shape)).requires_grad_()


def function(name: str, rank: int) -> Any:
    return getattr(F, f"{name}{rank}d")


MAX: list[tuple[Any, ...]] = [
    (2,),
    (3, 2, 1),
    (2, 1, 0, 2),
    (3, 2, 1, 1, True),
    (2, 3, 0, 1, True),
    (3, None, 1, 2, True),
]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("arguments", MAX, ids=str)
def test_max_pool(rank: int, arguments: tuple[Any, ...]) -> None:
    for dtype in (np.float64, np.float32, np.int64):
        x = np.random.default_rng(rank).integers(-9, 9, (2, 3, *SIZES[rank])).astype(dtype)
        best, places = max_pool(x, *arguments, return_indices=True, rank=rank)
        found = function("max_pool", rank)(pyburn.from_numpy(x), *arguments, return_indices=True)
        np.testing.assert_array_equal(found[0].numpy(), best)
        np.testing.assert_array_equal(found[1].numpy(), places)
        alone = function("max_pool", rank)(pyburn.from_numpy(x[0]), *arguments)
        np.testing.assert_array_equal(alone.numpy(), best[0])


def test_the_largest_among_infinities_and_nan() -> None:
    x = pyburn.tensor([[[-math.inf, -math.inf, math.nan, 1.0, math.inf, 0.0, math.nan, math.nan]]])
    best, places = F.max_pool1d(x, 2, return_indices=True)
    assert best[0, 0, 0] == -math.inf
    assert best[0, 0, 1].isnan()
    assert best[0, 0, 2] == math.inf
    # Of several NaN the last one, as PyTorch has it.
    assert places.tolist() == [[[0, 2, 4, 7]]]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "arguments",
    [
        (2,),
        (3, 2, 1),
        (3, 2, 1, True),
        (3, 2, 1, True, False),
        (2, 3, 0, True),
        (3, 1, 1, False, False),
    ],
    ids=str,
)
def test_avg_pool(rank: int, arguments: tuple[Any, ...]) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, *SIZES[rank]))
    for divisor in (None, 5) if rank > 1 else (None,):
        wanted = average(x, rank, arguments, divisor)
        more = {} if rank == 1 else {"divisor_override": divisor}
        for dtype, tolerance in ((pyburn.float64, 1e-12), (pyburn.float32, 1e-5)):
            given = pyburn.from_numpy(x).to(dtype)
            out = function("avg_pool", rank)(given, *arguments, **more)
            np.testing.assert_allclose(out.numpy(), wanted, rtol=tolerance, atol=tolerance)


def average(
    x: np.ndarray, rank: int, arguments: tuple[Any, ...], divisor: int | None
) -> np.ndarray:
    kernel, stride, padding, ceil, pads = (
        *arguments,
        *(None, 0, False, True)[len(arguments) - 1 :],
    )
    size = x.shape[-rank:]
    places = windows(rank, size, kernel, stride, padding, 1, ceil)
    out = np.zeros((*x.shape[:2], *map(len, places)))
    for window in np.ndindex(*out.shape[2:]):
        own = [places[d][window[d]] for d in range(rank)]
        inside = [[at for at in own[d] if 0 <= at < size[d]] for d in range(rank)]
        counted = [[at for at in own[d] if at < size[d] + padding] for d in range(rank)]
        count = divisor or math.prod(map(len, counted if pads else inside))
        part = x[np.ix_(range(x.shape[0]), range(x.shape[1]), *inside)]
        out[(..., *window)] = part.reshape(*x.shape[:2], -1).sum(-1) / count
    return out


def test_integers_are_averaged_towards_zero() -> None:
    out = F.avg_pool1d(pyburn.tensor([[[1, 4, -1, -4]]]), 2)
    assert out.dtype == pyburn.int64
    assert out.tolist() == [[[2, -2]]]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 11])
def test_adaptive_pools(rank: int, count: int) -> None:
    x = np.random.default_rng(2).standard_normal((2, 2, *SIZES[rank]))
    dims = [parts(size, count) for size in SIZES[rank]]
    best, places = largest(x, dims, True)
    found = function("adaptive_max_pool", rank)(pyburn.from_numpy(x), count, return_indices=True)
    np.testing.assert_array_equal(found[0].numpy(), best)
    np.testing.assert_array_equal(found[1].numpy(), places)
    means = np.zeros_like(best)
    for window in itertools.product(range(count), repeat=rank):
        own = [dims[d][window[d]] for d in range(rank)]
        means[(..., *window)] = x[np.ix_(range(2), range(2), *own)].reshape(2, 2, -1).mean(-1)
    out = function("adaptive_avg_pool", rank)(pyburn.from_numpy(x), count)
    np.testing.assert_allclose(out.numpy(), means, rtol=1e-12, atol=1e-12)


def test_none_leaves_a_dimension() -> None:
    x = pyburn.randn(1, 2, 5, 6)
    assert F.adaptive_avg_pool2d(x, (None, 3)).shape == (1, 2, 5, 3)
    assert F.adaptive_max_pool2d(x, (2, None)).shape == (1, 2, 2, 6)
    assert F.adaptive_avg_pool2d(x, 0).shape == (1, 2, 0, 0)
    assert nn.AdaptiveAvgPool2d(None)(x).shape == x.shape


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, math.inf, -math.inf])
def test_lp_pool(rank: int, power: float) -> None:
    x = np.random.default_rng(3).uniform(0.1, 2, (2, 2, *SIZES[rank]))
    out = function("lp_pool", rank)(pyburn.from_numpy(x), power, 2, 1).numpy()
    view = np.lib.stride_tricks.sliding_window_view(x, [2] * rank, tuple(range(2, rank + 2)))
    columns = view.reshape(*out.shape, -1)
    if math.isinf(power):
        wanted = columns.max(-1) if power > 0 else columns.min(-1)
    else:
        wanted = (columns**power).sum(-1) ** (1 / power)
    np.testing.assert_allclose(out, wanted, rtol=1e-10)


@pytest.mark.parametrize("rank", [2, 3])
def test_fractional_max_pool(rank: int) -> None:
    size, kernel, count = (9, 8, 10)[:rank], (3, 2, 2)[:rank], (4, 5, 6)[:rank]
    x = np.random.default_rng(4).standard_normal((2, 3, *size))
    samples = np.random.default_rng(5).random((2, 3, rank))
    pool = function("fractional_max_pool", rank)
    given = pyburn.from_numpy(samples)
    best, places = pool(
        pyburn.from_numpy(x), kernel, count, None, return_indices=True, _random_samples=given
    )
    for n, c in np.ndindex(2, 3):
        # In two dimensions the samples start with the last one.
        own = samples[n, c][::-1] if rank == 2 else samples[n, c]
        dims = []
        for d in range(rank):
            step = (size[d] - kernel[d]) / (count[d] - 1)
            starts = [int((at + own[d]) * step) - int(own[d] * step) for at in range(count[d] - 1)]
            starts.append(size[d] - kernel[d])
            dims.append([range(start, start + kernel[d]) for start in starts])
        wanted = largest(x[n, c][None], dims, True)
        np.testing.assert_array_equal(best[n, c].numpy(), wanted[0][0])
        np.testing.assert_array_equal(places[n, c].numpy(), wanted[1][0])
    drawn = pool(pyburn.from_numpy(x), kernel, output_ratio=0.5)
    assert drawn.shape == (2, 3, *(side // 2 for side in size))
    pyburn.manual_seed(3)
    first = pool(pyburn.from_numpy(x), kernel, count)
    pyburn.manual_seed(3)
    assert first.equal(pool(pyburn.from_numpy(x), kernel, count))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_unpooling_puts_elements_back(rank: int) -> None:
    x = doubles(2, 2, *SIZES[rank]).detach()
    best, places = function("max_pool", rank)(x, 2, return_indices=True)
    unpool = function("max_unpool", rank)
    out = unpool(best, places, 2, output_size=x.shape)
    assert out.shape == x.shape
    kept = out != 0
    assert out[kept].equal(x[kept])
    assert sorted(out[kept].tolist()) == sorted(best[best != 0].flatten().tolist())
    assert unpool(best, places, 2, output_size=x.shape[-rank:]).equal(out)


def test_wrong_unpooling() -> None:
    x, places = pyburn.ones(1, 1, 2, 2), pyburn.zeros(1, 1, 2, 2, dtype=pyburn.int64)
    with pytest.raises(ValueError, match="between 2 and 6"):
        F.max_unpool2d(x, places, 2, output_size=(9, 9))
    with pytest.raises(ValueError, match="2 or 4"):
        F.max_unpool2d(x, places, 2, output_size=(4,))
    with pytest.raises(RuntimeError, match="invalid max index"):
        F.max_unpool2d(x, places + 99, 2)
    with pytest.raises(RuntimeError, match="indices"):
        F.max_unpool2d(x, places[..., :1], 2)
    with pytest.raises(RuntimeError, match="int64"):
        F.max_unpool2d(x, places.float(), 2)
    with pytest.raises(RuntimeError, match="greater than zero"):
        F.max_unpool2d(x, places, 2, 0)


@pytest.mark.parametrize("rank", [1, 2])
def test_gradients(rank: int) -> None:
    x = doubles(1, 2, *(5, 4)[:rank])
    pool = {name: function(name, rank) for name in ("max_pool", "avg_pool", "lp_pool")}
    for of in (
        lambda x: pool["max_pool"](x, 2, 1, 1),
        lambda x: pool["max_pool"](x, 3, 2, 1, 1, True),
        lambda x: pool["avg_pool"](x, 3, 2, 1, True, False),
        lambda x: pool["lp_pool"](x + 0.5, 3.0, 2),
        lambda x: function("adaptive_max_pool", rank)(x, 3),
        lambda x: function("adaptive_avg_pool", rank)(x, 3),
    ):
        assert gradcheck(of, (x,))
        assert gradgradcheck(of, (x,))


def test_gradients_of_rarer_pools() -> None:
    x = doubles(1, 1, 4, 5)
    samples = pyburn.rand(1, 1, 2, dtype=pyburn.float64)
    assert gradcheck(lambda x: F.fractional_max_pool2d(x, 2, 3, _random_samples=samples), (x,))
    best, places = F.max_pool2d(x.detach(), 2, return_indices=True)
    best.requires_grad_()
    assert gradcheck(lambda y: F.max_unpool2d(y, places, 2, output_size=(4, 5)), (best,))
    assert gradgradcheck(lambda y: F.max_unpool2d(y, places, 2, output_size=(4, 5)), (best,))
    assert gradcheck(lambda x: F.avg_pool2d(x, 2, divisor_override=3), (x,))
    cube = doubles(1, 1, 3, 2, 4)
    assert gradcheck(lambda x: F.max_pool3d(x, 2, 1), (cube,))
    assert gradcheck(lambda x: F.avg_pool3d(x, 2, 1, 1), (cube,))


x2 = pyburn.ones(1, 1, 3, 3)
WRONG: list[tuple[str, Any, type[Exception], tuple[str, ...]]] = [
    ("rank", lambda: F.max_pool2d(pyburn.ones(3, 3), 2), RuntimeError, ("3D or 4D", "[3, 3]")),
    ("padding", lambda: F.max_pool2d(x2, 2, padding=2), RuntimeError, ("half",)),
    ("negative", lambda: F.max_pool2d(x2, 2, padding=-1), RuntimeError, ("non-negative",)),
    ("small", lambda: F.max_pool2d(x2, 4), RuntimeError, ("too small", "3 x 3")),
    ("kernel", lambda: F.max_pool2d(x2, 0), RuntimeError, ("kernel size",)),
    ("stride", lambda: F.max_pool2d(x2, 2, 0), RuntimeError, ("stride",)),
    ("dilation", lambda: F.max_pool2d(x2, 2, dilation=0), RuntimeError, ("dilation",)),
    ("three", lambda: F.max_pool2d(x2, (2, 2, 2)), RuntimeError, ("2 values",)),
    (
        "no channels",
        lambda: F.max_pool2d(pyburn.ones(1, 0, 3, 3), 2),
        RuntimeError,
        ("[1, 0, 3, 3]",),
    ),
    ("bool", lambda: F.max_pool2d(x2.bool(), 2), RuntimeError, ("bool",)),
    ("divisor", lambda: F.avg_pool2d(x2, 2, divisor_override=0), RuntimeError, ("divisor",)),
    ("parts", lambda: F.adaptive_avg_pool2d(x2, -1), RuntimeError, ("output_size",)),
    ("many parts", lambda: F.adaptive_avg_pool2d(x2, (1, 2, 3)), RuntimeError, ("2 numbers",)),
    (
        "empty",
        lambda: F.adaptive_max_pool2d(pyburn.ones(1, 1, 0, 3), 2),
        RuntimeError,
        ("non-zero",),
    ),
    ("ints", lambda: F.adaptive_avg_pool2d(x2.long(), 2), RuntimeError, ("int64",)),
    ("norm", lambda: F.lp_pool2d(x2, 0, 2), ValueError, ("norm_type",)),
    ("no size", lambda: F.fractional_max_pool2d(x2, 2), ValueError, ("output_ratio",)),
    ("large", lambda: F.fractional_max_pool2d(x2, 2, 3), RuntimeError, ("too large",)),
    ("norm of layer", lambda: nn.LPPool1d(0, 2), ValueError, ("norm_type",)),
    ("both", lambda: nn.FractionalMaxPool2d(2, 2, 0.5), ValueError, ("only one",)),
    (
        "ratio",
        lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5),
        ValueError,
        ("between 0 and 1",),
    ),
    ("layer", lambda: nn.FractionalMaxPool3d(0, 2), ValueError, ("kernel_size",)),
]


@pytest.mark.parametrize(
    ("call", "kind", "words"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_wrong_calls(call: Any, kind: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_empty_batches() -> None:
    x = pyburn.ones(0, 2, 4, 4, requires_grad=True)
    for out in (F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 2)):
        assert out.shape == (0, 2, 2, 2)
        out.sum().backward()


def test_halves_are_pooled_like_floats() -> None:
    x = pyburn.randn(1, 2, 6, 6)
    for dtype in (pyburn.float16, pyburn.bfloat16):
        for pool in (F.max_pool2d, F.avg_pool2d):
            out = pool(x.to(dtype), 2)
            assert out.dtype == dtype
            np.testing.assert_allclose(out.float().numpy(), pool(x, 2).numpy(), atol=0.03)


# Layers.

LAYERS: list[tuple[nn.Module, str]] = [
    (nn.MaxPool1d(3, stride=2), "kernel_size=3, stride=2, padding=0, dilation=1, ceil_mode=False"),
    (
        nn.MaxPool2d((3, 2)),
        "kernel_size=(3, 2), stride=(3, 2), padding=0, dilation=1, ceil_mode=False",
    ),
    (nn.AvgPool1d(2), "kernel_size=(2,), stride=(2,), padding=(0,)"),
    (nn.AvgPool2d(2), "kernel_size=2, stride=2, padding=0"),
    (nn.AvgPool3d((2, 1, 1), 1), "kernel_size=(2, 1, 1), stride=1, padding=0"),
    (nn.AdaptiveMaxPool2d((2, None)), "output_size=(2, None)"),
    (nn.AdaptiveAvgPool3d(1), "output_size=1"),
    (nn.LPPool2d(2, 3), "norm_type=2, kernel_size=3, stride=None, ceil_mode=False"),
    (nn.MaxUnpool2d(2), "kernel_size=(2, 2), stride=(2, 2), padding=(0, 0)"),
]


@pytest.mark.parametrize(("layer", "text"), LAYERS, ids=lambda item: str(item)[:20])
def test_text(layer: nn.Module, text: str) -> None:
    assert repr(layer) == f"{type(layer).__name__}({text})"


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_layers_are_their_functions(rank: int) -> None:
    x = pyburn.randn(2, 3, *[7, 8, 6][:rank])
    pairs: list[tuple[str, tuple[Any, ...], str, tuple[Any, ...]]] = [
        ("MaxPool", (3, 2, 1), "max_pool", (3, 2, 1)),
        ("AvgPool", (3, 2, 1, True, False), "avg_pool", (3, 2, 1, True, False)),
        ("AdaptiveAvgPool", (3,), "adaptive_avg_pool", (3,)),
        ("AdaptiveMaxPool", (3,), "adaptive_max_pool", (3,)),
        ("LPPool", (2, 3), "lp_pool", (2.0, 3)),
    ]
    for layer, given, name, arguments in pairs:
        made = getattr(nn, f"{layer}{rank}d")(*given)
        assert not list(made.parameters())
        assert made(x).equal(function(name, rank)(x, *arguments))
    best, places = getattr(nn, f"MaxPool{rank}d")(2, return_indices=True)(x)
    assert getattr(nn, f"MaxUnpool{rank}d")(2)(best, places).shape[:2] == (2, 3)
    both = getattr(nn, f"AdaptiveMaxPool{rank}d")(2, return_indices=True)(x)
    assert len(both) == 2


def test_samples_of_a_fractional_layer_are_kept() -> None:
    samples = pyburn.rand(1, 2, 2)
    layer = nn.FractionalMaxPool2d(2, 3, _random_samples=samples)
    x = pyburn.randn(1, 2, 7, 7)
    assert layer(x).equal(layer(x))
    assert layer(x).equal(F.fractional_max_pool2d(x, 2, 3, _random_samples=samples))


@pytest.mark.parametrize("module", [_conv, _pool], ids=lambda module: module.__name__)
def test_examples_of_functions_made_for_a_number_of_dimensions(module: Any) -> None:
    """Their texts are no docstrings in the source, where examples are looked for."""
    names = {"pyburn": pyburn, "F": F}
    for name in module.__all__:
        text = getattr(module, name).__doc__
        assert getattr(module, name).__name__ == name
        test = doctest.DocTestParser().get_doctest(text, dict(names), name, None, 0)
        assert test.examples, f"{name} has no example"
        failures: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
        assert not failures, "".join(failures)
