//! The derivatives of functions of two numbers.

use super::{Binary, binary_name};
use crate::ops::unary::{Predicate, Unary};
use crate::tensor::Tensor;
use crate::{Result, bail};

/// `g` times the derivative with respect to one side.
pub(super) fn partial(
    kind: Binary,
    side: usize,
    g: &Tensor,
    a: &Tensor,
    b: &Tensor,
    y: &Tensor,
) -> Result<Tensor> {
    use Binary::*;
    let mask = |which: Tensor| -> Result<Tensor> { which.to_dtype(g.dtype()) };
    Ok(match (kind, side) {
        (Add, _) | (Sub, 0) | (Remainder | Fmod, 0) => g.clone(),
        (Sub, _) => g.neg()?,
        (Mul, 0) => g.mul(&b.conj()?)?,
        (Mul, _) => g.mul(&a.conj()?)?,
        (Div, 0) => g.div(&b.conj()?)?,
        (Div, _) => g.mul(&a.div(b)?.div(b)?.neg()?.conj()?)?,
        (FloorDiv | TruncDiv | Heaviside, _) | (Nextafter, 1) => g.mul_scalar(0.0)?,
        (Nextafter, _) => g.mul(&mask(a.ne(b)?)?)?,
        (Remainder, _) => g.mul(&a.binary(FloorDiv, b)?.neg()?)?,
        (Fmod, _) => g.mul(&a.binary(TruncDiv, b)?.neg()?)?,
        (Pow, 0) => {
            // b * a^(b-1), and zero where b is zero even if a is zero too.
            let slope = b.mul(&a.binary(Pow, &b.add_scalar(-1.0)?)?)?.conj()?;
            let zero = Tensor::full(&[], 0.0, slope.dtype(), g.device())?;
            g.mul(&b.eq_scalar(0.0)?.where_(&zero, &slope)?)?
        }
        (Pow, _) => {
            // y * ln a, and zero where a is zero and b not negative.
            let zero = Tensor::full(&[], 0.0, y.dtype(), g.device())?;
            let flat = if b.dtype().is_complex() {
                a.eq_scalar(0.0)?
            } else {
                a.eq_scalar(0.0)?.logical_and(&b.ge_scalar(0.0)?)?
            };
            let slope = y.mul(&a.unary(Unary::Log)?)?.conj()?;
            g.mul(&flat.where_(&zero, &slope)?)?
        }
        (Maximum | Minimum, _) => {
            let (own, other) = if side == 0 { (a, b) } else { (b, a) };
            let wins = if kind == Maximum { own.gt(other)? } else { own.lt(other)? };
            // Where both are equal each gets half.
            let share = mask(wins)?.add(&mask(own.eq(other)?)?.mul_scalar(0.5)?)?;
            g.mul(&share)?
        }
        (Fmax | Fmin, _) => {
            let first = if kind == Fmax { a.ge(b)? } else { a.le(b)? };
            let first = first.logical_or(&b.predicate(Predicate::IsNan)?)?;
            let own = if side == 0 { first } else { first.predicate(Predicate::LogicalNot)? };
            g.mul(&mask(own)?)?
        }
        (Atan2, _) => {
            let square = a.square()?.add(&b.square()?)?;
            let other = if side == 0 { b.clone() } else { a.neg()? };
            let slope = other.div(&square)?;
            let zero = Tensor::full(&[], 0.0, slope.dtype(), g.device())?;
            g.mul(&square.eq_scalar(0.0)?.where_(&zero, &slope)?)?
        }
        (Hypot, _) => {
            let own = if side == 0 { a } else { b };
            let slope = own.div(y)?;
            let zero = Tensor::full(&[], 0.0, slope.dtype(), g.device())?;
            g.mul(&y.eq_scalar(0.0)?.where_(&zero, &slope)?)?
        }
        (Copysign, 0) => {
            let ratio = a.binary(Copysign, b)?.div(a)?;
            let zero = Tensor::full(&[], 0.0, ratio.dtype(), g.device())?;
            g.mul(&a.eq_scalar(0.0)?.where_(&zero, &ratio)?)?
        }
        (Copysign, _) => g.mul_scalar(0.0)?,
        (Logaddexp | Logaddexp2, _) => {
            let own = if side == 0 { a } else { b };
            let exp = if kind == Logaddexp { Unary::Exp } else { Unary::Exp2 };
            let share = own.sub(y)?.unary(exp)?;
            // Infinities that are equal cancel to NaN; there each side has half of the slope.
            let half = Tensor::full(&[], 0.5, share.dtype(), g.device())?;
            let stuck = a.eq(b)?.logical_and(&a.predicate(Predicate::IsInf)?)?;
            g.mul(&stuck.where_(&half, &share)?)?
        }
        (Xlogy | Xlog1py, 0) => {
            let inner = if kind == Xlogy { b.unary(Unary::Log)? } else { b.unary(Unary::Log1p)? };
            let zero = Tensor::full(&[], 0.0, inner.dtype(), g.device())?;
            let flat = a.eq_scalar(0.0)?;
            let bound = if kind == Xlogy { b.le_scalar(0.0)? } else { b.le_scalar(-1.0)? };
            g.mul(&flat.logical_and(&bound)?.where_(&zero, &inner)?)?
        }
        (Xlogy, _) => g.mul(&a.div(b)?)?,
        (Xlog1py, _) => g.mul(&a.div(&b.add_scalar(1.0)?)?)?,
        (Zeta, 1) => {
            let next = a.add_scalar(1.0)?.binary(Zeta, b)?;
            g.mul(&a.neg()?.mul(&next)?)?
        }
        (Igamma | Igammac, 1) => {
            // b^(a-1) e^-b / Gamma(a)
            let log = a.add_scalar(-1.0)?.mul(&b.unary(Unary::Log)?)?.sub(b)?;
            let slope = log.sub(&a.unary(Unary::Lgamma)?)?.unary(Unary::Exp)?;
            if kind == Igamma { g.mul(&slope)? } else { g.mul(&slope.neg()?)? }
        }
        (Zeta | Igamma | Igammac, _) => bail!(
            Unsupported,
            "{}: the derivative with respect to its first argument is not implemented",
            binary_name(kind)
        ),
        (BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | Gcd | Lcm, _) => {
            bail!(Unsupported, "{}: integers have no gradient", binary_name(kind))
        }
    })
}
