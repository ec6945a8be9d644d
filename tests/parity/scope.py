"""Which entries of `op_db` PyBurn answers for.

Everything is in scope unless a rule below takes it out, so an operator that a new release of
PyTorch adds is measured from its first day. Each rule gives one line of reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.testing._internal.opinfo.core import OpInfo

BESSEL = "Bessel functions of the second kind and Airy's, used by none of the libraries surveyed"
KERNEL = "undocumented kernel behind torch.nn.functional, which is measured with the layers"

FAMILIES = {
    "nn.functional.": "torch.nn.functional is measured with the layers",
    "masked.": "torch.masked is outside the surface",
    "special.airy_": BESSEL,
    "special.bessel_y": BESSEL,
    "special.modified_bessel_k": BESSEL,
    "special.scaled_modified_bessel_k": BESSEL,
    "sparse.": "sparse tensors are outside the surface",
    "torch.ops.": "private operator without a public name",
    "torch._": "private operator without a public name",
    "jiterator_": "compiles CUDA source, has no CPU form",
}
"""Beginnings of names, with the reason they are out."""

ENTRIES = {
    "bmm.triton_optimized": "the entry `bmm` again, for a CUDA compiler",
    "chalf": "complex32 has no NumPy form, through which results are read",
    "constant_pad_nd": KERNEL,
    "grid_sampler_2d": KERNEL,
    "grid_sampler_3d": KERNEL,
    "linalg.pinv.singular": "float32 loses the rank of its product: torch's own answer is noise",
    "max_pool2d_with_indices_backward": KERNEL,
    "native_batch_norm": KERNEL,
    "native_dropout_backward": KERNEL,
    "native_group_norm": KERNEL,
    "native_layer_norm": KERNEL,
    "slice": "private operator without a public name: Python slices are in `__getitem__`",
    "to_sparse": "sparse tensors are outside the surface",
}
"""Full names of single entries, with the reason they are out."""

PRIVATE_BUT_USED = {"_segment_reduce"}
"""Names with a leading underscore that published models call all the same."""


def out_of_scope(op: OpInfo) -> str | None:
    """The reason why `op` is not measured, or None if it is in scope."""
    for beginning, reason in FAMILIES.items():
        if op.name.startswith(beginning):
            return reason
    if op.full_name in ENTRIES:
        return ENTRIES[op.full_name]
    last = op.name.rpartition(".")[2]
    # `__radd__` and its like are Python operators, public by the language's own rule.
    if last.startswith("_") and not last.startswith("__") and last not in PRIVATE_BUT_USED:
        return "private operator: its name begins with an underscore"
    return None
