//! Random numbers whose parameters are tensors, and dropout.

use kernels::Strided;
use kernels::random::{Generator as Source, Real};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use super::{Generator, Law, or_default};
use crate::autograd::ModeGuard;
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Saves, Values, Vjp, apply1, cast_host, one, single};
use crate::ops::binary::{Operand, same_device};
use crate::shape::broadcast;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// The parameters of every element, of one shape and dtype, and what is drawn by them.
trait Draw {
    fn draw<T: Real>(
        self,
        source: &mut Source,
        parameters: &[Strided<T>],
    ) -> kernels::Result<Vec<T>>;
}

struct Coins;
struct Events;
struct Successes;
struct Gammas;

impl Draw for Coins {
    fn draw<T: Real>(
        self,
        source: &mut Source,
        parameters: &[Strided<T>],
    ) -> kernels::Result<Vec<T>> {
        let coins = source.bernoulli(&parameters[0])?;
        Ok(coins.into_iter().map(|coin| T::from_f64(coin as f64)).collect())
    }
}

impl Draw for Events {
    fn draw<T: Real>(
        self,
        source: &mut Source,
        parameters: &[Strided<T>],
    ) -> kernels::Result<Vec<T>> {
        source.poisson(&parameters[0])
    }
}

impl Draw for Successes {
    fn draw<T: Real>(
        self,
        source: &mut Source,
        parameters: &[Strided<T>],
    ) -> kernels::Result<Vec<T>> {
        Ok(source.binomial(&parameters[0], &parameters[1]))
    }
}

impl Draw for Gammas {
    fn draw<T: Real>(
        self,
        source: &mut Source,
        parameters: &[Strided<T>],
    ) -> kernels::Result<Vec<T>> {
        Ok(source.gamma(&parameters[0]))
    }
}

/// A sample of the parameters' shape, dtype and device, without a history.
fn sample(
    op: &str,
    law: impl Draw,
    parameters: &[&Tensor],
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let (dtype, device) = (parameters[0].dtype(), parameters[0].device());
    let mut shape = parameters[0].shape();
    for parameter in parameters {
        if !parameter.dtype().is_float() {
            bail!(
                Runtime,
                "{op}: only supports floating-point dtypes for input, got {}",
                parameter.dtype()
            );
        }
        if parameter.dtype() != dtype {
            bail!(
                Runtime,
                "{op}: expected parameters of one dtype, got {dtype} and {}",
                parameter.dtype()
            );
        }
        if parameter.device() != device {
            bail!(
                Runtime,
                "{op}: expected all tensors to be on the same device, got {device} and {}",
                parameter.device()
            );
        }
        shape = broadcast(op, &shape, &parameter.shape())?;
    }
    if device == Device::Meta {
        return Ok(Tensor::from_value(Value::meta(Meta { shape, dtype }, device)));
    }
    let wide = dtype.widened();
    let hosts: SmallVec<[Value; 2]> = parameters
        .iter()
        .map(|parameter| Ok(cast_host(&parameter.value().to_host()?, wide)?.expanded(&shape)))
        .collect::<Result<_>>()?;
    let generator = or_default(generator);
    let drawn = crate::with_dtype!(op, wide, floats, T => {
        let views: SmallVec<[Strided<T>; 2]> = hosts.iter().map(|host| host.view::<T>()).collect::<Result<_>>()?;
        generator
            .draw(|source| law.draw::<T>(source, &views))
            .map(|numbers| Value::from_vec(numbers, shape.clone()))
            .map_err(crate::Error::from)
    })
    .map_err(|fault| fault.within(op))?;
    Ok(Tensor::from_value(cast_host(&drawn, dtype)?.to_device(device)?))
}

/// Ties numbers to the parameters they were drawn by: forward the first input, the numbers; backward
/// zero, since a number that is drawn does not follow its parameters.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct DrawnOp;

#[typetag::serde]
impl Primitive for DrawnOp {
    fn name(&self) -> &'static str {
        "drawn"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[0].to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(inputs[0].clone())
    }

    fn run_gpu(&self, inputs: &[&Value], _out: &[Meta], _device: Device) -> Result<Option<Values>> {
        single(inputs[0].clone()).map(Some)
    }

    fn widens(&self) -> bool {
        false
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let g = ctx.grad()?;
        ctx.inputs
            .iter()
            .zip(ctx.needs)
            .map(|(input, &needed)| {
                needed.then(|| Tensor::zeros(&input.shape(), input.dtype(), g.device())).transpose()
            })
            .collect()
    }
}

/// Numbers with a gradient of zero by their parameters.
fn drawn(numbers: &Tensor, parameters: &[&Tensor]) -> Result<Tensor> {
    let inputs: SmallVec<[&Tensor; 3]> =
        [numbers].into_iter().chain(parameters.iter().copied()).collect();
    apply1(&DrawnOp, &inputs)
}

