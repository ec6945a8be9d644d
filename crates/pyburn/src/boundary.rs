//! The one way into the engine: the interpreter is released, panics are caught, errors converted.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
pub(crate) use wrap_burn::py::{from_py, quick, run};
use wrap_burn::{Error, Tensor};

pyo3::create_exception!(
    pyburn,
    DeviceError,
    PyRuntimeError,
    "A device is missing, has no driver or was lost."
);
pyo3::create_exception!(
    pyburn,
    OutOfMemoryError,
    PyRuntimeError,
    "A device, or the host, has no memory left."
);
pyo3::create_exception!(
    pyburn,
    LinAlgError,
    PyRuntimeError,
    "A matrix lacks what an algorithm needs: it is singular, not positive definite, ..."
);

/// Elements below which releasing the interpreter costs more than it gives.
const SMALL: usize = 8 * 1024;

/// The engine's error as the exception PyTorch raises in its place.
pub(crate) fn to_py(error: Error) -> PyErr {
    error.into()
}

/// Runs engine code on a tensor, releasing the interpreter only where the work is worth it.
pub(crate) fn on<R: Send>(
    py: Python<'_>,
    tensor: &Tensor,
    f: impl FnOnce() -> wrap_burn::Result<R> + Send,
) -> PyResult<R> {
    let small = {
        let value = tensor.read();
        value.numel() < SMALL && !value.device().is_gpu()
    };
    if small { quick(f) } else { run(py, f) }
}
