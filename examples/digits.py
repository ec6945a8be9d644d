"""Recognise handwritten digits with a network written from tensors.

Shows tensors, autograd and a training loop, with nothing between them: the weights are plain
tensors, the gradient descent with momentum is four lines.

    python examples/digits.py                  on the CPU
    python examples/digits.py --device wgpu    on a GPU

Data:   data/digits.npz, 1797 real images of 8 x 8 pixels (source and licence in data/README.md)
Needs:  matplotlib, for the picture of the loss curve (pip install 'pyburn[viz]')
Target: at least 95 % of the 360 images that training never saw
Time:   a second or two on two CPU cores
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyburn
from matplotlib.figure import Figure
from pyburn import Tensor

TARGET = 0.95
TEST_IMAGES = 360


def load(path: Path, device: str) -> tuple[Tensor, Tensor]:
    """The images as rows of 64 numbers from 0 to 1, and their labels."""
    with np.load(path) as file:
        images = file["images"].reshape(-1, 64).astype(np.float32) / 16
        labels = file["labels"].astype(np.int64)
    return pyburn.from_numpy(images).to(device), pyburn.from_numpy(labels).to(device)


class Network:
    """Two layers with a rectifier between them."""

    def __init__(self, inputs: int, hidden: int, outputs: int, device: str) -> None:
        def weight(columns: int, rows: int) -> Tensor:
            # He's scale keeps the size of the activations from layer to layer.
            values = pyburn.randn(columns, rows, device=device) * (2 / columns) ** 0.5
            return values.requires_grad_()

        def bias(size: int) -> Tensor:
            return pyburn.zeros(size, device=device, requires_grad=True)

        self.hidden = weight(inputs, hidden), bias(hidden)
        self.output = weight(hidden, outputs), bias(outputs)

    def __call__(self, x: Tensor) -> Tensor:
        """The score of each class for each row."""
        weight, bias = self.hidden
        x = (x @ weight + bias).relu()
        weight, bias = self.output
        return x @ weight + bias

    def parameters(self) -> list[Tensor]:
        """The tensors that training changes."""
        return [*self.hidden, *self.output]


def cross_entropy(scores: Tensor, labels: Tensor) -> Tensor:
    """Minus the logarithm of the probability given to the right class, on average."""
    return -scores.log_softmax(dim=1).gather(1, labels.unsqueeze(1)).mean()


def batches(x: Tensor, y: Tensor, size: int) -> Iterator[tuple[Tensor, Tensor]]:
    """The rows in a new random order, `size` at a time."""
    for rows in pyburn.randperm(len(x), device=x.device).split(size):
        yield x[rows], y[rows]


def train(
    network: Network, x: Tensor, y: Tensor, *, epochs: int, rate: float = 0.1, momentum: float = 0.9
) -> list[float]:
    """Gradient descent with momentum; returns the loss of every step."""
    speeds = [pyburn.zeros_like(parameter) for parameter in network.parameters()]
    losses: list[float] = []
    for _ in range(epochs):
        for some_x, some_y in batches(x, y, size=64):
            loss = cross_entropy(network(some_x), some_y)
            gradients = pyburn.autograd.grad(loss, network.parameters())
            with pyburn.no_grad():
                for parameter, speed, gradient in zip(
                    network.parameters(), speeds, gradients, strict=True
                ):
                    speed.mul_(momentum).add_(gradient)
                    parameter.sub_(speed, alpha=rate)
            losses.append(loss.item())
    return losses


def accuracy(network: Network, x: Tensor, y: Tensor) -> float:
    """The share of rows whose best score is the right class."""
    with pyburn.no_grad():
        return (network(x).argmax(dim=1) == y).float().mean().item()


def draw(losses: list[float], width: int, title: str, path: Path) -> None:
    """Save the loss curve: every step, and the mean over an epoch of `width` steps around it."""
    smooth = np.convolve(losses, np.ones(width) / width, mode="valid")
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(losses, color="tab:blue", alpha=0.3, linewidth=0.8, label="one batch")
    axes.plot(np.arange(len(smooth)) + width // 2, smooth, color="tab:blue", label="one epoch")
    axes.set(yscale="log", xlabel="step", ylabel="cross entropy", title=title)
    axes.grid(alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> int:
    """The command line. The exit status is 0 if the accuracy reaches the target."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu, wgpu, cuda, cuda:1, ...")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("out/digits.png"), help="the picture")
    options = parser.parse_args()

    pyburn.manual_seed(0)
    x, y = load(Path(__file__).parent / "data" / "digits.npz", options.device)
    order = pyburn.randperm(len(x), device=x.device)
    test, training = order[:TEST_IMAGES], order[TEST_IMAGES:]

    network = Network(inputs=64, hidden=64, outputs=10, device=options.device)
    start = time.perf_counter()
    losses = train(network, x[training], y[training], epochs=options.epochs)
    seconds = time.perf_counter() - start
    score = accuracy(network, x[test], y[test])

    title = f"Handwritten digits, {score:.1%} of {TEST_IMAGES} test images right"
    draw(losses, len(losses) // options.epochs, title, options.out)
    print(f"device          {x.device}")
    print(f"training        {len(losses)} steps in {seconds:.1f} s")
    print(f"loss            {losses[0]:.3f} -> {losses[-1]:.3f}")
    print(f"test accuracy   {score:.4f} (target {TARGET})")
    print(f"loss curve      {options.out}")
    return 0 if score >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
