//! Sums of functions of elements.

use super::widen;
use crate::Real;

/// How many elements are summed in their own precision.
const BLOCK: usize = 1024;
/// How many partial sums a block is kept in, so that it vectorises.
const PARTS: usize = 32;

#[inline(always)]
fn total<T: Real>(mut parts: [T; PARTS]) -> T {
    let mut width = PARTS / 2;
    while width > 0 {
        for i in 0..width {
            parts[i] = parts[i] + parts[i + width];
        }
        width /= 2;
    }
    parts[0]
}

/// The sum of a function of each element.
#[inline(always)]
pub(crate) fn sum<T: Real>(x: &[T], term: impl Fn(T) -> T) -> f64 {
    let mut sum = 0.0;
    for block in x.chunks(BLOCK) {
        let mut parts = [T::zero(); PARTS];
        let chunks = block.chunks_exact(PARTS);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (part, &x) in parts.iter_mut().zip(chunk) {
                *part = *part + term(x);
            }
        }
        for (part, &x) in parts.iter_mut().zip(rest) {
            *part = *part + term(x);
        }
        sum += widen(total(parts));
    }
    sum
}

/// The sums of two functions of each pair of elements.
#[inline(always)]
pub(crate) fn sums<T: Real>(a: &[T], b: &[T], term: impl Fn(T, T) -> (T, T)) -> (f64, f64) {
    let (mut first, mut second) = (0.0, 0.0);
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let mut parts = ([T::zero(); PARTS], [T::zero(); PARTS]);
        for (a, b) in a.chunks(PARTS).zip(b.chunks(PARTS)) {
            let slots = parts.0.iter_mut().zip(parts.1.iter_mut());
            for ((one, two), (&a, &b)) in slots.zip(a.iter().zip(b)) {
                let (x, y) = term(a, b);
                *one = *one + x;
                *two = *two + y;
            }
        }
        first += widen(total(parts.0));
        second += widen(total(parts.1));
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_sums_keep_their_digits() {
        let x: Vec<f32> = (0..1_000_003).map(|i| 1.0 + (i % 7) as f32 * 1e-3).collect();
        let exact: f64 = x.iter().map(|&x| x as f64).sum();
        assert!((sum(&x, |x| x) - exact).abs() < 1e-7 * exact);
        let (one, two) = sums(&x, &x, |a, b| (a, a * b));
        let squares: f64 = x.iter().map(|&x| (x * x) as f64).sum();
        assert!((one - exact).abs() < 1e-7 * exact);
        assert!((two - squares).abs() < 1e-7 * squares);
        assert_eq!(sum(&x[..3], |x| x), (x[0] + x[1] + x[2]) as f64);
    }
}
