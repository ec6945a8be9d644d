//! A rank-free, dtype-free tensor with autograd over burn, its backend chosen at run time.
//!
//! [`Tensor`] is one type for every rank, element type and device. All three are values, so one
//! `Vec<Tensor>` holds them all, and what does not fit together is an [`Error`], never a panic:
//!
//! ```
//! use wrap_burn::{DType, Device, ErrorKind, Tensor};
//! # fn main() -> wrap_burn::Result<()> {
//! let device: Device = "cpu".parse()?; // or "wgpu", "cuda:1", where this build has them
//! let rows = Tensor::zeros(&[2, 3], DType::F64, device)?;
//! let tensors = vec![rows.clone(), Tensor::from_vec(vec![1i64, 2, 3], &[3])?];
//! assert_eq!(tensors[0].add(&tensors[1])?.to_vec::<f64>()?, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
//!
//! let error = rows.matmul(&rows).unwrap_err();
//! assert_eq!(error.kind(), ErrorKind::Runtime);
//! assert!(error.message().contains("[2, 3]"));
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! - **Memory.** A tensor is a [`Value`] (dtype, shape, strides and a [`Storage`]) and, where
//!   gradients are wanted, a history. On the CPU the storage is host memory that tensors share:
//!   views look at the same memory, and burn computes on it without a copy, beside kernels of our
//!   own. On a GPU burn holds it.
//! - **Ops are values.** Each op is one [`Primitive`]: it says what it accepts, how it computes and
//!   how it differentiates, and nothing else lists it. [`apply`] checks, computes and records.
//! - **Gradients** are a tape of our own: [`autograd::backward`], [`autograd::grad`], hooks,
//!   gradients of gradients, saved tensors that refuse to be used after an in-place write.
//! - **Devices** are names: see [`device`]. What is missing (an adapter, a driver, a dtype) is an
//!   error with the reason, and costs nothing until it is asked for.
//! - **Errors** are one type, [`Error`], with a [kind](ErrorKind) for each exception class of Python
//!   and a message that reads `op: what was expected, what came; hint`.
//! - **Python** is not here. The feature `pyo3` adds conversions for extension modules, in a module
//!   named `py`.
//!
//! ```
//! # fn main() -> wrap_burn::Result<()> {
//! # use wrap_burn::{Tensor, autograd};
//! let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], &[3])?;
//! x.set_requires_grad(true)?;
//! let y = x.mul(&x)?.sum(None, false)?;
//! autograd::backward(&[y], &[None], false, false, None)?;
//! assert_eq!(x.grad().unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # An op of your own
//!
//! A function over tensors needs nothing special: it is differentiable by what it is made of. An op
//! that is one step, with a loop and a gradient of its own, is a struct with its attributes as
//! fields:
//!
//! - [`infer`](Primitive::infer) checks the inputs and says what comes out, without data. It is the
//!   only place that makes a user's errors, and it is why every op works on `meta` tensors.
//! - [`run`](Primitive::run) computes on the CPU and may rely on `infer`.
//!   [`run_gpu`](Primitive::run_gpu) computes on a GPU; without it the inputs take the way through
//!   the CPU.
//! - [`vjp`](Primitive::vjp) is the gradient, made of tensor ops, so that it has a gradient itself.
//!   [`saves`](Primitive::saves) names the tensors it reads; only those are kept.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use wrap_burn::ops::unary::Unary;
//! use wrap_burn::{
//!     Grads, Meta, Metas, Primitive, Result, Saves, Tensor, Value, Values, Vjp, apply1, autograd,
//!     bail, with_dtype,
//! };
//!
//! /// Moves every element towards zero by `by`, and no further than zero.
//! #[derive(Clone, Debug, Serialize, Deserialize)]
//! struct SoftThreshold {
//!     by: f64,
//! }
//!
//! #[typetag::serde]
//! impl Primitive for SoftThreshold {
//!     fn name(&self) -> &'static str {
//!         "soft_threshold"
//!     }
//!
//!     fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
//!         let [x] = inputs else {
//!             bail!(Type, "soft_threshold: expected 1 tensor, got {}", inputs.len())
//!         };
//!         if !x.dtype.is_float() {
//!             bail!(Runtime, "soft_threshold: expected a float tensor, got {}", x.dtype);
//!         }
//!         Ok(Metas::from_iter([x.to_meta()]))
//!     }
//!
//!     fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
//!         let x = inputs[0].contiguous()?;
//!         with_dtype!("soft_threshold", x.dtype, floats, T => {
//!             let xs = x.view::<T>()?.as_slice().expect("the value is contiguous");
//!             let by = self.by as T;
//!             let ys = xs.iter().map(|x| x.signum() * (x.abs() - by).max(0.0)).collect();
//!             Ok(Values::from_iter([Value::from_vec::<T>(ys, out[0].shape.clone())]))
//!         })
//!     }
//!
//!     fn saves(&self, _needs: &[bool]) -> Saves {
//!         Saves::INPUTS
//!     }
//!
//!     fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
//!         let x = &ctx.inputs[0];
//!         let passes = x.unary(Unary::Abs)?.gt_scalar(self.by)?.to_dtype(x.dtype())?;
//!         Ok(Grads::from_iter([Some(ctx.grad()?.mul(&passes)?)]))
//!     }
//! }
//!
//! # fn main() -> Result<()> {
//! let x = Tensor::from_vec(vec![-3.0, -0.5, 0.5, 3.0], &[4])?;
//! x.set_requires_grad(true)?;
//! let y = apply1(&SoftThreshold { by: 1.0 }, &[&x])?;
//! assert_eq!(y.to_vec::<f64>()?, [-2.0, 0.0, 0.0, 2.0]);
//! autograd::backward(&[y.sum(None, false)?], &[None], false, false, None)?;
//! assert_eq!(x.grad().unwrap().to_vec::<f64>()?, [1.0, 0.0, 0.0, 1.0]);
//!
//! // Half floats are widened before `run`; integers are refused by `infer`.
//! let half = Tensor::from_vec(vec![half::f16::from_f32(-2.5)], &[1])?;
//! assert_eq!(apply1(&SoftThreshold { by: 1.0 }, &[&half])?.to_vec::<f32>()?, [-1.5]);
//! let ints = Tensor::from_vec(vec![1i64], &[1])?;
//! let error = apply1(&SoftThreshold { by: 1.0 }, &[&ints]).unwrap_err();
//! assert_eq!(error.message(), "soft_threshold: expected a float tensor, got int64");
//! # Ok(())
//! # }
//! ```
//!
//! An op of PyBurn itself lives in [`ops`], beside the method of [`Tensor`] that applies it.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `cpu` (default) | nothing: the CPU is always there; a name to build for the CPU alone |
//! | `wgpu` | GPUs through Vulkan, Metal, DirectX and WebGPU |
//! | `cuda` | NVIDIA's GPUs; the driver is looked for at run time |
//! | `pyo3` | arguments and results for extension modules of Python |
#![warn(missing_docs)]

mod bridge;
mod buffer;
mod dtype;
mod error;
mod op;
mod tensor;
mod value;

pub mod autocast;
pub mod autograd;
pub mod defaults;
pub mod device;
pub mod interrupt;
pub mod ops;
pub mod optim;
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
