//! The gamma distribution, from which beta, Dirichlet, chi-squared and Student's t follow.

use super::STREAM_GRAIN;
use crate::Strided;
use crate::index::row_major;
use crate::random::{Generator, Real, Stream};

impl Generator {
    /// Numbers from the gamma distribution of the given shapes and scale one. They are greater than
    /// zero, if need be the smallest normal number; a shape that is negative or NaN gives NaN.
    pub fn gamma<T: Real>(&mut self, alpha: &Strided<T>) -> Vec<T> {
        let alpha = row_major(alpha);
        self.fill_streams(alpha.len(), STREAM_GRAIN, |i, stream| {
            let value = T::from_f64(gamma(alpha[i].to_f64_exact(), stream));
            // Unlike `max`, keeps NaN.
            if value < T::min_positive_value() { T::min_positive_value() } else { value }
        })
    }
}

/// Marsaglia and Tsang ("A simple method for generating gamma variables", 2000); shapes below one
/// are those above it scaled by a power of a uniform number.
fn gamma(alpha: f64, stream: &mut Stream) -> f64 {
    if alpha.is_nan() || alpha < 0.0 {
        return f64::NAN;
    }
    if alpha == 0.0 || alpha.is_infinite() {
        return alpha;
    }
    if alpha < 1.0 {
        let scale = stream.unit().powf(1.0 / alpha);
        return scale * gamma(alpha + 1.0, stream);
    }
    let d = alpha - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal();
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        let u = stream.unit();
        let square = x * x;
        if u < 1.0 - 0.0331 * square * square || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{close, kolmogorov, moments};
    use super::*;

    const N: usize = 100_000;

    fn draw(generator: &mut Generator, alpha: f64) -> Vec<f64> {
        generator.gamma(&Strided { data: &[alpha], shape: &[N], strides: &[0], offset: 0 })
    }

    #[test]
    fn numbers_follow_the_known_distribution_functions() {
        let mut generator = Generator::new(31);
        // Shape one half is half the square of a normal number.
        kolmogorov(&draw(&mut generator, 0.5), |x| libm::erf(x.sqrt()));
        kolmogorov(&draw(&mut generator, 1.0), |x| -(-x).exp_m1());
        // Shape three is three waiting times.
        kolmogorov(&draw(&mut generator, 3.0), |x| 1.0 - (-x).exp() * (1.0 + x + x * x / 2.0));
        for alpha in [0.05, 1.5, 700.0] {
            let (mean, variance) = moments(&draw(&mut generator, alpha));
            close(mean, alpha, 4.0 * (alpha / N as f64).sqrt());
            close(variance / alpha, 1.0, 4.0 * ((2.0 + 6.0 / alpha) / N as f64).sqrt());
        }
    }

    #[test]
    fn edges_stay_edges() {
        let alpha = [0.0f32, 1e-30, -1.0, f32::NAN, f32::INFINITY];
        let view = Strided { data: &alpha[..], shape: &[5], strides: &[1], offset: 0 };
        let got = Generator::new(32).gamma(&view);
        assert_eq!(got[..2], [f32::MIN_POSITIVE; 2]);
        assert!(got[2].is_nan() && got[3].is_nan() && got[4] == f32::INFINITY);
    }
}
