//! Advanced indexing: elements named by index tensors for several dimensions at once.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use burn_std::IndexingUpdateOp;
use kernels::{Dims, Strided, Strides};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::bridge::{from_burn, to_burn};
use crate::by_kind;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, cast_host, one, single};
use crate::ops::binary::same_device;
use crate::ops::index::index_i64;
use crate::shape::{broadcast, numel};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, bail, error};

/// What index tensors name: their common shape, where it goes among the dimensions without an
/// index, and the shape of the result.
struct Layout {
    common: Dims,
    insert_at: usize,
    shape: Dims,
}

impl Layout {
    /// Checks index tensors, one for each dimension that is `present`.
    fn new(x: &Value, present: &[bool], indices: &[&Value]) -> Result<Self> {
        let mut common = Dims::new();
        for index in indices {
            if !matches!(index.dtype, DType::I64 | DType::I32) {
                bail!(
                    Index,
                    "index: tensors used as indices must be long, int or bool tensors, got {}",
                    index.dtype
                );
            }
            common = broadcast("index", &common, &index.shape).map_err(|_| {
                let shapes: Vec<String> =
                    indices.iter().map(|index| format!("{:?}", index.shape)).collect();
                error!(
                    Index,
                    "index: shape mismatch: indexing tensors could not be broadcast together with \
                     shapes {}",
                    shapes.join(", ")
                )
            })?;
        }
        let named: Dims = (0..present.len()).filter(|&d| present[d]).collect();
        let together = named.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let insert_at = if together { named.first().copied().unwrap_or(0) } else { 0 };
        let mut shape: Dims =
            (0..present.len()).filter(|&d| !present[d]).map(|d| x.shape[d]).collect();
        shape.insert_many(insert_at, common.iter().copied());
        Ok(Self { common, insert_at, shape })
    }

    /// The index tensors on the host in their common shape.
    fn host(&self, indices: &[&Value]) -> Result<Vec<Value>> {
        indices
            .iter()
            .map(|index| Ok(index_i64(&index.to_host()?)?.expanded(&self.common)))
            .collect()
    }

    /// Of a result whose first dimensions are the indices', the order in which they stand where
    /// they belong.
    fn order(&self) -> Dims {
        let (common, rank) = (self.common.len(), self.shape.len());
        let split = common + self.insert_at;
        (common..split).chain(0..common).chain(split..rank).collect()
    }
}

/// One entry for each dimension, as the kernels want them.
fn entries<'a>(present: &[bool], indices: &'a [Value]) -> Result<Vec<Option<Strided<'a, i64>>>> {
    let mut next = indices.iter();
    present
        .iter()
        .map(|&named| {
            if named { next.next().map(|index| index.view::<i64>()).transpose() } else { Ok(None) }
        })
        .collect()
}

/// Dimensions in another order.
fn turned(value: &Value, order: &[usize]) -> Value {
    let shape: Dims = order.iter().map(|&d| value.shape[d]).collect();
    let strides: Strides = order.iter().map(|&d| value.strides[d]).collect();
    value.with_geometry(shape, strides, value.offset)
}

/// Another shape, over a copy where strides do not allow it.
fn shaped(value: &Value, shape: &[usize]) -> Result<Value> {
    if let Some(value) = value.reshaped(shape) {
        return Ok(value);
    }
    let copy = value.copied()?;
    copy.reshaped(shape)
        .ok_or_else(|| error!(Runtime, "index: no shape {shape:?} for {:?}", value.shape))
}

/// The order that undoes another.
fn inverse(order: &[usize]) -> Dims {
    let mut back = Dims::from_elem(0, order.len());
    for (to, &from) in order.iter().enumerate() {
        back[from] = to;
    }
    back
}

/// A tensor on a GPU as rows, one for each place index tensors can name.
struct Rows {
    /// `[places, elements of each]`.
    flat: Value,
    /// The dimensions with an index, then the others.
    order: Dims,
    /// Which rows the indices name.
    places: Value,
}

impl Rows {
    fn new(
        x: &Value,
        present: &[bool],
        layout: &Layout,
        indices: &[&Value],
        device: Device,
    ) -> Result<Self> {
        let named = (0..x.rank()).filter(|&d| present[d]);
        let order: Dims = named.clone().chain((0..x.rank()).filter(|&d| !present[d])).collect();
        let rows: usize = named.clone().map(|d| x.shape[d]).product();
        let mut places = vec![0i64; numel(&layout.common)];
        for (dim, index) in named.zip(layout.host(indices)?) {
            let size = x.shape[dim] as i64;
            let index = index.contiguous()?;
            let index = &index.buffer()?.as_slice::<i64>()[index.offset..][..places.len()];
            for (place, &at) in places.iter_mut().zip(index) {
                let wrapped = if at < 0 { at + size } else { at };
                if !(0..size).contains(&wrapped) {
                    bail!(
                        Index,
                        "index {at} is out of bounds for dimension {dim} with size {size}"
                    );
                }
                *place = *place * size + wrapped;
            }
        }
        let count = places.len();
        let places = Value::from_vec(places, [count].as_slice());
        let places = cast_host(&places, device.narrow(DType::I64))?.to_device(device)?;
        let flat = shaped(&turned(x, &order), &[rows, x.numel() / rows])?;
        Ok(Self { flat, order, places })
    }
}

