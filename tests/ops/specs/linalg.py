"""Products of vectors and matrices, and what is computed of a matrix.

The modules `pyburn.linalg`, `pyburn.fft` and `pyburn.special` have test files of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import linalg as sl
from scipy.spatial import distance

from ops.row import COMPLEX, FLOATS, Call, Maker, Row, call
from ops.specs.movement import several

NUMBERS = (*FLOATS, *COMPLEX, "int64", "int32", "uint8")
BOTH = ("float64", "complex128")


def _row(name: str, oracle: Callable[..., Any], samples: Any, **more: Any) -> Row:
    settings: dict[str, Any] = {
        "dtypes": NUMBERS,
        "result": "promoted",
        "grad": 2,
        "room": 8,
        "expand": False,
    }
    return Row(name, oracle, samples, **(settings | more))


def _scaled(*shapes: tuple[int, ...], scalars: bool = True) -> Callable[[Maker], Iterator[Call]]:
    def samples(make: Maker) -> Iterator[Call]:
        yield Call(tuple(make(*shape) for shape in shapes))
        yield Call(tuple(make(*shape) for shape in shapes), {"beta": 2, "alpha": 3})
        if make.is_float:
            yield Call(tuple(make(*shape) for shape in shapes), {"beta": 0.5, "alpha": -1.5})
        empty = tuple(tuple(0 if n == 5 else n for n in shape) for shape in shapes)
        yield Call(tuple(make(*shape) for shape in empty))

    return samples


def _plus(product: Callable[..., Any]) -> Callable[..., Any]:
    def call(x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
        return (beta * x + alpha * product(a, b)).astype(x.dtype)

    return call


def _matmuls(make: Maker) -> Iterator[Call]:
    for a, b in (
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((2, 1, 2, 3), (5, 3, 1)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((2, 3, 4), (4,)),
        ((1, 2, 1, 2, 3), (2, 1, 3, 3, 2)),
        ((7, 33), (33, 9)),
    ):
        yield call(make(*a), make(*b))


def _inners(make: Maker) -> Iterator[Call]:
    for a, b in (((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (3,)), ((), (2,))):
        yield call(make(*a), make(*b))


def _einsums(make: Maker) -> Iterator[Call]:
    for text, *shapes in (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("ij->ji", (2, 3)),
        ("ii", (3, 3)),
        ("ii->i", (3, 3)),
        ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
        ("i,j->ij", (2,), (3,)),
        ("ij->", (2, 3)),
        ("...i,...i->...", (2, 3, 4), (4,)),
        ("ij,jk,kl->il", (2, 3), (3, 2), (2, 4)),
        ("i,i", (3,), (3,)),
    ):
        yield Call((text, *(make(*shape) for shape in shapes)))


def _tensordots(make: Maker) -> Iterator[Call]:
    yield call(make(2, 3, 4), make(3, 4, 2))
    yield call(make(2, 3), make(3, 4), 1)
    yield call(make(2, 3), make(2, 3), ([0, 1], [0, 1]))
    yield call(make(2), make(3), dims=0)


def _tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    return np.tensordot(a, b, dims)


def _powers(make: Maker) -> Iterator[Call]:
    for n in (0, 1, 2, 3, 5):
        yield call(make(3, 3), n)
    yield call(make(2, 2, 2), 3)
    if make.numpy.kind in "fc":
        yield call(_regular(make, 3), -2)


def _regular(make: Maker, *shape: int) -> np.ndarray:
    """A matrix, or several, far from singular."""
    size = shape[-1]
    return (make(*shape, size, low=-1, high=1) + 3 * np.eye(size)).astype(make.numpy)


def _regulars(make: Maker) -> Iterator[Call]:
    for shape in ((3,), (1,), (2, 3), (0,)):
        yield call(_regular(make, *shape))


def _positive(make: Maker, size: int) -> np.ndarray:
    x = make(size, size, low=-1, high=1)
    return (x @ x.T.conj() + size * np.eye(size)).astype(make.numpy)


def _positives(make: Maker) -> Iterator[Call]:
    yield call(_positive(make, 3))
    yield call(np.stack([_positive(make, 2), _positive(make, 2)]))
    yield call(_positive(make, 3), upper=True)


def _cholesky(x: Any, upper: bool = False) -> Any:
    lower = np.linalg.cholesky(x)
    return np.swapaxes(lower, -1, -2).conj() if upper else lower


def _factors(make: Maker) -> Iterator[Call]:
    yield call(_cholesky(_positive(make, 3)).astype(make.numpy))
    yield call(_cholesky(_positive(make, 3), True).astype(make.numpy), upper=True)


def _cholesky_inverse(factor: Any, upper: bool = False) -> Any:
    return np.linalg.inv(factor.T.conj() @ factor if upper else factor @ factor.T.conj())


def _solved(make: Maker) -> Iterator[Call]:
    yield call(make(3, 2), _cholesky(_positive(make, 3)).astype(make.numpy))
    yield call(make(3, 1), _cholesky(_positive(make, 3), True).astype(make.numpy), upper=True)


def _cholesky_solve(b: Any, factor: Any, upper: bool = False) -> Any:
    return np.linalg.solve(factor.T.conj() @ factor if upper else factor @ factor.T.conj(), b)


def _slogdet(x: Any) -> Any:
    found = np.linalg.slogdet(x)
    return list(found)


def _traces(make: Maker) -> Iterator[Call]:
    for shape in ((3, 3), (2, 4), (0, 3)):
        yield call(make(*shape))


def _crosses(make: Maker) -> Iterator[Call]:
    yield call(make(3), make(3))
    yield call(make(2, 3), make(2, 3), 1)
    yield call(make(3, 2), make(3, 2), 0)


def _cross(a: Any, b: Any, dim: int = -1) -> Any:
    return np.cross(a, b, axis=dim)


def _cdists(make: Maker) -> Iterator[Call]:
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield call(make(4, 3), make(2, 3), p)
    yield call(make(0, 3), make(2, 3))


def _cdist(a: Any, b: Any, p: float = 2.0) -> Any:
    return np.linalg.norm(a[:, None] - b[None], p, axis=-1)


def _pdists(make: Maker) -> Iterator[Call]:
    for p in (2.0, 1.0, 3.0):
        yield call(make(4, 3), p)


def _cosine(a: Any, b: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    sizes = [np.maximum(np.linalg.norm(x, axis=dim), eps) for x in (a, b)]
    return np.sum(a * b, axis=dim) / (sizes[0] * sizes[1])


def _cosines(make: Maker) -> Iterator[Call]:
    yield call(make(3, 4), make(3, 4))
    yield call(make(3, 4), make(3, 4), dim=0)
    yield call(make(2, 3, 2), make(2, 3, 2), -1)


def _pairwise(a: Any, b: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    return np.linalg.norm(a - b + eps, p, axis=-1, keepdims=keepdim)


def _pairs(make: Maker) -> Iterator[Call]:
    yield call(make(3, 4), make(3, 4))
    yield call(make(3, 4), make(3, 4), 1.0, keepdim=True)
    yield call(make(4), make(4))


def _chain(*matrices: Any) -> Any:
    return np.linalg.multi_dot(matrices)


SQUARE = (*FLOATS, *COMPLEX)
ROWS = [
    _row("matmul", np.matmul, _matmuls, dtypes=(*NUMBERS, "float16", "bfloat16"), grad_dtypes=BOTH),
    _row("mm", np.matmul, several([(2, 3), (3, 4)], [(2, 0), (0, 3)], [(1, 1), (1, 1)])),
    _row("bmm", np.matmul, several([(2, 2, 3), (2, 3, 4)], [(0, 2, 3), (0, 3, 1)])),
    _row("mv", np.matmul, several([(2, 3), (3,)], [(2, 0), (0,)])),
    _row("dot", np.dot, several([(3,), (3,)], [(0,), (0,)])),
    _row("vdot", np.vdot, several([(3,), (3,)]), grad_dtypes=BOTH),
    _row("inner", np.inner, _inners),
    _row("outer", np.outer, several([(2,), (3,)], [(0,), (2,)]), aliases=("ger",)),
    _row("kron", np.kron, several([(2, 3), (2, 2)], [(2,), (3,)], [(2,), (2, 2)])),
    _row("addmm", _plus(np.matmul), _scaled((2, 4), (2, 5), (5, 4)), inplace=True),
    _row("addmv", _plus(np.matmul), _scaled((2,), (2, 5), (5,)), inplace=True),
    _row("addr", _plus(np.outer), _scaled((2, 3), (2,), (3,)), inplace=True),
    _row("baddbmm", _plus(np.matmul), _scaled((2, 3, 4), (2, 3, 5), (2, 5, 4)), inplace=True),
    _row(
        "addbmm",
        _plus(lambda a, b: np.matmul(a, b).sum(0)),
        _scaled((3, 4), (2, 3, 5), (2, 5, 4)),
        inplace=True,
    ),
    _row("einsum", np.einsum, _einsums, out=False, method=False),
    _row("tensordot", _tensordot, _tensordots, method=False),
    _row("chain_matmul", _chain, several([(2, 3), (3, 4), (4, 2)], [(2, 3), (3, 1)]), method=False),
    _row("matrix_power", np.linalg.matrix_power, _powers, dtypes=(*SQUARE,), room=32),
    _row(
        "matrix_exp",
        sl.expm,
        lambda make: [call(make(3, 3)), call(make(2, 2, 2))],
        dtypes=SQUARE,
        out=False,
        room=64,
        grad=1,
    ),
    _row("det", np.linalg.det, _regulars, dtypes=SQUARE, out=False, room=32),
    _row("logdet", lambda x: np.linalg.slogdet(x)[1], _regulars, dtypes=FLOATS, out=False, room=32),
    _row("slogdet", _slogdet, _regulars, dtypes=FLOATS, out=False, room=32, grad=1),
    _row("inverse", np.linalg.inv, _regulars, dtypes=SQUARE, room=32),
    _row(
        "pinverse",
        np.linalg.pinv,
        lambda make: [call(make(3, 2)), call(_regular(make, 2))],
        dtypes=FLOATS,
        out=False,
        room=64,
        grad=1,
    ),
    _row("cholesky", _cholesky, _positives, dtypes=SQUARE, room=32, grad=0),
    _row("cholesky_inverse", _cholesky_inverse, _factors, dtypes=SQUARE, room=64, grad=1),
    _row("cholesky_solve", _cholesky_solve, _solved, dtypes=SQUARE, room=64, grad=1),
    _row(
        "trace",
        np.trace,
        _traces,
        out=False,
        result=lambda call, dtype: dtype if dtype in SQUARE else "int64",
    ),
    _row("cross", _cross, _crosses),
    _row("cdist", _cdist, _cdists, dtypes=FLOATS, out=False, method=False, grad=1, room=32),
    _row(
        "pdist",
        lambda x, p=2.0: distance.pdist(x, "minkowski", p=p),
        _pdists,
        dtypes=FLOATS,
        out=False,
        method=False,
        grad=1,
        room=32,
    ),
    _row("cosine_similarity", _cosine, _cosines, dtypes=FLOATS, out=False, method=False),
    _row("pairwise_distance", _pairwise, _pairs, dtypes=FLOATS, out=False, method=False, grad=1),
]
