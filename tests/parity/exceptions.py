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

HALVES = r"\b(b?float16)\b"
SPECIAL = r"(zeta|ndtri|log_ndtr|erfcx|\w*bessel_\w*|\w+_polynomial_\w+)"

DTYPE_DIFFERENCES: list[tuple[str, str, str]] = [
    (r"addm[mv]|addcmul", r"=\d\.\d", "torch cuts factors that are no integers to integers"),
    (r"cdist|histogram(dd)?|linalg\.vander", HALVES, "torch has no kernel for halves"),
    (rf"special\.{SPECIAL}", HALVES, "torch has no kernel for halves"),
    (r"ldexp", HALVES, "torch has no complex numbers of halves to multiply by"),
    (r"ldexp", r"bool", "torch has no power of two tensors, one of them of truth values"),
    (r"view_as_complex|complex|polar", HALVES, "burn lacks complex32, the result's type in torch"),
    (r"gradient", r"bool|uint8", "torch subtracts before it converts; PyBurn takes them as floats"),
    (
        r"isin|kthvalue|(nan)?median|topk|bucketize|trace|linalg\.vander",
        r"bool",
        "torch has no kernel for truth values, which are ordered and add up all the same",
    ),
    (r"index_reduce\..*", r"bool|complex", "scatter_reduce takes them, in torch as well"),
    (r"index_add", r"bool", "PyBurn adds no multiples of truth values"),
    (r"lu_unpack", r".*", "torch unpacks dtypes in which nothing is factored"),
    (
        r"(linalg\.)?(svd|det|eigh|eigvalsh)|linalg\.multi_dot|mm|tensordot",
        r"\[0, |bool",
        "torch looks at the dtype only where there is something to compute",
    ),
    (r"searchsorted", r"complex64\[0\]|complex128\[0\]", "as above: nothing is compared"),
    (r"__rdiv__", r".*", "torch multiplies by the reciprocal, whose dtype counts; PyBurn divides"),
    (r"einsum", r"bool|int", "torch's sums give int64; PyBurn keeps the operands' dtype"),
]
"""Full names of entries, a part of their calls, and the reason why these give other dtypes than
torch's or are refused by one of both. Patterns; the names' must match as a whole."""

KNOWN_MODULE_FAILURES: dict[str, str] = {}
"""Name of an entry of `module_db` (`nn.Linear`) -> the reason it fails."""
