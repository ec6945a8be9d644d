//! `x[...]`, reading and writing.

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyTuple};
use wrap_burn::ops::create::check_fill;
use wrap_burn::ops::view::{Item, ViewOp};
use wrap_burn::{DType, Tensor};

use crate::args::{self, T};
use crate::boundary::{on, quick, run};
use crate::tensor::PyTensor;

/// An index taken apart: a view, then index tensors by dimension of the view.
struct Parsed {
    items: Vec<Item>,
    /// Index tensors with the dimension of the view they stand at.
    advanced: Vec<(usize, Tensor)>,
}

fn parse(shape: &[usize], index: &Bound<'_, PyAny>) -> PyResult<Parsed> {
    let mut parsed = Parsed { items: Vec::with_capacity(shape.len() + 1), advanced: Vec::new() };
    let mut place = Place { shape, dim: 0, out: 0 };
    if let Ok(tuple) = index.cast::<PyTuple>() {
        let parts: Vec<Bound<'_, PyAny>> = tuple.iter().collect();
        let mut used = 0;
        for part in &parts {
            used += consumed(part)?;
        }
        let mut ellipsis = false;
        for part in &parts {
            if part.is_instance_of::<PyEllipsis>() {
                if ellipsis {
                    return Err(PyIndexError::new_err(
                        "an index can only have a single ellipsis ('...')",
                    ));
                }
                ellipsis = true;
                for _ in 0..shape.len().saturating_sub(used) {
                    place.whole(&mut parsed);
                }
            } else {
                place.take(part, &mut parsed)?;
            }
        }
    } else if !index.is_instance_of::<PyEllipsis>() {
        place.take(index, &mut parsed)?;
    }
    Ok(parsed)
}

/// How many dimensions a part of an index uses up.
fn consumed(part: &Bound<'_, PyAny>) -> PyResult<usize> {
    if part.is_none() || part.is_instance_of::<PyEllipsis>() || part.is_instance_of::<PyBool>() {
        return Ok(0);
    }
    if let Ok(tensor) = part.cast::<PyTensor>() {
        let tensor = &tensor.get().0;
        return Ok(if tensor.dtype() == DType::Bool { tensor.rank() } else { 1 });
    }
    if part.hasattr("__array_interface__")? && part.hasattr("dtype")? {
        let kind: String = part.getattr("dtype")?.getattr("kind")?.extract()?;
        let rank: usize = part.getattr("ndim")?.extract()?;
        return Ok(if kind == "b" { rank } else { 1 });
    }
    Ok(1)
}

/// Where parsing stands: which dimension of the tensor, which of the view.
struct Place<'a> {
    shape: &'a [usize],
    dim: usize,
    out: usize,
}

