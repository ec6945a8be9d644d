"""Attention, its layers, caches and masks, against the definition in NumPy."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F
from pyburn.nn.attention import (
    SDPBackend,
    causal_lower_right,
    causal_upper_left,
    sdpa_kernel,
)


def doubles(*shape: int) -> pyburn.Tensor:
    return pyburn.randn(*shape, dtype=pyburn.float64, requires_grad=True)


def softmax(x: np.ndarray, quiet: bool = False) -> np.ndarray:
    top = np.maximum(x.max(-1, keepdims=True), 0 if quiet else -np.finfo(x.dtype).max)
    powers = np.exp(x - top)
    return powers / (powers.sum(-1, keepdims=True) + (np.exp(-top) if quiet else 0))


def naive(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> np.ndarray:
    """Attention from the definition; queries that meet no key give zeros."""
    scores = (q @ np.swapaxes(k, -2, -1)) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    alone = np.isneginf(scores).all(-1, keepdims=True)
    weights = np.where(alone, 0, softmax(np.where(alone, 0, scores)))
    return weights @ v


def close(actual: pyburn.Tensor, expected: np.ndarray, rtol: float = 1e-10) -> None:
    np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=rtol, atol=rtol)


def arrays(*tensors: pyburn.Tensor) -> list[np.ndarray]:
    return [tensor.detach().numpy() for tensor in tensors]


SHAPES = [
    ((), 1, 1, 1, 1),
    ((2, 3), 5, 7, 4, 6),
    ((1, 2), 3, 300, 16, 16),
    ((2,), 70, 130, 33, 65),
    ((1,), 1, 257, 64, 64),
]


@pytest.mark.parametrize(("lead", "length", "keys", "features", "columns"), SHAPES)
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "added", "per head", "per key"])
def test_attention(
    lead: tuple[int, ...], length: int, keys: int, features: int, columns: int, kind: str
) -> None:
    q, k = doubles(*lead, length, features), doubles(*lead, keys, features)
    v = doubles(*lead, keys, columns)
    rng = np.random.default_rng(1)
    mask: np.ndarray | None = None
    if kind == "bool":
        mask = rng.random((length, keys)) < 0.5
        mask[-1] = False
    elif kind == "added":
        mask = rng.standard_normal((length, keys))
        mask[0] = -np.inf
    elif kind == "per head":
        mask = rng.random((*lead, length, keys)) < 0.7
    elif kind == "per key":
        mask = rng.random((1, keys)) < 0.7
    given = None if mask is None else pyburn.tensor(mask)
    out = F.scaled_dot_product_attention(q, k, v, given, is_causal=kind == "causal")
    close(out, naive(*arrays(q, k, v), mask, kind == "causal"))
    with sdpa_kernel(SDPBackend.MATH):
        other = F.scaled_dot_product_attention(q, k, v, given, is_causal=kind == "causal")
    close(other, out.detach().numpy())
    # Gradients by tiles are those of the products.
    seed = doubles(*out.shape).detach()
    for one, two in zip(
        pyburn.autograd.grad(out, (q, k, v), seed),
        pyburn.autograd.grad(other, (q, k, v), seed),
        strict=True,
    ):
        close(one, two.numpy())


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["none", "bool", "added"])
def test_gradients(causal: bool, kind: str) -> None:
    if causal and kind != "none":
        return
    mask: list[pyburn.Tensor] = []
    if kind == "bool":
        rows = [[True, False, True, True], [False] * 4, [True] * 4]
        mask = [pyburn.tensor(rows)]
    elif kind == "added":
        mask = [doubles(3, 4)]

    def run(*x: pyburn.Tensor) -> pyburn.Tensor:
        return F.scaled_dot_product_attention(*x, is_causal=causal, scale=0.7)

    inputs = (doubles(2, 3, 5), doubles(2, 4, 5), doubles(2, 4, 3), *mask)
    assert gradcheck(run, inputs)
    assert gradgradcheck(run, inputs)


def test_one_tensor_for_all() -> None:
    x = doubles(2, 4, 3)
    assert gradcheck(lambda x: F.scaled_dot_product_attention(x, x, x), (x,))
    assert gradgradcheck(lambda x: F.scaled_dot_product_attention(x, x, x), (x,))


def test_what_comes_in_front_broadcasts() -> None:
    q, k, v = doubles(2, 3, 4, 5), doubles(3, 6, 5), doubles(2, 1, 6, 5)
    expected = naive(*arrays(q, k, v))
    out = F.scaled_dot_product_attention(q, k, v)
    close(out, expected)
    out.sum().backward()
    assert k.grad is not None
    assert k.grad.shape == k.shape
    assert gradcheck(F.scaled_dot_product_attention, (q, k, v))


def test_layouts_of_every_kind() -> None:
    base = doubles(5, 2, 3, 8)
    q = base.permute(1, 2, 0, 3)
    k = doubles(2, 3, 8, 6).transpose(-2, -1)
    v = doubles(2, 3, 6, 8).flip(2)
    out = F.scaled_dot_product_attention(q, k, v)
    close(out, naive(*arrays(q, k, v)))
    alone = F.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0])
    close(alone, out[0, 0].detach().numpy())


@pytest.mark.parametrize(("heads", "shared", "of_values"), [(6, 3, 3), (6, 1, 1), (6, 3, 2)])
def test_grouped_queries(heads: int, shared: int, of_values: int) -> None:
    q, k, v = doubles(2, heads, 4, 5), doubles(2, shared, 7, 5), doubles(2, of_values, 7, 3)
    mask = pyburn.rand(2, heads, 4, 7) < 0.7
    many = [np.repeat(x, heads // x.shape[1], 1) for x in arrays(k, v)]
    for given in (None, mask, mask[0, 0], mask[:, :1]):
        out = F.scaled_dot_product_attention(q, k, v, given, enable_gqa=True)
        close(out, naive(arrays(q)[0], *many, None if given is None else given.numpy()))
    assert gradcheck(lambda *x: F.scaled_dot_product_attention(*x, enable_gqa=True), (q, k, v))


def test_dropout_of_weights() -> None:
    q, k = pyburn.zeros(1, 1000, 4), pyburn.zeros(1, 10, 4)
    v = pyburn.eye(10).unsqueeze(0)
    pyburn.manual_seed(0)
    weights = F.scaled_dot_product_attention(q, k, v, dropout_p=0.3)
    kept = weights != 0
    np.testing.assert_allclose(weights[kept].numpy(), 0.1 / 0.7, rtol=1e-5)
    assert float(kept.float().mean()) == pytest.approx(0.7, abs=0.02)
    pyburn.manual_seed(0)
    assert F.scaled_dot_product_attention(q, k, v, dropout_p=0.3).equal(weights)


@pytest.mark.parametrize("dtype", [pyburn.float16, pyburn.bfloat16])
def test_half_floats(dtype: pyburn.dtype) -> None:
    q, k, v = (pyburn.randn(1, 2, 40, 16).to(dtype).requires_grad_() for _ in range(3))
    out = F.scaled_dot_product_attention(q, k, v)
    assert out.dtype == dtype
    room = 2e-3 if dtype == pyburn.float16 else 2e-2
    whole = [x.detach().double().requires_grad_() for x in (q, k, v)]
    expected = F.scaled_dot_product_attention(*whole)
    close(out.double(), expected.detach().numpy(), room)
    out.sum().backward()
    expected.sum().backward()
    close(q.grad.double(), whole[0].grad.numpy(), room)


def test_missing_numbers_are_not_hidden() -> None:
    q, k, v = (pyburn.ones(2, 3, 4) for _ in range(3))
    k[1, 2, 0] = math.nan
    out = F.scaled_dot_product_attention(q, k, v)
    assert not out[0].isnan().any()
    assert out[1].isnan().all()


def test_nothing_to_weigh() -> None:
    q = doubles(2, 3, 4)
    nothing = doubles(2, 0, 4)
    out = F.scaled_dot_product_attention(q, nothing, nothing)
    assert out.tolist() == np.zeros((2, 3, 4)).tolist()
    out.sum().backward()
    assert float(q.grad.abs().sum()) == 0
    assert F.scaled_dot_product_attention(nothing, q, q).shape == (2, 0, 4)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda x: F.scaled_dot_product_attention(x, x, x, x[0] > 0, is_causal=True),
            RuntimeError,
            "attn_mask should not be set when is_causal=True",
        ),
        (
            lambda x: F.scaled_dot_product_attention(x, x[..., :3], x),
            RuntimeError,
            r"got shapes \[2, 4, 4\], \[2, 4, 3\] and \[2, 4, 4\]",
        ),
        (lambda x: F.scaled_dot_product_attention(x[0, 0], x, x), RuntimeError, "query has 1"),
        (lambda x: F.scaled_dot_product_attention(x, x.double(), x), RuntimeError, "float64"),
        (lambda x: F.scaled_dot_product_attention(x, x, x, x.int()), RuntimeError, "got int32"),
        (
            lambda x: F.scaled_dot_product_attention(x, x, x, pyburn.ones(3, 4) > 0),
            RuntimeError,
            "scaled_dot_product_attention",
        ),
        (
            lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=2.0),
            ValueError,
            "between 0 and 1, but got 2",
        ),
        (
            lambda x: F.scaled_dot_product_attention(x, x[:1].repeat(3, 1, 1), x, enable_gqa=True),
            RuntimeError,
            "to divide the number of heads in query, got 3, 2 and 2",
        ),
        (
            lambda x: F.scaled_dot_product_attention(x[0], x[0], x[0], enable_gqa=True),
            RuntimeError,
            "a dimension of heads",
        ),
    ],
)
def test_bad_calls(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(pyburn.ones(2, 4, 4))


def test_choice_of_the_way() -> None:
    x = pyburn.randn(1, 2, 5, 4)
    expected = F.scaled_dot_product_attention(x, x, x)
    both = [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]
    for chosen in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH, both, both[::-1]):
        for priority in (False, True):
            with sdpa_kernel(chosen, set_priority=priority):
                out = F.scaled_dot_product_attention(x, x, x)
            np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    with sdpa_kernel(both):
        F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
    with (
        sdpa_kernel(SDPBackend.FLASH_ATTENTION),
        pytest.raises(RuntimeError, match="no available kernel: tiles do not serve dropout"),
    ):
        F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)
    with (
        pytest.raises(RuntimeError, match=r"no available kernel.*\['EFFICIENT_ATTENTION'\]"),
        sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION),
    ):
        pass
    with (
        pytest.raises(TypeError, match="expected an SDPBackend"),
        sdpa_kernel("math"),  # type: ignore[arg-type]
    ):
        pass
    # An error inside leaves the choice behind, too.
    with pytest.raises(KeyError), sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        raise KeyError
    F.scaled_dot_product_attention(x, x, x, dropout_p=0.5)


# Attention by several heads.


def heads_of(
    layer: nn.MultiheadAttention,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Batches ``(N, L, E)`` through a layer, from the definition; the mask is added to scores."""
    size, heads = layer.embed_dim, layer.num_heads
    named = {name: p.detach().numpy() for name, p in layer.named_parameters()}
    if "in_proj_weight" in named:
        matrices = np.split(named["in_proj_weight"], 3)
    else:
        matrices = [named[f"{name}_proj_weight"] for name in "qkv"]
    biases = np.split(named.get("in_proj_bias", np.zeros(3 * size)), 3)
    q, k, v = (
        rows @ matrix.T + bias
        for rows, matrix, bias in zip((query, key, value), matrices, biases, strict=True)
    )
    count = len(query)
    if "bias_k" in named:
        k = np.concatenate([k, np.repeat(named["bias_k"], count, 0)], 1)
        v = np.concatenate([v, np.repeat(named["bias_v"], count, 0)], 1)
    if layer.add_zero_attn:
        zeros = np.zeros((count, 1, size))
        k, v = np.concatenate([k, zeros], 1), np.concatenate([v, zeros], 1)
    q, k, v = (x.reshape(count, -1, heads, size // heads).transpose(0, 2, 1, 3) for x in (q, k, v))
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(size // heads)
    if mask is not None:
        more = k.shape[2] - mask.shape[-1]
        scores = scores + np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, more)])
    weights = softmax(scores)
    rows = (weights @ v).transpose(0, 2, 1, 3).reshape(count, -1, size)
    out = rows @ named["out_proj.weight"].T + named.get("out_proj.bias", 0)
    return out, weights


