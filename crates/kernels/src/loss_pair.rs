//! Losses of single elements, each of which has a target, and their slopes.

use serde::{Deserialize, Serialize};

use crate::kernel::{Kernel2, Kernel3, simd2, simd3, wide2, wide3};
use crate::map::{map2, map3};
use crate::par::GRAIN;
use crate::{Element, Error, Result, Strided, vector_math};

/// What an element `x` costs whose target is `t`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairLoss {
    /// `(x - t)^2`.
    Square,
    /// `|x - t|`.
    Absolute,
    /// `(x - t)^2 / (2 beta)` where the distance is below `beta`, else the distance less `beta / 2`.
    SmoothL1 { beta: f64 },
    /// `(x - t)^2 / 2` where the distance is at most `delta`, else `delta` times the distance less
    /// `delta / 2`.
    Huber { delta: f64 },
    /// `-t log(x) - (1 - t) log(1 - x)`, where the logarithms are at least -100.
    BinaryCrossEntropy,
    /// The same of `sigmoid(x)`, without loss of digits.
    BinaryCrossEntropyOfLogits,
}

impl PairLoss {
    fn grain(self) -> usize {
        match self {
            PairLoss::BinaryCrossEntropy | PairLoss::BinaryCrossEntropyOfLogits => GRAIN / 8,
            _ => GRAIN,
        }
    }
}

/// Elements with losses: `f32` and `f64`.
pub trait PairLossElement: Element + PartialOrd {
    #[doc(hidden)]
    fn loss(kind: PairLoss) -> Kernel2<Self, Self, Self>;
    #[doc(hidden)]
    fn slope(kind: PairLoss) -> Kernel3<Self, Self, Self, Self>;
    /// Whether it lies between zero and one.
    #[doc(hidden)]
    fn is_probability(self) -> bool;
}

macro_rules! elements {
    ($($t:ident $ln:path, $ln_1p:path, $exp:path;)*) => {$(
        impl PairLossElement for $t {
            fn loss(kind: PairLoss) -> Kernel2<$t, $t, $t> {
                /// The larger of a number and a bound, or NaN.
                #[inline(always)]
                fn at_least(x: $t, low: $t) -> $t {
                    if x < low { low } else { x }
                }
                match kind {
                    PairLoss::Square => simd2(|x: $t, t: $t| (x - t) * (x - t)),
                    PairLoss::Absolute => simd2(|x: $t, t: $t| (x - t).abs()),
                    PairLoss::SmoothL1 { beta } => {
                        let beta = beta as $t;
                        simd2(move |x: $t, t: $t| {
                            let far = (x - t).abs();
                            if far < beta { 0.5 * far * far / beta } else { far - 0.5 * beta }
                        })
                    }
                    PairLoss::Huber { delta } => {
                        let delta = delta as $t;
                        simd2(move |x: $t, t: $t| {
                            let far = (x - t).abs();
                            if far <= delta { 0.5 * far * far } else { delta * (far - 0.5 * delta) }
                        })
                    }
                    PairLoss::BinaryCrossEntropy => wide2(|x: $t, t: $t| {
                        (t - 1.0) * at_least($ln_1p(-x), -100.0) - t * at_least($ln(x), -100.0)
                    }),
                    PairLoss::BinaryCrossEntropyOfLogits => wide2(|x: $t, t: $t| {
                        at_least(x, 0.0) - x * t + $ln_1p($exp(-x.abs()))
                    }),
                }
            }

            fn slope(kind: PairLoss) -> Kernel3<$t, $t, $t, $t> {
                match kind {
                    PairLoss::Square => simd3(|g: $t, x: $t, t: $t| 2.0 * (x - t) * g),
                    PairLoss::Absolute => simd3(|g: $t, x: $t, t: $t| {
                        let way = (x > t) as u8 as $t - (x < t) as u8 as $t;
                        way * g
                    }),
                    PairLoss::SmoothL1 { beta } => {
                        let beta = beta as $t;
                        simd3(move |g: $t, x: $t, t: $t| {
                            let far = x - t;
                            let near = far * g / beta;
                            let below = if far <= -beta { -g } else { near };
                            if far >= beta { g } else { below }
                        })
                    }
                    PairLoss::Huber { delta } => {
                        let delta = delta as $t;
                        simd3(move |g: $t, x: $t, t: $t| {
                            let far = x - t;
                            let below = if far <= -delta { -delta * g } else { far * g };
                            if far >= delta { delta * g } else { below }
                        })
                    }
                    PairLoss::BinaryCrossEntropy => simd3(|g: $t, x: $t, t: $t| {
                        let spread = (1.0 - x) * x;
                        g * (x - t) / if spread < 1e-12 { 1e-12 } else { spread }
                    }),
                    PairLoss::BinaryCrossEntropyOfLogits => wide3(|g: $t, x: $t, t: $t| {
                        g * (1.0 / (1.0 + $exp(-x)) - t)
                    }),
                }
            }

            fn is_probability(self) -> bool {
                (0.0..=1.0).contains(&self)
            }
        }
    )*};
}
elements! {
    f32 vector_math::ln, vector_math::ln_1p, vector_math::exp;
    f64 f64::ln, f64::ln_1p, f64::exp;
}

