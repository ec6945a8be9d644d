//! Reading along one dimension.

use super::{along, at_least_one_dim, check, read, row_major, still};
use crate::{Dims, Element, Error, Result, Strided, collapse, positions};

/// `out[i, j, k] = x[i, index[i, j, k], k]` for `dim` one: the shape is the index's, which along
/// every dimension but `dim` is no larger than that of `x`.
pub fn gather<T: Element>(x: &Strided<T>, dim: usize, index: &Strided<i64>) -> Result<Vec<T>> {
    let (shape, strides) = at_least_one_dim(x.shape, x.strides);
    let (index_shape, index_strides) = at_least_one_dim(index.shape, index.strides);
    let index = Strided { shape: &index_shape, strides: &index_strides, ..*index };
    assert!(fits(&index_shape, &shape, dim), "gather: the index is larger than the source");
    if index.is_empty() {
        return Ok(Vec::new());
    }
    check(&index, dim, shape[dim])?;
    // SAFETY: indices are within `dim`, and the index's shape within that of `x` elsewhere.
    Ok(unsafe { read(x.data, x.offset, &still(&strides, dim), strides[dim], &index) })
}

/// The slices of `x` at the given places of `dim`, in their order: the shape is that of `x` with
/// `dim` as long as the one-dimensional index.
pub fn index_select<T: Element>(
    x: &Strided<T>,
    dim: usize,
    index: &Strided<i64>,
) -> Result<Vec<T>> {
    let (shape, strides) = at_least_one_dim(x.shape, x.strides);
    let (count, stride) = one_dim(index);
    check(index, dim, shape[dim])?;
    let mut out: Dims = shape.clone();
    out[dim] = count;
    if out.contains(&0) {
        return Ok(Vec::new());
    }
    let spread = along(stride, dim, out.len());
    let index = Strided { data: index.data, shape: &out, strides: &spread, offset: index.offset };
    // SAFETY: indices are within `dim`, and the other dimensions are those of `x`.
    Ok(unsafe { read(x.data, x.offset, &still(&strides, dim), strides[dim], &index) })
}

/// The elements of `x`, seen as one row-major run, at the given places; negative ones count from the
/// end. The shape is the index's.
pub fn take<T: Element>(x: &Strided<T>, index: &Strided<i64>) -> Result<Vec<T>> {
    let size = x.len();
    let mut places = row_major(index).into_owned();
    for place in &mut places {
        *place = wrap(*place, 0, size)? as i64;
    }
    if x.as_slice().is_none() {
        let (shape, strides) = collapse(x.shape, [x.strides]);
        for place in &mut places {
            let [position] = positions(*place as usize, &shape, &strides);
            *place = position as i64;
        }
    }
    let index = Strided { data: &places[..], shape: &[places.len()], strides: &[1], offset: 0 };
    // SAFETY: each place was made from an index below the number of elements.
    Ok(unsafe { read(x.data, x.offset, &[0], 1, &index) })
}

/// An index with negative ones counted from the end.
#[inline]
pub(crate) fn wrap(index: i64, dim: usize, size: usize) -> Result<usize> {
    let wrapped = if index < 0 { index.wrapping_add(size as i64) } else { index };
    if (wrapped as u64) < size as u64 {
        Ok(wrapped as usize)
    } else {
        Err(Error::Index { index, dim, size })
    }
}

/// Whether `inner` is no larger than `outer` along every dimension but `dim`.
pub(super) fn fits(inner: &[usize], outer: &[usize], dim: usize) -> bool {
    inner.len() == outer.len()
        && (inner.iter().zip(outer).enumerate()).all(|(d, (a, b))| d == dim || a <= b)
        || inner.contains(&0)
}

