//! Losses: the cross entropy of logits and classes in one step, and those of single elements.

mod pair;

use burn_backend::ops::{BoolTensorOps, FloatTensorOps, IntTensorOps};
use burn_dispatch::Dispatch;
use kernels::loss::Classes;
pub use pair::{PairLoss, PairLossOp, PairSlopeOp};
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, Prim, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Tensors, Values, Vjp, apply, apply1, single};
use crate::ops::index::index_i64;
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Error, Result, bail, error};

/// Which lanes count how much.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rules {
    /// Lanes of this class do not count.
    pub ignored: i64,
    /// How much of each lane is shared among all classes.
    pub smoothing: f64,
    /// Whether classes have weights.
    pub weight: bool,
}

/// The dimension that classes are along.
fn class_dim(rank: usize) -> usize {
    usize::from(rank > 1)
}

/// An error of a kernel, which knows nothing of arguments.
fn explained(fault: kernels::Error, ignored: i64) -> Error {
    match fault {
        kernels::Error::Index { index, size, .. } => error!(
            Index,
            "cross_entropy: expected targets from 0 to {} (or ignore_index={ignored}), got {index}",
            size as i64 - 1
        ),
        fault => fault.into(),
    }
}

/// Elements of a host value in row-major order.
fn listed<T: kernels::Element>(value: &Value) -> Result<&[T]> {
    Ok(&value.buffer()?.as_slice::<T>()[value.offset..][..value.numel()])
}

/// The loss of each lane of logits, the logarithm of the sum of its exponentials, and the weight of
/// its class (zero where it is ignored). Inputs: the logits, with classes along the second dimension
/// (along the only one, if there is no other), the class of each lane, and weights of classes where
/// the rules say so.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CrossEntropyOp {
    /// Which lanes count how much.
    pub rules: Rules,
}

/// [`Classes`] out of a target and an optional weight, both contiguous on the host.
macro_rules! classes {
    ($rules:expr, $target:expr, $weight:expr, $T:ty) => {
        Classes {
            targets: listed::<i64>($target)?,
            weight: $weight.map(|weight| listed::<$T>(weight)).transpose()?,
            ignored: $rules.ignored,
            smoothing: $rules.smoothing,
        }
    };
}

