//! Arguments: numbers, tensors, sizes and nested lists.

use num_complex::Complex;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyString, PyTuple};
use wrap_burn::ops::binary::Operand;
use wrap_burn::ops::create::check_fill;
pub(crate) use wrap_burn::py::scalar;
use wrap_burn::{DType, Device, Scalar, Tensor, Value};

use crate::boundary::{quick, to_py};
use crate::exchange;
use crate::tensor::PyTensor;

/// A tensor argument.
#[derive(Clone)]
pub(crate) struct T(pub Tensor);

impl<'a, 'py> FromPyObject<'a, 'py> for T {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyTensor>() {
            Ok(tensor) => Ok(T(tensor.get().0.clone())),
            Err(_) => Err(PyTypeError::new_err(format!(
                "expected a pyburn.Tensor, got {}",
                object.get_type().name()?
            ))),
        }
    }
}

/// A number argument; 0-d tensors count.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub Scalar);

impl<'a, 'py> FromPyObject<'a, 'py> for Number {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(tensor) = object.cast::<PyTensor>() {
            return quick(|| tensor.get().0.item()).map(Number);
        }
        scalar(&object)?.map(Number).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "expected a number, got {}",
                object.get_type().name().map(|name| name.to_string()).unwrap_or_default()
            ))
        })
    }
}

/// A tensor or a number; `None` for anything else.
pub(crate) fn operand(object: &Bound<'_, PyAny>) -> PyResult<Option<Operand>> {
    if let Ok(tensor) = object.cast::<PyTensor>() {
        return Ok(Some(Operand::Tensor(tensor.get().0.clone())));
    }
    if let Some(scalar) = scalar(object)? {
        return Ok(Some(Operand::Scalar(scalar)));
    }
    if object.hasattr("__array_interface__")? {
        let value = exchange::from_array(object, exchange::Memory::Copied)?;
        return Ok(Some(Operand::Tensor(Tensor::from_value(value))));
    }
    Ok(None)
}

/// A tensor or a number, or an error that names the type.
pub(crate) struct Op(pub Operand);

impl<'a, 'py> FromPyObject<'a, 'py> for Op {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        operand(&object)?.map(Op).ok_or_else(|| {
            PyTypeError::new_err(format!(
                "expected a Tensor or a number, got {}",
                object.get_type().name().map(|name| name.to_string()).unwrap_or_default()
            ))
        })
    }
}

/// An integer: Python's, NumPy's or a 0-d integer tensor.
pub(crate) fn integer(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(value);
    }
    Err(PyTypeError::new_err(format!("expected an int, got {}", object.get_type().name()?)))
}

/// One or several dimensions: an int, a tuple or a list.
pub(crate) struct Ints(pub Vec<i64>);

impl<'a, 'py> FromPyObject<'a, 'py> for Ints {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyInt>() {
            return Ok(Ints(vec![integer(&object)?]));
        }
        if object.is_instance_of::<PyTuple>() || object.is_instance_of::<PyList>() {
            let mut out = Vec::new();
            for item in object.try_iter()? {
                out.push(integer(&item?)?);
            }
            return Ok(Ints(out));
        }
        if let Ok(tensor) = object.cast::<PyTensor>()
            && tensor.get().0.rank() == 0
        {
            return Ok(Ints(vec![integer(&object)?]));
        }
        Err(PyTypeError::new_err(format!(
            "expected an int or a tuple of ints, got {}",
            object.get_type().name()?
        )))
    }
}

/// Sizes given as `f(2, 3)` or as `f((2, 3))`.
pub(crate) fn sizes(args: &Bound<'_, PyTuple>) -> PyResult<Vec<i64>> {
    if args.len() == 1 {
        let only = args.get_item(0)?;
        if !only.is_instance_of::<PyInt>() {
            return Ok(only.extract::<Ints>()?.0);
        }
    }
    args.iter().map(|item| integer(&item)).collect()
}

/// Non-negative sizes of a new tensor.
pub(crate) fn shape_of(op: &str, sizes: &[i64]) -> PyResult<Vec<usize>> {
    sizes
        .iter()
        .map(|&size| {
            usize::try_from(size).map_err(|_| {
                pyo3::exceptions::PyRuntimeError::new_err(format!(
                    "{op}: trying to create tensor with negative dimension {size}: {sizes:?}"
                ))
            })
        })
        .collect()
}