/// Ties gamma numbers to their concentration: forward the second input, the numbers; backward the
/// derivative at a fixed quantile.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StandardGammaOp;

#[typetag::serde]
impl Primitive for StandardGammaOp {
    fn name(&self) -> &'static str {
        "standard_gamma"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        one(inputs[1].to_meta())
    }

    fn run(&self, inputs: &[&Value], _out: &[Meta]) -> Result<Values> {
        single(inputs[1].clone())
    }

    fn run_gpu(&self, inputs: &[&Value], _out: &[Meta], _device: Device) -> Result<Option<Values>> {
        single(inputs[1].clone()).map(Some)
    }

    fn widens(&self) -> bool {
        false
    }

    fn saves(&self, _needs: &[bool]) -> Saves {
        Saves::INPUTS
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let slope = apply1(&StandardGammaGradOp, &[&ctx.inputs[0], &ctx.inputs[1]])?;
        Ok(smallvec![Some(ctx.grad()?.mul(&slope)?), None])
    }
}

/// The derivative of gamma numbers by their concentration.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StandardGammaGradOp;

#[typetag::serde]
impl Primitive for StandardGammaGradOp {
    fn name(&self) -> &'static str {
        "_standard_gamma_grad"
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let (concentration, numbers) = (inputs[0].to_meta(), inputs[1].to_meta());
        if !concentration.dtype.is_float() || concentration.dtype != numbers.dtype {
            bail!(
                Runtime,
                "_standard_gamma_grad: expected two tensors of one floating-point dtype, got {} \
                 and {}",
                concentration.dtype,
                numbers.dtype
            );
        }
        if concentration.shape != numbers.shape {
            bail!(
                Runtime,
                "_standard_gamma_grad: expected tensors of one shape, got {:?} and {:?}",
                concentration.shape,
                numbers.shape
            );
        }
        one(numbers)
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let data = crate::with_dtype!(self.name(), inputs[0].dtype, floats, T => {
            let slopes = kernels::distributions::gamma_gradient::<T>(&inputs[0].view()?, &inputs[1].view()?);
            Ok(Value::from_vec(slopes, out[0].shape.clone()))
        })?;
        single(data)
    }

    fn vjp(&self, _ctx: &Vjp<'_>) -> Result<Grads> {
        bail!(
            Unsupported,
            "_standard_gamma_grad: the second derivative of a gamma number by its concentration \
             is not implemented"
        )
    }
}

impl Tensor {
    /// Ones and zeros, one with the probability that stands at the same place here. Its gradient
    /// is zero.
    pub fn bernoulli(&self, generator: Option<&Generator>) -> Result<Tensor> {
        drawn(&sample("bernoulli", Coins, &[self], generator)?, &[self])
    }

    /// Ones and zeros in this tensor's shape and dtype, one with probability `p`.
    pub fn bernoulli_like(&self, p: f64, generator: Option<&Generator>) -> Result<Tensor> {
        let value = Law::Bernoulli { p }.value(
            "bernoulli",
            &self.meta(),
            self.device(),
            &or_default(generator),
        )?;
        Ok(Tensor::from_value(value))
    }

    /// Normal numbers with means and standard deviations of which at least one is a tensor; two
    /// tensors broadcast. Their gradients are zero.
    pub fn normal(mean: &Operand, std: &Operand, generator: Option<&Generator>) -> Result<Tensor> {
        let numbers = {
            let _off = ModeGuard::grad(false);
            Tensor::normal_numbers(mean, std, generator)?
        };
        let parameters: SmallVec<[&Tensor; 2]> = [mean, std]
            .into_iter()
            .filter_map(|parameter| match parameter {
                Operand::Tensor(parameter) => Some(parameter),
                Operand::Scalar(_) => None,
            })
            .collect();
        drawn(&numbers, &parameters)
    }

    fn normal_numbers(
        mean: &Operand,
        std: &Operand,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let deviations = |std: &Tensor| -> Result<()> {
            if std.dtype().is_complex() {
                bail!(
                    Runtime,
                    "normal: expects standard deviation to be non-complex, got {}",
                    std.dtype()
                );
            }
            if std.device() != Device::Meta
                && std.lt_scalar(0.0)?.any(None, false)?.item()?.to_bool()
            {
                bail!(Runtime, "normal: expects all elements of std >= 0.0");
            }
            Ok(())
        };
        match (mean, std) {
            (Operand::Scalar(_), Operand::Scalar(_)) => bail!(
                Runtime,
                "normal: expected a tensor for the mean or the standard deviation, got two numbers; \
                 hint: give a size"
            ),
            (Operand::Tensor(mean), Operand::Scalar(std)) => {
                let noise = Law::Normal { mean: 0.0, std: std.to_f64() };
                let noise =
                    noise.value("normal", &mean.meta(), mean.device(), &or_default(generator))?;
                Tensor::from_value(noise).add(mean)
            }
            (Operand::Scalar(mean), Operand::Tensor(std)) => {
                deviations(std)?;
                let noise = Tensor::randn(&std.shape(), std.dtype(), std.device(), generator)?;
                noise.mul(std)?.add_scalar(mean.to_f64())
            }
            (Operand::Tensor(mean), Operand::Tensor(std)) => {
                let (mean, std) = same_device("normal", mean, std)?;
                deviations(&std)?;
                let shape = broadcast("normal", &mean.shape(), &std.shape())?;
                let noise = Tensor::randn(&shape, mean.dtype(), mean.device(), generator)?;
                noise.mul(&std)?.add(&mean)?.to_dtype(mean.dtype())
            }
        }
    }

