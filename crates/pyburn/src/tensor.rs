//! The class `pyburn.Tensor`: its memory, its history, its operators. Functions with many
//! arguments are attached to it by the Python package.

mod convert;
mod history;
mod reshape;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyTuple, PyType};
use wrap_burn::{Device, Tensor, autograd};

use self::history::RemovableHandle;
use crate::args::{self, T};
use crate::boundary::{on, run, to_py};
use crate::dtype::{DTypeArg, DeviceArg, PyDType, PyDevice};
use crate::exchange::{self, Memory};

/// A multi-dimensional array of one element type on one device, with a history for gradients.
#[pyclass(name = "Tensor", module = "pyburn", subclass, weakref, dict, frozen)]
pub(crate) struct PyTensor(pub Tensor);

impl From<Tensor> for PyTensor {
    fn from(tensor: Tensor) -> Self {
        PyTensor(tensor)
    }
}

/// Python classes the engine makes instances of.
static SIZE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Tells the engine which class shapes have.
#[pyfunction]
pub(crate) fn _register_size(py: Python<'_>, class: Py<PyAny>) {
    // Set once per interpreter; a repeated import keeps the first class.
    let _ = SIZE.set(py, class);
}

/// A shape as Python shows it.
pub(crate) fn size<'py>(py: Python<'py>, shape: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let tuple = PyTuple::new(py, shape)?;
    match SIZE.get(py) {
        Some(class) => class.bind(py).call1((tuple,)),
        None => Ok(tuple.into_any()),
    }
}

#[pymethods]
impl PyTensor {
    #[new]
    #[pyo3(signature = (*data, dtype = None, device = None, backend = None, requires_grad = false))]
    fn new(
        py: Python<'_>,
        data: &Bound<'_, PyTuple>,
        dtype: Option<DTypeArg>,
        device: Option<DeviceArg>,
        backend: Option<DeviceArg>,
        requires_grad: bool,
    ) -> PyResult<Self> {
        let device = DeviceArg::named(device, backend)?;
        // `Tensor(tensor)` looks at the same memory: subclasses such as Parameter are made so.
        let tensor = if data.len() == 1
            && let Ok(T(source)) = data.get_item(0)?.extract::<T>()
        {
            let mut tensor = source.detach();
            if let Some(dtype) = dtype {
                tensor = on(py, &source, || tensor.to_dtype(dtype.0))?;
            }
            match device {
                Some(device) => run(py, || tensor.to_device(device))?,
                None => tensor,
            }
        } else if data.iter().all(|item| item.is_instance_of::<PyInt>()) {
            let sizes = args::sizes(data)?;
            let shape = if data.is_empty() { vec![0] } else { args::shape_of("Tensor", &sizes)? };
            let dtype = dtype.map_or_else(wrap_burn::defaults::float, |arg| arg.0);
            let device = device.unwrap_or_else(wrap_burn::defaults::device);
            run(py, || Tensor::zeros(&shape, dtype, device))?
        } else {
            let object = if data.len() == 1 { data.get_item(0)? } else { data.clone().into_any() };
            let float = wrap_burn::defaults::float();
            make(py, &object, Some(dtype.map_or(float, |arg| arg.0)), device)?
        };
        if requires_grad {
            tensor.set_requires_grad(true).map_err(to_py)?;
        }
        Ok(PyTensor(tensor))
    }

