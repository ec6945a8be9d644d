//! Writing along one dimension.

use serde::{Deserialize, Serialize};

use super::gather::{fits, one_dim};
use super::{Arithmetic, along, at_least_one_dim, check, still, write};
use crate::{Dims, Element, Error, Result, Strided, StridedMut};

/// How scattered elements combine with what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScatterReduce {
    /// The sum; integers wrap around.
    Add,
    /// The product; integers wrap around.
    Mul,
    /// The least, NaN where any is.
    Min,
    /// The greatest, NaN where any is.
    Max,
}

/// `target[i, index[i, j, k], k] = source[i, j, k]` for `dim` one, over the shape of the index; the
/// last of several in row-major order stands.
pub fn scatter<T: Element>(
    target: StridedMut<T>,
    dim: usize,
    index: &Strided<i64>,
    source: &Strided<T>,
) -> Result<()> {
    spread(&target, dim, index, source, |_, new| new)
}

/// As [`scatter`], but what is there counts too: `Add` is `scatter_add`.
pub fn scatter_reduce<T: Arithmetic>(
    target: StridedMut<T>,
    dim: usize,
    index: &Strided<i64>,
    source: &Strided<T>,
    kind: ScatterReduce,
) -> Result<()> {
    ordered::<T>("scatter_reduce", kind)?;
    match kind {
        ScatterReduce::Add => spread(&target, dim, index, source, T::plus),
        ScatterReduce::Mul => spread(&target, dim, index, source, T::times),
        ScatterReduce::Min => spread(&target, dim, index, source, T::least),
        ScatterReduce::Max => spread(&target, dim, index, source, T::greatest),
    }
}

/// Adds `alpha` times the slices of `source` along `dim` to the slices of `target` the
/// one-dimensional index names.
pub fn index_add<T: Arithmetic>(
    target: StridedMut<T>,
    dim: usize,
    index: &Strided<i64>,
    source: &Strided<T>,
    alpha: T,
) -> Result<()> {
    if bytemuck::bytes_of(&alpha) == bytemuck::bytes_of(&T::ONE) {
        return slices(&target, dim, index, source, T::plus);
    }
    slices(&target, dim, index, source, |old, new| old.plus(alpha.times(new)))
}

fn ordered<T: Arithmetic>(op: &str, kind: ScatterReduce) -> Result<()> {
    let needs_order = matches!(kind, ScatterReduce::Min | ScatterReduce::Max);
    if needs_order && !T::ORDERED {
        return Err(Error::Value(format!("{op}: not implemented for {}", T::NAME)));
    }
    Ok(())
}

/// The scatter family: one index per element.
fn spread<T: Element>(
    target: &StridedMut<T>,
    dim: usize,
    index: &Strided<i64>,
    source: &Strided<T>,
    combine: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    let (shape, strides) = at_least_one_dim(target.shape, target.strides);
    let (index_shape, index_strides) = at_least_one_dim(index.shape, index.strides);
    let (source_shape, source_strides) = at_least_one_dim(source.shape, source.strides);
    assert!(
        fits(&index_shape, &shape, dim) && fits(&index_shape, &source_shape, usize::MAX),
        "scatter: the index is larger than the target or the source"
    );
    if index.is_empty() {
        return Ok(());
    }
    let index = Strided { shape: &index_shape, strides: &index_strides, ..*index };
    let source = Strided { shape: &index_shape, strides: &source_strides, ..*source };
    check(&index, dim, shape[dim])?;
    // SAFETY: indices are within `dim`, and the index's shape within the target's elsewhere.
    unsafe { write(target, &still(&strides, dim), strides[dim], &index, &source, combine) };
    Ok(())
}

/// The `index_*` family: one index per slice.
fn slices<T: Element>(
    target: &StridedMut<T>,
    dim: usize,
    index: &Strided<i64>,
    source: &Strided<T>,
    combine: impl Fn(T, T) -> T + Sync,
) -> Result<()> {
    let (shape, strides) = at_least_one_dim(target.shape, target.strides);
    let (source_shape, source_strides) = at_least_one_dim(source.shape, source.strides);
    let (count, stride) = one_dim(index);
    let mut expected: Dims = shape.clone();
    expected[dim] = count;
    assert_eq!(source_shape, expected, "the slices of the source are not those of the target");
    check(index, dim, shape[dim])?;
    let spread = along(stride, dim, expected.len());
    let index =
        Strided { data: index.data, shape: &expected, strides: &spread, offset: index.offset };
    let source = Strided { shape: &expected, strides: &source_strides, ..*source };
    // SAFETY: indices are within `dim`, and the other dimensions are the target's.
    unsafe { write(target, &still(&strides, dim), strides[dim], &index, &source, combine) };
    Ok(())
}

#[cfg(test)]
mod tests;
