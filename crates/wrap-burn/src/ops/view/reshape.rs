//! Views of all elements: other shapes, other orders of dimensions.

use kernels::Dims;

use super::{Item, ViewOp};
use crate::shape::{infer_reshape, wrap_dim, wrap_dims};
use crate::tensor::Tensor;
use crate::{Result, bail};

impl Tensor {
    /// Another shape over the same memory; fails where strides do not allow it.
    pub fn view(&self, shape: &[i64]) -> Result<Tensor> {
        let shape = infer_reshape("view", &self.shape(), shape)?;
        self.view_op(ViewOp::Reshape { shape })
    }

    /// Another shape: a view where strides allow it, a copy elsewhere.
    pub fn reshape(&self, shape: &[i64]) -> Result<Tensor> {
        let shape = infer_reshape("reshape", &self.shape(), shape)?;
        if shape == self.shape() {
            // Another tensor all the same: what is done to it is not done to this one.
            return self.view_op(ViewOp::Index { items: Vec::new() });
        }
        self.reshape_to(&shape)
    }

    /// [`reshape`](Tensor::reshape) to a complete shape.
    pub fn reshape_to(&self, shape: &[usize]) -> Result<Tensor> {
        let fits = {
            let value = self.read();
            if value.shape.as_slice() == shape {
                return Ok(self.clone());
            }
            crate::shape::reshape_strides(&value.shape, &value.strides, shape).is_some()
        };
        let op = ViewOp::Reshape { shape: Dims::from_slice(shape) };
        if fits {
            return self.view_op(op);
        }
        // Nobody else sees the copy, so that the result stands for itself.
        let out = self.contiguous()?.view_op(op)?;
        out.stand_alone();
        Ok(out)
    }

    /// Dimensions in another order.
    pub fn permute(&self, dims: &[i64]) -> Result<Tensor> {
        let rank = self.rank();
        if dims.len() != rank {
            bail!(
                Runtime,
                "permute: number of dimensions in the tensor input does not match the length of the \
                 desired ordering of dimensions, i.e. input.dim() = {rank} is not equal to len(dims) \
                 = {}",
                dims.len()
            );
        }
        let dims = wrap_dims("permute", dims, rank)?;
        self.view_op(ViewOp::Permute { dims })
    }

    /// Two dimensions swapped.
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<Tensor> {
        let rank = self.rank();
        let (dim0, dim1) = (wrap_dim("transpose", dim0, rank)?, wrap_dim("transpose", dim1, rank)?);
        let mut dims: Dims = (0..rank).collect();
        if rank > 0 {
            dims.swap(dim0, dim1);
        }
        self.view_op(ViewOp::Permute { dims })
    }

    /// Repeats dimensions of size one without a copy; -1 keeps a size.
    pub fn expand(&self, sizes: &[i64]) -> Result<Tensor> {
        let shape = self.shape();
        if sizes.len() < shape.len() {
            bail!(
                Runtime,
                "expand: the number of sizes provided ({}) must be greater or equal to the number of \
                 dimensions in the tensor ({}), shape {shape:?}",
                sizes.len(),
                shape.len()
            );
        }
        let missing = sizes.len() - shape.len();
        let mut to = Dims::new();
        for (d, &size) in sizes.iter().enumerate() {
            to.push(match size {
                -1 if d >= missing => shape[d - missing],
                size if size < 0 => bail!(
                    Runtime,
                    "expand: the expanded size of the tensor ({size}) isn't allowed in a leading, \
                     non-existing dimension {d}"
                ),
                size => size as usize,
            });
        }
        self.expand_to("expand", &to)
    }

    /// [`expand`](Tensor::expand) to a complete shape.
    pub(crate) fn expand_to(&self, op: &str, shape: &[usize]) -> Result<Tensor> {
        self.view_op(ViewOp::Expand { shape: Dims::from_slice(shape) }).map_err(|fault| match op {
            "expand" => fault,
            op => fault.within(op),
        })
    }

    /// A dimension of size one put in.
    pub fn unsqueeze(&self, dim: i64) -> Result<Tensor> {
        let rank = self.rank();
        let dim = wrap_dim("unsqueeze", dim, rank + 1)?;
        let mut items: Vec<Item> =
            self.shape()[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::NewAxis);
        self.view_op(ViewOp::Index { items })
    }

    /// Dimensions of size one taken out; all of them if none is named.
    pub fn squeeze(&self, dims: Option<&[i64]>) -> Result<Tensor> {
        let shape = self.shape();
        let drop: Dims = match dims {
            Some(dims) => wrap_dims("squeeze", dims, shape.len())?,
            None => (0..shape.len()).collect(),
        };
        let items = shape
            .iter()
            .enumerate()
            .map(|(d, &len)| match len {
                1 if drop.contains(&d) => Item::Select(0),
                len => Item::Slice { start: 0, len, step: 1 },
            })
            .collect();
        self.view_op(ViewOp::Index { items })
    }

    /// Several dimensions merged into one.
    pub fn flatten(&self, start: i64, end: i64) -> Result<Tensor> {
        let shape = self.shape();
        let rank = shape.len();
        let (start, end) = (wrap_dim("flatten", start, rank)?, wrap_dim("flatten", end, rank)?);
        if start > end {
            bail!(Runtime, "flatten: has invalid args: start_dim cannot come after end_dim");
        }
        if rank == 0 {
            return self.reshape_to(&[1]);
        }
        let mut to = Dims::from_slice(&shape[..start]);
        to.push(shape[start..=end].iter().product());
        to.extend_from_slice(&shape[end + 1..]);
        self.reshape_to(&to)
    }

    /// This tensor without leading dimensions of size one beyond `rank`, as assignment allows.
    pub fn leading_ones_dropped(&self, rank: usize) -> Result<Tensor> {
        let shape = self.shape();
        let extra = shape.len().saturating_sub(rank);
        if extra == 0 || shape[..extra].iter().any(|&size| size != 1) {
            return Ok(self.clone());
        }
        self.reshape_to(&shape[extra..])
    }
}
