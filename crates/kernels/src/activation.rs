//! Activation functions with parameters, and the slopes of activation functions, which scale a
//! gradient.

use serde::{Deserialize, Serialize};

use crate::kernel::{Kernel1, Kernel2, simd1, simd2, wide1, wide2};
use crate::map::{map1, map2, update1};
use crate::par::GRAIN;
use crate::{Element, Strided, StridedMut, special, vector_math};

/// An activation function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// `x` where positive, else `slope * x`.
    LeakyRelu { slope: f64 },
    /// `scale * x` where positive, else `scale * alpha * (e^(rate * x) - 1)`.
    Elu { alpha: f64, scale: f64, rate: f64 },
    /// `x` held between two bounds.
    Hardtanh { low: f64, high: f64 },
    /// `x / 6 + 1/2` held between zero and one.
    Hardsigmoid,
    /// `x` times that.
    Hardswish,
    /// `log(1 + e^(beta * x)) / beta`; `x` itself where `beta * x` exceeds the threshold.
    Softplus { beta: f64, threshold: f64 },
    /// `x` outside of `[-lambda, lambda]`, else zero.
    Hardshrink { lambda: f64 },
    /// `x` moved by `bias` towards zero outside of `[-lambda, lambda]`, else zero.
    Softshrink { lambda: f64, bias: f64 },
    /// `x` where it exceeds the threshold, else `value`.
    Threshold { threshold: f64, value: f64 },
}

/// How fast an activation function rises at a place: at an argument or, where it says so, at a value
/// of the function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slope {
    /// One above a threshold, else zero.
    Above { threshold: f64 },
    /// One between two bounds, else zero.
    Between { low: f64, high: f64 },
    /// Zero between two bounds or at one of them, else one.
    Outside { low: f64, high: f64 },
    /// That of [`Activation::LeakyRelu`].
    LeakyRelu { slope: f64 },
    /// That of [`Activation::Elu`].
    Elu { alpha: f64, scale: f64, rate: f64 },
    /// That of [`Activation::Hardsigmoid`].
    Hardsigmoid,
    /// That of [`Activation::Hardswish`].
    Hardswish,
    /// That of [`Activation::Softplus`].
    Softplus { beta: f64, threshold: f64 },
    /// That of the logarithm of the sigmoid.
    LogSigmoid,
    /// That of `x * ndtr(x)`.
    Gelu,
    /// That of the same by an approximation with the hyperbolic tangent.
    GeluTanh,
    /// That of `x * sigmoid(x)`.
    Silu,
    /// That of `x * tanh(softplus(x))`.
    Mish,
    /// That of the sigmoid, at its value.
    OfSigmoid,
    /// That of the hyperbolic tangent, at its value.
    OfTanh,
}

impl Activation {
    fn grain(self) -> usize {
        match self {
            Activation::Elu { .. } | Activation::Softplus { .. } => GRAIN / 8,
            _ => GRAIN,
        }
    }
}

impl Slope {
    fn grain(self) -> usize {
        use Slope::*;
        match self {
            Elu { .. } | Softplus { .. } | LogSigmoid | Gelu | GeluTanh | Silu | Mish => GRAIN / 8,
            _ => GRAIN,
        }
    }
}

/// Elements with activation functions: `f32` and `f64`.
pub trait ActivationElement: Element {
    /// The loop of a function.
    #[doc(hidden)]
    fn function(kind: Activation) -> Kernel1<Self, Self>;
    /// The loop of a gradient times a slope.
    #[doc(hidden)]
    fn slope(kind: Slope) -> Kernel2<Self, Self, Self>;
}

/// Applies a function to every element.
pub fn activation<T: ActivationElement>(kind: Activation, x: Strided<T>) -> Vec<T> {
    map1(x, kind.grain(), &T::function(kind))
}

/// As [`activation`], into memory that may be that of the operand.
pub fn activation_into<T: ActivationElement>(kind: Activation, out: StridedMut<T>, x: Strided<T>) {
    update1(out, x, kind.grain(), &T::function(kind));
}

/// Every element of `grad` times the slope at the element of `at` in the same place.
pub fn slope<T: ActivationElement>(kind: Slope, grad: Strided<T>, at: Strided<T>) -> Vec<T> {
    map2(grad, at, kind.grain(), &T::slope(kind))
}