/// The elements index tensors name. Inputs: `x`, then the index tensors.
///
/// The result has the dimensions without an index, with those of the indices' common shape where
/// the indices stand if they stand together, and first otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexGetOp {
    /// Which dimensions of `x` have an index.
    pub present: Vec<bool>,
}

#[typetag::serde]
impl Primitive for IndexGetOp {
    fn name(&self) -> &'static str {
        "index"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let layout = Layout::new(inputs[0], &self.present, &inputs[1..])?;
        one(Meta { shape: layout.shape, dtype: inputs[0].dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let layout = Layout::new(inputs[0], &self.present, &inputs[1..])?;
        let indices = layout.host(&inputs[1..])?;
        let indices = entries(&self.present, &indices)?;
        crate::with_width!(out[0].dtype, T => single(Value::from_vec_as(
            kernels::index_put::index_get(&inputs[0].view::<T>()?, &indices, layout.insert_at)?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let (x, dtype) = (inputs[0], inputs[0].dtype);
        if x.numel() == 0 || numel(&out[0].shape) == 0 || x.rank() == 0 {
            return Ok(None);
        }
        let layout = Layout::new(x, &self.present, &inputs[1..])?;
        let rows = Rows::new(x, &self.present, &layout, &inputs[1..], device)?;
        let (flat, places) = (to_burn(&rows.flat)?, to_burn(&rows.places)?);
        let prim = by_kind!(dtype, float_select / int_select / bool_select(flat, 0, places));
        let meta = Meta::new([rows.places.numel(), rows.flat.shape[1]].as_slice(), dtype);
        let picked = from_burn(prim, &meta, device)?;
        let order = layout.order();
        let first: Dims = inverse(&order).iter().map(|&d| layout.shape[d]).collect();
        single(turned(&shaped(&picked, &first)?, &order)).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(!1)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let zeros = Tensor::zeros(&ctx.inputs[0].shape(), g.dtype(), g.device())?;
        let put = IndexPutOp { present: self.present.clone(), accumulate: true };
        let inputs: SmallVec<[&Tensor; 4]> =
            [&zeros, g].into_iter().chain(&ctx.inputs[1..]).collect();
        let mut grads: Grads = smallvec![Some(apply1(&put, &inputs)?)];
        grads.resize(ctx.inputs.len(), None);
        Ok(grads)
    }
}

/// A copy of `x` with values placed where index tensors name elements (see [`IndexGetOp`]). Inputs:
/// `x`, the values, then the index tensors. Values are broadcast; of several in one place the last
/// one stays, or their sum is added.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IndexPutOp {
    /// Which dimensions of `x` have an index.
    pub present: Vec<bool>,
    /// Add to what is there instead of replacing it.
    pub accumulate: bool,
}

impl IndexPutOp {
    fn place(&self, target: &Value, inputs: &[&Value]) -> Result<()> {
        let layout = Layout::new(target, &self.present, &inputs[2..])?;
        let indices = layout.host(&inputs[2..])?;
        let indices = entries(&self.present, &indices)?;
        let (values, insert_at) = (inputs[1].expanded(&layout.shape), layout.insert_at);
        if !self.accumulate {
            return crate::with_width!(target.dtype, T => Ok(kernels::index_put::index_put(
                target.view_mut::<T>()?, &indices, insert_at, &values.view::<T>()?,
            )?));
        }
        match target.dtype.category() {
            Category::Complex => crate::with_dtype!("index_put", target.dtype, complexes, T =>
                Ok(kernels::index_put::index_put_accumulate(target.view_mut::<T>()?, &indices, insert_at, &values.view::<T>()?)?)),
            _ => crate::with_dtype!("index_put", target.dtype, reals, T =>
                Ok(kernels::index_put::index_put_accumulate(target.view_mut::<T>()?, &indices, insert_at, &values.view::<T>()?)?)),
        }
    }

    fn with(&self, accumulate: bool) -> Self {
        Self { present: self.present.clone(), accumulate }
    }
}

#[typetag::serde]
impl Primitive for IndexPutOp {
    fn name(&self) -> &'static str {
        "index_put"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, values) = (inputs[0], inputs[1]);
        if x.dtype != values.dtype {
            bail!(
                Runtime,
                "index_put: requires the source and destination dtypes match, got {} for the \
                 destination and {} for the source",
                x.dtype,
                values.dtype
            );
        }
        let layout = Layout::new(x, &self.present, &inputs[2..])?;
        let fits = broadcast("index_put", &values.shape, &layout.shape)
            .is_ok_and(|shape| shape == layout.shape);
        if !fits {
            bail!(
                Runtime,
                "index_put: shape mismatch: value tensor of shape {:?} cannot be broadcast to \
                 indexing result of shape {:?}",
                values.shape,
                layout.shape
            );
        }
        one(x.to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        let target = inputs[0].copied()?;
        self.place(&target, inputs)?;
        single(target)
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        self.place(target, inputs)?;
        Ok(true)
    }

    fn widens(&self) -> bool {
        self.accumulate
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let x = inputs[0];
        let category = x.dtype.category();
        if !self.accumulate || !matches!(category, Category::Float | Category::Int) {
            return Ok(None);
        }
        let layout = Layout::new(x, &self.present, &inputs[2..])?;
        if x.numel() == 0 || numel(&layout.shape) == 0 || x.rank() == 0 {
            return Ok(None);
        }
        let rows = Rows::new(x, &self.present, &layout, &inputs[2..], device)?;
        let values = turned(&inputs[1].expanded(&layout.shape), &inverse(&layout.order()));
        let values = shaped(&values, &[rows.places.numel(), rows.flat.shape[1]])?;
        let (flat, places, values) =
            (to_burn(&rows.flat)?, to_burn(&rows.places)?, to_burn(&values)?);
        let add = IndexingUpdateOp::Add;
        let prim = if category == Category::Float {
            Dispatch::float_select_assign(flat, 0, places, values, add)
        } else {
            Dispatch::int_select_assign(flat, 0, places, values, add)
        };
        let sum =
            from_burn(prim, &Meta { shape: rows.flat.shape.clone(), dtype: out[0].dtype }, device)?;
        let first: Dims = rows.order.iter().map(|&d| x.shape[d]).collect();
        single(turned(&shaped(&sum, &first)?, &inverse(&rows.order))).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(!3)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let indices = &ctx.inputs[2..];
        let own = match (ctx.needs[0], self.accumulate) {
            (false, _) => None,
            (true, true) => Some(g.clone()),
            (true, false) => {
                let zero = Tensor::zeros(&[], g.dtype(), g.device())?;
                let inputs: SmallVec<[&Tensor; 4]> =
                    [g, &zero].into_iter().chain(indices).collect();
                Some(apply1(&self.with(false), &inputs)?)
            }
        };
        let values = if ctx.needs[1] {
            let get = IndexGetOp { present: self.present.clone() };
            let inputs: SmallVec<[&Tensor; 4]> = [g].into_iter().chain(indices).collect();
            Some(apply1(&get, &inputs)?.sum_to(&ctx.inputs[1].shape())?)
        } else {
            None
        };
        let mut grads: Grads = smallvec![own, values];
        grads.resize(ctx.inputs.len(), None);
        Ok(grads)
    }
}

/// Index tensors without masks.
struct Resolved {
    /// The tensor they index: a view with a dimension of size one more for each 0-d mask.
    x: Tensor,
    /// Which of its dimensions have an index.
    present: Vec<bool>,
    /// The index tensors, on its device.
    indices: Vec<Tensor>,
}

/// The mask, if it is the only index and says of each element whether it is meant.
fn whole_mask<'a>(x: &Tensor, indices: &'a [Option<Tensor>]) -> Option<&'a Tensor> {
    match indices {
        [Some(mask)]
            if mask.dtype() == DType::Bool && mask.rank() > 0 && mask.shape() == x.shape() =>
        {
            Some(mask)
        }
        _ => None,
    }
}

