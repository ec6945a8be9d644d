"""Hold what PyBurn's autocast makes of dtypes, on the CPU, against PyTorch's.

    python -m tests.parity.autocast                   everything
    python -m tests.parity.autocast --only 'linalg'   cases that match

Both libraries evaluate each case within `autocast("cpu")`, with `L` the library, `F` its layers as
functions, `x` and `y` matrices of a dtype, `f` one of float32, `t` and `T` integers. The results
must have the same dtypes, or both must refuse; values must agree as far as a bfloat16 can. The exit
status is 0 if nothing differs but what `DIFFERENCES` names.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import warnings
from collections import Counter
from typing import Any

import numpy as np

DTYPES = ("float32", "bfloat16", "float16", "float64")
ROOM = 5e-2
"""A bfloat16 has eight bits; a product of four terms may lose one or two of them."""

CASES = """
x @ x
x[0] @ x[0]
x @ x[0]
x.T @ f
L.mm(x, x)
L.mm(f, x)
L.bmm(x[None], f[None])
L.mv(x, x[0])
L.dot(x[0], x[0])
L.vdot(x[0], x[0])
L.outer(x[0], x[0])
L.inner(x, x)
L.tensordot(x, x)
L.kron(x, x)
L.addmm(x, x, x)
L.addmm(f, x, x)
L.addmv(x[0], x, x[0])
L.addr(x, x[0], x[0])
L.addbmm(x, x[None], x[None])
L.baddbmm(x[None], x[None], x[None])
L.einsum('ij,jk->ik', x, x)
L.einsum('i,j->ij', x[0], x[0])
L.chain_matmul(x, x, x)
L.linalg.multi_dot([x, x, x])
L.linalg.vecdot(x, x)
L.matrix_power(x, 3)
L.cov(x)
F.linear(x, x)
F.linear(x, x, x[0])
F.linear(f, x, f[0])
F.bilinear(x, x, x.expand(3, 4, 4))
F.prelu(x, x[0, :1])
F.scaled_dot_product_attention(*[x.expand(2, 2, 4, 4)] * 3)
F.conv1d(x[None], x[None])
F.conv2d(x[None, None], x[None, None, :2, :2], x[0, :1])
F.conv3d(x.reshape(1, 1, 4, 2, 2), x.reshape(1, 1, 4, 2, 2)[:, :, :2])
F.conv_transpose1d(x[None], x[:, None])
F.conv_transpose2d(x[None, None], x[None, None], x[0, :1])
x.exp()
x.log()
x.rsqrt()
x.sum()
x.mean()
x.std()
x.prod()
x.prod(0)
x.cumsum(0)
x.cumprod(0)
x.logsumexp(0)
x.softmax(0)
x.log_softmax(0)
x.norm()
x.sigmoid()
x ** 2
x + x
x * f
x.max()
x.relu()
x.median()
F.softplus(x)
F.gelu(x)
F.normalize(x)
F.cosine_similarity(x, y)
L.dist(x, y)
L.linalg.vector_norm(x)
F.layer_norm(x, (4,))
F.layer_norm(x, (4,), x[0], x[1])
F.rms_norm(x, (4,))
F.group_norm(x, 2)
F.batch_norm(x, None, None, training=True)
F.batch_norm(x, f[0] * 0, f[0] * 0 + 1, f[0], f[1], training=True)
F.l1_loss(x, y)
F.mse_loss(x, y)
F.mse_loss(x, f)
F.smooth_l1_loss(x, y)
F.huber_loss(x, y)
F.cross_entropy(x, t)
F.cross_entropy(x, y)
F.cross_entropy(F.linear(x, y), t)
F.nll_loss(x, t)
F.binary_cross_entropy(x, y)
F.binary_cross_entropy_with_logits(x, y)
F.kl_div(x, y, reduction='sum')
F.poisson_nll_loss(x, y)
F.gaussian_nll_loss(x, y, x)
F.soft_margin_loss(x, y)
F.multi_margin_loss(x, t)
F.multilabel_margin_loss(x, T)
F.multilabel_soft_margin_loss(x, y)
F.hinge_embedding_loss(x, y.sign())
F.margin_ranking_loss(x, y, x.sign())
F.cosine_embedding_loss(x, y, t.clamp(1, 1))
F.triplet_margin_loss(x, y, x + 1)
F.triplet_margin_with_distance_loss(x, y, x + 1)
F.ctc_loss(x[:, None].log_softmax(-1), t[None, 1:3], t[3:] + 1, t[2:3])
L.cdist(x, y)
L.quantile(x, 0.5)
L.nanquantile(x, 0.5)
x.trace()
L.polar(x, x)
L.fft.fft(x)
L.fft.rfft2(x)
L.fft.irfft(x)
L.stft(x.reshape(16), 4, window=L.ones(4, dtype=L.float32), return_complex=True)
L.linalg.inv(x)
L.linalg.solve(x, y)
L.linalg.cholesky(e)
L.linalg.svdvals(x)
L.linalg.eigvalsh(e)
L.linalg.qr(x)[1].abs()
L.pinverse(x)
L.linalg.lstsq(x, y)[0]
L.linalg.cond(x)
L.linalg.matrix_rank(x)
L.cat([x, f])
L.stack([x, f])
f.index_copy(0, t, x)
L.where(x > 0.5, x, f)
L.addcmul(x, f, x)
L.atan2(x, f)
L.lerp(x, y, 0.5)
x.clone().addmm_(x, x)
F.avg_pool2d(x[None], 2)
F.max_pool2d(x[None], 2)
F.max_pool3d(x[None, None], 1)
F.avg_pool3d(x[None, None], 1)
F.adaptive_avg_pool3d(x[None, None], 1)
F.adaptive_max_pool3d(x[None, None], 1)
F.grid_sample(x[None, None], x[None, :, :2, None].expand(1, 4, 2, 2), align_corners=False)
F.interpolate(x[None], scale_factor=2)
F.embedding(t, x)
F.pad(x, (1, 1))
F.dropout(x, 0.0)
""".strip().split("\n")

DIFFERENCES = {
    "L.cat([x, f])": "float16 meets float32 in float32 here, within autocast as outside",
    "L.stack([x, f])": "as cat",
}
"""Cases that differ on purpose, with the reason."""


def names_of(package: str, dtype: str) -> dict[str, Any]:
    """A library, and the same numbers in it."""
    library = importlib.import_module(package)
    rng = np.random.default_rng(0)
    single = rng.uniform(0.1, 0.9, (3, 4, 4)).astype(np.float32)
    x, y, f = (library.tensor(array.tolist(), dtype=library.float32) for array in single)
    kind = getattr(library, dtype)
    return {
        "L": library,
        "F": importlib.import_module(f"{package}.nn.functional"),
        "x": x.to(kind),
        "y": y.to(kind),
        "f": f,
        "e": (x @ x.T + library.eye(4)).to(kind),
        "t": library.tensor([0, 1, 2, 3]),
        "T": library.tensor([[3, 0, -1, 1], [0, -1, 1, 1], [1, 2, -1, 0], [2, -1, 0, 0]]),
    }


def outcome(case: str, package: str, dtype: str) -> tuple[str, Any]:
    """The dtype of a case's result and its values, or "refused" and why."""
    names = names_of(package, dtype)
    try:
        with warnings.catch_warnings(), names["L"].autocast("cpu"):
            warnings.simplefilter("ignore")
            result = eval(case, names)
    except Exception as fault:
        return "refused", f"{type(fault).__name__}: {fault}"
    wide = getattr(names["L"], "complex64" if result.is_complex() else "float32")
    return repr(result.dtype).rpartition(".")[2], np.array(result.to(wide).numpy())


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.parity.autocast",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", metavar="REGEX", help="cases to run")
    counts: Counter[str] = Counter()
    for case in filter(re.compile(parser.parse_args().only).search, CASES):
        for dtype in DTYPES:
            (kind, values), (expected, others) = (
                outcome(case, package, dtype) for package in ("pyburn", "torch")
            )
            if kind != expected:
                known = "known" if case in DIFFERENCES else "differs"
                counts[known] += 1
                why = f" ({values})" if kind == "refused" else ""
                print(f"{known}: {case} of {dtype}: {kind}, not {expected}{why}")
            elif kind == "refused":
                counts["refused by both"] += 1
            elif np.allclose(values, others, rtol=ROOM, atol=ROOM):
                counts["equal dtypes and values"] += 1
            else:
                counts["differs"] += 1
                print(f"differs: {case} of {dtype}: {values}, not {others}")
    print(", ".join(f"{count} {what}" for what, count in counts.items()))
    return int(bool(counts["differs"]))


if __name__ == "__main__":
    sys.exit(main())
