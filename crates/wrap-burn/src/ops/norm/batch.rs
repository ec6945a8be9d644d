//! Normalisation of channels over a batch, and its running statistics.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use kernels::norm::Planes;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use super::{Stats, check_parameter, gradients, mean_over, narrowed, spread_of, sum_over, wide};
use crate::autograd::ModeGuard;
use crate::bridge::from_burn;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply};
use crate::ops::binary::{Binary, Operand};
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Result, bail};

fn planes(shape: &[usize]) -> Planes {
    Planes { samples: shape[0], channels: shape[1], inner: shape[2..].iter().product() }
}

fn split(planes: Planes) -> [usize; 3] {
    [planes.samples, planes.channels, planes.inner]
}

/// Each channel (the second dimension) less its mean, over its standard deviation, times a weight,
/// plus a bias. Inputs: the elements and, where the op says so, a weight, a bias, and mean and
/// variance. Without the last two they are those of the elements, and also results.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BatchNormOp {
    /// What is added to the variance.
    pub eps: f64,
    /// Whether there is a weight.
    pub weight: bool,
    /// Whether there is a bias.
    pub bias: bool,
    /// Whether mean and variance are given.
    pub given: bool,
}

impl BatchNormOp {
    fn weight<'a, T>(&self, inputs: &'a [T]) -> Option<&'a T> {
        self.weight.then(|| &inputs[1])
    }

    fn bias<'a, T>(&self, inputs: &'a [T]) -> Option<&'a T> {
        self.bias.then(|| &inputs[1 + self.weight as usize])
    }

    /// The given mean and variance.
    fn stats<'a, T>(&self, inputs: &'a [T]) -> Option<(&'a T, &'a T)> {
        let first = 1 + self.weight as usize + self.bias as usize;
        self.given.then(|| (&inputs[first], &inputs[first + 1]))
    }
}

