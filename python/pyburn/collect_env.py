"""What a bug report needs to know: versions, devices, threads.

``python -m pyburn.collect_env`` prints it, ``python -m pyburn`` the short form.
"""

from __future__ import annotations

import os
import platform
import sys

import pyburn

__all__ = ["get_env_info", "get_pretty_env_info", "main"]

_FLAGS = (
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512_bf16",
    "amx_tile",
    "neon",
    "asimd",
    "sve",
)
_SETTINGS = ("PYBURN_", "CUBECL_", "WGPU_", "CUDA_VISIBLE_DEVICES", "RAYON_", "OMP_NUM_THREADS")


def _cpu() -> tuple[str, list[str]]:
    """The processor's name and the instruction sets that matter here."""
    name, flags = platform.processor() or platform.machine(), []
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == "model name":
                    name = value.strip()
                elif key.strip() in ("flags", "Features"):
                    known = set(value.split())
                    flags = [flag for flag in _FLAGS if flag in known]
                    break
    except OSError:
        pass  # only Linux has this file; the platform's name is all there is elsewhere
    return name, flags


def get_env_info() -> dict[str, str]:
    """Each fact by its name.

    Example:
        >>> pyburn.collect_env.get_env_info()["PyBurn version"] == pyburn.__version__
        True
    """
    import numpy as np

    name, flags = _cpu()
    info = {
        "PyBurn version": pyburn.__version__,
        "Python version": f"{platform.python_version()} ({platform.python_implementation()}, "
        f"{'64' if sys.maxsize > 2**32 else '32'}-bit)",
        "NumPy version": np.__version__,
        "System": platform.platform(),
        "CPU": name,
        "CPU features": " ".join(flags) or "not known here",
        "CPU cores": str(os.cpu_count()),
        "Threads": str(pyburn.get_num_threads()),
        "Default device": str(pyburn.get_default_device()),
        "Default dtype": str(pyburn.get_default_dtype()),
    }
    for backend in pyburn.backends():
        info[f"Backend {backend.name}"] = (
            ", ".join(backend.devices) if backend.available else f"not available ({backend.reason})"
        )
    for key in sorted(os.environ):
        if key.startswith(_SETTINGS):
            info[key] = os.environ[key]
    return info


def get_pretty_env_info() -> str:
    """The facts, one per line."""
    return "\n".join(f"{key}: {value}" for key, value in get_env_info().items())


def main() -> None:
    """Prints the facts."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