impl Tensor {
    /// Expands masks into the indices of what they name, and checks how many dimensions are meant.
    fn resolve(&self, indices: &[Option<Tensor>]) -> Result<Resolved> {
        let mut x = self.clone();
        let mut present: Vec<bool> = Vec::new();
        let mut list = Vec::new();
        for index in indices {
            let dim = present.len();
            let Some(index) = index else {
                present.push(false);
                continue;
            };
            match index.dtype() {
                DType::U8 => bail!(
                    Index,
                    "index: uint8 tensors are no masks here and too narrow for indices; hint: use \
                     .bool() for a mask and .long() for indices"
                ),
                DType::Bool if index.rank() == 0 && dim <= x.rank() => {
                    x = x.unsqueeze(dim as i64)?;
                    let count = index.item()?.to_bool() as usize;
                    let dtype = index.device().narrow(DType::I64);
                    list.push(Tensor::zeros(&[count], dtype, index.device())?);
                    present.push(true);
                }
                DType::Bool => {
                    let (mask, shape) = (index.shape(), x.shape());
                    for (d, &size) in mask.iter().enumerate() {
                        if shape.get(dim + d).is_some_and(|&wanted| wanted != size) {
                            bail!(
                                Index,
                                "index: the shape of the mask {mask:?} at index {d} does not match \
                                 the shape of the indexed tensor {shape:?} at index {}",
                                dim + d
                            );
                        }
                    }
                    list.extend(index.nonzero_tuple()?);
                    present.resize(dim + mask.len(), true);
                }
                _ => {
                    list.push(index.clone());
                    present.push(true);
                }
            }
        }
        let rank = x.rank();
        if present.len() > rank {
            bail!(
                Index,
                "index: too many indices for tensor of dimension {rank} (got {})",
                present.len()
            );
        }
        present.resize(rank, false);
        let device = x.device();
        let indices = list.iter().map(|index| on_device(index, device)).collect::<Result<_>>()?;
        Ok(Resolved { x, present, indices })
    }

