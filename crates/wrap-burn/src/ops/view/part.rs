//! Views of some of the elements: positions, slices, diagonals, windows.

use kernels::{Dims, Strides};

use super::{Item, ViewOp};
use crate::shape::wrap_dim;
use crate::tensor::Tensor;
use crate::{Result, bail};

impl Tensor {
    /// One position of a dimension, which disappears.
    pub fn select(&self, dim: i64, index: i64) -> Result<Tensor> {
        let shape = self.shape();
        if shape.is_empty() {
            bail!(Index, "select: cannot be applied to a 0-dim tensor");
        }
        let dim = wrap_dim("select", dim, shape.len())?;
        let size = shape[dim] as i64;
        if index < -size || index >= size {
            bail!(
                Index,
                "select: index {index} is out of bounds for dimension {dim} with size {size} (shape \
                 {shape:?})"
            );
        }
        let at = if index < 0 { index + size } else { index } as usize;
        let mut items: Vec<Item> =
            shape[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Select(at));
        self.view_op(ViewOp::Index { items })
    }

    /// `length` positions of a dimension from `start`.
    pub fn narrow(&self, dim: i64, start: i64, length: i64) -> Result<Tensor> {
        let shape = self.shape();
        if shape.is_empty() {
            bail!(Runtime, "narrow: cannot be applied to a 0-dim tensor");
        }
        let dim = wrap_dim("narrow", dim, shape.len())?;
        let size = shape[dim] as i64;
        if length < 0 {
            bail!(Runtime, "narrow: length must be non-negative, got {length}");
        }
        if start < -size || start > size {
            bail!(
                Index,
                "narrow: start out of range (expected to be in range of [{}, {size}], but got {start})",
                -size
            );
        }
        let start = if start < 0 { start + size } else { start };
        if length > size - start {
            bail!(
                Runtime,
                "narrow: start ({start}) + length ({length}) exceeds dimension size ({size})"
            );
        }
        self.slice(dim, start as usize, length as usize, 1)
    }

    /// Positions of a dimension that are known to exist.
    pub(crate) fn slice(
        &self,
        dim: usize,
        start: usize,
        len: usize,
        step: usize,
    ) -> Result<Tensor> {
        let mut items: Vec<Item> =
            self.shape()[..dim].iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        items.push(Item::Slice { start, len, step });
        self.view_op(ViewOp::Index { items })
    }

    /// A diagonal of two dimensions, put last.
    pub fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let rank = self.rank();
        let (dim1, dim2) = (wrap_dim("diagonal", dim1, rank)?, wrap_dim("diagonal", dim2, rank)?);
        if dim1 == dim2 || rank < 2 {
            bail!(
                Runtime,
                "diagonal: dimensions cannot be identical {dim1}, {dim2} (shape {:?})",
                self.shape()
            );
        }
        self.view_op(ViewOp::Diagonal { offset, dim1, dim2 })
    }

    /// Sliding windows of `size`, `step` apart, along a dimension.
    pub fn unfold(&self, dim: i64, size: i64, step: i64) -> Result<Tensor> {
        let shape = self.shape();
        let dim = wrap_dim("unfold", dim, shape.len())?;
        let length = shape.get(dim).copied().unwrap_or(1) as i64;
        if step <= 0 {
            bail!(Runtime, "unfold: step is {step} but must be > 0");
        }
        if size < 0 || size > length {
            bail!(
                Runtime,
                "unfold: maximum size for tensor at dimension {dim} is {length} but size is {size}"
            );
        }
        self.view_op(ViewOp::Unfold { dim, size: size as usize, step: step as usize })
    }

    /// Any geometry over this tensor's storage.
    pub fn as_strided(
        &self,
        size: &[usize],
        stride: &[isize],
        offset: Option<usize>,
    ) -> Result<Tensor> {
        let value = self.value();
        let offset = offset.unwrap_or(value.offset);
        let steps = size.iter().zip(stride);
        let last = steps.fold(offset, |last, (&n, &stride)| {
            last.saturating_add(n.saturating_sub(1).saturating_mul(stride.unsigned_abs()))
        });
        let own = value.is_contiguous() && value.offset == 0 && last < value.numel().max(1);
        if self.requires_grad() && !own {
            bail!(
                Unsupported,
                "as_strided: has a gradient only on a contiguous tensor at the start of its storage, \
                 and within it; hint: .contiguous() first"
            );
        }
        self.view_op(ViewOp::AsStrided {
            size: Dims::from_slice(size),
            stride: Strides::from_slice(stride),
            offset,
        })
    }
}
