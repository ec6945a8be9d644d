//! Indexing by several index tensors at once, and by masks.
//!
//! With index tensors `i` and `k` for the first and third of four dimensions, the element at place
//! `b` of the indices' common shape `B` is the slice `x[i[b], :, k[b], :]`. The result has the
//! dimensions no index names, in their order, with those of `B` in front of the one at `insert_at`:
//! NumPy puts them where the indices stand when they stand together, and first otherwise.

use crate::index::{Arithmetic, read, row_major, wrap, write};
use crate::{Dims, Element, Result, Strided, StridedMut, Strides, contiguous_strides};

/// The elements of `x` that `indices` name, one entry for each dimension of `x`: `None` is all of
/// it, the others have one common shape, and negative indices count from the end.
pub fn index_get<T: Element>(
    x: &Strided<T>,
    indices: &[Option<Strided<i64>>],
    insert_at: usize,
) -> Result<Vec<T>> {
    let plan = Plan::new(x.shape, x.strides, indices, insert_at)?;
    // SAFETY: the plan's positions are made of checked indices and of the dimensions of `x`.
    Ok(unsafe { read(x.data, x.offset, &plan.base, 1, &plan.index()) })
}

/// Replaces the elements of `target` that `indices` name (see [`index_get`]) by `values`, which are
/// broadcast to the shape of those elements; the last of several in row-major order stands.
pub fn index_put<T: Element>(
    target: StridedMut<T>,
    indices: &[Option<Strided<i64>>],
    insert_at: usize,
    values: &Strided<T>,
) -> Result<()> {
    put(target, indices, insert_at, values, |_, new| new)
}

/// Adds `values` to the elements of `target` that `indices` name (see [`index_put`]); what is named
/// several times counts several times.
pub fn index_put_accumulate<T: Arithmetic>(
    target: StridedMut<T>,
    indices: &[Option<Strided<i64>>],
    insert_at: usize,
    values: &Strided<T>,
) -> Result<()> {
    put(target, indices, insert_at, values, T::plus)
}

fn put<T: Element>(
    target: StridedMut<T>,
    indices: &[Option<Strided<i64>>],
    insert_at: usize,
    values: &Strided<T>,
    combine: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    let plan = Plan::new(target.shape, target.strides, indices, insert_at)?;
    assert_eq!(values.shape, &plan.shape[..], "index_put: values are not broadcast");
    // SAFETY: the plan's positions are made of checked indices and of the target's dimensions.
    unsafe { write(&target, &plan.base, 1, &plan.index(), values, combine) };
    Ok(())
}

/// Where the named elements lie: along the dimensions kept as they are, and by a list of offsets
/// along those of the indices.
struct Plan {
    offsets: Vec<isize>,
    /// Of the named elements.
    shape: Dims,
    /// Strides of the indexed tensor over `shape`.
    base: Strides,
    /// Strides of `offsets` over `shape`.
    along: Strides,
}

impl Plan {
    fn new(
        shape: &[usize],
        strides: &[isize],
        indices: &[Option<Strided<i64>>],
        insert_at: usize,
    ) -> Result<Self> {
        assert_eq!(indices.len(), shape.len(), "one entry for each dimension");
        let common: &[usize] = indices.iter().flatten().next().map_or(&[], |index| index.shape);
        let mut offsets = vec![0isize; common.iter().product()];
        let mut plan = Self {
            offsets: Vec::new(),
            shape: Dims::new(),
            base: Strides::new(),
            along: Strides::new(),
        };
        for (dim, index) in indices.iter().enumerate() {
            let Some(index) = index else {
                plan.shape.push(shape[dim]);
                plan.base.push(strides[dim]);
                plan.along.push(0);
                continue;
            };
            assert_eq!(index.shape, common, "indices are broadcast to one shape");
            for (offset, &index) in offsets.iter_mut().zip(&*row_major(index)) {
                *offset += wrap(index, dim, shape[dim])? as isize * strides[dim];
            }
        }
        plan.offsets = offsets;
        plan.shape.insert_many(insert_at, common.iter().copied());
        plan.base.insert_many(insert_at, common.iter().map(|_| 0));
        plan.along.insert_many(insert_at, contiguous_strides(common));
        Ok(plan)
    }

    fn index(&self) -> Strided<'_, isize> {
        Strided { data: &self.offsets, shape: &self.shape, strides: &self.along, offset: 0 }
    }
}

#[cfg(test)]
mod tests;