    /// The elements index tensors name, one entry for each dimension from the first: `None` is all
    /// of it, a mask stands for as many dimensions as it has.
    pub fn advanced_get(&self, indices: &[Option<Tensor>]) -> Result<Tensor> {
        if let Some(mask) = whole_mask(self, indices) {
            return self.masked_select(mask);
        }
        let Resolved { x, present, indices } = self.resolve(indices)?;
        let inputs: SmallVec<[&Tensor; 4]> = [&x].into_iter().chain(&indices).collect();
        apply1(&IndexGetOp { present }, &inputs)
    }

    /// Values as an indexed write takes them: of this tensor's dtype and device, and without
    /// dimensions of size one in front that the `rank` of what is written does not have.
    fn placeable(&self, values: &Tensor, rank: usize) -> Result<Tensor> {
        let values = same_device("index_put", self, values)?.1.to_dtype(self.dtype())?;
        let shape = values.shape();
        let spare = shape.len().saturating_sub(rank);
        if shape[..spare].iter().all(|&size| size == 1) {
            values.reshape_to(&shape[spare..])
        } else {
            Ok(values)
        }
    }

    /// A copy with values placed where index tensors name elements (see
    /// [`advanced_get`](Tensor::advanced_get)), or added there.
    pub fn advanced_put(
        &self,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<Tensor> {
        if accumulate && self.dtype() == DType::Bool {
            // Truth adds up to truth, not to two.
            let sum = self.to_dtype(DType::I32)?.advanced_put(indices, values, true)?;
            return sum.to_dtype(DType::Bool);
        }
        if let Some(mask) = whole_mask(self, indices)
            && values.numel() == 1
            && !accumulate
        {
            return self.masked_fill(&on_device(mask, self.device())?, &self.placeable(values, 0)?);
        }
        let Resolved { x, present, indices } = self.resolve(indices)?;
        let values = self.placeable(values, result_rank(&present, &indices))?;
        let inputs: SmallVec<[&Tensor; 4]> = [&x, &values].into_iter().chain(&indices).collect();
        apply1(&IndexPutOp { present, accumulate }, &inputs)?.reshape_to(&self.shape())
    }

    /// [`advanced_put`](Tensor::advanced_put) into this tensor's memory.
    pub fn advanced_put_(
        &self,
        indices: &[Option<Tensor>],
        values: &Tensor,
        accumulate: bool,
    ) -> Result<()> {
        let filled = whole_mask(self, indices).is_some() && values.numel() == 1;
        if filled || (accumulate && self.dtype() == DType::Bool) {
            return crate::autograd::assign(self, &self.advanced_put(indices, values, accumulate)?);
        }
        let Resolved { x, present, indices } = self.resolve(indices)?;
        let values = self.placeable(values, result_rank(&present, &indices))?;
        let inputs: SmallVec<[&Tensor; 4]> = [&x, &values].into_iter().chain(&indices).collect();
        crate::autograd::apply_into(&IndexPutOp { present, accumulate }, &inputs)
    }
}

/// How many dimensions the named elements have.
fn result_rank(present: &[bool], indices: &[Tensor]) -> usize {
    let kept = present.iter().filter(|&&named| !named).count();
    kept + indices.iter().map(Tensor::rank).max().unwrap_or(0)
}

/// An index on the indexed tensor's device, where a host index follows.
fn on_device(index: &Tensor, device: Device) -> Result<Tensor> {
    let own = index.device();
    if own == device {
        return Ok(index.clone());
    }
    if own != Device::Cpu {
        bail!(
            Runtime,
            "index: indices should be either on cpu or on the same device as the indexed tensor \
             ({device}), got {own}"
        );
    }
    index.to_dtype(device.narrow(index.dtype()))?.to_device(device)
}

#[cfg(test)]
pub(crate) mod tests;