#[typetag::serde]
impl Primitive for BatchNormOp {
    fn name(&self) -> &'static str {
        "batch_norm"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (name, x) = (self.name(), inputs[0]);
        if !x.dtype.is_float() {
            bail!(Runtime, "{name}: not implemented for {}; hint: .float() first", x.dtype);
        }
        if x.rank() < 2 {
            bail!(
                Runtime,
                "{name}: expected an input with at least 2 dimensions (samples, channels), got \
                 shape {:?}",
                x.shape
            );
        }
        let channels = &x.shape[1..2];
        let (mean, variance) = self.stats(inputs).unzip();
        for (what, parameter) in [
            ("weight", self.weight(inputs)),
            ("bias", self.bias(inputs)),
            ("running_mean", mean),
            ("running_var", variance),
        ] {
            if let Some(parameter) = parameter {
                check_parameter(name, what, parameter, x, channels)?;
            }
        }
        let mut metas: Metas = smallvec![x.to_meta()];
        if !self.given {
            let stats = Meta::new(channels, x.dtype.widened());
            metas.extend([stats.clone(), stats]);
        }
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[0];
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let given = match self.stats(inputs) {
                Some((mean, variance)) => Some((mean.view()?, variance.view()?)),
                None => None,
            };
            let found = kernels::norm::batch_norm::<T>(
                x.view()?,
                planes(&x.shape),
                self.weight(inputs).map(|weight| weight.view()).transpose()?,
                self.bias(inputs).map(|bias| bias.view()).transpose()?,
                given,
                self.eps,
            );
            // Only as many as the op has.
            let parts = [found.y, found.mean, found.spread].into_iter().zip(out);
            Ok(parts.map(|(part, meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[0];
        if x.numel() == 0 {
            return Ok(None);
        }
        let shape = split(planes(&x.shape));
        let channels = [1, shape[1], 1];
        let x = wide(x, &shape, device)?;
        let (mean, variance) = match self.stats(inputs) {
            Some((mean, variance)) => {
                (wide(mean, &channels, device)?, wide(variance, &channels, device)?)
            }
            None => {
                let mean = mean_over(x.clone(), &[0, 2]);
                let centred = D::float_sub(x.clone(), mean.clone());
                let square = D::float_mul(centred.clone(), centred);
                (mean, mean_over(square, &[0, 2]))
            }
        };
        let mut scale = spread_of(variance.clone(), self.eps);
        if let Some(weight) = self.weight(inputs) {
            scale = D::float_mul(scale, wide(weight, &channels, device)?);
        }
        let mut y = D::float_mul(D::float_sub(x, mean.clone()), scale);
        if let Some(bias) = self.bias(inputs) {
            y = D::float_add(y, wide(bias, &channels, device)?);
        }
        [y, mean, variance]
            .into_iter()
            .zip(out)
            .map(|(prim, meta)| {
                from_burn(narrowed(prim, meta.dtype, &meta.shape, device)?, meta, device)
            })
            .collect::<Result<Values>>()
            .map(Some)
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        let weight = (self.weight as u32) << 1;
        match self.given {
            true => {
                let first = 1 + self.weight as u32 + self.bias as u32;
                Saves::inputs(1 | weight | 3 << first)
            }
            false => Saves { inputs: 1 | weight, outputs: 6 },
        }
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let (x, grad) = (&ctx.inputs[0], ctx.grad()?);
        let weight = self.weight(ctx.inputs);
        let given = self.stats(ctx.inputs);
        let [by_x, by_weight, by_bias] = if crate::autograd::grad_enabled() {
            // Only what is made of tensor ops has gradients itself.
            let shape = split(planes(&x.shape()));
            let channels = [1, shape[1], 1];
            let weight = weight.map(|weight| weight.reshape_to(&channels)).transpose()?;
            let (grad, x3) = (grad.reshape_to(&shape)?, x.reshape_to(&shape)?);
            let shared = [0, 2];
            let [by_x, by_weight, by_bias] = match given {
                Some((mean, variance)) => {
                    let mean = &mean.reshape_to(&channels)?;
                    let variance = variance.reshape_to(&channels)?;
                    let spread = &variance.add_scalar(self.eps)?.unary(Unary::Rsqrt)?;
                    let stats = Stats::Given { mean, spread };
                    gradients(&grad, &x3, weight.as_ref(), stats, &shared)?
                }
                None => {
                    let stats = Stats::Own { over: &shared, centre: true, eps: self.eps };
                    gradients(&grad, &x3, weight.as_ref(), stats, &shared)?
                }
            };
            [Some(by_x.reshape_to(&x.shape())?), Some(by_weight), Some(by_bias)]
        } else {
            let op = BatchNormBackwardOp {
                eps: self.eps,
                weight: self.weight,
                own: !self.given,
                wants_x: ctx.needs[0],
            };
            let (mean, variance) = given.unwrap_or_else(|| (&ctx.outputs[1], &ctx.outputs[2]));
            let mut inputs = vec![grad, x, mean, variance];
            inputs.extend(weight);
            let mut found = apply(&op, &inputs)?.into_iter();
            let by_x = if op.wants_x { found.next() } else { None };
            [by_x, found.next(), found.next()]
        };
        let mut grads: Grads = smallvec![by_x];
        if self.weight {
            grads.push(by_weight);
        }
        if self.bias {
            grads.push(by_bias);
        }
        if self.given {
            // Running statistics are no function of anything.
            grads.extend([None, None]);
        }
        Ok(grads)
    }
}

/// The gradients of [`BatchNormOp`]. Inputs: the gradient of its result, its elements, mean,
/// variance, and the weight where the op says so. Gives those by elements, if they are wanted, by
/// weight and by bias.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BatchNormBackwardOp {
    /// What is added to the variance.
    pub eps: f64,
    /// Whether there is a weight.
    pub weight: bool,
    /// Whether mean and variance are those of the elements.
    pub own: bool,
    /// Whether the gradient by elements is wanted.
    pub wants_x: bool,
}

#[typetag::serde]
impl Primitive for BatchNormBackwardOp {
    fn name(&self) -> &'static str {
        "batch_norm_backward"
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
        let channels = Meta::new(&x.shape[1..2], x.dtype.widened());
        let mut metas = Metas::new();
        if self.wants_x {
            metas.push(x);
        }
        metas.extend([channels.clone(), channels]);
        Ok(metas)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let x = inputs[1];
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let found = kernels::norm::batch_norm_backward::<T>(
                inputs[0].view()?,
                x.view()?,
                inputs[2].view()?,
                inputs[3].view()?,
                self.weight.then(|| inputs[4].view()).transpose()?,
                planes(&x.shape),
                self.eps,
                self.own,
                self.wants_x,
            );
            let mut parts = vec![found.weight, found.bias];
            if self.wants_x {
                parts.insert(0, found.x);
            }
            let parts = parts.into_iter().zip(out);
            Ok(parts.map(|(part, meta)| Value::from_vec_as(part, meta.shape.clone(), meta.dtype)).collect())
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let x = inputs[1];
        if x.numel() == 0 {
            return Ok(None);
        }
        let shape = split(planes(&x.shape));
        let channels = [1, shape[1], 1];
        let grad = wide(inputs[0], &shape, device)?;
        let centred = D::float_sub(wide(x, &shape, device)?, wide(inputs[2], &channels, device)?);
        let spread = spread_of(wide(inputs[3], &channels, device)?, self.eps);
        let unit = D::float_mul(centred, spread.clone());
        let by_weight = sum_over(D::float_mul(grad.clone(), unit.clone()), &[0, 2]);
        let by_bias = sum_over(grad.clone(), &[0, 2]);
        let mut parts = vec![by_weight.clone(), by_bias.clone()];
        if self.wants_x {
            let scale = match self.weight {
                true => D::float_mul(spread, wide(inputs[4], &channels, device)?),
                false => spread,
            };
            let mut rest = grad;
            if self.own {
                let share = 1.0 / (shape[0] * shape[2]) as f64;
                let along = D::float_mul(unit, D::float_mul_scalar(by_weight, share.into()));
                rest = D::float_sub(rest, along);
                rest = D::float_sub(rest, D::float_mul_scalar(by_bias, share.into()));
            }
            parts.insert(0, D::float_mul(rest, scale));
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

/// Running means and variances of channels, which training moves towards those of each batch.
#[derive(Clone, Copy, Debug)]
pub struct Running<'a> {
    /// The means.
    pub mean: &'a Tensor,
    /// The variances, without bias.
    pub variance: &'a Tensor,
}

impl Running<'_> {
    /// Moves by the share `momentum` towards the (biased) statistics of `count` elements.
    fn update(&self, mean: &Tensor, variance: &Tensor, count: usize, momentum: f64) -> Result<()> {
        let _off = ModeGuard::grad(false);
        let unbiased = variance.mul_scalar(count as f64 / (count as f64 - 1.0))?;
        for (running, new) in [(self.mean, mean), (self.variance, &unbiased)] {
            running.with_(Binary::Mul, &Operand::Scalar((1.0 - momentum).into()))?;
            running.add_(&new.mul_scalar(momentum)?.to_dtype(running.dtype())?)?;
        }
        Ok(())
    }
}

impl Tensor {
    fn batch_normed(
        &self,
        given: Option<Running<'_>>,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        eps: f64,
    ) -> Result<crate::op::Tensors> {
        let (has_weight, has_bias) = (weight.is_some(), bias.is_some());
        let op = BatchNormOp { eps, weight: has_weight, bias: has_bias, given: given.is_some() };
        let mut inputs = vec![self];
        inputs.extend(weight);
        inputs.extend(bias);
        if let Some(Running { mean, variance }) = &given {
            inputs.extend([*mean, *variance]);
        }
        apply(&op, &inputs)
    }

