"""Public names that need no row: they are not ops, or a test file of their own checks them."""

from __future__ import annotations

_STATE = "reads or sets a setting"
_SEED = "sets or reads the state of the generator; test_random.py uses it"
_QUESTION = "answers a question about a tensor without computing; the tensor tests ask it"
_PROPERTY = "an attribute; the tensor tests read it"
_AUTOGRAD = "a part of autograd, tested with it"
_UNFILLED = "the elements mean nothing until they are written"
_EXCHANGE = "carries data in or out, tested with interchange"
_FILE = "reads or writes a file"

NOT_OPS: dict[str, str] = {
    **dict.fromkeys(
        (
            "are_deterministic_algorithms_enabled",
            "clear_autocast_cache",
            "get_autocast_cpu_dtype",
            "get_autocast_dtype",
            "get_autocast_gpu_dtype",
            "get_default_device",
            "get_default_dtype",
            "get_deterministic_debug_mode",
            "get_float32_matmul_precision",
            "get_num_interop_threads",
            "get_num_threads",
            "get_printoptions",
            "is_autocast_cache_enabled",
            "is_autocast_cpu_enabled",
            "is_autocast_enabled",
            "is_deterministic_algorithms_warn_only_enabled",
            "printoptions",
            "set_autocast_cache_enabled",
            "set_autocast_cpu_dtype",
            "set_autocast_cpu_enabled",
            "set_autocast_dtype",
            "set_autocast_enabled",
            "set_autocast_gpu_dtype",
            "set_default_device",
            "set_default_dtype",
            "set_deterministic_debug_mode",
            "set_float32_matmul_precision",
            "set_num_threads",
            "set_printoptions",
            "use_deterministic_algorithms",
        ),
        _STATE,
    ),
    **dict.fromkeys(
        ("get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state"), _SEED
    ),
    **dict.fromkeys(
        (
            "broadcast_shapes",
            "can_cast",
            "data_ptr",
            "dim",
            "dim_order",
            "element_size",
            "get_device",
            "is_complex",
            "is_conj",
            "is_contiguous",
            "is_floating_point",
            "is_inference",
            "is_neg",
            "is_pinned",
            "is_same_size",
            "is_set_to",
            "is_shared",
            "is_signed",
            "is_storage",
            "is_tensor",
            "ndimension",
            "nelement",
            "numel",
            "promote_types",
            "result_type",
            "size",
            "storage_offset",
            "stride",
            "type",
        ),
        _QUESTION,
    ),
    **dict.fromkeys(
        (
            "H",
            "T",
            "backend",
            "data",
            "device",
            "dtype",
            "is_cpu",
            "is_cuda",
            "is_meta",
            "is_mkldnn",
            "is_mps",
            "is_nested",
            "is_quantized",
            "is_sparse",
            "is_sparse_csr",
            "is_xla",
            "is_xpu",
            "itemsize",
            "layout",
            "mH",
            "mT",
            "name",
            "nbytes",
            "ndim",
            "shape",
        ),
        _PROPERTY,
    ),
    **dict.fromkeys(
        (
            "backward",
            "grad",
            "grad_fn",
            "is_anomaly_enabled",
            "is_grad_enabled",
            "is_inference_mode_enabled",
            "is_leaf",
            "output_nr",
            "register_hook",
            "register_post_accumulate_grad_hook",
            "requires_grad",
            "requires_grad_",
            "retain_grad",
            "retains_grad",
        ),
        _AUTOGRAD,
    ),
    **dict.fromkeys(
        (
            "empty",
            "empty_like",
            "empty_permuted",
            "empty_strided",
            "new",
            "new_empty",
            "new_empty_strided",
            "resize_",
            "resize_as_",
            "set_",
        ),
        _UNFILLED,
    ),
    **dict.fromkeys(
        ("cuda", "from_dlpack", "from_numpy", "item", "numpy", "to_dense", "tolist"), _EXCHANGE
    ),
    **dict.fromkeys(("load", "save"), _FILE),
    "apply_": "calls a Python function for each element",
    "backends": "lists devices",
    "memory_stats": "asks a device",
    "synchronize": "waits for a device",
    "map_": "calls a Python function for each element",
    "vmap": "makes a function of a function",
}
"""Name -> the reason that it has no row."""

ELSEWHERE: dict[str, str] = {
    **dict.fromkeys(
        (
            "geqrf",
            "lu",
            "lu_solve",
            "lu_unpack",
            "orgqr",
            "ormqr",
            "pca_lowrank",
            "qr",
            "svd",
            "svd_lowrank",
            "triangular_solve",
        ),
        "ops/test_decompositions.py",
    ),
    **dict.fromkeys(("istft", "stft"), "ops/test_decompositions.py"),
    "lobpcg": "ops/test_lobpcg.py",
}
"""Name -> the test file that checks it, since results are not unique or need more than a row."""