    /// The size of each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        size(py, &self.0.read().shape)
    }

    /// The shape, or the size of one dimension.
    #[pyo3(signature = (dim = None))]
    fn size<'py>(&self, py: Python<'py>, dim: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.0.read();
        match dim {
            None => size(py, &value.shape),
            Some(dim) => {
                let rank = value.rank() as i64;
                if dim < -rank || dim >= rank {
                    return Err(pyo3::exceptions::PyIndexError::new_err(format!(
                        "size: dimension out of range (expected to be in range of [{}, {}], but got {dim})",
                        -rank.max(1),
                        rank.max(1) - 1
                    )));
                }
                Ok(value.shape[((dim + rank) % rank) as usize].into_pyobject(py)?.into_any())
            }
        }
    }

    /// Steps between neighbours, in elements.
    #[pyo3(signature = (dim = None))]
    fn stride<'py>(&self, py: Python<'py>, dim: Option<i64>) -> PyResult<Bound<'py, PyAny>> {
        let value = self.0.read();
        match dim {
            None => Ok(PyTuple::new(py, value.strides.iter())?.into_any()),
            Some(dim) => {
                let rank = value.rank() as i64;
                if dim < -rank || dim >= rank {
                    return Err(pyo3::exceptions::PyIndexError::new_err(format!(
                        "stride: dimension {dim} is out of range for {rank} dimensions"
                    )));
                }
                Ok(value.strides[((dim + rank) % rank) as usize].into_pyobject(py)?.into_any())
            }
        }
    }

    /// Where the first element stands in the storage.
    fn storage_offset(&self) -> usize {
        self.0.read().offset
    }

    /// The element type.
    #[getter]
    fn dtype(&self) -> PyDType {
        PyDType(self.0.dtype())
    }

    /// The device the elements are on.
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device())
    }

    /// The name of the backend, ``ndarray`` for the CPU.
    #[getter]
    fn backend(&self) -> &'static str {
        match self.0.device() {
            Device::Cpu => "ndarray",
            other => other.backend(),
        }
    }

    /// Number of dimensions.
    #[getter]
    fn ndim(&self) -> usize {
        self.0.rank()
    }

    /// Number of dimensions.
    fn dim(&self) -> usize {
        self.0.rank()
    }

    /// Number of elements.
    fn numel(&self) -> usize {
        self.0.numel()
    }

    /// Bytes per element.
    #[getter]
    fn itemsize(&self) -> usize {
        self.0.dtype().size()
    }

    /// Bytes per element.
    fn element_size(&self) -> usize {
        self.0.dtype().size()
    }

    /// Bytes of all elements.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.numel() * self.0.dtype().size()
    }

    /// Address of the first element, for tensors in host memory.
    fn data_ptr(&self) -> PyResult<usize> {
        let value = self.0.read();
        let buffer = value.buffer().map_err(to_py)?;
        Ok(buffer.pointer() as usize + value.offset * value.dtype.size())
    }

    /// Whether elements lie in row-major order without gaps.
    #[pyo3(signature = (memory_format = None))]
    fn is_contiguous(&self, memory_format: Option<Bound<'_, PyAny>>) -> bool {
        let _ = memory_format;
        self.0.read().is_contiguous()
    }

    /// Whether the dtype is a real floating-point type.
    fn is_floating_point(&self) -> bool {
        self.0.dtype().is_float()
    }

    /// Whether the dtype is a complex type.
    fn is_complex(&self) -> bool {
        self.0.dtype().is_complex()
    }

    /// Whether the tensor is on a CUDA device.
    #[getter]
    fn is_cuda(&self) -> bool {
        matches!(self.0.device(), Device::Cuda(_))
    }

    /// Whether the tensor has shape and dtype but no elements.
    #[getter]
    fn is_meta(&self) -> bool {
        !self.0.read().has_data()
    }

    /// Whether an output of another size may replace the memory: not if somebody else owns it.
    #[getter]
    fn _resizable(&self) -> bool {
        !self.0.read().buffer().is_ok_and(|buffer| buffer.is_foreign())
    }

    /// How often the memory was written in place.
    #[getter]
    fn _version(&self) -> u64 {
        self.0.read().version()
    }

    /// The tensor whose memory this one looks at, or ``None``.
    #[getter]
    fn _base(&self) -> Option<PyTensor> {
        self.0.base().map(PyTensor)
    }

    /// Whether this tensor looks at another one's memory.
    fn _is_view(&self) -> bool {
        self.0.base().is_some()
    }

    /// Whether two tensors look at the same storage.
    fn _shares_storage(&self, other: T) -> bool {
        self.0.read().shares_storage(&other.0.read())
    }

    /// Whether two handles are the same tensor.
    fn _is_same(&self, other: T) -> bool {
        self.0.is(&other.0)
    }

    fn __hash__(&self) -> usize {
        self.0.address()
    }

    /// A row-major tensor: itself where it is one.
    #[pyo3(signature = (*, memory_format = None))]
    fn contiguous<'py>(
        slf: Bound<'py, Self>,
        memory_format: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let _ = memory_format;
        if slf.get().0.read().is_contiguous() {
            return Ok(slf);
        }
        let py = slf.py();
        let tensor = &slf.get().0;
        let copy = on(py, tensor, || tensor.deep_copy())?;
        Bound::new(py, PyTensor(copy))
    }

    /// A copy in fresh memory, through which gradients flow.
    #[pyo3(signature = (*, memory_format = None))]
    fn clone(&self, py: Python<'_>, memory_format: Option<Bound<'_, PyAny>>) -> PyResult<PyTensor> {
        let _ = memory_format;
        on(py, &self.0, || self.0.deep_copy()).map(PyTensor)
    }

    /// Writes ``src``, converted and broadcast, over the elements.
    #[pyo3(signature = (src, non_blocking = false))]
    fn copy_<'py>(slf: Bound<'py, Self>, src: T, non_blocking: bool) -> PyResult<Bound<'py, Self>> {
        let _ = non_blocking;
        let target = slf.get().0.clone();
        run(slf.py(), || target.copy_from(&src.0))?;
        Ok(slf)
    }

    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        _item: Bound<'py, PyAny>,
    ) -> Bound<'py, PyType> {
        class.clone()
    }
}