/// Numbers of nested lists, in row-major order.
enum Numbers {
    Bool(Vec<u8>),
    Int(Vec<i64>),
    Float(Vec<f64>),
    Complex(Vec<Complex<f64>>),
}

impl Numbers {
    fn push(&mut self, scalar: Scalar) {
        let rank = |numbers: &Numbers| match numbers {
            Numbers::Bool(_) => 0,
            Numbers::Int(_) => 1,
            Numbers::Float(_) => 2,
            Numbers::Complex(_) => 3,
        };
        let wanted = match scalar {
            Scalar::Bool(_) => 0,
            Scalar::Int(_) => 1,
            Scalar::Float(_) => 2,
            Scalar::Complex(..) => 3,
        };
        while rank(self) < wanted {
            *self = match std::mem::replace(self, Numbers::Bool(Vec::new())) {
                Numbers::Bool(data) => Numbers::Int(data.into_iter().map(i64::from).collect()),
                Numbers::Int(data) => Numbers::Float(data.into_iter().map(|v| v as f64).collect()),
                Numbers::Float(data) => {
                    Numbers::Complex(data.into_iter().map(|v| Complex::new(v, 0.0)).collect())
                }
                complex => complex,
            };
        }
        match self {
            Numbers::Bool(data) => data.push(scalar.to_bool() as u8),
            Numbers::Int(data) => data.push(scalar.to_i64()),
            Numbers::Float(data) => data.push(scalar.to_f64()),
            Numbers::Complex(data) => {
                let (re, im) = scalar.to_parts();
                data.push(Complex::new(re, im));
            }
        }
    }
}

impl Numbers {
    /// Refuses numbers that a dtype does not hold: integers outside it, complex numbers where it is
    /// real. Floats may become infinite, as in conversions.
    fn check(&self, dtype: DType) -> wrap_burn::Result<()> {
        let check = |number: Scalar| check_fill("tensor", number, dtype);
        match self {
            Numbers::Bool(_) => Ok(()),
            Numbers::Int(data) if !dtype.is_differentiable() => {
                [data.iter().min(), data.iter().max()]
                    .into_iter()
                    .flatten()
                    .try_for_each(|&value| check(Scalar::Int(value)))
            }
            Numbers::Float(data) if !dtype.is_differentiable() => {
                data.iter().try_for_each(|&value| check(Scalar::Float(value)))
            }
            Numbers::Complex(data) if !dtype.is_complex() => {
                data.iter().try_for_each(|value| check(Scalar::Complex(value.re, value.im)))
            }
            _ => Ok(()),
        }
    }
}

/// Reads nested lists, numbers, arrays and tensors into a fresh CPU value.
pub(crate) fn value_from(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_as(object, None)
}

/// [`value_from`], where floats need not go through the default dtype: they become `wanted`, if it
/// is a float.
pub(crate) fn value_as(object: &Bound<'_, PyAny>, wanted: Option<DType>) -> PyResult<Value> {
    let differentiable = wanted.filter(|dtype| dtype.is_differentiable());
    if let Ok(tensor) = object.cast::<PyTensor>() {
        return quick(|| tensor.get().0.value().to_host()?.copied());
    }
    if object.hasattr("__array_interface__")? {
        return exchange::from_array(object, exchange::Memory::Copied);
    }
    if object.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("tensor: new(): invalid data type 'str'"));
    }
    let mut shape = Vec::new();
    measure(object, &mut shape, 0)?;
    let mut numbers = Numbers::Bool(Vec::new());
    collect(object, &shape, differentiable.is_some(), &mut numbers)?;
    if let Some(dtype) = wanted {
        numbers.check(dtype).map_err(to_py)?;
    }
    let dims: wrap_burn::Dims = shape.into_iter().collect();
    let empty = dims.contains(&0);
    Ok(match numbers {
        // An empty list is a list of floats.
        Numbers::Bool(_) if empty => {
            let meta = wrap_burn::Meta { shape: dims, dtype: wrap_burn::defaults::float() };
            Tensor::zeros(&meta.shape, meta.dtype, Device::Cpu).map_err(to_py)?.value()
        }
        Numbers::Bool(data) => Value::from_vec_as(data, dims, DType::Bool),
        Numbers::Int(data) => Value::from_vec(data, dims),
        Numbers::Float(data) => {
            let value = Value::from_vec(data, dims);
            let tensor = Tensor::from_value(value);
            let dtype = differentiable.unwrap_or_else(wrap_burn::defaults::float);
            tensor.to_dtype(dtype).map_err(to_py)?.value()
        }
        Numbers::Complex(data) => {
            let tensor = Tensor::from_value(Value::from_vec(data, dims));
            let dtype = wanted.filter(|dtype| dtype.is_complex());
            let dtype = dtype.unwrap_or_else(|| wrap_burn::defaults::float().to_complex());
            tensor.to_dtype(dtype).map_err(to_py)?.value()
        }
    })
}

