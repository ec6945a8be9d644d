//! A typed, strided look at memory somebody else owns.

use std::marker::PhantomData;

use smallvec::SmallVec;

/// Shapes and index tuples: six dimensions without an allocation.
pub type Dims = SmallVec<[usize; 6]>;
/// Strides, in elements; zero where a dimension is broadcast, negative where it is flipped.
pub type Strides = SmallVec<[isize; 6]>;

/// What a kernel can hold: plain old data that threads may share.
pub trait Element: bytemuck::Pod + Send + Sync + 'static {}
impl<T: bytemuck::Pod + Send + Sync + 'static> Element for T {}

/// A read-only strided view: `data` is the whole storage, `offset` the element at index zero.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T> {
    pub data: &'a [T],
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub offset: usize,
}

impl<'a, T: Element> Strided<'a, T> {
    /// How many elements the view shows.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether the view shows nothing.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// The elements in row-major order, where they lie so in memory.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.is_empty() {
            // Its offset may lie outside what is stored.
            return Some(&[]);
        }
        match self.len() {
            // The offset of nothing may lie anywhere.
            0 => Some(&[]),
            len => is_contiguous(self.shape, self.strides)
                .then(|| &self.data[self.offset..self.offset + len]),
        }
    }

    /// The element at a storage position.
    ///
    /// # Safety
    /// `position` must have been made from this view's shape, strides and offset.
    #[inline(always)]
    pub unsafe fn at(&self, position: isize) -> T {
        debug_assert!(position >= 0 && (position as usize) < self.data.len());
        unsafe { *self.data.get_unchecked(position as usize) }
    }
}

/// A writable strided view. Several may alias one storage, as tensors do, so it holds a raw
/// pointer; whoever makes one vouches that nobody reads the region while a kernel writes it.
#[derive(Clone, Copy, Debug)]
pub struct StridedMut<'a, T> {
    pub data: *mut T,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub offset: usize,
    pub lifetime: PhantomData<&'a mut T>,
}

unsafe impl<T: Send> Send for StridedMut<'_, T> {}
unsafe impl<T: Sync> Sync for StridedMut<'_, T> {}

/// Row-major strides of a shape.
pub fn contiguous_strides(shape: &[usize]) -> Strides {
    const INLINE: usize = 6;
    let mut strides = match shape.len() {
        // Without a loop: this runs for every tensor made.
        rank @ 0..=INLINE => Strides::from_buf_and_len([0; INLINE], rank),
        rank => Strides::from_elem(0, rank),
    };
    let mut step = 1isize;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step *= size.max(1) as isize;
    }
    strides
}

/// Whether elements lie in row-major order without gaps (sizes of one do not matter).
pub fn is_contiguous(shape: &[usize], strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1isize;
    for (&size, &stride) in shape.iter().zip(strides).rev() {
        if size != 1 {
            if stride != expected {
                return false;
            }
            expected *= size as isize;
        }
    }
    true
}

/// Drops dimensions of size one and merges neighbours that lie in one run in **every** operand, so
/// that kernels loop over as few dimensions as the memory allows. `operands` are stride lists over
/// the same shape; the result is never empty (a scalar is one dimension of size one).
pub fn collapse<const N: usize>(shape: &[usize], operands: [&[isize]; N]) -> (Dims, [Strides; N]) {
    let mut dims = Dims::new();
    let mut out: [Strides; N] = std::array::from_fn(|_| Strides::new());
    let len: usize = shape.iter().product();
    if len > 1 && operands.iter().all(|strides| is_contiguous(shape, strides)) {
        dims.push(len);
        out.iter_mut().for_each(|strides| strides.push(1));
        return (dims, out);
    }
    for (d, &size) in shape.iter().enumerate() {
        if size == 1 {
            continue;
        }
        let merges = !dims.is_empty()
            && (0..N).all(|k| *out[k].last().unwrap_or(&0) == operands[k][d] * size as isize);
        if merges {
            *dims.last_mut().expect("not empty") *= size;
            for k in 0..N {
                *out[k].last_mut().expect("not empty") = operands[k][d];
            }
        } else {
            dims.push(size);
            for k in 0..N {
                out[k].push(operands[k][d]);
            }
        }
    }
    if dims.is_empty() {
        dims.push(1);
        for strides in &mut out {
            strides.push(0);
        }
    }
    (dims, out)
}

/// Splits the row-major counter `linear` over `shape` and gives the storage position in each
/// operand, without their offsets.
#[inline]
pub fn positions<const N: usize>(
    mut linear: usize,
    shape: &[usize],
    strides: &[Strides; N],
) -> [isize; N] {
    let mut at = [0isize; N];
    for d in (0..shape.len()).rev() {
        let index = (linear % shape[d]) as isize;
        linear /= shape[d];
        for k in 0..N {
            at[k] += index * strides[k][d];
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_what_lies_in_one_run_and_keeps_the_rest() {
        let (dims, [a, b]) = collapse(&[2, 3, 1, 4], [&[12, 4, 4, 1], &[0, 4, 9, 1]]);
        assert_eq!(dims.as_slice(), [2, 12]);
        assert_eq!(a.as_slice(), [12, 1]);
        assert_eq!(b.as_slice(), [0, 1]);
    }

    #[test]
    fn a_scalar_is_one_dimension() {
        let (dims, [a]) = collapse(&[], [&[]]);
        assert_eq!((dims.as_slice(), a.as_slice()), (&[1usize][..], &[0isize][..]));
    }

    #[test]
    fn contiguity_ignores_sizes_of_one() {
        assert!(is_contiguous(&[2, 1, 3], &[3, 77, 1]));
        assert!(!is_contiguous(&[2, 3], &[1, 2]));
        assert!(is_contiguous(&[0, 3], &[1, 2]));
    }
}
