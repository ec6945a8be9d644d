//! Ops that look at the same memory through another shape, strides and offset.

use kernels::{Dims, Strides};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::autograd::{self, Tracking};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, ToArc, Values, Vjp, apply1, one, single};
use crate::shape::{infer_reshape, numel, wrap_dim, wrap_dims};
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
                strides[*dim] *= *step as isize;
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
    let (down, right) = ((-offset).max(0), offset.max(0));
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

/// The gradient of a view: zeros in the viewed shape, with the incoming gradient added where the
/// view looks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewBackward {
    /// The view.
    pub op: ViewOp,
    /// The shape it looked at.
    pub shape: Dims,
}

#[typetag::serde]
impl Primitive for ViewBackward {
    fn name(&self) -> &'static str {
        "view_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(Meta { shape: self.shape.clone(), dtype: inputs[0].dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let grad = inputs[0];
        let base = crate::ops::create::zeros_host(&out[0])?;
        if !self.op.overlaps() {
            self.op.view(&base)?.assign(grad)?;
            return single(base);
        }
        // Several positions may add to one element: add them one by one, by storage position.
        let view = self.op.view(&base)?;
        let strides = [view.strides.clone()];
        let at: Vec<i64> = (0..view.numel())
            .map(|i| kernels::positions(i, &view.shape, &strides)[0] as i64 + view.offset as i64)
            .collect();
        let count = at.len();
        let at = Value::from_vec(at, smallvec![count] as Dims);
        let flat = base.reshaped(&[base.numel()]).expect("fresh memory is contiguous");
        let grad = grad.contiguous()?;
        let grad = grad.reshaped(&[count]).expect("contiguous");
        crate::ops::index::add_at(&flat, &at, &grad)?;
        single(base)
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if self.op.overlaps() {
            return Ok(None);
        }
        let base = crate::ops::create::full_value(&out[0], 0.0.into(), device)?;
        self.op.view(&base)?.assign(inputs[0])?;
        single(base).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let grad = ctx.grad()?.contiguous()?;
        Ok(smallvec![Some(grad.view_op(self.op.clone())?)])
    }
}

/// A copy of the first input in which the part a chain of views looks at is the second input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewScatter {
    /// The views, outermost first; none means everything.
    pub chain: Vec<ViewOp>,
}

impl ViewScatter {
    fn look(&self, value: &Value) -> Result<Value> {
        self.chain.iter().try_fold(value.clone(), |value, op| op.view(&value))
    }
}

