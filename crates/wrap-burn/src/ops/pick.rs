//! Picking and placing by masks, flat places and slices: made of indexing ops.

use std::str::FromStr;

use kernels::Dims;
use serde::{Deserialize, Serialize};

use crate::device::Device;
use crate::op::{apply1, cast_host};
use crate::ops::advanced::{IndexGetOp, IndexPutOp};
use crate::ops::binary::{Binary, Operand, same_device};
use crate::ops::create::check_fill;
use crate::ops::index::{ScatterReduce, check_bounds};
use crate::shape::{broadcast, wrap_dim};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{Category, DType, Error, Result, Scalar, bail};

/// Integers found on the host as a tensor on a device, narrowed where it has no `int64`.
pub(crate) fn integers(data: Vec<i64>, shape: &[usize], device: Device) -> Result<Tensor> {
    let value = cast_host(&Value::from_vec(data, shape), device.narrow(DType::I64))?;
    Ok(Tensor::from_value(value.to_device(device)?))
}

/// Refuses index tensors that are not integers.
fn check_long(op: &str, index: &Tensor) -> Result<()> {
    match index.dtype() {
        DType::I64 | DType::I32 => Ok(()),
        other => bail!(Runtime, "{op}: expected a long tensor for index, but got {other}"),
    }
}

/// How elements that meet in one place are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Combine {
    /// Their sum.
    Sum,
    /// Their product.
    Prod,
    /// Their mean; of integers, rounded down.
    Mean,
    /// The largest.
    Amax,
    /// The smallest.
    Amin,
}

impl FromStr for Combine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "sum" => Combine::Sum,
            "prod" => Combine::Prod,
            "mean" => Combine::Mean,
            "amax" => Combine::Amax,
            "amin" => Combine::Amin,
            other => bail!(
                Runtime,
                "reduce argument must be either sum, prod, mean, amax or amin, got {other}"
            ),
        })
    }
}

impl Combine {
    fn scatter(self) -> ScatterReduce {
        match self {
            Combine::Sum | Combine::Mean => ScatterReduce::Add,
            Combine::Prod => ScatterReduce::Mul,
            Combine::Amax => ScatterReduce::Max,
            Combine::Amin => ScatterReduce::Min,
        }
    }

    /// What changes nothing when combined with anything.
    fn identity(self, dtype: DType) -> Scalar {
        let (least, greatest) = match dtype {
            DType::Bool => (0, 1),
            DType::U8 => (0, u8::MAX as i64),
            DType::I8 => (i8::MIN as i64, i8::MAX as i64),
            DType::I16 => (i16::MIN as i64, i16::MAX as i64),
            DType::I32 => (i32::MIN as i64, i32::MAX as i64),
            _ => (i64::MIN, i64::MAX),
        };
        let float = dtype.category() > Category::Int;
        match self {
            Combine::Sum | Combine::Mean => Scalar::Int(0),
            Combine::Prod => Scalar::Int(1),
            Combine::Amax if float => Scalar::Float(f64::NEG_INFINITY),
            Combine::Amin if float => Scalar::Float(f64::INFINITY),
            Combine::Amax => Scalar::Int(least),
            Combine::Amin => Scalar::Int(greatest),
        }
    }
}

impl Tensor {
    /// The index of every element that is not zero, one row each.
    pub fn nonzero(&self) -> Result<Tensor> {
        let (device, rank) = (self.device(), self.rank());
        let host = self.value().to_host()?;
        let host = cast_host(&host, host.dtype.widened())?;
        let (places, count) = match host.dtype.category() {
            Category::Complex => {
                crate::with_dtype!("nonzero", host.dtype, complexes, T => Ok(kernels::set::nonzero(host.view::<T>()?)))?
            }
            _ => {
                crate::with_dtype!("nonzero", host.dtype, reals, T => Ok(kernels::set::nonzero(host.view::<T>()?)))?
            }
        };
        integers(places, &[count, rank], device)
    }