/// A fresh tensor from anything that holds numbers.
pub(crate) fn make(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    dtype: Option<wrap_burn::DType>,
    device: Option<Device>,
) -> PyResult<Tensor> {
    let source = match data.cast::<PyTensor>() {
        Ok(tensor) => {
            let tensor = tensor.get().0.clone();
            return run(py, move || {
                let _off = autograd::ModeGuard::grad(false);
                let device = device.unwrap_or(tensor.device());
                let dtype = dtype.unwrap_or(tensor.dtype());
                let fresh = tensor.to_dtype(dtype)?.to_device(device)?;
                Ok(Tensor::from_value(if fresh.is(&tensor) {
                    fresh.value().copied()?
                } else {
                    fresh.value()
                }))
            });
        }
        Err(_) => args::value_as(data, dtype)?,
    };
    let device = device.unwrap_or_else(wrap_burn::defaults::device);
    let named = dtype.is_some();
    run(py, move || {
        let _off = autograd::ModeGuard::grad(false);
        let tensor = Tensor::from_value(source);
        let mut dtype = dtype.unwrap_or(tensor.dtype());
        if !named {
            dtype = device.narrow(dtype);
        }
        tensor.to_dtype(dtype)?.to_device(device)
    })
}

/// A tensor of the given data: nested lists, numbers, arrays or another tensor; always a copy.
#[pyfunction]
#[pyo3(signature = (data, *, dtype = None, device = None, backend = None, requires_grad = false, pin_memory = false))]
pub(crate) fn tensor(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    dtype: Option<DTypeArg>,
    device: Option<DeviceArg>,
    backend: Option<DeviceArg>,
    requires_grad: bool,
    pin_memory: bool,
) -> PyResult<PyTensor> {
    let _ = pin_memory;
    let device = DeviceArg::named(device, backend)?;
    let made = make(py, data, dtype.map(|arg| arg.0), device)?;
    if requires_grad {
        made.set_requires_grad(true).map_err(to_py)?;
    }
    Ok(PyTensor(made))
}

/// A tensor over a NumPy array's memory: writes to one show in the other.
#[pyfunction]
pub(crate) fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    if !array.hasattr("__array_interface__")? {
        return Err(PyTypeError::new_err(format!(
            "from_numpy: expected a numpy.ndarray (got {})",
            array.get_type().name()?
        )));
    }
    Ok(PyTensor(Tensor::from_value(exchange::from_array(array, Memory::MustShare)?)))
}

/// A tensor over a NumPy array's memory, or over a copy where it cannot be shared.
#[pyfunction]
pub(crate) fn _from_array(array: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
    Ok(PyTensor(Tensor::from_value(exchange::from_array(array, Memory::Shared)?)))
}

/// Everything about the class that the package's own code needs and users do not.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTensor>()?;
    module.add_class::<RemovableHandle>()?;
    module.add_class::<exchange::HostMemory>()?;
    module.add_function(wrap_pyfunction!(_register_size, module)?)?;
    module.add_function(wrap_pyfunction!(tensor, module)?)?;
    module.add_function(wrap_pyfunction!(from_numpy, module)?)?;
    module.add_function(wrap_pyfunction!(_from_array, module)?)?;
    Ok(())
}
