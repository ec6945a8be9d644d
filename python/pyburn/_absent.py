"""PyTorch's names that are missing here on purpose, each with its reason.

Using one raises ``NotImplementedError`` with that reason; ``hasattr`` says no. ``docs/limits.md``
shows the same table.
"""

from __future__ import annotations

_SPARSE = "there are no sparse tensors; hint: index_add, scatter_add and segment_reduce serve graphs"
_COMPILE = "there is no compiler of Python functions yet"

ABSENT: dict[str, str] = {
    "compile": _COMPILE,
    "sparse_coo_tensor": _SPARSE,
    "sparse_csr_tensor": _SPARSE,
    "sparse_csc_tensor": _SPARSE,
    "sparse_bsr_tensor": _SPARSE,
    "sparse_bsc_tensor": _SPARSE,
    "sparse_compressed_tensor": _SPARSE,
}
"""Name -> why it is missing, and what to use instead."""