#[typetag::serde]
impl Primitive for CrossEntropyOp {
    fn name(&self) -> &'static str {
        "cross_entropy"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (x, target) = (inputs[0], inputs[1]);
        if !x.dtype.is_float() {
            bail!(Runtime, "cross_entropy: not implemented for {}; hint: .float() first", x.dtype);
        }
        if !target.dtype.is_int() {
            bail!(
                Runtime,
                "cross_entropy: expected a target of class indices (an integer dtype) of shape {:?}, \
                 got {}",
                target.shape,
                target.dtype
            );
        }
        if x.rank() == 0 {
            bail!(Runtime, "cross_entropy: expected an input with a dimension of classes, got ()");
        }
        let dim = class_dim(x.rank());
        let mut lanes = x.shape.clone();
        let classes = lanes.remove(dim);
        if target.shape != lanes {
            bail!(
                Runtime,
                "cross_entropy: expected a target of shape {lanes:?} for an input of shape {:?} \
                 (classes along dimension {dim}), got {:?}",
                x.shape,
                target.shape
            );
        }
        if self.rules.weight {
            let weight = inputs[2];
            if weight.shape.as_slice() != [classes] {
                bail!(
                    Runtime,
                    "cross_entropy: expected a weight for each of {classes} classes, got shape {:?}",
                    weight.shape
                );
            }
            if weight.dtype != x.dtype {
                bail!(
                    Runtime,
                    "cross_entropy: expected weights of the input's dtype {}, got {}",
                    x.dtype,
                    weight.dtype
                );
            }
        }
        let plain = Meta { shape: lanes.clone(), dtype: x.dtype };
        let stats = Meta { shape: lanes, dtype: x.dtype.widened() };
        Ok(smallvec![plain.clone(), stats, plain])
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, target) = (inputs[0], index_i64(inputs[1])?.contiguous()?);
        let weight = self.rules.weight.then(|| inputs[2].contiguous()).transpose()?;
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let classes = classes!(self.rules, &target, weight.as_ref(), T);
            let found = kernels::loss::cross_entropy::<T>(x.view()?, class_dim(x.rank()), classes)
                .map_err(|fault| explained(fault, self.rules.ignored))?;
            let parts = [found.losses, found.normalisers, found.weights].into_iter().zip(out);
            Ok(parts.map(|(part, meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[0];
        if x.numel() == 0 {
            return Ok(None);
        }
        let lanes = OnGpu::new(self.rules, x, inputs[1], inputs.get(2).copied(), device)?;
        lanes.check(inputs[1])?;
        let logits = lanes.wide(x)?;
        let top = D::float_max_dim(logits.clone(), 1);
        let grown = D::float_exp(D::float_sub(logits.clone(), top.clone()));
        let log_sum = D::float_add(top, D::float_log(D::float_sum_dim(grown, 1)));
        let distance = D::float_sub(log_sum.clone(), logits);
        let at_target = D::float_gather(1, distance.clone(), lanes.target.clone());
        let own = D::float_mul_scalar(lanes.weights()?, (1.0 - self.rules.smoothing).into());
        let mut losses = D::float_mul(at_target, own);
        if self.rules.smoothing != 0.0 {
            let weighted = match &lanes.weight {
                Some(weight) => D::float_mul(distance, weight.clone()),
                None => distance,
            };
            let each = (self.rules.smoothing / lanes.classes as f64).into();
            losses = D::float_add(losses, D::float_mul_scalar(D::float_sum_dim(weighted, 1), each));
        }
        let zero = |prim: Prim| D::float_mask_fill(prim, lanes.ignored.clone(), 0.0.into());
        [zero(losses), log_sum, zero(lanes.weights()?)]
            .into_iter()
            .zip(out)
            .map(|(prim, meta)| {
                let prim = bridge::cast(prim, x.dtype.widened(), meta.dtype, device)?;
                from_burn(bridge::reshape(prim, meta.dtype, &meta.shape), meta, device)
            })
            .collect::<Result<Values>>()
            .map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: 7, outputs: 2 }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (x, target) = (&ctx.inputs[0], &ctx.inputs[1]);
        let weight = ctx.inputs.get(2);
        if ctx.needs.get(2) == Some(&true) {
            bail!(
                Unsupported,
                "cross_entropy: the derivative by 'weight' is not implemented, in PyTorch neither"
            );
        }
        let by_x = match &ctx.grads[0] {
            None => None,
            // Only what is made of tensor ops has gradients itself.
            Some(grad) if crate::autograd::grad_enabled() => {
                Some(self.gradient(grad, x, target, weight)?)
            }
            Some(grad) => {
                let mut inputs = vec![grad, x, target, &ctx.outputs[1]];
                inputs.extend(weight);
                Some(apply1(&CrossEntropyBackwardOp { rules: self.rules }, &inputs)?)
            }
        };
        let mut grads: Grads = smallvec![by_x, None];
        if self.rules.weight {
            grads.push(None);
        }
        Ok(grads)
    }
}

impl CrossEntropyOp {
    /// The gradient by the logits, made of tensor ops.
    fn gradient(
        &self,
        grad: &Tensor,
        x: &Tensor,
        target: &Tensor,
        weight: Option<&Tensor>,
    ) -> Result<Tensor> {
        let dim = class_dim(x.rank());
        let classes = x.shape()[dim];
        let dtype = grad.dtype();
        let ignored = target.eq_scalar(self.rules.ignored)?;
        let index =
            target.to_dtype(DType::I64)?.mul(&ignored.eq_scalar(false)?.to_dtype(DType::I64)?)?;
        let grad = grad.mul(&ignored.eq_scalar(false)?.to_dtype(dtype)?)?.unsqueeze(dim as i64)?;
        let index = index.unsqueeze(dim as i64)?;
        let mut column = vec![1; x.rank()];
        column[dim] = classes;
        let weight = match weight {
            Some(weight) => weight.to_dtype(dtype)?,
            None => Tensor::ones(&[classes], dtype, x.device())?,
        };
        let own = weight.index_select(0, &index.reshape(&[-1])?)?.reshape_to(&index.shape())?;
        let own = own.mul_scalar(1.0 - self.rules.smoothing)?.mul(&grad)?;
        let each = weight.mul_scalar(self.rules.smoothing / classes.max(1) as f64)?;
        let all = grad.mul(&each.sum(None, false)?)?;
        let shares = x.log_softmax(dim as i64, None)?.unary(Unary::Exp)?;
        let spread = shares.mul(&own.add(&all)?)?.sub(&grad.mul(&each.reshape_to(&column)?)?)?;
        spread.scatter_add(dim as i64, &index, &own.neg()?)
    }
}

