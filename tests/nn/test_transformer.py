"""Transformers: their layers against what they are made of, masks, decoding step by step."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pyburn
import pytest
from pyburn import nn
from pyburn.autograd import gradcheck, gradgradcheck
from pyburn.nn import functional as F
from pyburn.nn import transformer


def doubles(*shape: int) -> pyburn.Tensor:
    return pyburn.randn(*shape, dtype=pyburn.float64, requires_grad=True)


def close(actual: pyburn.Tensor, expected: Any) -> None:
    if isinstance(expected, pyburn.Tensor):
        expected = expected.detach().numpy()
    np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=1e-9, atol=1e-11)


def moved(module: nn.Module) -> Any:
    """A module in double precision whose biases and normalisations do something."""
    with pyburn.no_grad():
        for parameter in module.double().parameters():
            parameter.add_(pyburn.randn(parameter.shape).double() * 0.1)
    return module


def norm(x: np.ndarray, layer: Any) -> np.ndarray:
    scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + layer.eps)
    bias = 0 if layer.bias is None else layer.bias.detach().numpy()
    return scaled * layer.weight.detach().numpy() + bias


def linear(x: np.ndarray, layer: Any) -> np.ndarray:
    bias = 0 if layer.bias is None else layer.bias.detach().numpy()
    return x @ layer.weight.detach().numpy().T + bias


def attention(layer: Any, query: np.ndarray, key: np.ndarray, mask: np.ndarray | None) -> Any:
    """Self- or cross-attention of ``(N, L, E)``, from the definition."""
    size, heads = layer.embed_dim, layer.num_heads
    weights = np.split(layer.in_proj_weight.detach().numpy(), 3)
    biases = [0.0] * 3
    if layer.in_proj_bias is not None:
        biases = np.split(layer.in_proj_bias.detach().numpy(), 3)
    q, k, v = (
        (rows @ weight.T + bias).reshape(len(rows), -1, heads, size // heads).transpose(0, 2, 1, 3)
        for rows, weight, bias in zip((query, key, key), weights, biases, strict=True)
    )
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(size // heads)
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    found = (powers / powers.sum(-1, keepdims=True)) @ v
    return linear(found.transpose(0, 2, 1, 3).reshape(query.shape), layer.out_proj)


def relu(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_encoder_layer(norm_first: bool, bias: bool, batch_first: bool) -> None:
    layer = moved(
        nn.TransformerEncoderLayer(
            8,
            2,
            12,
            dropout=0.0,
            layer_norm_eps=1e-3,
            batch_first=batch_first,
            norm_first=norm_first,
            bias=bias,
        )
    )
    x = doubles(3, 5, 8)
    rows = x.detach().numpy()
    mask = pyburn.rand(5, 5) < 0.4
    mask[:, 0] = False
    padding = pyburn.tensor([[False] * 5, [False] * 3 + [True] * 2, [False] * 5])
    out_of = mask.numpy() | padding.numpy()[:, None, None]

    def forward(rows: np.ndarray) -> np.ndarray:
        feed = lambda x: linear(relu(linear(x, layer.linear1)), layer.linear2)  # noqa: E731
        attend = lambda x: attention(layer.self_attn, x, x, out_of)  # noqa: E731
        if norm_first:
            rows = rows + attend(norm(rows, layer.norm1))
            return rows + feed(norm(rows, layer.norm2))
        rows = norm(rows + attend(rows), layer.norm1)
        return norm(rows + feed(rows), layer.norm2)

    given = x if batch_first else x.transpose(0, 1)
    out = layer(given, mask, padding)
    close(out if batch_first else out.transpose(0, 1), forward(rows))
    # One sequence without a batch.
    close(layer(x[1], mask, padding[1]), forward(rows)[1])
    layer.eval()
    close(layer(given, mask, padding), out)


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
def test_decoder_layer(norm_first: bool, batch_first: bool) -> None:
    layer = moved(
        nn.TransformerDecoderLayer(
            8, 2, 12, dropout=0.0, batch_first=batch_first, norm_first=norm_first
        )
    )
    x, memory = doubles(3, 4, 8), doubles(3, 6, 8)
    later = np.triu(np.ones((4, 4), bool), 1)
    padding = pyburn.tensor([[False] * 6, [False] * 3 + [True] * 3, [False] * 6])
    rows, other = x.detach().numpy(), memory.detach().numpy()

    def own(x: np.ndarray) -> np.ndarray:
        return attention(layer.self_attn, x, x, later)

    def recall(x: np.ndarray) -> np.ndarray:
        return attention(layer.multihead_attn, x, other, padding.numpy()[:, None, None])

    def feed(x: np.ndarray) -> np.ndarray:
        return linear(relu(linear(x, layer.linear1)), layer.linear2)

    for at, block in enumerate((own, recall, feed), 1):
        of_block = getattr(layer, f"norm{at}")
        if norm_first:
            rows = rows + block(norm(rows, of_block))
        else:
            rows = norm(rows + block(rows), of_block)
    given = [t if batch_first else t.transpose(0, 1) for t in (x, memory)]
    for mask, hint in ((pyburn.tensor(later), False), (pyburn.tensor(later), True)):
        out = layer(*given, tgt_mask=mask, tgt_is_causal=hint, memory_key_padding_mask=padding)
        close(out if batch_first else out.transpose(0, 1), rows)


@pytest.mark.parametrize(
    ("activation", "function"),
    [
        ("relu", F.relu),
        ("gelu", F.gelu),
        (F.relu, F.relu),
        (pyburn.tanh, pyburn.tanh),
        (nn.Linear(12, 12, dtype=pyburn.float64), None),
    ],
)
def test_activations(activation: Any, function: Any) -> None:
    for kind, inputs in ((nn.TransformerEncoderLayer, 1), (nn.TransformerDecoderLayer, 2)):
        layer = moved(kind(8, 2, 12, dropout=0.0, activation=activation))
        if function is None:
            # A module is copied with its layer, and is part of it.
            assert "activation.weight" in layer.state_dict()
            assert copy.deepcopy(layer).activation is not layer.activation
        else:
            assert layer.activation is function
        x = [doubles(3, 1, 8) for _ in range(inputs)]
        expected = copy.deepcopy(layer)
        called: list[pyburn.Tensor] = []

        def spy(x: pyburn.Tensor, called: Any = called, layer: Any = layer) -> pyburn.Tensor:
            called.append(x)
            return layer.activation(x)

        if function is not None:
            expected.activation = spy
            close(layer(*x), expected(*x))
            assert called[0].shape == (3, 1, 12)
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        nn.TransformerEncoderLayer(8, 2, activation="tanh")


def test_gradients() -> None:
    encoder = moved(nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation="gelu"))
    decoder = moved(nn.TransformerDecoderLayer(4, 2, 6, dropout=0.0, norm_first=True))

    def run(x: pyburn.Tensor, y: pyburn.Tensor) -> pyburn.Tensor:
        return decoder(y, encoder(x))

    assert gradcheck(run, (doubles(3, 2, 4), doubles(2, 2, 4)))
    assert gradgradcheck(run, (doubles(2, 1, 4), doubles(2, 1, 4)))
    x, y = doubles(3, 2, 4), doubles(2, 2, 4)
    run(x, y).sum().backward()
    assert all(p.grad is not None for p in (*encoder.parameters(), *decoder.parameters()))


def test_dropout_in_training_alone() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.5)
    x = pyburn.randn(5, 2, 8)
    assert not layer(x).equal(layer(x))
    layer.eval()
    assert layer(x).equal(layer(x))


@pytest.mark.parametrize("batch_first", [False, True])
def test_encoder_and_decoder(batch_first: bool) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=batch_first)
    encoder = moved(nn.TransformerEncoder(layer, 3, nn.LayerNorm(8)))
    assert len({id(p) for p in encoder.parameters()}) == 3 * 12 + 2
    of_decoder = nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0, batch_first=batch_first)
    decoder = moved(nn.TransformerDecoder(of_decoder, 2))
    x, y = doubles(4, 4, 8), doubles(4, 4, 8)
    causal = nn.Transformer.generate_square_subsequent_mask(4, dtype=pyburn.float64)
    for mask in (None, causal, causal < 0, pyburn.rand(4, 4).double()):
        rows = x
        for one in encoder.layers:
            rows = one(rows, mask)
        rows = encoder.norm(rows)
        hints = (None, False) if mask is None or mask.equal(mask.tril()) else (None,)
        for hint in hints:
            close(encoder(x, mask, is_causal=hint), rows)
        other = y
        for one in decoder.layers:
            other = one(other, rows, tgt_mask=mask)
        close(decoder(y, rows, tgt_mask=mask), other)
    for mask in (causal, causal < 0):
        # What is found to be causal is not even read.
        assert encoder(x, mask).equal(encoder(x, mask, is_causal=True))


def test_a_transformer() -> None:
    model = nn.Transformer(8, 2, 2, 3, 12, dropout=0.0, batch_first=True, norm_first=True)
    assert [type(part) for part in (model.encoder, model.decoder)] == [
        nn.TransformerEncoder,
        nn.TransformerDecoder,
    ]
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (2, 3)
    assert float(model.encoder.layers[0].linear1.weight.abs().max()) <= math.sqrt(6 / 20)
    moved(model)
    src, tgt = doubles(2, 5, 8), doubles(2, 3, 8)
    mask = model.generate_square_subsequent_mask(3, dtype=pyburn.float64)
    padding = pyburn.tensor([[False] * 5, [False] * 4 + [True]])
    memory = model.encoder(src, src_key_padding_mask=padding)
    expected = model.decoder(tgt, memory, tgt_mask=mask, memory_key_padding_mask=padding)
    out = model(
        src,
        tgt,
        tgt_mask=mask,
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    close(out, expected)
    # What is padded does not matter.
    with pyburn.no_grad():
        src[1, 4] += 1
    again = model(
        src,
        tgt,
        tgt_mask=mask,
        src_key_padding_mask=padding,
        memory_key_padding_mask=padding,
    )
    close(again, expected)
    assert (
        nn.Transformer(8, 2, custom_encoder=nn.Identity(), custom_decoder=model.decoder) is not None
    )
    assert transformer.Transformer is nn.Transformer


def test_names() -> None:
    layer = nn.TransformerDecoderLayer(4, 2, 6, bias=False)
    assert list(layer.state_dict()) == [
        "self_attn.in_proj_weight",
        "self_attn.out_proj.weight",
        "multihead_attn.in_proj_weight",
        "multihead_attn.out_proj.weight",
        "linear1.weight",
        "linear2.weight",
        "norm1.weight",
        "norm2.weight",
        "norm3.weight",
    ]
    assert [name for name, _ in nn.TransformerEncoderLayer(4, 2).named_children()] == [
        "self_attn",
        "linear1",
        "dropout",
        "linear2",
        "norm1",
        "norm2",
        "dropout1",
        "dropout2",
    ]
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0, -math.inf, -math.inf], [0, 0, -math.inf], [0, 0, 0]]
    assert mask.dtype == pyburn.float32


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("graded", [False, True])
def test_decoding_step_by_step_is_the_whole(norm_first: bool, graded: bool) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, norm_first=norm_first)
    encoder = moved(nn.TransformerEncoder(layer, 2))
    of_decoder = nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0, norm_first=norm_first)
    decoder = moved(nn.TransformerDecoder(of_decoder, 2, nn.LayerNorm(8)))
    x, memory = doubles(6, 3, 8), doubles(4, 3, 8)
    mask = nn.Transformer.generate_square_subsequent_mask(6, dtype=pyburn.float64)
    for cuts in ([1] * 6, [3, 1, 2]):
        cache, pairs = encoder.new_cache(), decoder.new_cache()
        encoded: list[pyburn.Tensor] = []
        decoded: list[pyburn.Tensor] = []
        with pyburn.set_grad_enabled(graded):
            for part in x.split(cuts):
                encoded.append(encoder(part, is_causal=True, cache=cache))
                decoded.append(decoder(part, memory, tgt_is_causal=True, cache=pairs))
        close(pyburn.cat(encoded), encoder(x, mask))
        close(pyburn.cat(decoded), decoder(x, memory, tgt_mask=mask))
        assert [len(one) for one in cache] == [6, 6]
        assert [(len(own), len(other)) for own, other in pairs] == [(6, 4)] * 2


def test_layers_of_ones_own() -> None:
    # Layers that know nothing of caches are called without one.
    class Layer(nn.Module):
        def forward(self, x: pyburn.Tensor, **masks: Any) -> pyburn.Tensor:
            assert set(masks) == {"src_mask", "is_causal", "src_key_padding_mask"}
            return x + 1

    assert nn.TransformerEncoder(Layer(), 3)(pyburn.zeros(2, 1, 4)).unique().tolist() == [3]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((5, 2, 8), (3, 4, 8)), r"batch number of src and tgt must be equal, got shapes \[5, 2"),
        (((5, 2, 8), (3, 2, 7)), r"equal to d_model 8, got shapes \[5, 2, 8\] and \[3, 2, 7\]"),
    ],
)
def test_bad_calls(shapes: tuple[tuple[int, ...], ...], message: str) -> None:
    model = nn.Transformer(8, 2, 1, 1, 12)
    with pytest.raises(RuntimeError, match=message):
        model(*(pyburn.ones(shape) for shape in shapes))
