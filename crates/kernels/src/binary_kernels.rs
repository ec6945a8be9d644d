//! What the operations with two operands are for each type.

use num_complex::Complex;

use crate::arithmetic::{Field, Ring};
use crate::binary::{Binary, BinaryElement};
use crate::kernel::{Kernel1, Kernel2, scalar2, simd1, simd2};
use crate::map::map1;
use crate::par::GRAIN;
use crate::strided::{Dims, Element, Strided, Strides};
use crate::{Error, Result, complex_math, incomplete_gamma, special};

/// Whether any element is zero.
fn has_zero<T: Element + num_traits::Zero>(x: Strided<T>) -> bool {
    // One look at each element is enough: repeated ones do not matter.
    let (shape, strides): (Dims, Strides) = x
        .shape
        .iter()
        .zip(x.strides)
        .filter(|(_, stride)| **stride != 0)
        .map(|(&n, &s)| (n, s))
        .unzip();
    if x.is_empty() {
        return false;
    }
    let x = Strided { shape: &shape, strides: &strides, ..x };
    map1(x, GRAIN, &simd1(|x: T| x.is_zero() as u8)).contains(&1)
}

macro_rules! integer {
    ($($type:ident in $module:ident),*) => {$(
        impl BinaryElement for $type {
            fn kernel(kind: Binary) -> Option<Kernel2<Self, Self, Self>> {
                Some(match kind {
                    Binary::Add => simd2(Self::wrapping_add),
                    Binary::Sub => simd2(Self::wrapping_sub),
                    Binary::Mul => simd2(Self::wrapping_mul),
                    Binary::FloorDiv => scalar2($module::floor_divide),
                    Binary::TruncDiv => scalar2(|a: Self, b: Self| if b == 0 { 0 } else { a.wrapping_div(b) }),
                    Binary::Remainder => scalar2($module::modulo),
                    Binary::Fmod => scalar2(|a: Self, b: Self| if b == 0 { 0 } else { a.wrapping_rem(b) }),
                    Binary::Pow => scalar2($module::power),
                    Binary::Maximum | Binary::Fmax => simd2(Ord::max),
                    Binary::Minimum | Binary::Fmin => simd2(Ord::min),
                    Binary::Heaviside => simd2(|a, b| if a == 0 { b } else { (a > 0) as Self }),
                    Binary::BitAnd => simd2(|a, b| a & b),
                    Binary::BitOr => simd2(|a, b| a | b),
                    Binary::BitXor => simd2(|a, b| a ^ b),
                    Binary::ShiftLeft => simd2($module::shift_left),
                    Binary::ShiftRight => simd2($module::shift_right),
                    Binary::Gcd => scalar2($module::gcd),
                    Binary::Lcm => scalar2($module::lcm),
                    _ => return None,
                })
            }

            fn power(exponent: Self) -> Option<Kernel1<Self, Self>> {
                match exponent {
                    2 => Some(simd1(|x: Self| x.wrapping_mul(x))),
                    3 => Some(simd1(|x: Self| x.wrapping_mul(x).wrapping_mul(x))),
                    _ => None,
                }
            }

            fn check(kind: Binary, b: Strided<Self>) -> Result<()> {
                if kind.divides() && has_zero(b) {
                    return Err(Error::Value(
                        "ZeroDivisionError: integer division by zero or modulo by zero".into(),
                    ));
                }
                Ok(())
            }

            #[allow(unused_comparisons)]
            fn check_scalar(kind: Binary, b: Self) -> Result<()> {
                if kind == Binary::Pow && b < 0 {
                    return Err(Error::Value(
                        "Integers to negative integer powers are not allowed.".into(),
                    ));
                }
                Ok(())
            }
        }

        /// What the tables above need of an integer. Division by zero has been refused before.
        #[allow(unused_comparisons)]
        mod $module {
            type T = $type;

            #[inline(always)]
            pub(super) fn floor_divide(a: T, b: T) -> T {
                if b == 0 {
                    return 0;
                }
                let down = a.wrapping_rem(b) != 0 && ((a < 0) != (b < 0));
                a.wrapping_div(b).wrapping_sub(down as T)
            }

            #[inline(always)]
            pub(super) fn modulo(a: T, b: T) -> T {
                if b == 0 {
                    return 0;
                }
                let rest = a.wrapping_rem(b);
                if rest != 0 && ((rest < 0) != (b < 0)) { rest.wrapping_add(b) } else { rest }
            }

            /// A negative power is the integer part of the fraction it stands for.
            pub(super) fn power(base: T, exponent: T) -> T {
                if exponent < 0 {
                    let odd = exponent & 1 == 1;
                    return match base {
                        1 => 1,
                        _ if base == (0 as T).wrapping_sub(1) && odd => base,
                        _ if base == (0 as T).wrapping_sub(1) => 1,
                        _ => 0,
                    };
                }
                let (mut result, mut square, mut left) = (1 as T, base, exponent);
                while left != 0 {
                    if left & 1 == 1 {
                        result = result.wrapping_mul(square);
                    }
                    square = square.wrapping_mul(square);
                    left >>= 1;
                }
                result
            }

            #[inline(always)]
            pub(super) fn shift_left(a: T, b: T) -> T {
                if (b < 0) | (b as i64 >= T::BITS as i64) { 0 } else { a.wrapping_shl(b as u32) }
            }

            #[inline(always)]
            pub(super) fn shift_right(a: T, b: T) -> T {
                let all = if a < 0 { (0 as T).wrapping_sub(1) } else { 0 };
                if (b < 0) | (b as i64 >= T::BITS as i64) { all } else { a.wrapping_shr(b as u32) }
            }

            fn size(x: T) -> T {
                if x < 0 { (0 as T).wrapping_sub(x) } else { x }
            }

            pub(super) fn gcd(a: T, b: T) -> T {
                let (mut a, mut b) = (size(a), size(b));
                while a != 0 {
                    (a, b) = (b.wrapping_rem(a), a);
                }
                b
            }

            pub(super) fn lcm(a: T, b: T) -> T {
                match gcd(a, b) {
                    0 => 0,
                    divisor => size(a.wrapping_div(divisor).wrapping_mul(b)),
                }
            }
        }
    )*};
}

