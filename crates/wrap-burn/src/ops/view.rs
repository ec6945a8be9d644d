//! Ops that look at the same memory through another shape, strides and offset.

mod part;
mod reshape;
mod scatter;

use kernels::{Dims, Strides};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

pub use self::scatter::{ViewBackward, ViewScatter};
use crate::autograd::{self, Tracking};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, ToArc, Values, Vjp, apply1, one, single};
use crate::shape::numel;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// How one dimension is looked at by basic indexing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// One position; the dimension disappears.
    Select(usize),
    /// `len` positions from `start`, `step` apart.
    Slice {
        /// The first position.
        start: usize,
        /// How many positions.
        len: usize,
        /// How far apart they are.
        step: usize,
    },
    /// A new dimension of size one.
    NewAxis,
}

/// A way to look at memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewOp {
    /// Another shape with the same elements in the same order.
    Reshape {
        /// The new shape.
        shape: Dims,
    },
    /// Dimensions in another order.
    Permute {
        /// The old place of each dimension.
        dims: Dims,
    },
    /// Dimensions of size one repeated without a copy.
    Expand {
        /// The new shape.
        shape: Dims,
    },
    /// Basic indexing; dimensions beyond the items stay whole.
    Index {
        /// One item per dimension, new ones included.
        items: Vec<Item>,
    },
    /// Any geometry over the storage.
    AsStrided {
        /// The new shape.
        size: Dims,
        /// Steps between neighbours, in elements.
        stride: Strides,
        /// The first element's place in the storage.
        offset: usize,
    },
    /// Sliding windows along a dimension, put last.
    Unfold {
        /// The dimension the windows slide along.
        dim: usize,
        /// A window's length.
        size: usize,
        /// From one window's start to the next one's.
        step: usize,
    },
    /// A diagonal, put last.
    Diagonal {
        /// How far above the main diagonal.
        offset: i64,
        /// The rows' dimension.
        dim1: usize,
        /// The columns' dimension.
        dim2: usize,
    },
    /// Complex numbers as pairs of reals.
    AsReal,
    /// Pairs of reals as complex numbers.
    AsComplex,
    /// The bytes as another dtype of the same size.
    Bits {
        /// The new dtype.
        dtype: DType,
    },
}

/// burn keeps the memory of a GPU tensor as one dtype, which no view can change.
fn same_type(value: &Value, dtype: DType) -> Result<()> {
    let device = value.device();
    if device.is_gpu() && dtype != value.dtype {
        crate::device::check_dtype("view", device, dtype)?;
        bail!(
            Unsupported,
            "view: memory of {device} is read as one dtype only, got {dtype} for {}; hint: .cpu() \
             first",
            value.dtype
        );
    }
    Ok(())
}

