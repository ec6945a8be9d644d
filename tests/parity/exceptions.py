"""Entries of `op_db` that PyBurn is known to fail.

The run fails when an entry outside this list fails, and also when an entry of the list passes:
a mended entry must leave the list in the same change.
"""

KNOWN_FAILURES: dict[str, str] = {
    "addbmm": "torch's addbmm_ makes its own tensor larger where others refuse to broadcast it",
    "as_strided_scatter": "torch gives the one element a gradient, though the source replaced it",
    "cholesky_inverse": "torch gives a gradient to the triangle that the function does not read",
    "cholesky_solve": "torch gives a gradient to the triangle that the function does not read",
    "hash_tensor": "its result is uint64, a type that burn does not have",
    "narrow_copy": "a wrong dimension is an IndexError, as in narrow; torch's check is internal",
    "svd_lowrank": "an approximation from random vectors, and PyBurn draws others than torch",
}
"""Full name of an entry (`add`, `div.floor_rounding`, `linalg.eigh`) -> the reason it fails."""

DTYPE_DIFFERENCES: dict[str, str] = {}
"""Full name of an entry -> the reason why it takes or gives other dtypes than torch's."""

KNOWN_MODULE_FAILURES: dict[str, str] = {}
"""Name of an entry of `module_db` (`nn.Linear`) -> the reason it fails."""
