"""What a step of training takes: PyBurn against PyTorch on seven networks.

    python benches/train_steps.py
    python benches/train_steps.py --networks LeNet GCN --threads 1

Both libraries run in one process and take turns. See `README.md` beside this file.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from networks import NETWORKS, Network, copy_weights, step, to_tensors
from side_by_side import Row, alternate, geometric_mean, print_table, use_threads

WARM_UP = 2


def stepper(lib: Any, network: Network, model: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A function that trains for one step and gives the loss."""
    optimizer = network.optimizer(lib, model)
    batch = to_tensors(lib, arrays)
    return lambda: step(lib, network, model, optimizer, batch).item()


def compare(ours: Any, theirs: Any, network: Network, repeats: int, full: bool) -> Row:
    """Times one network, after a look at whether both libraries compute the same."""
    ours.manual_seed(0)
    theirs.manual_seed(0)
    arrays = network.batch(np.random.default_rng(0), full)
    other = network.build(theirs)
    mine = network.build(ours)
    copy_weights(ours, other, mine)
    steps: list[Callable[[], float]] = [
        stepper(ours, network, mine, arrays),
        stepper(theirs, network, other, arrays),
    ]
    for _ in range(WARM_UP):
        losses = [take() for take in steps]
        if not np.isclose(*losses, rtol=1e-3):
            raise SystemExit(f"{network.name}: the losses differ: {losses}")
    mine_s, other_s = alternate(steps, repeats)
    return Row(network.name, f"{mine_s * 1e3:.2f} ms", f"{other_s * 1e3:.2f} ms", mine_s / other_s)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [network.name for network in NETWORKS]
    parser.add_argument("--networks", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=10, help="steps per figure, the least wins")
    parser.add_argument("--threads", type=int, default=2, help="threads for both libraries")
    parser.add_argument("--small", action="store_true", help="small batches, to try things out")
    options = parser.parse_args()

    use_threads(options.threads)
    theirs = importlib.import_module("torch")
    theirs.set_num_threads(options.threads)
    ours = importlib.import_module("pyburn")
    rows = []
    for network in NETWORKS:
        if network.name in options.networks:
            rows.append(compare(ours, theirs, network, options.repeats, not options.small))
            print(rows[-1], flush=True)
    print()
    print_table(rows, "pyburn", "torch")
    print(f"geometric mean of the ratios: {geometric_mean([row.ratio for row in rows]):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
