"""Resizing, sampling, windows and shuffles, beside NumPy and SciPy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pyburn
import pytest
from ops.specs.vision import pixel_shuffle
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F
from scipy import ndimage


def doubles(*shape: int) -> pyburn.Tensor:
    return pyburn.randn(*shape, dtype=pyburn.float64, requires_grad=True)


# Resizing: each dimension is a matrix.


def cubic(x: float, a: float) -> float:
    x = abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def lanczos(x: float) -> float:
    return float(np.sinc(x) * np.sinc(x / 3)) if abs(x) < 3 else 0.0


def matrix(mode: str, length: int, count: int, align: bool, step: float) -> np.ndarray:
    """The weights of elements in results."""
    found = np.zeros((count, length))
    if align:
        step = (length - 1) / (count - 1) if count > 1 else 0.0
    for at in range(count):
        if mode == "nearest":
            found[at, min(int(at * step), length - 1)] = 1
            continue
        if mode == "nearest-exact":
            found[at, min(int((at + 0.5) * step), length - 1)] = 1
            continue
        place = at * step if align else (at + 0.5) * step - 0.5
        if mode == "bicubic":
            low = math.floor(place)
            for k in range(low - 1, low + 3):
                found[at, min(max(k, 0), length - 1)] += cubic(place - k, -0.75)
        else:
            place = max(place, 0.0)
            low = min(int(place), length - 1)
            found[at, low] += 1 - (place - low)
            found[at, min(low + 1, length - 1)] += place - low
    return found


def broad(mode: str, length: int, count: int) -> np.ndarray:
    """The weights with antialiasing: a filter as wide as results lie apart."""
    step = length / count
    width, weight = {
        "bilinear": (1, lambda x: max(0.0, 1 - abs(x))),
        "bicubic": (2, lambda x: cubic(x, -0.5)),
        "lanczos": (3, lanczos),
    }[mode]
    scale = max(step, 1.0)
    found = np.zeros((count, length))
    for at in range(count):
        centre = step * (at + 0.5)
        first = max(int(centre - width * scale + 0.5), 0)
        end = min(int(centre + width * scale + 0.5), length)
        for k in range(first, end):
            found[at, k] = weight((k + 0.5 - centre) / scale)
    return found / found.sum(1, keepdims=True)


def resized(x: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    for dim, own in enumerate(matrices):
        x = np.moveaxis(np.moveaxis(x, dim + 2, -1) @ own.T, -1, dim + 2)
    return x


MODES = {1: "linear", 2: "bilinear", 3: "trilinear"}
SIZES = {1: (5,), 2: (5, 4), 3: (3, 4, 5)}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "bicubic"])
@pytest.mark.parametrize("align", [False, True])
def test_interpolate(rank: int, count: int, mode: str, align: bool) -> None:
    if (mode == "bicubic" and rank != 2) or (align and mode.startswith("nearest")):
        pytest.skip("PyTorch has no such mode")
    x = np.random.default_rng(1).standard_normal((2, 2, *SIZES[rank]))
    name = MODES[rank] if mode == "linear" else mode
    options: dict[str, Any] = {} if mode.startswith("nearest") else {"align_corners": align}
    out = F.interpolate(pyburn.from_numpy(x), size=count, mode=name, **options)
    steps = [(length, length / count) for length in SIZES[rank]]
    wanted = resized(x, [matrix(mode, n, count, align, step) for n, step in steps])
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("factor", [0.4, 1.0, 1.3, 2.5])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_factors_say_where_results_lie(factor: float, mode: str) -> None:
    x = np.random.default_rng(2).standard_normal((1, 2, 7))
    count = int(7 * factor)
    out = F.interpolate(pyburn.from_numpy(x), scale_factor=factor, mode=mode)
    wanted = resized(x, [matrix(mode, 7, count, False, 1 / factor)])
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-10, atol=1e-10)
    again = F.interpolate(
        pyburn.from_numpy(x), scale_factor=factor, mode=mode, recompute_scale_factor=True
    )
    assert again.equal(F.interpolate(pyburn.from_numpy(x), size=count, mode=mode))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("size", [(3, 2), (9, 13), (4, 20)])
def test_antialiasing(mode: str, size: tuple[int, int]) -> None:
    x = np.random.default_rng(3).standard_normal((1, 2, 9, 8))
    out = F.interpolate(pyburn.from_numpy(x), size=size, mode=mode, antialias=True)
    wanted = resized(x, [broad(mode, n, m) for n, m in zip((9, 8), size, strict=True)])
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-9, atol=1e-9)


def test_area_is_the_mean_of_parts() -> None:
    x = pyburn.randn(1, 2, 6, 7)
    assert F.interpolate(x, size=3, mode="area").equal(F.adaptive_avg_pool2d(x, 3))
    assert F.interpolate(x, scale_factor=0.5, mode="area").shape == (1, 2, 3, 3)


def test_bytes_are_resized_and_rounded() -> None:
    x = pyburn.tensor([[[[0, 255], [255, 0]]]], dtype=pyburn.uint8)
    # PyTorch's numbers: what overshoots is cut off after each dimension.
    rows: dict[str, list[list[int]]] = {
        "nearest": [[0, 0, 255, 255], [0, 0, 255, 255]],
        "bilinear": [[0, 64, 191, 255], [64, 96, 159, 191]],
        "bicubic": [[0, 43, 212, 255], [58, 89, 166, 197]],
    }
    for mode, wanted in rows.items():
        out = F.interpolate(x, size=4, mode=mode)
        assert out.dtype == pyburn.uint8
        assert out[0, 0, :2].tolist() == wanted
    assert F.interpolate(x.half(), size=4, mode="bilinear").dtype == pyburn.float16


@pytest.mark.parametrize(
    "options",
    [
        {"size": (2, 5), "mode": "nearest"},
        {"size": (5, 2), "mode": "bilinear"},
        {"scale_factor": 1.5, "mode": "bicubic", "align_corners": True},
        {"size": (2, 2), "mode": "bicubic", "antialias": True},
        {"size": (2, 3), "mode": "area"},
    ],
    ids=str,
)
def test_gradients_of_interpolate(options: dict[str, Any]) -> None:
    assert gradcheck(lambda x: F.interpolate(x, **options), (doubles(1, 2, 4, 3),))
    assert gradgradcheck(lambda x: F.interpolate(x, **options), (doubles(1, 1, 4, 3),))


x4 = pyburn.ones(1, 1, 4, 4)
WRONG: list[tuple[str, Any, Any, tuple[str, ...]]] = [
    ("neither", lambda: F.interpolate(x4), ValueError, ("size or scale_factor",)),
    ("both", lambda: F.interpolate(x4, 2, 2.0), ValueError, ("only one",)),
    ("mode", lambda: F.interpolate(x4, 2, mode="cubic"), NotImplementedError, ("bicubic",)),
    ("rank", lambda: F.interpolate(x4, 2, mode="linear"), NotImplementedError, ("3D",)),
    ("matrix", lambda: F.interpolate(x4[0, 0], 2), NotImplementedError, ("2D",)),
    ("align", lambda: F.interpolate(x4, 2, align_corners=True), ValueError, ("align_corners",)),
    ("sizes", lambda: F.interpolate(x4, (2, 2, 2)), ValueError, ("[4, 4]", "(2, 2, 2)")),
    ("float", lambda: F.interpolate(x4, (2.5, 2)), TypeError, ("int",)),  # type: ignore[arg-type]
    ("zero", lambda: F.interpolate(x4, 0), RuntimeError, ("greater than 0",)),
    ("tiny", lambda: F.interpolate(x4, scale_factor=0.1), RuntimeError, ("greater than 0",)),
    ("no channels", lambda: F.interpolate(pyburn.ones(1, 0, 4), 2), RuntimeError, ("non-empty",)),
    ("antialias", lambda: F.interpolate(x4, 2, antialias=True), ValueError, ("Anti-alias",)),
    ("lanczos", lambda: F.interpolate(x4, 2, mode="lanczos"), ValueError, ("antialias=True",)),
    (
        "recompute",
        lambda: F.interpolate(x4, 2, recompute_scale_factor=True),
        ValueError,
        ("explicit size",),
    ),
    ("ints", lambda: F.interpolate(x4.long(), 2, mode="bilinear"), RuntimeError, ("int64",)),
    ("grid", lambda: F.grid_sample(x4, pyburn.ones(1, 2, 2, 3)), RuntimeError, ("size 2",)),
    ("grids", lambda: F.grid_sample(x4, pyburn.ones(2, 2, 2, 2)), RuntimeError, ("batch size",)),
    ("points", lambda: F.grid_sample(x4, pyburn.ones(1, 2, 2)), RuntimeError, ("dimensions",)),
    (
        "doubles",
        lambda: F.grid_sample(x4, pyburn.ones(1, 2, 2, 2).double()),
        RuntimeError,
        ("dtype",),
    ),
    (
        "sampling",
        lambda: F.grid_sample(x4, pyburn.ones(1, 2, 2, 2), mode="cubic"),
        ValueError,
        ("bicubic", "'cubic'"),
    ),
    (
        "border",
        lambda: F.grid_sample(x4, pyburn.ones(1, 2, 2, 2), padding_mode="edge"),
        ValueError,
        ("reflection", "'edge'"),
    ),
    ("theta", lambda: F.affine_grid(pyburn.ones(1, 2, 2), (1, 1, 2, 2)), ValueError, ("Nx2x3",)),
    (
        "maps",
        lambda: F.affine_grid(pyburn.ones(1, 2, 3), (2, 1, 2, 2)),
        RuntimeError,
        ("2 images",),
    ),
    (
        "empty grid",
        lambda: F.affine_grid(pyburn.ones(1, 2, 3), (1, 1, 0, 2)),
        ValueError,
        ("positive",),
    ),
    ("line", lambda: F.affine_grid(pyburn.ones(1, 2, 3), (1, 1, 2)), NotImplementedError, ("4D",)),
    (
        "int map",
        lambda: F.affine_grid(pyburn.ones(1, 2, 3).long(), (1, 1, 2, 2)),
        ValueError,
        ("int64",),
    ),
    ("unfold", lambda: F.unfold(pyburn.ones(3), 2), RuntimeError, ("3D or 4D",)),
    ("large", lambda: F.unfold(x4, 5), RuntimeError, ("at least one",)),
    ("fold", lambda: F.fold(pyburn.ones(1, 4, 8), 4, 2), RuntimeError, ("3 x 3 = 9", "8")),
    ("columns", lambda: F.fold(pyburn.ones(1, 5, 9), 4, 2), RuntimeError, ("divisible",)),
    ("shuffle", lambda: F.pixel_shuffle(x4, 2), RuntimeError, ("divisible", "[1, 1, 4, 4]")),
    ("factor", lambda: F.pixel_shuffle(x4, -2), RuntimeError, ("positive",)),
    ("unshuffle", lambda: F.pixel_unshuffle(pyburn.ones(1, 3, 4), 2), RuntimeError, ("height",)),
    ("groups", lambda: F.channel_shuffle(x4, 2), RuntimeError, ("divisible by groups",)),
    ("no groups", lambda: F.channel_shuffle(x4, 0), RuntimeError, ("positive",)),
]


@pytest.mark.parametrize(
    ("call", "kind", "words"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG]
)
def test_wrong_calls(call: Any, kind: type[Exception], words: tuple[str, ...]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_older_names_warn() -> None:
    with pytest.warns(UserWarning, match="deprecated"):
        assert F.upsample(x4, scale_factor=2).shape == (1, 1, 8, 8)
    with pytest.warns(UserWarning, match="deprecated"):
        assert F.upsample_nearest(x4, 2).shape == (1, 1, 2, 2)
    with pytest.warns(UserWarning, match="deprecated"):
        old = F.upsample_bilinear(x4, 3)
    assert old.equal(F.interpolate(x4, 3, mode="bilinear", align_corners=True))


# Sampling.


def sampled(x: np.ndarray, points: np.ndarray, mode: str, border: str, align: bool) -> np.ndarray:
    """Plane by plane through SciPy: its edges are ours where elements are the grid's own."""
    rank = x.ndim - 2
    size = np.array(x.shape[2:])
    places = points[..., ::-1]
    places = (places + 1) / 2 * (size - 1) if align else ((places + 1) * size - 1) / 2
    modes: dict[str, Any] = {"zeros": "grid-constant", "border": "nearest"}
    modes["reflection"] = "mirror" if align else "reflect"
    order = {"nearest": 0, "bilinear": 1}[mode]
    out = np.zeros((*x.shape[:2], *points.shape[1:-1]))
    for n, c in np.ndindex(*x.shape[:2]):
        at = np.moveaxis(places[n], -1, 0).reshape(rank, -1)
        values = ndimage.map_coordinates(x[n, c], at, order=order, mode=modes[border])
        out[n, c] = values.reshape(points.shape[1:-1])
    return out


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("border", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("rank", [2, 3])
def test_grid_sample(mode: str, border: str, align: bool, rank: int) -> None:
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 3, *(5, 4, 6)[:rank]))
    points = rng.uniform(-1.6, 1.6, (2, *(3, 7, 2)[:rank], rank))
    out = F.grid_sample(pyburn.from_numpy(x), pyburn.from_numpy(points), mode, border, align)
    wanted = sampled(x, points, mode, border, align)
    np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-9, atol=1e-9)
    single = F.grid_sample(
        pyburn.from_numpy(x).float(), pyburn.from_numpy(points).float(), mode, border, align
    )
    if mode == "bilinear":
        np.testing.assert_allclose(single.numpy(), wanted, rtol=1e-4, atol=1e-4)


