//! Shape arithmetic: dimensions, broadcasting, strides.

use kernels::{Dims, Strides};

use crate::{Result, bail};

/// Wraps a negative dimension and refuses one out of range. A 0-d tensor takes 0 and -1.
pub fn wrap_dim(op: &str, dim: i64, rank: usize) -> Result<usize> {
    let count = rank.max(1) as i64;
    if dim < -count || dim >= count {
        bail!(
            Index,
            "{op}: dimension out of range (expected to be in range of [{}, {}], but got {dim})",
            -count,
            count - 1
        );
    }
    Ok(if dim < 0 { (dim + count) as usize } else { dim as usize })
}

/// Wraps several dimensions and refuses repeated ones.
pub fn wrap_dims(op: &str, dims: &[i64], rank: usize) -> Result<Dims> {
    let mut seen = Dims::new();
    for &dim in dims {
        let dim = wrap_dim(op, dim, rank)?;
        if seen.contains(&dim) {
            bail!(Runtime, "{op}: dim {dim} appears multiple times in the list of dims");
        }
        seen.push(dim);
    }
    Ok(seen)
}

/// The shape two operands broadcast to.
pub fn broadcast(op: &str, a: &[usize], b: &[usize]) -> Result<Dims> {
    if a == b {
        return Ok(Dims::from_slice(a));
    }
    let rank = a.len().max(b.len());
    let mut out = Dims::from_elem(1, rank);
    for d in 0..rank {
        let from = |shape: &[usize]| {
            let missing = rank - shape.len();
            if d < missing { 1 } else { shape[d - missing] }
        };
        let (x, y) = (from(a), from(b));
        out[d] = match (x, y) {
            (x, y) if x == y => x,
            (1, y) => y,
            (x, 1) => x,
            (x, y) => bail!(
                Runtime,
                "{op}: shapes {a:?} and {b:?} do not broadcast: the size of tensor a ({x}) must \
                 match the size of tensor b ({y}) at dimension {d}"
            ),
        };
    }
    Ok(out)
}

/// Strides that show a tensor of `shape` and `strides` in the wider shape `to`, which it must
/// broadcast to.
pub fn broadcast_strides(shape: &[usize], strides: &[isize], to: &[usize]) -> Strides {
    let missing = to.len() - shape.len();
    let mut out = Strides::from_elem(0, to.len());
    for d in 0..shape.len() {
        out[d + missing] = if shape[d] == 1 && to[d + missing] != 1 { 0 } else { strides[d] };
    }
    out
}

/// Number of elements.
pub fn numel(shape: &[usize]) -> usize {
    shape.iter().product()
}

/// Strides for the same memory in another shape, where one exists.
pub fn reshape_strides(shape: &[usize], strides: &[isize], to: &[usize]) -> Option<Strides> {
    if numel(shape) == 0 {
        return Some(kernels::contiguous_strides(to));
    }
    let mut out = Strides::from_elem(1, to.len());
    let (merged, [runs]) = kernels::collapse(shape, [strides]);
    // Each run of the source is cut into the target's dimensions from the right.
    let mut d = to.len();
    for (&size, &stride) in merged.iter().zip(&runs).rev() {
        let mut left = size;
        let mut step = stride;
        while d > 0 && left > 1 {
            let part = to[d - 1];
            if left % part != 0 {
                return None;
            }
            d -= 1;
            out[d] = step;
            step *= part as isize;
            left /= part;
        }
        if left > 1 {
            return None;
        }
    }
    // What is left over has size one; any stride will do, row-major looks best.
    let mut step = if d < to.len() { out[d] * to[d] as isize } else { 1 };
    while d > 0 {
        d -= 1;
        out[d] = step;
        step *= to[d] as isize;
    }
    Some(out)
}

/// Fills in one `-1` and checks that the number of elements stays.
pub fn infer_reshape(op: &str, from: &[usize], to: &[i64]) -> Result<Dims> {
    let count = numel(from);
    let mut unknown = None;
    let mut known = 1usize;
    for (d, &size) in to.iter().enumerate() {
        match size {
            -1 if unknown.is_none() => unknown = Some(d),
            -1 => bail!(Runtime, "{op}: only one dimension can be inferred, got {to:?}"),
            size if size < 0 => bail!(Runtime, "{op}: invalid shape dimension {size} in {to:?}"),
            size => {
                known = match known.checked_mul(size as usize) {
                    Some(known) => known,
                    None => bail!(Runtime, "{op}: shape {to:?} has more elements than memory"),
                }
            }
        }
    }
    let mut out: Dims = to.iter().map(|&size| size.max(0) as usize).collect();
    match unknown {
        Some(d) if known == 0 => bail!(
            Runtime,
            "{op}: cannot reshape tensor of {count} elements (shape {from:?}) into shape {to:?} \
             because the unspecified dimension size -1 (at {d}) can be any value"
        ),
        Some(d) if count.is_multiple_of(known) => out[d] = count / known,
        None if known == count => {}
        _ => bail!(
            Runtime,
            "{op}: shape {to:?} is invalid for input of size {count} (shape {from:?})"
        ),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting() {
        assert_eq!(broadcast("t", &[2, 1, 3], &[4, 1]).unwrap().as_slice(), [2, 4, 3]);
        assert_eq!(broadcast("t", &[], &[0]).unwrap().as_slice(), [0]);
        assert!(broadcast("t", &[2], &[3]).is_err());
    }

    #[test]
    fn reshaping_without_a_copy() {
        let strides = |from: &[usize], strides: &[isize], to: &[usize]| {
            reshape_strides(from, strides, to).map(|s| s.to_vec())
        };
        assert_eq!(strides(&[2, 3], &[3, 1], &[6]), Some(vec![1]));
        assert_eq!(strides(&[2, 3], &[1, 2], &[6]), None);
        assert_eq!(strides(&[4, 3], &[1, 4], &[2, 2, 3]), Some(vec![2, 1, 4]));
        assert_eq!(strides(&[2, 1, 3], &[3, 77, 1], &[2, 3, 1]), Some(vec![3, 1, 1]));
        assert_eq!(strides(&[], &[], &[1, 1]), Some(vec![1, 1]));
        assert_eq!(strides(&[3, 4], &[0, 1], &[3, 2, 2]), Some(vec![0, 2, 1]));
    }
}