OPTIONS: list[dict[str, Any]] = [
    {},
    {"bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"add_bias_kv": True, "add_zero_attn": True, "bias": False},
    {"kdim": 5, "vdim": 7},
    {"vdim": 3, "add_bias_kv": True},
]


def filled(layer: nn.Module) -> None:
    """Biases are zero at first, which would hide faults."""
    with pyburn.no_grad():
        for parameter in layer.parameters():
            parameter.normal_()


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("masked", ["none", "padding", "mask", "both", "per head"])
def test_several_heads(options: dict[str, Any], masked: str) -> None:
    layer = nn.MultiheadAttention(8, 2, batch_first=True, dtype=pyburn.float64, **options)
    filled(layer)
    q = doubles(3, 4, 8)
    k = doubles(3, 6, options.get("kdim", 8))
    v = doubles(3, 6, options.get("vdim", 8))
    padding = pyburn.tensor([[False] * 6, [False] * 4 + [True] * 2, [True] + [False] * 5])
    mask = pyburn.rand(4, 6) < 0.4
    mask[:, 1] = False
    apart = (pyburn.rand(6, 4, 6) < 0.4).logical_and(pyburn.arange(6) != 1)
    given: dict[str, Any] = {}
    added = np.zeros((3, 2, 4, 6))
    if masked in ("padding", "both"):
        given["key_padding_mask"] = padding
        added = added + np.where(padding.numpy()[:, None, None], -np.inf, 0)
    if masked in ("mask", "both"):
        given["attn_mask"] = mask
        added = added + np.where(mask.numpy(), -np.inf, 0)
    if masked == "per head":
        given["attn_mask"] = apart
        added = np.where(apart.numpy().reshape(3, 2, 4, 6), -np.inf, 0)
    expected, weights = heads_of(layer, *arrays(q, k, v), added)
    out, averaged = layer(q, k, v, **given)
    close(out, expected)
    close(averaged, weights.mean(1))
    _, apart_weights = layer(q, k, v, average_attn_weights=False, **given)
    close(apart_weights, weights)
    out, nothing = layer(q, k, v, need_weights=False, **given)
    assert nothing is None
    close(out, expected)
    # Numbers in place of truth values mean the same.
    numbers = {name: pyburn.where(value, -math.inf, 0.0).double() for name, value in given.items()}
    close(layer(q, k, v, **numbers)[0], expected)
    close(layer(q, k, v, need_weights=False, **numbers)[0], expected)
    # The other order of dimensions, and no batch.
    layer.batch_first = False
    turned = (x.transpose(0, 1) for x in (q, k, v))
    close(layer(*turned, **given)[0].transpose(0, 1), expected)
    if masked != "per head":
        alone = {
            name: value[1] if name == "key_padding_mask" else value for name, value in given.items()
        }
        out, averaged = layer(q[1], k[1], v[1], **alone)
        close(out, expected[1])
        close(averaged, weights[1].mean(0))


@pytest.mark.parametrize("need_weights", [False, True])
def test_what_is_one_tensor_is_projected_at_once(need_weights: bool) -> None:
    layer = nn.MultiheadAttention(4, 2, batch_first=True, dtype=pyburn.float64)
    filled(layer)
    x, y = doubles(2, 3, 4), doubles(2, 5, 4)
    for inputs in ((x, x, x), (x, y, y), (y, x, x.clone())):
        expected, _ = heads_of(layer, *arrays(*inputs))
        close(layer(*inputs, need_weights=need_weights)[0], expected)
        close(layer(*(rows[0] for rows in inputs), need_weights=need_weights)[0], expected[0])

    def run(x: pyburn.Tensor, y: pyburn.Tensor, *weights: pyburn.Tensor) -> Any:
        given = dict(zip(layer.state_dict(), weights, strict=True))
        call = nn.utils.stateless.functional_call
        own = call(layer, given, (x, x, x), {"need_weights": need_weights})[0]
        return own, call(layer, given, (x, y, y), {"need_weights": need_weights})[0]

    weights = [weight.detach().clone().requires_grad_() for weight in layer.parameters()]
    assert gradcheck(run, (x, y, *weights))
    assert gradgradcheck(run, (doubles(1, 2, 4), doubles(1, 2, 4), *weights))


def test_causal_hint() -> None:
    layer = nn.MultiheadAttention(8, 2, dtype=pyburn.float64)
    x = doubles(5, 3, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(5, dtype=pyburn.float64)
    expected, weights = layer(x, x, x, attn_mask=mask)
    for need in (False, True):
        close(
            layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=need)[0],
            expected.detach().numpy(),
        )
    assert float(weights.triu(1).abs().max()) == 0
    padding = pyburn.tensor([[False] * 5, [False] * 4 + [True], [False] * 5])
    both = {"attn_mask": mask < 0, "key_padding_mask": padding}
    close(
        layer(x, x, x, need_weights=False, is_causal=True, **both)[0],
        layer(x, x, x, **both)[0].detach().numpy(),
    )
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        layer(x, x, x, is_causal=True)


def test_dropout_in_training_alone() -> None:
    layer = nn.MultiheadAttention(8, 2, dropout=0.5)
    x = pyburn.randn(5, 3, 8)
    _, weights = layer(x, x, x, average_attn_weights=False)
    assert 0.3 < float((weights == 0).float().mean()) < 0.7
    layer.eval()
    _, weights = layer(x, x, x)
    np.testing.assert_allclose(weights.detach().sum(-1).numpy(), 1, rtol=1e-5)
    layer.train()
    pyburn.manual_seed(3)
    one, _ = layer(x, x, x, need_weights=False)
    assert not layer(x, x, x, need_weights=False)[0].equal(one)


def test_static_keys_and_values() -> None:
    layer = nn.MultiheadAttention(4, 2, add_zero_attn=True, dtype=pyburn.float64)
    filled(layer)
    x = doubles(3, 2, 4)

    def run(**static: pyburn.Tensor) -> pyburn.Tensor:
        return F.multi_head_attention_forward(
            x,
            x,
            x,
            4,
            2,
            layer.in_proj_weight,
            layer.in_proj_bias,
            None,
            None,
            True,
            0.0,
            layer.out_proj.weight,
            layer.out_proj.bias,
            **static,
        )[0]

    close(run(), layer(x, x, x)[0].detach().numpy())
    _, k, v = F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1)
    k, v = (part.reshape(3, 4, 2).transpose(0, 1) for part in (k, v))
    close(run(static_k=k, static_v=v), layer(x, x, x)[0].detach().numpy())
    with pytest.raises(AssertionError, match=r"of shape \(4, S, 2\), got \[4, 3, 1\]"):
        run(static_k=k[..., :1])