def test_cubic_sampling_is_cubic_resizing() -> None:
    """On a regular grid both are one formula, apart from the border."""
    x = pyburn.randn(1, 2, 6, 5, dtype=pyburn.float64)
    grid = F.affine_grid(pyburn.eye(2, 3, dtype=pyburn.float64)[None], (1, 2, 9, 8), True)
    out = F.grid_sample(x, grid, "bicubic", "border", True)
    wanted = F.interpolate(x, size=(9, 8), mode="bicubic", align_corners=True)
    np.testing.assert_allclose(out.numpy(), wanted.numpy(), rtol=1e-10, atol=1e-10)


def test_points_that_are_no_numbers_read_nothing() -> None:
    points = pyburn.tensor([[[[math.nan, 0.0], [math.inf, 0.0]]]])
    assert F.grid_sample(x4, points).tolist() == [[[[0.0, 0.0]]]]


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("border", ["zeros", "border", "reflection"])
def test_gradients_of_grid_sample(mode: str, border: str) -> None:
    x = doubles(1, 2, 3, 4)
    spread = np.random.default_rng(5).uniform(-1.3, 1.3, (1, 2, 3, 2))
    grid = pyburn.from_numpy(spread).requires_grad_()

    def sample(x: pyburn.Tensor, grid: pyburn.Tensor) -> pyburn.Tensor:
        return F.grid_sample(x, grid, mode, border, False)

    assert gradcheck(sample, (x, grid))
    assert gradgradcheck(sample, (x, grid))


