//! Conversion between element types, as PyTorch converts.
//!
//! Between integers the low bits are kept. From floats to integers the fraction is dropped; what
//! lies outside the target gives what the conversion instructions of x86 give: the smallest value
//! of the 32- or 64-bit integer they produce, cut to the target's width. To half precision values
//! go by way of `f32` and round to nearest even. Complex numbers drop their imaginary part.

use half::{bf16, f16};
use num_complex::Complex;

use crate::kernel::{simd1, wide1};
use crate::map::map1;
use crate::par::GRAIN;
use crate::strided::{Element, Strided};

/// What converts to and from every other element type.
pub trait CastElement: Element {
    /// Converts any element into this type.
    fn from_element<S: CastElement>(x: S) -> Self;
    /// To `u8`.
    fn to_u8(self) -> u8;
    /// To `i8`.
    fn to_i8(self) -> i8;
    /// To `i16`.
    fn to_i16(self) -> i16;
    /// To `i32`.
    fn to_i32(self) -> i32;
    /// To `i64`.
    fn to_i64(self) -> i64;
    /// To `f32`.
    fn to_f32(self) -> f32;
    /// To `f64`.
    fn to_f64(self) -> f64;
    /// To two `f32`.
    fn to_c64(self) -> Complex<f32>;
    /// To two `f64`.
    fn to_c128(self) -> Complex<f64>;
    /// Whether the element is not zero; NaN is not.
    fn to_bool(self) -> bool;
}

/// Converts every element.
pub fn cast<S: CastElement, D: CastElement>(x: Strided<S>) -> Vec<D> {
    map1(x, GRAIN, &wide1(D::from_element::<S>))
}

/// One where an element is not zero, else zero; NaN gives one.
pub fn to_bool<S: CastElement>(x: Strided<S>) -> Vec<u8> {
    map1(x, GRAIN, &simd1(|x: S| x.to_bool() as u8))
}