    /// The index of every element that is not zero, one tensor for each dimension; a 0-d tensor
    /// counts as a list of one.
    pub fn nonzero_tuple(&self) -> Result<Vec<Tensor>> {
        let listed = if self.rank() == 0 { self.reshape_to(&[1])? } else { self.clone() };
        let places = listed.nonzero()?;
        (0..listed.rank() as i64).map(|dim| places.select(1, dim)).collect()
    }

    /// This tensor broadcast with a mask, and the places the mask names in it, in row-major order.
    fn masked(&self, op: &str, mask: &Tensor) -> Result<(Tensor, Tensor)> {
        if mask.dtype() != DType::Bool {
            bail!(
                Runtime,
                "{op}: expected BoolTensor for mask, got dtype {}; hint: use .bool()",
                mask.dtype()
            );
        }
        let own = self.shape();
        let shape = broadcast(op, &own, &mask.shape())?;
        let places = mask.expand_to(op, &shape)?.reshape(&[-1])?.nonzero()?.reshape(&[-1])?;
        let places = if places.device() == Device::Cpu && self.device() != Device::Cpu {
            places.to_dtype(self.device().narrow(DType::I64))?.to_device(self.device())?
        } else {
            places
        };
        let x = if own == shape { self.clone() } else { self.expand_to(op, &shape)? };
        Ok((x, places))
    }

    /// The elements where the mask holds, in row-major order.
    pub fn masked_select(&self, mask: &Tensor) -> Result<Tensor> {
        let (x, places) = self.masked("masked_select", mask)?;
        x.reshape(&[-1])?.index_select(0, &places)
    }

    /// A copy with the first elements of `source` where the mask holds, in row-major order.
    pub fn masked_scatter(&self, mask: &Tensor, source: &Tensor) -> Result<Tensor> {
        if self.dtype() != source.dtype() {
            bail!(
                Runtime,
                "masked_scatter: expected self and source to have same dtypes but got {} and {}",
                self.dtype(),
                source.dtype()
            );
        }
        let (x, places) = self.masked("masked_scatter", mask)?;
        let (wanted, given) = (places.numel(), source.numel());
        if given < wanted {
            bail!(
                Runtime,
                "masked_scatter: expected the number of elements of source ({given}) to be at least \
                 the number of ones in mask ({wanted})"
            );
        }
        let values = source.reshape(&[-1])?.slice(0, 0, wanted, 1)?;
        let put = IndexPutOp { present: vec![true], accumulate: false };
        apply1(&put, &[&x.reshape(&[-1])?, &values, &places])?.reshape_to(&x.shape())
    }

    /// The elements at places of the flattened tensor, in the index's shape.
    pub fn take(&self, index: &Tensor) -> Result<Tensor> {
        check_long("take", index)?;
        apply1(&IndexGetOp { present: vec![true] }, &[&self.reshape(&[-1])?, index])
    }

    /// A copy with `source` at places of the flattened tensor, or added there.
    pub fn put(&self, index: &Tensor, source: &Tensor, accumulate: bool) -> Result<Tensor> {
        check_long("put", index)?;
        if self.dtype() != source.dtype() {
            bail!(
                Runtime,
                "put: self and source expected to have the same dtype, but got self.dtype = {} and \
                 source.dtype = {}",
                self.dtype(),
                source.dtype()
            );
        }
        if source.numel() != index.numel() {
            bail!(
                Runtime,
                "put: expected source and index to have the same number of elements, but got \
                 source.numel() = {}, index.numel() = {}",
                source.numel(),
                index.numel()
            );
        }
        let values = source.reshape_to(&index.shape())?;
        let flat = self.reshape(&[-1])?;
        flat.advanced_put(&[Some(index.clone())], &values, accumulate)?.reshape_to(&self.shape())
    }