fn is_sequence(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return Ok(true);
    }
    if object.is_instance_of::<PyTensor>() || scalar(object)?.is_some() {
        return Ok(false);
    }
    Ok(object.hasattr("__len__")?
        && object.hasattr("__getitem__")?
        && !object.is_instance_of::<PyString>()
        && !object.is_instance_of::<pyo3::types::PyDict>())
}

/// The shape of nested lists, from their first elements.
fn measure(object: &Bound<'_, PyAny>, shape: &mut Vec<usize>, depth: usize) -> PyResult<()> {
    if depth > 128 {
        return Err(PyValueError::new_err("tensor: lists are nested deeper than 128 levels"));
    }
    if let Ok(tensor) = object.cast::<PyTensor>() {
        shape.extend(tensor.get().0.shape());
        return Ok(());
    }
    if is_sequence(object)? {
        let len = object.len()?;
        shape.push(len);
        if len > 0 {
            measure(&object.get_item(0)?, shape, depth + 1)?;
        }
    }
    Ok(())
}

/// Adds the numbers of nested lists; `floats` says that they are going to be floats in any case.
fn collect(
    object: &Bound<'_, PyAny>,
    shape: &[usize],
    floats: bool,
    numbers: &mut Numbers,
) -> PyResult<()> {
    if let Some(scalar) = scalar(object)? {
        if shape.is_empty() {
            if matches!(scalar, Scalar::Float(_)) && !floats && object.is_instance_of::<PyInt>() {
                return Err(pyo3::exceptions::PyRuntimeError::new_err(format!(
                    "tensor: overflow: {object} does not fit into 64 bits; hint: name a \
                     floating-point dtype"
                )));
            }
            numbers.push(scalar);
            return Ok(());
        }
        return Err(PyTypeError::new_err(format!(
            "tensor: expected a sequence of length {} where a number is",
            shape[0]
        )));
    }
    if object.is_instance_of::<PyTensor>() || object.hasattr("__array_interface__")? {
        let value = value_from(object)?;
        if value.shape.as_slice() != shape {
            return Err(PyValueError::new_err(format!(
                "tensor: expected an element of shape {shape:?}, got {:?}",
                value.shape
            )));
        }
        let tensor = Tensor::from_value(value);
        match tensor.dtype() {
            DType::Bool => tensor
                .to_vec::<u8>()
                .map_err(to_py)?
                .into_iter()
                .for_each(|v| numbers.push(Scalar::Bool(v != 0))),
            dtype if dtype.is_int() => tensor
                .to_vec::<i64>()
                .map_err(to_py)?
                .into_iter()
                .for_each(|v| numbers.push(Scalar::Int(v))),
            dtype if dtype.is_complex() => tensor
                .to_vec::<Complex<f64>>()
                .map_err(to_py)?
                .into_iter()
                .for_each(|v| numbers.push(Scalar::Complex(v.re, v.im))),
            _ => tensor
                .to_vec::<f64>()
                .map_err(to_py)?
                .into_iter()
                .for_each(|v| numbers.push(Scalar::Float(v))),
        }
        return Ok(());
    }
    if !is_sequence(object)? {
        return Err(PyTypeError::new_err(format!(
            "tensor: could not infer dtype of {}",
            object.get_type().name()?
        )));
    }
    let len = object.len()?;
    match shape.first() {
        Some(&expected) if expected == len => {}
        Some(&expected) => {
            return Err(PyValueError::new_err(format!(
                "tensor: expected sequence of length {expected} (got {len}); all lists at one depth \
                 must be equally long"
            )));
        }
        None => {
            return Err(PyTypeError::new_err(
                "tensor: not a sequence where the first element was a number",
            ));
        }
    }
    for item in object.try_iter()? {
        collect(&item?, &shape[1..], floats, numbers)?;
    }
    Ok(())
}
