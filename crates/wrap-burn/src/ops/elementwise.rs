//! Elementwise functions composed of others.

use std::f64::consts::PI;

use crate::ops::binary::{Binary, Operand};
use crate::ops::unary::{Predicate, Unary};
use crate::tensor::Tensor;
use crate::{Category, DType, Result, Scalar, bail};

/// The largest finite number of a dtype.
fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => half::f16::MAX.to_f64(),
        DType::BF16 => half::bf16::MAX.to_f64(),
        DType::F32 | DType::C64 => f32::MAX as f64,
        _ => f64::MAX,
    }
}

/// The exponent of the power of two over which `|x|` lies in `[1/2, 1)`; zero for zero, infinity and
/// NaN.
fn exponent(x: f64) -> i32 {
    if x == 0.0 || !x.is_finite() {
        return 0;
    }
    const WIDTH: i32 = 52;
    let stored = |x: f64| (x.to_bits() >> WIDTH & 0x7ff) as i32;
    match stored(x) {
        // Subnormal numbers are brought into the normal range first.
        0 => stored(x * (1u64 << WIDTH) as f64) - WIDTH - 1022,
        stored => stored - 1022,
    }
}

impl Tensor {
    /// The dtype of functions that have no integer values.
    fn as_float(&self) -> Result<Tensor> {
        if self.dtype().is_differentiable() {
            return Ok(self.clone());
        }
        self.to_dtype(self.device().narrow(crate::defaults::float()))
    }

    /// Complex numbers from moduli and angles.
    pub fn polar(modulus: &Tensor, angle: &Tensor) -> Result<Tensor> {
        if modulus.dtype() != angle.dtype() || !matches!(modulus.dtype(), DType::F32 | DType::F64) {
            bail!(
                Runtime,
                "polar: expected both inputs to be Float or Double tensors of one dtype, got {} and {}",
                modulus.dtype(),
                angle.dtype()
            );
        }
        Tensor::complex(
            &modulus.mul(&angle.unary(Unary::Cos)?)?,
            &modulus.mul(&angle.unary(Unary::Sin)?)?,
        )
    }

    /// Elements held between numbers.
    pub fn clamp_scalar(&self, low: Option<Scalar>, high: Option<Scalar>) -> Result<Tensor> {
        // A number counts only by its category, unlike a tensor of no dimensions.
        let mut dtype = self.dtype();
        for bound in [low, high].into_iter().flatten() {
            dtype = bound.promote(dtype, crate::defaults::float());
        }
        let x =
            self.to_dtype(if dtype == self.dtype() { dtype } else { self.device().narrow(dtype) })?;
        let bound = |bound: Option<Scalar>| {
            bound.map(|bound| Tensor::full(&[], bound, x.dtype(), x.device())).transpose()
        };
        let (low, high) = (bound(low)?, bound(high)?);
        x.clamp_between(low.as_ref(), high.as_ref(), true)
    }

    /// The sign, of a complex number the number of modulus one with its angle.
    pub fn sgn(&self) -> Result<Tensor> {
        self.unary(Unary::Sgn)
    }

    /// Finite numbers for those that are not: for NaN zero, for infinity the dtype's extremes unless
    /// others are named.
    pub fn nan_to_num(
        &self,
        nan: Option<f64>,
        above: Option<f64>,
        below: Option<f64>,
    ) -> Result<Tensor> {
        let dtype = self.dtype();
        match dtype.category() {
            Category::Bool | Category::Int => return self.deep_copy(),
            Category::Complex => {
                let part = |part: Tensor| part.nan_to_num(nan, above, below);
                return Tensor::complex(&part(self.real()?)?, &part(self.imag()?)?);
            }
            Category::Float => {}
        }
        let with = |x: &Tensor, which: Predicate, value: f64| {
            x.masked_fill(&self.predicate(which)?, &Tensor::full(&[], value, dtype, self.device())?)
        };
        let x = with(self, Predicate::IsNan, nan.unwrap_or(0.0))?;
        let x = with(&x, Predicate::IsPosInf, above.unwrap_or(largest(dtype)))?;
        with(&x, Predicate::IsNegInf, below.unwrap_or(-largest(dtype)))
    }

