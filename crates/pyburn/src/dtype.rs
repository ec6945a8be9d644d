//! `pyburn.dtype`, `pyburn.device` and how arguments become them.

use pyo3::prelude::*;
use wrap_burn::{DType, Device, py};

use crate::boundary::to_py;

/// An element type, such as ``pyburn.float32``.
#[pyclass(name = "dtype", module = "pyburn", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PyDType(pub DType);

#[pymethods]
impl PyDType {
    #[new]
    fn new(name: &str) -> PyResult<Self> {
        name.parse().map(PyDType).map_err(to_py)
    }

    /// Bytes per element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.size()
    }

    /// Whether it is a real floating-point type.
    #[getter]
    fn is_floating_point(&self) -> bool {
        self.0.is_float()
    }

    /// Whether it is a complex type.
    #[getter]
    fn is_complex(&self) -> bool {
        self.0.is_complex()
    }

    /// Whether it holds negative numbers.
    #[getter]
    fn is_signed(&self) -> bool {
        !matches!(self.0, DType::Bool | DType::U8)
    }

    /// The real type of a complex one's parts.
    #[expect(clippy::wrong_self_convention, reason = "Python shares its objects")]
    fn to_real(&self) -> Self {
        PyDType(self.0.to_real())
    }

    /// The complex type whose parts have this type.
    #[expect(clippy::wrong_self_convention, reason = "Python shares its objects")]
    fn to_complex(&self) -> Self {
        PyDType(self.0.to_complex())
    }

    fn __repr__(&self) -> String {
        format!("pyburn.{}", self.0)
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<PyDType>().into_any().unbind(), (self.0.to_string(),)))
    }
}

/// A device, such as ``pyburn.device("cuda:0")``.
#[pyclass(name = "device", module = "pyburn", frozen, eq, hash)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PyDevice(pub Device);

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (device, index = None))]
    fn new(device: DeviceArg, index: Option<u32>) -> PyResult<Self> {
        Ok(PyDevice(match (device.0, index) {
            (device, None) => device,
            (Device::Wgpu(_), Some(index)) => Device::Wgpu(index),
            (Device::Cuda(_), Some(index)) => Device::Cuda(index),
            (device, Some(0)) => device,
            (device, Some(index)) => {
                return Err(pyo3::exceptions::PyRuntimeError::new_err(format!(
                    "device: there is one {device}, so its index is 0, got {index}"
                )));
            }
        }))
    }

    /// The backend: ``cpu``, ``wgpu``, ``cuda`` or ``meta``.
    #[getter(r#type)]
    fn kind(&self) -> &'static str {
        self.0.backend()
    }

    /// Which of the backend's devices; ``None`` for the CPU.
    #[getter]
    fn index(&self) -> Option<u32> {
        self.0.index()
    }

    /// New tensors of this thread go here until the block ends.
    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        wrap_burn::defaults::enter_device(slf.get().0);
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, pyo3::types::PyTuple>) {
        wrap_burn::defaults::leave_device();
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        match self.0.index() {
            Some(index) => format!("device(type='{}', index={index})", self.0.backend()),
            None => format!("device(type='{}')", self.0.backend()),
        }
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String,))> {
        Ok((py.get_type::<PyDevice>().into_any().unbind(), (self.0.to_string(),)))
    }
}

/// A dtype argument: ours, a name, a NumPy dtype, or one of Python's own number types.
#[derive(Clone, Copy)]
pub(crate) struct DTypeArg(pub DType);

impl<'a, 'py> FromPyObject<'a, 'py> for DTypeArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(dtype) = object.cast::<PyDType>() {
            return Ok(DTypeArg(dtype.get().0));
        }
        object.extract::<py::PyDType>().map(|dtype| DTypeArg(dtype.0))
    }
}

/// A device argument: ours, a name, an index of a CUDA device, or a member of ``Backend``.
#[derive(Clone, Copy)]
pub(crate) struct DeviceArg(pub Device);

impl DeviceArg {
    /// The device that `device=` or its synonym `backend=` names.
    pub(crate) fn named(device: Option<Self>, backend: Option<Self>) -> PyResult<Option<Device>> {
        match (device, backend) {
            (Some(DeviceArg(device)), Some(DeviceArg(backend))) if device != backend => {
                Err(pyo3::exceptions::PyValueError::new_err(format!(
                    "device: expected device= and backend= to name one device, got {device} and \
                     {backend}; hint: give one of them"
                )))
            }
            (device, backend) => Ok(device.or(backend).map(|arg| arg.0)),
        }
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for DeviceArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(device) = object.cast::<PyDevice>() {
            return Ok(DeviceArg(device.get().0));
        }
        object.extract::<py::PyDevice>().map(|device| DeviceArg(device.0))
    }
}
