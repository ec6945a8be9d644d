//! Element types and how they combine.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, Result, bail};

/// What a tensor's elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// One byte, zero or one.
    Bool,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 8-bit integer.
    I8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// IEEE half precision.
    F16,
    /// Brain float: the upper half of an `f32`.
    BF16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Two `f32`: real and imaginary part. On the CPU only.
    C64,
    /// Two `f64`: real and imaginary part. On the CPU only.
    C128,
}

/// The kinds promotion climbs through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// `Bool`.
    Bool,
    /// Integers.
    Int,
    /// Real floats.
    Float,
    /// Complex numbers.
    Complex,
}

impl DType {
    /// Every dtype, from the narrowest category to the widest.
    pub const ALL: [DType; 12] = [
        DType::Bool,
        DType::U8,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
        DType::C128,
    ];

    /// Bytes per element.
    pub fn size(self) -> usize {
        match self {
            DType::Bool | DType::U8 | DType::I8 => 1,
            DType::I16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 | DType::C64 => 8,
            DType::C128 => 16,
        }
    }

    /// The name users write, without a prefix.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::U8 => "uint8",
            DType::I8 => "int8",
            DType::I16 => "int16",
            DType::I32 => "int32",
            DType::I64 => "int64",
            DType::F16 => "float16",
            DType::BF16 => "bfloat16",
            DType::F32 => "float32",
            DType::F64 => "float64",
            DType::C64 => "complex64",
            DType::C128 => "complex128",
        }
    }

    /// The kind this dtype belongs to.
    pub fn category(self) -> Category {
        match self {
            DType::Bool => Category::Bool,
            DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => Category::Int,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Category::Float,
            DType::C64 | DType::C128 => Category::Complex,
        }
    }

    /// A real floating-point type.
    pub fn is_float(self) -> bool {
        self.category() == Category::Float
    }

    /// A complex type.
    pub fn is_complex(self) -> bool {
        self.category() == Category::Complex
    }

    /// An integer type; booleans are not.
    pub fn is_int(self) -> bool {
        self.category() == Category::Int
    }

    /// A type that can carry gradients.
    pub fn is_differentiable(self) -> bool {
        self.is_float() || self.is_complex()
    }

    /// The real type of a complex one's parts; other types are their own.
    pub fn to_real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex type whose parts are of this type.
    pub fn to_complex(self) -> DType {
        match self {
            DType::F64 | DType::C128 => DType::C128,
            _ => DType::C64,
        }
    }

    /// The type kernels compute in: half floats in `f32`, narrow integers in `i32`.
    pub fn widened(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            DType::I8 | DType::I16 => DType::I32,
            other => other,
        }
    }

    /// The smallest type both convert to, as PyTorch promotes two tensors with dimensions.
    pub fn promote(self, other: DType) -> DType {
        use DType::*;
        if self == other {
            return self;
        }
        let (low, high) =
            if self.category() <= other.category() { (self, other) } else { (other, self) };
        match (low.category(), high.category()) {
            (Category::Int, Category::Int) => match (low, high) {
                (U8, I8) | (I8, U8) => I16,
                _ => low.max(high),
            },
            (Category::Float, Category::Float) => match (low, high) {
                (F16, BF16) | (BF16, F16) => F32,
                _ => low.max(high),
            },
            (Category::Float, Category::Complex) => {
                if low == F64 {
                    C128
                } else {
                    high
                }
            }
            (Category::Complex, Category::Complex) => C128,
            _ => high,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let name = name.strip_prefix("pyburn.").or(name.strip_prefix("torch.")).unwrap_or(name);
        Ok(match name {
            "bool" => DType::Bool,
            "uint8" | "u8" => DType::U8,
            "int8" | "i8" => DType::I8,
            "int16" | "short" | "i16" => DType::I16,
            "int32" | "int" | "i32" => DType::I32,
            "int64" | "long" | "i64" => DType::I64,
            "float16" | "half" | "f16" => DType::F16,
            "bfloat16" | "bf16" => DType::BF16,
            "float32" | "float" | "f32" => DType::F32,
            "float64" | "double" | "f64" => DType::F64,
            "complex64" | "cfloat" => DType::C64,
            "complex128" | "cdouble" => DType::C128,
            other => bail!(Type, "dtype: no such type '{other}'"),
        })
    }
}

