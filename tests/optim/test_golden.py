"""Five steps beside PyTorch 2.15, whose results stand here as numbers.

They were printed by the same problem, options and steps with `torch.optim`, in float64.
"""

from __future__ import annotations

import numpy as np
import pyburn as pb
import pytest
from pyburn import optim

GOLDEN = [
    (
        "SGD",
        {"lr": 0.05, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01},
        [
            0.712588473574,
            1.77070147906,
            0.497833884608,
            0.633361304457,
            -1.045506081,
            1.89032987571,
        ],
    ),
    (
        "SGD",
        {"lr": 0.05, "momentum": 0.9, "nesterov": True},
        [0.64997932393, 1.5649799113, 0.5, 0.60427122983, 0.018498490257, 0.86957954251],
    ),
    (
        "Adam",
        {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1},
        [
            0.524454512381,
            -1.50637356621,
            0.532958074891,
            0.615209852075,
            2.50638209478,
            -1.00669748515,
        ],
    ),
    (
        "AdamW",
        {"lr": 0.1},
        [
            0.525654698302,
            -1.49761521119,
            0.438804305624,
            0.626298977866,
            2.49271020164,
            -1.00034869019,
        ],
    ),
    (
        "NAdam",
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
        [
            0.630331883358,
            -1.53595237377,
            0.492014200744,
            0.493883086239,
            2.48990447101,
            -1.05990359976,
        ],
    ),
    (
        "RAdam",
        {"lr": 0.1, "betas": (0.9, 0.8)},
        [0.76934602307, 1.10176593685, 0.5, 0.564387679865, -0.580989848609, 1.45477277139],
    ),
    (
        "Adamax",
        {"lr": 0.1},
        [0.603633856763, -1.54689205501, 0.5, 0.563130345032, 2.54689205481, -1.04811820726],
    ),
    (
        "Adadelta",
        {"lr": 10.0},
        [0.849934966056, -1.8419848651, 0.5, 0.386096081733, 2.84198486049, -1.34214497743],
    ),
    (
        "Adagrad",
        {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5},
        [0.820579171094, -1.73132392735, 0.5, 0.436816209561, 2.7310957138, -1.2315330283],
    ),
    (
        "RMSprop",
        {"lr": 0.05, "centered": True, "momentum": 0.5},
        [0.593427387179, -0.0882482053207, 0.5, 0.522782144638, 1.08824819961, 0.34236095487],
    ),
    ("Rprop", {"lr": 0.1}, [0.4632, -1.25584, 0.5, 0.542, 2.25584, -0.75584]),
    (
        "ASGD",
        {"lr": 0.05, "lambd": 0.1, "t0": 2},
        [
            0.863260043272,
            -0.506625489467,
            0.490866791068,
            0.41209927632,
            0.76661971113,
            0.300970939664,
        ],
    ),
    (
        "Adafactor",
        {"lr": 0.1, "weight_decay": 0.1},
        [
            0.494867986287,
            -1.19557949589,
            0.479059820601,
            0.495719935917,
            2.26859059552,
            -0.799373899904,
        ],
    ),
    (
        "Muon",
        {"lr": 0.1},
        [
            0.930158622053,
            -1.56004747801,
            0.834619227641,
            0.243571845847,
            2.64253389187,
            -1.13245244573,
        ],
    ),
    (
        "LBFGS",
        {"lr": 0.5, "max_iter": 3, "line_search_fn": "strong_wolfe"},
        [0.575726830584, 0.430175788099, 0.5, 0.499343180964, 0.522579995369, 0.488247365162],
    ),
]


@pytest.mark.parametrize(("name", "options", "expected"), GOLDEN)
def test_five_steps_as_in_pytorch(name, options, expected):
    start = [[1.0, -2.0, 0.5], [0.25, 3.0, -1.5]]
    w = pb.tensor(start, dtype=pb.float64, requires_grad=True)
    scale = pb.arange(1.0, 7.0, dtype=pb.float64).reshape(2, 3)
    optimizer = getattr(optim, name)([w], **options)

    def closure():
        optimizer.zero_grad()
        loss = (scale * (w - 0.5).cosh()).sum()
        loss.backward()
        return loss

    for _ in range(5):
        optimizer.step(closure)
    # Muon computes in bfloat16, whose roundings may differ by the order of a sum.
    room = 2e-3 if name == "Muon" else 1e-9
    np.testing.assert_allclose(w.detach().numpy().ravel(), expected, rtol=room, atol=room)