    /// `log(x / (1 - x))`, with `x` held within `[eps, 1 - eps]` first where `eps` is given.
    pub fn logit(&self, eps: Option<f64>) -> Result<Tensor> {
        let x = self.as_float()?;
        if x.dtype().is_complex() {
            bail!(Runtime, "logit: not implemented for {}", x.dtype());
        }
        let x = match eps {
            Some(eps) => {
                // The lower bound wins where the bounds cross.
                let low = Tensor::full(&[], eps, x.dtype(), x.device())?;
                let held = x.clamp_scalar(None, Some((1.0 - eps).into()))?;
                x.lt(&low)?.where_(&low, &held)?
            }
            None => x,
        };
        x.unary(Unary::Log)?.sub(&x.neg()?.unary(Unary::Log1p)?)
    }

    /// The `n`-th derivative of the digamma function.
    pub fn polygamma(&self, n: i64) -> Result<Tensor> {
        match n {
            n if n < 0 => {
                bail!(Runtime, "polygamma: polygamma(n, x) does not support negative n, got {n}")
            }
            0 => self.unary(Unary::Digamma),
            1 => self.unary(Unary::Trigamma),
            n => {
                let x = self.as_float()?;
                // (-1)^(n+1) n! zeta(n + 1, x)
                let factorial: f64 = (2..=n.min(200)).map(|k| k as f64).product();
                let order = Tensor::full(&[], n as f64 + 1.0, x.dtype(), x.device())?;
                let sign = if n % 2 == 0 { -1.0 } else { 1.0 };
                order.binary(Binary::Zeta, &x)?.mul_scalar(sign * factorial)
            }
        }
    }

    /// The logarithm of the gamma function of `p` variables.
    pub fn mvlgamma(&self, p: i64) -> Result<Tensor> {
        if p < 1 {
            bail!(Runtime, "mvlgamma: p has to be greater than or equal to 1, got {p}");
        }
        let x = self.as_float()?;
        let p = p as f64;
        let halves = Tensor::arange(
            Scalar::Float(-p / 2.0 + 0.5),
            Scalar::Float(0.5),
            Scalar::Float(0.5),
            x.dtype(),
            x.device(),
        )?;
        let sum = x.unsqueeze(-1)?.add(&halves)?.unary(Unary::Lgamma)?.sum(Some(&[-1]), false)?;
        sum.add_scalar(p * (p - 1.0) / 4.0 * PI.ln())
    }

    /// `self * 2^other`.
    pub fn ldexp(&self, other: &Tensor) -> Result<Tensor> {
        let scaled = self.mul(&other.with_scalar(Binary::Pow, Scalar::Float(2.0), true)?)?;
        // Whole exponents leave the dtype of a narrow float as it is.
        let keeps = self.dtype().is_float() && other.dtype().category() <= Category::Int;
        if keeps { scaled.to_dtype(self.dtype()) } else { Ok(scaled) }
    }

    /// Mantissas in `[1/2, 1)` in size and exponents of two, whose product is the tensor.
    pub fn frexp(&self) -> Result<(Tensor, Tensor)> {
        let (dtype, device, shape) = (self.dtype(), self.device(), self.shape());
        if !dtype.is_float() {
            bail!(Runtime, "frexp: only supports floating-point dtypes, got {dtype}");
        }
        let exponents: Vec<i32> = self.to_vec::<f64>()?.into_iter().map(exponent).collect();
        // In two steps, each of which the dtype holds.
        let factor = |part: fn(i32) -> i32| -> Result<Tensor> {
            let powers: Vec<f64> =
                exponents.iter().map(|&exponent| 2f64.powi(-part(exponent))).collect();
            Tensor::from_vec(powers, &shape)?.to_dtype(dtype)?.to_device(device)
        };
        let mantissa = self.mul(&factor(|e| e / 2)?)?.mul(&factor(|e| e - e / 2)?)?;
        Ok((mantissa, Tensor::from_vec(exponents, &shape)?.to_device(device)?))
    }

