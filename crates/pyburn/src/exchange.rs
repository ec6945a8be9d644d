//! Memory shared with NumPy and other libraries.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use wrap_burn::{Buffer, DType, Dims, Storage, Strides, Value};

/// NumPy's code for a dtype.
fn type_code(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "|b1",
        DType::U8 => "|u1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
        DType::BF16 => return None,
    })
}

fn dtype_of(code: &str) -> PyResult<DType> {
    DType::ALL.into_iter().find(|&dtype| type_code(dtype) == Some(code)).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "can't convert an array of type '{code}'. The supported types are: float64, float32, \
             float16, complex64, complex128, int64, int32, int16, int8, uint8, and bool"
        ))
    })
}

/// Host memory as NumPy sees it: ``numpy.asarray`` of this shares the memory and keeps it alive.
#[pyclass(module = "pyburn._core", frozen)]
pub(crate) struct HostMemory {
    value: Value,
}

#[pymethods]
impl HostMemory {
    #[getter(__array_interface__)]
    fn array_interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let value = &self.value;
        let Some(code) = type_code(value.dtype) else {
            return Err(PyTypeError::new_err(format!(
                "numpy: NumPy has no {}; hint: .float() first",
                value.dtype
            )));
        };
        let Storage::Host(buffer) = &value.storage else {
            return Err(PyTypeError::new_err("numpy: the memory is not on the CPU"));
        };
        let size = value.dtype.size();
        let address = buffer.pointer() as usize + value.offset * size;
        let strides = PyTuple::new(py, value.strides.iter().map(|stride| stride * size as isize))?;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", code)?;
        interface.set_item("shape", PyTuple::new(py, value.shape.iter())?)?;
        interface.set_item("strides", strides)?;
        interface.set_item("data", (address, false))?;
        Ok(interface)
    }
}

/// A NumPy array over a CPU value's memory.
pub(crate) fn to_array<'py>(py: Python<'py>, value: Value) -> PyResult<Bound<'py, PyAny>> {
    let memory = Bound::new(py, HostMemory { value })?;
    let numpy = py.import("numpy")?;
    numpy.call_method1("asarray", (memory,))
}

/// Keeps a Python object alive for as long as its memory is used.
struct Keep(#[allow(dead_code, reason = "held for its Drop")] Py<PyAny>);

/// What becomes of an array's memory.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Memory {
    /// The value has memory of its own.
    Copied,
    /// The value has the array's memory, or a copy where it cannot have it or may not write to it.
    Shared,
    /// The same, but memory that it cannot have is an error.
    MustShare,
}

