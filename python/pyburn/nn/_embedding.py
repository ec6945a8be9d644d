"""Tables whose rows are looked up by number, and distances between vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyburn._core import Tensor
from pyburn._dtypes import DeviceLike, DTypeLike
from pyburn.autograd import no_grad
from pyburn.nn import functional as F
from pyburn.nn import init
from pyburn.nn._linear import empty_parameter
from pyburn.nn._module import Module
from pyburn.nn.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CosineSimilarity", "Embedding", "EmbeddingBag", "PairwiseDistance"]


class _Table(Module):
    """A table of vectors and what is done with those that are looked up."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
    weight: Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None,
        max_norm: float | None,
        norm_type: float,
        scale_grad_by_freq: bool,
        sparse: bool,
        given: Tensor | None,
        freeze: bool,
        device: DeviceLike | None,
        dtype: DTypeLike | None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if sparse:
            raise NotImplementedError(
                f"{name}: there are no sparse gradients; hint: sparse=False gives the same numbers"
            )
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(
                    f"{name}: padding_idx must be within num_embeddings, got {padding_idx} and "
                    f"{num_embeddings}"
                )
            padding_idx %= num_embeddings
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        shape = (num_embeddings, embedding_dim)
        if given is None:
            self.weight = empty_parameter(shape, device, dtype).requires_grad_(not freeze)
            self.reset_parameters()
            return
        if given.shape != shape:
            raise ValueError(
                f"{name}: shape of weight does not match num_embeddings and embedding_dim: "
                f"{list(given.shape)} instead of {list(shape)}"
            )
        self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draws the table anew from the standard normal distribution; the padding row is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    def extra_repr(self) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.padding_idx is not None:
            shown += f", padding_idx={self.padding_idx}"
        if self.max_norm is not None:
            shown += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            shown += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            shown += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        return shown


def _check_table(name: str, embeddings: Tensor) -> tuple[int, int]:
    if embeddings.ndim != 2:
        raise ValueError(
            f"{name}.from_pretrained: Embeddings parameter is expected to be 2-dimensional, got "
            f"{embeddings.ndim} dimensions"
        )
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """A table of vectors, looked up by number.

    Args:
        num_embeddings: the number of vectors.
        embedding_dim: how long they are.
        padding_idx: a vector that is zero at first and gets no gradient.
        max_norm: vectors that are longer are shortened to this when they are looked up.
        norm_type: which norm that is.
        scale_grad_by_freq: divide gradients by how often their vector occurs in a batch.
        sparse: refused, there are no sparse gradients.

    Shapes: numbers of any shape ``(*)`` to ``(*, embedding_dim)``.

    Example:
        >>> layer = nn.Embedding(10, 3, padding_idx=0)
        >>> layer(pyburn.tensor([[1, 2], [0, 4]])).shape
        pyburn.Size([2, 2, 3])
        >>> layer
        Embedding(10, 3, padding_idx=0)
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            _freeze,
            device,
            dtype,
        )

    def forward(self, input: Tensor) -> Tensor:
        """The vectors with the given numbers."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """A layer over a given table, which is not learned further unless ``freeze`` is false.

        Example:
            >>> table = pyburn.tensor([[1.0, 2.3], [4.0, 5.1]])
            >>> nn.Embedding.from_pretrained(table)(pyburn.tensor([1]))
            tensor([[4.0000, 5.1000]])
        """
        rows, columns = _check_table(cls.__name__, embeddings)
        return cls(
            rows,
            columns,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of vectors of a table.

    Args:
        num_embeddings: the number of vectors.
        embedding_dim: how long they are.
        max_norm: vectors that are longer are shortened to this when they are looked up.
        norm_type: which norm that is.
        scale_grad_by_freq: divide gradients by how often their vector occurs in a batch.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        sparse: refused, there are no sparse gradients.
        include_last_offset: whether the last offset is the end of the last bag.
        padding_idx: a vector that does not count and is zero at first.

    Example:
        >>> layer = nn.EmbeddingBag(10, 3, mode="sum")
        >>> layer(pyburn.tensor([1, 2, 4, 5, 4]), pyburn.tensor([0, 3])).shape
        pyburn.Size([2, 3])
        >>> layer
        EmbeddingBag(10, 3, mode='sum')
    """

    mode: str
    include_last_offset: bool

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: DeviceLike | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            False,
            device,
            dtype,
        )
        self.mode = mode
        self.include_last_offset = include_last_offset

    def forward(
        self,
        input: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:
        """One vector for each bag, as :func:`pyburn.nn.functional.embedding_bag` has it."""
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """A layer over a given table, which is not learned further unless ``freeze`` is false.

        Example:
            >>> table = pyburn.tensor([[1.0, 2.0], [3.0, 6.0]])
            >>> nn.EmbeddingBag.from_pretrained(table)(pyburn.tensor([[0, 1]]))
            tensor([[2., 4.]])
        """
        rows, columns = _check_table(cls.__name__, embeddings)
        made = cls(
            rows,
            columns,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            embeddings,
            include_last_offset,
            padding_idx,
        )
        made.weight.requires_grad_(not freeze)
        return made

    def extra_repr(self) -> str:
        shown = f"{self.num_embeddings}, {self.embedding_dim}"
        if self.max_norm is not None:
            shown += f", max_norm={self.max_norm}"
        if self.norm_type != 2:
            shown += f", norm_type={self.norm_type}"
        if self.scale_grad_by_freq:
            shown += f", scale_grad_by_freq={self.scale_grad_by_freq}"
        shown += f", mode={self.mode!r}"
        if self.padding_idx is not None:
            shown += f", padding_idx={self.padding_idx}"
        return shown


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along a dimension.

    Example:
        >>> x = pyburn.tensor([[3.0, 4.0]])
        >>> nn.CosineSimilarity()(x, -x)
        tensor([-1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The likeness of the vectors, between -1 and 1."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The ``p``-norm of the difference of vectors, to which ``eps`` is added.

    Shapes: ``(N, D)`` or ``(D,)`` to ``(N,)`` or ``()``.

    Example:
        >>> nn.PairwiseDistance(eps=0)(pyburn.zeros(1, 2), pyburn.tensor([[3.0, 4.0]]))
        tensor([5.])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """The distances of the vectors."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
