"""The named tuples that functions with several results return."""

from __future__ import annotations

from typing import NamedTuple

from pyburn._core import Tensor

__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "frexp",
    "geqrf",
    "histogram",
    "histogramdd",
    "kthvalue",
    "linalg_cholesky_ex",
    "linalg_eig",
    "linalg_eigh",
    "linalg_inv_ex",
    "linalg_ldl_factor",
    "linalg_ldl_factor_ex",
    "linalg_lstsq",
    "linalg_lu",
    "linalg_lu_factor",
    "linalg_lu_factor_ex",
    "linalg_polar",
    "linalg_qr",
    "linalg_slogdet",
    "linalg_solve_ex",
    "linalg_svd",
    "lu_unpack",
    "max",
    "median",
    "min",
    "mode",
    "nanmedian",
    "qr",
    "slogdet",
    "sort",
    "svd",
    "topk",
    "triangular_solve",
]


def _show(result: tuple[object, ...]) -> str:
    """The result as PyTorch prints it: one field per line."""
    fields: tuple[str, ...] = result._fields  # type: ignore[attr-defined]
    lines = ",\n".join(f"{name}={value!r}" for name, value in zip(fields, result, strict=True))
    return f"pyburn.return_types.{type(result).__name__}(\n{lines})"


class aminmax(NamedTuple):
    """What ``pyburn.aminmax`` returns."""

    min: Tensor
    max: Tensor

    def __repr__(self) -> str:
        return _show(self)


class cummax(NamedTuple):
    """What ``pyburn.cummax`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class cummin(NamedTuple):
    """What ``pyburn.cummin`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class frexp(NamedTuple):
    """What ``pyburn.frexp`` returns."""

    mantissa: Tensor
    exponent: Tensor

    def __repr__(self) -> str:
        return _show(self)


class geqrf(NamedTuple):
    """What ``pyburn.geqrf`` returns."""

    a: Tensor
    tau: Tensor

    def __repr__(self) -> str:
        return _show(self)


class histogram(NamedTuple):
    """What ``pyburn.histogram`` returns."""

    hist: Tensor
    bin_edges: Tensor

    def __repr__(self) -> str:
        return _show(self)


class histogramdd(NamedTuple):
    """What ``pyburn.histogramdd`` returns."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]

    def __repr__(self) -> str:
        return _show(self)


class kthvalue(NamedTuple):
    """What ``pyburn.kthvalue`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_cholesky_ex(NamedTuple):
    """What ``pyburn.linalg.cholesky_ex`` returns."""

    L: Tensor
    info: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_eig(NamedTuple):
    """What ``pyburn.linalg.eig`` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_eigh(NamedTuple):
    """What ``pyburn.linalg.eigh`` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_inv_ex(NamedTuple):
    """What ``pyburn.linalg.inv_ex`` returns."""

    inverse: Tensor
    info: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_ldl_factor(NamedTuple):
    """What ``pyburn.linalg.ldl_factor`` returns."""

    LD: Tensor
    pivots: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_ldl_factor_ex(NamedTuple):
    """What ``pyburn.linalg.ldl_factor_ex`` returns."""

    LD: Tensor
    pivots: Tensor
    info: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_lstsq(NamedTuple):
    """What ``pyburn.linalg.lstsq`` returns."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_lu(NamedTuple):
    """What ``pyburn.linalg.lu`` returns."""

    P: Tensor
    L: Tensor
    U: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_lu_factor(NamedTuple):
    """What ``pyburn.linalg.lu_factor`` returns."""

    LU: Tensor
    pivots: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_lu_factor_ex(NamedTuple):
    """What ``pyburn.linalg.lu_factor_ex`` returns."""

    LU: Tensor
    pivots: Tensor
    info: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_polar(NamedTuple):
    """What ``pyburn.linalg.polar`` returns."""

    U: Tensor
    H: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_qr(NamedTuple):
    """What ``pyburn.linalg.qr`` returns."""

    Q: Tensor
    R: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_slogdet(NamedTuple):
    """What ``pyburn.linalg.slogdet`` returns."""

    sign: Tensor
    logabsdet: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_solve_ex(NamedTuple):
    """What ``pyburn.linalg.solve_ex`` returns."""

    result: Tensor
    info: Tensor

    def __repr__(self) -> str:
        return _show(self)


class linalg_svd(NamedTuple):
    """What ``pyburn.linalg.svd`` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor

    def __repr__(self) -> str:
        return _show(self)


class lu_unpack(NamedTuple):
    """What ``pyburn.lu_unpack`` returns."""

    P: Tensor
    L: Tensor
    U: Tensor

    def __repr__(self) -> str:
        return _show(self)


class max(NamedTuple):
    """What ``pyburn.max`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class median(NamedTuple):
    """What ``pyburn.median`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class min(NamedTuple):
    """What ``pyburn.min`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class mode(NamedTuple):
    """What ``pyburn.mode`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class nanmedian(NamedTuple):
    """What ``pyburn.nanmedian`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class qr(NamedTuple):
    """What ``pyburn.qr`` returns."""

    Q: Tensor
    R: Tensor

    def __repr__(self) -> str:
        return _show(self)


class slogdet(NamedTuple):
    """What ``pyburn.slogdet`` returns."""

    sign: Tensor
    logabsdet: Tensor

    def __repr__(self) -> str:
        return _show(self)


class sort(NamedTuple):
    """What ``pyburn.sort`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class svd(NamedTuple):
    """What ``pyburn.svd`` returns."""

    U: Tensor
    S: Tensor
    V: Tensor

    def __repr__(self) -> str:
        return _show(self)


class topk(NamedTuple):
    """What ``pyburn.topk`` returns."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return _show(self)


class triangular_solve(NamedTuple):
    """What ``pyburn.triangular_solve`` returns."""

    solution: Tensor
    cloned_coefficient: Tensor

    def __repr__(self) -> str:
        return _show(self)
