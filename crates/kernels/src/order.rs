//! The total order behind sorting and searching: numbers ascend, NaN is the greatest.

use std::fmt::Debug;
use std::ops::Not;

use crate::Element;

/// Elements with a total order up to equality: both zeros are one, and so are all NaN.
pub trait Ordered: Element + PartialOrd + Debug {
    /// An unsigned integer that sorts as the element does.
    type Key: Key;
    /// The element's place in the order.
    fn key(self) -> Self::Key;
    /// Whether the element is not a number.
    fn is_nan(self) -> bool;
}

/// Elements that are real numbers.
pub trait Real: Ordered + num_traits::Float {}
impl Real for f32 {}
impl Real for f64 {}

/// Unsigned integers as strings of bytes, the least significant first.
pub trait Key: Element + Ord + Not<Output = Self> {
    /// How many bytes there are.
    const BYTES: usize;
    /// One of the bytes.
    fn byte(self, index: usize) -> usize;
}

macro_rules! keys {
    ($($t:ident)*) => {$(
        impl Key for $t {
            const BYTES: usize = size_of::<$t>();

            #[inline(always)]
            fn byte(self, index: usize) -> usize {
                (self >> (8 * index)) as usize & 0xff
            }
        }
    )*};
}
keys!(u8 u32 u64);

macro_rules! floats {
    ($($t:ident: $key:ident),*) => {$(
        impl Ordered for $t {
            type Key = $key;

            #[inline(always)]
            fn key(self) -> $key {
                const SIGN: $key = 1 << ($key::BITS - 1);
                // Adding zero turns minus zero into zero.
                let bits = (self + 0.0).to_bits();
                if self.is_nan() {
                    $key::MAX
                } else if bits & SIGN == 0 {
                    bits | SIGN
                } else {
                    !bits
                }
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
    )*};
}
floats!(f32: u32, f64: u64);

macro_rules! integers {
    ($($t:ident: $key:ident),*) => {$(
        impl Ordered for $t {
            type Key = $key;

            #[inline(always)]
            fn key(self) -> $key {
                (self as $key).wrapping_sub($t::MIN as $key)
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                false
            }
        }
    )*};
}
integers!(i32: u32, i64: u64, u8: u8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_ascend_with_the_elements() {
        let inf = f32::INFINITY;
        let floats = [-inf, f32::MIN, -1.0, -1e-45, 0.0, 1e-45, 1.0, f32::MAX, inf, f32::NAN];
        assert!(floats.windows(2).all(|w| w[0].key() < w[1].key()));
        assert!([i64::MIN, -1, 0, 1, i64::MAX].windows(2).all(|w| w[0].key() < w[1].key()));
        assert!([0u8, 1, 255].windows(2).all(|w| w[0].key() < w[1].key()));
        assert_eq!((-0.0f64).key(), 0.0f64.key());
        assert_eq!((-f64::NAN).key(), f64::NAN.key());
    }
}