@pytest.mark.parametrize("align", [True, False])
def test_affine_grid(align: bool) -> None:
    for size in ((3, 4), (2, 1), (2, 3, 4)):
        rank = len(size)
        theta = np.random.default_rng(6).standard_normal((2, rank, rank + 1))
        axes = []
        for length in size:
            last = (1.0 if align else 1 - 1 / length) if length > 1 else 0.0
            axes.append(np.linspace(-last, last, length))
        mesh = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size)], -1)
        wanted = np.einsum("nij,...j->n...i", theta, mesh)
        out = F.affine_grid(pyburn.from_numpy(theta), (2, 1, *size), align)
        np.testing.assert_allclose(out.numpy(), wanted, rtol=1e-12, atol=1e-12)
    assert gradcheck(lambda t: F.affine_grid(t, (1, 1, 2, 3), align), (doubles(1, 2, 3),))


# Windows and shuffles.


@pytest.mark.parametrize(
    ("kernel", "dilation", "padding", "stride"),
    [(2, 1, 0, 1), ((2, 3), 1, (1, 0), 2), (2, (2, 1), 1, (1, 3)), ((3, 1), 1, 2, 2)],
)
def test_unfold_and_fold(kernel: Any, dilation: Any, padding: Any, stride: Any) -> None:
    def two(value: Any) -> tuple[int, int]:
        return value if isinstance(value, tuple) else (value, value)

    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = map(two, (kernel, dilation, padding, stride))
    x = np.random.default_rng(7).standard_normal((2, 3, 6, 7))
    wide = np.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    down = range(0, wide.shape[2] - dh * (kh - 1), sh)
    across = range(0, wide.shape[3] - dw * (kw - 1), sw)
    columns = np.stack(
        [
            wide[:, :, i : i + dh * (kh - 1) + 1 : dh, j : j + dw * (kw - 1) + 1 : dw].reshape(
                2, -1
            )
            for i, j in itertools.product(down, across)
        ],
        -1,
    )
    arguments = (kernel, dilation, padding, stride)
    out = F.unfold(pyburn.from_numpy(x), *arguments)
    np.testing.assert_array_equal(out.numpy(), columns)
    assert F.unfold(pyburn.from_numpy(x[0]), *arguments).equal(out[0])
    # Every element comes back as often as windows have it.
    counts = F.fold(F.unfold(pyburn.ones(2, 3, 6, 7).double(), *arguments), (6, 7), *arguments)
    back = F.fold(out, (6, 7), *arguments)
    np.testing.assert_allclose(back.numpy(), x * counts.numpy(), rtol=1e-12)
    assert nn.Unfold(*arguments)(pyburn.from_numpy(x)).equal(out)
    assert nn.Fold((6, 7), *arguments)(out).equal(back)


