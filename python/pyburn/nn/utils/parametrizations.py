"""Ready-made parametrizations: unit norm with a magnitude, unit spectral norm, orthogonality."""

from __future__ import annotations

import functools
from typing import Any, Literal

from pyburn import _core, linalg
from pyburn._core import Tensor
from pyburn._creation import eye, zeros_like
from pyburn._dtypes import finfo
from pyburn._linear_algebra import geqrf, matrix_exp
from pyburn._movement import cat
from pyburn._random import randn
from pyburn.autograd import no_grad
from pyburn.nn._module import Module
from pyburn.nn.utils import parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

OrthogonalMap = Literal["matrix_exp", "cayley", "householder"]


def norm_except_dim(v: Tensor, dim: int | None) -> Tensor:
    """The norms of the slices along a dimension, or of the whole tensor."""
    if dim is None or dim == -1:
        return linalg.vector_norm(v)
    others = [each for each in range(v.ndim) if each != dim % v.ndim]
    return linalg.vector_norm(v, 2, others, True) if others else v.abs()


def _weight(module: Module, name: str, op: str) -> Tensor:
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{op}: Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


class _WeightNorm(Module):
    """``g v / |v|``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, magnitude: Tensor, direction: Tensor) -> Tensor:
        """The weight."""
        return direction * (magnitude / norm_except_dim(direction, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Magnitude and direction of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Learns the magnitude and the direction of a weight apart: ``w = g v / |v|``.

    The magnitudes are those along ``dim``, or one for the whole weight if it is ``None``; they are
    ``original0`` in a state dict, the direction is ``original1``. Entries ``weight_g`` and
    ``weight_v`` of older checkpoints are understood.

    Example:
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(20, 40))
        >>> layer.parametrizations.weight.original0.shape
        pyburn.Size([40, 1])
    """
    _weight(module, name, "weight_norm")
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(functools.partial(_rename, name))
    return module


def _rename(name: str, state_dict: dict[str, Any], prefix: str, *_rest: Any) -> None:
    """Gives the entries of an older checkpoint their new names."""
    old = f"{prefix}{name}_g", f"{prefix}{name}_v"
    if old[0] in state_dict and old[1] in state_dict:
        for at, key in enumerate(old):
            state_dict[f"{prefix}parametrizations.{name}.original{at}"] = state_dict.pop(key)