    /// Refuses a source whose slices along `dim` are not as many as indices or not this tensor's.
    fn check_slices(&self, op: &str, dim: usize, index: &Tensor, source: &Tensor) -> Result<()> {
        check_long(op, index)?;
        if index.rank() > 1 {
            bail!(Index, "{op}: index should have dimension 1 or 0 (got {})", index.rank());
        }
        if self.dtype() != source.dtype() {
            bail!(
                Runtime,
                "{op}: self and source expected to have the same dtype, but got (self) {} and (source) {}",
                self.dtype(),
                source.dtype()
            );
        }
        let mut wanted = if self.rank() == 0 { Dims::from_slice(&[1]) } else { self.shape() };
        wanted[dim] = index.numel();
        let shape = source.shape();
        if shape != wanted && !(shape.is_empty() && wanted.as_slice() == [1]) {
            bail!(
                Index,
                "{op}: expected a source of shape {wanted:?} for self {:?} and {} indices along \
                 dimension {dim}, got {shape:?}",
                self.shape(),
                index.numel()
            );
        }
        Ok(())
    }

    /// A copy with values, which are broadcast, at whole slices along `dim`.
    fn put_slices(&self, dim: usize, index: &Tensor, values: &Tensor) -> Result<Tensor> {
        let x = if self.rank() == 0 { self.reshape_to(&[1])? } else { self.clone() };
        let mut present = vec![false; x.rank()];
        present[dim] = true;
        let put = IndexPutOp { present, accumulate: false };
        apply1(&put, &[&x, values, &index.reshape(&[-1])?])?.reshape_to(&self.shape())
    }

    /// A copy with slices of `source` at the places along `dim` a 1-d index names.
    pub fn index_copy(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let dim = wrap_dim("index_copy", dim, self.rank())?;
        self.check_slices("index_copy", dim, index, source)?;
        let places = index.value();
        if places.has_data() {
            check_bounds("index_copy", &places, dim, self.shape().get(dim).copied().unwrap_or(1))?;
        }
        self.put_slices(dim, index, source)
    }

    /// A copy with one value in the slices along `dim` a 1-d index names; negative indices count
    /// from the end.
    pub fn index_fill(&self, dim: i64, index: &Tensor, value: &Operand) -> Result<Tensor> {
        let (dim, dtype) = (wrap_dim("index_fill", dim, self.rank())?, self.dtype());
        check_long("index_fill", index)?;
        if index.rank() > 1 {
            bail!(
                Index,
                "index_fill: index has to be a vector/scalar, got shape {:?}",
                index.shape()
            );
        }
        let category = match value {
            Operand::Tensor(value) => value.dtype().category(),
            Operand::Scalar(value) => value.category(),
        };
        if category == Category::Complex && !dtype.is_complex() {
            bail!(
                Runtime,
                "index_fill: converting complex Scalar to non-complex type is not supported ({dtype})"
            );
        }
        let value = match value {
            Operand::Tensor(value) if value.rank() > 0 => bail!(
                Runtime,
                "index_fill: only supports a 0-dimensional value tensor, but got tensor with {} dimension(s)",
                value.rank()
            ),
            Operand::Tensor(value) => same_device("index_fill", self, value)?.1.to_dtype(dtype)?,
            Operand::Scalar(value) => {
                check_fill("index_fill", *value, dtype)?;
                Tensor::full(&[], *value, dtype, self.device())?
            }
        };
        // As a mask, so that a place named twice counts once in the value's gradient.
        let mut spread = Dims::from_elem(1, self.rank());
        let size = self.shape().get(dim).copied().unwrap_or(1);
        if let Some(own) = spread.get_mut(dim) {
            *own = size;
        }
        let mask = Tensor::zeros(&[size], DType::Bool, self.device())?;
        let named = Tensor::full(&[], true, DType::Bool, self.device())?;
        self.masked_fill(&mask.put_slices(0, index, &named)?.reshape_to(&spread)?, &value)
    }