/// The gradient of [`CrossEntropyOp`] by its logits. Inputs: the gradients of the losses, then the
/// logits, the classes, the logarithms of the sums, and the weights where the rules say so.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CrossEntropyBackwardOp {
    /// Which lanes count how much.
    pub rules: Rules,
}

#[typetag::serde]
impl Primitive for CrossEntropyBackwardOp {
    fn name(&self) -> &'static str {
        "cross_entropy_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        if inputs[0].shape != inputs[2].shape {
            bail!(
                Runtime,
                "{}: expected a gradient of shape {:?}, got {:?}",
                self.name(),
                inputs[2].shape,
                inputs[0].shape
            );
        }
        Ok(smallvec![inputs[1].to_meta()])
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, target) = (inputs[1], index_i64(inputs[2])?.contiguous()?);
        let weight = self.rules.weight.then(|| inputs[4].contiguous()).transpose()?;
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let classes = classes!(self.rules, &target, weight.as_ref(), T);
            single(Value::from_vec_as(
                kernels::loss::cross_entropy_backward::<T>(
                    inputs[0].view()?,
                    x.view()?,
                    inputs[3].view()?,
                    class_dim(x.rank()),
                    classes,
                ),
                out[0].shape.clone(),
                out[0].dtype,
            ))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[1];
        if x.numel() == 0 {
            return Ok(None);
        }
        let lanes = OnGpu::new(self.rules, x, inputs[2], inputs.get(4).copied(), device)?;
        let grad = D::float_mask_fill(lanes.wide(inputs[0])?, lanes.ignored.clone(), 0.0.into());
        let shares = D::float_exp(D::float_sub(lanes.wide(x)?, lanes.wide(inputs[3])?));
        let own = D::float_mul_scalar(lanes.weights()?, (1.0 - self.rules.smoothing).into());
        let own = D::float_mul(own, grad.clone());
        let mut factor = own.clone();
        let mut spread = None;
        if self.rules.smoothing != 0.0 {
            let each = D::float_mul_scalar(
                lanes.all_weights()?,
                (self.rules.smoothing / lanes.classes as f64).into(),
            );
            let all = D::float_mul(grad.clone(), D::float_sum_dim(each.clone(), 1));
            factor = D::float_add(factor, all);
            spread = Some(D::float_mul(grad, each));
        }
        let mut result = D::float_mul(shares, factor);
        if let Some(spread) = spread {
            result = D::float_sub(result, spread);
        }
        // Where a class is a lane's target.
        let is_target = lanes.is_target()?;
        let own = D::float_expand(own, bridge::burn_shape(&lanes.shape));
        let apart = D::float_mask_fill(own, D::bool_not(is_target), 0.0.into());
        let prim = D::float_sub(result, apart);
        let prim = bridge::cast(prim, x.dtype.widened(), out[0].dtype, device)?;
        let prim = bridge::reshape(prim, out[0].dtype, &out[0].shape);
        single(from_burn(prim, &out[0], device)?).map(Some)
    }
}

/// Logits as samples by classes by what follows, in burn's hands.
struct OnGpu {
    rules: Rules,
    shape: [usize; 3],
    classes: usize,
    /// The class of each lane, the first where it is ignored.
    target: Prim,
    ignored: Prim,
    weight: Option<Prim>,
    device: Device,
    dtype: DType,
    index: DType,
}