def _unit(vector: Tensor, eps: float) -> Tensor:
    return vector / linalg.vector_norm(vector).clamp(min=eps)


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iterations follow."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"spectral_norm: dimension out of range (expected to be in range of "
                f"[-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got n_power_iterations="
                f"{n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        # A vector has its norm as only singular value.
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._matrix(weight)
                rows, columns = matrix.shape
                kind, place = weight.dtype, weight.device
                self.register_buffer("_u", _unit(_drawn(rows, kind, place), eps))
                self.register_buffer("_v", _unit(_drawn(columns, kind, place), eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        """The weight with one row per output."""
        return weight.movedim(self.dim, 0).flatten(1) if weight.ndim > 2 or self.dim else weight

    @no_grad()
    def _iterate(self, matrix: Tensor, count: int) -> None:
        """Brings the vectors nearer to the singular ones."""
        for _ in range(count):
            # In place: what else holds the buffers goes on doing so.
            self._u.copy_(_unit(matrix @ self._v, self.eps))
            self._v.copy_(_unit(matrix.mH @ self._u, self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight with a largest singular value of one."""
        if weight.ndim == 1:
            return _unit(weight, self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # Copies: the next iteration must not change what this gradient reads.
        u, v = self._u.clone(), self._v.clone()
        return weight / (u.conj() * (matrix @ v)).sum()

    def right_inverse(self, value: Tensor) -> Tensor:
        """A weight as it is: its scale is lost anyway."""
        return value


def _drawn(size: int, kind: _core.dtype, place: _core.device) -> Tensor:
    return randn(size, dtype=kind, device=place)


def default_dim(module: Module) -> int:
    """The dimension of the outputs in a weight: transposed convolutions have them second."""
    bases = {base.__name__ for base in type(module).__mro__}
    transposed = bases & {"ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"}
    return 1 if transposed else 0


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by its largest singular value.

    Each call in training mode brings the estimate of that value nearer by ``n_power_iterations``
    steps. ``dim`` is the dimension of the outputs.

    Example:
        >>> layer = nn.utils.parametrizations.spectral_norm(nn.Linear(20, 40))
        >>> for _ in range(50):
        ...     weight = layer.weight
        >>> abs(pyburn.linalg.matrix_norm(weight, 2).item() - 1) < 1e-3
        True
    """
    weight = _weight(module, name, "spectral_norm")
    dim = default_dim(module) if dim is None else dim
    scale = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, scale)


def _is_orthogonal(q: Tensor) -> bool:
    rows, columns = q.shape[-2:]
    identity = eye(columns, dtype=q.dtype, device=q.device)
    return bool((q.mH @ q).allclose(identity, atol=10 * rows * finfo(q.dtype).eps))


def _made_orthogonal(a: Tensor) -> Tensor:
    """An orthogonal matrix whose columns span what those of ``a`` do."""
    packed, tau = geqrf(a)
    q = linalg.householder_product(packed, tau)
    # The factor of a QR decomposition whose other factor has a positive diagonal.
    return q * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows if there are fewer of them."""

    base: Tensor | None

    def __init__(
        self, weight: Tensor, orthogonal_map: OrthogonalMap, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = tuple(weight.shape)
        self.orthogonal_map: OrthogonalMap = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        """The orthogonal matrix of an arbitrary one."""
        wide = x.shape[-2] < x.shape[-1]
        if wide:
            x = x.mT
        rows, columns = x.shape[-2:]
        if self.orthogonal_map == "householder":
            packed = x.tril(-1)
            tau = 2.0 / (1.0 + (packed * packed).sum(-2))
            q = linalg.householder_product(packed, tau)
            # The diagonal is ±1 and not learned.
            signs = x.diagonal(dim1=-2, dim2=-1).detach().to(_core.dtype("int64")).to(x.dtype)
            q = q * signs.unsqueeze(-2)
        else:
            lower = x.tril()
            if rows != columns:
                rest = lower.new_zeros((*lower.shape[:-2], rows, rows - columns))
                lower = cat([lower, rest], -1)
            skew = lower - lower.mH
            if self.orthogonal_map == "matrix_exp":
                q = matrix_exp(skew)
            else:
                identity = eye(rows, dtype=skew.dtype, device=skew.device)
                q = linalg.solve(identity - 0.5 * skew, identity + 0.5 * skew)
            if rows != columns:
                q = q[..., :columns]
        base = self.base if self.use_trivialization else None
        if base is not None:
            q = base @ q
        return q.mT if wide else q

    @no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        """What a matrix is computed from; the nearest orthogonal one is taken if it is not."""
        if tuple(q.shape) != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {list(self.shape)}. Got a tensor "
                f"of shape {list(q.shape)}."
            )
        given = q
        wide = q.shape[-2] < q.shape[-1]
        if wide:
            q = q.mT
        rows, columns = q.shape[-2:]
        if not self.use_trivialization:
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "orthogonal: it is not possible to assign to the matrix exponential or the "
                    "Cayley parametrizations when use_trivialization=False"
                )
            packed, tau = geqrf(q)
            diagonal = packed.diagonal(dim1=-2, dim2=-1).sign()
            # LAPACK marks a column without a reflection by a zero.
            diagonal = diagonal * (1 - 2 * (tau == 0).to(diagonal.dtype))
            packed.diagonal(dim1=-2, dim2=-1).copy_(diagonal)
            return packed.mT if wide else packed
        if rows != columns:
            # The columns are completed to a basis.
            free = randn(*q.shape[:-2], rows, rows - columns, dtype=q.dtype, device=q.device)
            self.base = _made_orthogonal(cat([q, free], -1))
        elif _is_orthogonal(q):
            self.base = q.clone()
        else:
            self.base = _made_orthogonal(q)
        # The base is reached from minus one on the diagonal, where no map has a zero gradient.
        return zeros_like(given) - eye(*given.shape[-2:], dtype=q.dtype, device=q.device)


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: OrthogonalMap | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keeps a matrix, or each of a batch, orthogonal: ``QᵀQ = 1``, or ``QQᵀ = 1`` if it is wide.

    Args:
        orthogonal_map: ``matrix_exp`` (square matrices by default), ``cayley`` or ``householder``
            (others by default).
        use_trivialization: learn the difference to the matrix that was assigned last, which trains
            better and takes the memory of one more matrix.

    Example:
        >>> layer = nn.utils.parametrizations.orthogonal(nn.Linear(3, 3))
        >>> (layer.weight @ layer.weight.T).allclose(pyburn.eye(3), atol=1e-5)
        True
    """
    weight = _weight(module, name, "orthogonal")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: '
            f"{orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
