//! Where values belong, how often they occur, and which are distinct.

use kernels::Dims;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::op::{Metas, Primitive, Values, apply, apply1, cast_host, one, single};
use crate::ops::binary::{Operand, result_type, same_device};
use crate::ops::pick::integers;
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail, error};

/// Where values would go into an ascending sequence. Inputs: the sequences, the values, and a
/// sorter if there is one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct SearchOp {
    /// After what equals the value rather than before it.
    pub right: bool,
    /// Whether the result is `int32`.
    pub int32: bool,
}

#[typetag::serde]
impl Primitive for SearchOp {
    fn name(&self) -> &'static str {
        "searchsorted"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (sorted, values) = (inputs[0], inputs[1]);
        if sorted.dtype.is_complex() || sorted.dtype != values.dtype {
            bail!(
                Runtime,
                "searchsorted: boundary tensor and input value tensor should have the same real dtype, \
                 but got boundary tensor dtype {} and input value tensor dtype {}",
                sorted.dtype,
                values.dtype
            );
        }
        let Some((_, leading)) = sorted.shape.split_last() else {
            bail!(
                Runtime,
                "searchsorted: boundaries tensor should have positive dimension, but got 0 dimension"
            );
        };
        if !leading.is_empty() && values.shape.split_last().is_none_or(|(_, rows)| rows != leading)
        {
            bail!(
                Runtime,
                "searchsorted: boundaries tensor should be 1 dimension or the first N-1 dimensions of \
                 boundaries tensor and input value tensor must match, but we got boundaries tensor \
                 {:?} and input value tensor {:?}",
                sorted.shape,
                values.shape
            );
        }
        if let Some(sorter) = inputs.get(2) {
            if sorter.shape != sorted.shape {
                bail!(
                    Runtime,
                    "searchsorted: boundary and sorter must have the same size, but got boundary tensor \
                     {:?} and got sorter tensor {:?}",
                    sorted.shape,
                    sorter.shape
                );
            }
            if !matches!(sorter.dtype, DType::I64 | DType::I32) {
                bail!(
                    Runtime,
                    "searchsorted: sorter must be a tensor of long dtype but got dtype {}",
                    sorter.dtype
                );
            }
        }
        let dtype = if self.int32 { DType::I32 } else { sorted.device().narrow(DType::I64) };
        one(Meta { shape: values.shape.clone(), dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (sorted, values) = (inputs[0], inputs[1]);
        let sorter = inputs.get(2).map(|sorter| cast_host(sorter, DType::I64)).transpose()?;
        let sorter = sorter.as_ref().map(|sorter| sorter.view::<i64>()).transpose()?;
        let places = crate::with_dtype!("searchsorted", sorted.dtype, reals, T => {
            Ok(kernels::search::searchsorted(sorted.view::<T>()?, values.view::<T>()?, self.right, sorter)?)
        })?;
        let places = Value::from_vec(places, out[0].shape.clone());
        single(if self.int32 { cast_host(&places, DType::I32)? } else { places })
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// How many elements fall into each of several equal bins.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HistcOp {
    /// How many bins.
    pub bins: usize,
    /// Where the first begins.
    pub min: f64,
    /// Where the last ends; the elements' own range if both are equal.
    pub max: f64,
}

#[typetag::serde]
impl Primitive for HistcOp {
    fn name(&self) -> &'static str {
        "histc"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let dtype = inputs[0].dtype;
        if !dtype.is_float() {
            bail!(Runtime, "histc: not implemented for {dtype}; hint: .float() first");
        }
        if self.bins == 0 {
            bail!(Runtime, "histc: bins must be > 0");
        }
        if !(self.min.is_finite() && self.max.is_finite()) {
            bail!(Runtime, "histc: range of [{}, {}] is not finite", self.min, self.max);
        }
        if self.min > self.max {
            bail!(
                Runtime,
                "histc: max must be larger than min, got min {} and max {}",
                self.min,
                self.max
            );
        }
        one(Meta { shape: Dims::from_slice(&[self.bins]), dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        crate::with_dtype!("histc", inputs[0].dtype, floats, T => single(Value::from_vec_as(
            kernels::search::histc(inputs[0].view::<T>()?, self.bins, self.min, self.max)?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// The bins of a histogram.
#[derive(Clone, Debug)]
pub enum Bins {
    /// Equal ones.
    Equal {
        /// How many.
        count: usize,
        /// Where they begin and end; the elements' own range if not given.
        range: Option<(f64, f64)>,
    },
    /// Between ascending edges.
    Edges(Tensor),
}

/// How many elements fall into each bin, and the bins' edges. Inputs: the elements, the edges
/// unless bins are equal, the weights if there are any.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HistogramOp {
    /// How many equal bins; none if edges are given.
    pub bins: Option<usize>,
    /// Where equal bins begin and end.
    pub range: Option<(f64, f64)>,
    /// Whether there are weights.
    pub weighted: bool,
    /// Divided by the total and the width of the bin.
    pub density: bool,
}

#[typetag::serde]
impl Primitive for HistogramOp {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        if !x.dtype.is_float() {
            bail!(Runtime, "histogram: not implemented for {}; hint: .float() first", x.dtype);
        }
        if let Some(other) = inputs[1..].iter().find(|other| other.dtype != x.dtype) {
            bail!(
                Runtime,
                "histogram: expected input tensor, bins and weight to have the same dtype, got {} and {}",
                x.dtype,
                other.dtype
            );
        }
        let weights = if self.weighted { inputs.last() } else { None };
        if let Some(weights) = weights
            && weights.shape != x.shape
        {
            bail!(
                Runtime,
                "histogram: expected weight to have the shape of input, got input {:?} and weight {:?}",
                x.shape,
                weights.shape
            );
        }
        let edges = match self.bins {
            Some(0) => bail!(Runtime, "histogram: bins must be > 0, but got 0"),
            Some(bins) => bins + 1,
            None if inputs[1].rank() != 1 || inputs[1].numel() == 0 => bail!(
                Runtime,
                "histogram: bins tensor should have one dimension and at least one edge, got shape {:?}",
                inputs[1].shape
            ),
            None => inputs[1].numel(),
        };
        let meta = |len: usize| Meta { shape: Dims::from_slice(&[len]), dtype: x.dtype };
        Ok([meta(edges - 1), meta(edges)].into_iter().collect())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        crate::with_dtype!("histogram", x.dtype, floats, T => {
            let weights = if self.weighted { inputs.last() } else { None };
            let weights = weights.map(|weights| weights.view::<T>()).transpose()?;
            let (counts, edges) = match self.bins {
                Some(bins) => {
                    kernels::search::histogram_uniform(x.view::<T>()?, bins, self.range, weights, self.density)?
                }
                None => {
                    let edges = inputs[1].contiguous()?;
                    let edges = edges.buffer()?.as_slice::<T>()[edges.offset..][..edges.numel()].to_vec();
                    (kernels::search::histogram(x.view::<T>()?, &edges, weights, self.density), edges)
                }
            };
            Ok([
                Value::from_vec_as(counts, out[0].shape.clone(), out[0].dtype),
                Value::from_vec_as(edges, out[1].shape.clone(), out[1].dtype),
            ].into_iter().collect())
        })
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// Whether each element is among those of the second input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct IsInOp;

#[typetag::serde]
impl Primitive for IsInOp {
    fn name(&self) -> &'static str {
        "isin"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (elements, tests) = (inputs[0], inputs[1]);
        if elements.dtype.is_complex() || elements.dtype != tests.dtype {
            bail!(
                Runtime,
                "isin: expected tensors of one real dtype, got {} and {}",
                elements.dtype,
                tests.dtype
            );
        }
        one(Meta { shape: elements.shape.clone(), dtype: DType::Bool })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let found = crate::with_dtype!("isin", inputs[0].dtype, reals, T => {
            Ok(kernels::set::isin(inputs[0].view::<T>()?, inputs[1].view::<T>()?))
        })?;
        single(Value::from_vec_as(found, out[0].shape.clone(), DType::Bool))
    }

    fn differentiable(&self) -> bool {
        false
    }
}

/// What is distinct, for each element its number among that, and how many there are of each.
pub type Distinct = (Tensor, Tensor, Tensor);

impl Tensor {
    /// Where each value would go into this tensor, which ascends along its last dimension, to keep
    /// it so: `side` is `left` or `right`, and `right` says the same.
    pub fn searchsorted(
        &self,
        values: &Operand,
        right: bool,
        side: Option<&str>,
        sorter: Option<&Tensor>,
        out_int32: bool,
    ) -> Result<Tensor> {
        let right = match side {
            None => right,
            Some("left") if right => {
                bail!(
                    Runtime,
                    "searchsorted: side and right can't be set to opposites, got side of left while right was True"
                )
            }
            Some("left") => false,
            Some("right") => true,
            Some(other) => {
                bail!(Runtime, "searchsorted: side can only be 'left' or 'right' but got {other}")
            }
        };
        let op = SearchOp { right, int32: out_int32 };
        let (sequence, values) = match values {
            Operand::Tensor(values) => same_device("searchsorted", self, values)?,
            Operand::Scalar(_) if self.rank() != 1 => bail!(
                Runtime,
                "searchsorted: input value can be a scalar only when boundaries tensor dimension is 1, \
                 but we got boundaries tensor dim({})",
                self.rank()
            ),
            Operand::Scalar(value) => {
                let dtype =
                    self.device().narrow(value.promote(self.dtype(), crate::defaults::float()));
                (self.to_dtype(dtype)?, Tensor::full(&[], *value, dtype, self.device())?)
            }
        };
        let inputs: SmallVec<[&Tensor; 3]> =
            [&sequence, &values].into_iter().chain(sorter).collect();
        apply1(&op, &inputs)
    }

    /// How often each of `0, 1, 2, ...` occurs, or the sum of its weights.
    pub fn bincount(&self, weights: Option<&Tensor>, minlength: i64) -> Result<Tensor> {
        let (shape, dtype, device) = (self.shape(), self.dtype(), self.device());
        if shape.len() != 1 || !dtype.is_int() {
            bail!(
                Runtime,
                "bincount: only supports 1-d non-negative integral inputs, got shape {shape:?} and dtype {dtype}"
            );
        }
        let Ok(minlength) = usize::try_from(minlength) else {
            bail!(Runtime, "bincount: minlength should be >= 0, got {minlength}");
        };
        let places = cast_host(&self.value().to_host()?, DType::I64)?;
        let places = places.view::<i64>()?;
        let Some(weights) = weights else {
            let counts = kernels::search::bincount(places, minlength)?;
            let len = counts.len();
            return integers(counts, &[len], device);
        };
        if weights.shape() != shape {
            bail!(
                Runtime,
                "bincount: weights should be 1-d and have the same length as input, got shapes {:?} and {shape:?}",
                weights.shape()
            );
        }
        let sum = if weights.dtype() == DType::F32 { DType::F32 } else { DType::F64 };
        let weights = cast_host(&weights.value().to_host()?, sum)?;
        let sums = crate::with_dtype!("bincount", sum, floats, T => {
            let sums = kernels::search::bincount_weighted(places, weights.view::<T>()?, minlength)?;
            let len = sums.len();
            Ok(Value::from_vec(sums, [len].as_slice()))
        })?;
        Ok(Tensor::from_value(cast_host(&sums, device.narrow(sum))?.to_device(device)?))
    }

    /// How many elements fall into each of `bins` equal bins from `min` to `max`, or over the
    /// elements' own range if both are equal.
    pub fn histc(&self, bins: i64, min: f64, max: f64) -> Result<Tensor> {
        let bins = usize::try_from(bins).unwrap_or(0);
        apply1(&HistcOp { bins, min, max }, &[self])
    }

    /// How many elements fall into each bin, or the sum of their weights; and the bins' edges.
    pub fn histogram(
        &self,
        bins: &Bins,
        weight: Option<&Tensor>,
        density: bool,
    ) -> Result<(Tensor, Tensor)> {
        let mut inputs: SmallVec<[&Tensor; 3]> = SmallVec::new();
        inputs.push(self);
        let (count, range) = match bins {
            Bins::Equal { count, range } => (Some(*count), *range),
            Bins::Edges(edges) => {
                inputs.push(edges);
                (None, None)
            }
        };
        if let Some((min, max)) = range
            && !(min <= max && min.is_finite() && max.is_finite())
        {
            bail!(
                Runtime,
                "histogram: expected a finite range with min <= max, got min {min} max {max}"
            );
        }
        inputs.extend(weight);
        let op = HistogramOp { bins: count, range, weighted: weight.is_some(), density };
        let mut both = apply(&op, &inputs)?;
        let edges = both.pop().ok_or_else(|| error!(Runtime, "histogram: no edges came back"))?;
        let counts = both.pop().ok_or_else(|| error!(Runtime, "histogram: no counts came back"))?;
        Ok((counts, edges))
    }

    /// The distinct elements in ascending order, or the distinct slices along a dimension.
    pub fn unique(&self, dim: Option<i64>) -> Result<Distinct> {
        self.distinct("unique", dim, false)
    }

    /// One element of each run of equal ones, or one slice along a dimension.
    pub fn unique_consecutive(&self, dim: Option<i64>) -> Result<Distinct> {
        self.distinct("unique_consecutive", dim, true)
    }

    fn distinct(&self, name: &str, dim: Option<i64>, runs: bool) -> Result<Distinct> {
        use kernels::set::{unique, unique_consecutive, unique_consecutive_dim, unique_dim};
        let (shape, device) = (self.shape(), self.device());
        let dim = dim
            .map(|dim| wrap_dim(name, dim, shape.len()))
            .transpose()?
            .filter(|_| !shape.is_empty());
        let host = self.value().to_host()?;
        let wide = cast_host(&host, host.dtype.widened())?;
        let (values, inverse, counts) = crate::with_dtype!(name, wide.dtype, reals, T => {
            let view = wide.view::<T>()?;
            Ok(match dim {
                Some(dim) => {
                    let found = if runs { unique_consecutive_dim(view, dim) } else { unique_dim(view, dim) };
                    let len = found.values.len();
                    let first = integers(found.values, &[len], device)?;
                    (self.index_select(dim as i64, &first)?, found.inverse, found.counts)
                }
                None => {
                    let found = if runs { unique_consecutive(view) } else { unique(view) };
                    let values = Value::from_vec_as(found.values, [found.counts.len()].as_slice(), wide.dtype);
                    let values = cast_host(&values, host.dtype)?.to_device(device)?;
                    (Tensor::from_value(values), found.inverse, found.counts)
                }
            })
        })?;
        let inverse_shape = dim.map_or(shape.clone(), |dim| Dims::from_slice(&shape[dim..=dim]));
        let kinds = counts.len();
        Ok((
            values,
            integers(inverse, &inverse_shape, device)?,
            integers(counts, &[kinds], device)?,
        ))
    }

    /// Whether each element is among those of another tensor, or with `invert` whether it is not.
    pub fn isin(&self, tests: &Tensor, invert: bool) -> Result<Tensor> {
        let (elements, tests) = same_device("isin", self, tests)?;
        let dtype = result_type(&elements, &tests);
        let found = apply1(&IsInOp, &[&elements.to_dtype(dtype)?, &tests.to_dtype(dtype)?])?;
        if invert { found.eq_scalar(false) } else { Ok(found) }
    }
}

#[cfg(test)]
mod tests;
