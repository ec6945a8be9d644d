//! Layer, group, instance and root mean square normalisation.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use kernels::Dims;
use kernels::norm::Groups;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{Stats, check_parameter, gradients, mean_over, narrowed, spread_of, sum_over, wide};
use crate::bridge::from_burn;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

/// What is normalised together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NormLayout {
    /// So many last dimensions; each of their places has a weight.
    Trailing(usize),
    /// Each of so many groups of channels (the second dimension), with the dimensions that follow;
    /// each channel has a weight.
    Groups(usize),
}

impl NormLayout {
    fn geometry(self, shape: &[usize]) -> Groups {
        match self {
            NormLayout::Trailing(count) => {
                let (rows, row) = shape.split_at(shape.len() - count);
                Groups {
                    samples: rows.iter().product(),
                    groups: 1,
                    channels: row.iter().product(),
                    inner: 1,
                }
            }
            NormLayout::Groups(groups) => Groups {
                samples: shape[0],
                groups,
                channels: shape[1] / groups,
                inner: shape[2..].iter().product(),
            },
        }
    }

    /// The shape of weight and bias.
    fn weights(self, shape: &[usize]) -> Dims {
        match self {
            NormLayout::Trailing(count) => Dims::from_slice(&shape[shape.len() - count..]),
            NormLayout::Groups(_) => Dims::from_slice(&shape[1..2]),
        }
    }

    /// The shape of statistics.
    fn stats(self, shape: &[usize]) -> Dims {
        match self {
            NormLayout::Trailing(count) => Dims::from_slice(&shape[..shape.len() - count]),
            NormLayout::Groups(groups) => Dims::from_slice(&[shape[0], groups]),
        }
    }
}

fn split(groups: Groups) -> [usize; 4] {
    [groups.samples, groups.groups, groups.channels, groups.inner]
}

/// Elements less their mean, over their standard deviation, times a weight, plus a bias. Gives the
/// result, the means (if there are any) and one over the standard deviations. Inputs: the elements
/// and, where the op says so, a weight and a bias.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct NormOp {
    /// What is normalised together.
    pub layout: NormLayout,
    /// Whether the mean is subtracted; without, the deviation is the root of the mean square.
    pub centre: bool,
    /// What is added to the variance.
    pub eps: f64,
    /// Whether there is a weight.
    pub weight: bool,
    /// Whether there is a bias.
    pub bias: bool,
}

impl NormOp {
    /// An optional weight and bias of the inputs.
    fn affine<'a, T>(&self, inputs: &'a [T]) -> (Option<&'a T>, Option<&'a T>) {
        (self.weight.then(|| &inputs[1]), self.bias.then(|| &inputs[1 + self.weight as usize]))
    }
}

