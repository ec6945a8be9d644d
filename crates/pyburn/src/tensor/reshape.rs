//! Other shapes and orders of dimensions.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wrap_burn::ops::view::ViewOp;
use wrap_burn::{Result, Tensor, error};

use super::PyTensor;
use crate::args::{self, Ints};
use crate::boundary::{on, quick};
use crate::dtype::PyDType;
use crate::shapes::Shapes;

impl PyTensor {
    /// A look at the same memory, which is quick; what is refused names the shape.
    fn looked_at(&self, look: impl FnOnce(&Tensor) -> Result<Tensor>) -> PyResult<PyTensor> {
        quick(|| self.shaped(look)).map(PyTensor)
    }

    /// Runs a function of the tensor's shape, which it names where it refuses.
    fn shaped(&self, function: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        function(&self.0).map_err(|error| Shapes::default().see(&self.0).name(error))
    }
}

#[pymethods]
impl PyTensor {
    /// Looks at the same memory in another shape, or as another dtype of the same size.
    #[pyo3(signature = (*shape, dtype = None))]
    fn view(
        &self,
        shape: &Bound<'_, PyTuple>,
        dtype: Option<PyRef<'_, PyDType>>,
    ) -> PyResult<PyTensor> {
        let mut dtype = dtype.map(|dtype| dtype.0);
        if shape.len() == 1
            && let Ok(given) = shape.get_item(0)?.cast::<PyDType>()
        {
            dtype = Some(given.get().0);
        }
        if let Some(dtype) = dtype {
            return self.looked_at(|tensor| tensor.view_op(ViewOp::Bits { dtype }));
        }
        let sizes = args::sizes(shape)?;
        self.looked_at(|tensor| tensor.view(&sizes))
    }

    /// Another shape with the same elements: a view where possible, a copy elsewhere.
    #[pyo3(signature = (*shape))]
    fn reshape(&self, py: Python<'_>, shape: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let sizes = args::sizes(shape)?;
        on(py, &self.0, || self.shaped(|tensor| tensor.reshape(&sizes))).map(PyTensor)
    }

    /// Dimensions in another order.
    #[pyo3(signature = (*dims))]
    fn permute(&self, dims: &Bound<'_, PyTuple>) -> PyResult<PyTensor> {
        let dims = args::sizes(dims)?;
        self.looked_at(|tensor| tensor.permute(&dims))
    }

    /// Dimensions of size one repeated without a copy; -1 keeps a size.
    #[pyo3(signature = (*sizes, implicit = false))]
    fn expand(&self, sizes: &Bound<'_, PyTuple>, implicit: bool) -> PyResult<PyTensor> {
        let _ = implicit;
        let sizes = args::sizes(sizes)?;
        self.looked_at(|tensor| tensor.expand(&sizes))
    }

    /// Two dimensions swapped.
    fn transpose(&self, dim0: i64, dim1: i64) -> PyResult<PyTensor> {
        self.looked_at(|tensor| tensor.transpose(dim0, dim1))
    }

    /// The transpose of a matrix; vectors and 0-d tensors stay as they are.
    fn t(&self) -> PyResult<PyTensor> {
        self.looked_at(|tensor| match tensor.rank() {
            rank @ (0 | 1) => tensor.view_op(ViewOp::Permute { dims: (0..rank).collect() }),
            2 => tensor.transpose(0, 1),
            rank => Err(error!(
                Runtime,
                "t: expects a tensor with <= 2 dimensions, but self is {rank}D"
            )),
        })
    }

    /// All dimensions in reverse order.
    #[getter(T)]
    fn transposed(&self) -> PyResult<PyTensor> {
        let dims: Vec<i64> = (0..self.0.rank() as i64).rev().collect();
        self.looked_at(|tensor| tensor.permute(&dims))
    }

    /// The last two dimensions swapped.
    #[getter(mT)]
    fn matrix_transposed(&self) -> PyResult<PyTensor> {
        self.looked_at(|tensor| tensor.transpose(-2, -1))
    }

    /// A dimension of size one put in.
    fn unsqueeze(&self, dim: i64) -> PyResult<PyTensor> {
        self.looked_at(|tensor| tensor.unsqueeze(dim))
    }

    /// Dimensions of size one taken out; all of them if none is named.
    #[pyo3(signature = (dim = None))]
    fn squeeze(&self, dim: Option<Ints>) -> PyResult<PyTensor> {
        self.looked_at(|tensor| tensor.squeeze(dim.as_ref().map(|dims| dims.0.as_slice())))
    }

    /// Several dimensions merged into one.
    #[pyo3(signature = (start_dim = 0, end_dim = -1))]
    fn flatten(&self, py: Python<'_>, start_dim: i64, end_dim: i64) -> PyResult<PyTensor> {
        on(py, &self.0, || self.shaped(|tensor| tensor.flatten(start_dim, end_dim))).map(PyTensor)
    }
}
