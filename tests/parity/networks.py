"""Train seven networks in PyTorch and PyBurn from the same weights and compare their losses.

    python -m tests.parity.networks                  on the CPU, in float64: 1e-4 relative
    python -m tests.parity.networks --device wgpu    PyBurn there, in float32: 1e-3

The networks are those of `benches/networks.py`, written once for either library. In float32 two
correct libraries part ways: where batch normalisation sees few elements, rounding PyTorch's own
weights moves its losses by as much. So the comparison is in float64, float32 is shown beside it.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))
from networks import NETWORKS, Network, copy_weights, step, to_tensors

STEPS = 20
ROOM = {"cpu": 1e-4}
ROOM_ELSEWHERE = 1e-3
SMALLEST = 1e-3
"""Losses below it are compared with it: a network that has learnt its batch has a loss of zero."""


def losses(
    lib: Any, network: Network, model: Any, device: str, steps: int, double: bool
) -> list[float]:
    """The loss of each step."""
    model.to(device)
    batch = to_tensors(lib, network.batch(np.random.default_rng(0), False), device)
    if double:
        model.double()
        batch = {
            name: value.double() if value.is_floating_point() else value
            for name, value in batch.items()
        }
    optimizer = network.optimizer(lib, model)
    return [step(lib, network, model, optimizer, batch).item() for _ in range(steps)]


def difference(lib: Any, network: Network, device: str, steps: int, double: bool) -> float:
    """The largest relative difference of losses."""
    torch.manual_seed(0)
    theirs, mine = network.build(torch), network.build(lib)
    copy_weights(lib, theirs, mine)
    expected = np.array(losses(torch, network, theirs, "cpu", steps, double))
    actual = np.array(losses(lib, network, mine, device, steps, double))
    return float(np.max(np.abs(actual - expected) / np.maximum(np.abs(expected), SMALLEST)))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.networks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--device", default="cpu", help="where PyBurn computes (default cpu)")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    lib = importlib.import_module("pyburn")
    room = ROOM.get(options.device, ROOM_ELSEWHERE)
    failed = 0
    for network in NETWORKS:
        single = difference(lib, network, options.device, options.steps, False)
        apart, words = single, f"float32 {single:.1e}"
        if options.device == "cpu":
            apart = difference(lib, network, options.device, options.steps, True)
            words = f"float64 {apart:.1e}, {words}"
        failed += not apart <= room
        mark = "" if apart <= room else "  FAILED"
        print(f"{network.name:12} losses differ by at most: {words}{mark}", flush=True)
    print(f"{len(NETWORKS) - failed} of {len(NETWORKS)} networks within {room:g}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