impl ViewOp {
    /// Looks at a value this way, without copying.
    pub fn view(&self, value: &Value) -> Result<Value> {
        match self {
            ViewOp::Reshape { shape } => {
                if numel(shape) != value.numel() {
                    bail!(
                        Runtime,
                        "view: shape {shape:?} is invalid for input of size {}",
                        value.numel()
                    );
                }
                match value.reshaped(shape) {
                    Some(value) => Ok(value),
                    None => bail!(
                        Runtime,
                        "view: size {shape:?} is not compatible with input tensor's size {:?} and \
                         stride {:?} (at least one dimension spans across two contiguous \
                         subspaces); use .reshape(...) instead",
                        value.shape,
                        value.strides
                    ),
                }
            }
            ViewOp::Permute { dims } => {
                if dims.len() != value.rank() {
                    bail!(
                        Runtime,
                        "permute: expected {} dims for shape {:?}, got {dims:?}",
                        value.rank(),
                        value.shape
                    );
                }
                Ok(value.with_geometry(
                    dims.iter().map(|&d| value.shape[d]).collect(),
                    dims.iter().map(|&d| value.strides[d]).collect(),
                    value.offset,
                ))
            }
            ViewOp::Expand { shape } => {
                let both = crate::shape::broadcast("expand", &value.shape, shape)?;
                if both != *shape {
                    bail!(
                        Runtime,
                        "expand: the expanded size {shape:?} must match the existing size {:?} at \
                         every dimension that is not one",
                        value.shape
                    );
                }
                crate::ops::create::check_size("expand", shape, value.dtype)?;
                Ok(value.expanded(shape))
            }
            ViewOp::Index { items } => index(value, items),
            ViewOp::AsStrided { size, stride, offset } => as_strided(value, size, stride, *offset),
            ViewOp::Unfold { dim, size, step } => {
                if value.rank() == 0 {
                    let strides = smallvec![1];
                    return Ok(value.with_geometry(smallvec![*size], strides, value.offset));
                }
                let (mut shape, mut strides) = (value.shape.clone(), value.strides.clone());
                shape[*dim] = (value.shape[*dim] - size) / step + 1;
                // A step past the end leaves a single window, whose stride nothing reads.
                strides[*dim] = strides[*dim].saturating_mul(*step as isize);
                shape.push(*size);
                strides.push(value.strides[*dim]);
                Ok(value.with_geometry(shape, strides, value.offset))
            }
            ViewOp::Diagonal { offset, dim1, dim2 } => Ok(diagonal(value, *offset, *dim1, *dim2)),
            ViewOp::AsReal => {
                if !value.dtype.is_complex() {
                    bail!(
                        Runtime,
                        "view_as_real: is only supported for complex tensors, got {}",
                        value.dtype
                    );
                }
                let (mut shape, mut strides) = (value.shape.clone(), value.strides.clone());
                strides.iter_mut().for_each(|stride| *stride *= 2);
                shape.push(2);
                strides.push(1);
                let mut out = value.with_geometry(shape, strides, value.offset * 2);
                out.dtype = value.dtype.to_real();
                Ok(out)
            }
            ViewOp::AsComplex => {
                same_type(value, value.dtype.to_complex())?;
                let dtype = match value.dtype {
                    DType::F32 | DType::F64 => value.dtype.to_complex(),
                    other => bail!(
                        Runtime,
                        "view_as_complex: is only supported for float and double tensors, got {other}"
                    ),
                };
                let rank = value.rank();
                if rank == 0 || value.shape[rank - 1] != 2 || value.strides[rank - 1] != 1 {
                    bail!(
                        Runtime,
                        "view_as_complex: tensor must have a last dimension of size 2 and stride 1, \
                         got size {:?} and stride {:?}",
                        value.shape,
                        value.strides
                    );
                }
                if !value.offset.is_multiple_of(2)
                    || value.strides[..rank - 1].iter().any(|s| s % 2 != 0)
                {
                    bail!(
                        Runtime,
                        "view_as_complex: tensor must have a storage_offset and strides divisible by \
                         2, got offset {} and stride {:?}",
                        value.offset,
                        value.strides
                    );
                }
                let shape = Dims::from_slice(&value.shape[..rank - 1]);
                let strides = value.strides[..rank - 1].iter().map(|stride| stride / 2).collect();
                let mut out = value.with_geometry(shape, strides, value.offset / 2);
                out.dtype = dtype;
                Ok(out)
            }
            ViewOp::Bits { dtype } => {
                if dtype.size() != value.dtype.size() {
                    bail!(
                        Runtime,
                        "view: dtype {dtype} has another size than {}; hint: use .to({dtype}) to \
                         convert the values",
                        value.dtype
                    );
                }
                same_type(value, *dtype)?;
                let mut out = value.clone();
                out.dtype = *dtype;
                Ok(out)
            }
        }
    }

    /// Whether two positions of the view may show one element.
    fn overlaps(&self) -> bool {
        matches!(self, ViewOp::Expand { .. } | ViewOp::AsStrided { .. } | ViewOp::Unfold { .. })
    }

    pub(crate) fn to_primitive(&self) -> std::sync::Arc<dyn Primitive> {
        self.to_arc()
    }
}

fn index(value: &Value, items: &[Item]) -> Result<Value> {
    let (mut shape, mut strides) = (Dims::new(), Strides::new());
    let mut offset = value.offset as isize;
    let mut d = 0;
    for item in items {
        let stride = value.strides.get(d).copied().unwrap_or(0);
        match *item {
            Item::NewAxis => {
                shape.push(1);
                strides.push(if d < value.rank() { stride * value.shape[d] as isize } else { 1 });
                continue;
            }
            Item::Select(at) => offset += at as isize * stride,
            Item::Slice { start, len, step } => {
                offset += start as isize * stride;
                shape.push(len);
                strides.push(stride * step as isize);
            }
        }
        d += 1;
    }
    shape.extend_from_slice(&value.shape[d..]);
    strides.extend_from_slice(&value.strides[d..]);
    Ok(value.with_geometry(shape, strides, offset as usize))
}

