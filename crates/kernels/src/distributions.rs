//! Distributions beyond the uniform and the normal, as fills of a [`Generator`].
//!
//! What needs a fixed number of random bits is computed in double precision from 64 of them and
//! rounded once. What draws until it accepts draws from the stream of its own counter. Parameter
//! tensors are read in row-major order and the result has their shape.

#[cfg(test)]
pub(crate) mod check;
mod counts;
mod gamma;
mod gamma_gradient;
mod multinomial;
mod truncated;

pub use gamma_gradient::gamma_gradient;

use crate::random::{Generator, Real, open_unit, require};
use crate::{Result, par};

/// How many elements that draw until they accept are worth a thread.
const STREAM_GRAIN: usize = par::GRAIN / 64;

impl Generator {
    /// `n` waiting times at the rate `lambda`, greater than zero.
    pub fn exponential<T: Real>(&mut self, n: usize, lambda: f64) -> Result<Vec<T>> {
        require(lambda > 0.0, || {
            format!("exponential_ expects lambda > 0.0, but found lambda={lambda}")
        })?;
        Ok(self.fill_words(n, |word| T::from_f64(-open_unit(word).ln() / lambda)))
    }

    /// How many trials it takes to succeed at the probability `p`, from one on.
    pub fn geometric<T: Real>(&mut self, n: usize, p: f64) -> Result<Vec<T>> {
        require(p > 0.0 && p < 1.0, || {
            format!("geometric_ expects p to be in (0, 1), but got p={p}")
        })?;
        let ln_failure = (-p).ln_1p();
        Ok(self.fill_words(n, |word| T::from_f64((open_unit(word).ln() / ln_failure).ceil())))
    }

    /// `n` numbers from the Cauchy distribution.
    pub fn cauchy<T: Real>(&mut self, n: usize, median: f64, sigma: f64) -> Result<Vec<T>> {
        require(sigma > 0.0, || format!("cauchy_ expects sigma > 0.0, but found sigma={sigma}"))?;
        Ok(self.fill_words(n, |word| {
            let angle = std::f64::consts::PI * (open_unit(word) - 0.5);
            T::from_f64(median + sigma * angle.tan())
        }))
    }

    /// `n` numbers whose logarithm is normal.
    pub fn log_normal<T: Real>(&mut self, n: usize, mean: T, std: T) -> Result<Vec<T>> {
        require(std > T::zero(), || format!("log_normal_ expects std > 0.0, but found std={std}"))?;
        Ok(T::normals(self, n, move |value| (value * std + mean).exp()))
    }
}

#[cfg(test)]
mod tests {
    use super::check::{close, kolmogorov, moments, normal_cdf, pearson};
    use super::*;

    const N: usize = 200_000;

    #[test]
    fn waiting_times_are_exponential() {
        let mut generator = Generator::new(11);
        let values = generator.exponential::<f32>(N, 2.0).unwrap();
        assert!(values.iter().all(|&v| v > 0.0));
        let (mean, variance) = moments(&values);
        close(mean, 0.5, 4e-3);
        close(variance, 0.25, 6e-3);
        kolmogorov(&values, |x| -(-2.0 * x).exp_m1());
        assert!(generator.exponential::<f32>(1, 0.0).is_err());
    }

    #[test]
    fn trials_are_geometric() {
        let mut generator = Generator::new(12);
        let values = generator.geometric::<f64>(N, 0.3).unwrap();
        let (mean, variance) = moments(&values);
        close(mean, 1.0 / 0.3, 2.5e-2);
        close(variance, 0.7 / 0.09, 0.2);
        pearson(&values, 30, |k| if k == 0 { 0.0 } else { 0.3 * 0.7f64.powi(k as i32 - 1) });
        assert!(generator.geometric::<f64>(1, 1.0).is_err());
    }

    #[test]
    fn cauchy_numbers_have_their_median_and_tails() {
        let values = Generator::new(13).cauchy::<f64>(N, 1.0, 2.0).unwrap();
        kolmogorov(&values, |x| 0.5 + ((x - 1.0) / 2.0).atan() / std::f64::consts::PI);
    }

    #[test]
    fn logarithms_are_normal() {
        let values = Generator::new(14).log_normal::<f32>(N, 0.5, 0.25).unwrap();
        kolmogorov(&values, |x| normal_cdf((x.ln() - 0.5) / 0.25));
        let (mean, _) = moments(&values);
        close(mean, (0.5f64 + 0.25 * 0.25 / 2.0).exp(), 4e-3);
    }
}