/// A value over an array's memory or a copy of it.
pub(crate) fn from_array(object: &Bound<'_, PyAny>, memory: Memory) -> PyResult<Value> {
    let py = object.py();
    let refuse = |obstacle: &str| {
        if memory == Memory::MustShare {
            return Err(PyValueError::new_err(format!(
                "from_numpy: expected an array whose memory a tensor can share, got one {obstacle}; \
                 hint: array.copy(), or pyburn.tensor(array), which copies"
            )));
        }
        Ok(())
    };
    let interface = object.getattr("__array_interface__")?;
    let code: String = interface.get_item("typestr")?.extract()?;
    if code.starts_with('>') {
        refuse("in another byte order than the machine's")?;
        let dtype = object.getattr("dtype")?.call_method1("newbyteorder", ("=",))?;
        return from_array(&object.call_method1("astype", (dtype,))?, Memory::Copied);
    }
    let dtype = dtype_of(&code)?;
    let size = dtype.size();
    let shape: Dims = interface.get_item("shape")?.extract::<Vec<usize>>()?.into_iter().collect();
    let (address, read_only): (usize, bool) = interface.get_item("data")?.extract()?;
    let bytes: Option<Vec<isize>> = match interface.call_method1("get", ("strides",))? {
        strides if strides.is_none() => None,
        strides => Some(strides.extract()?),
    };
    let numel: usize = shape.iter().product();
    let some_stride = |is: &dyn Fn(isize) -> bool| bytes.iter().flatten().any(|&stride| is(stride));
    let obstacle = if some_stride(&|stride| stride < 0) {
        Some("with negative strides")
    } else if some_stride(&|stride| stride % size as isize != 0) {
        Some("with strides that are no multiples of the size of its elements")
    } else if address % size.min(8) != 0 {
        Some("that is not aligned")
    } else {
        None
    };
    if numel > 0
        && let Some(obstacle) = obstacle
    {
        refuse(obstacle)?;
        let copy = py.import("numpy")?.call_method1("array", (object,))?;
        let copy = py
            .import("numpy")?
            .call_method1("ascontiguousarray", (copy,))?
            .call_method1("reshape", (PyTuple::new(py, shape.iter())?,))?;
        return from_array(&copy, memory);
    }
    let strides: Strides = match bytes {
        Some(bytes) => bytes.iter().map(|stride| stride / size as isize).collect(),
        None => contiguous(&shape),
    };
    if numel == 0 {
        let empty = wrap_burn::Tensor::zeros(&shape, dtype, wrap_burn::Device::Cpu);
        return Ok(empty.map_err(crate::boundary::to_py)?.value());
    }
    let span: usize =
        shape.iter().zip(&strides).map(|(&n, &stride)| (n - 1) * stride as usize).sum::<usize>()
            + 1;
    let owner = Box::new(Keep(object.clone().unbind()));
    // SAFETY: the array keeps its memory in place while `owner` holds it, and its strides say that
    // the elements lie within `span` of the first.
    let buffer = unsafe { Buffer::from_foreign(address as *mut u8, span * size, owner) };
    let value =
        Value { dtype, shape, strides, offset: 0, storage: Storage::Host(Arc::new(buffer)) };
    if memory != Memory::Copied && !read_only {
        return Ok(value);
    }
    value.copied().map_err(crate::boundary::to_py)
}

fn contiguous(shape: &[usize]) -> Strides {
    let mut step = 1;
    let mut strides: Strides = shape
        .iter()
        .rev()
        .map(|&size| {
            let stride = step;
            step *= size.max(1) as isize;
            stride
        })
        .collect();
    strides.reverse();
    strides
}

/// The elements as nested lists of Python numbers.
pub(crate) fn to_list<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let host = value
        .to_host()
        .map_err(crate::boundary::to_py)?
        .contiguous()
        .map_err(crate::boundary::to_py)?;
    let mut at = host.offset;
    nested(py, &host, 0, &mut at)
}

fn nested<'py>(
    py: Python<'py>,
    value: &Value,
    dim: usize,
    at: &mut usize,
) -> PyResult<Bound<'py, PyAny>> {
    if dim == value.rank() {
        let item = element(py, value, *at)?;
        *at += 1;
        return Ok(item);
    }
    let list = pyo3::types::PyList::empty(py);
    for _ in 0..value.shape[dim] {
        list.append(nested(py, value, dim + 1, at)?)?;
    }
    Ok(list.into_any())
}

/// One element as a Python number.
pub(crate) fn element<'py>(
    py: Python<'py>,
    value: &Value,
    at: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let single = value.with_geometry(Dims::new(), Strides::new(), at);
    number(py, single.item().map_err(crate::boundary::to_py)?)
}

/// A number as Python's.
pub(crate) fn number(py: Python<'_>, scalar: wrap_burn::Scalar) -> PyResult<Bound<'_, PyAny>> {
    wrap_burn::py::PyScalar(scalar).into_pyobject(py)
}

/// Refuses what cannot be shown to NumPy.
pub(crate) fn check_shareable(op: &str, tensor: &wrap_burn::Tensor) -> PyResult<()> {
    if tensor.requires_grad() {
        return Err(pyo3::exceptions::PyRuntimeError::new_err(format!(
            "{op}: can't be called on a Tensor that requires grad; use tensor.detach().{op}() instead"
        )));
    }
    if tensor.device().is_gpu() {
        return Err(PyTypeError::new_err(format!(
            "{op}: can't convert a {} tensor to numpy; use tensor.cpu() to copy it to host memory first",
            tensor.device()
        )));
    }
    if !tensor.read().has_data() {
        return Err(PyValueError::new_err(format!("{op}: a meta tensor has no data")));
    }
    Ok(())
}