def test_names_and_first_values() -> None:
    layer = nn.MultiheadAttention(16, 4, add_bias_kv=True)
    assert {name: tuple(p.shape) for name, p in layer.state_dict().items()} == {
        "in_proj_weight": (48, 16),
        "in_proj_bias": (48,),
        "bias_k": (1, 1, 16),
        "bias_v": (1, 1, 16),
        "out_proj.weight": (16, 16),
        "out_proj.bias": (16,),
    }
    assert float(layer.in_proj_weight.abs().max()) <= math.sqrt(6 / 64)
    assert float(layer.in_proj_weight.abs().max()) > 0.9 * math.sqrt(6 / 64)
    assert float(layer.in_proj_bias.abs().max()) == float(layer.out_proj.bias.abs().max()) == 0
    apart = nn.MultiheadAttention(16, 4, kdim=8, bias=False)
    assert list(apart.state_dict()) == [
        "q_proj_weight",
        "k_proj_weight",
        "v_proj_weight",
        "out_proj.weight",
    ]
    assert apart.k_proj_weight.shape == (16, 8)
    assert apart.in_proj_weight is None
    assert nn.MultiHeadAttention is nn.MultiheadAttention
    assert nn.attention.MultiheadAttention is nn.MultiheadAttention


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: nn.MultiheadAttention(0, 2), ValueError, "must be greater than 0"),
        (
            lambda: nn.MultiheadAttention(5, 2),
            AssertionError,
            "num_heads, got 5 and 2",
        ),
        (lambda: attended(pyburn.ones(2)), AssertionError, "received 1-D query"),
        (
            lambda: attended(pyburn.ones(3, 4), key=pyburn.ones(3, 1, 4)),
            AssertionError,
            "expected `key` and `value` to be 2-D",
        ),
        (
            lambda: attended(
                pyburn.ones(3, 2, 4), key=pyburn.ones(3, 2, 4), value=pyburn.ones(2, 2, 4)
            ),
            AssertionError,
            "does not match value shape",
        ),
        (
            lambda: attended(pyburn.ones(3, 2, 4), attn_mask=pyburn.ones(3, 4) > 0),
            RuntimeError,
            r"2D attn_mask is \(3, 4\), but should be \(3, 3\)",
        ),
        (
            lambda: attended(pyburn.ones(3, 2, 4), attn_mask=pyburn.ones(2, 3, 3) > 0),
            RuntimeError,
            r"3D attn_mask is \(2, 3, 3\), but should be \(4, 3, 3\)",
        ),
        (
            lambda: attended(pyburn.ones(3, 2, 4), key_padding_mask=pyburn.ones(3, 2) > 0),
            AssertionError,
            r"key_padding_mask.shape to be \(2, 3\), but got \(3, 2\)",
        ),
        (
            lambda: attended(pyburn.ones(3, 2, 4), key_padding_mask=pyburn.ones(3) > 0),
            AssertionError,
            "`key_padding_mask` to be `None` or 2-D",
        ),
        (
            lambda: attended(pyburn.ones(3, 2, 4), attn_mask=pyburn.ones(3, 3).int()),
            AssertionError,
            "only bool and floating types of attn_mask are supported, got pyburn.int32",
        ),
        (
            lambda: attended(pyburn.ones(3, 2, 4), attn_mask=pyburn.ones(3) > 0),
            AssertionError,
            "2-D or 3-D but found 1-D",
        ),
    ],
)
def test_bad_heads(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def attended(query: pyburn.Tensor, **given: Any) -> Any:
    layer = nn.MultiheadAttention(4, 2)
    key = given.pop("key", query)
    return layer(query, key, given.pop("value", key), **given)


def test_masks_of_two_kinds_are_reported() -> None:
    layer = nn.MultiheadAttention(4, 2)
    x = pyburn.randn(3, 2, 4)
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask"):
        out, _ = layer(
            x,
            x,
            x,
            key_padding_mask=pyburn.tensor([[False, False, True]] * 2),
            attn_mask=pyburn.zeros(3, 3),
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected, _ = layer(x, x, x, key_padding_mask=pyburn.tensor([[False, False, True]] * 2))
    np.testing.assert_allclose(out.detach().numpy(), expected.detach().numpy(), rtol=1e-6)


# Cross-attention, caches, masks.


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("shared", [1, 2, 4])
def test_cross_attention(quiet: bool, shared: int) -> None:
    layer = nn.CrossAttention(6, 10, 4, shared, 3, dropout=0.0, quiet_softmax=quiet).double()
    query, context = doubles(2, 5, 6), doubles(2, 7, 10)
    named = {name: p.detach().numpy() for name, p in layer.named_parameters()}

    def heads(name: str, rows: np.ndarray, count: int) -> np.ndarray:
        out = rows @ named[f"{name}.weight"].T + named[f"{name}.bias"]
        return out.reshape(2, -1, count, 3).transpose(0, 2, 1, 3)

    rows, other = arrays(query, context)
    q = heads("query", rows, 4)
    k, v = (np.repeat(heads(name, other, shared), 4 // shared, 1) for name in ("key", "value"))
    padding = pyburn.tensor([[False] * 7, [False] * 5 + [True] * 2])
    for mask in (None, padding, pyburn.rand(2, 5, 7) < 0.3):
        scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(3)
        if mask is not None:
            out = mask.numpy()
            out = out[:, None, None] if out.ndim == 2 else out[:, None]
            scores = np.where(out, -np.inf, scores)
        found = (softmax(scores, quiet) @ v).transpose(0, 2, 1, 3).reshape(2, 5, 12)
        expected = found @ named["output.weight"].T + named["output.bias"]
        close(layer(query, context, mask), expected)
    assert gradcheck(lambda *x: layer(*x, padding), (query, context))


def test_cross_attention_and_nothing() -> None:
    # Quietly, a query that meets no key finds nothing.
    layer = nn.CrossAttention(4, 4, 2, 2, 2, quiet_softmax=True).eval()
    x = pyburn.randn(1, 3, 4)
    hidden = pyburn.ones(1, 3) > 0
    np.testing.assert_allclose(
        layer(x, x, hidden).detach().numpy(),
        np.broadcast_to(layer.output.bias.detach().numpy(), (1, 3, 4)),
    )
    loud = nn.CrossAttention(4, 4, 2, 2, 2, dropout=0.7)
    assert repr(loud).splitlines()[1] == (
        "  n_heads=2, n_heads_kv=2, d_head=2, dropout=0.7, quiet_softmax=False"
    )
    assert not loud(x, x).equal(loud(x, x))
    bound = math.sqrt(3 / 8)
    assert all(float(p.abs().max()) <= bound for p in loud.parameters())
    with pytest.raises(ValueError, match="divisible by n_heads_kv, got 4 and 3"):
        nn.CrossAttention(4, 4, 4, 3, 2)
    with pytest.raises(ValueError, match="expected d_head to be positive, got 0"):
        nn.CrossAttention(4, 4, 4, 2, 0)
    with pytest.raises(RuntimeError, match=r"context of shape .*, got \[1, 3, 5\]"):
        layer(x, pyburn.ones(1, 3, 5))
    with pytest.raises(RuntimeError, match=r"mask of dtype bool and shape \(1, 3\)"):
        layer(x, x, pyburn.ones(1, 2) > 0)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("cuts", [[1] * 9, [4, 1, 1, 3], [9]])
@pytest.mark.parametrize("kind", ["heads", "cross"])
def test_steps_with_a_cache_are_the_whole(graded: bool, cuts: list[int], kind: str) -> None:
    x = doubles(2, 9, 8)
    if kind == "heads":
        layer: Any = nn.MultiheadAttention(8, 2, batch_first=True, dtype=pyburn.float64)
        mask = nn.Transformer.generate_square_subsequent_mask(9, dtype=pyburn.float64)
        whole = layer(x, x, x, attn_mask=mask, is_causal=True, need_weights=False)[0]
    else:
        layer = nn.CrossAttention(8, 8, 4, 2, 3).double().eval()
        whole = layer(x, x, is_causal=True)
    cache = nn.KVCache()
    parts: list[pyburn.Tensor] = []
    with pyburn.set_grad_enabled(graded):
        for part in x.split(cuts, 1):
            if kind == "heads":
                need = len(parts) % 2 == 1
                out, weights = layer(
                    part, part, part, is_causal=True, need_weights=need, cache=cache
                )
                assert weights is None or weights.shape[-1] == len(cache)
            else:
                out = layer(part, part, is_causal=True, cache=cache)
            parts.append(out)
    assert len(cache) == 9
    found = pyburn.cat(parts, 1)
    close(found, whole.detach().numpy())
    if graded:
        (one,) = pyburn.autograd.grad(found.square().sum(), x)
        (two,) = pyburn.autograd.grad(whole.square().sum(), x)
        close(one, two.numpy())


def test_a_cache_that_stays() -> None:
    heads = nn.MultiheadAttention(8, 2, kdim=5, vdim=5, batch_first=True).double()
    packed = nn.MultiheadAttention(8, 2, batch_first=True).double()
    cross = nn.CrossAttention(8, 5, 4, 2, 3).double().eval()
    query, context, same = doubles(2, 3, 8), doubles(2, 6, 5), doubles(2, 6, 8)
    for layer, memory in ((heads, context), (packed, same), (cross, context)):
        cache = nn.KVCache(fixed=True)

        def run(x: pyburn.Tensor, memory: pyburn.Tensor, layer: Any = layer, **given: Any) -> Any:
            if isinstance(layer, nn.CrossAttention):
                return layer(x, memory, **given)
            return layer(x, memory, memory, **given)[0]

        whole = run(query, memory)
        for at in range(3):
            # Later contexts are not looked at.
            out = run(query[:, at : at + 1], memory if at == 0 else memory * 0, cache=cache)
            close(out, whole[:, at : at + 1].detach().numpy())
        assert len(cache) == 6


def test_cache() -> None:
    cache = nn.KVCache()
    assert cache.key is cache.value is None
    assert not cache.complete
    steps = pyburn.arange(24.0).reshape(2, 1, 6, 2)
    with pyburn.no_grad():
        for at in range(6):
            key, value = cache.update(steps[:, :, at : at + 1], -steps[:, :, at : at + 1])
            assert key.equal(steps[:, :, : at + 1])
            assert value.equal(-key)
    assert cache.key.equal(steps)
    cache.reorder(pyburn.tensor([1, 1]))
    assert cache.key.equal(steps[[1, 1]])
    assert cache.value.equal(-steps[[1, 1]])
    with pytest.raises(RuntimeError, match=r"KVCache.update: .* got \[3, 1, 1, 2\]; hint: reset"):
        cache.update(pyburn.ones(3, 1, 1, 2), pyburn.ones(3, 1, 1, 2))
    assert len(cache) == 6
    cache.reset()
    assert len(cache) == 0
    # What went in is not written over.
    first = pyburn.zeros(1, 1, 1, 1)
    with pyburn.no_grad():
        for _ in range(3):
            cache.update(first, first)
        cache.update(first + 1, first)
    assert cache.key.flatten().tolist() == [0, 0, 0, 1]
    assert float(first) == 0


def test_masks() -> None:
    assert (
        nn.generate_autoregressive_mask(2, 3).tolist()
        == [[[False, True, True], [False, False, True], [False, False, False]]] * 2
    )
    assert causal_upper_left(2, 3).tolist() == [[True, False, False], [True, True, False]]
    assert causal_lower_right(2, 3).tolist() == [[True, True, False], [True, True, True]]
    tokens = [[3, 3, 3], [3, 3, 3], [3, 3, 3, 4], [3, 3, 3, 4, 10, 15]]
    padded = nn.generate_padding_mask(0, tokens)
    assert padded.tensor.dtype == pyburn.int64
    assert padded.tensor.tolist() == [row + [0] * (6 - len(row)) for row in tokens]
    assert padded.mask.sum(1).tolist() == [3, 3, 2, 0]
    assert nn.generate_padding_mask(0, tokens, 4).tensor.shape == (4, 4)
    assert nn.generate_padding_mask(0, tokens, 9).tensor.shape == (4, 6)
    assert nn.generate_padding_mask(7, tokens, 9, fixed=True).tensor[0, -1] == 7
    assert nn.generate_padding_mask(0, tokens, 2, fixed=True).tensor.shape == (4, 2)
    assert nn.generate_padding_mask(0, []).tensor.shape == (0, 1)
    with pytest.raises(ValueError, match="expected max_length with fixed=True"):
        nn.generate_padding_mask(0, tokens, fixed=True)