def test_gradients_of_windows() -> None:
    assert gradcheck(lambda x: F.unfold(x, 2, 1, 1, 2), (doubles(1, 2, 3, 4),))
    assert gradgradcheck(lambda x: F.unfold(x, 2, 1, 1, 2), (doubles(1, 1, 3, 4),))
    assert gradcheck(lambda x: F.fold(x, (3, 4), 2), (doubles(1, 8, 6),))


def test_shuffles() -> None:
    x = pyburn.randn(2, 8, 3, 4)
    shuffled = F.pixel_shuffle(x, 2)
    np.testing.assert_array_equal(shuffled.numpy(), pixel_shuffle(x.numpy(), 2))
    assert F.pixel_unshuffle(shuffled, 2).equal(x)
    assert nn.PixelShuffle(2)(x).equal(shuffled)
    assert nn.PixelUnshuffle(2)(shuffled).equal(x)
    assert nn.ChannelShuffle(4)(nn.ChannelShuffle(2)(x)).equal(x)
    assert gradcheck(lambda x: F.pixel_shuffle(x, 2), (doubles(1, 4, 2, 1),))


# Layers.


def test_layers_that_resize() -> None:
    x = pyburn.randn(1, 2, 3, 4)
    assert nn.Upsample(scale_factor=2)(x).equal(F.interpolate(x, scale_factor=2.0))
    cubic_layer = nn.Upsample((5, 6), mode="bicubic", align_corners=True)
    wanted = F.interpolate(x, (5, 6), mode="bicubic", align_corners=True)
    assert cubic_layer(x).equal(wanted)
    assert nn.UpsamplingNearest2d(scale_factor=3)(x).shape == (1, 2, 9, 12)
    old = nn.UpsamplingBilinear2d(size=7)
    assert old(x).equal(F.interpolate(x, 7, mode="bilinear", align_corners=True))
    assert repr(nn.Upsample(scale_factor=(2, 1.5))) == (
        "Upsample(scale_factor=(2.0, 1.5), mode='nearest')"
    )
    assert repr(old) == "UpsamplingBilinear2d(size=7, mode='bilinear')"
    assert repr(nn.Unfold(3)) == "Unfold(kernel_size=3, dilation=1, padding=0, stride=1)"
    assert repr(nn.PixelShuffle(2)) == "PixelShuffle(upscale_factor=2)"
