"""Convolutions and their layers, beside loops over windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyburn
import pytest
from ops.specs.vision import conv, conv_transpose
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F

CONVS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
SIZES = {1: (11,), 2: (7, 6), 3: (4, 5, 3)}


def doubles(*shape: int) -> pyburn.Tensor:
    return pyburn.randn(*shape, dtype=pyburn.float64, requires_grad=True)


def array(tensor: pyburn.Tensor) -> np.ndarray:
    return tensor.detach().numpy()


def close(actual: pyburn.Tensor, wanted: np.ndarray, tolerance: float = 1e-4) -> None:
    assert actual.shape == wanted.shape
    np.testing.assert_allclose(array(actual), wanted, rtol=tolerance, atol=tolerance)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 2, "padding": 1},
    {"dilation": 2, "padding": 2},
    {"stride": 3, "padding": 1, "dilation": 2},
    {"groups": 2},
    {"padding": "same"},
    {"padding": "valid", "stride": 2},
]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
# Few channels take vectors along the image, many lie side by side, so many are cut into blocks.
@pytest.mark.parametrize("channels", [2, 20])
def test_convolution(rank: int, options: dict[str, Any], channels: int) -> None:
    groups = options.get("groups", 1)
    x = pyburn.randn(2, channels, *SIZES[rank], dtype=pyburn.float64)
    weight = pyburn.randn(10, channels // groups, *[2] * rank, dtype=pyburn.float64)
    bias = pyburn.randn(10, dtype=pyburn.float64)
    for dtype, tolerance in ((pyburn.float64, 1e-11), (pyburn.float32, 1e-4)):
        given = [tensor.to(dtype) for tensor in (x, weight, bias)]
        wanted = conv(array(x), array(weight), array(bias), **options)
        close(CONVS[rank](*given, **options), wanted, tolerance)
        close(
            CONVS[rank](given[0][0], given[1], **options),
            wanted[0] - array(bias).reshape(-1, *[1] * rank),
            tolerance,
        )


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"stride": 3, "dilation": 2},
        {"groups": 2, "padding": 1},
        {"dilation": 3, "output_padding": 2},
    ],
    ids=str,
)
def test_transposed_convolution(rank: int, options: dict[str, Any]) -> None:
    groups = options.get("groups", 1)
    x = pyburn.randn(2, 4, *[3, 2, 4][:rank], dtype=pyburn.float64)
    weight = pyburn.randn(4, 6 // groups, *[3] * rank, dtype=pyburn.float64)
    bias = pyburn.randn(6, dtype=pyburn.float64)
    wanted = conv_transpose(array(x), array(weight), array(bias), **options)
    close(TRANSPOSED[rank](x, weight, bias, **options), wanted, 1e-11)


@pytest.mark.parametrize("channels", [3, 14])
def test_gradients_of_convolution(channels: int) -> None:
    options: dict[str, Any] = {"stride": 2, "padding": 1, "dilation": 2}

    def convolve(*tensors: pyburn.Tensor) -> pyburn.Tensor:
        return F.conv1d(*tensors, **options)

    inputs = doubles(2, channels, 7), doubles(2, channels, 2), doubles(2)
    assert gradcheck(convolve, inputs)
    assert gradgradcheck(convolve, inputs)


def test_gradients_in_two_and_three_dimensions() -> None:
    inputs = doubles(1, 2, 4, 3), doubles(4, 1, 2, 2), doubles(4)
    assert gradcheck(lambda *t: F.conv2d(*t, padding="same", groups=2), inputs)
    assert gradgradcheck(lambda *t: F.conv2d(*t, padding="same", groups=2), inputs)
    inputs = doubles(1, 1, 3, 3, 2), doubles(2, 1, 2, 2, 2), doubles(2)
    assert gradcheck(lambda *t: F.conv3d(*t, stride=(1, 2, 1)), inputs)
    inputs = doubles(1, 2, 3, 2), doubles(2, 2, 2, 2), doubles(2)

    def transposed(*tensors: pyburn.Tensor) -> pyburn.Tensor:
        return F.conv_transpose2d(*tensors, stride=2, padding=1, output_padding=1)

    assert gradcheck(transposed, inputs)
    assert gradgradcheck(transposed, inputs)


def test_gradients_of_single_and_large_images_agree_with_double() -> None:
    """What is computed by tiles, on one thread or more, for every kind of channel number."""
    for batch, channels, filters, groups in (
        (1, 3, 5, 1),
        (5, 24, 17, 1),
        (3, 6, 6, 6),
        (2, 32, 8, 2),
    ):
        shapes = (batch, channels, 21, 30), (filters, channels // groups, 3, 3), (filters,)
        wide = [doubles(*shape) for shape in shapes]
        narrow = [tensor.detach().float().requires_grad_() for tensor in wide]
        weights = pyburn.randn(batch, filters, 21, 30, dtype=pyburn.float64)
        for tensors, factor in ((wide, weights), (narrow, weights.float())):
            out = F.conv2d(*tensors, padding=1, groups=groups)
            (out * factor).sum().backward()
        for one, two in zip(wide, narrow, strict=True):
            assert one.grad is not None
            assert two.grad is not None
            scale = float(one.grad.abs().max())
            np.testing.assert_allclose(two.grad.numpy(), one.grad.numpy(), atol=2e-5 * scale)


def test_complex_convolution_is_four_real_ones() -> None:
    x, weight = (pyburn.randn(*shape, dtype=pyburn.complex128) for shape in ((2, 3, 6), (4, 3, 2)))
    parts = [F.conv1d(a, b) for a in (x.real, x.imag) for b in (weight.real, weight.imag)]
    out = F.conv1d(x, weight)
    close(out.real, array(parts[0] - parts[3]), 1e-12)
    close(out.imag, array(parts[1] + parts[2]), 1e-12)


@pytest.mark.parametrize("dtype", [pyburn.float16, pyburn.bfloat16, pyburn.int64, pyburn.uint8])
def test_other_dtypes(dtype: pyburn.dtype) -> None:
    x = pyburn.arange(12).view(1, 2, 6).to(dtype)
    weight = pyburn.ones(1, 2, 3).to(dtype)
    out = F.conv1d(x, weight)
    assert out.dtype == dtype
    assert out.double().tolist() == [[[24.0, 30.0, 36.0, 42.0]]]


def test_empty_batches_and_images() -> None:
    weight = pyburn.ones(4, 3, 2, 2, requires_grad=True)
    x = pyburn.ones(0, 3, 5, 5, requires_grad=True)
    out = F.conv2d(x, weight)
    assert out.shape == (0, 4, 4, 4)
    out.sum().backward()
    assert weight.grad is not None
    assert weight.grad.abs().sum() == 0
    assert x.grad is not None
    assert x.grad.shape == x.shape
    with pytest.raises(RuntimeError, match="input"):
        F.conv2d(pyburn.ones(1, 3, 0, 5), weight, padding=1)


def test_infinities_stay_where_windows_see_them() -> None:
    x = pyburn.zeros(1, 1, 4, 5)
    x[0, 0, 0, 4] = math.inf
    weight = pyburn.ones(1, 1, 2, 2, requires_grad=True)
    out = F.conv2d(x, weight)
    assert out.isfinite().sum() == 11
    out.sum().backward()
    assert weight.grad is not None
    assert weight.grad.isfinite().sum() == 3


WRONG: list[tuple[str, Any, tuple[int, ...], dict[str, Any], tuple[str, ...]]] = [
    ("conv2d", (3, 3), (1, 1, 2, 2), {}, ("3D", "4D", "[3, 3]")),
    ("conv2d", (1, 1, 3, 3), (1, 1, 2), {}, ("4 dimensions", "[1, 1, 2]")),
    ("conv2d", (1, 4, 5, 5), (6, 3, 3, 3), {}, ("3 channels", "got 4")),
    ("conv2d", (1, 4, 5, 5), (3, 2, 3, 3), {"groups": 2}, ("divisible", "[3, 2, 3, 3]")),
    ("conv2d", (1, 1, 2, 2), (1, 1, 3, 3), {}, ("2 x 2", "3 x 3", "Kernel size")),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"stride": 0}, ("stride",)),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"stride": (1, 1, 1)}, ("stride", "2 values")),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"padding": -1}, ("padding",)),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"dilation": 0}, ("dilation",)),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"groups": 0}, ("groups",)),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"padding": "half"}, ("same", "valid", "half")),
    ("conv2d", (1, 1, 3, 3), (2, 1, 3, 3), {"padding": "same", "stride": 2}, ("same",)),
    ("conv_transpose2d", (1, 2, 3, 3), (1, 1, 3, 3), {}, ("1 channels", "got 2")),
    ("conv_transpose2d", (1, 1, 1, 1), (1, 1, 1, 1), {"padding": 1}, ("too small",)),
    ("conv_transpose2d", (1, 1, 3, 3), (1, 1, 3, 3), {"output_padding": 1}, ("output padding",)),
    ("conv_transpose1d", (1, 1, 3), (1, 1, 3), {"output_padding": -1}, ("output_padding",)),
]


@pytest.mark.parametrize(("name", "x", "weight", "options", "words"), WRONG)
def test_wrong_calls(
    name: str, x: Any, weight: Any, options: dict[str, Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(RuntimeError) as caught:
        getattr(F, name)(pyburn.ones(x), pyburn.ones(weight), **options)
    assert all(word in str(caught.value) for word in (name, *words)), str(caught.value)


def test_a_bias_and_dtypes_that_do_not_fit() -> None:
    x, weight = pyburn.ones(1, 1, 3), pyburn.ones(2, 1, 3)
    with pytest.raises(RuntimeError, match="bias"):
        F.conv1d(x, weight, pyburn.ones(3))
    with pytest.raises(RuntimeError, match="float32 and float64"):
        F.conv1d(x, weight.double())
    with pytest.raises(RuntimeError, match="bool"):
        F.conv1d(x.bool(), weight.bool())


def test_meta_tensors_have_shapes() -> None:
    layer = nn.Conv2d(3, 4, 3, stride=2, device="meta")
    assert layer(pyburn.empty(2, 3, 9, 9, device="meta")).shape == (2, 4, 4, 4)


# Layers.


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", [(2, 1), "same"])
def test_layers_pad_by_their_mode(mode: Any, padding: Any) -> None:
    layer = nn.Conv2d(2, 3, (3, 2), padding=padding, padding_mode=mode)
    x = pyburn.randn(2, 2, 6, 5)
    pads = ((2, 2), (1, 1)) if padding != "same" else ((1, 1), (0, 1))
    names: dict[str, Any] = {"zeros": "constant", "replicate": "edge", "circular": "wrap"}
    wide = np.pad(array(x), [(0, 0), (0, 0), *pads], names.get(mode, mode))
    assert layer.bias is not None
    close(layer(x), conv(wide, array(layer.weight), array(layer.bias)))
    assert layer(x[0]).equal(layer(x)[0]) or np.allclose(
        array(layer(x[0])), array(layer(x)[0]), atol=1e-6
    )


def test_attributes_and_text() -> None:
    layer = nn.Conv2d(4, 6, 3, stride=2, padding=1, dilation=(1, 2), groups=2, bias=False)
    assert (layer.kernel_size, layer.stride, layer.padding) == ((3, 3), (2, 2), (1, 1))
    assert (layer.dilation, layer.groups, layer.bias) == ((1, 2), 2, None)
    assert layer.weight.shape == (6, 2, 3, 3)
    assert list(layer.state_dict()) == ["weight"]
    assert repr(layer) == (
        "Conv2d(4, 6, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), dilation=(1, 2), "
        "groups=2, bias=False)"
    )
    same = nn.Conv1d(1, 1, 3, padding="same", padding_mode="circular")
    assert repr(same) == (
        "Conv1d(1, 1, kernel_size=(3,), stride=(1,), padding=same, padding_mode=circular)"
    )
    turned = nn.ConvTranspose1d(4, 6, 3, output_padding=1, stride=2)
    assert turned.weight.shape == (4, 6, 3)
    assert (
        repr(turned) == "ConvTranspose1d(4, 6, kernel_size=(3,), stride=(2,), output_padding=(1,))"
    )
    assert list(turned.state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize(
    ("layer", "fan"), [(nn.Conv2d(16, 64, 3), 144), (nn.ConvTranspose2d(64, 16, 3), 144)], ids=repr
)
def test_first_values(layer: nn.Conv2d, fan: int) -> None:
    bound = 1 / math.sqrt(fan)
    weight = array(layer.weight)
    assert abs(weight).max() <= bound
    assert abs(weight).max() > 0.99 * bound
    assert abs(weight.std() - bound / math.sqrt(3)) < 0.02 * bound
    assert layer.bias is not None
    assert float(layer.bias.abs().max()) <= bound


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: nn.Conv2d(3, 4, 2, groups=2), "in_channels"),
        (lambda: nn.Conv2d(4, 3, 2, groups=2), "out_channels"),
        (lambda: nn.Conv2d(4, 4, 2, groups=0), "groups"),
        (lambda: nn.Conv2d(4, 4, 2, padding="half"), "half"),
        (lambda: nn.Conv2d(4, 4, 2, padding="same", stride=2), "strided"),
        (lambda: nn.Conv2d(4, 4, 2, padding_mode="mirror"), "mirror"),  # type: ignore[arg-type]
        (lambda: nn.ConvTranspose2d(4, 4, 2, padding_mode="reflect"), "zeros"),
    ],
)
def test_wrong_layers(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_output_size_of_transposed_layers() -> None:
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2)
    x = pyburn.randn(1, 2, 4, 4)
    assert layer(x).shape == (1, 3, 9, 9)
    for size in ((9, 10), (1, 3, 9, 10)):
        out = layer(x, output_size=size)
        assert out.shape == (1, 3, 9, 10)
        assert layer.bias is not None
        arrays = [array(tensor) for tensor in (x, layer.weight, layer.bias)]
        close(out, conv_transpose(*arrays, stride=2, output_padding=(0, 1)))
    with pytest.raises(ValueError, match="valid sizes range"):
        layer(x, output_size=(11, 9))
    with pytest.raises(ValueError, match="output_size"):
        layer(x, output_size=(9,))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_lazy_layers(rank: int, kind: str) -> None:
    whole = getattr(nn, f"{kind}{rank}d")
    layer = getattr(nn, f"Lazy{kind}{rank}d")(6, 2, groups=2)
    assert layer.has_uninitialized_params()
    out = layer(pyburn.randn(3, 4, *[5] * rank))
    assert type(layer) is whole
    assert layer.in_channels == 4
    assert out.shape[:2] == (3, 6)
    assert layer.weight.shape[:2] == ((6, 2) if kind == "Conv" else (4, 3))
    with pytest.raises(RuntimeError, match="input"):
        getattr(nn, f"Lazy{kind}{rank}d")(6, 2)(pyburn.ones(2))
    with pytest.raises(ValueError, match="divisible"):
        getattr(nn, f"Lazy{kind}{rank}d")(6, 2, groups=2)(pyburn.randn(3, 3, *[5] * rank))
    loaded = getattr(nn, f"Lazy{kind}{rank}d")(6, 2, groups=2)
    loaded.load_state_dict(layer.state_dict())
    x = pyburn.randn(1, 4, *[3] * rank)
    assert loaded(x).equal(layer(x))
    assert loaded.in_channels == 4


# Bent windows.


def deformed(
    x: np.ndarray,
    offset: np.ndarray,
    weight: np.ndarray,
    mask: np.ndarray,
    stride: int,
    padding: int,
) -> np.ndarray:
    """Every element of every window read at its own place, by distance from four neighbours."""
    batch, channels, height, width = x.shape
    filters, share, rows, columns = weight.shape
    _, _, down, across = offset.shape
    bends = offset.shape[1] // (2 * rows * columns)
    out = np.zeros((batch, filters, down, across))

    def read(plane: np.ndarray, y: float, x: float) -> float:
        total = 0.0
        for i in (math.floor(y), math.floor(y) + 1):
            for j in (math.floor(x), math.floor(x) + 1):
                if 0 <= i < height and 0 <= j < width:
                    total += plane[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
        return total

    for n, f, i, j, c in np.ndindex(batch, filters, down, across, share):
        channel = f // (filters // (channels // share)) * share + c
        bend = channel // (channels // bends)
        for a, b in np.ndindex(rows, columns):
            tap = bend * rows * columns + a * columns + b
            y = i * stride - padding + a + offset[n, 2 * tap, i, j]
            z = j * stride - padding + b + offset[n, 2 * tap + 1, i, j]
            out[n, f, i, j] += weight[f, c, a, b] * mask[n, tap, i, j] * read(x[n, channel], y, z)
    return out


def test_deformed_convolution() -> None:
    layer = nn.DeformConv2d(4, 4, (2, 3), stride=2, padding=1, groups=2, bias=False)
    x, offset = pyburn.randn(2, 4, 5, 6), pyburn.randn(2, 2 * 2 * 6, 3, 3)
    mask = pyburn.rand(2, 2 * 6, 3, 3)
    arrays = [array(tensor).astype(np.float64) for tensor in (x, offset, layer.weight, mask)]
    close(layer(x, offset, mask), deformed(*arrays, 2, 1))
    plain = F.conv2d(x, layer.weight, stride=2, padding=1, groups=2)
    close(layer(x, pyburn.zeros(2, 24, 3, 3)), array(plain))


def test_gradients_of_deformed_convolution() -> None:
    inputs = (
        doubles(1, 2, 3, 4),
        doubles(1, 8, 2, 3),
        doubles(2, 2, 2, 2),
        doubles(2),
        doubles(1, 4, 2, 3),
    )

    def bent(x: Any, offset: Any, weight: Any, bias: Any, mask: Any) -> pyburn.Tensor:
        return F.deform_conv2d(x, offset, weight, bias, mask=mask)

    assert gradcheck(bent, inputs)
    assert gradgradcheck(bent, inputs)


def test_wrong_deformed_convolutions() -> None:
    x, weight = pyburn.ones(1, 4, 5, 5), pyburn.ones(2, 4, 3, 3)
    good = pyburn.zeros(1, 18, 3, 3)
    assert F.deform_conv2d(x, good, weight).shape == (1, 2, 3, 3)
    for offset, further in (
        (pyburn.zeros(1, 17, 3, 3), {}),
        (good, {"mask": pyburn.ones(1, 8, 3, 3)}),
        (good, {"stride": 0}),
        (good[0], {}),
    ):
        with pytest.raises(RuntimeError, match="deform_conv2d"):
            F.deform_conv2d(x, offset, weight, **further)
    with pytest.raises(RuntimeError, match="deform_conv2d"):
        F.deform_conv2d(x, good, pyburn.ones(2, 3, 3, 3))


def test_names_elsewhere() -> None:
    from pyburn.nn.conv import Conv2d

    assert Conv2d is nn.Conv2d
    assert pyburn.conv2d is F.conv2d