/// The functions of [`vector_math`] that activations use, of `f64`.
mod double {
    #[inline(always)]
    pub(super) fn exp(x: f64) -> f64 {
        x.exp()
    }
    #[inline(always)]
    pub(super) fn expm1(x: f64) -> f64 {
        x.exp_m1()
    }
    #[inline(always)]
    pub(super) fn ln_1p(x: f64) -> f64 {
        x.ln_1p()
    }
    #[inline(always)]
    pub(super) fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }
    pub(super) use super::special::ndtr;
}

macro_rules! elements {
    ($($t:ident $math:ident),*) => {$(
        impl ActivationElement for $t {
            fn function(kind: Activation) -> Kernel1<$t, $t> {
                use $math as m;
                /// A number held between zero and six.
                #[inline(always)]
                fn six(x: $t) -> $t {
                    let x = if x < 0.0 { 0.0 } else { x };
                    if x > 6.0 { 6.0 } else { x }
                }
                match kind {
                    Activation::LeakyRelu { slope } => {
                        let slope = slope as $t;
                        simd1(move |x: $t| if x > 0.0 { x } else { x * slope })
                    }
                    Activation::Elu { alpha, scale, rate } => {
                        let (below, scale, rate) = ((alpha * scale) as $t, scale as $t, rate as $t);
                        wide1(move |x: $t| {
                            let bent = m::expm1(x * rate) * below;
                            if x > 0.0 { x * scale } else { bent }
                        })
                    }
                    Activation::Hardtanh { low, high } => {
                        let (low, high) = (low as $t, high as $t);
                        simd1(move |x: $t| {
                            let x = if x < low { low } else { x };
                            if x > high { high } else { x }
                        })
                    }
                    Activation::Hardsigmoid => simd1(|x: $t| six(x + 3.0) / 6.0),
                    Activation::Hardswish => simd1(|x: $t| x * six(x + 3.0) / 6.0),
                    Activation::Softplus { beta, threshold } => {
                        let (beta, threshold) = (beta as $t, threshold as $t);
                        wide1(move |x: $t| {
                            let scaled = x * beta;
                            let bent = m::ln_1p(m::exp(scaled)) / beta;
                            if scaled > threshold { x } else { bent }
                        })
                    }
                    Activation::Hardshrink { lambda } => {
                        let lambda = lambda as $t;
                        simd1(move |x: $t| if (x >= -lambda) & (x <= lambda) { 0.0 } else { x })
                    }
                    Activation::Softshrink { lambda, bias } => {
                        let (lambda, bias) = (lambda as $t, bias as $t);
                        simd1(move |x: $t| {
                            // A product rather than zero, so that NaN passes.
                            let below = if x < -lambda { x + bias } else { x * 0.0 };
                            if x > lambda { x - bias } else { below }
                        })
                    }
                    Activation::Threshold { threshold, value } => {
                        let (threshold, value) = (threshold as $t, value as $t);
                        simd1(move |x: $t| if x <= threshold { value } else { x })
                    }
                }
            }

            fn slope(kind: Slope) -> Kernel2<$t, $t, $t> {
                use $math as m;
                /// `1 / sqrt(2 pi)`, the normal density at zero.
                const PEAK: $t = 0.398_942_280_401_432_7_f64 as $t;
                /// `2 * sqrt(2 / pi)`.
                const TWICE_ROOT: $t = 1.595_769_121_605_730_7_f64 as $t;
                match kind {
                    Slope::Above { threshold } => {
                        let threshold = threshold as $t;
                        simd2(move |g: $t, x: $t| if x <= threshold { 0.0 } else { g })
                    }
                    Slope::Between { low, high } => {
                        let (low, high) = (low as $t, high as $t);
                        simd2(move |g: $t, x: $t| if (x <= low) | (x >= high) { 0.0 } else { g })
                    }
                    Slope::Outside { low, high } => {
                        let (low, high) = (low as $t, high as $t);
                        simd2(move |g: $t, x: $t| if (x >= low) & (x <= high) { 0.0 } else { g })
                    }
                    Slope::LeakyRelu { slope } => {
                        let slope = slope as $t;
                        simd2(move |g: $t, x: $t| if x > 0.0 { g } else { g * slope })
                    }
                    Slope::Elu { alpha, scale, rate } => {
                        let below = (alpha * scale * rate) as $t;
                        let (scale, rate) = (scale as $t, rate as $t);
                        wide2(move |g: $t, x: $t| {
                            let bent = m::exp(x * rate) * below;
                            g * if x > 0.0 { scale } else { bent }
                        })
                    }
                    Slope::Hardsigmoid => {
                        simd2(|g: $t, x: $t| if (x > -3.0) & (x < 3.0) { g / 6.0 } else { 0.0 })
                    }
                    Slope::Hardswish => simd2(|g: $t, x: $t| {
                        let inside = if x <= -3.0 { 0.0 } else { g * (x / 3.0 + 0.5) };
                        if x < 3.0 { inside } else { g }
                    }),
                    Slope::Softplus { beta, threshold } => {
                        let (beta, threshold) = (beta as $t, threshold as $t);
                        wide2(move |g: $t, x: $t| {
                            let scaled = x * beta;
                            let bent = g * m::sigmoid(scaled);
                            if scaled > threshold { g } else { bent }
                        })
                    }
                    Slope::LogSigmoid => wide2(|g: $t, x: $t| g * m::sigmoid(-x)),
                    Slope::Gelu => wide2(|g: $t, x: $t| {
                        let density = m::exp(x * x * -0.5) * PEAK;
                        g * (m::ndtr(x) + x * density)
                    }),
                    Slope::GeluTanh => wide2(|g: $t, x: $t| {
                        let square = x * x;
                        let share = m::sigmoid(x * TWICE_ROOT * (square * 0.044715 + 1.0));
                        let inner = TWICE_ROOT * (square * (3.0 * 0.044715) + 1.0);
                        g * (share + x * share * (1.0 - share) * inner)
                    }),
                    Slope::Silu => wide2(|g: $t, x: $t| {
                        let share = m::sigmoid(x);
                        g * share * (x * (1.0 - share) + 1.0)
                    }),
                    Slope::Mish => wide2(|g: $t, x: $t| {
                        // With w = e^x and n = w * (w + 2): tanh(softplus(x)) is n / (n + 2), and
                        // one less its square 4 * (n + 1) / (n + 2)^2.
                        let w = m::exp(x);
                        let n = w * (w + 2.0);
                        let part = 1.0 / (n + 2.0);
                        let bent = n * part + x * m::sigmoid(x) * 4.0 * (n + 1.0) * part * part;
                        g * if x > 20.0 { 1.0 } else { bent }
                    }),
                    Slope::OfSigmoid => simd2(|g: $t, y: $t| g * (y * (1.0 - y))),
                    Slope::OfTanh => simd2(|g: $t, y: $t| g * (1.0 - y * y)),
                }
            }
        }
    )*};
}
elements!(f32 vector_math, f64 double);

