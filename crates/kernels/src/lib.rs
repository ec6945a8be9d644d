//! CPU kernels over plain slices.
//!
//! A kernel takes strided views ([`Strided`]) and returns a fresh row-major buffer, or writes into a
//! strided target ([`StridedMut`]). It knows nothing of tensors, gradients, burn or Python. Floats
//! are `f32` and `f64` (half precision is widened by the caller), integers `i32`, `i64` and `u8`
//! (narrower ones are widened), booleans are `u8` of zero and one; kernels that only move elements
//! are generic over any plain data.

mod error;
pub mod par;
mod strided;

pub use error::{Error, Result};
pub use strided::{
    Dims, Element, Strided, StridedMut, Strides, collapse, contiguous_strides, is_contiguous,
    positions,
};