#[typetag::serde]
impl Primitive for NormOp {
    fn name(&self) -> &'static str {
        match self.layout {
            NormLayout::Groups(_) => "group_norm",
            NormLayout::Trailing(_) if self.centre => "layer_norm",
            NormLayout::Trailing(_) => "rms_norm",
        }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (name, x) = (self.name(), inputs[0]);
        if !x.dtype.is_float() {
            bail!(Runtime, "{name}: not implemented for {}; hint: .float() first", x.dtype);
        }
        match self.layout {
            NormLayout::Trailing(count) if count > x.rank() => bail!(
                Runtime,
                "{name}: expected an input with at least {count} dimensions, got shape {:?}",
                x.shape
            ),
            NormLayout::Groups(_) if x.rank() < 2 => bail!(
                Runtime,
                "{name}: expected an input with at least 2 dimensions (samples, channels), got \
                 shape {:?}",
                x.shape
            ),
            NormLayout::Groups(groups) if groups == 0 || !x.shape[1].is_multiple_of(groups) => {
                bail!(
                    Runtime,
                    "{name}: expected the number of channels to be divisible by the number of \
                     groups, got {} channels (input of shape {:?}) and {groups} groups",
                    x.shape[1],
                    x.shape
                )
            }
            _ => {}
        }
        let weights = self.layout.weights(&x.shape);
        let (weight, bias) = self.affine(inputs);
        for (what, parameter) in [("weight", weight), ("bias", bias)] {
            if let Some(parameter) = parameter {
                check_parameter(name, what, parameter, x, &weights)?;
            }
        }
        let mut metas: Metas = smallvec![x.to_meta()];
        let stats = Meta { shape: self.layout.stats(&x.shape), dtype: x.dtype.widened() };
        if self.centre {
            metas.push(stats.clone());
        }
        metas.push(stats);
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        let (weight, bias) = self.affine(inputs);
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let found = kernels::norm::norm::<T>(
                x.view()?,
                self.layout.geometry(&x.shape),
                weight.map(|weight| weight.view()).transpose()?,
                bias.map(|bias| bias.view()).transpose()?,
                self.centre,
                self.eps,
            );
            let parts = if self.centre {
                vec![found.y, found.mean, found.spread]
            } else {
                vec![found.y, found.spread]
            };
            let parts = parts.into_iter().zip(out);
            Ok(parts.map(|(part, meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[0];
        if x.numel() == 0 {
            return Ok(None);
        }
        let shape = split(self.layout.geometry(&x.shape));
        let mut unit = wide(x, &shape, device)?;
        let mut stats = Vec::new();
        if self.centre {
            let mean = mean_over(unit.clone(), &[2, 3]);
            unit = D::float_sub(unit, mean.clone());
            stats.push(mean);
        }
        let square = D::float_mul(unit.clone(), unit.clone());
        let spread = spread_of(mean_over(square, &[2, 3]), self.eps);
        unit = D::float_mul(unit, spread.clone());
        stats.push(spread);
        let (weight, bias) = self.affine(inputs);
        let channels = [1, shape[1], shape[2], 1];
        if let Some(weight) = weight {
            unit = D::float_mul(unit, wide(weight, &channels, device)?);
        }
        if let Some(bias) = bias {
            unit = D::float_add(unit, wide(bias, &channels, device)?);
        }
        std::iter::once(unit)
            .chain(stats)
            .zip(out)
            .map(|(prim, meta)| {
                from_burn(narrowed(prim, meta.dtype, &meta.shape, device)?, meta, device)
            })
            .collect::<Result<Values>>()
            .map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves { inputs: if self.weight { 3 } else { 1 }, outputs: if self.centre { 6 } else { 2 } }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (x, grad) = (&ctx.inputs[0], ctx.grad()?);
        let (weight, _) = self.affine(ctx.inputs);
        let [x_grad, weight_grad, bias_grad] = if crate::autograd::grad_enabled() {
            // Only what is made of tensor ops has gradients itself.
            let shape = split(self.layout.geometry(&x.shape()));
            let weights = self.layout.weights(&x.shape());
            let channels = [1, shape[1], shape[2], 1];
            let weight = weight.map(|weight| weight.reshape_to(&channels)).transpose()?;
            let stats = Stats::Own { over: &[2, 3], centre: self.centre, eps: self.eps };
            let (grad, x4) = (grad.reshape_to(&shape)?, x.reshape_to(&shape)?);
            let [by_x, by_weight, by_bias] =
                gradients(&grad, &x4, weight.as_ref(), stats, &[0, 3])?;
            [
                Some(by_x.reshape_to(&x.shape())?),
                Some(by_weight.reshape_to(&weights)?),
                Some(by_bias.reshape_to(&weights)?),
            ]
        } else {
            let op = NormBackwardOp {
                layout: self.layout,
                centre: self.centre,
                weight: self.weight,
                wants_x: ctx.needs[0],
                wants_weight: ctx.needs[1..].contains(&true),
            };
            let mut inputs = vec![grad, x];
            inputs.extend(&ctx.outputs[1..]);
            inputs.extend(weight);
            let mut found = apply(&op, &inputs)?.into_iter();
            let by_x = if op.wants_x { found.next() } else { None };
            [by_x, found.next(), found.next()]
        };
        let mut grads: Grads = smallvec![x_grad];
        if self.weight {
            grads.push(weight_grad);
        }
        if self.bias {
            grads.push(bias_grad);
        }
        Ok(grads)
    }
}

/// The gradients of [`NormOp`]. Inputs: the gradient of its result, its elements, the means (if they
/// were subtracted), one over the standard deviations, and the weight where the op says so. Gives
/// those of the gradients that are wanted: by elements; by weight and by bias.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct NormBackwardOp {
    /// What is normalised together.
    pub layout: NormLayout,
    /// Whether the mean was subtracted.
    pub centre: bool,
    /// Whether there is a weight.
    pub weight: bool,
    /// Whether the gradient by elements is wanted.
    pub wants_x: bool,
    /// Whether those by weight and bias are.
    pub wants_weight: bool,
}

impl NormBackwardOp {
    /// Of the inputs: the means, one over the standard deviations, the weight.
    fn stats<'a>(&self, inputs: &[&'a Value]) -> (Option<&'a Value>, &'a Value, Option<&'a Value>) {
        let spread = 2 + self.centre as usize;
        (self.centre.then(|| inputs[2]), inputs[spread], self.weight.then(|| inputs[spread + 1]))
    }
}

