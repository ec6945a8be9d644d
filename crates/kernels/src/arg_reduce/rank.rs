//! Elements by their rank, and by how often they occur. NaN ranks highest.

use super::not_empty;
use crate::lanes::{Fresh, Lanes, dense};
use crate::sort::order;
use crate::{Error, Ordered, Result, Strided};

/// The `k`-th smallest element along `dim`, counted from one, and where it stands.
pub fn kthvalue<T: Ordered>(x: Strided<'_, T>, dim: usize, k: usize) -> Result<(Vec<T>, Vec<i64>)> {
    let len = Lanes::along(x.shape, dim).len;
    if len > 0 && !(1..=len).contains(&k) {
        let message = format!("kthvalue(): selected number k out of range for dimension {dim}");
        return Err(Error::Value(message));
    }
    pick("kthvalue", x, dim, 8, &|lane| select(lane, k - 1))
}

/// The lower median along `dim` and where it stands; the first NaN where there is one.
pub fn median<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Result<(Vec<T>, Vec<i64>)> {
    pick("median", x, dim, 8, &|lane: &[T]| {
        let nan = lane.iter().position(|item| item.is_nan());
        nan.unwrap_or_else(|| select(lane, (lane.len() - 1) / 2))
    })
}

/// The lower median along `dim` of the elements that are not NaN, and where it stands.
pub fn nanmedian<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Result<(Vec<T>, Vec<i64>)> {
    pick("nanmedian", x, dim, 8, &|lane: &[T]| {
        let present = lane.iter().filter(|item| !item.is_nan()).count();
        select(lane, present.saturating_sub(1) / 2)
    })
}

/// The most frequent element along `dim`, the smallest of such, and where it last stands. No NaN
/// equals another.
pub fn mode<T: Ordered>(x: Strided<'_, T>, dim: usize) -> Result<(Vec<T>, Vec<i64>)> {
    pick("mode", x, dim, 32, &|lane: &[T]| {
        let order = order(lane, false);
        let at = |k: usize| lane[order[k] as usize];
        let (mut last, mut most, mut start) = (0, 0, 0);
        for k in 0..lane.len() {
            if at(k) != at(start) {
                start = k;
            }
            if k - start + 1 > most {
                (last, most) = (k, k - start + 1);
            }
        }
        order[last] as usize
    })
}

/// Chooses one element of each lane.
fn pick<T: Ordered>(
    name: &str,
    x: Strided<'_, T>,
    dim: usize,
    cost: usize,
    choose: &(dyn Fn(&[T]) -> usize + Sync),
) -> Result<(Vec<T>, Vec<i64>)> {
    let data = dense(x);
    let lanes = Lanes::along(x.shape, dim);
    not_empty(name, &lanes)?;
    let (values, indices) = (Fresh::new(lanes.count()), Fresh::new(lanes.count()));
    lanes.for_each(&data, cost, &|number, lane: &[T]| {
        let index = choose(lane);
        // SAFETY: every lane has a place of its own.
        unsafe {
            values.set(number, lane[index]);
            indices.set(number, index as i64);
        }
    });
    // SAFETY: every lane has been visited.
    Ok(unsafe { (values.finish(), indices.finish()) })
}

/// Where the element stands that a stable sort would put at `rank`.
fn select<T: Ordered>(lane: &[T], rank: usize) -> usize {
    let mut keys: Vec<T::Key> = lane.iter().map(|item| item.key()).collect();
    let (before, &mut chosen, _) = keys.select_nth_unstable(rank);
    let equals_before = before.iter().filter(|&&key| key == chosen).count();
    let mut equals = (0..lane.len()).filter(|&i| lane[i].key() == chosen);
    equals.nth(equals_before).expect("the chosen element is in the lane")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row<T>(data: &[T]) -> Strided<'_, T> {
        Strided { data, shape: &[6], strides: &[1], offset: 0 }
    }

    #[test]
    fn ranks() {
        let x = [3i64, 1, 2, 1, 5, 4];
        assert_eq!(kthvalue(row(&x), 0, 2).unwrap(), (vec![1], vec![3]));
        assert_eq!(median(row(&x), 0).unwrap(), (vec![2], vec![2]));
        assert!(kthvalue(row(&x), 0, 0).is_err() && kthvalue(row(&x), 0, 7).is_err());
    }

    #[test]
    fn nan_in_medians() {
        let nan = f32::NAN;
        let x = [1.0, nan, 0.0, nan, 5.0, nan];
        let (values, indices) = median(row(&x), 0).unwrap();
        assert!(values[0].is_nan() && indices == [1]);
        assert_eq!(nanmedian(row(&x), 0).unwrap(), (vec![1.0], vec![0]));
        let (values, indices) = nanmedian(row(&[nan; 6]), 0).unwrap();
        assert!(values[0].is_nan() && indices == [0]);
    }

    #[test]
    fn modes() {
        assert_eq!(mode(row(&[3, 1, 1, 3, 2, 0]), 0).unwrap(), (vec![1], vec![2]));
        let nan = f64::NAN;
        assert_eq!(mode(row(&[nan, nan, nan, 7.0, 2.0, 7.0]), 0).unwrap(), (vec![7.0], vec![5]));
        let data = [1, 2, 1, 2, 0, 2];
        let x = Strided { data: &data, shape: &[3, 2], strides: &[2, 1], offset: 0 };
        assert_eq!(mode(x, 0).unwrap(), (vec![1, 2], vec![1, 2]));
    }
}
