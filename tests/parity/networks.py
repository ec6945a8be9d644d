"""Train seven networks in PyTorch and PyBurn from the same weights and compare their losses.

    python -m tests.parity.networks                  on the CPU: 1e-4 relative over 20 steps
    python -m tests.parity.networks --device wgpu    PyBurn there: 1e-3

The networks are those of `benches/networks.py`, written once for either library.
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


def losses(lib: Any, network: Network, model: Any, device: str, steps: int) -> list[float]:
    """The loss of each step."""
    model.to(device)
    optimizer = network.optimizer(lib, model)
    batch = to_tensors(lib, network.batch(np.random.default_rng(0), False), device)
    return [step(lib, network, model, optimizer, batch).item() for _ in range(steps)]


def difference(lib: Any, network: Network, device: str, steps: int) -> float:
    """The largest relative difference of losses."""
    torch.manual_seed(0)
    theirs, mine = network.build(torch), network.build(lib)
    copy_weights(lib, theirs, mine)
    expected = np.array(losses(torch, network, theirs, "cpu", steps))
    actual = np.array(losses(lib, network, mine, device, steps))
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
        apart = difference(lib, network, options.device, options.steps)
        failed += not apart <= room
        mark = "" if apart <= room else "  FAILED"
        print(f"{network.name:12} losses differ by {apart:.1e} at most{mark}", flush=True)
    print(f"{len(NETWORKS) - failed} of {len(NETWORKS)} networks within {room:g}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
