"""Functions that draw numbers: their rows say what every draw holds and how draws are spread."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyburn as pb

INF = math.inf


@dataclass(frozen=True)
class Law:
    """What the numbers of a function that draws must be like."""

    name: str
    draw: Callable[[], pb.Tensor]
    mean: float
    std: float
    low: float = -INF
    high: float = INF
    dtype: str = "float32"
    shape: tuple[int, ...] = (20_000,)
    whole: bool = False
    """Whether only integers come."""
    heavy: bool = False
    """Whether there is no mean: the median is compared instead, and `std` is the quartile."""
    aliases: tuple[str, ...] = field(default=())


def _zeros() -> pb.Tensor:
    return pb.zeros(20_000)


def _over(value: float) -> pb.Tensor:
    return pb.full((20_000,), value)


HALF = math.sqrt(1 / 12)
N = 20_000

LAWS = [
    Law("rand", lambda: pb.rand(N), 0.5, HALF, 0, 1),
    Law(
        "rand", lambda: pb.rand(100, 200, dtype=pb.float64), 0.5, HALF, 0, 1, "float64", (100, 200)
    ),
    Law("rand_like", lambda: pb.rand_like(_zeros()), 0.5, HALF, 0, 1),
    Law("randn", lambda: pb.randn(N), 0, 1),
    Law("randn_like", lambda: pb.randn_like(_zeros()), 0, 1),
    Law("normal", lambda: pb.normal(_over(3.0), _over(2.0)), 3, 2),
    Law("normal", lambda: pb.normal(3.0, 2.0, (N,)), 3, 2),
    Law("Tensor.normal_", lambda: _zeros().normal_(3, 2), 3, 2),
    Law(
        "randint",
        lambda: pb.randint(-3, 5, (N,)),
        0.5,
        math.sqrt(63 / 12),
        -3,
        4,
        "int64",
        whole=True,
    ),
    Law(
        "randint_like",
        lambda: pb.randint_like(_zeros(), 4),
        1.5,
        math.sqrt(15 / 12),
        0,
        3,
        whole=True,
    ),
    Law(
        "randperm",
        lambda: pb.randperm(N),
        (N - 1) / 2,
        math.sqrt((N**2 - 1) / 12),
        0,
        N - 1,
        "int64",
        whole=True,
    ),
    Law("bernoulli", lambda: pb.bernoulli(_over(0.3)), 0.3, math.sqrt(0.21), 0, 1, whole=True),
    Law(
        "Tensor.bernoulli_",
        lambda: _zeros().bernoulli_(0.3),
        0.3,
        math.sqrt(0.21),
        0,
        1,
        whole=True,
    ),
    Law(
        "binomial",
        lambda: pb.binomial(_over(10.0), _over(0.3)),
        3,
        math.sqrt(2.1),
        0,
        10,
        whole=True,
    ),
    Law("poisson", lambda: pb.poisson(_over(4.0)), 4, 2, 0, whole=True),
    Law(
        "multinomial",
        lambda: pb.multinomial(pb.tensor([1.0, 0.0, 3.0]), N, replacement=True),
        1.5,
        math.sqrt(0.75),
        0,
        2,
        "int64",
        whole=True,
    ),
    Law("Tensor.uniform_", lambda: _zeros().uniform_(-1, 3), 1, 4 * HALF, -1, 3),
    Law("Tensor.exponential_", lambda: _zeros().exponential_(2), 0.5, 0.5, 0),
    Law("Tensor.geometric_", lambda: _zeros().geometric_(0.25), 4, math.sqrt(12), 1, whole=True),
    Law(
        "Tensor.log_normal_",
        lambda: _zeros().log_normal_(0, 0.5),
        math.exp(0.125),
        math.sqrt((math.exp(0.25) - 1) * math.exp(0.25)),
        0,
    ),
    Law("Tensor.cauchy_", lambda: _zeros().cauchy_(1, 2), 1, 2, heavy=True),
    Law(
        "Tensor.random_", lambda: _zeros().random_(0, 8), 3.5, math.sqrt(63 / 12), 0, 7, whole=True
    ),
    Law("dropout", lambda: pb.dropout(_over(1.0), 0.2, True), 1, 0.5, 0, 1.25),
    Law(
        "Tensor.random",
        lambda: pb.Tensor.random((N,), pb.Distribution.Uniform(0.0, 1.0)),
        0.5,
        HALF,
        0,
        1,
    ),
]
ROWS: list[Any] = []