impl OnGpu {
    fn new(
        rules: Rules,
        x: &Value,
        target: &Value,
        weight: Option<&Value>,
        device: Device,
    ) -> Result<Self> {
        let dim = class_dim(x.rank());
        let classes = x.shape[dim];
        let inner: usize = x.shape[dim + 1..].iter().product();
        let shape = [x.numel() / (classes * inner), classes, inner];
        let lanes = [shape[0], 1, inner];
        let store = bridge::burn_dtype(DType::Bool, device)?.into();
        let target_prim = bridge::reshape(to_burn(target)?, target.dtype, &lanes);
        let ignored = Dispatch::int_equal_elem(target_prim.clone(), rules.ignored.into(), store);
        let target_prim = Dispatch::int_mask_fill(target_prim, ignored.clone(), 0i64.into());
        let dtype = x.dtype.widened();
        let weight = match weight {
            Some(weight) if rules.weight => {
                let prim = bridge::cast(to_burn(weight)?, weight.dtype, dtype, device)?;
                Some(bridge::reshape(prim, dtype, &[1, classes, 1]))
            }
            _ => None,
        };
        let index = target.dtype;
        Ok(OnGpu {
            rules,
            shape,
            classes,
            target: target_prim,
            ignored,
            weight,
            device,
            dtype,
            index,
        })
    }

    /// Refuses targets that are no class: burn would read elsewhere.
    fn check(&self, target: &Value) -> Result<()> {
        let host = index_i64(&target.to_host()?)?.contiguous()?;
        let wrong = listed::<i64>(&host)?.iter().find(|&&target| {
            target != self.rules.ignored && !(0..self.classes as i64).contains(&target)
        });
        match wrong {
            None => Ok(()),
            Some(&index) => {
                let fault = kernels::Error::Index { index, dim: 1, size: self.classes };
                Err(explained(fault, self.rules.ignored))
            }
        }
    }

    /// Elements, or what belongs to lanes, wide enough for sums.
    fn wide(&self, value: &Value) -> Result<Prim> {
        let [outer, classes, inner] = self.shape;
        let classes = if value.numel() == outer * inner && classes != 1 { 1 } else { classes };
        let prim = bridge::cast(to_burn(value)?, value.dtype, self.dtype, self.device)?;
        Ok(bridge::reshape(prim, self.dtype, &[outer, classes, inner]))
    }

    fn ones(&self, shape: &[usize]) -> Result<Prim> {
        let device = bridge::burn_device(self.device)?;
        let dtype = bridge::burn_dtype(self.dtype, self.device)?.into();
        Ok(Dispatch::float_ones(bridge::burn_shape(shape), &device, dtype))
    }

    /// The weight of each class.
    fn all_weights(&self) -> Result<Prim> {
        match &self.weight {
            Some(weight) => Ok(weight.clone()),
            None => self.ones(&[1, self.classes, 1]),
        }
    }

    /// The weight of each lane's class.
    fn weights(&self) -> Result<Prim> {
        let [outer, _, inner] = self.shape;
        match &self.weight {
            Some(weight) => {
                let spread =
                    Dispatch::float_expand(weight.clone(), bridge::burn_shape(&self.shape));
                Ok(Dispatch::float_gather(1, spread, self.target.clone()))
            }
            None => self.ones(&[outer, 1, inner]),
        }
    }

    /// Where classes are their lanes' targets.
    fn is_target(&self) -> Result<Prim> {
        let device = bridge::burn_device(self.device)?;
        let dtype = bridge::burn_dtype(self.index, self.device)?.into();
        let store = bridge::burn_dtype(DType::Bool, self.device)?.into();
        let places = Dispatch::int_arange_step(0..self.classes as i64, 1, &device, dtype);
        let places = bridge::reshape(places, self.index, &[1, self.classes, 1]);
        let shape = bridge::burn_shape(&self.shape);
        let places = Dispatch::int_expand(places, shape.clone());
        Ok(Dispatch::int_equal(places, Dispatch::int_expand(self.target.clone(), shape), store))
    }
}

