//! Rows of a table by their numbers, and the one-sided bound of the layers that need one.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, one, single};
use crate::ops::binary::Binary;
use crate::ops::index::{IndexAddOp, check_bounds, index_i64};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// The rows of a table (the first input) with the numbers that the second one has.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct EmbeddingOp {
    /// The row that gets no gradient.
    pub padding: Option<usize>,
    /// Whether gradients are divided by how often their row occurs.
    pub by_frequency: bool,
}

#[typetag::serde]
impl Primitive for EmbeddingOp {
    fn name(&self) -> &'static str {
        "embedding"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (table, index) = (inputs[0], inputs[1]);
        if table.rank() != 2 {
            bail!(Runtime, "embedding: 'weight' must be 2-D, got shape {:?}", table.shape);
        }
        if !matches!(index.dtype, DType::I64 | DType::I32) {
            bail!(
                Runtime,
                "embedding: expected indices of dtype int64 or int32, got {}; hint: .long() first",
                index.dtype
            );
        }
        let mut shape = index.shape.clone();
        shape.push(table.shape[1]);
        one(Meta { shape, dtype: table.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let table = inputs[0];
        let index = index_i64(inputs[1])?.contiguous()?;
        let places = index.reshaped(&[index.numel()]).expect("contiguous values have any shape");
        check_bounds("embedding", &places, 0, table.shape[0])?;
        crate::with_width!(table.dtype, T => single(Value::from_vec_as(
            kernels::index::index_select(&table.view::<T>()?, 0, &places.view::<i64>()?)?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        let (table, index) = (inputs[0], inputs[1]);
        if out[0].shape.contains(&0) || !table.dtype.is_float() {
            return Ok(None);
        }
        check_bounds("embedding", index, 0, table.shape[0])?;
        let places = bridge::reshape(to_burn(index)?, index.dtype, &[index.numel()]);
        let rows = Dispatch::float_select(to_burn(table)?, 0, places);
        let rows = bridge::reshape(rows, out[0].dtype, &out[0].shape);
        single(from_burn(rows, &out[0], device)?).map(Some)
    }

    fn widens(&self) -> bool {
        false
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::inputs(2)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (table, index) = (&ctx.inputs[0], &ctx.inputs[1]);
        let index = index.reshape(&[-1])?;
        let shape = table.shape();
        let mut grad = ctx.grad()?.reshape_to(&[index.numel(), shape[1]])?;
        if self.by_frequency {
            let ones = Tensor::ones(&index.shape(), grad.dtype(), grad.device())?;
            let counts = Tensor::zeros(&shape[..1], grad.dtype(), grad.device())?;
            let counts = counts.index_add(0, &index, &ones)?.index_select(0, &index)?;
            grad = grad.div(&counts.unsqueeze(1)?)?;
        }
        if let Some(padding) = self.padding {
            let zero = Tensor::zeros(&[], grad.dtype(), grad.device())?;
            let is_padding = index.eq_scalar(padding as i64)?.unsqueeze(1)?;
            grad = grad.masked_fill(&is_padding, &zero)?;
        }
        let rows = Tensor::zeros(&shape, grad.dtype(), grad.device())?;
        // In place: the table may be large.
        crate::autograd::apply_into(&IndexAddOp { dim: 0 }, &[&rows, &index, &grad])?;
        Ok(smallvec![Some(rows), None])
    }
}

/// The larger of the elements and a bound (the second input). The gradient passes where elements are
/// at or above the bound, and elsewhere where it is negative, that is where going against it leads
/// back: a parameter held at the bound is not stuck there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct LowerBoundOp;

#[typetag::serde]
impl Primitive for LowerBoundOp {
    fn name(&self) -> &'static str {
        "lower_bound"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, bound) = (inputs[0], inputs[1]);
        if !x.dtype.is_float() {
            bail!(Runtime, "lower_bound: not implemented for {}; hint: .float() first", x.dtype);
        }
        if bound.numel() != 1 || bound.dtype != x.dtype {
            bail!(
                Runtime,
                "lower_bound: expected a bound of one element of dtype {}, got shape {:?} and dtype {}",
                x.dtype,
                bound.shape,
                bound.dtype
            );
        }
        one(x.to_meta())
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, bound) = (inputs[0], inputs[1].item()?.to_f64());
        crate::with_dtype!("lower_bound", x.dtype, floats, T => single(Value::from_vec_as(
            kernels::binary::binary_scalar(Binary::Maximum, x.view::<T>()?, bound as T)?,
            out[0].shape.clone(),
            out[0].dtype,
        )))
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        if inputs[0].numel() == 0 {
            return Ok(None);
        }
        let x = to_burn(inputs[0])?;
        let ones = vec![1; inputs[0].rank()];
        let bound = bridge::reshape(to_burn(inputs[1])?, out[0].dtype, &ones);
        let bound = bridge::expand(bound, out[0].dtype, &out[0].shape);
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let below = D::float_lower(x.clone(), bound.clone(), store);
        single(from_burn(D::float_mask_where(x, below, bound), &out[0], device)?).map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (grad, x, bound) = (ctx.grad()?, &ctx.inputs[0], &ctx.inputs[1]);
        let passes = x.ge(&bound.reshape_to(&[])?)?.logical_or(&grad.lt_scalar(0.0)?)?;
        let zero = Tensor::zeros(&[], grad.dtype(), grad.device())?;
        Ok(smallvec![Some(passes.where_(grad, &zero)?), None])
    }
}

impl Tensor {
    /// The rows of this table with the given numbers; `padding` is a row that gets no gradient, and
    /// `by_frequency` divides gradients by how often their row occurs.
    pub fn embedding(
        &self,
        index: &Tensor,
        padding: Option<usize>,
        by_frequency: bool,
    ) -> Result<Tensor> {
        apply1(&EmbeddingOp { padding, by_frequency }, &[self, index])
    }