/// A number given beside tensors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Scalar {
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
}

impl Scalar {
    /// The kind that takes part in promotion.
    pub fn category(self) -> Category {
        match self {
            Scalar::Bool(_) => Category::Bool,
            Scalar::Int(_) => Category::Int,
            Scalar::Float(_) => Category::Float,
            Scalar::Complex(..) => Category::Complex,
        }
    }

    /// As a real number; a complex one gives its real part.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(value) => value as u8 as f64,
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) | Scalar::Complex(value, _) => value,
        }
    }

    /// As an integer, cut towards zero.
    pub fn to_i64(self) -> i64 {
        match self {
            Scalar::Bool(value) => value as i64,
            Scalar::Int(value) => value,
            Scalar::Float(value) | Scalar::Complex(value, _) => value as i64,
        }
    }

    /// Real and imaginary part.
    pub fn to_parts(self) -> (f64, f64) {
        match self {
            Scalar::Complex(re, im) => (re, im),
            real => (real.to_f64(), 0.0),
        }
    }

    /// As a truth value.
    pub fn to_bool(self) -> bool {
        match self {
            Scalar::Bool(value) => value,
            Scalar::Int(value) => value != 0,
            Scalar::Float(value) => value != 0.0,
            Scalar::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// The dtype a result takes when `tensor` (with dimensions) meets this number: the number
    /// counts only if its category is higher.
    pub fn promote(self, tensor: DType, default_float: DType) -> DType {
        if self.category() <= tensor.category() {
            return tensor;
        }
        match self.category() {
            Category::Bool => DType::Bool,
            Category::Int => DType::I64,
            Category::Float => default_float,
            Category::Complex => {
                if tensor.is_float() {
                    tensor.to_complex()
                } else {
                    default_float.to_complex()
                }
            }
        }
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Self {
        Scalar::Float(value)
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::Int(value)
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Self {
        Scalar::Bool(value)
    }
}

/// Ties a Rust type to the dtype whose elements it holds.
pub trait HostElement: kernels::Element {
    /// The dtype stored as `Self`.
    const DTYPE: DType;
}

macro_rules! host_elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {
        $(impl HostElement for $rust { const DTYPE: DType = DType::$dtype; })*
    };
}

host_elements! {
    u8 => U8, i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    half::f16 => F16, half::bf16 => BF16, f32 => F32, f64 => F64,
    num_complex::Complex<f32> => C64, num_complex::Complex<f64> => C128,
}

/// How an element becomes a [`Scalar`].
pub trait ToScalar: Copy {
    /// The number this element is; bytes of a bool tensor become truth values.
    fn to_scalar(self, dtype: DType) -> Scalar;
}

macro_rules! to_scalar {
    ($($rust:ty: $value:ident => $scalar:expr),* $(,)?) => {
        $(impl ToScalar for $rust {
            fn to_scalar(self, dtype: DType) -> Scalar {
                let $value = self;
                if dtype == DType::Bool { Scalar::Bool($scalar.to_bool()) } else { $scalar }
            }
        })*
    };
}

to_scalar! {
    u8: v => Scalar::Int(v as i64), i8: v => Scalar::Int(v as i64), i16: v => Scalar::Int(v as i64),
    i32: v => Scalar::Int(v as i64), i64: v => Scalar::Int(v),
    half::f16: v => Scalar::Float(v.to_f64()), half::bf16: v => Scalar::Float(v.to_f64()),
    f32: v => Scalar::Float(v as f64), f64: v => Scalar::Float(v),
    num_complex::Complex<f32>: v => Scalar::Complex(v.re as f64, v.im as f64),
    num_complex::Complex<f64>: v => Scalar::Complex(v.re, v.im),
}

/// How a [`Scalar`] becomes an element.
pub trait FromScalar: HostElement {
    /// The element nearest to this number, converted as the language converts numbers.
    fn from_scalar(value: Scalar) -> Self;
}

macro_rules! from_scalar {
    ($($rust:ty: $value:ident => $element:expr),* $(,)?) => {
        $(impl FromScalar for $rust {
            fn from_scalar($value: Scalar) -> Self { $element }
        })*
    };
}

from_scalar! {
    u8: v => v.to_i64() as u8, i8: v => v.to_i64() as i8, i16: v => v.to_i64() as i16,
    i32: v => v.to_i64() as i32, i64: v => v.to_i64(),
    half::f16: v => half::f16::from_f64(v.to_f64()), half::bf16: v => half::bf16::from_f64(v.to_f64()),
    f32: v => v.to_f64() as f32, f64: v => v.to_f64(),
    num_complex::Complex<f32>: v => {
        let (re, im) = v.to_parts();
        num_complex::Complex::new(re as f32, im as f32)
    },
    num_complex::Complex<f64>: v => { let (re, im) = v.to_parts(); num_complex::Complex::new(re, im) },
}

/// Runs the body with `$T` bound to the Rust type of a dtype in the named group, and fails with
/// PyTorch's kind of message on any other: `with_dtype!("add", dtype, floats, T => body)`. Groups:
/// `floats` (f32 f64), `ints` (u8 i32 i64; `Bool` counts as u8), `reals` (both), `complexes`,
/// `all` (every stored type). Bodies must have the type `Result<_>`.
#[macro_export]
macro_rules! with_dtype {
    ($op:expr, $dtype:expr, floats, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            other => Err($crate::error!(
                Runtime,
                "{}: not implemented for dtype {other}; convert with .float() first",
                $op
            )),
        }
    };
    ($op:expr, $dtype:expr, ints, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool | $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            other => Err($crate::error!(
                Runtime,
                "{}: not implemented for dtype {other}; an integer or bool tensor is needed",
                $op
            )),
        }
    };
    ($op:expr, $dtype:expr, reals, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool | $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            other => Err($crate::error!(Runtime, "{}: not implemented for dtype {other}", $op)),
        }
    };
    ($op:expr, $dtype:expr, complexes, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            $crate::DType::C128 => {
                type $T = num_complex::Complex<f64>;
                $body
            }
            other => Err($crate::error!(
                Runtime,
                "{}: not implemented for dtype {other}; a complex tensor is needed",
                $op
            )),
        }
    };
    ($op:expr, $dtype:expr, all, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool | $crate::DType::U8 => {
                type $T = u8;
                $body
            }
            $crate::DType::I8 => {
                type $T = i8;
                $body
            }
            $crate::DType::I16 => {
                type $T = i16;
                $body
            }
            $crate::DType::I32 => {
                type $T = i32;
                $body
            }
            $crate::DType::I64 => {
                type $T = i64;
                $body
            }
            $crate::DType::F16 => {
                type $T = half::f16;
                $body
            }
            $crate::DType::BF16 => {
                type $T = half::bf16;
                $body
            }
            $crate::DType::F32 => {
                type $T = f32;
                $body
            }
            $crate::DType::F64 => {
                type $T = f64;
                $body
            }
            $crate::DType::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
            $crate::DType::C128 => {
                type $T = num_complex::Complex<f64>;
                $body
            }
        }
    };
}

/// Runs the body with `$T` bound to an unsigned type of the dtype's size: for kernels that only
/// move elements.
#[macro_export]
macro_rules! with_width {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            _ => {
                type $T = [u64; 2];
                $body
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_is_symmetric_and_climbs() {
        for a in DType::ALL {
            for b in DType::ALL {
                assert_eq!(a.promote(b), b.promote(a));
                assert!(a.promote(b).category() >= a.category());
            }
        }
        assert_eq!(DType::U8.promote(DType::I8), DType::I16);
        assert_eq!(DType::F16.promote(DType::BF16), DType::F32);
        assert_eq!(DType::I64.promote(DType::F16), DType::F16);
        assert_eq!(DType::F64.promote(DType::C64), DType::C128);
    }

    #[test]
    fn a_number_counts_only_with_a_higher_category() {
        assert_eq!(Scalar::Float(1.0).promote(DType::F16, DType::F32), DType::F16);
        assert_eq!(Scalar::Float(1.0).promote(DType::I64, DType::F32), DType::F32);
        assert_eq!(Scalar::Int(1).promote(DType::U8, DType::F32), DType::U8);
        assert_eq!(Scalar::Complex(0.0, 1.0).promote(DType::F64, DType::F32), DType::C128);
    }
}