macro_rules! integer {
    ($($type:ty => $to:ident),*) => {$(
        impl CastElement for $type {
            #[inline(always)]
            fn from_element<S: CastElement>(x: S) -> Self {
                x.$to()
            }
            #[inline(always)]
            fn to_u8(self) -> u8 {
                self as u8
            }
            #[inline(always)]
            fn to_i8(self) -> i8 {
                self as i8
            }
            #[inline(always)]
            fn to_i16(self) -> i16 {
                self as i16
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self as i64
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_c64(self) -> Complex<f32> {
                Complex::new(self as f32, 0.0)
            }
            #[inline(always)]
            fn to_c128(self) -> Complex<f64> {
                Complex::new(self as f64, 0.0)
            }
            #[inline(always)]
            fn to_bool(self) -> bool {
                self != 0
            }
        }
    )*};
}

integer!(u8 => to_u8, i8 => to_i8, i16 => to_i16, i32 => to_i32, i64 => to_i64);

/// Bounds within which a float truncates to an `i32`, for `f64` and, rounded, for `f32`.
const I32_RANGE: std::ops::Range<f64> = -2147483648.0..2147483648.0;
/// Bounds within which a float truncates to an `i64`.
const I64_RANGE: std::ops::Range<f64> = -9223372036854775808.0..9223372036854775808.0;

macro_rules! float {
    ($type:ty, $to:ident) => {
        impl CastElement for $type {
            #[inline(always)]
            fn from_element<S: CastElement>(x: S) -> Self {
                x.$to()
            }
            #[inline(always)]
            fn to_u8(self) -> u8 {
                // Beyond `i32` an `f32` is a multiple of 256.
                if size_of::<$type>() == 4 { self.to_i32() as u8 } else { self.to_i64() as u8 }
            }
            #[inline(always)]
            fn to_i8(self) -> i8 {
                self.to_i32() as i8
            }
            #[inline(always)]
            fn to_i16(self) -> i16 {
                self.to_i32() as i16
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                let low = self >= I32_RANGE.start as $type;
                let high = self < I32_RANGE.end as $type;
                let inside = if low & high { self } else { I32_RANGE.start as $type };
                // SAFETY: the value is within the range of `i32`.
                unsafe { inside.to_int_unchecked() }
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                let low = self >= I64_RANGE.start as $type;
                let high = self < I64_RANGE.end as $type;
                let inside = if low & high { self } else { I64_RANGE.start as $type };
                // SAFETY: the value is within the range of `i64`.
                unsafe { inside.to_int_unchecked() }
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn to_c64(self) -> Complex<f32> {
                Complex::new(self as f32, 0.0)
            }
            #[inline(always)]
            fn to_c128(self) -> Complex<f64> {
                Complex::new(self as f64, 0.0)
            }
            #[inline(always)]
            fn to_bool(self) -> bool {
                self != 0.0
            }
        }
    };
}

float!(f32, to_f32);
float!(f64, to_f64);

/// Types that convert by way of another: from it by `$narrow`, to it by `$widen`.
macro_rules! by_way_of {
    ($type:ty, $from:ident, $narrow:expr, $widen:expr) => {
        impl CastElement for $type {
            #[inline(always)]
            fn from_element<S: CastElement>(x: S) -> Self {
                $narrow(x.$from())
            }
            #[inline(always)]
            fn to_u8(self) -> u8 {
                $widen(self).to_u8()
            }
            #[inline(always)]
            fn to_i8(self) -> i8 {
                $widen(self).to_i8()
            }
            #[inline(always)]
            fn to_i16(self) -> i16 {
                $widen(self).to_i16()
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                $widen(self).to_i32()
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                $widen(self).to_i64()
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                $widen(self).to_f32()
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                $widen(self).to_f64()
            }
            #[inline(always)]
            fn to_c64(self) -> Complex<f32> {
                $widen(self).to_c64()
            }
            #[inline(always)]
            fn to_c128(self) -> Complex<f64> {
                $widen(self).to_c128()
            }
            #[inline(always)]
            fn to_bool(self) -> bool {
                $widen(self).to_bool()
            }
        }
    };
}

by_way_of!(f16, to_f32, f32_to_f16, f16_to_f32);
by_way_of!(bf16, to_f32, f32_to_bf16, bf16_to_f32);

macro_rules! complex {
    ($type:ty, $from:ident) => {
        impl CastElement for Complex<$type> {
            #[inline(always)]
            fn from_element<S: CastElement>(x: S) -> Self {
                x.$from()
            }
            #[inline(always)]
            fn to_u8(self) -> u8 {
                self.re.to_u8()
            }
            #[inline(always)]
            fn to_i8(self) -> i8 {
                self.re.to_i8()
            }
            #[inline(always)]
            fn to_i16(self) -> i16 {
                self.re.to_i16()
            }
            #[inline(always)]
            fn to_i32(self) -> i32 {
                self.re.to_i32()
            }
            #[inline(always)]
            fn to_i64(self) -> i64 {
                self.re.to_i64()
            }
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self.re as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.re as f64
            }
            #[inline(always)]
            fn to_c64(self) -> Complex<f32> {
                Complex::new(self.re as f32, self.im as f32)
            }
            #[inline(always)]
            fn to_c128(self) -> Complex<f64> {
                Complex::new(self.re as f64, self.im as f64)
            }
            #[inline(always)]
            fn to_bool(self) -> bool {
                (self.re != 0.0) | (self.im != 0.0)
            }
        }
    };
}

complex!(f32, to_c64);
complex!(f64, to_c128);

/// Rounds to nearest even, by integer arithmetic the compiler vectorises.
#[inline(always)]
fn f32_to_bf16(x: f32) -> bf16 {
    let bits = x.to_bits();
    let odd = (bits >> 16) & 1;
    let rounded = (bits.wrapping_add(0x7fff + odd) >> 16) as u16;
    bf16::from_bits(if x.is_nan() { 0x7fc0 } else { rounded })
}

#[inline(always)]
fn bf16_to_f32(x: bf16) -> f32 {
    f32::from_bits((x.to_bits() as u32) << 16)
}

/// Rounds to nearest even. Normal results round in integers; for subnormal ones the addition of a
/// float whose last bit is worth the smallest `f16` makes the hardware round.
#[inline(always)]
fn f32_to_f16(x: f32) -> f16 {
    const INFINITY: u32 = 0x7f80_0000;
    /// The smallest `f32` that rounds to infinity or beyond: 65536.
    const OVERFLOW: u32 = 0x4780_0000;
    /// The smallest normal `f16`, as an `f32`: 2^-14.
    const NORMAL: u32 = 0x3880_0000;
    /// One half: its last bit is worth 2^-24.
    const HALF: u32 = 0x3f00_0000;
    let bits = x.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let size = bits & 0x7fff_ffff;
    let odd = (size >> 13) & 1;
    let normal = size.wrapping_sub(112 << 23).wrapping_add(0xfff + odd) >> 13;
    let subnormal = (f32::from_bits(size) + f32::from_bits(HALF)).to_bits().wrapping_sub(HALF);
    let finite = if size < NORMAL { subnormal } else { normal };
    let special = if size > INFINITY { 0x7e00 } else { 0x7c00 };
    let magnitude = if size >= OVERFLOW { special } else { finite };
    f16::from_bits((magnitude | sign) as u16)
}

/// Exact: the exponent is moved by a multiplication, which also normalises subnormal numbers.
#[inline(always)]
fn f16_to_f32(x: f16) -> f32 {
    /// 2^112, the difference between the two exponents' biases.
    const REBIAS: f32 = f32::from_bits(0x7780_0000);
    let bits = x.to_bits() as u32;
    let sign = (bits & 0x8000) << 16;
    let size = (bits & 0x7fff) << 13;
    let finite = (f32::from_bits(size) * REBIAS).to_bits();
    let special = size | 0x7f80_0000;
    f32::from_bits(sign | if bits & 0x7c00 == 0x7c00 { special } else { finite })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted<S: CastElement, D: CastElement>(x: &[S]) -> Vec<D> {
        cast(Strided { data: x, shape: &[x.len()], strides: &[1], offset: 0 })
    }

    #[test]
    fn floats_truncate_and_wrap() {
        let x = [1.9f32, -1.9, 300.0, -1.0, 3e9, f32::NAN, f32::INFINITY];
        assert_eq!(converted::<_, u8>(&x), [1, 255, 44, 255, 0, 0, 0]);
        assert_eq!(converted::<_, i8>(&x), [1, -1, 44, -1, 0, 0, 0]);
        let min = i32::MIN;
        assert_eq!(converted::<_, i32>(&x), [1, -1, 300, -1, min, min, min]);
        let min = i64::MIN;
        assert_eq!(converted::<_, i64>(&x), [1, -1, 300, -1, 3_000_000_000, min, min]);
        assert_eq!(converted::<_, u8>(&[4294967297.0f64]), [1]);
        assert_eq!(converted::<_, i64>(&[-9223372036854775808.0f64, 9.3e18]), [min, min]);
    }

    #[test]
    fn integers_keep_their_low_bits() {
        assert_eq!(converted::<i64, u8>(&[256, -1, 513]), [0, 255, 1]);
        assert_eq!(converted::<i32, i16>(&[32768, -32769]), [-32768, 32767]);
        assert_eq!(converted::<i64, f32>(&[16_777_217, -3]), [16_777_216.0, -3.0]);
        assert_eq!(converted::<i8, Complex<f32>>(&[-3]), [Complex::new(-3.0, 0.0)]);
    }

    #[test]
    fn complex_numbers_drop_their_imaginary_part() {
        let z = [Complex::new(2.5f64, 7.0)];
        assert_eq!(converted::<_, i32>(&z), [2]);
        assert_eq!(converted::<_, f32>(&z), [2.5]);
        assert_eq!(converted::<_, Complex<f32>>(&z), [Complex::new(2.5f32, 7.0)]);
    }

    #[test]
    fn every_half_widens_exactly() {
        for bits in 0..=u16::MAX {
            let (x, y) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(x.to_f32().to_bits() == f16_to_f32(x).to_bits() || x.is_nan());
            assert!(y.to_f32().to_bits() == bf16_to_f32(y).to_bits() || y.is_nan());
            assert_eq!(x.is_nan(), f16_to_f32(x).is_nan());
            assert!(f32_to_f16(f16_to_f32(x)) == x || x.is_nan());
            assert!(f32_to_bf16(bf16_to_f32(y)) == y || y.is_nan());
        }
    }

    #[test]
    fn halves_round_to_nearest_even() {
        for bits in (0..=u32::MAX).step_by(977) {
            let x = f32::from_bits(bits);
            if x.is_nan() {
                assert!(f32_to_f16(x).is_nan() && f32_to_bf16(x).is_nan());
            } else {
                assert_eq!(f32_to_f16(x).to_bits(), f16::from_f32(x).to_bits(), "{x:e}");
                assert_eq!(f32_to_bf16(x).to_bits(), bf16::from_f32(x).to_bits(), "{x:e}");
            }
        }
        assert_eq!(converted::<f32, f16>(&[65519.0, 65520.0]), [f16::MAX, f16::INFINITY]);
        assert_eq!(converted::<f32, f16>(&[2049.0, 2051.0]).map_to_f32(), [2048.0, 2052.0]);
    }

    trait MapToF32 {
        fn map_to_f32(&self) -> Vec<f32>;
    }
    impl MapToF32 for Vec<f16> {
        fn map_to_f32(&self) -> Vec<f32> {
            self.iter().map(|x| x.to_f32()).collect()
        }
    }

    #[test]
    fn truth_is_not_zero() {
        let x = [0.0f32, -0.0, f32::NAN, 1e-45, -2.0];
        let view = Strided { data: &x, shape: &[5], strides: &[1], offset: 0 };
        assert_eq!(to_bool(view), [0, 0, 1, 1, 1]);
    }
}
