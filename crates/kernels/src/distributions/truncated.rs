//! The normal distribution between bounds.

use super::STREAM_GRAIN;
use crate::Result;
use crate::random::{Generator, Real, Stream, require};

impl Generator {
    /// `n` numbers from the normal distribution, given that they lie in `[low, high]`.
    pub fn truncated_normal<T: Real>(
        &mut self,
        n: usize,
        mean: f64,
        std: f64,
        low: f64,
        high: f64,
    ) -> Result<Vec<T>> {
        require(std > 0.0, || format!("truncated_normal expects std > 0.0, but found std={std}"))?;
        require(low < high, || {
            format!("truncated_normal expects low < high, but found low={low} and high={high}")
        })?;
        let (a, b) = ((low - mean) / std, (high - mean) / std);
        Ok(self.fill_streams(n, STREAM_GRAIN, |_, stream| {
            // Scaling may round past a bound.
            T::from_f64((between(a, b, stream) * std + mean).clamp(low, high))
        }))
    }
}

/// A standard normal number in `[a, b]` (Robert, "Simulation of truncated normal variables", 1995).
fn between(a: f64, b: f64, stream: &mut Stream) -> f64 {
    if b <= 0.0 {
        return -beyond(-b, -a, stream);
    }
    if a >= 0.0 {
        return beyond(a, b, stream);
    }
    // Zero lies between: the density under a box, or under itself where most of it is inside.
    if b - a < std::f64::consts::TAU.sqrt() {
        return under_box(a, b, 0.0, stream);
    }
    loop {
        let x = stream.normal();
        if (a..=b).contains(&x) {
            return x;
        }
    }
}

/// The same for bounds on one side: `0 <= a < b`.
fn beyond(a: f64, b: f64, stream: &mut Stream) -> f64 {
    let root = (a * a + 4.0).sqrt();
    if b - a <= 2.0 / (a + root) * ((a * a - a * root) / 4.0 + 0.5).exp() {
        return under_box(a, b, a, stream);
    }
    // Under the exponential density that touches the tail best.
    let rate = (a + root) / 2.0;
    loop {
        let x = a - stream.unit().ln() / rate;
        if x <= b && stream.unit() <= (-0.5 * (x - rate) * (x - rate)).exp() {
            return x;
        }
    }
}

/// Uniform numbers in `[a, b]`, accepted by the density in units of its peak there.
fn under_box(a: f64, b: f64, peak: f64, stream: &mut Stream) -> f64 {
    loop {
        let x = a + (b - a) * stream.unit();
        if stream.unit() <= (0.5 * (peak - x) * (peak + x)).exp() {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::{kolmogorov, normal_cdf};
    use super::*;

    const N: usize = 100_000;

    #[test]
    fn numbers_follow_the_rescaled_distribution_function() {
        let mut generator = Generator::new(41);
        let infinite = f64::INFINITY;
        for (low, high) in [
            (-2.0, 2.0),
            (-0.5, 0.7),
            (0.2, 0.4),
            (1.0, infinite),
            (-infinite, -1.5),
            (-infinite, infinite),
            (5.0, 5.5),
            (-0.1, 8.0),
        ] {
            let values = generator.truncated_normal::<f64>(N, 0.0, 1.0, low, high).unwrap();
            assert!(values.iter().all(|x| (low..=high).contains(x)));
            // From the nearer tail, where the difference of two probabilities keeps its digits.
            let flip = if low > 0.0 { -1.0 } else { 1.0 };
            let cdf = |x: f64| normal_cdf(flip * x);
            kolmogorov(&values, |x| (cdf(x) - cdf(low)) / (cdf(high) - cdf(low)));
        }
    }

    #[test]
    fn scales_and_refuses() {
        let mut generator = Generator::new(42);
        let values = generator.truncated_normal::<f32>(N, 1.0, 0.02, 0.96, 1.04).unwrap();
        assert!(values.iter().all(|x| (0.96..=1.04).contains(x)));
        assert!(generator.truncated_normal::<f32>(1, 0.0, 1.0, 1.0, 1.0).is_err());
        assert!(generator.truncated_normal::<f32>(1, 0.0, 0.0, 0.0, 1.0).is_err());
    }
}