    /// The larger of the elements and a bound, with a gradient that lets elements below it come back.
    pub fn lower_bound(&self, bound: &Tensor) -> Result<Tensor> {
        apply1(&LowerBoundOp, &[self, bound])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    fn grad_of(loss: &Tensor, x: &Tensor) -> Vec<f64> {
        let (loss, x) = (std::slice::from_ref(loss), std::slice::from_ref(x));
        let grads = crate::autograd::grad(loss, x, &[None], false, false);
        grads.unwrap()[0].as_ref().unwrap().to_vec().unwrap()
    }

    #[test]
    fn rows_and_their_gradients() {
        let table = noise(&[4, 2], DType::F64, 1);
        let index = Tensor::from_vec(vec![3i64, 0, 3, 2, 1, 3], &[2, 3]).unwrap();
        for (padding, by_frequency) in [(None, false), (Some(2), false), (None, true)] {
            table.set_requires_grad(true).unwrap();
            let rows = table.embedding(&index, padding, by_frequency).unwrap();
            assert_eq!(rows.shape()[..], [2, 3, 2]);
            let found = grad_of(&rows.sum(None, false).unwrap(), &table);
            let threes = if by_frequency { 1.0 } else { 3.0 };
            let twos = if padding.is_some() { 0.0 } else { 1.0 };
            assert_eq!(found, [1.0, 1.0, 1.0, 1.0, twos, twos, threes, threes]);
        }
        table.set_requires_grad(false).unwrap();
        gradcheck("embedding", std::slice::from_ref(&table), true, &|x| {
            Ok(vec![x[0].embedding(&index, None, false)?])
        });
        let half = table.to_dtype(DType::F16).unwrap().embedding(&index, None, false).unwrap();
        assert_eq!(half.dtype(), DType::F16);
        let op = EmbeddingOp { padding: None, by_frequency: false };
        let (table_value, index_value) = (table.value(), index.value());
        let inputs = [&table_value, &index_value];
        let metas = op.infer(&inputs).unwrap();
        let burns = op.run_gpu(&inputs, &metas, Device::Cpu).unwrap().unwrap().remove(0);
        let ours = table.embedding(&index, None, false).unwrap();
        assert_eq!(
            Tensor::from_value(burns).to_vec::<f64>().unwrap(),
            ours.to_vec::<f64>().unwrap()
        );
        let wrong = Tensor::from_vec(vec![4i64], &[1]).unwrap();
        assert!(table.embedding(&wrong, None, false).unwrap_err().to_string().contains("index 4"));
    }

    #[test]
    fn bounded_elements_can_come_back() {
        let x = Tensor::from_vec(vec![-1.0f64, 2.0, 0.5], &[3]).unwrap();
        let bound = Tensor::from_vec(vec![0.5f64], &[1]).unwrap();
        x.set_requires_grad(true).unwrap();
        let loss = |sign: f64| {
            let y = x.lower_bound(&bound).unwrap();
            assert_eq!(y.to_vec::<f64>().unwrap(), [0.5, 2.0, 0.5]);
            y.mul_scalar(sign).unwrap().sum(None, false).unwrap()
        };
        assert_eq!(grad_of(&loss(1.0), &x), [0.0, 1.0, 1.0]);
        assert_eq!(grad_of(&loss(-1.0), &x), [-1.0, -1.0, -1.0]);
        let (value, limit) = (x.value(), bound.value());
        let metas = LowerBoundOp.infer(&[&value, &limit]).unwrap();
        let burns = LowerBoundOp.run_gpu(&[&value, &limit], &metas, Device::Cpu).unwrap().unwrap();
        let burns = Tensor::from_value(burns[0].clone());
        assert_eq!(burns.to_vec::<f64>().unwrap(), [0.5, 2.0, 0.5]);
        assert!(x.lower_bound(&x).is_err());
    }
}