impl Tensor {
    /// The cross entropy of logits and class indices: the loss of each lane along the dimension of
    /// classes, and the weight of its class (zero where it is ignored).
    pub fn cross_entropy(
        &self,
        target: &Tensor,
        weight: Option<&Tensor>,
        ignored: i64,
        smoothing: f64,
    ) -> Result<(Tensor, Tensor)> {
        let op = CrossEntropyOp { rules: Rules { ignored, smoothing, weight: weight.is_some() } };
        let mut inputs = vec![self, target];
        inputs.extend(weight);
        let mut found: Tensors = apply(&op, &inputs)?;
        let weights = found.swap_remove(2);
        // Counts are no function of logits.
        Ok((found.swap_remove(0), Tensor::from_value(weights.value())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    const SHAPES: [&[usize]; 4] = [&[5], &[6, 5], &[2, 5, 3], &[1, 5, 2, 2]];

    fn target(shape: &[usize]) -> Tensor {
        let mut lanes = shape.to_vec();
        lanes.remove(class_dim(shape.len()));
        let count: usize = lanes.iter().product();
        let data = (0..count as i64).map(|i| if i == 2 { -7 } else { (i * 3 + 1) % 5 }).collect();
        Tensor::from_vec::<i64>(data, &lanes).unwrap()
    }

    #[test]
    fn gradients_of_first_and_second_order() {
        let weight = noise(&[5], DType::F64, 3).square().unwrap();
        for shape in SHAPES {
            let x = noise(shape, DType::F64, 1);
            for weight in [None, Some(&weight)] {
                for smoothing in [0.0, 0.2] {
                    gradcheck("cross_entropy", std::slice::from_ref(&x), true, &|x| {
                        Ok(vec![x[0].cross_entropy(&target(shape), weight, -7, smoothing)?.0])
                    });
                }
            }
        }
    }

    #[test]
    fn both_ways_to_a_gradient_and_burn_agree() {
        let weight = noise(&[5], DType::F64, 3).square().unwrap();
        let close = |a: &Tensor, b: &Tensor| {
            let (a, b) = (a.to_vec::<f64>().unwrap(), b.to_vec::<f64>().unwrap());
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
        };
        for shape in SHAPES {
            let (x, target) = (noise(shape, DType::F64, 1), target(shape));
            x.set_requires_grad(true).unwrap();
            for weight in [None, Some(&weight)] {
                for smoothing in [0.0, 0.2] {
                    let (y, _) = x.cross_entropy(&target, weight, -7, smoothing).unwrap();
                    let g = noise(&y.shape(), DType::F64, 4);
                    let ways = [true, false].map(|create| {
                        let seeds = [Some(g.clone())];
                        let wanted = [x.clone()];
                        crate::autograd::grad(
                            std::slice::from_ref(&y),
                            &wanted,
                            &seeds,
                            true,
                            create,
                        )
                        .unwrap()
                        .remove(0)
                        .unwrap()
                    });
                    close(&ways[0], &ways[1]);
                    let rules = Rules { ignored: -7, smoothing, weight: weight.is_some() };
                    let (x, t) = (x.value(), target.value());
                    let w = weight.map(|weight| weight.value());
                    let mut inputs = vec![&x, &t];
                    inputs.extend(&w);
                    let op = CrossEntropyOp { rules };
                    let metas = op.infer(&inputs).unwrap();
                    let burns = op.run_gpu(&inputs, &metas, Device::Cpu).unwrap().unwrap();
                    let ours = op.run(&inputs, &metas).unwrap();
                    for (ours, burns) in ours.iter().zip(burns) {
                        close(&Tensor::from_value(burns), &Tensor::from_value(ours.clone()));
                    }
                    let g = g.value();
                    let mut inputs = vec![&g, &x, &t, &ours[1]];
                    inputs.extend(&w);
                    let op = CrossEntropyBackwardOp { rules };
                    let metas = op.infer(&inputs).unwrap();
                    let mut burns = op.run_gpu(&inputs, &metas, Device::Cpu).unwrap().unwrap();
                    close(&Tensor::from_value(burns.remove(0)), &ways[1]);
                }
            }
        }
    }

    #[test]
    fn wrong_calls_are_explained() {
        let x = noise(&[2, 3], DType::F32, 1);
        let message = |target: Tensor, weight: Option<&Tensor>| {
            x.cross_entropy(&target, weight, -100, 0.0).unwrap_err().to_string()
        };
        let of = |data: Vec<i64>| {
            let len = data.len();
            Tensor::from_vec(data, &[len]).unwrap()
        };
        assert!(message(of(vec![0, 3]), None).contains("expected targets from 0 to 2"));
        assert!(message(of(vec![0]), None).contains("expected a target of shape [2]"));
        let ones = Tensor::ones(&[2], DType::F32, Device::Cpu).unwrap();
        assert!(message(ones.clone(), None).contains("class indices"));
        assert!(message(of(vec![0, 1]), Some(&ones)).contains("a weight for each of 3 classes"));
    }
}