    /// A copy with slices of `source` combined into the places along `dim` a 1-d index names.
    /// Without `include_self` what was there does not count.
    pub fn index_reduce(
        &self,
        dim: i64,
        index: &Tensor,
        source: &Tensor,
        combine: Combine,
        include_self: bool,
    ) -> Result<Tensor> {
        if combine == Combine::Sum {
            bail!(
                Runtime,
                "index_reduce: reduce argument must be either prod, mean, amax or amin, got sum"
            );
        }
        let along = wrap_dim("index_reduce", dim, self.rank())?;
        self.check_slices("index_reduce", along, index, source)?;
        let mut spread = Dims::from_elem(1, self.rank().max(1));
        spread[along] = index.numel();
        let x = if self.rank() == 0 { self.reshape_to(&[1])? } else { self.clone() };
        let source = if source.rank() == 0 { source.reshape_to(&[1])? } else { source.clone() };
        let index = index.reshape_to(&spread)?.expand_to("index_reduce", &source.shape())?;
        x.scatter_reduce(dim, &index, &source, combine, include_self)?.reshape_to(&self.shape())
    }

    /// A copy with elements of `source` combined into the places the index names along `dim`.
    /// Without `include_self` what was there does not count.
    pub fn scatter_reduce(
        &self,
        dim: i64,
        index: &Tensor,
        source: &Tensor,
        combine: Combine,
        include_self: bool,
    ) -> Result<Tensor> {
        let (dtype, device) = (self.dtype(), self.device());
        if dtype == DType::Bool && combine == Combine::Mean {
            bail!(
                Runtime,
                "scatter_reduce: truth values have no mean; convert with .float() first"
            );
        }
        if dtype == DType::Bool && source.dtype() == DType::Bool {
            // Truth adds up to truth, not to two.
            let (x, source) = (self.to_dtype(DType::I32)?, source.to_dtype(DType::I32)?);
            return x.scatter_reduce(dim, index, &source, combine, include_self)?.to_dtype(dtype);
        }
        let shape = index.shape();
        // Only the corner of a source larger than the index counts.
        let mut source = source.clone();
        if source.rank() == shape.len() {
            for (d, &len) in shape.iter().enumerate() {
                if source.shape()[d] > len {
                    source = source.slice(d, 0, len, 1)?;
                }
            }
        }
        let without = |x: &Tensor, fill: Scalar| -> Result<Tensor> {
            if include_self {
                return Ok(x.clone());
            }
            x.scatter(dim, index, &Tensor::full(&shape, fill, dtype, device)?)
        };
        let combined = without(self, combine.identity(dtype))?.scatter_with(
            dim,
            index,
            &source,
            combine.scatter(),
        )?;
        if combine != Combine::Mean {
            return Ok(combined);
        }
        let count = without(&Tensor::ones(&self.shape(), dtype, device)?, Scalar::Int(0))?;
        let count = count.scatter_add(dim, index, &Tensor::ones(&shape, dtype, device)?)?;
        let divide = if dtype.is_differentiable() { Binary::Div } else { Binary::FloorDiv };
        combined.binary(divide, &count)
    }

    /// [`gather`](Tensor::gather) with both tensors broadcast in the other dimensions; of the
    /// flattened tensors if no dimension is named.
    pub fn take_along_dim(&self, index: &Tensor, dim: Option<i64>) -> Result<Tensor> {
        check_long("take_along_dim", index)?;
        let Some(dim) = dim else {
            return self.reshape(&[-1])?.gather(0, &index.reshape(&[-1])?);
        };
        if self.rank() != index.rank() {
            bail!(
                Runtime,
                "take_along_dim: input and indices should have the same number of dimensions, but got \
                 {} dimensions for input, and {} dimensions for indices",
                self.rank(),
                index.rank()
            );
        }
        if self.rank() == 0 {
            return self.gather(dim, index);
        }
        let along = wrap_dim("take_along_dim", dim, self.rank())?;
        let (mut own, mut places) = (self.shape(), index.shape());
        let (size, count) = (own[along], places[along]);
        own[along] = 1;
        places[along] = 1;
        let mut common = broadcast("take_along_dim", &own, &places)?;
        common[along] = size;
        let x = self.expand_to("take_along_dim", &common)?;
        common[along] = count;
        // Negative places count from the end.
        let index = index.lt_scalar(0)?.where_(&index.add_scalar(size as i64)?, index)?;
        x.gather(dim, &index.expand_to("take_along_dim", &common)?)
    }
}

#[cfg(test)]
mod tests;