/// The loss of every element.
pub fn pair_loss<T: PairLossElement>(
    kind: PairLoss,
    x: Strided<T>,
    target: Strided<T>,
) -> Result<Vec<T>> {
    if kind == PairLoss::BinaryCrossEntropy {
        let all = match x.as_slice() {
            Some(x) => x.iter().all(|x| x.is_probability()),
            None => crate::copy::contiguous(x).iter().all(|x| x.is_probability()),
        };
        if !all {
            return Err(Error::Value("all elements of input should be between 0 and 1".into()));
        }
    }
    Ok(map2(x, target, kind.grain(), &T::loss(kind)))
}

/// The slope of the loss at every element, times a gradient.
pub fn pair_slope<T: PairLossElement>(
    kind: PairLoss,
    grad: Strided<T>,
    x: Strided<T>,
    target: Strided<T>,
) -> Vec<T> {
    map3(grad, x, target, kind.grain(), &T::slope(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [PairLoss; 6] = [
        PairLoss::Square,
        PairLoss::Absolute,
        PairLoss::SmoothL1 { beta: 0.3 },
        PairLoss::Huber { delta: 0.3 },
        PairLoss::BinaryCrossEntropy,
        PairLoss::BinaryCrossEntropyOfLogits,
    ];

    fn view<T>(data: &[T; 5]) -> Strided<'_, T> {
        Strided { data, shape: &[5], strides: &[1], offset: 0 }
    }

    const X: [f64; 5] = [0.1, 0.35, 0.5, 0.75, 0.99];
    const T: [f64; 5] = [1.0, 0.2, 0.6, 0.0, 0.9];

    #[test]
    fn slopes_are_those_of_differences() {
        for kind in KINDS {
            let f = |by: f64| pair_loss(kind, view(&X.map(|x| x + by)), view(&T)).unwrap();
            let slopes = pair_slope(kind, view(&[2.0; 5]), view(&X), view(&T));
            for (slope, (up, down)) in slopes.iter().zip(f(1e-6).iter().zip(f(-1e-6))) {
                let rise = (up - down) / 1e-6;
                assert!((slope - rise).abs() < 1e-6 * rise.abs().max(1.0), "{kind:?}");
            }
            let narrow = [X, T].map(|row| row.map(|x| x as f32));
            let wide = f(0.0);
            let found = pair_loss(kind, view(&narrow[0]), view(&narrow[1])).unwrap();
            assert!(found.iter().zip(&wide).all(|(y, wide)| (*y as f64 - wide).abs() < 1e-6));
            let found = pair_slope(kind, view(&[2f32; 5]), view(&narrow[0]), view(&narrow[1]));
            let near =
                |(y, wide): (&f32, &f64)| (*y as f64 - wide).abs() < 1e-5 * wide.abs().max(1.0);
            assert!(found.iter().zip(&slopes).all(near));
        }
    }

    #[test]
    fn probabilities_at_their_ends() {
        let kind = PairLoss::BinaryCrossEntropy;
        let x = [0.0, 1.0, 0.0, 1.0, 0.5];
        let t = [0.0, 1.0, 1.0, 0.0, 0.5];
        let losses = pair_loss(kind, view(&x), view(&t)).unwrap();
        assert_eq!(losses[..4], [0.0, 0.0, 100.0, 100.0]);
        let slopes = pair_slope(kind, view(&[1.0; 5]), view(&x), view(&t));
        assert_eq!(slopes[..4], [0.0, 0.0, -1e12, 1e12]);
        assert!(pair_loss(kind, view(&[1.5; 5]), view(&t)).is_err());
        assert!(pair_loss(kind, view(&[f64::NAN; 5]), view(&t)).is_err());
        // Logits as large as they like.
        let kind = PairLoss::BinaryCrossEntropyOfLogits;
        let losses = pair_loss(kind, view(&[1e4, -1e4, 1e4, -1e4, 0.0]), view(&t)).unwrap();
        assert_eq!(losses[..4], [1e4, 1e4, 0.0, 0.0]);
    }
}
