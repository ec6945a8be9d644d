//! Picking and placing elements by index tensors along one dimension.

use burn_backend::ops::{FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use burn_std::IndexingUpdateOp;
use kernels::Dims;
pub use kernels::index::ScatterReduce;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{from_burn, to_burn};
use crate::by_kind;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Error, ErrorKind, Result, bail};

/// Adds `source` to `target` (both 1-d, host) at the given places, repeated ones included.
pub(crate) fn add_at(target: &Value, places: &Value, source: &Value) -> Result<()> {
    let add = ScatterReduce::Add;
    match target.dtype.category() {
        Category::Complex => {
            crate::with_dtype!("add_at", target.dtype, complexes, T => Ok(kernels::index::scatter_reduce(
            target.view_mut::<T>()?, 0, &places.view::<i64>()?, &source.view::<T>()?, add,
        )?))
        }
        _ => {
            crate::with_dtype!("add_at", target.dtype, reals, T => Ok(kernels::index::scatter_reduce(
            target.view_mut::<T>()?, 0, &places.view::<i64>()?, &source.view::<T>()?, add,
        )?))
        }
    }
}

/// Refuses dtypes that are no indices.
fn check_index(op: &str, index: &Value) -> Result<()> {
    if !matches!(index.dtype, DType::I64 | DType::I32) {
        bail!(Runtime, "{op}: expected dtype int64 (or int32) for index, got {}", index.dtype);
    }
    Ok(())
}

/// Index tensors as the kernels read them.
pub(crate) fn index_i64(index: &Value) -> Result<Value> {
    crate::op::cast_host(index, DType::I64)
}

/// Refuses an index outside `0..size`, on GPUs too, where burn would read elsewhere instead.
pub(crate) fn check_bounds(op: &str, index: &Value, dim: usize, size: usize) -> Result<()> {
    if index.numel() == 0 {
        return Ok(());
    }
    let host = index_i64(&index.to_host()?)?.contiguous()?;
    let places = &host.buffer()?.as_slice::<i64>()[host.offset..host.offset + host.numel()];
    if let Some(&wrong) = places.iter().find(|&&at| at < 0 || at >= size as i64) {
        bail!(Index, "{op}: index {wrong} is out of bounds for dimension {dim} with size {size}");
    }
    Ok(())
}

/// What an index out of bounds is here: PyTorch has a `RuntimeError` for gathering and scattering.
fn out_of_bounds(op: &str, fault: impl Into<Error>) -> Error {
    Error::new(ErrorKind::Runtime, format!("{op}: {}", fault.into().message()))
}

/// One element of `x` per element of the index, which says where along a dimension.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct GatherOp {
    /// Along which dimension.
    pub dim: usize,
}

/// Whether an index fits a tensor: no larger than it in the other dimensions.
fn check_gather(op: &str, x: &Value, index: &Value, dim: usize) -> Result<()> {
    // An index without elements may be of any integer dtype, as in PyTorch.
    if index.numel() > 0 || !index.dtype.is_int() {
        check_index(op, index)?;
    }
    if x.rank().max(1) != index.rank().max(1) {
        if index.numel() == 0 {
            return Ok(());
        }
        bail!(
            Runtime,
            "{op}: index tensor must have the same number of dimensions as input tensor, got shapes \
             {:?} and {:?}",
            index.shape,
            x.shape
        );
    }
    if (0..index.rank().min(x.rank())).any(|d| d != dim && index.shape[d] > x.shape[d]) {
        bail!(
            Runtime,
            "{op}: size does not match at dimension {dim}: expected index {:?} to be no larger than \
             self {:?} apart from dimension {dim}",
            index.shape,
            x.shape
        );
    }
    Ok(())
}