    /// A power computed in double precision.
    pub fn float_power(&self, exponent: &Operand) -> Result<Tensor> {
        let complex = |dtype: DType| dtype.is_complex();
        let double = |is_complex: bool| {
            if is_complex { DType::C128 } else { self.device().narrow(DType::F64) }
        };
        match exponent {
            Operand::Tensor(exponent) => {
                let dtype = double(complex(self.dtype()) || complex(exponent.dtype()));
                self.to_dtype(dtype)?.binary(Binary::Pow, &exponent.to_dtype(dtype)?)
            }
            Operand::Scalar(number) => {
                let dtype = double(complex(self.dtype()) || number.category() == Category::Complex);
                self.to_dtype(dtype)?.with_scalar(Binary::Pow, *number, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(data: &[f64]) -> Tensor {
        Tensor::from_vec(data.to_vec(), &[data.len()]).unwrap()
    }

    fn close(tensor: &Tensor, wanted: &[f64]) {
        let got = tensor.to_vec::<f64>().unwrap();
        assert_eq!(got.len(), wanted.len());
        for (got, wanted) in got.iter().zip(wanted) {
            assert!(
                got == wanted || (got - wanted).abs() < 1e-12 * wanted.abs().max(1.0),
                "{got} instead of {wanted}"
            );
        }
    }

    #[test]
    fn bounds_and_numbers() {
        let ints = Tensor::from_vec(vec![1i32, 5], &[2]).unwrap();
        let held = ints.clamp_scalar(None, Some(Scalar::Int(3))).unwrap();
        assert_eq!((held.dtype(), held.to_vec::<i32>().unwrap()), (DType::I32, vec![1, 3]));
        assert_eq!(
            ints.clamp_scalar(Some(Scalar::Float(1.5)), None).unwrap().dtype(),
            crate::defaults::float()
        );
        let x = row(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0]);
        close(&x.nan_to_num(Some(7.0), None, Some(-2.0)).unwrap(), &[7.0, f64::MAX, -2.0, 1.0]);
    }

    #[test]
    fn gamma_functions() {
        let x = row(&[1.0, 2.5]);
        // -2 zeta(3), and 6 zeta(4, 5/2).
        close(&row(&[1.0]).polygamma(2).unwrap(), &[-2.404_113_806_319_188_6]);
        close(&row(&[1.0]).polygamma(3).unwrap(), &[PI.powi(4) / 15.0]);
        let two = x.mvlgamma(2).unwrap();
        let lgamma = |x: &Tensor| x.unary(Unary::Lgamma).unwrap();
        let wanted = lgamma(&x).add(&lgamma(&x.add_scalar(-0.5).unwrap())).unwrap();
        let wanted = wanted.add_scalar(PI.ln() / 2.0).unwrap().to_vec::<f64>().unwrap();
        close(&two, &wanted);
        assert!(x.polygamma(-1).is_err());
    }

    #[test]
    fn powers_of_two() {
        let data = [0.0, 1.0, -3.0, 1e-310, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE];
        let (mantissa, exponent) = row(&data).frexp().unwrap();
        assert_eq!(exponent.to_vec::<i32>().unwrap(), [0, 1, 2, -1029, 0, 1024, -1021]);
        let sizes = mantissa.to_vec::<f64>().unwrap();
        assert_eq!((sizes[1], sizes[2], sizes[6]), (0.5, -0.75, 0.5));
        assert!((0.5..1.0).contains(&sizes[3]) && (0.5..1.0).contains(&sizes[5]));
        let small = Tensor::from_vec(vec![1e-40f32, 6.0], &[2]).unwrap();
        let (mantissa, exponent) = small.frexp().unwrap();
        close(&mantissa.ldexp(&exponent).unwrap(), &[1e-40f32 as f64, 6.0]);
    }

    #[test]
    fn odds_and_powers() {
        close(
            &row(&[0.5, 0.0, 1.0]).logit(None).unwrap(),
            &[0.0, f64::NEG_INFINITY, f64::INFINITY],
        );
        close(&row(&[0.0]).logit(Some(0.25)).unwrap(), &[-(3f64.ln())]);
        let ints = Tensor::from_vec(vec![4i64, 9], &[2]).unwrap();
        let roots = ints.float_power(&Operand::Scalar(Scalar::Float(0.5))).unwrap();
        assert_eq!(roots.dtype(), DType::F64);
        close(&roots, &[2.0, 3.0]);
        let turned = Tensor::polar(&row(&[2.0]), &row(&[PI / 2.0])).unwrap();
        close(&turned.imag().unwrap(), &[2.0]);
    }
}
