"""Types of the native module. Written by tools/gen_stubs.py: change that, not this."""

import builtins
from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType, ModuleType
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

from numpy import generic
from numpy.typing import NDArray
from typing_extensions import CapsuleType, Self

from pyburn import return_types
from pyburn._dtypes import DeviceLike, DTypeLike, Number, memory_format
from pyburn._dtypes import layout as _layout
from pyburn._random import Distribution
from pyburn._reduction._folds import Dims
from pyburn._size import Size
from pyburn.return_types import frexp as _frexp

Index: TypeAlias = (
    SupportsIndex | slice | EllipsisType | Tensor | NDArray[Any] | Sequence[Any] | None
)
Operand: TypeAlias = Tensor | Number | NDArray[Any] | generic
_dtype: TypeAlias = dtype
_device: TypeAlias = device
__version__: str
UNARY: list[str]

class DeviceError(RuntimeError):
    """A device is missing, has no driver or was lost."""

class Generator:
    """A source of random numbers; the Python package's ``Generator`` holds one."""
    def __new__(cls, device: DeviceLike) -> Self: ...
    @property
    def device(self) -> _device:
        """The device it was made for."""

    def get_state(self) -> bytes:
        """Everything needed to continue from here."""

    def initial_seed(self) -> builtins.int:
        """The seed of the sequence it is in."""

    def manual_seed(self, seed: builtins.int) -> None:
        """Moves to the start of a seed's sequence."""

    def seed(self) -> builtins.int:
        """Seeds from the operating system and gives the new seed."""

    def set_state(self, state: bytes) -> None:
        """Continues from where a state was taken."""

class HostMemory:
    """Host memory as NumPy sees it: ``numpy.asarray`` of this shares the memory and keeps it alive."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

class LinAlgError(RuntimeError):
    """A matrix lacks what an algorithm needs: it is singular, not positive definite, ..."""

class Node:
    """A step of the tape."""
    def __repr__(self) -> str: ...
    def _leaves(self) -> list[Tensor]:
        """The leaves this step depends on."""

    def name(self) -> str:
        """The name of the operation's gradient."""

    @property
    def next_functions(self) -> tuple[tuple[Node | None, builtins.int], ...]:
        """The steps the inputs came out of, with the number of their output."""
    @property
    def variable(self) -> Tensor | None:
        """The leaf whose gradient this step keeps."""

class OutOfMemoryError(RuntimeError):
    """A device, or the host, has no memory left."""

