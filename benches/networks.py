"""Seven networks, each written once for PyTorch and PyBurn: `lib` is either package.

`train_steps.py` beside this file times them, and the parity tests compare their losses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Batch = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """A model, what it learns from, and how."""

    name: str
    build: Callable[[Any], Any]
    """Makes the model from the library."""
    batch: Callable[[np.random.Generator, bool], dict[str, np.ndarray]]
    """One batch, at its full or at a small size."""
    loss: Callable[[Any, Any, Batch], Any]
    """The loss of a model of a library on a batch of its tensors."""
    optimizer: Callable[[Any, Any], Any] = lambda lib, model: lib.optim.Adam(
        model.parameters(), lr=1e-3
    )


def classify(lib: Any, model: Any, batch: Batch) -> Any:
    """Cross-entropy of logits `(batch, classes)`."""
    return lib.nn.functional.cross_entropy(model(batch["x"]), batch["y"])


def images(
    channels: int, size: int, count: int, small: tuple[int, int]
) -> Callable[[np.random.Generator, bool], dict[str, np.ndarray]]:
    """A maker of images of ten classes, `small` giving size and count of the small batch."""

    def batch(random: np.random.Generator, full: bool) -> dict[str, np.ndarray]:
        pixels, number = (size, count) if full else small
        x = random.standard_normal((number, channels, pixels, pixels), dtype=np.float32)
        return {"x": x, "y": random.integers(0, 10, number)}

    return batch


# A perceptron on flat images.


def mlp(lib: Any) -> Any:
    nn = lib.nn
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    )


# LeNet, with the maximum for pooling.


def lenet(lib: Any) -> Any:
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.Tanh(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.Tanh(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.Tanh(),
        nn.Linear(120, 84),
        nn.Tanh(),
        nn.Linear(84, 10),
    )


# A residual network of 18 layers.


def resnet18(lib: Any) -> Any:
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self, inner: int, outer: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outer)
            self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outer)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if stride != 1 or inner != outer:
                self.downsample = nn.Sequential(
                    nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)
                )

        def forward(self, x: Any) -> Any:
            shortcut = x if self.downsample is None else self.downsample(x)
            x = self.relu(self.bn1(self.conv1(x)))
            return self.relu(self.bn2(self.conv2(x)) + shortcut)

    layers = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    inner = 64
    for outer in (64, 128, 256, 512):
        layers += [Block(inner, outer, 1 if outer == 64 else 2), Block(outer, outer, 1)]
        inner = outer
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10))


# Two bidirectional LSTM layers over a sequence.


def lstm(lib: Any) -> Any:
    nn = lib.nn

    class Classifier(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(32, 128, num_layers=2, batch_first=True, bidirectional=True)
            self.head = nn.Linear(256, 10)

        def forward(self, x: Any) -> Any:
            states, _ = self.lstm(x)
            return self.head(states[:, -1])

    return Classifier()


def sequences(random: np.random.Generator, full: bool) -> dict[str, np.ndarray]:
    count, length = (32, 64) if full else (4, 12)
    x = random.standard_normal((count, length, 32), dtype=np.float32)
    return {"x": x, "y": random.integers(0, 10, count)}


# Two transformer layers that predict the next token.


def transformer(lib: Any) -> Any:
    nn = lib.nn

    class LanguageModel(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(96, 128)
            self.places = nn.Embedding(128, 128)
            layer = nn.TransformerEncoderLayer(
                128, 4, 512, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
            )
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.norm = nn.LayerNorm(128)
            self.head = nn.Linear(128, 96, bias=False)

        def forward(self, x: Any) -> Any:
            length = x.shape[1]
            h = self.tokens(x) + self.places(lib.arange(length, device=x.device))
            mask = nn.Transformer.generate_square_subsequent_mask(length, device=x.device)
            return self.head(self.norm(self.layers(h, mask=mask, is_causal=True)))

    return LanguageModel()


def tokens(random: np.random.Generator, full: bool) -> dict[str, np.ndarray]:
    count, length = (8, 128) if full else (2, 16)
    text = random.integers(0, 96, (count, length + 1))
    return {"x": text[:, :-1].copy(), "y": text[:, 1:].copy()}


def next_token(lib: Any, model: Any, batch: Batch) -> Any:
    """Cross-entropy over all places."""
    logits = model(batch["x"])
    return lib.nn.functional.cross_entropy(logits.flatten(0, 1), batch["y"].flatten())


# A U-Net of three levels that segments images.


def unet(lib: Any) -> Any:
    nn = lib.nn

    def block(inner: int, outer: int) -> Any:
        return nn.Sequential(
            nn.Conv2d(inner, outer, 3, padding=1),
            nn.BatchNorm2d(outer),
            nn.ReLU(),
            nn.Conv2d(outer, outer, 3, padding=1),
            nn.BatchNorm2d(outer),
            nn.ReLU(),
        )

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = (16, 32, 64)
            self.down = nn.ModuleList()
            inner = 1
            for width in widths:
                self.down.append(block(inner, width))
                inner = width
            self.pool = nn.MaxPool2d(2)
            self.middle = block(64, 128)
            self.up = nn.ModuleList()
            self.join = nn.ModuleList()
            inner = 128
            for width in reversed(widths):
                self.up.append(nn.ConvTranspose2d(inner, width, 2, stride=2))
                self.join.append(block(2 * width, width))
                inner = width
            self.head = nn.Conv2d(16, 1, 1)

        def forward(self, x: Any) -> Any:
            skips = []
            for down in self.down:
                x = down(x)
                skips.append(x)
                x = self.pool(x)
            x = self.middle(x)
            for up, join in zip(self.up, self.join, strict=True):
                x = join(lib.cat([skips.pop(), up(x)], dim=1))
            return self.head(x)

    return UNet()


def masks(random: np.random.Generator, full: bool) -> dict[str, np.ndarray]:
    count, size = (4, 128) if full else (8, 32)
    x = random.standard_normal((count, 1, size, size), dtype=np.float32)
    return {"x": x, "y": (x > 0.5).astype(np.float32)}


def segment(lib: Any, model: Any, batch: Batch) -> Any:
    """Binary cross-entropy of every pixel."""
    logits = model(batch["x"])
    return lib.nn.functional.binary_cross_entropy_with_logits(logits, batch["y"])


# A graph convolutional network of two layers over one graph the size of Cora.


def gcn(lib: Any) -> Any:
    nn = lib.nn

    class Convolution(nn.Module):
        """Mixes each node with its neighbours, by the weights of the edges."""

        def __init__(self, inner: int, outer: int) -> None:
            super().__init__()
            self.lin = nn.Linear(inner, outer, bias=False)
            self.bias = nn.Parameter(lib.zeros(outer))

        def forward(self, x: Any, source: Any, target: Any, weight: Any) -> Any:
            x = self.lin(x)
            messages = x.index_select(0, source) * weight.unsqueeze(1)
            return lib.zeros_like(x).index_add(0, target, messages) + self.bias

    class GCN(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one = Convolution(1433, 16)
            self.two = Convolution(16, 7)

        def forward(self, x: Any, source: Any, target: Any, weight: Any) -> Any:
            hidden = lib.nn.functional.relu(self.one(x, source, target, weight))
            return self.two(hidden, source, target, weight)

    return GCN()


def graph(random: np.random.Generator, full: bool) -> dict[str, np.ndarray]:
    nodes, edges = (2708, 5278) if full else (60, 120)
    ends = random.integers(0, nodes, (2, edges))
    loops = np.arange(nodes)
    source = np.concatenate([ends[0], ends[1], loops])
    target = np.concatenate([ends[1], ends[0], loops])
    degree = np.bincount(target, minlength=nodes)
    return {
        # Bags of words: about one feature in a hundred is set.
        "x": (random.random((nodes, 1433)) < 0.0127).astype(np.float32),
        "source": source,
        "target": target,
        "weight": (1 / np.sqrt(degree[source] * degree[target])).astype(np.float32),
        "y": random.integers(0, 7, nodes),
    }


def label_nodes(lib: Any, model: Any, batch: Batch) -> Any:
    """Cross-entropy over all nodes."""
    logits = model(batch["x"], batch["source"], batch["target"], batch["weight"])
    return lib.nn.functional.cross_entropy(logits, batch["y"])


def momentum(lib: Any, model: Any) -> Any:
    """The optimizer that convolutional networks are trained with."""
    return lib.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)


NETWORKS: tuple[Network, ...] = (
    Network("MLP", mlp, images(1, 28, 64, (28, 64)), classify),
    Network("LeNet", lenet, images(1, 28, 64, (28, 4)), classify),
    Network("ResNet-18", resnet18, images(3, 64, 16, (48, 16)), classify, momentum),
    Network("LSTM", lstm, sequences, classify),
    Network("transformer", transformer, tokens, next_token),
    Network("U-Net", unet, masks, segment),
    Network("GCN", gcn, graph, label_nodes),
)


def to_tensors(lib: Any, batch: dict[str, np.ndarray], device: str = "cpu") -> Batch:
    """The arrays of a batch as tensors of a library."""
    return {name: lib.from_numpy(array).to(device) for name, array in batch.items()}


def copy_weights(lib: Any, source: Any, target: Any) -> None:
    """Give `target`, a model of `lib`, the weights of `source`, a model of either library."""
    state = {name: value.detach().cpu().numpy() for name, value in source.state_dict().items()}
    target.load_state_dict({name: lib.from_numpy(value.copy()) for name, value in state.items()})


def step(lib: Any, network: Network, model: Any, optimizer: Any, batch: Batch) -> Any:
    """One step of training; gives the loss before it."""
    optimizer.zero_grad()
    loss = network.loss(lib, model, batch)
    loss.backward()
    optimizer.step()
    return loss
