//! Borders put around a tensor, or cut off it.

use kernels::Dims;

use crate::op::{apply1, cast_host};
use crate::ops::view::{Item, ViewOp, ViewScatter};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{DType, Result, Scalar, bail};

/// What stands in a border.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadMode {
    /// One number.
    Constant(Scalar),
    /// The elements mirrored, without the outermost one.
    Reflect,
    /// The outermost element.
    Replicate,
    /// The elements from the other end.
    Circular,
}

impl PadMode {
    /// Refuses borders that the elements cannot fill.
    fn check(self, dim: usize, before: i64, after: i64, shape: &[usize]) -> Result<()> {
        let size = shape[dim] as i64;
        let widest = before.max(after);
        match self {
            PadMode::Reflect if widest >= size.max(1) => bail!(
                Runtime,
                "pad: Padding size should be less than the corresponding input dimension, but got: \
                 padding ({before}, {after}) at dimension {dim} of input {shape:?}"
            ),
            PadMode::Circular if widest > size => bail!(
                Runtime,
                "pad: Padding value causes wrapping around more than once: padding ({before}, {after}) \
                 at dimension {dim} of input {shape:?}"
            ),
            PadMode::Replicate if size == 0 && widest > 0 => bail!(
                Runtime,
                "pad: expected a non-empty dimension {dim} for mode 'replicate', got shape {shape:?}"
            ),
            _ => Ok(()),
        }
    }

    /// Which element stands at a place that may lie outside.
    fn source(self, place: i64, size: i64) -> i64 {
        match self {
            PadMode::Reflect if place < 0 => -place,
            PadMode::Reflect if place >= size => 2 * (size - 1) - place,
            PadMode::Replicate => place.clamp(0, size - 1),
            PadMode::Circular => place.rem_euclid(size),
            _ => place,
        }
    }
}

impl Tensor {
    /// Pads dimensions, the last one first: `[before, after, before, after, ...]`. Negative numbers
    /// cut elements off.
    pub fn pad(&self, pads: &[i64], mode: PadMode) -> Result<Tensor> {
        let shape = self.shape();
        let rank = shape.len();
        if !pads.len().is_multiple_of(2) {
            bail!(Runtime, "pad: Padding length must be divisible by 2, got {}", pads.len());
        }
        if pads.len() > 2 * rank {
            bail!(
                Runtime,
                "pad: Padding length should be less than or equal to two times the input dimension but \
                 got padding length {} and input of dimension {rank}",
                pads.len()
            );
        }
        let mut sizes = Dims::from_slice(&shape);
        for (at, pair) in pads.chunks_exact(2).enumerate() {
            let dim = rank - 1 - at;
            let size = shape[dim] as i64 + pair[0] + pair[1];
            if size < 0 || (size == 0 && shape[dim] > 0 && !matches!(mode, PadMode::Constant(_))) {
                bail!(
                    Runtime,
                    "pad: The input size {}, plus negative padding {} and {}, resulted in a negative \
                     output size, which is invalid. Check dimension {dim} of your input (shape {shape:?})",
                    shape[dim],
                    pair[0],
                    pair[1]
                );
            }
            mode.check(dim, pair[0], pair[1], &shape)?;
            sizes[dim] = size as usize;
        }
        match mode {
            PadMode::Constant(value) => self.pad_constant(pads, &sizes, value),
            _ => self.pad_from_inside(pads, mode),
        }
    }

    fn pad_constant(&self, pads: &[i64], sizes: &[usize], value: Scalar) -> Result<Tensor> {
        let mut inner = self.clone();
        let rank = sizes.len();
        let mut items: Vec<Item> =
            sizes.iter().map(|&len| Item::Slice { start: 0, len, step: 1 }).collect();
        for (at, pair) in pads.chunks_exact(2).enumerate() {
            let dim = rank - 1 - at;
            let size = inner.shape()[dim] as i64;
            let (cut, end) = ((-pair[0]).max(0).min(size), size - (-pair[1]).max(0));
            let len = (end - cut).max(0) as usize;
            if len as i64 != size {
                inner = inner.slice(dim, cut as usize, len, 1)?;
            }
            items[dim] = Item::Slice { start: pair[0].max(0) as usize, len, step: 1 };
        }
        if inner.shape().as_slice() == sizes {
            return inner.deep_copy();
        }
        let border = Tensor::full(sizes, value, self.dtype(), self.device())?;
        apply1(&ViewScatter { chain: vec![ViewOp::Index { items }] }, &[&border, &inner])
    }

    fn pad_from_inside(&self, pads: &[i64], mode: PadMode) -> Result<Tensor> {
        let mut out = self.clone();
        let rank = self.rank();
        for (at, pair) in pads.chunks_exact(2).enumerate() {
            let dim = rank - 1 - at;
            let size = out.shape()[dim] as i64;
            if pair == [0, 0] {
                continue;
            }
            let places: Vec<i64> =
                (-pair[0]..size + pair[1]).map(|place| mode.source(place, size)).collect();
            let count = places.len();
            let device = self.device();
            let index = Value::from_vec(places, [count].as_slice());
            let index = cast_host(&index, device.narrow(DType::I64))?.to_device(device)?;
            out = out.index_select(dim as i64, &Tensor::from_value(index))?;
        }
        if out.is(self) { self.deep_copy() } else { Ok(out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    #[test]
    fn gradients() {
        let x = noise(&[2, 3, 4], DType::F64, 1);
        for mode in [
            PadMode::Constant(Scalar::Float(2.0)),
            PadMode::Reflect,
            PadMode::Replicate,
            PadMode::Circular,
        ] {
            gradcheck("pad", std::slice::from_ref(&x), true, &|x| {
                Ok(vec![x[0].pad(&[2, -1, 1, 2], mode)?])
            });
        }
    }

    fn row(pads: &[i64], mode: PadMode) -> Vec<f64> {
        let x = Tensor::from_vec(vec![1.0f64, 2.0, 3.0, 4.0], &[1, 4]).unwrap();
        x.pad(pads, mode).unwrap().to_vec::<f64>().unwrap()
    }

    #[test]
    fn every_mode() {
        let zero = PadMode::Constant(Scalar::Float(0.0));
        assert_eq!(row(&[1, 2], zero), [0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
        assert_eq!(row(&[-1, 1], zero), [2.0, 3.0, 4.0, 0.0]);
        assert_eq!(row(&[2, 1], PadMode::Reflect), [3.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0]);
        assert_eq!(row(&[2, 1], PadMode::Replicate), [1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
        assert_eq!(row(&[2, 1], PadMode::Circular), [3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0]);
        assert_eq!(row(&[0, 0, 1, 0], zero), [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0]);
        let x = Tensor::from_vec(vec![1.0f32, 2.0], &[2]).unwrap();
        assert!(x.pad(&[2, 0], PadMode::Reflect).is_err());
        assert!(x.pad(&[-2, -1], zero).is_err());
    }
}