fn as_strided(value: &Value, size: &Dims, stride: &Strides, offset: usize) -> Result<Value> {
    if size.len() != stride.len() {
        bail!(
            Runtime,
            "as_strided: mismatch in length of strides and shape, got {size:?} and {stride:?}"
        );
    }
    if stride.iter().any(|&stride| stride < 0) {
        bail!(Runtime, "as_strided: negative strides are not supported, got {stride:?}");
    }
    crate::ops::create::check_size("as_strided", size, value.dtype)?;
    if numel(size) > 0 {
        let steps = size.iter().zip(stride);
        let last = steps.fold(offset, |last, (&n, &stride)| {
            last.saturating_add((n - 1).saturating_mul(stride as usize))
        });
        let available = match &value.storage {
            crate::value::Storage::Host(buffer) => buffer.len() / value.dtype.size(),
            _ => value.numel() + value.offset,
        };
        if last >= available {
            bail!(
                Runtime,
                "as_strided: sizes {size:?}, strides {stride:?} and storage offset {offset} reach \
                 element {last}, but the storage has {available}"
            );
        }
    }
    Ok(value.with_geometry(size.clone(), stride.clone(), offset))
}

fn diagonal(value: &Value, offset: i64, dim1: usize, dim2: usize) -> Value {
    let (rows, columns) = (value.shape[dim1] as i64, value.shape[dim2] as i64);
    let (down, right) = (offset.saturating_neg().max(0), offset.max(0));
    let len = (rows - down).min(columns - right).max(0);
    let mut start = value.offset as isize;
    if len > 0 {
        start += down as isize * value.strides[dim1] + right as isize * value.strides[dim2];
    }
    let rest = (0..value.rank()).filter(|&d| d != dim1 && d != dim2);
    let mut shape: Dims = rest.clone().map(|d| value.shape[d]).collect();
    let mut strides: Strides = rest.map(|d| value.strides[d]).collect();
    shape.push(len as usize);
    strides.push(value.strides[dim1] + value.strides[dim2]);
    value.with_geometry(shape, strides, start as usize)
}

#[typetag::serde]
impl Primitive for ViewOp {
    fn name(&self) -> &'static str {
        match self {
            ViewOp::Reshape { .. } => "view",
            ViewOp::Permute { .. } => "permute",
            ViewOp::Expand { .. } => "expand",
            ViewOp::Index { .. } => "index",
            ViewOp::AsStrided { .. } => "as_strided",
            ViewOp::Unfold { .. } => "unfold",
            ViewOp::Diagonal { .. } => "diagonal",
            ViewOp::AsReal => "view_as_real",
            ViewOp::AsComplex => "view_as_complex",
            ViewOp::Bits { .. } => "view_dtype",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(self.view(inputs[0])?.to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(self.view(inputs[0])?)
    }

    fn run_gpu(&self, inputs: &[&Value], _out: &[Meta], _device: Device) -> Result<Option<Values>> {
        single(self.view(inputs[0])?).map(Some)
    }

    fn widens(&self) -> bool {
        false
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (grad, shape) = (ctx.grad()?, ctx.inputs[0].shape());
        let grad = match self {
            ViewOp::Reshape { .. } => grad.reshape_to(&shape)?,
            ViewOp::Permute { dims } => {
                let mut back = Dims::from_elem(0, dims.len());
                for (to, &from) in dims.iter().enumerate() {
                    back[from] = to;
                }
                grad.view_op(ViewOp::Permute { dims: back })?
            }
            ViewOp::Expand { .. } => grad.sum_to(&shape)?,
            ViewOp::AsReal => grad.contiguous()?.view_op(ViewOp::AsComplex)?,
            ViewOp::AsComplex => grad.contiguous()?.view_op(ViewOp::AsReal)?,
            // Only sizes of one came or went.
            ViewOp::Index { .. } if grad.numel() == numel(&shape) => grad.reshape_to(&shape)?,
            ViewOp::Bits { .. } => {
                bail!(Unsupported, "view: reading bits as another dtype has no gradient")
            }
            _ => apply1(&ViewBackward { op: self.clone(), shape }, &[grad])?,
        };
        Ok(smallvec![Some(grad)])
    }
}

impl Tensor {
    /// Looks at this tensor's memory another way.
    pub fn view_op(&self, op: ViewOp) -> Result<Tensor> {
        let value = op.view(&self.read())?;
        let out = Tensor::from_value(value);
        if out.dtype().is_differentiable()
            && let Some(tracking) = Tracking::of(&[self])
        {
            autograd::record_view(op.to_arc(), self, &out, tracking);
        }
        out.mark_view(self, &op);
        Ok(out)
    }
}
