//! Between complex numbers and their real parts, sizes and angles.

use num_complex::Complex;

use crate::kernel::{scalar1, simd1, simd2};
use crate::map::{map1, map2};
use crate::par::GRAIN;
use crate::strided::{Element, Strided};

/// The real floats complex numbers are made of.
pub trait ComplexPart: Element + num_traits::Float + num_traits::FloatConst {
    /// The length of the vector `(re, im)`; infinite if either part is.
    fn length(re: Self, im: Self) -> Self;
}

impl ComplexPart for f32 {
    /// In double precision, where squares neither overflow nor vanish.
    #[inline(always)]
    fn length(re: f32, im: f32) -> f32 {
        let length = (re as f64 * re as f64 + im as f64 * im as f64).sqrt() as f32;
        if re.is_infinite() | im.is_infinite() { f32::INFINITY } else { length }
    }
}

impl ComplexPart for f64 {
    #[inline(always)]
    fn length(re: f64, im: f64) -> f64 {
        re.hypot(im)
    }
}

/// The distance from zero.
pub fn complex_abs<T: ComplexPart>(z: Strided<Complex<T>>) -> Vec<T>
where
    Complex<T>: Element,
{
    map1(z, GRAIN / 4, &simd1(|z: Complex<T>| T::length(z.re, z.im)))
}

/// The angle with the positive real axis, from `-pi` to `pi`.
pub fn complex_angle<T: ComplexPart>(z: Strided<Complex<T>>) -> Vec<T>
where
    Complex<T>: Element,
{
    map1(z, GRAIN / 8, &scalar1(|z: Complex<T>| z.im.atan2(z.re)))
}

/// The angle of a real number: zero, or `pi` for negative ones.
pub fn angle<T: ComplexPart>(x: Strided<T>) -> Vec<T> {
    let kernel = simd1(|x: T| {
        let angle = if x < T::zero() { T::PI() } else { T::zero() };
        if x.is_nan() { x } else { angle }
    });
    map1(x, GRAIN, &kernel)
}

/// The real parts.
pub fn real<T: ComplexPart>(z: Strided<Complex<T>>) -> Vec<T>
where
    Complex<T>: Element,
{
    map1(z, GRAIN, &simd1(|z: Complex<T>| z.re))
}

/// Complex numbers of their parts.
pub fn complex<T: ComplexPart>(re: Strided<T>, im: Strided<T>) -> Vec<Complex<T>>
where
    Complex<T>: Element,
{
    map2(re, im, GRAIN, &simd2(|re: T, im: T| Complex::new(re, im)))
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn row<T>(data: &[T; 3]) -> Strided<'_, T> {
        Strided { data, shape: &[3], strides: &[1], offset: 0 }
    }

    #[test]
    fn parts_and_back() {
        let z = [Complex::new(3.0f32, 4.0), Complex::new(-1.0, 0.0), Complex::new(0.0, -2.0)];
        assert_eq!(real(row(&z)), [3.0, -1.0, 0.0]);
        assert_eq!(complex(row(&[3.0, -1.0, 0.0]), row(&[4.0, 0.0, -2.0])), z);
        assert_eq!(complex_abs(row(&z)), [5.0, 1.0, 2.0]);
        let z = [
            Complex::new(3e38f32, 0.0),
            Complex::new(1e-45, 0.0),
            Complex::new(f32::NAN, -f32::INFINITY),
        ];
        assert_eq!(complex_abs(row(&z)), [3e38, 1e-45, f32::INFINITY]);
    }

    #[test]
    fn angles() {
        let z = [Complex::new(-1.0f64, 0.0), Complex::new(-1.0, -0.0), Complex::new(0.0, 1.0)];
        assert_eq!(complex_angle(row(&z)), [PI, -PI, PI / 2.0]);
        let angles = angle(row(&[-0.0f64, -3.0, f64::NAN]));
        assert!(angles[0] == 0.0 && angles[1] == PI && angles[2].is_nan());
    }
}
