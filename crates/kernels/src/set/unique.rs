//! Distinct elements and distinct slices. No NaN equals another.

use std::borrow::Cow;

use crate::lanes::{dense, dense_as};
use crate::sort::order;
use crate::{Dims, Ordered, Strided, Strides};

/// What is distinct, and what became of the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Unique<V> {
    /// The distinct elements, or the index of the first of each kind of slice.
    pub values: Vec<V>,
    /// For each element or slice, its kind.
    pub inverse: Vec<i64>,
    /// How many there are of each kind.
    pub counts: Vec<i64>,
}

impl<V> Unique<V> {
    /// Visits the members in `order`; one that is not the `same` as the last starts a kind, whose
    /// `value` it gives.
    fn group(
        order: impl ExactSizeIterator<Item = usize>,
        same: impl Fn(usize, usize) -> bool,
        value: impl Fn(usize) -> V,
    ) -> Self {
        let mut out =
            Unique { values: Vec::new(), inverse: vec![0; order.len()], counts: Vec::new() };
        let mut last = None;
        for member in order {
            if last.is_none_or(|last| !same(last, member)) {
                out.values.push(value(member));
                out.counts.push(0);
            }
            let kind = out.counts.len() - 1;
            out.counts[kind] += 1;
            out.inverse[member] = kind as i64;
            last = Some(member);
        }
        out
    }
}

/// The distinct elements in ascending order.
pub fn unique<T: Ordered>(x: Strided<'_, T>) -> Unique<T> {
    let data = dense(x);
    let order = order(&data, false).into_iter().map(|index| index as usize);
    Unique::group(order, |a, b| data[a] == data[b], |index| data[index])
}

/// The first element of each run of equal ones.
pub fn unique_consecutive<T: Ordered>(x: Strided<'_, T>) -> Unique<T> {
    let data = dense(x);
    Unique::group(0..data.len(), |a, b| data[a] == data[b], |index| data[index])
}

/// The distinct slices along `dim` in lexicographic order, by the index of their first occurrence.
pub fn unique_dim<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Unique<i64> {
    let slices = Slices::new(x, dim);
    let mut order: Vec<usize> = (0..slices.count).collect();
    order.sort_by(|&a, &b| {
        let pairs = slices.at(a).iter().zip(slices.at(b));
        let mut orderings = pairs.map(|(a, b)| a.key().cmp(&b.key()));
        orderings.find(|ordering| ordering.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
    slices.group(order.into_iter())
}

/// The first slice of each run of equal ones along `dim`, by its index.
pub fn unique_consecutive_dim<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Unique<i64> {
    let slices = Slices::new(x, dim);
    slices.group(0..slices.count)
}

/// The slices along a dimension, each row-major.
struct Slices<'a, T: Clone> {
    data: Cow<'a, [T]>,
    count: usize,
    len: usize,
}

impl<'a, T: Ordered> Slices<'a, T> {
    fn new(x: Strided<'a, T>, dim: usize) -> Self {
        let mut shape: Dims = x.shape.iter().copied().collect();
        let mut strides: Strides = x.strides.iter().copied().collect();
        shape[..=dim].rotate_right(1);
        strides[..=dim].rotate_right(1);
        let data = dense_as(x.data, &shape, &strides, x.offset);
        Slices { data, count: shape[0], len: shape[1..].iter().product() }
    }

    fn at(&self, index: usize) -> &[T] {
        &self.data[index * self.len..][..self.len]
    }

    fn group(&self, order: impl ExactSizeIterator<Item = usize>) -> Unique<i64> {
        Unique::group(order, |a, b| self.at(a) == self.at(b), |index| index as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! row {
        ($data:expr) => {
            Strided { data: &$data, shape: &[$data.len()], strides: &[1], offset: 0 }
        };
    }

    #[test]
    fn distinct_elements() {
        let out = unique(row!([3i32, 1, 3, 2, 1, 3]));
        assert_eq!(out.values, [1, 2, 3]);
        assert_eq!(out.inverse, [2, 0, 2, 1, 0, 2]);
        assert_eq!(out.counts, [2, 1, 3]);
        let out = unique_consecutive(row!([1i64, 1, 2, 2, 2, 1]));
        assert_eq!(out.values, [1, 2, 1]);
        assert_eq!(out.inverse, [0, 0, 1, 1, 1, 2]);
        assert_eq!(out.counts, [2, 3, 1]);
        assert!(unique(row!([0u8; 0])).values.is_empty());
    }

    #[test]
    fn every_nan_is_its_own() {
        let nan = f32::NAN;
        let out = unique(row!([nan, 1.0, nan, -0.0, 0.0]));
        assert_eq!(out.values[..2], [0.0, 1.0]);
        assert_eq!(out.values.len(), 4);
        assert_eq!(out.inverse, [2, 1, 3, 0, 0]);
        assert_eq!(out.counts, [2, 1, 1, 1]);
        assert_eq!(unique_consecutive(row!([nan, nan, 1.0, 1.0])).inverse, [0, 1, 2, 2]);
    }

    #[test]
    fn distinct_slices() {
        let data = [2, 1, 0, 5, 2, 1, 0, 4];
        let rows = Strided { data: &data, shape: &[4, 2], strides: &[2, 1], offset: 0 };
        let out = unique_dim(rows, 0);
        assert_eq!((out.values, out.inverse), (vec![3, 1, 0], vec![2, 1, 2, 0]));
        assert_eq!(out.counts, [1, 1, 2]);
        let columns = Strided { data: &data, shape: &[2, 4], strides: &[1, 2], offset: 0 };
        assert_eq!(unique_dim(columns, 1), unique_dim(rows, 0));
        assert_eq!(unique_consecutive_dim(columns, 1).values, [0, 1, 2, 3]);
        let broadcast = Strided { data: &data, shape: &[3, 2], strides: &[0, 1], offset: 0 };
        let out = unique_consecutive_dim(broadcast, 0);
        assert_eq!((out.values, out.inverse, out.counts), (vec![0], vec![0; 3], vec![3]));
    }
}
