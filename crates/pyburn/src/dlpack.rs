//! DLPack both ways: what the tensor class and `pyburn.from_dlpack` add to the protocol itself.

use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use wrap_burn::Tensor;
use wrap_burn::py::dlpack::{self, CPU, Layout, place};

use crate::boundary::run;
use crate::tensor::PyTensor;

#[pymethods]
impl PyTensor {
    /// A DLPack capsule over the elements.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Host memory is complete when a call returns: there is no stream to wait for.
        let _ = stream;
        if self.0.requires_grad() {
            return Err(PyBufferError::new_err(
                "__dlpack__: can't export tensors that require gradient, use tensor.detach()",
            ));
        }
        let mut value = self.0.value();
        if !value.has_data() {
            return Err(PyBufferError::new_err("__dlpack__: a meta tensor has no data"));
        }
        if let Some((kind, index)) = dl_device
            && (kind, index) != CPU
            && (kind, index) != place(value.device())?
        {
            return Err(PyBufferError::new_err(format!(
                "__dlpack__: cannot export to the device ({kind}, {index}), only to the CPU (1, 0)"
            )));
        }
        let mut copied = false;
        if value.device().is_gpu() {
            if dl_device != Some(CPU) || copy == Some(false) {
                return Err(PyBufferError::new_err(format!(
                    "__dlpack__: memory on {} belongs to burn and cannot be shared; hint: use \
                     tensor.cpu(), or ask for dl_device=(1, 0) and a copy",
                    value.device()
                )));
            }
            value = run(py, || value.to_host())?;
            copied = true;
        } else if copy == Some(true) {
            value = run(py, || value.copied())?;
            copied = true;
        }
        let layout = match max_version {
            Some((major, _)) if major >= 1 => Layout::Versioned,
            _ => Layout::Legacy,
        };
        dlpack::capsule(py, value, layout, copied)
    }

    /// DLPack's numbers for the device: its kind and its index.
    fn __dlpack_device__(&self) -> PyResult<(i32, i32)> {
        Ok(place(self.0.device())?)
    }
}

/// A tensor over the memory of a DLPack capsule, which is used up.
#[pyfunction]
#[pyo3(signature = (capsule, copy = None))]
fn _from_dlpack(capsule: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<PyTensor> {
    Ok(PyTensor(Tensor::from_value(dlpack::take(capsule, copy)?)))
}

/// Adds the module's function.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(_from_dlpack, module)?)
}
