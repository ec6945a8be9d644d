//! Uniform and normal numbers in single and double precision.

use std::fmt::Display;

use num_traits::Float;

use super::{Generator, open_unit, word};
use crate::Element;

/// A floating type random numbers come in.
pub trait Real: Element + Float + Display {
    /// What messages call the type.
    const NAME: &'static str;

    /// `n` numbers in `[0, 1)` with as many random bits as the significand holds, each through `f`.
    fn units(generator: &mut Generator, n: usize, f: impl Fn(Self) -> Self + Sync) -> Vec<Self>;

    /// `n` standard normal numbers, each through `f`.
    fn normals(generator: &mut Generator, n: usize, f: impl Fn(Self) -> Self + Sync) -> Vec<Self>;

    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;

    /// The same number in double precision.
    fn to_f64_exact(self) -> f64;
}

impl Real for f32 {
    const NAME: &'static str = "float";

    fn units(generator: &mut Generator, n: usize, f: impl Fn(f32) -> f32 + Sync) -> Vec<f32> {
        generator.fill_blocks(n, |_, _, block| {
            block.map(|word| f((word >> 8) as f32 * (1.0 / (1u32 << 24) as f32)))
        })
    }

    fn normals(generator: &mut Generator, n: usize, f: impl Fn(f32) -> f32 + Sync) -> Vec<f32> {
        generator.fill_blocks(n, |_, _, [a, b, c, d]| {
            let [first, second] = box_muller_f32(a, b);
            let [third, fourth] = box_muller_f32(c, d);
            [f(first), f(second), f(third), f(fourth)]
        })
    }

    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    fn to_f64_exact(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    const NAME: &'static str = "double";

    fn units(generator: &mut Generator, n: usize, f: impl Fn(f64) -> f64 + Sync) -> Vec<f64> {
        // In two parts of 27 and 26 bits, each of which converts as a 32-bit integer.
        let unit = |high: u32, low: u32| {
            let high = f64::from((high >> 5) as i32) * (1.0 / f64::from(1 << 27));
            high + f64::from((low >> 6) as i32) * (1.0 / (1u64 << 53) as f64)
        };
        generator.fill_blocks(n, |_, _, [a, b, c, d]| [f(unit(a, b)), f(unit(c, d))])
    }

    fn normals(generator: &mut Generator, n: usize, f: impl Fn(f64) -> f64 + Sync) -> Vec<f64> {
        generator.fill_blocks(n, |_, _, block| box_muller(word(block, 0), word(block, 1)).map(&f))
    }

    fn from_f64(value: f64) -> f64 {
        value
    }

    fn to_f64_exact(self) -> f64 {
        self
    }
}

/// Two independent standard normal numbers from two words (Box and Muller, 1958).
pub(super) fn box_muller(radius: u64, angle: u64) -> [f64; 2] {
    let radius = (-2.0 * open_unit(radius).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * open_unit(angle)).sin_cos();
    [radius * cos, radius * sin]
}

/// As [`box_muller`] in single precision, free of branches and calls so that it runs in lanes. The
/// radius reaches 6.7, where a normal number lies once in 10^10 times.
#[inline(always)]
fn box_muller_f32(radius: u32, angle: u32) -> [f32; 2] {
    let radius = (-2.0 * ln((radius as f32 + 0.5) * (1.0 / 4_294_967_296.0))).max(0.0).sqrt();
    let [cos, sin] = point_on_circle(angle);
    [radius * cos, radius * sin]
}

/// Cosine and sine of an angle uniform on the circle: the top two bits are the quadrant, the others
/// the angle within it, in [-π/4, π/4] where short polynomials (Moshier, Cephes) are exact to
/// rounding.
#[inline(always)]
fn point_on_circle(word: u32) -> [f32; 2] {
    let x = (word << 2) as i32 as f32 * (std::f32::consts::FRAC_PI_4 / 2_147_483_648.0);
    let z = x * x;
    let sin = ((-1.951_529_6e-4 * z + 8.332_161e-3) * z - 0.166_666_55) * z * x + x;
    let cos = ((2.443_315_7e-5 * z - 1.388_731_6e-3) * z + 4.166_664_6e-2) * z * z - 0.5 * z + 1.0;
    let quadrant = word >> 30;
    let (x, y) = if quadrant & 1 == 0 { (cos, sin) } else { (-sin, cos) };
    // The upper half of the quadrants is the lower half turned by π: flip both signs.
    let sign = (quadrant & 2) << 30;
    [f32::from_bits(x.to_bits() ^ sign), f32::from_bits(y.to_bits() ^ sign)]
}

/// The natural logarithm of a positive normal number, to rounding (Moshier, Cephes).
#[inline(always)]
fn ln(x: f32) -> f32 {
    // Split so that the significand lies in [sqrt(1/2), sqrt(2)): subtracting the bits of sqrt(1/2)
    // carries into the exponent exactly when the significand reaches it.
    const SQRT_HALF: u32 = std::f32::consts::FRAC_1_SQRT_2.to_bits();
    let shifted = x.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = (shifted as i32 >> 23) as f32;
    let m = f32::from_bits((shifted & 0x007f_ffff).wrapping_add(SQRT_HALF)) - 1.0;
    let z = m * m;
    let mut y = 7.037_683_6e-2;
    for coefficient in [
        -0.115_146_1,
        0.116_769_99,
        -0.124_201_41,
        0.142_493_23,
        -0.166_680_58,
        0.200_007_15,
        -0.249_999_94,
        0.333_333_3,
    ] {
        y = y * m + coefficient;
    }
    let y = y * m * z - 2.121_944_4e-4 * exponent - 0.5 * z;
    m + y + 0.693_359_4 * exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_logarithm_is_the_logarithm() {
        for i in 1..=100_000u32 {
            let x = i as f32 / 100_000.0;
            let exact = f64::from(x).ln();
            let error = (f64::from(ln(x)) - exact).abs();
            assert!(error <= 2e-7 * exact.abs().max(1e-2), "ln({x}): off by {error}");
        }
        assert!((ln(1.0 / 8_589_934_592.0) + 33.0 * std::f32::consts::LN_2).abs() < 4e-6);
    }

    #[test]
    fn points_lie_where_their_angle_says() {
        for i in 0..10_000u32 {
            let word = i.wrapping_mul(429_497);
            let turn = f64::from((word << 2) as i32) / 2f64.powi(31) / 8.0;
            let angle = std::f64::consts::TAU * (turn + f64::from(word >> 30) / 4.0);
            let [cos, sin] = point_on_circle(word);
            assert!((f64::from(cos) - angle.cos()).abs() < 2e-7);
            assert!((f64::from(sin) - angle.sin()).abs() < 2e-7);
        }
    }
}
