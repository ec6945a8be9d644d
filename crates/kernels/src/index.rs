//! Reading and writing where index tensors say.
//!
//! Everything here is one of two loops. Reading: the element at `base + index * step`, where `base`
//! walks the source with stride zero along the indexed dimension. Writing: the same position in the
//! target, combined with the next element of a source. Indices are checked before anything moves, so
//! a bad one leaves no trace, and the loops themselves need no checks. Row-major order is the order
//! of writing: where several elements meet in one place the last one stands, and sums add up in that
//! order, whatever the number of threads.

mod arithmetic;
mod gather;
mod read;
mod scatter;
mod walk;
mod write;

pub use arithmetic::Arithmetic;
pub(crate) use gather::wrap;
pub use gather::{gather, index_select, take};
pub use scatter::{ScatterReduce, index_add, scatter, scatter_reduce};

pub(crate) use read::read;
pub(crate) use walk::{row_major, runs};
pub(crate) use write::write;

use crate::{Error, Result, Strided, Strides, collapse};

/// Fails at the first index, in row-major order, that is not in `0..size`.
fn check(index: &Strided<i64>, dim: usize, size: usize) -> Result<()> {
    let bad = |index: i64| index as u64 >= size as u64;
    // What is broadcast needs only one look.
    let shape: crate::Dims = (index.shape.iter().zip(index.strides))
        .map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size })
        .collect();
    let (shape, [strides]) = collapse(&shape, [index.strides]);
    let len = shape.iter().product();
    let mut first = None;
    runs(&shape, [&strides], 0..len, |_, [at], run| {
        if first.is_some() {
            return;
        }
        let start = index.offset as isize + at;
        let stride = strides[strides.len() - 1];
        let one = |i: usize| {
            // SAFETY: the position comes from the view's own shape and strides.
            unsafe { index.at(start + i as isize * stride) }
        };
        // Look for whether before looking for where: the former runs in lanes.
        if (0..run).fold(false, |any, i| any | bad(one(i))) {
            first = (0..run).map(one).find(|&index| bad(index));
        }
    });
    match first {
        Some(index) => Err(Error::Index { index, dim, size }),
        None => Ok(()),
    }
}

/// The strides of a view with `dim` held still.
fn still(strides: &[isize], dim: usize) -> Strides {
    let mut strides = Strides::from_slice(strides);
    if let Some(stride) = strides.get_mut(dim) {
        *stride = 0;
    }
    strides
}

/// Shape and strides of a view in which a scalar has one dimension of size one, as indexing a scalar
/// along dimension zero wants it.
fn at_least_one_dim(shape: &[usize], strides: &[isize]) -> (crate::Dims, Strides) {
    if shape.is_empty() {
        return (crate::Dims::from_slice(&[1]), Strides::from_slice(&[0]));
    }
    (crate::Dims::from_slice(shape), Strides::from_slice(strides))
}

/// The strides of a one-dimensional view laid along `dim` of `rank` dimensions and broadcast along
/// the others.
fn along(stride: isize, dim: usize, rank: usize) -> Strides {
    let mut strides = Strides::from_elem(0, rank);
    strides[dim] = stride;
    strides
}
