//! CPU kernels over plain slices.
//!
//! A kernel takes strided views ([`Strided`]) and returns a fresh row-major buffer, or writes into a
//! strided target ([`StridedMut`]). It knows nothing of tensors, gradients, burn or Python. Floats
//! are `f32` and `f64` (half precision is widened by the caller), integers `i32`, `i64` and `u8`
//! (narrower ones are widened), booleans are `u8` of zero and one; kernels that only move elements
//! are generic over any plain data.

pub mod activation;
pub mod arg_reduce;
pub mod arithmetic;
pub mod attention;
pub mod binary;
mod binary_kernels;
pub mod cast;
pub mod compare;
pub mod complex;
mod complex_math;
pub mod conv;
pub mod copy;
pub mod ctc;
pub mod distributions;
mod error;
pub mod fft;
pub mod grid;
mod incomplete_gamma;
pub mod index;
pub mod index_put;
pub mod interpolate;
pub mod kernel;
mod lanes;
pub mod linalg;
pub mod loss;
pub mod loss_pair;
pub mod loss_rnnt;
pub mod map;
pub mod matmul;
pub mod norm;
pub mod optim;
mod order;
mod panels;
pub mod par;
pub mod pool;
pub mod predicate;
pub mod random;
pub mod recurrent;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod segment;
pub mod set;
pub mod simd;
pub mod softmax;
pub mod sort;
pub mod special;
mod strided;
pub mod ternary;
pub mod unary;
mod vector_math;
pub mod window;

pub use error::{Error, Result};
pub use order::{Ordered, Real};
pub use strided::{
    Dims, Element, Strided, StridedMut, Strides, collapse, contiguous_strides, is_contiguous,
    positions,
};
