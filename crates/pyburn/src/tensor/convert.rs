//! Tensors as other things: numbers, lists, arrays, tensors of another dtype or device.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

use super::PyTensor;
use crate::args::T;
use crate::boundary::{on, run};
use crate::dtype::{DTypeArg, DeviceArg, PyDType};
use crate::exchange;

#[pymethods]
impl PyTensor {
    /// The only element as a Python number.
    fn item<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let scalar = on(py, &self.0, || self.0.item())?;
        exchange::number(py, scalar)
    }

    /// The elements as nested lists of Python numbers.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.0.value();
        let host = run(py, || value.to_host())?;
        exchange::to_list(py, &host)
    }

    /// The elements as a NumPy array that shares the memory.
    #[pyo3(signature = (*, force = false))]
    fn numpy<'py>(&self, py: Python<'py>, force: bool) -> PyResult<Bound<'py, PyAny>> {
        let mut value = self.0.value();
        if force {
            value = run(py, || value.to_host())?;
        } else {
            exchange::check_shareable("numpy", &self.0)?;
        }
        exchange::to_array(py, value)
    }

    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        exchange::check_shareable("numpy", &self.0)?;
        let array = exchange::to_array(py, self.0.value())?;
        let converts = match &dtype {
            Some(dtype) => !array.getattr("dtype")?.eq(dtype)?,
            None => false,
        };
        if converts && copy == Some(false) {
            return Err(PyValueError::new_err(
                "__array__: converting the dtype needs a copy, but copy=False was given",
            ));
        }
        match dtype {
            Some(dtype) if converts => array.call_method1("astype", (dtype,)),
            _ if copy == Some(true) => array.call_method0("copy"),
            _ => Ok(array),
        }
    }

    fn __len__(&self) -> PyResult<usize> {
        match self.0.read().shape.first() {
            Some(&size) => Ok(size),
            None => Err(PyTypeError::new_err("len() of a 0-d tensor")),
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let numel = self.0.numel();
        if numel != 1 {
            return Err(PyRuntimeError::new_err(format!(
                "Boolean value of Tensor with {} is ambiguous",
                if numel == 0 { "no values" } else { "more than one value" }
            )));
        }
        Ok(on(py, &self.0, || self.0.item())?.to_bool())
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(on(py, &self.0, || self.0.item())?.to_f64())
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = exchange::number(py, on(py, &self.0, || self.0.item())?)?;
        py.get_type::<PyInt>().call1((number,))
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (re, im) = on(py, &self.0, || self.0.item())?.to_parts();
        Ok(pyo3::types::PyComplex::from_doubles(py, re, im).into_any())
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<i64> {
        let dtype = self.0.dtype();
        if dtype.is_differentiable() || self.0.numel() != 1 {
            return Err(PyTypeError::new_err(
                "only integer tensors of a single element can be converted to an index",
            ));
        }
        Ok(on(py, &self.0, || self.0.item())?.to_i64())
    }

    /// The same elements with another dtype, on another device, or both.
    #[pyo3(signature = (*args, dtype = None, device = None, non_blocking = false, copy = false, memory_format = None))]
    fn to<'py>(
        slf: Bound<'py, Self>,
        args: &Bound<'py, PyTuple>,
        dtype: Option<DTypeArg>,
        device: Option<DeviceArg>,
        non_blocking: bool,
        copy: bool,
        memory_format: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = (non_blocking, memory_format);
        let py = slf.py();
        let (mut dtype, mut device) = (dtype.map(|arg| arg.0), device.map(|arg| arg.0));
        for arg in args.iter() {
            if let Ok(other) = arg.extract::<T>() {
                (dtype, device) = (Some(other.0.dtype()), Some(other.0.device()));
            } else if let Ok(target) = arg.cast::<PyDType>() {
                dtype = Some(target.get().0);
            } else if arg.is_instance_of::<pyo3::types::PyBool>() {
                // The positional form of non_blocking and copy.
            } else if let Ok(target) = arg.extract::<DeviceArg>() {
                device = Some(target.0);
            } else {
                dtype = Some(arg.extract::<DTypeArg>()?.0);
            }
        }
        let source = &slf.get().0;
        let same = dtype.is_none_or(|dtype| dtype == source.dtype())
            && device.is_none_or(|device| device == source.device());
        if same && !copy {
            return Ok(slf);
        }
        let moved = run(py, || {
            let mut tensor = source.clone();
            // Narrow before an upload, widen after a download.
            let leaves = device.is_some_and(|device| device.is_gpu());
            if leaves && let Some(dtype) = dtype {
                tensor = tensor.to_dtype(dtype)?;
            }
            if let Some(device) = device {
                tensor = tensor.to_device(device)?;
            }
            if !leaves && let Some(dtype) = dtype {
                tensor = tensor.to_dtype(dtype)?;
            }
            if same { tensor.deep_copy() } else { Ok(tensor) }
        })?;
        Bound::new(py, PyTensor(moved))
    }
}
