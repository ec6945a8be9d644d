//! Tensors as arguments and results.

use std::ops::Deref;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

use super::dlpack;
use crate::Tensor;

/// A tensor that comes from Python or goes there, over the same memory on the CPU.
///
/// As an argument: any object with `__dlpack__`, such as a `pyburn.Tensor`. As a result: a
/// `pyburn.Tensor`. See the [module's page](super) for what does not cross.
#[derive(Clone, Debug)]
pub struct PyTensor(pub Tensor);

impl Deref for PyTensor {
    type Target = Tensor;

    fn deref(&self) -> &Tensor {
        &self.0
    }
}

impl From<Tensor> for PyTensor {
    fn from(tensor: Tensor) -> Self {
        Self(tensor)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for PyTensor {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if !object.hasattr("__dlpack__")? {
            return Err(PyTypeError::new_err(format!(
                "expected a pyburn.Tensor or another object with __dlpack__, got {}",
                object.get_type().name()?
            )));
        }
        let newest = PyDict::new(py);
        newest.set_item("max_version", dlpack::VERSION)?;
        let capsule = match object.call_method("__dlpack__", (), Some(&newest)) {
            // A producer from before version 1 knows no versions.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                object.call_method0("__dlpack__")?
            }
            answer => answer?,
        };
        dlpack::take(&capsule, None).map(|value| PyTensor(Tensor::from_value(value)))
    }
}

impl<'py> IntoPyObject<'py> for PyTensor {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        static FROM_DLPACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if self.requires_grad() {
            return Err(PyBufferError::new_err(
                "a result that requires a gradient cannot be handed to Python, as its history \
                 cannot; hint: return tensor.detach() and give the gradient by autograd.Function",
            ));
        }
        if self.device().is_gpu() {
            return Err(PyBufferError::new_err(format!(
                "a result on {} cannot be handed to Python, as its memory belongs to this \
                 module's engine; hint: return tensor.to_device(Device::Cpu)",
                self.device()
            )));
        }
        let capsule = dlpack::capsule(py, self.value(), dlpack::Layout::Versioned, false)?;
        FROM_DLPACK.import(py, "pyburn", "from_dlpack")?.call1((capsule,))
    }
}
