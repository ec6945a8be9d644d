//! Soft thresholding for PyBurn's tensors, as an extension module of Python in a crate of its own.

use pyo3::prelude::*;
use wrap_burn::py::{PyTensor, run};
use wrap_burn::{Result, Tensor, Value, bail, with_dtype};

/// One pass over two tensors of the same shape and dtype.
#[expect(clippy::unnecessary_cast, reason = "the dtype is one of two")]
fn zip(op: &str, x: &Tensor, y: &Tensor, f: impl Fn(f64, f64) -> f64) -> Result<Tensor> {
    if x.meta() != y.meta() {
        bail!(Runtime, "{op}: expected two tensors of one shape and dtype, got {x:?} and {y:?}");
    }
    let (x, y) = (x.value().contiguous()?, y.value().contiguous()?);
    with_dtype!(op, x.dtype, floats, T => {
        let xs = &x.buffer()?.as_slice::<T>()[x.offset..][..x.numel()];
        let ys = &y.buffer()?.as_slice::<T>()[y.offset..][..y.numel()];
        let out = xs.iter().zip(ys).map(|(&x, &y)| f(x as f64, y as f64) as T).collect();
        Ok(Tensor::from_value(Value::from_vec::<T>(out, x.shape.clone())))
    })
}

#[pymodule]
mod third_crate {
    use super::*;

    /// Moves every element towards zero by `by`, and no further than zero.
    #[pyfunction]
    fn soft_threshold(py: Python<'_>, x: PyTensor, by: f64) -> PyResult<PyTensor> {
        let shrink = |x: f64, _| x.signum() * (x.abs() - by).max(0.0);
        run(py, || zip("soft_threshold", &x, &x, shrink)).map(PyTensor)
    }

    /// The gradient of `soft_threshold` for `x`, from the gradient of its result.
    #[pyfunction]
    fn soft_threshold_backward(
        py: Python<'_>,
        grad: PyTensor,
        x: PyTensor,
        by: f64,
    ) -> PyResult<PyTensor> {
        let pass = |grad, x: f64| if x.abs() > by { grad } else { 0.0 };
        run(py, || zip("soft_threshold_backward", &grad, &x, pass)).map(PyTensor)
    }

    /// The argument itself: in and out again over the same memory.
    #[pyfunction]
    fn same(x: PyTensor) -> PyTensor {
        x
    }
}
