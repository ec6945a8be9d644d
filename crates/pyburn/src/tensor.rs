//! The class `pyburn.Tensor`: its memory, its history, its operators. Functions with many
//! arguments are attached to it by the Python package.

use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyInt, PyTuple, PyType};
use wrap_burn::autograd::{self, HookId};
use wrap_burn::ops::view::ViewOp;
use wrap_burn::{Device, Tensor};

use crate::args::{self, Ints, T};
use crate::boundary::{from_py, on, quick, run, to_py};
use crate::dtype::{DTypeArg, DeviceArg, PyDType, PyDevice};
use crate::exchange;

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

/// A registered hook; ``remove()`` takes it away again.
#[pyclass(module = "pyburn", frozen, weakref)]
pub(crate) struct RemovableHandle {
    tensor: Tensor,
    id: HookId,
}

#[pymethods]
impl RemovableHandle {
    /// Removes the hook.
    fn remove(&self) {
        self.tensor.remove_hook(self.id);
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.remove();
    }
}

/// A Python function as a hook.
fn hook_of(function: Py<PyAny>) -> autograd::Hook {
    Arc::new(move |grad| {
        Python::attach(|py| {
            let call = || -> PyResult<Option<Tensor>> {
                let result = function.bind(py).call1((PyTensor(grad.clone()),))?;
                if result.is_none() {
                    return Ok(None);
                }
                Ok(Some(result.extract::<T>()?.0))
            };
            call().map_err(|fault| from_py(py, fault))
        })
    })
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
        let device = device.or(backend).map(|arg| arg.0);
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

    /// Whether the tensor was made by the user rather than by a recorded operation.
    #[getter]
    fn is_leaf(&self) -> bool {
        self.0.is_leaf()
    }

    /// Whether gradients flow to this tensor.
    #[getter]
    fn get_requires_grad(&self) -> bool {
        self.0.requires_grad()
    }

    #[setter]
    fn set_requires_grad(&self, wanted: bool) -> PyResult<()> {
        self.0.set_requires_grad(wanted).map_err(to_py)
    }

    /// Sets whether gradients flow to this tensor, and returns it.
    #[pyo3(signature = (requires_grad = true))]
    fn requires_grad_(slf: Bound<'_, Self>, requires_grad: bool) -> PyResult<Bound<'_, Self>> {
        slf.get().0.set_requires_grad(requires_grad).map_err(to_py)?;
        Ok(slf)
    }

    /// The gradient that ``backward()`` has kept, or ``None``.
    #[getter]
    fn get_grad(&self) -> Option<PyTensor> {
        self.0.grad().map(PyTensor)
    }

    #[setter]
    fn set_grad(&self, grad: Option<T>) -> PyResult<()> {
        self.0.set_grad(grad.map(|arg| arg.0)).map_err(to_py)
    }

    /// Whether an output of another size may replace the memory: not if somebody else owns it.
    #[getter]
    fn _resizable(&self) -> bool {
        !self.0.read().buffer().is_ok_and(|buffer| buffer.is_foreign())
    }

    /// The elements without the history: another tensor over the same memory.
    #[getter]
    fn get_data(&self) -> PyTensor {
        PyTensor(self.0.detach())
    }

    #[setter]
    fn set_data(&self, data: T) -> PyResult<()> {
        if self.0.requires_grad() && !data.0.dtype().is_differentiable() {
            return Err(PyRuntimeError::new_err(
                "data set to a tensor that requires gradients must be floating point or complex dtype",
            ));
        }
        self.0.set_value(data.0.value());
        Ok(())
    }

    /// The step of the tape this tensor came out of.
    #[getter]
    fn grad_fn(&self) -> Option<crate::autograd::PyNode> {
        self.0.grad_fn().map(crate::autograd::PyNode)
    }

    /// Which output of its step this tensor is.
    #[getter]
    fn output_nr(&self) -> usize {
        self.0.output_number()
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

    /// Another tensor over the same memory, without a history.
    fn detach(&self) -> PyTensor {
        PyTensor(self.0.detach())
    }

    /// Cuts this tensor off its history.
    fn detach_(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().0.detach_().map_err(to_py)?;
        Ok(slf)
    }

    /// Asks ``backward()`` to keep this tensor's gradient although it is not a leaf.
    fn retain_grad(&self) -> PyResult<()> {
        self.0.retain_grad().map_err(to_py)
    }

    /// Whether a computed tensor's gradient is kept.
    #[getter]
    fn retains_grad(&self) -> bool {
        self.0.retains_grad()
    }

    /// Calls ``hook(grad)`` whenever a gradient of this tensor is computed; a returned tensor
    /// replaces it.
    fn register_hook(&self, hook: Py<PyAny>) -> PyResult<RemovableHandle> {
        let id = self.0.register_hook(hook_of(hook)).map_err(to_py)?;
        Ok(RemovableHandle { tensor: self.0.clone(), id })
    }

    /// Calls ``hook(tensor)`` after this leaf's gradient was accumulated.
    fn register_post_accumulate_grad_hook(&self, hook: Py<PyAny>) -> PyResult<RemovableHandle> {
        let wrapped: autograd::Hook = Arc::new(move |tensor| {
            Python::attach(|py| {
                hook.bind(py)
                    .call1((PyTensor(tensor.clone()),))
                    .map(|_| None)
                    .map_err(|fault| from_py(py, fault))
            })
        });
        let id = self.0.register_accumulated(wrapped).map_err(to_py)?;
        Ok(RemovableHandle { tensor: self.0.clone(), id })
    }

    /// Computes gradients of this tensor with respect to the leaves it depends on and adds them
    /// to the leaves' ``grad``.
    #[pyo3(signature = (gradient = None, retain_graph = None, create_graph = false, inputs = None))]
    fn backward(
        &self,
        py: Python<'_>,
        gradient: Option<T>,
        retain_graph: Option<bool>,
        create_graph: bool,
        inputs: Option<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let inputs: Option<Vec<Tensor>> = match inputs {
            None => None,
            Some(object) => Some(match object.extract::<T>() {
                Ok(single) => vec![single.0],
                Err(_) => object.extract::<Vec<T>>()?.into_iter().map(|arg| arg.0).collect(),
            }),
        };
        let retain = retain_graph.unwrap_or(create_graph);
        let seed = [gradient.map(|arg| arg.0)];
        let root = [self.0.clone()];
        run(py, || autograd::backward(&root, &seed, retain, create_graph, inputs.as_deref()))
    }

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

    fn __hash__(&self) -> usize {
        self.0.address()
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

    /// Looks at the same memory in another shape, or as another dtype of the same size.
    #[pyo3(signature = (*shape, dtype = None))]
    fn view(
        &self,
        shape: &Bound<'_, PyTuple>,
        dtype: Option<PyRef<'_, PyDType>>,
    ) -> PyResult<PyTensor> {
        let mut dtype = dtype.map(|dtype| dtype.0);
        if shape.len() == 1
            && let Ok(given) = shape.get_item(0)?.cast::<PyDType>()
        {
            dtype = Some(given.get().0);
        }
        if let Some(dtype) = dtype {
            return quick(|| self.0.view_op(ViewOp::Bits { dtype })).map(PyTensor);
        }
        let sizes = args::sizes(shape)?;
        quick(|| self.0.view(&sizes)).map(PyTensor)
    }

    /// Another shape with the same elements: a view where possible, a copy elsewhere.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let sizes = args::sizes(shape)?;
        on(py, &self.0, || self.0.reshape(&sizes)).map(PyTensor)
    }

    /// Dimensions in another order.
    #[pyo3(signature = (*dims))]
    fn permute(&self, dims: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let dims = args::sizes(dims)?;
        quick(|| self.0.permute(&dims)).map(PyTensor)
    }

    /// Dimensions of size one repeated without a copy; -1 keeps a size.
    #[pyo3(signature = (*sizes, implicit = false))]
    fn expand(&self, sizes: &Bound<'_, PyTuple>, implicit: bool) -> PyResult<PyTensor> {
        let _ = implicit;
        let sizes = args::sizes(sizes)?;
        quick(|| self.0.expand(&sizes)).map(PyTensor)
    }

    /// Two dimensions swapped.
    fn transpose(&self, dim0: i64, dim1: i64) -> PyResult<PyTensor> {
        quick(|| self.0.transpose(dim0, dim1)).map(PyTensor)
    }

    /// The transpose of a matrix; vectors and 0-d tensors stay as they are.
    fn t(&self) -> PyResult<PyTensor> {
        match self.0.rank() {
            0 | 1 => {
                quick(|| self.0.view_op(ViewOp::Permute { dims: (0..self.0.rank()).collect() }))
            }
            2 => quick(|| self.0.transpose(0, 1)),
            rank => Err(PyRuntimeError::new_err(format!(
                "t: expects a tensor with <= 2 dimensions, but self is {rank}D"
            ))),
        }
        .map(PyTensor)
    }

    /// All dimensions in reverse order.
    #[getter(T)]
    fn transposed(&self) -> PyResult<PyTensor> {
        let dims: Vec<i64> = (0..self.0.rank() as i64).rev().collect();
        quick(|| self.0.permute(&dims)).map(PyTensor)
    }

    /// The last two dimensions swapped.
    #[getter(mT)]
    fn matrix_transposed(&self) -> PyResult<PyTensor> {
        quick(|| self.0.transpose(-2, -1)).map(PyTensor)
    }

    /// A dimension of size one put in.
    fn unsqueeze(&self, dim: i64) -> PyResult<PyTensor> {
        quick(|| self.0.unsqueeze(dim)).map(PyTensor)
    }

    /// Dimensions of size one taken out; all of them if none is named.
    #[pyo3(signature = (dim = None))]
    fn squeeze(&self, dim: Option<Ints>) -> PyResult<PyTensor> {
        quick(|| self.0.squeeze(dim.as_ref().map(|dims| dims.0.as_slice()))).map(PyTensor)
    }

    /// Several dimensions merged into one.
    #[pyo3(signature = (start_dim = 0, end_dim = -1))]
    fn flatten(&self, py: Python<'_>, start_dim: i64, end_dim: i64) -> PyResult<PyTensor> {
        on(py, &self.0, || self.0.flatten(start_dim, end_dim)).map(PyTensor)
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
    let made = make(py, data, dtype.map(|arg| arg.0), device.or(backend).map(|arg| arg.0))?;
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
    Ok(PyTensor(Tensor::from_value(exchange::from_array(array, true)?)))
}

/// Everything about the class that the package's own code needs and users do not.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTensor>()?;
    module.add_class::<RemovableHandle>()?;
    module.add_class::<exchange::HostMemory>()?;
    module.add_function(wrap_pyfunction!(_register_size, module)?)?;
    module.add_function(wrap_pyfunction!(tensor, module)?)?;
    module.add_function(wrap_pyfunction!(from_numpy, module)?)?;
    Ok(())
}