integer!(u8 in on_u8, i8 in on_i8, i16 in on_i16, i32 in on_i32, i64 in on_i64);

macro_rules! float {
    ($type:ident in $module:ident, $nextafter:path) => {
        impl BinaryElement for $type {
            fn kernel(kind: Binary) -> Option<Kernel2<Self, Self, Self>> {
                Some(match kind {
                    Binary::Add => simd2(Ring::plus),
                    Binary::Sub => simd2(Ring::minus),
                    Binary::Mul => simd2(Ring::times),
                    Binary::Div => simd2(Field::over),
                    Binary::FloorDiv => scalar2($module::floor_divide),
                    Binary::TruncDiv => simd2(|a: Self, b: Self| (a / b).trunc()),
                    Binary::Remainder => scalar2($module::modulo),
                    Binary::Fmod => scalar2(|a, b| a % b),
                    Binary::Pow => scalar2(Self::powf),
                    Binary::Maximum => simd2($module::maximum),
                    Binary::Minimum => simd2($module::minimum),
                    Binary::Fmax => simd2(Self::max),
                    Binary::Fmin => simd2(Self::min),
                    Binary::Atan2 => scalar2(Self::atan2),
                    Binary::Hypot => scalar2(Self::hypot),
                    Binary::Copysign => simd2(Self::copysign),
                    Binary::Nextafter => scalar2($nextafter),
                    Binary::Logaddexp => scalar2($module::logaddexp),
                    Binary::Logaddexp2 => scalar2($module::logaddexp2),
                    Binary::Xlogy => scalar2(|a, b| $module::product(a, b, Self::ln)),
                    Binary::Xlog1py => scalar2(|a, b| $module::product(a, b, Self::ln_1p)),
                    Binary::Heaviside => {
                        simd2(|a, b| if a == 0.0 { b } else { (a > 0.0) as u8 as Self })
                    }
                    Binary::Zeta => scalar2(|a, b| special::zeta(a as f64, b as f64) as Self),
                    Binary::Igamma => {
                        scalar2(|a, b| incomplete_gamma::igamma(a as f64, b as f64) as Self)
                    }
                    Binary::Igammac => {
                        scalar2(|a, b| incomplete_gamma::igammac(a as f64, b as f64) as Self)
                    }
                    _ => return None,
                })
            }

            fn power(exponent: Self) -> Option<Kernel1<Self, Self>> {
                Some(match exponent {
                    0.5 => simd1(|x: Self| x.sqrt()),
                    2.0 => simd1(|x: Self| x * x),
                    3.0 => simd1(|x: Self| x * x * x),
                    -0.5 => simd1(|x: Self| 1.0 / x.sqrt()),
                    -1.0 => simd1(|x: Self| 1.0 / x),
                    -2.0 => simd1(|x: Self| 1.0 / (x * x)),
                    _ => return None,
                })
            }
        }

        /// What the table above needs of a float.
        mod $module {
            type T = $type;

            /// Python's floor division: consistent with [`modulo`], which rounding the quotient
            /// down would not be.
            #[inline(always)]
            pub(super) fn floor_divide(a: T, b: T) -> T {
                if b == 0.0 {
                    return a / b;
                }
                let rest = a % b;
                let mut quotient = (a - rest) / b;
                if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
                    quotient -= 1.0;
                }
                if quotient == 0.0 {
                    return T::copysign(0.0, a / b);
                }
                let floor = quotient.floor();
                if quotient - floor > 0.5 { floor + 1.0 } else { floor }
            }

            #[inline(always)]
            pub(super) fn modulo(a: T, b: T) -> T {
                let rest = a % b;
                if rest != 0.0 && (b < 0.0) != (rest < 0.0) { rest + b } else { rest }
            }

            #[inline(always)]
            pub(super) fn maximum(a: T, b: T) -> T {
                if (a >= b) | a.is_nan() { a } else { b }
            }

            #[inline(always)]
            pub(super) fn minimum(a: T, b: T) -> T {
                if (a <= b) | a.is_nan() { a } else { b }
            }

            pub(super) fn logaddexp(a: T, b: T) -> T {
                if a.is_infinite() && a == b {
                    return a;
                }
                maximum(a, b) + (-(a - b).abs()).exp().ln_1p()
            }

            pub(super) fn logaddexp2(a: T, b: T) -> T {
                if a.is_infinite() && a == b {
                    return a;
                }
                let ln_2 = std::f64::consts::LN_2 as T;
                maximum(a, b) + (-(a - b).abs()).exp2().ln_1p() / ln_2
            }

            #[inline(always)]
            pub(super) fn product(a: T, b: T, log: fn(T) -> T) -> T {
                if b.is_nan() {
                    T::NAN
                } else if a == 0.0 {
                    0.0
                } else {
                    a * log(b)
                }
            }
        }
    };
}

float!(f32 in on_f32, libm::nextafterf);
float!(f64 in on_f64, libm::nextafter);

macro_rules! complex {
    ($($type:ident),*) => {$(
        impl BinaryElement for Complex<$type> {
            fn kernel(kind: Binary) -> Option<Kernel2<Self, Self, Self>> {
                Some(match kind {
                    Binary::Add => simd2(Ring::plus),
                    Binary::Sub => simd2(Ring::minus),
                    Binary::Mul => simd2(Ring::times),
                    Binary::Div => simd2(Field::over),
                    Binary::Pow => scalar2(complex_math::pow),
                    _ => return None,
                })
            }

            fn power(exponent: Self) -> Option<Kernel1<Self, Self>> {
                if exponent.im != 0.0 {
                    return None;
                }
                Some(match exponent.re {
                    2.0 => simd1(|x: Self| x.times(x)),
                    3.0 => simd1(|x: Self| x.times(x).times(x)),
                    -1.0 => simd1(|x: Self| Complex::new(1.0, 0.0).over(x)),
                    _ => return None,
                })
            }
        }
    )*};
}

complex!(f32, f64);
