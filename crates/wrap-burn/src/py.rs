//! Conversions for extension modules of Python (feature `pyo3`).
//!
//! An extension module that links this crate has its own copy of the engine: its own random state,
//! its own defaults, its own tensors. What it shares with the installed `pyburn` package is memory,
//! through the protocol that all array libraries speak, [DLPack](dlpack). [`PyTensor`] hides it:
//!
//! ```no_run
//! use pyo3::prelude::*;
//! use wrap_burn::py::{self, PyTensor};
//!
//! /// x * sigmoid(x)
//! #[pyfunction]
//! fn swish(py: Python<'_>, x: PyTensor) -> PyResult<PyTensor> {
//!     py::run(py, || x.mul(&x.sigmoid()?)).map(PyTensor)
//! }
//! ```
//!
//! - **An argument** shares the caller's memory on the CPU and keeps it alive. Any object with
//!   `__dlpack__` is taken: tensors of `pyburn`, arrays of NumPy, tensors of PyTorch.
//! - **A result** is handed to `pyburn.from_dlpack`, which shares the memory too, so the caller
//!   gets a `pyburn.Tensor`. A tensor that goes in and out again keeps its address.
//! - **A GPU's memory** belongs to the engine that allocated it. `x.cpu()` before the call and
//!   `.to(device)` after it move elements; without them the call raises `BufferError`.
//! - **Writing** into an argument changes the caller's tensor, but the caller's count of in-place
//!   writes does not notice. Return a new tensor instead.
//! - **History does not cross.** A tensor that requires a gradient is refused in both directions,
//!   with `BufferError`. Export the gradient as a second function and join the two in Python:
//!
//! ```python
//! class Swish(pyburn.autograd.Function):
//!     @staticmethod
//!     def forward(ctx, x):
//!         ctx.save_for_backward(x)
//!         return my_extension.swish(x.detach())
//!
//!     @staticmethod
//!     def backward(ctx, grad):
//!         (x,) = ctx.saved_tensors
//!         return my_extension.swish_backward(grad.detach(), x.detach())
//! ```
//!
//! Engine code runs inside [`run`] (or [`quick`], for work that is over in microseconds): it
//! releases the interpreter, turns an [`Error`](crate::Error) into the exception PyTorch raises in
//! its place, and a panic into a `RuntimeError`. Elsewhere the operator `?` converts errors.

mod arguments;
mod boundary;
pub mod dlpack;
mod tensor;

pub use arguments::{PyDType, PyDevice, PyScalar, PyShape, scalar};
pub use boundary::{from_py, quick, run};
pub use tensor::PyTensor;
