//! The way from Python into the engine and back: errors, panics, the interpreter's lock.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pyo3::exceptions::{
    PyIndexError, PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError,
    PyZeroDivisionError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::{Error, ErrorKind, Result};

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static PENDING: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Keeps panics off the terminal while they are being turned into exceptions.
fn install_panic_hook() {
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

/// The exception PyTorch raises in an error's place.
impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        let message = error.message().to_string();
        match error.kind() {
            ErrorKind::Type => PyTypeError::new_err(message),
            ErrorKind::Value => PyValueError::new_err(message),
            ErrorKind::Index => PyIndexError::new_err(message),
            ErrorKind::Runtime => PyRuntimeError::new_err(message),
            ErrorKind::Unsupported => PyNotImplementedError::new_err(message),
            ErrorKind::ZeroDivision => PyZeroDivisionError::new_err(message),
            ErrorKind::LinAlg => of_class("LinAlgError", message),
            ErrorKind::Device => of_class("DeviceError", message),
            ErrorKind::OutOfMemory => of_class("OutOfMemoryError", message),
        }
    }
}

/// An exception of one of PyBurn's own classes. Each module that links this crate finds them in
/// the installed package, so that `except pyburn.DeviceError` catches them all; without the package
/// it is their base class.
fn of_class(name: &str, message: String) -> PyErr {
    Python::attach(|py| {
        let class = py.import("pyburn._core").and_then(|module| module.getattr(name));
        match class.map(|class| class.cast_into::<PyType>()) {
            Ok(Ok(class)) => PyErr::from_type(class, (message,)),
            _ => PyRuntimeError::new_err(message),
        }
    })
}

/// An exception on its way through the engine: [`run`] and [`quick`] raise it as it was, whatever
/// the engine adds to the error that stands for it.
pub fn from_py(py: Python<'_>, error: PyErr) -> Error {
    let text = error.to_string();
    PENDING.with_borrow_mut(|slot| *slot = Some(error.clone_ref(py)));
    Error::new(ErrorKind::Runtime, text)
}

/// Runs engine code with the interpreter released: other Python threads go on meanwhile.
#[inline]
pub fn run<R: Send>(py: Python<'_>, f: impl FnOnce() -> Result<R> + Send) -> PyResult<R> {
    py.detach(|| quick(f))
}

/// Runs engine code that is too short for releasing the interpreter to pay.
#[inline]
pub fn quick<R>(f: impl FnOnce() -> Result<R>) -> PyResult<R> {
    install_panic_hook();
    let outer = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(outer);
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(failed(error)),
        Err(cause) => Err(panicked(cause)),
    }
}

#[cold]
fn failed(error: Error) -> PyErr {
    PENDING.with_borrow_mut(Option::take).unwrap_or_else(|| error.into())
}

#[cold]
fn panicked(cause: Box<dyn Any + Send>) -> PyErr {
    let text = LAST_PANIC.with_borrow_mut(Option::take).unwrap_or_else(|| payload(cause.as_ref()));
    PyRuntimeError::new_err(format!("internal error, please report it: {text}"))
}
