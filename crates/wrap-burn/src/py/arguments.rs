//! Element types, devices, shapes and numbers as arguments and results.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt, PyList, PyString, PyTuple, PyType,
};

use crate::{DType, Device, Dims, Scalar, defaults};

/// An element type: a `pyburn.dtype`, its name, a NumPy dtype, or one of Python's number types.
/// As a result, a `pyburn.dtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PyDType(pub DType);

impl<'a, 'py> FromPyObject<'a, 'py> for PyDType {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return Ok(PyDType(name.to_cow()?.parse()?));
        }
        let py = object.py();
        if let Ok(class) = object.cast::<PyType>() {
            if class.is(py.get_type::<PyBool>()) {
                return Ok(PyDType(DType::Bool));
            }
            if class.is(py.get_type::<PyInt>()) {
                return Ok(PyDType(DType::I64));
            }
            if class.is(py.get_type::<PyFloat>()) {
                return Ok(PyDType(defaults::float()));
            }
            if class.is(py.get_type::<PyComplex>()) {
                return Ok(PyDType(defaults::float().to_complex()));
            }
        }
        // A NumPy dtype or scalar type knows its name.
        for attribute in ["name", "__name__"] {
            if let Ok(name) = object.getattr(attribute)
                && let Ok(name) = name.extract::<String>()
                && let Ok(dtype) = name.parse()
            {
                return Ok(PyDType(dtype));
            }
        }
        let text = object.repr()?;
        let text = text.to_cow()?;
        if text.starts_with("pyburn.")
            && let Ok(dtype) = text.parse()
        {
            return Ok(PyDType(dtype));
        }
        Err(PyTypeError::new_err(format!(
            "dtype: expected a pyburn.dtype, its name or a NumPy dtype, got {text}"
        )))
    }
}

impl<'py> IntoPyObject<'py> for PyDType {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pyburn")?.getattr(self.0.name())
    }
}

/// A device: a `pyburn.device`, a name such as `"cuda:0"`, the index of a CUDA device, or a member
/// of `pyburn.backend.Backend`. As a result, a `pyburn.device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PyDevice(pub Device);

impl<'a, 'py> FromPyObject<'a, 'py> for PyDevice {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return Ok(PyDevice(name.to_cow()?.parse()?));
        }
        if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
            return Ok(PyDevice(Device::Cuda(object.extract()?)));
        }
        // Members of an enumeration have a value; devices have a type and print their name.
        if let Ok(name) = object.getattr("value")
            && let Ok(name) = name.extract::<String>()
        {
            return Ok(PyDevice(name.parse()?));
        }
        if object.hasattr("type")? && object.hasattr("index")? {
            return Ok(PyDevice(object.str()?.to_cow()?.parse()?));
        }
        Err(PyTypeError::new_err(format!(
            "device: expected a name such as 'cpu' or 'wgpu:0', or a pyburn.device, got {}",
            object.repr()?
        )))
    }
}

impl<'py> IntoPyObject<'py> for PyDevice {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pyburn")?.call_method1("device", (self.0.to_string(),))
    }
}

/// Reads a Python or NumPy number; `None` for anything else.
pub fn scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    if let Ok(value) = object.cast_exact::<PyFloat>() {
        return Ok(Some(Scalar::Float(value.extract()?)));
    }
    if object.is_instance_of::<PyBool>() {
        return Ok(Some(Scalar::Bool(object.extract()?)));
    }
    if object.is_instance_of::<PyInt>() {
        return Ok(Some(match object.extract::<i64>() {
            Ok(value) => Scalar::Int(value),
            // Beyond 64 bits: as a float, unless it does not even fit there.
            Err(_) => Scalar::Float(object.extract()?),
        }));
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Some(Scalar::Float(object.extract()?)));
    }
    if let Ok(value) = object.cast::<PyComplex>() {
        return Ok(Some(Scalar::Complex(value.real(), value.imag())));
    }
    // NumPy's scalars turn into Python's by themselves.
    if object.hasattr("__array_interface__")? && object.hasattr("item")? {
        let rank: usize = object.getattr("ndim")?.extract()?;
        if rank == 0 && !object.hasattr("__setitem__")? {
            return scalar(&object.call_method0("item")?);
        }
    }
    Ok(None)
}

/// A number: Python's or NumPy's. As a result, Python's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PyScalar(pub Scalar);

impl<'a, 'py> FromPyObject<'a, 'py> for PyScalar {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match scalar(&object)? {
            Some(scalar) => Ok(PyScalar(scalar)),
            None => Err(PyTypeError::new_err(format!(
                "expected a number, got {}",
                object.get_type().name()?
            ))),
        }
    }
}

impl<'py> IntoPyObject<'py> for PyScalar {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self.0 {
            Scalar::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
            Scalar::Int(value) => value.into_pyobject(py)?.into_any(),
            Scalar::Float(value) => value.into_pyobject(py)?.into_any(),
            Scalar::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any(),
        })
    }
}

/// A shape: an int, a tuple or a list of ints, or a `pyburn.Size`. As a result, a `pyburn.Size`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PyShape(pub Dims);

impl<'a, 'py> FromPyObject<'a, 'py> for PyShape {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let sizes: Vec<i64> = if object.is_instance_of::<PyInt>() {
            vec![object.extract()?]
        } else if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
            object.extract()?
        } else {
            return Err(PyTypeError::new_err(format!(
                "shape: expected an int or a tuple of ints, got {}",
                object.get_type().name()?
            )));
        };
        let sizes = sizes.into_iter().map(|size| {
            usize::try_from(size).map_err(|_| {
                PyValueError::new_err(format!("shape: expected sizes from 0 on, got {size}"))
            })
        });
        sizes.collect::<PyResult<Dims>>().map(PyShape)
    }
}

impl<'py> IntoPyObject<'py> for PyShape {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("pyburn")?.call_method1("Size", (PyTuple::new(py, self.0.iter())?,))
    }
}
