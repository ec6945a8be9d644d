"""Results that are defined only up to a sign, a phase or an order.

Two correct eigenvector routines may return vectors of opposite sign. What is compared instead is
what the routine promises: the product of the factors, their orthonormality, the sorted spectrum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Tensors: TypeAlias = Sequence[torch.Tensor]


def _gram(columns: torch.Tensor) -> torch.Tensor:
    return columns.mH @ columns


def _spectrum(values: torch.Tensor) -> torch.Tensor:
    """Complex eigenvalues in an order that rounding errors do not change."""
    by_imaginary = values.gather(-1, values.imag.argsort(dim=-1, stable=True))
    real = by_imaginary.real.round(decimals=3)
    return by_imaginary.gather(-1, real.argsort(dim=-1, stable=True))


def _eig(result: Tensors) -> Tensors:
    values, vectors = result
    lengths = vectors.abs().square().sum(-2)
    return _spectrum(values), (vectors * values.unsqueeze(-2)) @ vectors.inverse(), lengths


def _eigh(result: Tensors) -> Tensors:
    values, vectors = result
    return values, (vectors * values.unsqueeze(-2)) @ vectors.mH, _gram(vectors)


def _singular(left: torch.Tensor, values: torch.Tensor, right: torch.Tensor) -> Tensors:
    k = values.shape[-1]
    product = (left[..., :k] * values.unsqueeze(-2)) @ right[..., :k].mH
    return values, product, _gram(left), _gram(right)


def _qr(result: Tensors) -> Tensors:
    q, r = result
    diagonal = r.diagonal(dim1=-2, dim2=-1)
    # Each row of R carries the sign of its column of Q; the sign of the diagonal takes it out.
    signs = torch.where(diagonal == 0, torch.ones_like(diagonal), diagonal.sgn().conj())
    head = r[..., : diagonal.shape[-1], :] * signs.unsqueeze(-1)
    product = q @ r if q.numel() else q
    return head, product, _gram(q)


INVARIANTS: dict[str, Callable[[Tensors], Tensors]] = {
    "linalg.eig": _eig,
    "linalg.eigh": _eigh,
    "linalg.eigvals": lambda values: [_spectrum(values)],
    "linalg.qr": _qr,
    "linalg.svd": lambda usv: _singular(usv[0], usv[1], usv[2].mH),
    "pca_lowrank": lambda usv: _singular(*usv),
    "qr": _qr,
    "svd": lambda usv: _singular(*usv),
    "svd_lowrank": lambda usv: _singular(*usv),
}
"""Name of an operator -> from its result, what every correct result has in common."""
