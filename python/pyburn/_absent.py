"""PyTorch's names that are missing here on purpose, each with its reason.

Using one raises ``NotImplementedError`` with that reason; ``hasattr`` says no. Importing a missing
module raises ``ModuleNotFoundError`` with the reason. ``docs/limits.md`` shows the same table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["ABSENT", "AbsentModule", "AbsentName", "getter", "missing", "reason_of"]

_SPARSE = (
    "there are no sparse tensors; hint: index_add, scatter_add and segment_reduce serve graphs"
)
_NESTED = "there are no ragged tensors; hint: pad with nn.utils.rnn.pad_sequence and mask"
_COMPILE = "there is no compiler of Python functions yet"
_GRAPH = "there are no traces of Python functions yet"
_QUANTIZED = "there are no quantised tensors"
_DISTRIBUTED = "one process uses one machine's devices; nothing is sent to other processes"
_NETWORK = "nothing is downloaded; hint: fetch the file yourself and read it with pyburn.load"
_SCRIPT = "there is no TorchScript; hint: save a state_dict with pyburn.save"
_PROCESSES = "tensors do not share memory between processes; hint: threads run without the lock"
_PROFILER = "there is no profiler; hint: a sampling profiler sees Python and Rust"
_LATER = "it is not part of this version yet"
_STORAGE = "memory is shown by tensors only; hint: as_strided, data_ptr, numpy()"
_SYMBOLIC = "shapes are always numbers"
_DISPATCH = "operations cannot be added or replaced from Python; hint: autograd.Function"
_TYPED = "tensors have one class; hint: pyburn.tensor(..., dtype=...)"

_BY_REASON: dict[str, str] = {
    _SPARSE: """
        sparse sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor
        sparse_bsc_tensor sparse_compressed_tensor sparse_coo sparse_csr sparse_csc sparse_bsr
        sparse_bsc sparse.mm sparse.sum sparse.addmm sparse.softmax sparse.log_softmax smm spmm dsmm
        hsmm hspmm sspaddmm saddmm resize_as_sparse_ optim.SparseAdam""",
    _NESTED: "nested nested.as_nested_tensor nested.nested_tensor jagged masked",
    _COMPILE: "compile compiler _dynamo cond while_loop",
    _GRAPH: "fx fx.symbolic_trace fx.GraphModule fx.Graph fx.Node fx.wrap",
    _QUANTIZED: """
        quantization ao quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic
        dequantize fake_quantize_per_tensor_affine fake_quantize_per_channel_affine qint8 qint32
        quint8 quint4x2 quint2x4 qscheme per_tensor_affine per_channel_affine""",
    _DISTRIBUTED: "distributed futures",
    _PROCESSES: "multiprocessing",
    _NETWORK: "hub hub.load hub.load_state_dict_from_url hub.download_url_to_file",
    _SCRIPT: "jit.trace jit.load jit.save jit.freeze jit.fork jit.wait jit.ScriptModule "
    "jit.ScriptFunction jit.trace_module jit.optimize_for_inference ScriptModule ScriptFunction",
    _PROFILER: "profiler monitor",
    _LATER: "onnx export train data utils.data utils.tensorboard",
    _STORAGE: """
        Storage TypedStorage UntypedStorage FloatStorage DoubleStorage HalfStorage BFloat16Storage
        LongStorage IntStorage ShortStorage CharStorage ByteStorage BoolStorage""",
    _SYMBOLIC: """
        SymInt SymFloat SymBool sym_int sym_float sym_max sym_min sym_not sym_ite sym_sqrt
        sym_sum""",
    _DISPATCH: "library overrides ops classes package",
    _TYPED: """
        FloatTensor DoubleTensor HalfTensor BFloat16Tensor LongTensor IntTensor ShortTensor
        CharTensor ByteTensor BoolTensor set_default_tensor_type""",
    "burn has no such type; hint: a wider one holds its values": """
        uint16 uint32 uint64 complex32 chalf float8_e4m3fn float8_e5m2 float8_e4m3fnuz
        float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 bits8 bits16""",
    "PyTorch removed it; hint: pyburn.linalg": """
        eig symeig lstsq solve matrix_rank""",
    "it is too rarely used; hint: scipy.special has it": """
        special.airy_ai special.bessel_y0 special.bessel_y1 special.modified_bessel_k0
        special.modified_bessel_k1 special.scaled_modified_bessel_k0
        special.scaled_modified_bessel_k1""",
    "parameters are updated by optimizers only; hint: optimizer.step()": """
        optim.functional optim.swap_in_optimizer_params_and_state""",
    "burn has backends for the CPU, CUDA and wgpu only": "mps xpu mtia xpu.is_available",
    "burn schedules streams itself; hint: pyburn.synchronize": "Stream Event accelerator",
}

ABSENT: dict[str, str] = {
    name: reason for reason, names in _BY_REASON.items() for name in names.split()
}
"""Name below ``pyburn.`` -> why it is missing, and what to use instead."""


class AbsentName(NotImplementedError, AttributeError):
    """An attribute of PyTorch or PyBurn 0.1 that is missing here; ``hasattr`` says no to it."""


class AbsentModule(ModuleNotFoundError, NotImplementedError):
    """A module of PyTorch that is missing here."""


def reason_of(name: str) -> str | None:
    """Why a dotted name below the package is missing: for itself or for a package it is in."""
    while name:
        if name in ABSENT:
            return ABSENT[name]
        name = name.rpartition(".")[0]
    return None


def missing(module: str, name: str, reason: str | None = None) -> AttributeError:
    """The error of a module's ``__getattr__``."""
    full = f"{module}.{name}"
    reason = reason or reason_of(full.partition(".")[2])
    if reason is None:
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    return AbsentName(f"{full}: {reason}")


def getter(module: str) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that knows which names are missing on purpose."""

    def __getattr__(name: str) -> Any:
        raise missing(module, name)

    return __getattr__


class _Finder:
    """Is asked for modules that nothing else has found, and says why they are missing."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        package, _, inner = name.partition(".")
        if package == "pyburn":
            reason = reason_of(inner)
            if reason is not None:
                # Without `name=`, which would turn `from pyburn import fx` into a plain error.
                raise AbsentModule(f"{name}: {reason}")


sys.meta_path.append(_Finder)  # type: ignore[arg-type]
