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
