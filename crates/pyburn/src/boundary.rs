//! The one way into the engine: the interpreter is released, panics are caught, errors converted.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pyo3::exceptions::{
    PyIndexError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError,
    PyZeroDivisionError,
};
use pyo3::prelude::*;
use wrap_burn::{Error, ErrorKind, Tensor};

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

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static GUARDED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Keeps burn's panics off the terminal while they are being turned into exceptions.
pub(crate) fn install_panic_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line()));
                let text = format!("{}{}", payload(info.payload()), place.unwrap_or_default());
                LAST_PANIC.with_borrow_mut(|slot| *slot = Some(text));
            } else {
                previous(info);
            }
        }));
    });
}

fn payload(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| text.to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "unknown cause".into())
}

/// The engine's error as the exception PyTorch raises in its place.
pub(crate) fn to_py(error: Error) -> PyErr {
    let message = error.message().to_string();
    match error.kind() {
        ErrorKind::Type => PyTypeError::new_err(message),
        ErrorKind::Value => PyValueError::new_err(message),
        ErrorKind::Index => PyIndexError::new_err(message),
        ErrorKind::Runtime => PyRuntimeError::new_err(message),
        ErrorKind::Unsupported => PyNotImplementedError::new_err(message),
        ErrorKind::ZeroDivision => PyZeroDivisionError::new_err(message),
        ErrorKind::LinAlg => LinAlgError::new_err(message),
        ErrorKind::Device => DeviceError::new_err(message),
        ErrorKind::OutOfMemory => OutOfMemoryError::new_err(message),
    }
}

/// An exception on its way through the engine: kept aside, so that it comes out as it went in.
pub(crate) fn from_py(py: Python<'_>, error: PyErr) -> Error {
    let text = error.to_string();
    PENDING.with_borrow_mut(|slot| *slot = Some(error.clone_ref(py)));
    Error::new(ErrorKind::Runtime, text)
}

thread_local! {
    static PENDING: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

fn guarded<R>(f: impl FnOnce() -> wrap_burn::Result<R>) -> PyResult<R> {
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(outer);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            Err(PENDING.with_borrow_mut(Option::take).unwrap_or_else(|| to_py(error)))
        }
        Err(cause) => {
            let text =
                LAST_PANIC.with_borrow_mut(Option::take).unwrap_or_else(|| payload(cause.as_ref()));
            let text = format!("internal error, please report it: {text}");
            Err(PyRuntimeError::new_err(text))
        }
    }
}

/// Runs engine code with the interpreter released.
pub(crate) fn run<R: Send>(
    py: Python<'_>,
    f: impl FnOnce() -> wrap_burn::Result<R> + Send,
) -> PyResult<R> {
    py.detach(|| guarded(f))
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
    if small { guarded(f) } else { run(py, f) }
}

/// Runs engine code that only looks at shapes.
pub(crate) fn quick<R>(f: impl FnOnce() -> wrap_burn::Result<R>) -> PyResult<R> {
    guarded(f)
}