class RemovableHandle:
    """A registered hook; ``remove()`` takes it away again."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: Any) -> None: ...
    def remove(self) -> None:
        """Removes the hook."""

class Slots:
    """The parameters of a group that have gradients, with their state."""

class Tensor:
    """A multi-dimensional array of one element type on one device, with a history for gradients."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Operand, /) -> Tensor: ...
    def __and__(self, other: Operand, /) -> Tensor: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> NDArray[Any]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType: ...

    __array_priority__: builtins.int

    def __bool__(self) -> builtins.bool: ...
    def __buffer__(self, flags: builtins.int, /) -> memoryview: ...
    @classmethod
    def __class_getitem__(cls, item: Any, /) -> builtins.type[Self]: ...
    def __complex__(self) -> builtins.complex: ...
    def __contains__(self, element: Any, /) -> builtins.bool: ...
    def __copy__(self) -> Tensor: ...
    def __deepcopy__(self, memo: dict[builtins.int, Any]) -> Tensor: ...
    def __div__(self, other: Operand, /) -> Tensor: ...
    def __dlpack__(
        self,
        *,
        stream: builtins.int | None = None,
        max_version: tuple[builtins.int, builtins.int] | None = None,
        dl_device: tuple[builtins.int, builtins.int] | None = None,
        copy: builtins.bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...
    def __eq__(self, other: Operand | None, /) -> Tensor: ...  # type: ignore[override]
    def __float__(self) -> builtins.float: ...
    def __floordiv__(self, other: Operand, /) -> Tensor: ...
    def __format__(self, spec: str) -> str: ...
    def __ge__(self, other: Operand | None, /) -> Tensor: ...
    def __getitem__(self, index: Index, /) -> Tensor: ...
    def __gt__(self, other: Operand | None, /) -> Tensor: ...
    def __hash__(self) -> builtins.int: ...
    def __iadd__(self, other: Operand, /) -> Self: ...
    def __iand__(self, other: Operand, /) -> Self: ...
    def __idiv__(self, other: Operand, /) -> Self: ...
    def __ifloordiv__(self, other: Operand, /) -> Self: ...
    def __ilshift__(self, other: Operand, /) -> Self: ...
    def __imod__(self, other: Operand, /) -> Self: ...
    def __imul__(self, other: Operand, /) -> Self: ...
    def __index__(self) -> builtins.int: ...
    def __int__(self) -> builtins.int: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Operand, /) -> Self: ...
    def __ipow__(self, other: Operand, /) -> Self: ...
    def __irshift__(self, other: Operand, /) -> Self: ...
    def __isub__(self, other: Operand, /) -> Self: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __itruediv__(self, other: Operand, /) -> Self: ...
    def __ixor__(self, other: Operand, /) -> Self: ...
    def __le__(self, other: Operand | None, /) -> Tensor: ...
    def __len__(self) -> builtins.int: ...
    def __lshift__(self, other: Operand, /) -> Tensor: ...
    def __lt__(self, other: Operand | None, /) -> Tensor: ...
    def __matmul__(self, other: Operand, /) -> Tensor: ...
    def __mod__(self, other: Operand, /) -> Tensor: ...
    def __mul__(self, other: Operand, /) -> Tensor: ...
    def __ne__(self, other: Operand | None, /) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __new__(
        cls,
        *data: Any,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
    ) -> Self: ...
    def __or__(self, other: Operand, /) -> Tensor: ...
    def __pos__(self) -> Self: ...
    def __pow__(self, other: Operand, /) -> Tensor: ...
    def __radd__(self, other: Operand, /) -> Tensor: ...
    def __rand__(self, other: Operand, /) -> Tensor: ...
    def __rdiv__(self, other: Operand, /) -> Tensor: ...
    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]: ...
    def __repr__(self) -> str: ...
    def __reversed__(self) -> Tensor: ...
    def __rfloordiv__(self, other: Operand, /) -> Tensor: ...
    def __rlshift__(self, other: Operand, /) -> Tensor: ...
    def __rmod__(self, other: Operand, /) -> Tensor: ...
    def __rmul__(self, other: Operand, /) -> Tensor: ...
    def __ror__(self, other: Operand, /) -> Tensor: ...
    def __rpow__(self, other: Operand, /) -> Tensor: ...
    def __rrshift__(self, other: Operand, /) -> Tensor: ...
    def __rshift__(self, other: Operand, /) -> Tensor: ...
    def __rsub__(self, other: Operand, /) -> Tensor: ...
    def __rtruediv__(self, other: Operand, /) -> Tensor: ...
    def __rxor__(self, other: Operand, /) -> Tensor: ...
    def __setitem__(self, index: Index, value: Operand | Sequence[Any], /) -> None: ...
    def __str__(self) -> str: ...
    def __sub__(self, other: Operand, /) -> Tensor: ...
    def __truediv__(self, other: Operand, /) -> Tensor: ...
    def __xor__(self, other: Operand, /) -> Tensor: ...
    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix."""

    @property
    def T(self) -> Tensor:
        """All dimensions in reverse order."""

    @property
    def _base(self) -> Tensor | None:
        """The tensor whose memory this one looks at, or ``None``."""

    def _is_same(self, other: Tensor) -> builtins.bool:
        """Whether two handles are the same tensor."""

    def _is_view(self) -> builtins.bool:
        """Whether this tensor looks at another one's memory."""

    @property
    def _resizable(self) -> builtins.bool:
        """Whether an output of another size may replace the memory: not if somebody else owns it."""

    def _shares_storage(self, other: Tensor) -> builtins.bool:
        """Whether two tensors look at the same storage."""

    @property
    def _version(self) -> builtins.int:
        """How often the memory was written in place."""

    def abs(self) -> Tensor:
        """The absolute value of each element."""

    def abs_(self) -> Self:
        """The absolute value of each element. In place."""

    def absolute(self) -> Tensor:
        """The absolute value of each element."""

    def absolute_(self) -> Self:
        """The absolute value of each element. In place."""

    def acos(self) -> Tensor:
        """The arc cosine of each element."""

    def acos_(self) -> Self:
        """The arc cosine of each element. In place."""

    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element."""

    def acosh_(self) -> Self:
        """The inverse hyperbolic cosine of each element. In place."""

    def add(
        self, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """``input + alpha * other``."""

    def add_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`pyburn.add`."""

    def addbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Number = 1,
        alpha: Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """``beta * input + alpha * (batch1 @ batch2).sum(0)``."""

    def addbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Self:
        """In-place version of :func:`pyburn.addbmm`."""

    def addcdiv(
        self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """``input + value * tensor1 / tensor2``."""

    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """In-place version of :func:`pyburn.addcdiv`."""

    def addcmul(
        self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """``input + value * tensor1 * tensor2``."""

    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """In-place version of :func:`pyburn.addcmul`."""

    def addmm(
        self,
        mat1: Tensor,
        mat2: Tensor,
        *,
        beta: Number = 1,
        alpha: Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """``beta * input + alpha * (mat1 @ mat2)``; with ``beta=0`` what ``input`` holds is ignored."""

    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In-place version of :func:`pyburn.addmm`."""

    def addmv(
        self,
        mat: Tensor,
        vec: Tensor,
        *,
        beta: Number = 1,
        alpha: Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """``beta * input + alpha * (mat @ vec)``."""

    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In-place version of :func:`pyburn.addmv`."""

    def addr(
        self,
        vec1: Tensor,
        vec2: Tensor,
        *,
        beta: Number = 1,
        alpha: Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """``beta * input + alpha * outer(vec1, vec2)``."""

    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """In-place version of :func:`pyburn.addr`."""

    def adjoint(self) -> Tensor:
        """The conjugate of the last two dimensions swapped."""

    def all(
        self, dim: Dims = None, keepdim: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether no element is zero."""

    def allclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool:
        """Whether all elements are close, as :func:`isclose` has it."""

    def amax(
        self, dim: Dims = ..., keepdim: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The largest elements over dimensions; equal ones share the gradient."""

    def amin(
        self, dim: Dims = ..., keepdim: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The smallest elements over dimensions; equal ones share the gradient."""

    def aminmax(
        self,
        *,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.aminmax:
        """The smallest and the largest element, of all or along a dimension."""

    def angle(self, *, out: Tensor | None = None) -> Tensor:
        """The angle of complex numbers; 0 or pi for real ones."""

    def any(
        self, dim: Dims = None, keepdim: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """Whether any element is not zero."""

    def apply_(self, callable: Callable[[Any], Number]) -> Self:
        """Replaces each element by what a function of Python makes of it; slow, on the CPU only."""

    def arccos(self) -> Tensor:
        """The arc cosine of each element."""

    def arccos_(self) -> Self:
        """The arc cosine of each element. In place."""

    def arccosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element."""

    def arccosh_(self) -> Self:
        """The inverse hyperbolic cosine of each element. In place."""

    def arcsin(self) -> Tensor:
        """The arc sine of each element."""

    def arcsin_(self) -> Self:
        """The arc sine of each element. In place."""

    def arcsinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""

    def arcsinh_(self) -> Self:
        """The inverse hyperbolic sine of each element. In place."""

    def arctan(self) -> Tensor:
        """The arc tangent of each element."""

    def arctan2(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point (other, input)."""

    def arctan2_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.atan2`."""

    def arctan_(self) -> Self:
        """The arc tangent of each element. In place."""

    def arctanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""

    def arctanh_(self) -> Self:
        """The inverse hyperbolic tangent of each element. In place."""

    def argmax(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Where the largest element stands."""

    def argmin(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Where the smallest element stands."""

    def argsort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Where the elements stand in order along a dimension."""

    def argwhere(self) -> Tensor:
        """Where elements are not zero, a row each."""

    def as_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """A view of any geometry over the tensor's memory."""

    def as_strided_(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Self:
        """In-place version of :func:`pyburn.as_strided`."""

    def as_strided_scatter(
        self,
        src: Tensor,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> Tensor:
        """A copy in which a view of any geometry shows ``src``."""

    def asin(self) -> Tensor:
        """The arc sine of each element."""

    def asin_(self) -> Self:
        """The arc sine of each element. In place."""

    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""

    def asinh_(self) -> Self:
        """The inverse hyperbolic sine of each element. In place."""

    def atan(self) -> Tensor:
        """The arc tangent of each element."""

    def atan2(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The angle of the point (other, input)."""

    def atan2_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.atan2`."""

    def atan_(self) -> Self:
        """The arc tangent of each element. In place."""

    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""

    def atanh_(self) -> Self:
        """The inverse hyperbolic tangent of each element. In place."""

    @property
    def backend(self) -> str:
        """The name of the backend, ``ndarray`` for the CPU."""

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Computes gradients of this tensor with respect to the leaves it depends on and adds them to the leaves' ``grad``."""
    def baddbmm(
        self,
        batch1: Tensor,
        batch2: Tensor,
        *,
        beta: Number = 1,
        alpha: Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """``beta * input + alpha * (batch1 @ batch2)`` for batches of matrices."""

    def baddbmm_(
        self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
    ) -> Self:
        """In-place version of :func:`pyburn.baddbmm`."""

    def bernoulli(
        self,
        p: builtins.float | None = None,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Ones and zeros, one with the probability each element, or ``p``, says."""

    def bernoulli_(
        self, p: Tensor | builtins.float = 0.5, *, generator: Generator | None = None
    ) -> Self:
        """Fills with ones of probability ``p`` and zeros."""

    def bfloat16(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.bfloat16``."""

    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """How often each of 0, 1, 2, ... occurs, or the sum of its weights."""

    def bitwise_and(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Bits set in both."""

    def bitwise_and_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.bitwise_and`."""

    def bitwise_left_shift(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Bits moved up by other places."""

    def bitwise_left_shift_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.bitwise_left_shift`."""

    def bitwise_not(self) -> Tensor:
        """Every bit turned; the logical not of bools."""

    def bitwise_not_(self) -> Self:
        """Every bit turned; the logical not of bools. In place."""

    def bitwise_or(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Bits set in either."""

    def bitwise_or_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.bitwise_or`."""

    def bitwise_right_shift(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Bits moved down by other places."""

    def bitwise_right_shift_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.bitwise_right_shift`."""

    def bitwise_xor(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Bits set in one of both."""

    def bitwise_xor_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.bitwise_xor`."""

    def bmm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The products of the matrices of two batches."""

    def bool(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.bool``."""

    def broadcast_to(self, size: Sequence[builtins.int]) -> Tensor:
        """A view in a larger shape, dimensions of size one repeated."""

    def byte(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.uint8``."""

    def cauchy_(
        self,
        median: builtins.float = 0,
        sigma: builtins.float = 1,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fills with numbers from the Cauchy distribution."""

    def cdouble(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.complex128``."""

    def ceil(self) -> Tensor:
        """The smallest integer not below each element."""

    def ceil_(self) -> Self:
        """The smallest integer not below each element. In place."""

    def cfloat(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.complex64``."""

    def char(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.int8``."""

    def cholesky(self, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
        """The triangular factor of positive-definite matrices, see :func:`pyburn.linalg.cholesky`."""

    def cholesky_inverse(
        self, upper: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The inverse of the matrix whose Cholesky factor is ``L``."""

    def cholesky_solve(
        self, L: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """The solution of ``A X = B`` by the Cholesky factor ``L`` of ``A``."""

    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` views of equal size along a dimension."""

    def clamp(
        self,
        min: Tensor | Number | None = None,
        max: Tensor | Number | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Elements held between bounds."""

    def clamp_(
        self, min: Tensor | Number | None = None, max: Tensor | Number | None = None
    ) -> Self:
        """In-place version of :func:`pyburn.clamp`."""

    def clamp_max(self, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Elements, at most ``max``."""

    def clamp_max_(self, max: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.clamp_max`."""

    def clamp_min(self, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Elements, at least ``min``."""

    def clamp_min_(self, min: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.clamp_min`."""

    def clip(
        self,
        min: Tensor | Number | None = None,
        max: Tensor | Number | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Elements held between bounds."""

    def clip_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Self:
        """In-place version of :func:`pyburn.clamp`."""

    def clone(self, *, memory_format: memory_format | None = None) -> Tensor:
        """A copy in fresh memory, through which gradients flow."""
    def combinations(self, r: builtins.int = 2, with_replacement: builtins.bool = False) -> Tensor:
        """All choices of ``r`` elements of a vector, one per row."""

    def conj(self) -> Tensor:
        """The complex conjugate; of real tensors the tensor itself."""

    def conj_physical(self, *, out: Tensor | None = None) -> Tensor:
        """The complex conjugate in memory of its own."""

    def conj_physical_(self) -> Self:
        """In-place version of :func:`pyburn.conj_physical`."""

    def contiguous(self, *, memory_format: memory_format | None = None) -> Tensor:
        """A row-major tensor: itself where it is one."""
    def copy_(self, src: Tensor, non_blocking: builtins.bool = False) -> Self:
        """Writes ``src``, converted and broadcast, over the elements."""

    def copysign(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The magnitude of one with the sign of the other."""

    def copysign_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.copysign`."""

    def corrcoef(self) -> Tensor:
        """The correlation matrix of variables in rows."""

    def cos(self) -> Tensor:
        """The cosine of each element, in radians."""

    def cos_(self) -> Self:
        """The cosine of each element, in radians. In place."""

    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""

    def cosh_(self) -> Self:
        """The hyperbolic cosine of each element. In place."""

    def count_nonzero(self, dim: Dims = None) -> Tensor:
        """How many elements are not zero."""

    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: Tensor | None = None,
        aweights: Tensor | None = None,
    ) -> Tensor:
        """The covariance matrix of variables in rows."""

    def cpu(self, memory_format: memory_format = ...) -> Tensor:
        """The elements in host memory."""

    def cross(
        self, other: Tensor, dim: builtins.int | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """The vector product along a dimension; along the first one of size three if none is named."""

    def cuda(
        self,
        device: DeviceLike | None = None,
        non_blocking: builtins.bool = False,
        memory_format: memory_format = ...,
    ) -> Tensor:
        """The elements on a CUDA device."""

    def cummax(
        self, dim: builtins.int, *, out: tuple[Tensor, Tensor] | None = None
    ) -> return_types.cummax:
        """The largest element up to each along a dimension, and where it stands."""

    def cummin(
        self, dim: builtins.int, *, out: tuple[Tensor, Tensor] | None = None
    ) -> return_types.cummin:
        """The smallest element up to each along a dimension, and where it stands."""

    def cumprod(
        self, dim: builtins.int, *, dtype: DTypeLike | None = None, out: Tensor | None = None
    ) -> Tensor:
        """The products of the elements up to each along a dimension."""

    def cumprod_(self, dim: builtins.int, *, dtype: DTypeLike | None = None) -> Self:
        """In-place version of :func:`pyburn.cumprod`."""

    def cumsum(
        self, dim: builtins.int, *, dtype: DTypeLike | None = None, out: Tensor | None = None
    ) -> Tensor:
        """The sums of the elements up to each along a dimension."""

    def cumsum_(self, dim: builtins.int, *, dtype: DTypeLike | None = None) -> Self:
        """In-place version of :func:`pyburn.cumsum`."""

    @property
    def data(self) -> Tensor:
        """The elements without the history: another tensor over the same memory."""
    @data.setter
    def data(self, value: Tensor) -> None: ...
    def data_ptr(self) -> builtins.int:
        """Address of the first element, for tensors in host memory."""

    def deg2rad(self) -> Tensor:
        """Degrees as radians."""

    def deg2rad_(self) -> Self:
        """Degrees as radians. In place."""

    def det(self) -> Tensor:
        """The determinant of every matrix."""

    def detach(self) -> Tensor:
        """Another tensor over the same memory, without a history."""

    def detach_(self) -> Self:
        """Cuts this tensor off its history."""

    @property
    def device(self) -> _device:
        """The device the elements are on."""

    def diag(self, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
        """A matrix with a vector on its diagonal, or the diagonal of a matrix."""

    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> Tensor:
        """Matrices with the last dimension on their diagonals."""

    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """A matrix with all elements on its diagonal."""

    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """A view of a diagonal of two dimensions, put last."""

    def diagonal_scatter(
        self, src: Tensor, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> Tensor:
        """A copy in which a diagonal is ``src``."""

    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: Tensor | None = None,
        append: Tensor | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Differences of neighbours along a dimension, ``n`` times."""

    def digamma(self) -> Tensor:
        """The derivative of lgamma."""

    def digamma_(self) -> Self:
        """The derivative of lgamma. In place."""

    def dim(self) -> builtins.int:
        """Number of dimensions."""

    def dim_order(self) -> tuple[builtins.int, ...]:
        """The dimensions in the order in which they lie in memory, the outermost first."""

    def dist(self, other: Tensor, p: builtins.float = 2) -> Tensor:
        """The norm of the difference of two tensors."""

    def div(
        self, other: Tensor | Number, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """``input / other``, exact or rounded towards zero (``"trunc"``) or down (``"floor"``)."""

    def div_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Self:
        """In-place version of :func:`pyburn.div`."""

    def divide(
        self, other: Tensor | Number, *, rounding_mode: str | None = None, out: Tensor | None = None
    ) -> Tensor:
        """``input / other``, exact or rounded towards zero (``"trunc"``) or down (``"floor"``)."""

    def divide_(self, other: Tensor | Number, *, rounding_mode: str | None = None) -> Self:
        """In-place version of :func:`pyburn.div`."""

    def dot(self, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The sum of the products of two vectors."""

    def double(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.float64``."""

    def dsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[Tensor, ...]:
        """Views one behind the other: cut along the third dimension."""

    @property
    def dtype(self) -> _dtype:
        """The element type."""

    def element_size(self) -> builtins.int:
        """Bytes per element."""

    def eq(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where elements are equal."""

    def eq_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.eq`."""

    def equal(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape and elements."""

    def erf(self) -> Tensor:
        """The error function of each element."""

    def erf_(self) -> Self:
        """The error function of each element. In place."""

    def erfc(self) -> Tensor:
        """One minus the error function."""

    def erfc_(self) -> Self:
        """One minus the error function. In place."""

    def erfinv(self) -> Tensor:
        """The inverse of the error function."""

    def erfinv_(self) -> Self:
        """The inverse of the error function. In place."""

    def exp(self) -> Tensor:
        """The exponential of each element."""

    def exp2(self) -> Tensor:
        """Two to the power of each element."""

    def exp2_(self) -> Self:
        """Two to the power of each element. In place."""

    def exp_(self) -> Self:
        """The exponential of each element. In place."""

    def expand(
        self, *sizes: builtins.int | Sequence[builtins.int], implicit: builtins.bool = False
    ) -> Tensor:
        """Dimensions of size one repeated without a copy; -1 keeps a size."""
    def expand_as(self, other: Tensor) -> Tensor:
        """A view in another tensor's shape."""

    def expm1(self) -> Tensor:
        """The exponential minus one, precise near zero."""

    def expm1_(self) -> Self:
        """The exponential minus one, precise near zero. In place."""

    def exponential_(
        self, lambd: builtins.float = 1, *, generator: Generator | None = None
    ) -> Self:
        """Fills with waiting times at the rate ``lambd``."""

    def fill_(self, value: Tensor | Number) -> Self:
        """Sets all elements to one value."""

    def fill_diagonal_(self, fill_value: Number, wrap: builtins.bool = False) -> Self:
        """Sets the elements of the main diagonal to one value."""

    def fix(self) -> Tensor:
        """Each element cut towards zero."""

    def fix_(self) -> Self:
        """Each element cut towards zero. In place."""

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        """Several dimensions merged into one."""

    def flip(
        self,
        *args: builtins.int | Sequence[builtins.int],
        dims: Sequence[builtins.int] | None = None,
    ) -> Tensor:
        """Dimensions read backwards."""

    def fliplr(self) -> Tensor:
        """The second dimension read backwards."""

    def flipud(self) -> Tensor:
        """The first dimension read backwards."""

    def float(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.float32``."""

    def float_power(self, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """A power computed in 64 bits."""

    def float_power_(self, exponent: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.float_power`, of 64-bit tensors."""

    def floor(self) -> Tensor:
        """The largest integer not above each element."""

    def floor_(self) -> Self:
        """The largest integer not above each element. In place."""

    def floor_divide(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The quotient rounded down."""

    def floor_divide_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.floor_divide`."""

    def fmax(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The larger of two elements, NaN passed over."""

    def fmin(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two elements, NaN passed over."""

    def fmod(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The remainder, with the sign of the dividend."""

    def fmod_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.fmod`."""

    def frac(self) -> Tensor:
        """What cutting towards zero leaves."""

    def frac_(self) -> Self:
        """What cutting towards zero leaves. In place."""

    def frexp(self, *, out: tuple[Tensor, Tensor] | None = None) -> _frexp:
        """Mantissas in [0.5, 1) and exponents of two that make up each element."""

    def gather(
        self,
        dim: builtins.int,
        index: Tensor,
        *,
        sparse_grad: builtins.bool = False,
        out: Tensor | None = None,
    ) -> Tensor:
        """The elements at the places along a dimension that an index names."""

    def gcd(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The greatest common divisor."""

    def gcd_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.gcd`."""

    def ge(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is at least other."""

    def ge_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.ge`."""

    def geometric_(self, p: Number, *, generator: Generator | None = None) -> Self:
        """Fills with numbers of trials until the first success of probability ``p``."""

    def geqrf(self, *, out: tuple[Tensor, Tensor] | None = None) -> return_types.geqrf:
        """The reflections of a QR factorisation as LAPACK packs them, and their factors."""

    def ger(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Another name of :func:`outer`."""

    def get_device(self) -> builtins.int:
        """The number of the GPU the tensor lies on, -1 for host memory."""

    @property
    def grad(self) -> Tensor | None:
        """The gradient that ``backward()`` has kept, or ``None``."""
    @grad.setter
    def grad(self, value: Tensor | None) -> None: ...
    @property
    def grad_fn(self) -> Node | None:
        """The step of the tape this tensor came out of."""

    def greater(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is greater than other."""

    def greater_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.gt`."""

    def greater_equal(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is at least other."""

    def greater_equal_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.ge`."""

    def gt(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is greater than other."""

    def gt_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.gt`."""

    def half(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.float16``."""

    def hardshrink(self, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
        """Elements outside of ``[-lambd, lambd]``, zero in place of the others."""

    def heaviside(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The step function: other where input is zero."""

    def heaviside_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.heaviside`."""

    def histc(
        self,
        bins: builtins.int = 100,
        min: builtins.float = 0,
        max: builtins.float = 0,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """How many elements fall into each of equal bins."""

    def histogram(
        self,
        bins: builtins.int | Tensor,
        *,
        range: tuple[builtins.float, builtins.float] | None = None,
        weight: Tensor | None = None,
        density: builtins.bool = False,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.histogram:
        """How many elements fall into each bin, or the sum of their weights, and the bins' edges."""

    def hsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[Tensor, ...]:
        """Views side by side: cut along the second dimension, a vector along its only one."""

    def hypot(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The length of the hypotenuse over two legs."""

    def hypot_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.hypot`."""

    def i0(self) -> Tensor:
        """The modified Bessel function of order zero."""

    def i0_(self) -> Self:
        """The modified Bessel function of order zero. In place."""

    def igamma(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The regularized lower incomplete gamma function."""

    def igamma_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.igamma`."""

    def igammac(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The regularized upper incomplete gamma function."""

    def igammac_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.igammac`."""

    @property
    def imag(self) -> Tensor:
        """The imaginary parts."""
    @imag.setter
    def imag(self, value: Tensor | Number) -> None: ...
    def index_add(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        *,
        alpha: Number = 1,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with slices of ``source``, times ``alpha``, added where the index says."""

    def index_add_(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, alpha: Number = 1
    ) -> Self:
        """In-place version of :func:`pyburn.index_add`."""

    def index_copy(
        self, dim: builtins.int, index: Tensor, source: Tensor, *, out: Tensor | None = None
    ) -> Tensor:
        """A copy with slices of ``source`` placed where the index says."""

    def index_copy_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Self:
        """In-place version of :func:`pyburn.index_copy`."""

    def index_fill(self, dim: builtins.int, index: Tensor, value: Tensor | Number) -> Tensor:
        """A copy with one value in the slices that the index names."""

    def index_fill_(self, dim: builtins.int, index: Tensor, value: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.index_fill`."""

    def index_put(
        self, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool = False
    ) -> Tensor:
        """A copy with values placed, or added, where index tensors name elements."""

    def index_put_(
        self, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool = False
    ) -> Self:
        """In-place version of :func:`pyburn.index_put`."""

    def index_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with slices of ``source`` combined where the index says: ``prod``, ``mean``, ``amax`` or ``amin``."""

    def index_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        source: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Self:
        """In-place version of :func:`pyburn.index_reduce`."""

    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        """Whole slices along a dimension, by an index."""

    def inner(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Products summed over the last dimension of both tensors."""

    def int(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.int32``."""

    def inverse(self, *, out: Tensor | None = None) -> Tensor:
        """The inverse of every square matrix."""

    def is_complex(self) -> builtins.bool:
        """Whether the dtype is a complex type."""

    def is_conj(self) -> builtins.bool:
        """Whether a conjugate is still to be taken: never."""

    def is_contiguous(self, memory_format: memory_format | None = None) -> builtins.bool:
        """Whether elements lie in row-major order without gaps."""
    @property
    def is_cpu(self) -> builtins.bool:
        """In host memory."""

    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the tensor is on a CUDA device."""

    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a real floating-point type."""

    def is_inference(self) -> builtins.bool:
        """Whether the tensor may never take part in autograd: never, inference mode only records nothing."""

    @property
    def is_leaf(self) -> builtins.bool:
        """Whether the tensor was made by the user rather than by a recorded operation."""

    @property
    def is_meta(self) -> builtins.bool:
        """Whether the tensor has shape and dtype but no elements."""

    @property
    def is_mkldnn(self) -> builtins.bool:
        """In an opaque layout: never."""

    @property
    def is_mps(self) -> builtins.bool:
        """On a device that PyTorch calls mps; here it is wgpu."""

    def is_neg(self) -> builtins.bool:
        """Whether a negation is still to be done: never."""

    @property
    def is_nested(self) -> builtins.bool:
        """A list of tensors of different shapes: never."""

    def is_nonzero(self) -> builtins.bool:
        """Whether the only element is not zero."""

    def is_pinned(self) -> builtins.bool:
        """Whether the memory is locked for copies to a GPU: never."""

    @property
    def is_quantized(self) -> builtins.bool:
        """Stored as scaled integers: never."""

    def is_same_size(self, other: Tensor) -> builtins.bool:
        """Whether two tensors have the same shape."""

    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """Whether both show the very same memory in the same way."""

    def is_shared(self) -> builtins.bool:
        """Whether other processes see the memory: never."""

    def is_signed(self) -> builtins.bool:
        """Whether the dtype holds negative numbers."""

    @property
    def is_sparse(self) -> builtins.bool:
        """Stored as indices and values: never."""

    @property
    def is_sparse_csr(self) -> builtins.bool:
        """Stored as compressed rows: never."""

    @property
    def is_xla(self) -> builtins.bool:
        """On a device that PyTorch calls xla: never."""

    @property
    def is_xpu(self) -> builtins.bool:
        """On a device that PyTorch calls xpu: never."""

    def isclose(
        self,
        other: Tensor,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> Tensor:
        """Where ``|input - other| <= atol + rtol * |other|``."""

    def isfinite(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are finite."""

    def isinf(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are infinite."""

    def isnan(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are NaN."""

    def isneginf(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are negative infinity."""

    def isposinf(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are positive infinity."""

    def isreal(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are real numbers."""

    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> Tensor:
        """The signal whose spectra :func:`stft` gave, ``length`` elements of it if that is given."""

    def item(self) -> builtins.int | builtins.float:
        """The only element as a Python number."""
    @property
    def itemsize(self) -> builtins.int:
        """Bytes per element."""

    def kron(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The Kronecker product: ``other`` in place of each element of ``input``, times that."""

    def kthvalue(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        keepdim: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.kthvalue:
        """The ``k``-th smallest elements along a dimension, counted from one."""

    @property
    def layout(self) -> _layout:
        """How elements lie in memory: by strides."""

    def lcm(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The least common multiple."""

    def lcm_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.lcm`."""

    def ldexp(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """``input * 2 ** other``."""

    def ldexp_(self, other: Tensor) -> Self:
        """In-place version of :func:`pyburn.ldexp`."""

    def le(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is at most other."""

    def le_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.le`."""

    def lerp(self, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The point ``weight`` of the way from ``input`` to ``end``."""

    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.lerp`."""

    def less(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is less than other."""

    def less_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.lt`."""

    def less_equal(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is at most other."""

    def less_equal_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.le`."""

    def lgamma(self) -> Tensor:
        """The logarithm of the absolute value of the gamma function."""

    def lgamma_(self) -> Self:
        """The logarithm of the absolute value of the gamma function. In place."""

    def log(self) -> Tensor:
        """The natural logarithm of each element."""

    def log10(self) -> Tensor:
        """The logarithm to base ten."""

    def log10_(self) -> Self:
        """The logarithm to base ten. In place."""

    def log1p(self) -> Tensor:
        """The natural logarithm of one plus each element, precise near zero."""

    def log1p_(self) -> Self:
        """The natural logarithm of one plus each element, precise near zero. In place."""

    def log2(self) -> Tensor:
        """The logarithm to base two."""

    def log2_(self) -> Self:
        """The logarithm to base two. In place."""

    def log_(self) -> Self:
        """The natural logarithm of each element. In place."""

    def log_normal_(
        self,
        mean: builtins.float = 1,
        std: builtins.float = 2,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fills with numbers whose logarithm is normal."""

    def log_softmax(self, dim: builtins.int, dtype: DTypeLike | None = None) -> Tensor:
        """The logarithm of :func:`softmax`, without overflow."""

    def logaddexp(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """log(exp(input) + exp(other)), without overflow."""

    def logaddexp2(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """log2(2**input + 2**other), without overflow."""

    def logcumsumexp(self, dim: builtins.int, *, out: Tensor | None = None) -> Tensor:
        """The logarithms of the sums of the exponentials up to each element."""

    def logdet(self) -> Tensor:
        """The logarithm of the determinant of every matrix; NaN where it is negative."""

    def logical_and(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Where both are nonzero."""

    def logical_and_(self, other: Tensor) -> Self:
        """In-place version of :func:`pyburn.logical_and`."""

    def logical_not(self, *, out: Tensor | None = None) -> Tensor:
        """Where elements are zero."""

    def logical_not_(self) -> Self:
        """In-place version of :func:`pyburn.logical_not`."""

    def logical_or(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Where either is nonzero."""

    def logical_or_(self, other: Tensor) -> Self:
        """In-place version of :func:`pyburn.logical_or`."""

    def logical_xor(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Where one of both is nonzero."""

    def logical_xor_(self, other: Tensor) -> Self:
        """In-place version of :func:`pyburn.logical_xor`."""

    def logit(self, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
        """``log(x / (1 - x))`` of elements, first held between ``eps`` and ``1 - eps``."""

    def logit_(self, eps: builtins.float | None = None) -> Self:
        """In-place version of :func:`pyburn.logit`."""

    def logsumexp(
        self, dim: Dims, keepdim: builtins.bool = False, *, out: Tensor | None = None
    ) -> Tensor:
        """``log(sum(exp(x)))`` over dimensions, without overflow."""

    def long(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.int64``."""

    def lt(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where input is less than other."""

    def lt_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.lt`."""

    @overload
    def lu(
        self, pivot: builtins.bool = True, get_infos: Literal[False] = False
    ) -> return_types.linalg_lu_factor:
        """The packed factors ``LU`` and the row exchanges."""
    @overload
    def lu(
        self, pivot: builtins.bool = True, *, get_infos: Literal[True]
    ) -> return_types.linalg_lu_factor_ex: ...
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The solution of ``A X = b`` by the factors of ``A`` that :func:`lu` gave."""

    @property
    def mH(self) -> Tensor:
        """The conjugate of the last two dimensions swapped."""

    @property
    def mT(self) -> Tensor:
        """The last two dimensions swapped."""

    def map_(self, tensor: Tensor, callable: Callable[[Any, Any], Number]) -> Self:
        """Replaces each element by what a function of Python makes of it and of another's; slow, on the CPU only."""

    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """A copy with ``value`` where the mask holds."""

    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.masked_fill`."""

    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """A copy with the first elements of ``source`` where the mask holds."""

    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """In-place version of :func:`pyburn.masked_scatter`."""

    def masked_select(self, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The elements where the mask holds, in one dimension."""

    def matmul(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of vectors, matrices or batches of matrices, as NumPy's ``@``."""

    def matrix_exp(self) -> Tensor:
        """The exponential of every square matrix."""

    def matrix_power(self, n: builtins.int, *, out: Tensor | None = None) -> Tensor:
        """The ``n``-th power of every square matrix, of its inverse for negative ``n``."""

    @overload
    def max(self, *, out: Tensor | None = None) -> Tensor:
        """The largest element; along a dimension with where it stands; or the larger of two tensors."""
    @overload
    def max(
        self,
        dim: builtins.int,
        keepdim: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.max: ...
    @overload
    def max(self, dim: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def max(self, *, other: Tensor, out: Tensor | None = None) -> Tensor: ...
    def maximum(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The larger of two elements; NaN if either is."""

    def mean(
        self,
        dim: Dims = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The mean over dimensions."""

    @overload
    def median(self, *, out: Tensor | None = None) -> Tensor:
        """The lower median of all elements, or along a dimension with where it stands."""
    @overload
    def median(
        self,
        dim: builtins.int,
        keepdim: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.median: ...
    @overload
    def min(self, *, out: Tensor | None = None) -> Tensor:
        """The smallest element; along a dimension with where it stands; or the smaller of two tensors."""
    @overload
    def min(
        self,
        dim: builtins.int,
        keepdim: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.min: ...
    @overload
    def min(self, dim: Tensor, *, out: Tensor | None = None) -> Tensor: ...
    @overload
    def min(self, *, other: Tensor, out: Tensor | None = None) -> Tensor: ...
    def minimum(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The smaller of two elements; NaN if either is."""

    def mm(self, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of two matrices."""

    def mode(
        self,
        dim: builtins.int = -1,
        keepdim: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.mode:
        """The most frequent elements along a dimension."""

    def moveaxis(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
    ) -> Tensor:
        """Dimensions moved to other places, the others in order."""

    def movedim(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
    ) -> Tensor:
        """Dimensions moved to other places, the others in order."""

    def msort(self, *, out: Tensor | None = None) -> Tensor:
        """The elements in order along the first dimension."""

    def mul(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """``input * other``."""

    def mul_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.mul`."""

    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Generator | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """Places drawn from each row with the probabilities it holds."""

    def multiply(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """``input * other``."""

    def multiply_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.mul`."""

    def mv(self, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The product of a matrix and a vector."""

    def mvlgamma(self, p: builtins.int, *, out: Tensor | None = None) -> Tensor:
        """The logarithm of the multivariate gamma function of dimension ``p``."""

    def mvlgamma_(self, p: builtins.int) -> Self:
        """In-place version of :func:`pyburn.mvlgamma`."""

    @property
    def name(self) -> None:
        """A name nobody can give; kept for PyTorch's sake."""

    def nan_to_num(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """NaN and infinities replaced by numbers: zero and the largest ones if none are given."""

    def nan_to_num_(
        self,
        nan: builtins.float | None = None,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Self:
        """In-place version of :func:`pyburn.nan_to_num`."""

    def nanmean(
        self,
        dim: Dims = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The mean over dimensions of what is not NaN."""

    @overload
    def nanmedian(self, *, out: Tensor | None = None) -> Tensor:
        """The lower median of what is not NaN."""
    @overload
    def nanmedian(
        self,
        dim: builtins.int,
        keepdim: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.nanmedian: ...
    def nanquantile(
        self,
        q: builtins.float | Tensor,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
        out: Tensor | None = None,
    ) -> Tensor:
        """Quantiles of what is not NaN."""

    def nansum(
        self,
        dim: Dims = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The sum over dimensions of what is not NaN."""

    def narrow(
        self, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int
    ) -> Tensor:
        """``length`` positions of a dimension from ``start``, a view."""

    def narrow_copy(
        self, dim: builtins.int, start: builtins.int | Tensor, length: builtins.int
    ) -> Tensor:
        """A copy of what :func:`pyburn.narrow` shows."""

    @property
    def nbytes(self) -> builtins.int:
        """Bytes of all elements."""

    @property
    def ndim(self) -> builtins.int:
        """Number of dimensions."""

    def ndimension(self) -> builtins.int:
        """Number of dimensions."""

    def ne(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where elements differ."""

    def ne_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.ne`."""

    def neg(self) -> Tensor:
        """The negative of each element."""

    def neg_(self) -> Self:
        """The negative of each element. In place."""

    def negative(self) -> Tensor:
        """The negative of each element."""

    def negative_(self) -> Self:
        """The negative of each element. In place."""

    def nelement(self) -> builtins.int:
        """Number of elements."""

    def new(self, *args: Any) -> Tensor:
        """A tensor of the given sizes, or of the given data, with this one's dtype and device."""

    def new_empty(
        self,
        *args: builtins.int | Sequence[builtins.int],
        size: Sequence[builtins.int] | None = None,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        layout: _layout = ...,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """An unset tensor with this one's dtype and device."""

    def new_empty_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        dtype: DTypeLike | None = None,
        layout: _layout = ...,
        device: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
        *,
        backend: DeviceLike | None = None,
    ) -> Tensor:
        """An unset tensor of the given strides with this one's dtype and device."""

    def new_full(
        self,
        size: Sequence[builtins.int],
        fill_value: Number | Tensor,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        layout: _layout = ...,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Equal elements with this tensor's dtype and device."""

    def new_ones(
        self,
        *args: builtins.int | Sequence[builtins.int],
        size: Sequence[builtins.int] | None = None,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        layout: _layout = ...,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Ones with this tensor's dtype and device."""

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        layout: _layout = ...,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """A tensor of the given data with this one's dtype and device."""

    def new_zeros(
        self,
        *args: builtins.int | Sequence[builtins.int],
        size: Sequence[builtins.int] | None = None,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
        layout: _layout = ...,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Zeros with this tensor's dtype and device."""

    def nextafter(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The next float from input towards other."""

    def nextafter_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.nextafter`."""

    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor:
        """Where elements are not zero: a row each, or a tensor for each dimension."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    def nonzero_static(
        self, *, size: builtins.int, fill_value: builtins.int = -1, out: Tensor | None = None
    ) -> Tensor:
        """The first ``size`` rows of :func:`nonzero`, missing ones filled."""

    def norm(
        self,
        p: builtins.float | str | None = "fro",
        dim: Dims = None,
        keepdim: builtins.bool = False,
        out: Tensor | None = None,
        dtype: DTypeLike | None = None,
    ) -> Tensor:
        """The norm of all elements, or over dimensions."""

    def normal_(
        self,
        mean: builtins.float = 0,
        std: builtins.float = 1,
        *,
        generator: Generator | None = None,
    ) -> Self:
        """Fills with normal numbers."""

    def not_equal(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """Where elements differ."""

    def not_equal_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.ne`."""

    def numel(self) -> builtins.int:
        """Number of elements."""

    def numpy(self, *, force: builtins.bool = False) -> NDArray[Any]:
        """The elements as a NumPy array that shares the memory."""
    def orgqr(self, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
        """Another name of :func:`pyburn.linalg.householder_product`."""

    def ormqr(
        self,
        tau: Tensor,
        other: Tensor,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """The product of the whole ``Q`` of :func:`geqrf` and a matrix, from the ``left`` or the right."""

    def outer(self, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
        """All products of the elements of two vectors."""

    @property
    def output_nr(self) -> builtins.int:
        """Which output of its step this tensor is."""

    def permute(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Dimensions in another order."""
    def pinverse(self, rcond: builtins.float = 1e-15) -> Tensor:
        """The pseudo-inverse; singular values up to ``rcond`` times the largest count as zero."""

    def polygamma(self, n: builtins.int) -> Tensor:
        """The ``n``-th derivative of the digamma function."""

    def polygamma_(self, n: builtins.int) -> Self:
        """In-place version of :func:`pyburn.polygamma`."""

    def positive(self) -> Tensor:
        """The tensor itself, unless it holds bools."""

    def pow(self, exponent: Tensor | Number) -> Tensor:
        """Each element to a power."""

    def pow_(self, exponent: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.pow`."""

    def prelu(self, weight: Tensor) -> Tensor:
        """Elements where positive, elsewhere multiplied by the weight of their channel."""

    def prod(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The product over a dimension, or of all elements."""

    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """A copy with ``source`` at places of the flattened tensor, or added there."""

    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Self:
        """In-place version of :func:`pyburn.put`."""

    def qr(
        self, some: builtins.bool = True, *, out: tuple[Tensor, Tensor] | None = None
    ) -> return_types.qr:
        """``Q`` and ``R`` with ``input = Q R``, see :func:`pyburn.linalg.qr`."""

    def quantile(
        self,
        q: builtins.float | Tensor,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
        out: Tensor | None = None,
    ) -> Tensor:
        """Quantiles along a dimension, or of all elements."""

    def rad2deg(self) -> Tensor:
        """Radians as degrees."""

    def rad2deg_(self) -> Self:
        """Radians as degrees. In place."""

    @staticmethod
    def random(
        shape: Sequence[builtins.int],
        distribution: Distribution | None = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
        backend: DeviceLike | None = None,
        requires_grad: builtins.bool = False,
    ) -> Tensor:
        """A tensor drawn from a distribution."""

    def random_(
        self,
        *bounds: builtins.int,
        to: builtins.int | None = None,
        generator: Generator | None = None,
        **names: builtins.int,
    ) -> Self:
        """Fills with integers: ``random_()``, ``random_(to)`` or ``random_(from, to)``."""

    def ravel(self) -> Tensor:
        """All elements in one dimension."""

    @property
    def real(self) -> Tensor:
        """The real parts."""
    @real.setter
    def real(self, value: Tensor | Number) -> None: ...
    def reciprocal(self) -> Tensor:
        """One over each element."""

    def reciprocal_(self) -> Self:
        """One over each element. In place."""

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Calls ``hook(grad)`` whenever a gradient of this tensor is computed; a returned tensor replaces it."""
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Calls ``hook(tensor)`` after this leaf's gradient was accumulated."""
    def relu(self) -> Tensor:
        """Each element, or zero where it is negative."""

    def relu_(self) -> Self:
        """Each element, or zero where it is negative. In place."""

    def remainder(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """The remainder, with the sign of the divisor."""

    def remainder_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.remainder`."""

    def renorm(
        self,
        p: builtins.float,
        dim: builtins.int,
        maxnorm: builtins.float,
        *,
        out: Tensor | None = None,
    ) -> Tensor:
        """Slices along a dimension, those with a norm above ``maxnorm`` scaled down to it."""

    def renorm_(self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float) -> Self:
        """In-place version of :func:`pyburn.renorm`."""

    def repeat(self, *repeats: builtins.int | Sequence[builtins.int]) -> Tensor:
        """A copy with every dimension repeated so many times; leading ones may be new."""

    def repeat_interleave(
        self,
        repeats: builtins.int | Tensor | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> Tensor:
        """Each element repeated; alone, ``input`` says how often each position comes."""

    @property
    def requires_grad(self) -> builtins.bool:
        """Whether gradients flow to this tensor."""
    @requires_grad.setter
    def requires_grad(self, value: builtins.bool) -> None: ...
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Self:
        """Sets whether gradients flow to this tensor, and returns it."""

    def reshape(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor:
        """Another shape with the same elements: a view where possible, a copy elsewhere."""
    def reshape_as(self, other: Tensor) -> Tensor:
        """The same elements in another tensor's shape."""

    def resize_(
        self, *sizes: builtins.int | Sequence[builtins.int], memory_format: memory_format = ...
    ) -> Self:
        """Another shape with the first elements kept and new ones zero."""

    def resize_as_(self, the_template: Tensor, *, memory_format: memory_format = ...) -> Self:
        """Another tensor's shape with the first elements kept and new ones zero."""

    def resolve_conj(self) -> Tensor:
        """The tensor itself: conjugates are never delayed here."""

    def resolve_neg(self) -> Tensor:
        """The tensor itself: negation is never delayed here."""

    def retain_grad(self) -> None:
        """Asks ``backward()`` to keep this tensor's gradient although it is not a leaf."""

    @property
    def retains_grad(self) -> builtins.bool:
        """Whether a computed tensor's gradient is kept."""

    def roll(
        self,
        shifts: builtins.int | Sequence[builtins.int],
        dims: builtins.int | Sequence[builtins.int] | None = None,
    ) -> Tensor:
        """Elements moved on along dimensions, those pushed out coming in again at the start."""

    def rot90(self, k: builtins.int = 1, dims: Sequence[builtins.int] = ...) -> Tensor:
        """A plane of two dimensions turned by ``k`` quarters of a circle."""

    def round(self, *, decimals: builtins.int = 0, out: Tensor | None = None) -> Tensor:
        """Each element at the nearest integer, halves to the even one, or at some decimals."""

    def round_(self, *, decimals: builtins.int = 0) -> Self:
        """In-place version of :func:`pyburn.round`."""

    def rsqrt(self) -> Tensor:
        """One over the square root of each element."""

    def rsqrt_(self) -> Self:
        """One over the square root of each element. In place."""

    def scatter(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor | Number | None = None,
        *,
        value: Number | None = None,
        reduce: str | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with elements of ``src``, or one value, placed where the index says."""

    def scatter_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor | Number | None = None,
        *,
        value: Number | None = None,
        reduce: str | None = None,
    ) -> Self:
        """In-place version of :func:`pyburn.scatter`."""

    def scatter_add(
        self, dim: builtins.int, index: Tensor, src: Tensor, *, out: Tensor | None = None
    ) -> Tensor:
        """A copy with elements of ``src`` added where the index says."""

    def scatter_add_(self, dim: builtins.int, index: Tensor, src: Tensor) -> Self:
        """In-place version of :func:`pyburn.scatter_add`."""

    def scatter_reduce(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
        out: Tensor | None = None,
    ) -> Tensor:
        """A copy with elements of ``src`` combined where the index says: ``sum``, ``prod``, ``mean``, ``amax`` or ``amin``."""

    def scatter_reduce_(
        self,
        dim: builtins.int,
        index: Tensor,
        src: Tensor,
        reduce: str,
        *,
        include_self: builtins.bool = True,
    ) -> Self:
        """In-place version of :func:`pyburn.scatter_reduce`."""

    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        """A view of one position of a dimension, which disappears."""

    def select_scatter(self, src: Tensor, dim: builtins.int, index: builtins.int) -> Tensor:
        """A copy in which one position of a dimension is ``src``."""

    def set_(self, source: Tensor | None = None) -> Self:
        """Lets this tensor show another one's memory; without one, it becomes empty."""

    def sgn(self, *, out: Tensor | None = None) -> Tensor:
        """The sign of each element; of complex ones the number of length one in its direction."""

    def sgn_(self) -> Self:
        """In-place version of :func:`pyburn.sgn`."""

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
    def short(self, memory_format: memory_format = ...) -> Tensor:
        """The elements as ``pyburn.int16``."""

    def sigmoid(self) -> Tensor:
        """One over one plus the exponential of the negative."""

    def sigmoid_(self) -> Self:
        """One over one plus the exponential of the negative. In place."""

    def sign(self) -> Tensor:
        """-1, 0 or 1 by the sign of each element."""

    def sign_(self) -> Self:
        """-1, 0 or 1 by the sign of each element. In place."""

    def signbit(self, *, out: Tensor | None = None) -> Tensor:
        """Where the sign bit is set."""

    def sin(self) -> Tensor:
        """The sine of each element, in radians."""

    def sin_(self) -> Self:
        """The sine of each element, in radians. In place."""

    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x), one at zero."""

    def sinc_(self) -> Self:
        """sin(pi x) / (pi x), one at zero. In place."""

    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""

    def sinh_(self) -> Self:
        """The hyperbolic sine of each element. In place."""

    @overload
    def size(self, dim: None = None) -> Size:
        """The shape, or the size of one dimension."""
    @overload
    def size(self, dim: builtins.int) -> builtins.int: ...
    def slice_scatter(
        self,
        src: Tensor,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> Tensor:
        """A copy in which a slice of a dimension is ``src``."""

    def slogdet(self) -> return_types.slogdet:
        """The sign of every matrix's determinant and the logarithm of its absolute value."""

    def softmax(self, dim: builtins.int, dtype: DTypeLike | None = None) -> Tensor:
        """Exponentials along a dimension, divided by their sum."""

    def sort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.sort:
        """The elements in order along a dimension, and where they stood."""

    def split(
        self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Views of equal size along a dimension, or of the given sizes."""

    def split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Views of the given sizes along a dimension, which they fill."""

    def sqrt(self) -> Tensor:
        """The square root of each element."""

    def sqrt_(self) -> Self:
        """The square root of each element. In place."""

    def square(self) -> Tensor:
        """The square of each element."""

    def square_(self) -> Self:
        """The square of each element. In place."""

    def squeeze(self, dim: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
        """Dimensions of size one taken out; all of them if none is named."""

    def squeeze_(self, dim: builtins.int | Sequence[builtins.int] | None = None) -> Self:
        """In-place version of :func:`pyburn.squeeze`."""

    def std(
        self,
        dim: Dims = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The standard deviation over dimensions."""

    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Tensor | None = None,
        center: builtins.bool = True,
        pad_mode: str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        return_complex: builtins.bool | None = None,
        align_to_window: builtins.bool | None = None,
    ) -> Tensor:
        """Spectra of the overlapping pieces of one signal or several: frequencies by pieces."""

    def storage_offset(self) -> builtins.int:
        """Where the first element stands in the storage."""

    @overload
    def stride(self, dim: None = None) -> tuple[builtins.int, ...]:
        """Steps between neighbours, in elements."""
    @overload
    def stride(self, dim: builtins.int) -> builtins.int: ...
    def sub(
        self, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """``input - alpha * other``."""

    def sub_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`pyburn.sub`."""

    def subtract(
        self, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None
    ) -> Tensor:
        """``input - alpha * other``."""

    def subtract_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """In-place version of :func:`pyburn.sub`."""

    def sum(
        self,
        dim: Dims = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DTypeLike | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The sum over dimensions; all of them if none is named."""

    def sum_to_size(self, *size: builtins.int | Sequence[builtins.int]) -> Tensor:
        """The sum over what broadcasting from a shape would add."""

    def svd(
        self,
        some: builtins.bool = True,
        compute_uv: builtins.bool = True,
        *,
        out: tuple[Tensor, Tensor, Tensor] | None = None,
    ) -> return_types.svd:
        """``U``, ``S`` and ``V`` with ``input = U diag(S) V^H``, see :func:`pyburn.linalg.svd`."""

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> Tensor:
        """Two dimensions swapped: NumPy's name for ``transpose``."""

    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """In-place version of :func:`pyburn.transpose`."""

    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two dimensions swapped: another name for ``transpose``."""

    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """In-place version of :func:`pyburn.transpose`."""

    def t(self) -> Tensor:
        """The transpose of a matrix; vectors and 0-d tensors stay as they are."""

    def t_(self) -> Self:
        """In-place version of :func:`pyburn.t`."""

    def take(self, index: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The elements at places of the flattened tensor, in the index's shape."""

    def take_along_dim(
        self, indices: Tensor, dim: builtins.int | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        """:func:`gather` with both tensors broadcast in the other dimensions."""

    def tan(self) -> Tensor:
        """The tangent of each element, in radians."""

    def tan_(self) -> Self:
        """The tangent of each element, in radians. In place."""

    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""

    def tanh_(self) -> Self:
        """The hyperbolic tangent of each element. In place."""

    def tensor_split(
        self,
        indices_or_sections: builtins.int | Sequence[builtins.int] | Tensor,
        dim: builtins.int = 0,
    ) -> tuple[Tensor, ...]:
        """Views along a dimension: so many, or cut before each of the given places."""

    def tile(self, *dims: builtins.int | Sequence[builtins.int]) -> Tensor:
        """A copy repeated so many times, counted from the last dimension."""

    @overload
    def to(
        self,
        dtype: _dtype,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> Tensor:
        """The same elements with another dtype, on another device, or both."""
    @overload
    def to(
        self,
        other: Tensor,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> Tensor: ...
    @overload
    def to(
        self,
        dtype: DTypeLike,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        *,
        memory_format: memory_format | None = None,
    ) -> Tensor: ...
    def to_dense(self) -> Tensor:
        """The tensor itself: none is sparse."""

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """The array on another device."""

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""

    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.topk:
        """The ``k`` largest or smallest elements along a dimension, and where they stand."""

    def trace(self) -> Tensor:
        """The sum of a matrix's diagonal."""

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> Tensor:
        """Two dimensions swapped."""

    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Self:
        """In-place version of :func:`pyburn.transpose`."""

    def triangular_solve(
        self,
        A: Tensor,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
        *,
        out: tuple[Tensor, Tensor] | None = None,
    ) -> return_types.triangular_solve:
        """The solution of ``A X = b`` for triangular ``A``, and a copy of ``A``."""

    def tril(self, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
        """The lower triangle of each matrix, zeros elsewhere."""

    def tril_(self, diagonal: builtins.int = 0) -> Self:
        """In-place version of :func:`pyburn.tril`."""

    def triu(self, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
        """The upper triangle of each matrix, zeros elsewhere."""

    def triu_(self, diagonal: builtins.int = 0) -> Self:
        """In-place version of :func:`pyburn.triu`."""

    def true_divide(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """``input / other`` without rounding."""

    def true_divide_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.true_divide`."""

    def trunc(self) -> Tensor:
        """Each element cut towards zero."""

    def trunc_(self) -> Self:
        """Each element cut towards zero. In place."""

    @overload
    def type(self, dtype: None = None) -> str:
        """The name of the tensor's type, or the tensor in another one."""
    @overload
    def type(self, dtype: DTypeLike, non_blocking: builtins.bool = False) -> Tensor: ...
    def type_as(self, other: Tensor) -> Tensor:
        """The elements in another tensor's dtype, on its device."""

    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """A view of each position of a dimension, which disappears."""

    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> Tensor:
        """One dimension taken apart into several."""

    def unfold(self, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Tensor:
        """A view of windows of ``size``, ``step`` apart, along a dimension."""

    def uniform_(
        self,
        from_: builtins.float = 0,
        to: builtins.float = 1,
        *,
        generator: Generator | None = None,
        **names: builtins.float,
    ) -> Self:
        """Fills with numbers from the lower bound up to the upper one."""

    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> Tensor:
        """The distinct elements, or slices along a dimension, in ascending order."""
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        *,
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Tensor | tuple[Tensor, ...]: ...
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> Tensor:
        """One element, or slice along a dimension, of each run of equal ones."""
    @overload
    def unique_consecutive(
        self,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        self,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        self,
        return_inverse: Literal[False] = False,
        *,
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Tensor | tuple[Tensor, ...]: ...
    def unsafe_chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        """At most ``chunks`` views of equal size along a dimension."""

    def unsafe_split(
        self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Views of equal size along a dimension, or of the given sizes."""

    def unsafe_split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[Tensor, ...]:
        """Views of the given sizes along a dimension, which they fill."""

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        """A dimension of size one put in."""

    def unsqueeze_(self, dim: builtins.int) -> Self:
        """In-place version of :func:`pyburn.unsqueeze`."""

    def var(
        self,
        dim: Dims = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        out: Tensor | None = None,
    ) -> Tensor:
        """The variance over dimensions, divided by the number of elements less ``correction``."""

    def vdot(self, other: Tensor, *, out: Tensor | None = None) -> Tensor:
        """The sum of the products of a conjugated vector and another."""

    @overload
    def view(self, dtype: _dtype, /) -> Tensor:
        """Looks at the same memory in another shape, or as another dtype of the same size."""
    @overload
    def view(self, *, dtype: _dtype) -> Tensor: ...
    @overload
    def view(self, *shape: builtins.int | Sequence[builtins.int]) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor:
        """The same memory in another tensor's shape."""

    def vsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[Tensor, ...]:
        """Views one below the other: cut along the first dimension."""

    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """Own elements where the condition holds, ``other`` elsewhere."""

    def xlogy(self, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
        """input * log(other), zero where input is."""

    def xlogy_(self, other: Tensor | Number) -> Self:
        """In-place version of :func:`pyburn.xlogy`."""

    def zero_(self) -> Self:
        """Sets all elements to zero."""

class device:
    """A device, such as ``pyburn.device("cuda:0")``."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: Any) -> None: ...
    def __new__(cls, device: DeviceLike, index: builtins.int | None = None) -> Self: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    @property
    def index(self) -> builtins.int | None:
        """Which of the backend's devices; ``None`` for the CPU."""

    @property
    def type(self) -> str:
        """The backend: ``cpu``, ``wgpu``, ``cuda`` or ``meta``."""

class dtype:
    """An element type, such as ``pyburn.float32``."""
    def __new__(cls, name: str) -> Self: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...
    def __repr__(self) -> str: ...
    @property
    def is_complex(self) -> builtins.bool:
        """Whether it is a complex type."""

    @property
    def is_floating_point(self) -> builtins.bool:
        """Whether it is a real floating-point type."""

    @property
    def is_signed(self) -> builtins.bool:
        """Whether it holds negative numbers."""

    @property
    def itemsize(self) -> builtins.int:
        """Bytes per element."""

    def to_complex(self) -> Self:
        """The complex type whose parts have this type."""

    def to_real(self) -> Self:
        """The real type of a complex one's parts."""

def _arange(
    start: Tensor | Number,
    end: Tensor | Number,
    step: Tensor | Number,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _autocast_active() -> builtins.bool:
    """Whether operations choose their dtypes on any kind of device."""

def _autocast_caching() -> builtins.bool:
    """Whether a weight that several operations take is converted once."""

def _autocast_dtype(device: DeviceLike) -> _dtype:
    """The narrow dtype of a kind of device."""

def _autocast_enabled(device: DeviceLike) -> builtins.bool:
    """Whether operations choose their dtypes on this kind of device."""

def _backends() -> list[dict[str, Any]]:
    """Every backend as a dictionary: name, devices, and the reason why there are none."""

def _backward(
    tensors: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    retain_graph: builtins.bool,
    create_graph: builtins.bool,
    inputs: Sequence[Tensor] | None,
) -> None:
    """The gradients of several outputs, added to the leaves' `grad`."""

def _bartlett_window(
    n: builtins.int, periodic: builtins.bool, dtype: DTypeLike, device: DeviceLike
) -> Tensor: ...
def _begin_autocast(
    function: str, tensors: Sequence[Tensor]
) -> tuple[list[Tensor], builtins.int] | None:
    """The tensors as a function of this name takes them, and what ends the pause that it runs in; `None` for a function that leaves it to the operations it is made of."""

def _blackman_window(
    n: builtins.int, periodic: builtins.bool, dtype: DTypeLike, device: DeviceLike
) -> Tensor: ...
def _block_diag(parts: Sequence[Tensor]) -> Tensor: ...
def _broadcast_tensors(parts: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def _cartesian_prod(parts: Sequence[Tensor]) -> Tensor: ...
def _cat(parts: Sequence[Tensor], dim: builtins.int) -> Tensor: ...
def _chain_matmul(parts: Sequence[Tensor]) -> Tensor: ...
def _clear_autocast_cache() -> None:
    """Lets go of converted weights."""

def _column_stack(parts: Sequence[Tensor]) -> Tensor: ...
def _dstack(parts: Sequence[Tensor]) -> Tensor: ...
def _einsum(equation: str, operands: Sequence[Tensor]) -> Tensor: ...
def _enter_autocast() -> builtins.int:
    """Enters a region; gives how many the thread is in."""

def _eye(
    n: builtins.int, m: builtins.int | None, dtype: DTypeLike, device: DeviceLike
) -> Tensor: ...
def _fftfreq(
    n: builtins.int, d: builtins.float, dtype: DTypeLike, device: DeviceLike
) -> Tensor: ...
def _from_array(array: Any) -> Tensor:
    """A tensor over a NumPy array's memory, or over a copy where it cannot be shared."""

def _from_dlpack(capsule: Any, copy: builtins.bool | None = None) -> Tensor:
    """A tensor over the memory of a DLPack capsule, which is used up."""

def _full(
    size: builtins.int | Sequence[builtins.int],
    fill: Tensor | Number,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    retain_graph: builtins.bool,
    create_graph: builtins.bool,
) -> list[Tensor | None]:
    """The gradients of outputs with respect to inputs."""

def _hamming_window(
    n: builtins.int,
    periodic: builtins.bool,
    alpha: builtins.float,
    beta: builtins.float,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _hann_window(
    n: builtins.int, periodic: builtins.bool, dtype: DTypeLike, device: DeviceLike
) -> Tensor: ...
def _hstack(parts: Sequence[Tensor]) -> Tensor: ...
def _kaiser_window(
    n: builtins.int,
    periodic: builtins.bool,
    beta: builtins.float,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _leave_autocast() -> builtins.int:
    """Leaves a region; gives how many the thread is still in."""

def _linspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: builtins.int,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _logspace(
    start: Tensor | Number,
    end: Tensor | Number,
    steps: builtins.int,
    base: builtins.float,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _memory_stats(device: DeviceLike) -> dict[str, Any]:
    """Bytes in use and reserved on a device, and the number of allocations."""

def _meshgrid(parts: Sequence[Tensor], indexing: str) -> tuple[Tensor, ...]: ...
def _multi_dot(parts: Sequence[Tensor]) -> Tensor: ...
def _narrow(device: DeviceLike, dtype: DTypeLike) -> _dtype:
    """The dtype that stands in for one a device lacks."""

def _pause_autocast() -> builtins.int:
    """Pauses autocast; gives what ends the pause."""

def _polar(modulus: Tensor, angle: Tensor) -> Tensor: ...
def _record_function(
    class_: builtins.type[Any],
    context: Any,
    name: str,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    differentiable: Sequence[builtins.bool],
    saved: Sequence[Tensor | None],
    /,
) -> builtins.bool:
    """Records a Python function: `inputs` are its tensor arguments, `outputs` fresh results."""

def _register_size(class_: builtins.type[tuple[builtins.int, ...]], /) -> None:
    """Tells the engine which class shapes have."""

def _require(device: DeviceLike) -> None:
    """Raises `DeviceError` unless the device can be used."""

def _resume_autocast(before: builtins.int) -> None:
    """Ends a pause."""

def _rfftfreq(
    n: builtins.int, d: builtins.float, dtype: DTypeLike, device: DeviceLike
) -> Tensor: ...
def _set_anomaly(enabled: builtins.bool) -> builtins.bool:
    """Sets whether backward passes look for NaN, and gives what was set before."""

def _set_autocast_caching(enabled: builtins.bool) -> builtins.bool:
    """Sets that, and gives what was set before."""

def _set_autocast_dtype(device: DeviceLike, dtype: DTypeLike) -> _dtype:
    """Sets that, and gives what was set before."""

def _set_autocast_enabled(device: DeviceLike, enabled: builtins.bool) -> builtins.bool:
    """Sets that, and gives what was set before."""

def _set_grad_enabled(enabled: builtins.bool) -> builtins.bool:
    """Sets whether operations are recorded, and gives what was set before."""

def _set_inference_mode(enabled: builtins.bool) -> builtins.bool:
    """Sets inference mode, and gives what was set before."""

def _stack(parts: Sequence[Tensor], dim: builtins.int) -> Tensor: ...
def _supports(device: DeviceLike, dtype: DTypeLike) -> builtins.bool:
    """Whether a device computes with a dtype."""

def _synchronize(device: DeviceLike) -> None:
    """Waits until a device has done everything it was asked to."""

def _tril_indices(
    rows: builtins.int,
    columns: builtins.int,
    offset: builtins.int,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _triu_indices(
    rows: builtins.int,
    columns: builtins.int,
    offset: builtins.int,
    dtype: DTypeLike,
    device: DeviceLike,
) -> Tensor: ...
def _vstack(parts: Sequence[Tensor]) -> Tensor: ...
def adaptive_avg_pool(
    input: Tensor, rank: builtins.int, output_size: builtins.int | Sequence[builtins.int]
) -> Tensor: ...
def adaptive_max_pool(
    input: Tensor, rank: builtins.int, output_size: builtins.int | Sequence[builtins.int]
) -> tuple[Tensor, Tensor]: ...
def addbmm(
    input: Tensor, a: Tensor, b: Tensor, beta: Tensor | Number, alpha: Tensor | Number
) -> Tensor: ...
def addcdiv(input: Tensor, b: Tensor, c: Tensor, value: Tensor | Number) -> Tensor: ...
def addcdiv_(input: Tensor, b: Tensor, c: Tensor, value: Tensor | Number) -> None: ...
def addcmul(input: Tensor, b: Tensor, c: Tensor, value: Tensor | Number) -> Tensor: ...
def addcmul_(input: Tensor, b: Tensor, c: Tensor, value: Tensor | Number) -> None: ...
def addmm(
    input: Tensor, a: Tensor, b: Tensor, beta: Tensor | Number, alpha: Tensor | Number
) -> Tensor: ...
def addmv(
    input: Tensor, a: Tensor, b: Tensor, beta: Tensor | Number, alpha: Tensor | Number
) -> Tensor: ...
def addr(
    input: Tensor, a: Tensor, b: Tensor, beta: Tensor | Number, alpha: Tensor | Number
) -> Tensor: ...
def advanced_put(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool
) -> Tensor: ...
def advanced_put_(
    input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool
) -> None: ...
def all(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float,
    atol: builtins.float,
    equal_nan: builtins.bool,
) -> builtins.bool: ...
def amax(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def amin(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def aminmax(
    input: Tensor, dim: builtins.int | None, keepdim: builtins.bool
) -> tuple[Tensor, Tensor]: ...
def angle(input: Tensor) -> Tensor: ...
def any(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def argmax(input: Tensor, dim: builtins.int | None, keepdim: builtins.bool) -> Tensor: ...
def argmin(input: Tensor, dim: builtins.int | None, keepdim: builtins.bool) -> Tensor: ...
def argsort(input: Tensor, dim: builtins.int, descending: builtins.bool) -> Tensor: ...
def as_strided(
    input: Tensor,
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    offset: builtins.int | None,
) -> Tensor: ...
def as_strided_(
    input: Tensor,
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    offset: builtins.int | None,
) -> None: ...
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    offset: builtins.int | None,
) -> Tensor: ...
def assign_(input: Tensor, result: Tensor) -> None: ...
def atleast_nd(input: Tensor, rank: builtins.int) -> Tensor: ...
def avg_pool(
    input: Tensor,
    rank: builtins.int,
    kernel_size: builtins.int | Sequence[builtins.int],
    stride: builtins.int | Sequence[builtins.int],
    padding: builtins.int | Sequence[builtins.int],
    ceil_mode: builtins.bool,
    count_include_pad: builtins.bool,
    divisor: builtins.int | None,
) -> Tensor: ...
def baddbmm(
    input: Tensor, a: Tensor, b: Tensor, beta: Tensor | Number, alpha: Tensor | Number
) -> Tensor: ...
def batch_norm(
    input: Tensor,
    mean: Tensor | None,
    variance: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
) -> Tensor: ...
def bernoulli(input: Tensor, generator: Generator | None) -> Tensor: ...
def bernoulli_(input: Tensor, p: builtins.float, generator: Generator | None) -> None: ...
def bernoulli_from_(input: Tensor, p: Tensor, generator: Generator | None) -> None: ...
def bernoulli_like(input: Tensor, p: builtins.float, generator: Generator | None) -> Tensor: ...
def binary(input: Tensor, name: str, other: Operand) -> Tensor: ...
def binary_(input: Tensor, name: str, other: Operand) -> None: ...
def binary_cross_entropy(input: Tensor, target: Tensor) -> Tensor: ...
def binary_cross_entropy_with_logits(input: Tensor, target: Tensor) -> Tensor: ...
def bincount(input: Tensor, weights: Tensor | None, minlength: builtins.int) -> Tensor: ...
def binomial(input: Tensor, prob: Tensor, generator: Generator | None) -> Tensor: ...
def bmm(input: Tensor, other: Tensor) -> Tensor: ...
def cauchy_(
    input: Tensor, median: builtins.float, sigma: builtins.float, generator: Generator | None
) -> None: ...
def cdist(input: Tensor, other: Tensor, p: builtins.float, by_product: builtins.bool) -> Tensor: ...
def cholesky(input: Tensor, upper: builtins.bool) -> Tensor: ...
def cholesky_ex(input: Tensor, upper: builtins.bool) -> tuple[Tensor, Tensor]: ...
def cholesky_inverse(input: Tensor, upper: builtins.bool) -> Tensor: ...
def cholesky_solve(input: Tensor, b: Tensor, upper: builtins.bool) -> Tensor: ...
def chunk(input: Tensor, chunks: builtins.int, dim: builtins.int) -> tuple[Tensor, ...]: ...
def clamp(input: Tensor, low: Tensor | None, high: Tensor | None) -> Tensor: ...
def clamp_scalar(
    input: Tensor, low: Tensor | Number | None, high: Tensor | Number | None
) -> Tensor: ...
def combinations(input: Tensor, r: builtins.int, replacement: builtins.bool) -> Tensor: ...
def compare(input: Tensor, name: str, other: Operand) -> Tensor: ...
def complex(real: Tensor, imag: Tensor) -> Tensor: ...
def cond(input: Tensor, order: builtins.float | str | None) -> Tensor: ...
def conj(input: Tensor) -> Tensor: ...
def convolution(
    input: Tensor,
    rank: builtins.int,
    weight: Tensor,
    bias: Tensor | None,
    stride: builtins.int | Sequence[builtins.int],
    padding: builtins.int | Sequence[builtins.int] | None,
    dilation: builtins.int | Sequence[builtins.int],
    groups: builtins.int,
) -> Tensor: ...
def convolution_transposed(
    input: Tensor,
    rank: builtins.int,
    weight: Tensor,
    bias: Tensor | None,
    stride: builtins.int | Sequence[builtins.int],
    padding: builtins.int | Sequence[builtins.int],
    output_padding: builtins.int | Sequence[builtins.int],
    groups: builtins.int,
    dilation: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def corrcoef(input: Tensor) -> Tensor: ...
def cosine_similarity(
    input: Tensor, other: Tensor, dim: builtins.int, eps: builtins.float
) -> Tensor: ...
def count_nonzero(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None) -> Tensor: ...
def cov(
    input: Tensor, correction: builtins.int, fweights: Tensor | None, aweights: Tensor | None
) -> Tensor: ...
def cross(input: Tensor, other: Tensor, dim: builtins.int) -> Tensor: ...
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignored: builtins.int,
    smoothing: builtins.float,
) -> tuple[Tensor, Tensor]: ...
def ctc_loss(
    input: Tensor,
    targets: Tensor,
    frames: builtins.int | Sequence[builtins.int],
    labels: builtins.int | Sequence[builtins.int],
    blank: builtins.int,
    zero_infinity: builtins.bool,
) -> Tensor: ...
def cummax(input: Tensor, dim: builtins.int) -> tuple[Tensor, Tensor]: ...
def cummin(input: Tensor, dim: builtins.int) -> tuple[Tensor, Tensor]: ...
def cumprod(input: Tensor, dim: builtins.int) -> Tensor: ...
def cumsum(input: Tensor, dim: builtins.int) -> Tensor: ...
def cumulative_trapezoid(
    input: Tensor, x: Tensor | None, dx: builtins.float, dim: builtins.int
) -> Tensor: ...
def default_generator() -> Generator:
    """The generator that is drawn from where none is named."""

def det(input: Tensor) -> Tensor: ...
def diag(input: Tensor, offset: builtins.int) -> Tensor: ...
def diag_embed(
    input: Tensor, offset: builtins.int, dim1: builtins.int, dim2: builtins.int
) -> Tensor: ...
def diagflat(input: Tensor, offset: builtins.int) -> Tensor: ...
def diagonal(
    input: Tensor, offset: builtins.int, dim1: builtins.int, dim2: builtins.int
) -> Tensor: ...
def diff(
    input: Tensor, n: builtins.int, dim: builtins.int, prepend: Tensor | None, append: Tensor | None
) -> Tensor: ...
def dist(input: Tensor, other: Tensor, p: builtins.float) -> Tensor: ...
def dot(input: Tensor, other: Tensor) -> Tensor: ...
def dropout(
    input: Tensor, p: builtins.float, train: builtins.bool, generator: Generator | None
) -> Tensor: ...
def eig(input: Tensor) -> tuple[Tensor, Tensor]: ...
def eigh(input: Tensor, lower: builtins.bool) -> tuple[Tensor, Tensor]: ...
def eigvals(input: Tensor) -> Tensor: ...
def eigvalsh(input: Tensor, lower: builtins.bool) -> Tensor: ...
def elu(
    input: Tensor, alpha: builtins.float, scale: builtins.float, rate: builtins.float
) -> Tensor: ...
def elu_(
    input: Tensor, alpha: builtins.float, scale: builtins.float, rate: builtins.float
) -> None: ...
def embedding(
    input: Tensor, index: Tensor, padding: builtins.int | None, by_frequency: builtins.bool
) -> Tensor: ...
def equal(input: Tensor, other: Tensor) -> builtins.bool: ...
def expand_as(input: Tensor, other: Tensor) -> Tensor: ...
def exponential_(input: Tensor, rate: builtins.float, generator: Generator | None) -> None: ...
def fft(input: Tensor, n: builtins.int | None, dim: builtins.int, norm: str | None) -> Tensor: ...
def fft2(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int],
    norm: str | None,
) -> Tensor: ...
def fftn(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    norm: str | None,
) -> Tensor: ...
def fftshift(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None) -> Tensor: ...
def flip(input: Tensor, dims: builtins.int | Sequence[builtins.int]) -> Tensor: ...
def float_power(input: Tensor, exponent: Operand) -> Tensor: ...
def fold_windows(
    input: Tensor,
    output_size: builtins.int | Sequence[builtins.int],
    kernel_size: builtins.int | Sequence[builtins.int],
    dilation: builtins.int | Sequence[builtins.int],
    padding: builtins.int | Sequence[builtins.int],
    stride: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def fractional_max_pool(
    input: Tensor,
    rank: builtins.int,
    samples: Tensor,
    kernel_size: builtins.int | Sequence[builtins.int],
    output_size: builtins.int | Sequence[builtins.int],
) -> tuple[Tensor, Tensor]: ...
def frexp(input: Tensor) -> tuple[Tensor, Tensor]: ...
def from_numpy(array: Any) -> Tensor:
    """A tensor over a NumPy array's memory: writes to one show in the other."""

def gather(input: Tensor, dim: builtins.int, index: Tensor) -> Tensor: ...
def geometric_(input: Tensor, p: builtins.float, generator: Generator | None) -> None: ...
def geqrf(input: Tensor) -> tuple[Tensor, Tensor]: ...
def get_default_device() -> _device:
    """The device that tensors are made on where none is named."""

def get_default_dtype() -> _dtype:
    """The dtype that floats get where none is named."""

def get_num_threads() -> builtins.int:
    """How many threads the CPU kernels use."""

def grid_sample(
    input: Tensor, grid: Tensor, mode: str, padding_mode: str, coordinates: str
) -> Tensor: ...
def group_norm(
    input: Tensor,
    groups: builtins.int,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: builtins.float,
) -> Tensor: ...
def hardshrink(input: Tensor, lambd: builtins.float) -> Tensor: ...
def hardsigmoid(input: Tensor) -> Tensor: ...
def hardsigmoid_(input: Tensor) -> None: ...
def hardswish(input: Tensor) -> Tensor: ...
def hardswish_(input: Tensor) -> None: ...
def hardtanh(input: Tensor, low: builtins.float, high: builtins.float) -> Tensor: ...
def hardtanh_(input: Tensor, low: builtins.float, high: builtins.float) -> None: ...
def has_nan(input: Tensor) -> builtins.bool: ...
def hfft(input: Tensor, n: builtins.int | None, dim: builtins.int, norm: str | None) -> Tensor: ...
def hfft2(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int],
    norm: str | None,
) -> Tensor: ...
def hfftn(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    norm: str | None,
) -> Tensor: ...
def histc(
    input: Tensor, bins: builtins.int, min: builtins.float, max: builtins.float
) -> Tensor: ...
def histogram(
    input: Tensor,
    bins: builtins.int | Tensor,
    range: tuple[builtins.float, builtins.float] | None,
    weight: Tensor | None,
    density: builtins.bool,
) -> tuple[Tensor, Tensor]: ...
def householder_product(input: Tensor, tau: Tensor) -> Tensor: ...
def huber_loss(input: Tensor, target: Tensor, delta: builtins.float) -> Tensor: ...
def ifft(input: Tensor, n: builtins.int | None, dim: builtins.int, norm: str | None) -> Tensor: ...
def ifft2(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int],
    norm: str | None,
) -> Tensor: ...
def ifftn(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    norm: str | None,
) -> Tensor: ...
def ifftshift(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None) -> Tensor: ...
def ihfft(input: Tensor, n: builtins.int | None, dim: builtins.int, norm: str | None) -> Tensor: ...
def ihfft2(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int],
    norm: str | None,
) -> Tensor: ...
def ihfftn(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    norm: str | None,
) -> Tensor: ...
def imag(input: Tensor) -> Tensor: ...
def index_add(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor: ...
def index_copy(input: Tensor, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor: ...
def index_fill(input: Tensor, dim: builtins.int, index: Tensor, value: Operand) -> Tensor: ...
def index_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: builtins.bool,
) -> Tensor: ...
def index_select(input: Tensor, dim: builtins.int, index: Tensor) -> Tensor: ...
def inner(input: Tensor, other: Tensor) -> Tensor: ...
def instance_norm(
    input: Tensor,
    mean: Tensor | None,
    variance: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    own: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
) -> Tensor: ...
def interpolate(
    input: Tensor,
    size: Sequence[builtins.int] | None,
    scale_factor: Sequence[builtins.float] | None,
    mode: str,
    align_corners: builtins.bool,
    antialias: builtins.bool,
) -> Tensor: ...
def inv(input: Tensor) -> Tensor: ...
def irfft(input: Tensor, n: builtins.int | None, dim: builtins.int, norm: str | None) -> Tensor: ...
def irfft2(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int],
    norm: str | None,
) -> Tensor: ...
def irfftn(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    norm: str | None,
) -> Tensor: ...
def is_anomaly_enabled() -> builtins.bool:
    """Whether backward passes look for NaN."""

def is_grad_enabled() -> builtins.bool:
    """Whether operations are recorded for gradients."""

def is_inference_mode_enabled() -> builtins.bool:
    """Whether inference mode is on."""

def isclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float,
    atol: builtins.float,
    equal_nan: builtins.bool,
) -> Tensor: ...
def isin(input: Tensor, tests: Tensor, invert: builtins.bool) -> Tensor: ...
def istft(
    input: Tensor,
    n_fft: builtins.int,
    hop_length: builtins.int | None,
    win_length: builtins.int | None,
    window: Tensor | None,
    center: builtins.bool,
    normalized: builtins.bool,
    onesided: builtins.bool | None,
    length: builtins.int | None,
    return_complex: builtins.bool,
) -> Tensor: ...
def kron(input: Tensor, other: Tensor) -> Tensor: ...
def kthvalue(
    input: Tensor, k: builtins.int, dim: builtins.int, keepdim: builtins.bool
) -> tuple[Tensor, Tensor]: ...
def l1_loss(input: Tensor, target: Tensor) -> Tensor: ...
def layer_norm(
    input: Tensor,
    shape: builtins.int | Sequence[builtins.int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: builtins.float,
) -> Tensor: ...
def ldexp(input: Tensor, other: Tensor) -> Tensor: ...
def ldl_factor(input: Tensor, hermitian: builtins.bool) -> tuple[Tensor, Tensor, Tensor]: ...
def ldl_solve(input: Tensor, pivots: Tensor, b: Tensor, hermitian: builtins.bool) -> Tensor: ...
def leaky_relu(input: Tensor, slope: builtins.float) -> Tensor: ...
def leaky_relu_(input: Tensor, slope: builtins.float) -> None: ...
def lerp(input: Tensor, end: Tensor, weight: Operand) -> Tensor: ...
def lerp_(input: Tensor, end: Tensor, weight: Operand) -> None: ...
def linalg_norm(
    input: Tensor,
    order: builtins.float | str | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    keepdim: builtins.bool,
    dtype: DTypeLike | None,
) -> Tensor: ...
def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor: ...
def log_normal_(
    input: Tensor, mean: builtins.float, std: builtins.float, generator: Generator | None
) -> None: ...
def log_softmax(input: Tensor, dim: builtins.int, dtype: DTypeLike | None) -> Tensor: ...
def logcumsumexp(input: Tensor, dim: builtins.int) -> Tensor: ...
def logdet(input: Tensor) -> Tensor: ...
def logical(input: Tensor, name: str, other: Tensor) -> Tensor: ...
def logit(input: Tensor, eps: builtins.float | None) -> Tensor: ...
def logsumexp(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def lower_bound(input: Tensor, bound: Tensor) -> Tensor: ...
def lstsq(
    input: Tensor, b: Tensor, rcond: builtins.float | None, driver: str | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]: ...
def lu(input: Tensor) -> tuple[Tensor, Tensor, Tensor]: ...
def lu_factor(input: Tensor) -> tuple[Tensor, Tensor]: ...
def lu_solve(
    input: Tensor, pivots: Tensor, b: Tensor, left: builtins.bool, adjoint: builtins.bool
) -> Tensor: ...
def lu_unpack(input: Tensor, pivots: Tensor) -> tuple[Tensor, Tensor, Tensor]: ...
def masked_fill(input: Tensor, mask: Tensor, value: Tensor) -> Tensor: ...
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor: ...
def masked_select(input: Tensor, mask: Tensor) -> Tensor: ...
def matmul(input: Tensor, other: Tensor) -> Tensor: ...
def matrix_exp(input: Tensor) -> Tensor: ...
def matrix_norm(
    input: Tensor,
    order: builtins.float | str,
    dim: builtins.int | Sequence[builtins.int],
    keepdim: builtins.bool,
    dtype: DTypeLike | None,
) -> Tensor: ...
def matrix_power(input: Tensor, n: builtins.int) -> Tensor: ...
def matrix_rank(
    input: Tensor, atol: Operand | None, rtol: Operand | None, hermitian: builtins.bool
) -> Tensor: ...
def max_dim(input: Tensor, dim: builtins.int, keepdim: builtins.bool) -> tuple[Tensor, Tensor]: ...
def max_pool(
    input: Tensor,
    rank: builtins.int,
    kernel_size: builtins.int | Sequence[builtins.int],
    stride: builtins.int | Sequence[builtins.int],
    padding: builtins.int | Sequence[builtins.int],
    dilation: builtins.int | Sequence[builtins.int],
    ceil_mode: builtins.bool,
) -> tuple[Tensor, Tensor]: ...
def max_unpool(
    input: Tensor,
    rank: builtins.int,
    indices: Tensor,
    output_size: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def mean(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def median(input: Tensor) -> Tensor: ...
def median_dim(
    input: Tensor, dim: builtins.int, keepdim: builtins.bool
) -> tuple[Tensor, Tensor]: ...
def min_dim(input: Tensor, dim: builtins.int, keepdim: builtins.bool) -> tuple[Tensor, Tensor]: ...
def mm(input: Tensor, other: Tensor) -> Tensor: ...
def mode(input: Tensor, dim: builtins.int, keepdim: builtins.bool) -> tuple[Tensor, Tensor]: ...
def movedim(
    input: Tensor,
    source: builtins.int | Sequence[builtins.int],
    destination: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def mse_loss(input: Tensor, target: Tensor) -> Tensor: ...
def msort(input: Tensor) -> Tensor: ...
def multinomial(
    input: Tensor, samples: builtins.int, replacement: builtins.bool, generator: Generator | None
) -> Tensor: ...
def mv(input: Tensor, vec: Tensor) -> Tensor: ...
def mvlgamma(input: Tensor, p: builtins.int) -> Tensor: ...
def nan_to_num(
    input: Tensor,
    nan: builtins.float | None,
    above: builtins.float | None,
    below: builtins.float | None,
) -> Tensor: ...
def nanmean(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def nanmedian(input: Tensor) -> Tensor: ...
def nanmedian_dim(
    input: Tensor, dim: builtins.int, keepdim: builtins.bool
) -> tuple[Tensor, Tensor]: ...
def nanquantile(
    input: Tensor, q: Operand, dim: builtins.int | None, keepdim: builtins.bool, method: str
) -> Tensor: ...
def nansum(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def narrow(
    input: Tensor, dim: builtins.int, start: builtins.int, length: builtins.int
) -> Tensor: ...
def nonzero(input: Tensor) -> Tensor: ...
def nonzero_tuple(input: Tensor) -> tuple[Tensor, ...]: ...
def norm(
    input: Tensor,
    order: builtins.float | str,
    dim: builtins.int | Sequence[builtins.int] | None,
    keepdim: builtins.bool,
    dtype: DTypeLike | None,
) -> Tensor: ...
def normal(mean: Operand, std: Operand, generator: Generator | None) -> Tensor: ...
def normal_(
    input: Tensor, mean: builtins.float, std: builtins.float, generator: Generator | None
) -> None: ...
def normal_with(
    mean: builtins.float,
    std: builtins.float,
    size: builtins.int | Sequence[builtins.int],
    dtype: DTypeLike,
    device: DeviceLike,
    generator: Generator | None,
) -> Tensor: ...
def one_hot(input: Tensor, classes: builtins.int) -> Tensor: ...
def optim_adadelta(
    slots: Slots,
    lr: Tensor | Number,
    rho: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_adafactor(
    slots: Slots,
    lr: Tensor | Number,
    beta2_decay: builtins.float,
    eps1: builtins.float | None,
    eps2: builtins.float,
    d: builtins.float,
    weight_decay: builtins.float,
    maximize: builtins.bool,
) -> None: ...
def optim_adagrad(
    slots: Slots,
    lr: Tensor | Number,
    lr_decay: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_adam(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    decoupled: builtins.bool,
    amsgrad: builtins.bool,
    maximize: builtins.bool,
) -> None: ...
def optim_adamax(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_adan(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    beta3: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    shrinks_first: builtins.bool,
    maximize: builtins.bool,
) -> None: ...
def optim_asgd(
    slots: Slots,
    lr: Tensor | Number,
    lambd: Tensor | Number,
    alpha: Tensor | Number,
    t0: Tensor | Number,
    weight_decay: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_lamb(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_lion(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    weight_decay: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_muon(
    slots: Slots,
    lr: Tensor | Number,
    weight_decay: builtins.float,
    momentum: builtins.float,
    nesterov: builtins.bool,
    coefficients: Sequence[builtins.float],
    eps: builtins.float,
    steps: builtins.int,
    adjust_lr_fn: str | None,
) -> None: ...
def optim_nadam(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    momentum_decay: Tensor | Number,
    decoupled: builtins.bool,
    maximize: builtins.bool,
) -> None: ...
def optim_radam(
    slots: Slots,
    lr: Tensor | Number,
    beta1: Tensor | Number,
    beta2: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    decoupled: builtins.bool,
    maximize: builtins.bool,
) -> None: ...
def optim_rmsprop(
    slots: Slots,
    lr: Tensor | Number,
    alpha: Tensor | Number,
    eps: Tensor | Number,
    weight_decay: Tensor | Number,
    momentum: Tensor | Number,
    centered: builtins.bool,
    maximize: builtins.bool,
) -> None: ...
def optim_rprop(
    slots: Slots,
    eta_minus: Tensor | Number,
    eta_plus: Tensor | Number,
    shortest: Tensor | Number,
    longest: Tensor | Number,
    maximize: builtins.bool,
) -> None: ...
def optim_sgd(
    slots: Slots,
    lr: Tensor | Number,
    momentum: Tensor | Number,
    dampening: Tensor | Number,
    weight_decay: Tensor | Number,
    nesterov: builtins.bool,
    maximize: builtins.bool,
) -> None: ...
def optim_slots(
    op: str,
    params: list[Any],
    state: dict[Any, Any],
    scalars: Any,
    states: Any,
    create: Any,
    differentiable: builtins.bool,
) -> Slots:
    """Looks up what a step needs: of each parameter that has a gradient, the state that `state` keeps of it under the names in `scalars` and `states`. Where there is none, `create(param)` makes it. State follows a parameter that was moved to another device."""

def outer(input: Tensor, other: Tensor) -> Tensor: ...
def pad(
    input: Tensor,
    pads: builtins.int | Sequence[builtins.int],
    mode: str,
    value: Tensor | Number | None,
) -> Tensor: ...
def pdist(input: Tensor, p: builtins.float) -> Tensor: ...
def pinv(
    input: Tensor, atol: Operand | None, rtol: Operand | None, hermitian: builtins.bool
) -> Tensor: ...
def poisson(input: Tensor, generator: Generator | None) -> Tensor: ...
def polygamma(input: Tensor, n: builtins.int) -> Tensor: ...
def predicate(input: Tensor, name: str) -> Tensor: ...
def prod(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: builtins.bool) -> Tensor: ...
def qr(input: Tensor, mode: str) -> tuple[Tensor, Tensor]: ...
def quantile(
    input: Tensor, q: Operand, dim: builtins.int | None, keepdim: builtins.bool, method: str
) -> Tensor: ...
def rand(
    size: builtins.int | Sequence[builtins.int],
    dtype: DTypeLike,
    device: DeviceLike,
    generator: Generator | None,
) -> Tensor: ...
def randint(
    low: builtins.int,
    high: builtins.int,
    size: builtins.int | Sequence[builtins.int],
    dtype: DTypeLike,
    device: DeviceLike,
    generator: Generator | None,
) -> Tensor: ...
def randn(
    size: builtins.int | Sequence[builtins.int],
    dtype: DTypeLike,
    device: DeviceLike,
    generator: Generator | None,
) -> Tensor: ...
def random_(
    input: Tensor, low: builtins.int, high: builtins.int | None, generator: Generator | None
) -> None: ...
def randperm(
    n: builtins.int, dtype: DTypeLike, device: DeviceLike, generator: Generator | None
) -> Tensor: ...
def real(input: Tensor) -> Tensor: ...
def recurrent(
    input: Tensor,
    h: Tensor,
    c: Tensor | None,
    cell: str,
    batch_sizes: Sequence[builtins.int],
    reverse: builtins.bool,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias_ih: Tensor | None,
    bias_hh: Tensor | None,
    weight_hr: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor | None]: ...
def renorm(
    input: Tensor, p: builtins.float, dim: builtins.int, maxnorm: builtins.float
) -> Tensor: ...
def repeat(input: Tensor, sizes: builtins.int | Sequence[builtins.int]) -> Tensor: ...
def repeat_interleave(input: Tensor, repeats: Operand, dim: builtins.int | None) -> Tensor: ...
def repeated_places(repeats: Tensor) -> Tensor: ...
def result_type(input: Tensor, other: Tensor) -> str: ...
def rfft(input: Tensor, n: builtins.int | None, dim: builtins.int, norm: str | None) -> Tensor: ...
def rfft2(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int],
    norm: str | None,
) -> Tensor: ...
def rfftn(
    input: Tensor,
    s: builtins.int | Sequence[builtins.int] | None,
    dim: builtins.int | Sequence[builtins.int] | None,
    norm: str | None,
) -> Tensor: ...
def rms_norm(
    input: Tensor,
    shape: builtins.int | Sequence[builtins.int],
    weight: Tensor | None,
    eps: builtins.float | None,
) -> Tensor: ...
def rnnt_loss(
    input: Tensor,
    targets: Tensor,
    frames: builtins.int | Sequence[builtins.int],
    labels: builtins.int | Sequence[builtins.int],
    blank: builtins.int,
) -> Tensor: ...
def roll(
    input: Tensor,
    shifts: builtins.int | Sequence[builtins.int],
    dims: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def rot90(
    input: Tensor, k: builtins.int, dims: builtins.int | Sequence[builtins.int]
) -> Tensor: ...
def scalar_binary(input: Tensor, name: str, scalar: Tensor | Number) -> Tensor: ...
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: builtins.float,
    causal: builtins.bool,
    scale: builtins.float | None,
    grouped: builtins.bool,
    name: str,
) -> Tensor: ...
def scatter(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor: ...
def scatter_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: builtins.bool,
) -> Tensor: ...
def scatter_with(
    input: Tensor, dim: builtins.int, index: Tensor, src: Tensor, reduce: str
) -> Tensor: ...
def searchsorted(
    edges: Tensor,
    values: Operand,
    right: builtins.bool,
    side: str | None,
    sorter: Tensor | None,
    out_int32: builtins.bool,
) -> Tensor: ...
def segment_reduce(
    input: Tensor,
    reduce: str,
    lengths: Tensor | None,
    offsets: Tensor | None,
    indices: Tensor | None,
    initial: builtins.float | None,
) -> Tensor: ...
def select(input: Tensor, dim: builtins.int, index: builtins.int) -> Tensor: ...
def set_default_device(device: DeviceLike | None = None) -> None:
    """Sets the device that tensors are made on where none is named; the CPU for ``None``."""

def set_default_dtype(dtype: DTypeLike) -> None:
    """Sets the dtype that floats get where none is named."""

def set_num_threads(threads: builtins.int) -> None:
    """Sets how many threads the CPU kernels use."""

def sgn(input: Tensor) -> Tensor: ...
def slogdet(input: Tensor) -> tuple[Tensor, Tensor]: ...
def smooth_l1_loss(input: Tensor, target: Tensor, beta: builtins.float) -> Tensor: ...
def softmax(input: Tensor, dim: builtins.int, dtype: DTypeLike | None) -> Tensor: ...
def softplus(input: Tensor, beta: builtins.float, threshold: builtins.float) -> Tensor: ...
def softshrink(input: Tensor, lambd: builtins.float, bias: builtins.float) -> Tensor: ...
def solve(input: Tensor, b: Tensor, left: builtins.bool) -> Tensor: ...
def solve_triangular(
    input: Tensor,
    b: Tensor,
    upper: builtins.bool,
    left: builtins.bool,
    unitriangular: builtins.bool,
) -> Tensor: ...
def sort(input: Tensor, dim: builtins.int, descending: builtins.bool) -> tuple[Tensor, Tensor]: ...
def split(input: Tensor, size: builtins.int, dim: builtins.int) -> tuple[Tensor, ...]: ...
def split_with_sizes(
    input: Tensor, sizes: builtins.int | Sequence[builtins.int], dim: builtins.int
) -> tuple[Tensor, ...]: ...
def squeeze_(input: Tensor, dim: builtins.int | Sequence[builtins.int] | None) -> None: ...
def standard_gamma(input: Tensor, generator: Generator | None) -> Tensor: ...
def standard_gamma_grad(input: Tensor, numbers: Tensor) -> Tensor: ...
def std(
    input: Tensor,
    dim: builtins.int | Sequence[builtins.int] | None,
    correction: builtins.float,
    keepdim: builtins.bool,
) -> Tensor: ...
def std_mean(
    input: Tensor,
    dim: builtins.int | Sequence[builtins.int] | None,
    correction: builtins.float,
    keepdim: builtins.bool,
) -> tuple[Tensor, Tensor]: ...
def stft(
    input: Tensor,
    n_fft: builtins.int,
    hop_length: builtins.int | None,
    win_length: builtins.int | None,
    window: Tensor | None,
    center: builtins.bool,
    mode: str,
    normalized: builtins.bool,
    onesided: builtins.bool | None,
    return_complex: builtins.bool | None,
) -> Tensor: ...
def sum(
    input: Tensor, dim: builtins.int | Sequence[builtins.int] | None, keepdim: builtins.bool
) -> Tensor: ...
def svd(input: Tensor, full_matrices: builtins.bool) -> tuple[Tensor, Tensor, Tensor]: ...
def svdvals(input: Tensor) -> Tensor: ...
def take(input: Tensor, index: Tensor) -> Tensor: ...
def take_along_dim(input: Tensor, index: Tensor, dim: builtins.int | None) -> Tensor: ...
def tensor(
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: DeviceLike | None = None,
    backend: DeviceLike | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> Tensor:
    """A tensor of the given data: nested lists, numbers, arrays or another tensor; always a copy."""

def tensor_split(
    input: Tensor, sections: builtins.int, dim: builtins.int
) -> tuple[Tensor, ...]: ...
def tensor_split_at(
    input: Tensor, places: builtins.int | Sequence[builtins.int], dim: builtins.int
) -> tuple[Tensor, ...]: ...
def tensordot(
    input: Tensor,
    other: Tensor,
    dims_self: builtins.int | Sequence[builtins.int],
    dims_other: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def tensorinv(input: Tensor, ind: builtins.int) -> Tensor: ...
def tensorsolve(
    input: Tensor, b: Tensor, dims_: builtins.int | Sequence[builtins.int] | None
) -> Tensor: ...
def threshold(input: Tensor, threshold: builtins.float, value: builtins.float) -> Tensor: ...
def threshold_(input: Tensor, threshold: builtins.float, value: builtins.float) -> None: ...
def tile(input: Tensor, sizes: builtins.int | Sequence[builtins.int]) -> Tensor: ...
def topk(
    input: Tensor, k: builtins.int, dim: builtins.int, largest: builtins.bool, sorted: builtins.bool
) -> tuple[Tensor, Tensor]: ...
def trace(input: Tensor) -> Tensor: ...
def transpose_(input: Tensor, dim0: builtins.int, dim1: builtins.int) -> None: ...
def trapezoid(input: Tensor, x: Tensor | None, dx: builtins.float, dim: builtins.int) -> Tensor: ...
def tril(input: Tensor, diagonal: builtins.int) -> Tensor: ...
def triu(input: Tensor, diagonal: builtins.int) -> Tensor: ...
def trunc_normal_(
    input: Tensor,
    mean: builtins.float,
    std: builtins.float,
    low: builtins.float,
    high: builtins.float,
    generator: Generator | None,
) -> None: ...
def unary(input: Tensor, name: str) -> Tensor:
    """The elementwise functions that torch puts into submodules, by name."""

def unbind(input: Tensor, dim: builtins.int) -> tuple[Tensor, ...]: ...
def unfold(input: Tensor, dim: builtins.int, size: builtins.int, step: builtins.int) -> Tensor: ...
def unfold_windows(
    input: Tensor,
    kernel_size: builtins.int | Sequence[builtins.int],
    dilation: builtins.int | Sequence[builtins.int],
    padding: builtins.int | Sequence[builtins.int],
    stride: builtins.int | Sequence[builtins.int],
) -> Tensor: ...
def uniform_(
    input: Tensor, low: builtins.float, high: builtins.float, generator: Generator | None
) -> None: ...
def unique(input: Tensor, dim: builtins.int | None) -> tuple[Tensor, Tensor, Tensor]: ...
def unique_consecutive(
    input: Tensor, dim: builtins.int | None
) -> tuple[Tensor, Tensor, Tensor]: ...
def unsqueeze_(input: Tensor, dim: builtins.int) -> None: ...
def vander(input: Tensor, n: builtins.int | None) -> Tensor: ...
def var_mean(
    input: Tensor,
    dim: builtins.int | Sequence[builtins.int] | None,
    correction: builtins.float,
    keepdim: builtins.bool,
) -> tuple[Tensor, Tensor]: ...
def vdot(input: Tensor, other: Tensor) -> Tensor: ...
def vector_norm(
    input: Tensor,
    order: builtins.float,
    dim: builtins.int | Sequence[builtins.int] | None,
    keepdim: builtins.bool,
    dtype: DTypeLike | None,
) -> Tensor: ...
def view_as_complex(input: Tensor) -> Tensor: ...
def view_as_real(input: Tensor) -> Tensor: ...
def view_scatter_diagonal(
    input: Tensor, src: Tensor, offset: builtins.int, dim1: builtins.int, dim2: builtins.int
) -> Tensor: ...
def view_scatter_select(
    input: Tensor, src: Tensor, dim: builtins.int, index: builtins.int
) -> Tensor: ...
def view_scatter_slice(
    input: Tensor,
    src: Tensor,
    dim: builtins.int,
    start: builtins.int,
    len: builtins.int,
    step: builtins.int,
) -> Tensor: ...
def where_(condition: Tensor, a: Tensor, b: Tensor) -> Tensor: ...
