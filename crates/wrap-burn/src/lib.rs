//! A rank-free, dtype-free tensor with autograd over burn, its backend chosen at run time.
//!
//! [`Tensor`] is one type for every rank, element type and device. Its ops are values
//! ([`Primitive`]): each says what it accepts, how it computes and how it differentiates, and
//! nothing else lists them. On the CPU elements lie in host memory that tensors share ([`Value`]);
//! burn computes on that memory without a copy, beside kernels of our own. On a GPU burn holds it.
//!
//! ```
//! use wrap_burn::{DType, Device, Tensor};
//! # fn main() -> wrap_burn::Result<()> {
//! let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], &[3])?;
//! x.set_requires_grad(true)?;
//! let y = x.mul(&x)?.sum(None, false)?;
//! wrap_burn::autograd::backward(&[y], &[None], false, false, None)?;
//! assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod bridge;
mod buffer;
mod dtype;
mod error;
mod op;
mod tensor;
mod value;

pub mod autograd;
pub mod defaults;
pub mod device;
pub mod ops;
#[cfg(feature = "pyo3")]
pub mod py;
pub mod random;
pub mod shape;

pub use buffer::Buffer;
pub use device::Device;
pub use dtype::{Category, DType, FromScalar, HostElement, Scalar, ToScalar};
pub use error::{Error, ErrorKind, Result};
pub use kernels::{Dims, Strides};
pub use op::{Grads, Metas, Primitive, Saves, Tensors, ToArc, Values, Vjp, apply, apply1};
pub use tensor::Tensor;
pub use value::{Meta, Storage, Value};

/// The guide's examples, compiled and run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/extending.md")]
struct Guide;