#[typetag::serde]
impl Primitive for GatherOp {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        check_gather("gather", inputs[0], inputs[1], self.dim)?;
        one(Meta { shape: inputs[1].shape.clone(), dtype: inputs[0].dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let index = index_i64(inputs[1])?;
        crate::with_width!(out[0].dtype, T => single(Value::from_vec_as(
            kernels::index::gather(&inputs[0].view::<T>()?, self.dim, &index.view::<i64>()?)
                .map_err(|fault| out_of_bounds("gather", fault))?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        if inputs[0].rank() == 0 || inputs[1].rank() == 0 || inputs[1].numel() == 0 {
            return Ok(None);
        }
        check_bounds("gather", inputs[1], self.dim, inputs[0].shape[self.dim])?;
        let (x, index) = (to_burn(inputs[0])?, to_burn(inputs[1])?);
        let prim =
            by_kind!(out[0].dtype, float_gather / int_gather / bool_gather(self.dim, x, index));
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(2)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, x) = (ctx.grad()?, &ctx.inputs[0]);
        let zeros = Tensor::zeros(&x.shape(), g.dtype(), g.device())?;
        Ok(smallvec![Some(zeros.scatter_add(self.dim as i64, &ctx.inputs[1], g)?), None])
    }
}

/// A copy of `x` with elements of a source placed where the index says; the last one placed stays.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScatterOp {
    /// Along which dimension.
    pub dim: usize,
    /// Combine with what is there instead of replacing it.
    pub reduce: Option<ScatterReduce>,
}

impl ScatterOp {
    fn place(&self, target: &Value, inputs: &[&Value]) -> Result<()> {
        let index = index_i64(inputs[1])?;
        let source = inputs[2];
        let places = index.view::<i64>()?;
        // A source may be larger than the index; only its corner counts.
        let corner = |value: &Value| -> Value {
            let shape: Dims =
                if value.rank() == 0 { Dims::new() } else { Dims::from_slice(&index.shape) };
            value.with_geometry(shape, value.strides.clone(), value.offset)
        };
        let source = corner(source);
        let Some(reduce) = self.reduce else {
            return crate::with_width!(target.dtype, T => Ok(kernels::index::scatter(
                target.view_mut::<T>()?, self.dim, &places, &source.view::<T>()?,
            ).map_err(|fault| out_of_bounds(self.name(), fault))?));
        };
        match target.dtype.category() {
            Category::Complex => crate::with_dtype!("scatter_reduce", target.dtype, complexes, T =>
                Ok(kernels::index::scatter_reduce(target.view_mut::<T>()?, self.dim, &places, &source.view::<T>()?, reduce)
                    .map_err(|fault| out_of_bounds(self.name(), fault))?)),
            _ => crate::with_dtype!("scatter_reduce", target.dtype, reals, T =>
                Ok(kernels::index::scatter_reduce(target.view_mut::<T>()?, self.dim, &places, &source.view::<T>()?, reduce)
                    .map_err(|fault| out_of_bounds(self.name(), fault))?)),
        }
    }
}

#[typetag::serde]
impl Primitive for ScatterOp {
    fn name(&self) -> &'static str {
        match self.reduce {
            None => "scatter",
            Some(ScatterReduce::Add) => "scatter_add",
            Some(_) => "scatter_reduce",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, index, source) = (inputs[0], inputs[1], inputs[2]);
        let name = self.name();
        check_gather(name, x, index, self.dim)?;
        if source.dtype != x.dtype {
            bail!(
                Runtime,
                "{name}: expected self.dtype to be equal to src.dtype, got {} and {}",
                x.dtype,
                source.dtype
            );
        }
        // A tensor without dimensions counts as one of a single element.
        let room = |d: usize| source.shape.get(d).copied().unwrap_or(1);
        let fits = source.rank().max(1) == index.rank().max(1)
            && index.shape.iter().enumerate().all(|(d, &size)| size <= room(d));
        if !fits && index.numel() > 0 {
            bail!(
                Runtime,
                "{name}: expected index {:?} to be no larger than src {:?} in every dimension",
                index.shape,
                source.shape
            );
        }
        one(x.to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        let target = inputs[0].copied()?;
        if inputs[1].numel() > 0 {
            self.place(&target, inputs)?;
        }
        single(target)
    }

    fn run_into(&self, target: &Value, inputs: &[&Value]) -> Result<bool> {
        if inputs[1].numel() > 0 {
            self.place(target, inputs)?;
        }
        Ok(true)
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let (x, index, source) = (inputs[0], inputs[1], inputs[2]);
        let update = match self.reduce {
            Some(ScatterReduce::Add) => IndexingUpdateOp::Add,
            _ => return Ok(None),
        };
        if x.rank() == 0 || index.rank() == 0 || index.numel() == 0 || index.shape != source.shape {
            return Ok(None);
        }
        // burn's scatter wants the other dimensions to agree.
        if (0..x.rank()).any(|d| d != self.dim && index.shape[d] != x.shape[d]) {
            return Ok(None);
        }
        check_bounds(self.name(), index, self.dim, x.shape[self.dim])?;
        let (x_prim, index, source) = (to_burn(x)?, to_burn(index)?, to_burn(source)?);
        let prim = match x.dtype.category() {
            Category::Float => Dispatch::float_scatter(self.dim, x_prim, index, source, update),
            Category::Int => Dispatch::int_scatter(self.dim, x_prim, index, source, update),
            _ => return Ok(None),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        match self.reduce {
            None | Some(ScatterReduce::Add) => Saves::inputs(2),
            _ => Saves { inputs: 7, outputs: 1 },
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let (x, index, source) = (&ctx.inputs[0], &ctx.inputs[1], &ctx.inputs[2]);
        let dim = self.dim as i64;
        // The gradient of a source larger than the index is zero outside the index's corner.
        let cornered = |part: Tensor| -> Result<Tensor> {
            let (shape, wanted) = (part.shape(), source.shape());
            if shape == wanted {
                return Ok(part);
            }
            let zeros = Tensor::zeros(&wanted, part.dtype(), part.device())?;
            let items = shape
                .iter()
                .map(|&len| crate::ops::view::Item::Slice { start: 0, len, step: 1 })
                .collect();
            let chain = vec![crate::ops::view::ViewOp::Index { items }];
            apply1(&crate::ops::view::ViewScatter { chain }, &[&zeros, &part])
        };
        let (own, other) = match self.reduce {
            None => {
                let zeros = Tensor::zeros(&index.shape(), g.dtype(), g.device())?;
                (g.scatter(dim, index, &zeros)?, g.gather(dim, index)?)
            }
            Some(ScatterReduce::Add) => (g.clone(), g.gather(dim, index)?),
            Some(reduce) => return self.combined_vjp(ctx, reduce, x, index, source, g),
        };
        Ok(smallvec![Some(own), None, Some(cornered(other)?)])
    }
}

impl ScatterOp {
    /// Gradients where elements are multiplied or compared with what is there.
    fn combined_vjp(
        &self,
        ctx: &Vjp<'_>,
        reduce: ScatterReduce,
        x: &Tensor,
        index: &Tensor,
        source: &Tensor,
        g: &Tensor,
    ) -> Result<Grads> {
        let (y, dim) = (&ctx.outputs[0], self.dim as i64);
        let corner: Vec<crate::ops::view::Item> = index
            .shape()
            .iter()
            .map(|&len| crate::ops::view::Item::Slice { start: 0, len, step: 1 })
            .collect();
        if source.shape() != index.shape() {
            let _ = corner;
            bail!(
                Unsupported,
                "scatter_reduce: its gradient needs src and index of one shape, got {:?} and {:?}; \
                 hint: narrow src first",
                source.shape(),
                index.shape()
            );
        }
        if reduce == ScatterReduce::Mul {
            if x.eq_scalar(0.0)?.any(None, false)?.item()?.to_bool()
                || source.eq_scalar(0.0)?.any(None, false)?.item()?.to_bool()
            {
                return self.product_with_zeros(x, index, source, g);
            }
            let own = g.mul(&y.div(x)?)?;
            let other = g.mul(y)?.gather(dim, index)?.div(source)?;
            return Ok(smallvec![Some(own), None, Some(other)]);
        }
        // Equal extremes share the gradient.
        let zeros = Tensor::zeros(&x.shape(), g.dtype(), g.device())?;
        let own = x.eq(y)?.to_dtype(g.dtype())?;
        let hit = source.eq(&y.gather(dim, index)?)?.to_dtype(g.dtype())?;
        let count = own.add(&zeros.scatter_add(dim, index, &hit)?)?;
        let share = g.div(&count)?;
        Ok(smallvec![Some(share.mul(&own)?), None, Some(share.gather(dim, index)?.mul(&hit)?)])
    }

    /// A product's gradient where factors are zero: the product of the others, by counting zeros.
    fn product_with_zeros(
        &self,
        x: &Tensor,
        index: &Tensor,
        source: &Tensor,
        g: &Tensor,
    ) -> Result<Grads> {
        let dim = self.dim as i64;
        let one = Tensor::full(&[], 1.0, x.dtype(), x.device())?;
        let zero_x = x.eq_scalar(0.0)?;
        let zero_s = source.eq_scalar(0.0)?;
        // The product with zeros counted apart.
        let rest = zero_x.where_(&one, x)?;
        let filled = zero_s.where_(&one, source)?;
        let product = apply1(self, &[&rest, index, &filled])?;
        let zeros =
            zero_x.to_dtype(x.dtype())?.scatter_add(dim, index, &zero_s.to_dtype(x.dtype())?)?;
        let none = zeros.eq_scalar(0.0)?.to_dtype(g.dtype())?;
        let single_zero = zeros.eq_scalar(1.0)?.to_dtype(g.dtype())?;
        let slope =
            |is_zero: &Tensor, factor: &Tensor, product: &Tensor, none: &Tensor, lone: &Tensor| {
                let flag = is_zero.to_dtype(g.dtype())?;
                let plain = product.div(factor)?.mul(none)?;
                let alone = product.mul(lone)?;
                flag.mul(&alone)?.add(&flag.neg()?.add_scalar(1.0)?.mul(&plain)?)
            };
        let own = g.mul(&slope(&zero_x, &rest, &product, &none, &single_zero)?)?;
        let at = |t: &Tensor| t.gather(dim, index);
        let other = at(g)?.mul(&slope(
            &zero_s,
            &filled,
            &at(&product)?,
            &at(&none)?,
            &at(&single_zero)?,
        )?)?;
        Ok(smallvec![Some(own), None, Some(other)])
    }
}

/// Whole slices along a dimension, by a 1-d index.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct IndexSelectOp {
    /// Along which dimension.
    pub dim: usize,
}

#[typetag::serde]
impl Primitive for IndexSelectOp {
    fn name(&self) -> &'static str {
        "index_select"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, index) = (inputs[0], inputs[1]);
        check_index("index_select", index)?;
        if index.rank() > 1 {
            bail!(
                Index,
                "index_select: index is supposed to be a vector, got shape {:?}",
                index.shape
            );
        }
        let mut shape = x.shape.clone();
        if let Some(size) = shape.get_mut(self.dim) {
            *size = index.numel();
        } else if index.numel() != 1 {
            bail!(
                Index,
                "index_select: index to scalar can have only 1 value, got {} value(s)",
                index.numel()
            );
        }
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let index = index_i64(inputs[1])?;
        crate::with_width!(out[0].dtype, T => single(Value::from_vec_as(
            kernels::index::index_select(&inputs[0].view::<T>()?, self.dim, &index.view::<i64>()?)?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn widens(&self) -> bool {
        false
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let (x, index) = (inputs[0], inputs[1]);
        if x.rank() == 0 || index.rank() == 0 || index.numel() == 0 || x.numel() == 0 {
            return Ok(None);
        }
        check_bounds("index_select", index, self.dim, x.shape[self.dim])?;
        let (x, index) = (to_burn(x)?, to_burn(index)?);
        let prim =
            by_kind!(out[0].dtype, float_select / int_select / bool_select(x, self.dim, index));
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(2)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (g, x) = (ctx.grad()?, &ctx.inputs[0]);
        let zeros = Tensor::zeros(&x.shape(), g.dtype(), g.device())?;
        Ok(smallvec![Some(zeros.index_add(self.dim as i64, &ctx.inputs[1], g)?), None])
    }
}

/// A copy of `x` with slices of a source added at the places a 1-d index names.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct IndexAddOp {
    /// Along which dimension.
    pub dim: usize,
}

impl IndexAddOp {
    fn place(&self, target: &Value, inputs: &[&Value]) -> Result<()> {
        let index = index_i64(inputs[1])?;
        let places = index.view::<i64>()?;
        macro_rules! go {
            ($T:ty) => {
                Ok(kernels::index::index_add(
                    target.view_mut::<$T>()?,
                    self.dim,
                    &places,
                    &inputs[2].view::<$T>()?,
                    <$T as crate::FromScalar>::from_scalar(crate::Scalar::Int(1)),
                )?)
            };
        }
        match target.dtype.category() {
            Category::Complex => {
                crate::with_dtype!("index_add", target.dtype, complexes, T => go!(T))
            }
            _ => crate::with_dtype!("index_add", target.dtype, reals, T => go!(T)),
        }
    }
}

#[typetag::serde]
impl Primitive for IndexAddOp {
    fn name(&self) -> &'static str {
        "index_add"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, index, source) = (inputs[0], inputs[1], inputs[2]);
        check_index("index_add", index)?;
        if index.rank() > 1 {
            bail!(
                Index,
                "index_add: index is supposed to be a vector, got shape {:?}",
                index.shape
            );
        }
        if source.dtype != x.dtype {
            bail!(
                Runtime,
                "index_add: self ({}) and source ({}) must have the same dtype",
                x.dtype,
                source.dtype
            );
        }
        let mut wanted = x.shape.clone();
        if let Some(size) = wanted.get_mut(self.dim) {
            *size = index.numel();
        }
        if source.shape != wanted && !(x.rank() == 0 && source.numel() == 1) {
            bail!(
                Runtime,
                "index_add: expected a source of shape {wanted:?} for self {:?} and {} indices, got {:?}",
                x.shape,
                index.numel(),
                source.shape
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

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let (x, index, source) = (inputs[0], inputs[1], inputs[2]);
        if x.rank() == 0 || index.rank() == 0 || index.numel() == 0 || x.numel() == 0 {
            return Ok(None);
        }
        check_bounds("index_add", index, self.dim, x.shape[self.dim])?;
        let (prim, index, source) = (to_burn(x)?, to_burn(index)?, to_burn(source)?);
        let prim = match x.dtype.category() {
            Category::Float => {
                Dispatch::float_select_assign(prim, self.dim, index, source, IndexingUpdateOp::Add)
            }
            Category::Int => {
                Dispatch::int_select_assign(prim, self.dim, index, source, IndexingUpdateOp::Add)
            }
            _ => return Ok(None),
        };
        single(from_burn(prim, &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(2)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        let source =
            g.index_select(self.dim as i64, &ctx.inputs[1])?.reshape_to(&ctx.inputs[2].shape())?;
        Ok(smallvec![Some(g.clone()), None, Some(source)])
    }
}

impl Tensor {
    /// One element per element of the index, which says where along `dim`.
    pub fn gather(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        let dim = wrap_dim("gather", dim, self.rank())?;
        apply1(&GatherOp { dim }, &[self, index])
    }

    /// A copy with elements of `source` placed where the index says.
    pub fn scatter(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let dim = wrap_dim("scatter", dim, self.rank())?;
        apply1(&ScatterOp { dim, reduce: None }, &[self, index, source])
    }

    /// A copy with elements of `source` added where the index says.
    pub fn scatter_add(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        self.scatter_with(dim, index, source, ScatterReduce::Add)
    }

    /// A copy with elements of `source` combined with what is there.
    pub fn scatter_with(
        &self,
        dim: i64,
        index: &Tensor,
        source: &Tensor,
        reduce: ScatterReduce,
    ) -> Result<Tensor> {
        let dim = wrap_dim("scatter", dim, self.rank())?;
        let op = ScatterOp { dim, reduce: Some(reduce) };
        if self.dtype() == DType::Bool && source.dtype() == DType::Bool {
            // Truth adds up to truth, not to two.
            let (own, source) = (self.to_dtype(DType::I32)?, source.to_dtype(DType::I32)?);
            return apply1(&op, &[&own, index, &source])?.to_dtype(DType::Bool);
        }
        apply1(&op, &[self, index, source])
    }

    /// Whole slices along `dim`, by a 1-d index.
    pub fn index_select(&self, dim: i64, index: &Tensor) -> Result<Tensor> {
        let dim = wrap_dim("index_select", dim, self.rank())?;
        apply1(&IndexSelectOp { dim }, &[self, index])
    }

    /// A copy with slices of `source` added at the places a 1-d index names.
    pub fn index_add(&self, dim: i64, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let dim = wrap_dim("index_add", dim, self.rank())?;
        if self.dtype() == DType::Bool && source.dtype() == DType::Bool {
            let (own, source) = (self.to_dtype(DType::I32)?, source.to_dtype(DType::I32)?);
            return apply1(&IndexAddOp { dim }, &[&own, index, &source])?.to_dtype(DType::Bool);
        }
        apply1(&IndexAddOp { dim }, &[self, index, source])
    }
}