impl Place<'_> {
    fn size(&self) -> PyResult<usize> {
        self.shape.get(self.dim).copied().ok_or_else(|| {
            if self.shape.is_empty() {
                PyIndexError::new_err(
                    "invalid index of a 0-dim tensor. Use `tensor.item()` to convert it to a number",
                )
            } else {
                PyIndexError::new_err(format!(
                    "too many indices for tensor of dimension {}",
                    self.shape.len()
                ))
            }
        })
    }

    fn whole(&mut self, parsed: &mut Parsed) {
        parsed.items.push(Item::Slice { start: 0, len: self.shape[self.dim], step: 1 });
        self.dim += 1;
        self.out += 1;
    }

    fn take(&mut self, part: &Bound<'_, PyAny>, parsed: &mut Parsed) -> PyResult<()> {
        if part.is_instance_of::<PyBool>() {
            let flag: bool = part.extract()?;
            return self.mask(
                Tensor::full(&[], flag, DType::Bool, wrap_burn::Device::Cpu)
                    .map_err(crate::boundary::to_py)?,
                parsed,
            );
        }
        if part.is_instance_of::<PyInt>() {
            return self.select(part.extract()?, parsed);
        }
        if let Ok(slice) = part.cast::<PySlice>() {
            let size = self.size()?;
            let step = slice.getattr("step")?;
            if !step.is_none() && args::integer(&step)? <= 0 {
                return Err(PyValueError::new_err("step must be greater than zero"));
            }
            let found = slice.indices(size as isize)?;
            parsed.items.push(Item::Slice {
                start: (found.start as usize).min(size),
                len: found.slicelength,
                step: found.step as usize,
            });
            self.dim += 1;
            self.out += 1;
            return Ok(());
        }
        if part.is_none() {
            parsed.items.push(Item::NewAxis);
            self.out += 1;
            return Ok(());
        }
        if let Ok(T(tensor)) = part.extract::<T>() {
            return self.tensor(tensor, parsed);
        }
        if part.is_instance_of::<PyList>()
            || part.is_instance_of::<PyTuple>()
            || part.hasattr("__array_interface__")?
        {
            let mut tensor = Tensor::from_value(args::value_from(part)?);
            if tensor.numel() == 0 && tensor.dtype().is_float() {
                tensor = tensor.to_dtype(DType::I64).map_err(crate::boundary::to_py)?;
            }
            return self.tensor(tensor, parsed);
        }
        if let Ok(index) = part.extract::<i64>() {
            return self.select(index, parsed);
        }
        if part.hasattr("__len__")?
            && part.hasattr("__getitem__")?
            && !part.is_instance_of::<pyo3::types::PyString>()
        {
            return self.tensor(Tensor::from_value(args::value_from(part)?), parsed);
        }
        Err(PyTypeError::new_err(format!(
            "indices must be integers, slices, `None`, `...`, tensors or sequences, got {}",
            part.get_type().name()?
        )))
    }

    fn select(&mut self, index: i64, parsed: &mut Parsed) -> PyResult<()> {
        let size = self.size()? as i64;
        if index < -size || index >= size {
            return Err(PyIndexError::new_err(format!(
                "index {index} is out of bounds for dimension {} with size {size} (shape {:?})",
                self.dim, self.shape
            )));
        }
        parsed.items.push(Item::Select(if index < 0 { index + size } else { index } as usize));
        self.dim += 1;
        Ok(())
    }

    fn tensor(&mut self, tensor: Tensor, parsed: &mut Parsed) -> PyResult<()> {
        match tensor.dtype() {
            DType::Bool => self.mask(tensor, parsed),
            // A single integer picks one position, like a Python int.
            dtype if dtype.is_int() && dtype != DType::U8 && tensor.rank() == 0 => {
                let index = quick(|| tensor.item())?.to_i64();
                self.select(index, parsed)
            }
            dtype if dtype.is_int() && dtype != DType::U8 => {
                self.size()?;
                parsed.advanced.push((self.out, tensor));
                self.whole(parsed);
                Ok(())
            }
            dtype => Err(PyIndexError::new_err(format!(
                "tensors used as indices must be long, int or bool tensors, got {dtype}"
            ))),
        }
    }

    fn mask(&mut self, mask: Tensor, parsed: &mut Parsed) -> PyResult<()> {
        let rank = mask.rank();
        if rank == 0 {
            // A lone truth value keeps or drops everything, along a new dimension.
            parsed.items.push(Item::NewAxis);
            parsed.advanced.push((self.out, quick(|| mask.reshape(&[1]))?));
            self.out += 1;
            return Ok(());
        }
        let shape = mask.shape();
        for (d, &size) in shape.iter().enumerate() {
            self.size()?;
            if self.shape[self.dim] != size {
                return Err(PyIndexError::new_err(format!(
                    "the shape of the mask {shape:?} at index {d} does not match the shape of the \
                     indexed tensor {:?} at index {}",
                    self.shape, self.dim
                )));
            }
            if d == 0 {
                parsed.advanced.push((self.out, mask.clone()));
            }
            self.whole(parsed);
        }
        Ok(())
    }
}

impl Parsed {
    fn is_whole(&self, shape: &[usize]) -> bool {
        self.items
            .iter()
            .zip(shape)
            .all(|(item, &size)| *item == Item::Slice { start: 0, len: size, step: 1 })
            && self.items.len() <= shape.len()
    }

    fn view(&self, tensor: &Tensor) -> wrap_burn::Result<Tensor> {
        tensor.view_op(ViewOp::Index { items: self.items.clone() })
    }

    /// Index tensors by dimension of the view. A mask takes one slot for all its dimensions.
    fn slots(self) -> Vec<Option<Tensor>> {
        let mut slots = Vec::new();
        let mut dim = 0;
        for (at, tensor) in self.advanced {
            slots.resize(slots.len() + at - dim, None);
            dim = at + if tensor.dtype() == DType::Bool { tensor.rank() } else { 1 };
            slots.push(Some(tensor));
        }
        slots
    }
}

#[pymethods]
impl PyTensor {
    fn __getitem__(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<PyTensor> {
        let parsed = parse(&self.0.read().shape, index)?;
        if parsed.advanced.is_empty() {
            return quick(|| parsed.view(&self.0)).map(PyTensor);
        }
        on(py, &self.0, || {
            let view = if parsed.is_whole(&self.0.shape()) {
                self.0.clone()
            } else {
                parsed.view(&self.0)?
            };
            view.advanced_get(&parsed.slots())
        })
        .map(PyTensor)
    }

    fn __setitem__(
        &self,
        py: Python<'_>,
        index: &Bound<'_, PyAny>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let parsed = parse(&self.0.read().shape, index)?;
        let (dtype, device) = (self.0.dtype(), self.0.device());
        let source = match args::scalar(value)? {
            Some(scalar) => quick(|| {
                check_fill("index_put", scalar, dtype)?;
                Tensor::full(&[], scalar, dtype, device)
            })?,
            None => match value.extract::<T>() {
                Ok(T(tensor)) => tensor,
                Err(_) => Tensor::from_value(args::value_as(value, Some(dtype))?),
            },
        };
        run(py, || {
            if parsed.advanced.is_empty() {
                let view = parsed.view(&self.0)?;
                return view.copy_from(&source.leading_ones_dropped(view.rank())?);
            }
            let view = if parsed.is_whole(&self.0.shape()) {
                self.0.clone()
            } else {
                parsed.view(&self.0)?
            };
            let source = source.to_device(device)?;
            view.advanced_put_(&parsed.slots(), &source, false)
        })
    }
}