#[cfg(test)]
mod tests {
    use super::*;

    fn view<T>(data: &[T]) -> Strided<'_, T> {
        Strided { data, shape: &[12], strides: &[1], offset: 0 }
    }

    const X: [f64; 12] = [-25.0, -3.0, -2.5, -1.0, -0.4, 0.0, 0.3, 0.5, 1.0, 2.9, 3.1, 30.0];

    const FUNCTIONS: [(Activation, Slope); 10] = [
        (Activation::LeakyRelu { slope: 0.1 }, Slope::LeakyRelu { slope: 0.1 }),
        (
            Activation::Elu { alpha: 1.5, scale: 1.1, rate: 0.7 },
            Slope::Elu { alpha: 1.5, scale: 1.1, rate: 0.7 },
        ),
        (Activation::Hardtanh { low: -2.0, high: 1.5 }, Slope::Between { low: -2.0, high: 1.5 }),
        (Activation::Hardsigmoid, Slope::Hardsigmoid),
        (Activation::Hardswish, Slope::Hardswish),
        (
            Activation::Softplus { beta: 2.0, threshold: 20.0 },
            Slope::Softplus { beta: 2.0, threshold: 20.0 },
        ),
        (Activation::Hardshrink { lambda: 0.6 }, Slope::Outside { low: -0.6, high: 0.6 }),
        (
            Activation::Softshrink { lambda: 0.6, bias: 0.6 },
            Slope::Outside { low: -0.6, high: 0.6 },
        ),
        (
            Activation::Softshrink { lambda: 0.6, bias: 0.2 },
            Slope::Outside { low: -0.6, high: 0.6 },
        ),
        (Activation::Threshold { threshold: 0.4, value: 7.0 }, Slope::Above { threshold: 0.4 }),
    ];

    #[test]
    fn known_values() {
        let at = |kind, x: f64| activation(kind, view(&[x; 12]))[0];
        assert_eq!(at(Activation::LeakyRelu { slope: 0.1 }, -2.0), -0.2);
        let elu = Activation::Elu { alpha: 1.0, scale: 1.0, rate: 1.0 };
        assert_eq!(at(elu, -1.0), (-1f64).exp_m1());
        assert_eq!(at(Activation::Hardswish, 1.0), 4.0 / 6.0);
        assert_eq!(at(Activation::Hardsigmoid, -4.0), 0.0);
        assert_eq!(at(Activation::Softshrink { lambda: 1.0, bias: 0.25 }, -2.0), -1.75);
        assert_eq!(at(Activation::Threshold { threshold: 1.0, value: 9.0 }, 1.0), 9.0);
        let softplus = Activation::Softplus { beta: 0.5, threshold: 20.0 };
        assert!((at(softplus, 1.0) - 2.0 * 0.5f64.exp().ln_1p()).abs() < 1e-15);
        assert_eq!(at(softplus, 1e4), 1e4);
    }

    #[test]
    fn slopes_are_those_of_differences() {
        for (function, of) in FUNCTIONS {
            for x in X.map(|x| x + 1e-4) {
                let f = |x: f64| activation(function, view(&[x; 12]))[0];
                let rise = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6;
                let slope = slope(of, view(&[3.0; 12]), view(&[x; 12]))[0];
                assert!((slope - 3.0 * rise).abs() < 1e-6, "{function:?} at {x}: {slope} {rise}");
            }
        }
    }

    #[test]
    fn slopes_of_plain_functions_are_those_of_differences() {
        use crate::unary::{Unary, unary};
        let pairs = [
            (Unary::Gelu, Slope::Gelu),
            (Unary::GeluTanh, Slope::GeluTanh),
            (Unary::Silu, Slope::Silu),
            (Unary::Mish, Slope::Mish),
            (Unary::LogSigmoid, Slope::LogSigmoid),
        ];
        for (function, of) in pairs {
            for x in X {
                let f = |x: f64| unary(function, view(&[x; 12])).unwrap()[0];
                let rise = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
                let slope = slope(of, view(&[1.0; 12]), view(&[x; 12]))[0];
                assert!((slope - rise).abs() < 1e-7, "{function:?} at {x}: {slope} {rise}");
            }
        }
        for (function, of) in [(Unary::Sigmoid, Slope::OfSigmoid), (Unary::Tanh, Slope::OfTanh)] {
            for x in X {
                let f = |x: f64| unary(function, view(&[x; 12])).unwrap()[0];
                let rise = (f(x + 1e-5) - f(x - 1e-5)) / 2e-5;
                let slope = slope(of, view(&[1.0; 12]), view(&[f(x); 12]))[0];
                assert!((slope - rise).abs() < 1e-7, "{function:?} at {x}: {slope} {rise}");
            }
        }
    }

    #[test]
    fn both_precisions_agree_and_nan_passes() {
        let narrow = X.map(|x| x as f32);
        let slopes = [
            Slope::LogSigmoid,
            Slope::Gelu,
            Slope::GeluTanh,
            Slope::Silu,
            Slope::Mish,
            Slope::OfSigmoid,
            Slope::OfTanh,
        ];
        for (function, of) in FUNCTIONS {
            let wide = activation(function, view(&X));
            for (y, wide) in activation(function, view(&narrow)).iter().zip(wide) {
                assert!((*y as f64 - wide).abs() <= 1e-6 * wide.abs().max(0.5), "{function:?}");
            }
            assert!(activation(function, view(&[f32::NAN; 12]))[0].is_nan(), "{function:?}");
            check_slope(of, &narrow);
        }
        slopes.into_iter().for_each(|of| check_slope(of, &narrow));
    }

    fn check_slope(of: Slope, narrow: &[f32; 12]) {
        let wide = slope(of, view(&[2.0; 12]), view(&X));
        for (y, wide) in slope(of, view(&[2.0f32; 12]), view(narrow)).iter().zip(wide) {
            assert!((*y as f64 - wide).abs() <= 2e-6 * wide.abs().max(0.5), "{of:?} {y} {wide}");
        }
    }
}