/// Length and stride of an index list; a scalar is a list of one.
pub(super) fn one_dim(index: &Strided<i64>) -> (usize, isize) {
    match (index.shape, index.strides) {
        ([], _) => (1, 0),
        ([count], [stride]) => (*count, *stride),
        _ => panic!("an index list has one dimension"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contiguous_strides;

    fn view<'a, T>(data: &'a [T], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, T> {
        Strided { data, shape, strides, offset: 0 }
    }

    #[test]
    fn gathers_along_either_dimension() {
        let x = [1, 2, 3, 4, 5, 6];
        let x = view(&x, &[2, 3], &[3, 1]);
        let index = [0, 0, 2, 1];
        let columns = gather(&x, 1, &view(&index, &[2, 2], &[2, 1])).unwrap();
        assert_eq!(columns, [1, 1, 6, 5]);
        let index = [1, 0, 1];
        let rows = gather(&x, 0, &view(&index, &[1, 3], &[3, 1])).unwrap();
        assert_eq!(rows, [4, 2, 6]);
        let scalar = gather(&view(&[7], &[], &[]), 0, &view(&[0], &[], &[])).unwrap();
        assert_eq!(scalar, [7]);
    }

    #[test]
    fn gathers_rows_by_a_broadcast_index() {
        let x: Vec<f32> = (0..40_000).map(|i| i as f32).collect();
        let index: Vec<i64> = (0..5000).map(|i| (i * 7919) % 10_000).collect();
        let got = gather(&view(&x, &[10_000, 4], &[4, 1]), 0, &view(&index, &[5000, 4], &[1, 0]))
            .unwrap();
        let expected = index.iter().flat_map(|&row| (0..4).map(move |k| (row * 4 + k) as f32));
        assert!(got.into_iter().eq(expected));
    }

    #[test]
    fn the_first_bad_index_is_named() {
        let x = view(&[1, 2, 3], &[3], &[1]);
        let bad = |index: i64| Err(Error::Index { index, dim: 0, size: 3 });
        assert_eq!(gather(&x, 0, &view(&[0, 3, -1], &[3], &[1])), bad(3));
        assert_eq!(index_select(&x, 0, &view(&[0, -1, 9], &[3], &[1])), bad(-1));
        assert_eq!(take(&x, &view(&[-3, -4], &[2], &[1])), bad(-4));
        assert_eq!(gather(&x, 0, &view(&[], &[0], &[1])), Ok(vec![]));
    }

    #[test]
    fn selects_along_every_dimension_of_any_layout() {
        let data: Vec<i64> = (0..2 * 3 * 4).collect();
        let shape = [2usize, 3, 4];
        let strides = contiguous_strides(&shape);
        // As it lies, and with the first and last dimensions exchanged.
        for order in [[0, 1, 2], [2, 1, 0]] {
            let shape = order.map(|d| shape[d]);
            let strides = order.map(|d| strides[d]);
            let x = view(&data, &shape, &strides);
            for dim in 0..3 {
                let index = [1i64, 0, 1, (shape[dim] - 1) as i64];
                let got = index_select(&x, dim, &view(&index, &[4], &[1])).unwrap();
                let mut expected = Vec::new();
                let mut out = shape;
                out[dim] = 4;
                for i in 0..out[0] {
                    for j in 0..out[1] {
                        for k in 0..out[2] {
                            let mut at = [i, j, k];
                            at[dim] = index[at[dim]] as usize;
                            expected.push((0..3).map(|d| at[d] as i64 * strides[d] as i64).sum());
                        }
                    }
                }
                assert_eq!(got, expected);
            }
        }
    }

    #[test]
    fn takes_from_the_flattened_tensor_and_wraps() {
        let data = [1, 2, 3, 4, 5, 6];
        let index = [0, -1, 2];
        let index = view(&index, &[3], &[1]);
        assert_eq!(take(&view(&data, &[2, 3], &[3, 1]), &index).unwrap(), [1, 6, 3]);
        // Rows 1 3 5 and 2 4 6.
        assert_eq!(take(&view(&data, &[2, 3], &[1, 2]), &index).unwrap(), [1, 6, 5]);
    }
}