    /// Channels less their mean, over their standard deviation: those of the batch in training, which
    /// then also moves the running ones, else the running ones.
    pub fn batch_norm(
        &self,
        running: Option<Running<'_>>,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        training: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<Tensor> {
        if !training {
            let Some(running) = running else {
                bail!(
                    Runtime,
                    "batch_norm: expected running_mean and running_var to be defined in evaluation mode"
                );
            };
            return Ok(self.batch_normed(Some(running), weight, bias, eps)?.swap_remove(0));
        }
        let mut found = self.batch_normed(None, weight, bias, eps)?;
        if let Some(running) = running
            && self.numel() > 0
            && self.device() != Device::Meta
        {
            let shape = self.shape();
            let channels = &shape[1..2];
            for (what, stat) in [("running_mean", running.mean), ("running_var", running.variance)]
            {
                check_parameter("batch_norm", what, &stat.read(), &self.read(), channels)?;
            }
            running.update(&found[1], &found[2], self.numel() / shape[1], momentum)?;
        }
        Ok(found.swap_remove(0))
    }

    /// Each channel of each sample less its mean, over its standard deviation: its own, which also
    /// move the running ones by their average over the samples, or the running ones.
    pub fn instance_norm(
        &self,
        running: Option<Running<'_>>,
        weight: Option<&Tensor>,
        bias: Option<&Tensor>,
        own: bool,
        momentum: f64,
        eps: f64,
    ) -> Result<Tensor> {
        let shape = self.shape();
        if !own || shape.len() < 2 {
            return self.batch_norm(running, weight, bias, false, momentum, eps);
        }
        let (samples, channels) = (shape[0], shape[1]);
        let Some(running) = running else {
            return self.group_norm(channels, weight, bias, eps);
        };
        // Every channel of every sample as a channel of one sample.
        let mut merged = shape.clone();
        (merged[0], merged[1]) = (1, samples * channels);
        let spread = |x: Option<&Tensor>| -> Result<Option<Tensor>> {
            x.map(|x| x.expand_to("instance_norm", &[samples, channels])?.reshape_to(&merged[1..2]))
                .transpose()
        };
        let (weight, bias) = (spread(weight)?, spread(bias)?);
        let merged = self.reshape_to(&merged)?;
        let found = merged.batch_normed(None, weight.as_ref(), bias.as_ref(), eps)?;
        if self.numel() > 0 && self.device() != Device::Meta {
            let average = |x: &Tensor| x.reshape_to(&[samples, channels])?.mean(Some(&[0]), false);
            let _off = ModeGuard::grad(false);
            let count = shape[2..].iter().product();
            running.update(&average(&found[1])?, &average(&found[2])?, count, momentum)?;
        }
        found[0].reshape_to(&shape)
    }
}