    /// For each row of weights (or for the only one), the numbers of `samples` categories, each as
    /// likely as its weight; without replacement no category comes twice.
    pub fn multinomial(
        &self,
        samples: usize,
        replacement: bool,
        generator: Option<&Generator>,
    ) -> Result<Tensor> {
        let (dtype, shape, device) = (self.dtype(), self.shape(), self.device());
        if !dtype.is_float() {
            bail!(
                Runtime,
                "multinomial: only supports floating-point dtypes for input, got: {dtype}"
            );
        }
        if !(1..=2).contains(&shape.len()) {
            bail!(Runtime, "multinomial: prob_dist must be 1 or 2 dim, got shape {shape:?}");
        }
        let mut out = shape.clone();
        out[shape.len() - 1] = samples;
        crate::ops::create::check_size("multinomial", &out, DType::I64)?;
        let index = device.narrow(DType::I64);
        if device == Device::Meta {
            return Ok(Tensor::from_value(Value::meta(Meta { shape: out, dtype: index }, device)));
        }
        let host = cast_host(&self.value().to_host()?, dtype.widened())?;
        let generator = or_default(generator);
        let drawn = crate::with_dtype!("multinomial", host.dtype, floats, T => {
            let weights = host.view::<T>()?;
            generator
                .draw(|source| source.multinomial(&weights, samples, replacement))
                .map_err(crate::Error::from)
        })
        .map_err(|fault| fault.within("multinomial"))?;
        Ok(Tensor::from_value(cast_host(&Value::from_vec(drawn, out), index)?.to_device(device)?))
    }

    /// Counts of events at the rates in this tensor. Its gradient is zero.
    pub fn poisson(&self, generator: Option<&Generator>) -> Result<Tensor> {
        drawn(&sample("poisson", Events, &[self], generator)?, &[self])
    }

    /// Counts of successes in as many trials as this tensor says, of the given probabilities
    /// (broadcast). Its gradient is zero.
    pub fn binomial(&self, prob: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
        drawn(&sample("binomial", Successes, &[self, prob], generator)?, &[self, prob])
    }

    /// Gamma numbers of the concentrations in this tensor and of rate one, differentiable once by
    /// the concentration (implicit reparametrisation).
    pub fn standard_gamma(&self, generator: Option<&Generator>) -> Result<Tensor> {
        let drawn = sample("standard_gamma", Gammas, &[self], generator)?;
        apply1(&StandardGammaOp, &[self, &drawn])
    }

    /// The derivative of gamma `numbers` by the concentrations in this tensor.
    pub fn standard_gamma_grad(&self, numbers: &Tensor) -> Result<Tensor> {
        apply1(&StandardGammaGradOp, &[self, numbers])
    }

    /// In training, each element zero with probability `p` and divided by `1 - p` otherwise; itself
    /// elsewhere.
    pub fn dropout(&self, p: f64, train: bool, generator: Option<&Generator>) -> Result<Tensor> {
        if !(0.0..=1.0).contains(&p) {
            bail!(Value, "dropout: dropout probability has to be between 0 and 1, but got {p}");
        }
        let dtype = self.dtype();
        if !train || p == 0.0 || self.numel() == 0 {
            return Ok(self.clone());
        }
        if !dtype.is_differentiable() {
            bail!(
                Runtime,
                "dropout: result type float32 can't be cast to {dtype}; hint: .float() first"
            );
        }
        if p == 1.0 {
            return self.mul_scalar(0.0);
        }
        // A mask of truth values is the least to move to the device.
        let meta = Meta { shape: self.shape(), dtype: DType::Bool };
        let kept = Law::Bernoulli { p: 1.0 - p }.value(
            "dropout",
            &meta,
            self.device(),
            &or_default(generator),
        )?;
        let mask = Tensor::from_value(kept).to_dtype(dtype.to_real())?;
        self.mul(&mask.mul_scalar(1.0 / (1.0 - p))?)
    }
}
