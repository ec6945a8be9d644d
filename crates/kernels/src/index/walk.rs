//! Walking several views of one shape in step.

use std::borrow::Cow;
use std::ops::Range;

use crate::{Dims, Element, Strided, collapse, par};

/// Walks the part `range` of `shape` in row-major order, run by run along the last dimension:
/// `f(linear, positions, len)` gets the counter of the run's first element, its position in each
/// operand (without the offset) and how many elements follow along the last dimension. `shape` has
/// at least one dimension.
pub(crate) fn runs<const N: usize>(
    shape: &[usize],
    strides: [&[isize]; N],
    range: Range<usize>,
    mut f: impl FnMut(usize, [isize; N], usize),
) {
    if range.is_empty() {
        return;
    }
    let last = shape.len() - 1;
    let mut index: Dims = Dims::from_elem(0, shape.len());
    let mut at = [0isize; N];
    let mut rest = range.start;
    for d in (0..shape.len()).rev() {
        index[d] = rest % shape[d];
        rest /= shape[d];
        for k in 0..N {
            at[k] += index[d] as isize * strides[k][d];
        }
    }
    let mut linear = range.start;
    loop {
        let len = (shape[last] - index[last]).min(range.end - linear);
        f(linear, at, len);
        linear += len;
        if linear == range.end {
            return;
        }
        for k in 0..N {
            at[k] -= index[last] as isize * strides[k][last];
        }
        index[last] = 0;
        // Not the end, so some outer dimension has a next index.
        let mut d = last;
        loop {
            d -= 1;
            index[d] += 1;
            if index[d] < shape[d] {
                for k in 0..N {
                    at[k] += strides[k][d];
                }
                break;
            }
            index[d] = 0;
            for k in 0..N {
                at[k] -= (shape[d] - 1) as isize * strides[k][d];
            }
        }
    }
}

/// The elements in row-major order: the storage itself where they lie so, else a copy.
pub(crate) fn row_major<'a, T: Element>(x: &Strided<'a, T>) -> Cow<'a, [T]> {
    if let Some(slice) = x.as_slice() {
        return Cow::Borrowed(slice);
    }
    let (shape, [strides]) = collapse(x.shape, [x.strides]);
    let stride = strides[strides.len() - 1];
    Cow::Owned(par::fill(x.len(), par::GRAIN, |range, out| {
        let start = range.start;
        runs(&shape, [&strides], range, |linear, [at], len| {
            let from = x.offset as isize + at;
            for (i, slot) in out[linear - start..][..len].iter_mut().enumerate() {
                // SAFETY: the position comes from the view's own shape and strides.
                slot.write(unsafe { x.at(from + i as isize * stride) });
            }
        });
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_start_and_end_anywhere() {
        let shape = [2, 3, 4];
        let strides: [isize; 3] = [12, 4, 1];
        for start in 0..24 {
            for end in start..=24 {
                let mut seen = Vec::new();
                runs(&shape, [&strides], start..end, |linear, [at], len| {
                    assert_eq!(linear as isize, at);
                    seen.extend(linear..linear + len);
                });
                assert!(seen.into_iter().eq(start..end));
            }
        }
    }

    #[test]
    fn a_transposed_view_is_copied_into_order() {
        let data = [1, 2, 3, 4, 5, 6];
        let view = Strided { data: &data[..], shape: &[3, 2], strides: &[1, 3], offset: 0 };
        assert_eq!(*row_major(&view), [1, 4, 2, 5, 3, 6]);
        let flipped = Strided { data: &data[..], shape: &[3], strides: &[-2], offset: 5 };
        assert_eq!(*row_major(&flipped), [6, 4, 2]);
    }
}