#[typetag::serde]
impl Primitive for ViewScatter {
    fn name(&self) -> &'static str {
        "copy_slices"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let part = self.look(inputs[0])?;
        if part.shape != inputs[1].shape || part.dtype != inputs[1].dtype {
            bail!(
                Runtime,
                "scatter: expected a source of shape {:?} and dtype {}, got shape {:?} and dtype {}",
                part.shape,
                part.dtype,
                inputs[1].shape,
                inputs[1].dtype
            );
        }
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        let base = inputs[0].copied()?;
        self.look(&base)?.assign(inputs[1])?;
        single(base)
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], _device: Device) -> Result<Option<Values>> {
        self.run(inputs, out).map(Some)
    }

    fn widens(&self) -> bool {
        false
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        // A view of the whole storage wants a gradient that fills one.
        let grad = &ctx.grad()?.contiguous()?;
        let source = &ctx.inputs[1];
        let base = if ctx.needs[0] {
            let zeros = Tensor::zeros(&source.shape(), source.dtype(), source.device())?;
            Some(apply1(self, &[grad, &zeros.to_dtype(grad.dtype())?])?)
        } else {
            None
        };
        let part = if ctx.needs[1] {
            let mut part = grad.clone();
            for op in &self.chain {
                part = part.view_op(op.clone())?;
            }
            Some(part)
        } else {
            None
        };
        Ok(smallvec![base, part])
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

    /// Another shape over the same memory; fails where strides do not allow it.
    pub fn view(&self, shape: &[i64]) -> Result<Tensor> {
        let shape = infer_reshape("view", &self.shape(), shape)?;
        self.view_op(ViewOp::Reshape { shape })
    }

    /// Another shape: a view where strides allow it, a copy elsewhere.
    pub fn reshape(&self, shape: &[i64]) -> Result<Tensor> {
        let shape = infer_reshape("reshape", &self.shape(), shape)?;
        if shape == self.shape() {
            // Another tensor all the same: what is done to it is not done to this one.
            return self.view_op(ViewOp::Index { items: Vec::new() });
        }
        self.reshape_to(&shape)
    }

    /// [`reshape`](Tensor::reshape) to a complete shape.
    pub fn reshape_to(&self, shape: &[usize]) -> Result<Tensor> {
        let fits = {
            let value = self.read();
            if value.shape.as_slice() == shape {
                return Ok(self.clone());
            }
            crate::shape::reshape_strides(&value.shape, &value.strides, shape).is_some()
        };
        let op = ViewOp::Reshape { shape: Dims::from_slice(shape) };
        if fits {
            return self.view_op(op);
        }
        // Nobody else sees the copy, so that the result stands for itself.
        let out = self.contiguous()?.view_op(op)?;
        out.stand_alone();
        Ok(out)
    }

    /// Dimensions in another order.
    pub fn permute(&self, dims: &[i64]) -> Result<Tensor> {
        let rank = self.rank();
        if dims.len() != rank {
            bail!(
                Runtime,
                "permute: number of dimensions in the tensor input does not match the length of the \
                 desired ordering of dimensions, i.e. input.dim() = {rank} is not equal to len(dims) \
                 = {}",
                dims.len()
            );
        }
        let dims = wrap_dims("permute", dims, rank)?;
        self.view_op(ViewOp::Permute { dims })
    }

    /// Two dimensions swapped.
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        let rank = self.rank();
        let (dim0, dim1) = (wrap_dim("transpose", dim0, rank)?, wrap_dim("transpose", dim1, rank)?);
        let mut dims: Dims = (0..rank).collect();
        if rank > 0 {
            dims.swap(dim0, dim1);
        }
        self.view_op(ViewOp::Permute { dims })
    }

    /// Repeats dimensions of size one without a copy; -1 keeps a size.
    pub fn expand(&self, sizes: &[i64]) -> Result<Tensor> {
        let shape = self.shape();
        if sizes.len() < shape.len() {
            bail!(
                Runtime,
                "expand: the number of sizes provided ({}) must be greater or equal to the number of \
                 dimensions in the tensor ({}), shape {shape:?}",
                sizes.len(),
                shape.len()
            );
        }
        let missing = sizes.len() - shape.len();
        let mut to = Dims::new();
        for (d, &size) in sizes.iter().enumerate() {
            to.push(match size {
                -1 if d >= missing => shape[d - missing],
                size if size < 0 => bail!(
                    Runtime,
                    "expand: the expanded size of the tensor ({size}) isn't allowed in a leading, \
                     non-existing dimension {d}"
                ),
                size => size as usize,
            });
        }
        self.expand_to("expand", &to)
    }

    /// [`expand`](Tensor::expand) to a complete shape.
    pub(crate) fn expand_to(&self, op: &str, shape: &[usize]) -> Result<Tensor> {
        self.view_op(ViewOp::Expand { shape: Dims::from_slice(shape) }).map_err(|fault| match op {
            "expand" => fault,
            op => fault.within(op),
        })
    }

    /// A dimension of size one put in.
    pub fn unsqueeze(&self, dim: i64) -> Result<Tensor> {
        let rank = self.rank();
        let dim = wrap_dim("unsqueeze", dim, rank + 1)?;
        let mut items: Vec<Item> =
            self.shape()[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::NewAxis);
        self.view_op(ViewOp::Index { items })
    }

    /// Dimensions of size one taken out; all of them if none is named.
    pub fn squeeze(&self, dims: Option<&[i64]>) -> Result<Tensor> {
        let shape = self.shape();
        let drop: Dims = match dims {
            Some(dims) => wrap_dims("squeeze", dims, shape.len())?,
            None => (0..shape.len()).collect(),
        };
        let items = shape
            .iter()
            .enumerate()
            .map(|(d, &len)| match len {
                1 if drop.contains(&d) => Item::Select(0),
                len => Item::Slice { start: 0, len, step: 1 },
            })
            .collect();
        self.view_op(ViewOp::Index { items })
    }

    /// Several dimensions merged into one.
    pub fn flatten(&self, start: i64, end: i64) -> Result<Tensor> {
        let shape = self.shape();
        let rank = shape.len();
        let (start, end) = (wrap_dim("flatten", start, rank)?, wrap_dim("flatten", end, rank)?);
        if start > end {
            bail!(Runtime, "flatten: has invalid args: start_dim cannot come after end_dim");
        }
        if rank == 0 {
            return self.reshape_to(&[1]);
        }
        let mut to = Dims::from_slice(&shape[..start]);
        to.push(shape[start..=end].iter().product());
        to.extend_from_slice(&shape[end + 1..]);
        self.reshape_to(&to)
    }

    /// One position of a dimension, which disappears.
    pub fn select(&self, dim: i64, index: i64) -> Result<Tensor> {
        let shape = self.shape();
        if shape.is_empty() {
            bail!(Index, "select: cannot be applied to a 0-dim tensor");
        }
        let dim = wrap_dim("select", dim, shape.len())?;
        let size = shape[dim] as i64;
        if index < -size || index >= size {
            bail!(
                Index,
                "select: index {index} is out of bounds for dimension {dim} with size {size} (shape \
                 {shape:?})"
            );
        }
        let at = if index < 0 { index + size } else { index } as usize;
        let mut items: Vec<Item> =
            shape[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Select(at));
        self.view_op(ViewOp::Index { items })
    }

    /// `length` positions of a dimension from `start`.
    pub fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        let shape = self.shape();
        if shape.is_empty() {
            bail!(Runtime, "narrow: cannot be applied to a 0-dim tensor");
        }
        let dim = wrap_dim("narrow", dim, shape.len())?;
        let size = shape[dim] as i64;
        if length < 0 {
            bail!(Runtime, "narrow: length must be non-negative, got {length}");
        }
        if start < -size || start > size {
            bail!(
                Index,
                "narrow: start out of range (expected to be in range of [{}, {size}], but got {start})",
                -size
            );
        }
        let start = if start < 0 { start + size } else { start };
        if start + length > size {
            bail!(
                Runtime,
                "narrow: start ({start}) + length ({length}) exceeds dimension size ({size})"
            );
        }
        self.slice(dim, start as usize, length as usize, 1)
    }

    /// Positions of a dimension that are known to exist.
    pub(crate) fn slice(
        &self,
        dim: usize,
        start: usize,
        len: usize,
        step: usize,
    ) -> Result<Tensor> {
        let mut items: Vec<Item> =
            self.shape()[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Slice { start, len, step });
        self.view_op(ViewOp::Index { items })
    }

    /// A diagonal of two dimensions, put last.
    pub fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let rank = self.rank();
        let (dim1, dim2) = (wrap_dim("diagonal", dim1, rank)?, wrap_dim("diagonal", dim2, rank)?);
        if dim1 == dim2 || rank < 2 {
            bail!(
                Runtime,
                "diagonal: dimensions cannot be identical {dim1}, {dim2} (shape {:?})",
                self.shape()
            );
        }
        self.view_op(ViewOp::Diagonal { offset, dim1, dim2 })
    }

    /// Sliding windows of `size`, `step` apart, along a dimension.
    pub fn unfold(&self, dim: i64, size: i64, step: i64) -> Result<Tensor> {
        let shape = self.shape();
        let dim = wrap_dim("unfold", dim, shape.len())?;
        let length = shape.get(dim).copied().unwrap_or(1) as i64;
        if step <= 0 {
            bail!(Runtime, "unfold: step is {step} but must be > 0");
        }
        if size < 0 || size > length {
            bail!(
                Runtime,
                "unfold: maximum size for tensor at dimension {dim} is {length} but size is {size}"
            );
        }
        self.view_op(ViewOp::Unfold { dim, size: size as usize, step: step as usize })
    }

    /// Any geometry over this tensor's storage.
    pub fn as_strided(
        &self,
        size: &[usize],
        stride: &[isize],
        offset: Option<usize>,
    ) -> Result<Tensor> {
        let value = self.value();
        let offset = offset.unwrap_or(value.offset);
        let steps = size.iter().zip(stride);
        let last = steps.fold(offset, |last, (&n, &stride)| {
            last.saturating_add(n.saturating_sub(1).saturating_mul(stride.unsigned_abs()))
        });
        let own = value.is_contiguous() && value.offset == 0 && last < value.numel().max(1);
        if self.requires_grad() && !own {
            bail!(
                Unsupported,
                "as_strided: has a gradient only on a contiguous tensor at the start of its storage, \
                 and within it; hint: .contiguous() first"
            );
        }
        self.view_op(ViewOp::AsStrided {
            size: Dims::from_slice(size),
            stride: Strides::from_slice(stride),
            offset,
        })
    }

    /// A copy of this tensor in which what a view shows is `source`.
    fn view_scatter(&self, source: &Tensor, view: ViewOp) -> Result<Tensor> {
        let source = source.to_dtype(self.dtype())?;
        apply1(&ViewScatter { chain: vec![view] }, &[self, &source])
    }

    /// A copy in which any geometry over its memory shows `source`.
    pub fn as_strided_scatter(
        &self,
        source: &Tensor,
        size: &[usize],
        stride: &[isize],
        offset: Option<usize>,
    ) -> Result<Tensor> {
        let view = ViewOp::AsStrided {
            size: Dims::from_slice(size),
            stride: Strides::from_slice(stride),
            offset: offset.unwrap_or_else(|| self.value().offset),
        };
        self.contiguous()?.view_scatter(source, view)
    }

    /// A copy in which one position of a dimension is replaced.
    pub fn select_scatter(&self, source: &Tensor, dim: i64, index: i64) -> Result<Tensor> {
        let shape = self.shape();
        let dim = wrap_dim("select_scatter", dim, shape.len())?;
        let size = shape.get(dim).copied().unwrap_or(0) as i64;
        if index < -size || index >= size {
            bail!(
                Index,
                "select_scatter: index {index} is out of bounds for dimension {dim} with size {size}"
            );
        }
        let at = if index < 0 { index + size } else { index } as usize;
        let mut items: Vec<Item> =
            shape[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Select(at));
        self.view_scatter(source, ViewOp::Index { items })
    }

    /// A copy in which `len` positions of a dimension, `step` apart from `start`, are replaced.
    pub fn slice_scatter(
        &self,
        source: &Tensor,
        dim: i64,
        start: i64,
        len: i64,
        step: i64,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let dim = wrap_dim("slice_scatter", dim, shape.len())?;
        let size = shape.get(dim).copied().unwrap_or(0) as i64;
        let inside =
            start >= 0 && len >= 0 && step > 0 && (len == 0 || start + (len - 1) * step < size);
        if !inside {
            bail!(
                Index,
                "slice_scatter: {len} positions from {start}, {step} apart, do not fit dimension                  {dim} with size {size}"
            );
        }
        let mut items: Vec<Item> =
            shape[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Slice { start: start as usize, len: len as usize, step: step as usize });
        self.view_scatter(source, ViewOp::Index { items })
    }

    /// A copy in which a diagonal is replaced.
    pub fn diagonal_scatter(
        &self,
        source: &Tensor,
        offset: i64,
        dim1: i64,
        dim2: i64,
    ) -> Result<Tensor> {
        let rank = self.rank();
        let dim1 = wrap_dim("diagonal_scatter", dim1, rank)?;
        let dim2 = wrap_dim("diagonal_scatter", dim2, rank)?;
        if dim1 == dim2 || rank < 2 {
            bail!(Runtime, "diagonal_scatter: dimensions cannot be identical {dim1}, {dim2}");
        }
        self.view_scatter(source, ViewOp::Diagonal { offset, dim1, dim2 })
    }

    /// This tensor without leading dimensions of size one beyond `rank`, as assignment allows.
    pub fn leading_ones_dropped(&self, rank: usize) -> Result<Tensor> {
        let shape = self.shape();
        let extra = shape.len().saturating_sub(rank);
        if extra == 0 || shape[..extra].iter().any(|&size| size != 1) {
            return Ok(self.clone());
        }
        self.reshape_to(&shape[extra..])
    }
}
