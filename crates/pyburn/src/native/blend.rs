//! Elementwise functions with options: blends of three tensors, replacement of NaN, special
//! functions of several arguments, softmax.

use crate::args::{Number, Op, T};
use crate::dtype::DTypeArg;

native! {
    fn lerp(input, end: T, weight: Op) => input.lerp(&end.0, &weight.0);
    fn lerp_(input, end: T, weight: Op) => input.lerp_(&end.0, &weight.0);
    fn addcmul(input, b: T, c: T, value: Number) => input.addcmul(&b.0, &c.0, value.0);
    fn addcmul_(input, b: T, c: T, value: Number) => input.addcmul_(&b.0, &c.0, value.0);
    fn addcdiv(input, b: T, c: T, value: Number) => input.addcdiv(&b.0, &c.0, value.0);
    fn addcdiv_(input, b: T, c: T, value: Number) => input.addcdiv_(&b.0, &c.0, value.0);
    fn clamp_scalar(input, low: Option<Number>, high: Option<Number>) =>
        input.clamp_scalar(low.map(|n| n.0), high.map(|n| n.0));
    fn sgn(input) => input.sgn();
    fn nan_to_num(input, nan: Option<f64>, above: Option<f64>, below: Option<f64>) =>
        input.nan_to_num(nan, above, below);
    fn logit(input, eps: Option<f64>) => input.logit(eps);
    fn polygamma(input, n: i64) => input.polygamma(n);
    fn mvlgamma(input, p: i64) => input.mvlgamma(p);
    fn ldexp(input, other: T) => input.ldexp(&other.0);
    fn frexp(input) => input.frexp();
    fn float_power(input, exponent: Op) => input.float_power(&exponent.0);
    fn softmax(input, dim: i64, dtype: Option<DTypeArg>) => input.softmax(dim, dtype.map(|d| d.0));
    fn log_softmax(input, dim: i64, dtype: Option<DTypeArg>) => input.log_softmax(dim, dtype.map(|d| d.0));
    fn has_nan(input) => input.has_nan();
}
