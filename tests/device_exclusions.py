"""Rows that the device suite leaves out, with the reason."""

from __future__ import annotations

_DOUBLE = "computes in or gives float64, which most GPU adapters lack"
_ANSWER = "gives a Python value, which is compared on the CPU already"
_HOST = "reads the memory of the host"

EXCLUDED: dict[str, str] = {
    "Tensor.cdouble": _DOUBLE,
    "Tensor.double": _DOUBLE,
    "Tensor.type_as": _DOUBLE,
    "float_power": _DOUBLE,
    "Tensor.cpu": "leaves the device",
    "Tensor.to": "leaves the device",
    "Tensor.to_device": "leaves the device",
    "allclose": _ANSWER,
    "equal": _ANSWER,
    "is_nonzero": _ANSWER,
    "frombuffer": _HOST,
}
"""Name of a row -> why it is not run on the device."""

NEEDS: dict[str, str] = {
    "Tensor.bfloat16": "bfloat16",
    "Tensor.byte": "uint8",
    "Tensor.cfloat": "complex64",
    "Tensor.char": "int8",
    "Tensor.short": "int16",
    "complex": "complex64",
    "imag": "complex64",
    "polar": "complex64",
    "view_as_complex": "complex64",
    "view_as_real": "complex64",
}
"""Name of a row -> the dtype it cannot do without. A device that lacks it must say so."""