#[typetag::serde]
impl Primitive for NormBackwardOp {
    fn name(&self) -> &'static str {
        "norm_backward"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (grad, x) = (inputs[0].to_meta(), inputs[1].to_meta());
        if grad != x {
            bail!(
                Runtime,
                "{}: expected a gradient of shape {:?} and dtype {}, got {:?} and {}",
                self.name(),
                x.shape,
                x.dtype,
                grad.shape,
                grad.dtype
            );
        }
        let mut metas = Metas::new();
        let weights = Meta { shape: self.layout.weights(&x.shape), dtype: x.dtype.widened() };
        if self.wants_x {
            metas.push(x);
        }
        if self.wants_weight {
            metas.extend([weights.clone(), weights]);
        }
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (grad, x) = (inputs[0], inputs[1]);
        let (mean, spread, weight) = self.stats(inputs);
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let found = kernels::norm::norm_backward::<T>(
                grad.view()?,
                x.view()?,
                mean.map(|mean| mean.view()).transpose()?,
                spread.view()?,
                weight.map(|weight| weight.view()).transpose()?,
                self.layout.geometry(&x.shape),
                self.wants_x,
                self.wants_weight,
            );
            let mut parts = Vec::new();
            if self.wants_x {
                parts.push(found.x);
            }
            if self.wants_weight {
                parts.extend([found.weight, found.bias]);
            }
            let parts = parts.into_iter().zip(out);
            Ok(parts.map(|(part, meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let (grad, x) = (inputs[0], inputs[1]);
        if x.numel() == 0 {
            return Ok(None);
        }
        let shape = split(self.layout.geometry(&x.shape));
        let rows = [shape[0], shape[1], 1, 1];
        let (mean, spread, weight) = self.stats(inputs);
        let (grad, mut unit) = (wide(grad, &shape, device)?, wide(x, &shape, device)?);
        let spread = wide(spread, &rows, device)?;
        if let Some(mean) = mean {
            unit = D::float_sub(unit, wide(mean, &rows, device)?);
        }
        unit = D::float_mul(unit, spread.clone());
        let mut parts = Vec::new();
        if self.wants_x {
            let weighted = match weight {
                Some(weight) => {
                    let weight = wide(weight, &[1, shape[1], shape[2], 1], device)?;
                    D::float_mul(grad.clone(), weight)
                }
                None => grad.clone(),
            };
            let along = mean_over(D::float_mul(weighted.clone(), unit.clone()), &[2, 3]);
            let along = D::float_mul(unit.clone(), along);
            let mut rest = D::float_sub(weighted.clone(), along);
            if self.centre {
                rest = D::float_sub(rest, mean_over(weighted, &[2, 3]));
            }
            parts.push(D::float_mul(rest, spread));
        }
        if self.wants_weight {
            parts.push(sum_over(D::float_mul(grad.clone(), unit), &[0, 3]));
            parts.push(sum_over(grad, &[0, 3]));
        }
        parts
            .into_iter()
            .zip(out)
            .map(|(prim, meta)| {
                from_burn(narrowed(prim, meta.dtype, &meta.shape, device)?, meta, device)
            })
            .collect::<Result<Values>>()
            .map(Some)
    }
}

impl Tensor {
    fn normed(
        &self,
        layout: NormLayout,
        centre: bool,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        let (has_weight, has_bias) = (weight.is_some(), bias.is_some());
        let op = NormOp { layout, centre, eps, weight: has_weight, bias: has_bias };
        let mut inputs = vec![self];
        inputs.extend(weight);
        inputs.extend(bias);
        Ok(apply(&op, &inputs)?.swap_remove(0))
    }

    /// Checks that the last dimensions are those that are to be normalised.
    fn check_trailing(&self, op: &str, shape: &[usize]) -> Result<NormLayout> {
        let own = self.shape();
        if shape.is_empty() || !own.ends_with(shape) {
            bail!(
                Runtime,
                "{op}: given normalized_shape={shape:?}, expected an input whose last dimensions \
                 are {shape:?}, got shape {own:?}"
            );
        }
        Ok(NormLayout::Trailing(shape.len()))
    }

    /// The last dimensions, of the given shape, less their mean, over their standard deviation.
    pub fn layer_norm(
        &self,
        shape: &[usize],
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        self.normed(self.check_trailing("layer_norm", shape)?, true, weight, bias, eps)
    }

    /// The last dimensions, of the given shape, over the root of their mean square. What is added to
    /// that square is the dtype's resolution, if nothing is given.
    pub fn rms_norm(
        &self,
        shape: &[usize],
        weight: Option<&Tensor>,
        eps: Option<f64>,
    ) -> Result<Tensor> {
        let layout = self.check_trailing("rms_norm", shape)?;
        let eps = eps.unwrap_or(match self.dtype().widened() {
            crate::DType::F64 => f64::EPSILON,
            _ => f32::EPSILON as f64,
        });
        self.normed(layout, false, weight, None, eps)
    }

    /// Groups of channels, with what follows them, less their mean, over their standard deviation.
    pub fn group_norm(
        &self,
        groups: usize,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<Tensor> {
        self.normed(NormLayout::Groups(groups), true, weight, bias, eps)
    }
}
