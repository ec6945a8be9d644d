//! Resizing images: every result is a weighted sum of elements near by, one dimension at a time.

use burn_backend::ops::FloatTensorOps;
use burn_dispatch::Dispatch;
use burn_std::IndexingUpdateOp;
use kernels::Dims;
use kernels::interpolate::Taps;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;

use crate::bridge::{self, from_burn, to_burn};
use crate::device::Device;
use crate::op::{Grads, Metas, Primitive, Values, Vjp, apply1, cast_host, one, single};
use crate::ops::pick::integers;
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{DType, Result, bail};

/// The polynomial or window that elements are weighted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Filter {
    /// By distance, from the two nearest.
    Linear,
    /// By a cubic polynomial, from the four nearest.
    Cubic,
    /// By a windowed sine, from the six nearest; only with antialiasing.
    Lanczos,
}

impl Filter {
    /// The weight at a distance, for antialiasing.
    fn weight(self, x: f64) -> f64 {
        let x = x.abs();
        match self {
            Filter::Linear => (1.0 - x).max(0.0),
            Filter::Cubic => cubic(x, -0.5),
            Filter::Lanczos => {
                let sinc = |x: f64| {
                    let x = x * std::f64::consts::PI;
                    if x == 0.0 { 1.0 } else { x.sin() / x }
                };
                if x < 3.0 { sinc(x) * sinc(x / 3.0) } else { 0.0 }
            }
        }
    }

    /// From how many elements a result is made.
    fn width(self) -> f64 {
        match self {
            Filter::Linear => 2.0,
            Filter::Cubic => 4.0,
            Filter::Lanczos => 6.0,
        }
    }
}

/// The cubic convolution kernel.
fn cubic(x: f64, a: f64) -> f64 {
    if x < 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * a
    } else {
        0.0
    }
}

/// Where results lie between elements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The first and the last result are the first and the last element.
    pub align_corners: bool,
    /// Results per element, where it is not the quotient of the sizes.
    pub factor: Option<f64>,
}

impl Scale {
    /// Elements per result.
    fn step(self, len: usize, count: usize) -> f64 {
        if self.align_corners {
            return if count > 1 { (len as f64 - 1.0) / (count as f64 - 1.0) } else { 0.0 };
        }
        match self.factor {
            Some(factor) if factor > 0.0 => 1.0 / factor,
            _ => len as f64 / count as f64,
        }
    }
}

/// Resamples one dimension; or, as that is linear, its transpose, which is its gradient.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ResampleOp {
    /// Which dimension.
    pub dim: usize,
    /// How many elements it has, or its gradient.
    pub len: usize,
    /// How many results.
    pub count: usize,
    /// How elements are weighted.
    pub filter: Filter,
    /// Where results lie.
    pub scale: Scale,
    /// Whether more elements are taken where results lie further apart than elements.
    pub antialias: bool,
    /// Goes the other way.
    pub transpose: bool,
}

impl ResampleOp {
    fn taps(&self) -> Taps {
        let mut taps =
            Taps { len: self.len, starts: vec![0], places: Vec::new(), weights: Vec::new() };
        let step = self.scale.step(self.len, self.count);
        for at in 0..self.count {
            match (self.antialias, self.filter) {
                (true, _) => self.broad(at, step, &mut taps),
                (false, Filter::Cubic) => self.four(at, step, &mut taps),
                (false, _) => self.two(at, step, &mut taps),
            }
            taps.starts.push(taps.places.len());
        }
        taps
    }

    /// Where a result lies, in elements.
    fn place(&self, at: usize, step: f64) -> f64 {
        if self.scale.align_corners { at as f64 * step } else { (at as f64 + 0.5) * step - 0.5 }
    }

    fn two(&self, at: usize, step: f64, taps: &mut Taps) {
        let place = self.place(at, step).max(0.0);
        let low = (place as usize).min(self.len - 1);
        let part = (place - low as f64).clamp(0.0, 1.0);
        taps.places.extend([low, (low + 1).min(self.len - 1)]);
        taps.weights.extend([1.0 - part, part]);
    }

    fn four(&self, at: usize, step: f64, taps: &mut Taps) {
        let place = self.place(at, step);
        let low = place.floor();
        let part = place - low;
        for k in -1..=2 {
            let element = (low as i64 + k).clamp(0, self.len as i64 - 1);
            taps.places.push(element as usize);
            taps.weights.push(cubic((part - k as f64).abs(), -0.75));
        }
    }

    fn broad(&self, at: usize, step: f64, taps: &mut Taps) {
        let support = self.filter.width() / 2.0 * step.max(1.0);
        let shrink = if step >= 1.0 { 1.0 / step } else { 1.0 };
        let centre = step * (at as f64 + 0.5);
        let first = ((centre - support + 0.5) as i64).max(0) as usize;
        let end = ((centre + support + 0.5) as i64).clamp(0, self.len as i64) as usize;
        let weight = |k: usize| self.filter.weight((k as f64 - centre + 0.5) * shrink);
        let total: f64 = (first..end).map(weight).sum();
        taps.places.extend(first..end);
        taps.weights.extend((first..end).map(|k| weight(k) / total));
    }
}

#[typetag::serde]
impl Primitive for ResampleOp {
    fn name(&self) -> &'static str {
        if self.transpose { "interpolate_backward" } else { "interpolate" }
    }

    fn infer(&self, inputs: &[&Value]) -> Result<Metas> {
        let x = inputs[0];
        if !x.dtype.is_float() {
            bail!(Runtime, "interpolate: not implemented for {}; hint: .float() first", x.dtype);
        }
        let mut shape = x.shape.clone();
        shape[self.dim] = if self.transpose { self.len } else { self.count };
        one(Meta { shape, dtype: x.dtype })
    }

    fn run(&self, inputs: &[&Value], out: &[Meta]) -> Result<Values> {
        let (x, out, taps) = (inputs[0].contiguous()?, &out[0], self.taps());
        let outer = x.shape[..self.dim].iter().product();
        let inner = x.shape[self.dim + 1..].iter().product();
        crate::with_dtype!(self.name(), x.dtype, floats, T => {
            let data = x.view::<T>()?.as_slice().expect("the value is contiguous");
            let result = if self.transpose {
                kernels::interpolate::resample_backward(data, outer, inner, &taps)
            } else {
                kernels::interpolate::resample(data, outer, inner, &taps)
            };
            single(Value::from_vec_as(result, out.shape.clone(), out.dtype))
        })
    }

    fn run_gpu(&self, inputs: &[&Value], out: &[Meta], device: Device) -> Result<Option<Values>> {
        type D = Dispatch;
        let (x, out, taps) = (inputs[0], &out[0], self.taps());
        let widths: Vec<usize> = taps.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let width = widths.iter().copied().max().unwrap_or(0);
        if x.numel() == 0 || out.shape.contains(&0) || width == 0 {
            return Ok(None);
        }
        let mut sum = None;
        for k in 0..width {
            // Results of fewer elements take their first one once more, without a weight.
            let at = |result: usize| taps.starts[result] + if k < widths[result] { k } else { 0 };
            let weight =
                |result: usize| if k < widths[result] { taps.weights[at(result)] } else { 0.0 };
            let places = (0..self.count).map(|result| taps.places[at(result)] as i64).collect();
            let places = to_burn(&integers(places, &[self.count], device)?.value())?;
            let weights =
                Value::from_vec((0..self.count).map(weight).collect(), [self.count].as_slice());
            let weights = to_burn(&cast_host(&weights, x.dtype)?.to_device(device)?)?;
            let mut shape = vec![1; x.rank()];
            shape[self.dim] = self.count;
            let weights = bridge::reshape(weights, x.dtype, &shape);
            let prim = to_burn(x)?;
            sum = Some(if self.transpose {
                let target = match sum {
                    Some(target) => target,
                    None => {
                        let dtype = bridge::burn_dtype(out.dtype, device)?;
                        let shape = bridge::burn_shape(&out.shape);
                        D::float_zeros(shape, &bridge::burn_device(device)?, dtype.into())
                    }
                };
                let shares = D::float_mul(prim, weights);
                D::float_select_assign(target, self.dim, places, shares, IndexingUpdateOp::Add)
            } else {
                let term = D::float_mul(D::float_select(prim, self.dim, places), weights);
                match sum {
                    Some(sum) => D::float_add(sum, term),
                    None => term,
                }
            });
        }
        let sum = sum.expect("there is at least one tap");
        single(from_burn(sum, out, device)?).map(Some)
    }

    fn vjp(&self, ctx: &Vjp<'_>) -> Result<Grads> {
        let op = ResampleOp { transpose: !self.transpose, ..*self };
        Ok(smallvec![Some(apply1(&op, &[ctx.grad()?])?)])
    }
}

/// How an image is resized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// The nearest element, rounded down.
    Nearest,
    /// The element whose centre is nearest.
    NearestExact,
    /// Weighted sums.
    Filtered(Filter),
}

impl Tensor {
    /// Resizes the dimensions after the first two: to sizes, or by factors rounded down; with both,
    /// factors say where results lie.
    pub fn interpolate(
        &self,
        sizes: Option<&[i64]>,
        factors: Option<&[f64]>,
        how: Interpolation,
        align_corners: bool,
        antialias: bool,
    ) -> Result<Tensor> {
        let shape = self.shape();
        if !(3..=5).contains(&shape.len()) || shape[1..].contains(&0) {
            bail!(
                Runtime,
                "interpolate: expected a non-empty 3D, 4D or 5D input (only the batch may be \
                 empty), got shape {shape:?}"
            );
        }
        let rank = shape.len() - 2;
        let given = sizes.map(<[i64]>::len).into_iter().chain(factors.map(<[f64]>::len));
        if (sizes.is_none() && factors.is_none()) || given.into_iter().any(|count| count != rank) {
            bail!(
                Value,
                "interpolate: expected a size or a factor for each of {rank} spatial dimensions, \
                 got {sizes:?} and {factors:?} for input {shape:?}"
            );
        }
        let counts: Vec<i64> = match (sizes, factors) {
            (Some(sizes), _) => sizes.to_vec(),
            (None, Some(factors)) => {
                factors.iter().zip(&shape[2..]).map(|(f, &size)| (size as f64 * f) as i64).collect()
            }
            (None, None) => unreachable!("refused above"),
        };
        if counts.iter().any(|&count| count < 1) {
            bail!(
                Runtime,
                "interpolate: Input and output sizes should be greater than 0, but got input {:?} \
                 output {counts:?}",
                &shape[2..]
            );
        }
        let counts: Dims = counts.iter().map(|&count| count as usize).collect();
        let mut sizes = Dims::from_slice(&shape[..2]);
        sizes.extend_from_slice(&counts);
        crate::ops::create::check_size("interpolate", &sizes, self.dtype())?;
        let scale = |d: usize| Scale { align_corners, factor: factors.map(|factors| factors[d]) };
        match how {
            Interpolation::Filtered(filter) => {
                // Bytes are computed as floats.
                let bytes = self.dtype() == DType::U8;
                let mut x = if bytes { self.to_dtype(DType::F32)? } else { self.clone() };
                // Rows first where they grow: sums over the others are faster, but work on more.
                for d in (0..rank).rev() {
                    let (dim, len, count) = (d + 2, shape[d + 2], counts[d]);
                    let transpose = false;
                    let scale = scale(d);
                    let op = ResampleOp { dim, len, count, filter, scale, antialias, transpose };
                    x = apply1(&op, &[&x])?;
                    if bytes {
                        let low = Tensor::full(&[], 0, DType::F32, x.device())?;
                        let high = Tensor::full(&[], 255, DType::F32, x.device())?;
                        x = x.unary(Unary::Round)?.clamp(Some(&low), Some(&high))?;
                    }
                }
                if bytes { x.to_dtype(DType::U8) } else { Ok(x) }
            }
            exact => {
                if self.dtype() == DType::Bool || self.dtype().is_complex() {
                    bail!(Runtime, "interpolate: not implemented for {}", self.dtype());
                }
                let mut x = self.clone();
                for d in 0..rank {
                    let exact = exact == Interpolation::NearestExact;
                    let places = nearest(shape[d + 2], counts[d], scale(d), exact);
                    let places = integers(places, &[counts[d]], self.device())?;
                    x = x.index_select(d as i64 + 2, &places)?;
                }
                Ok(x)
            }
        }
    }
}

/// The nearest element to each result. In single precision, so that ties are PyTorch's.
fn nearest(len: usize, count: usize, scale: Scale, exact: bool) -> Vec<i64> {
    let step = Scale { align_corners: false, ..scale }.step(len, count) as f32;
    let shift = if exact { 0.5 } else { 0.0 };
    (0..count)
        .map(|at| (((at as f32 + shift) * step).floor() as i64).clamp(0, len as i64 - 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::linalg::tests::{gradcheck, noise};

    const FILTERS: [(Filter, bool); 5] = [
        (Filter::Linear, false),
        (Filter::Cubic, false),
        (Filter::Linear, true),
        (Filter::Cubic, true),
        (Filter::Lanczos, true),
    ];

    #[test]
    fn gradients() {
        let x = noise(&[1, 2, 4, 5], DType::F64, 1);
        for (filter, antialias) in FILTERS {
            for size in [[3i64, 7], [6, 2]] {
                gradcheck("interpolate", std::slice::from_ref(&x), true, &|x| {
                    let how = Interpolation::Filtered(filter);
                    Ok(vec![x[0].interpolate(Some(&size), None, how, false, antialias)?])
                });
            }
        }
        gradcheck("interpolate nearest", &[x], true, &|x| {
            Ok(vec![x[0].interpolate(Some(&[3, 7]), None, Interpolation::Nearest, false, false)?])
        });
    }

    #[test]
    fn constants_stay_and_corners_meet() {
        let ones = Tensor::ones(&[1, 1, 5], DType::F64, Device::Cpu).unwrap();
        let x = Tensor::from_vec((0..5).map(f64::from).collect(), &[1, 1, 5]).unwrap();
        for (filter, antialias) in FILTERS {
            let how = Interpolation::Filtered(filter);
            for size in [2, 3, 5, 9] {
                let y = ones.interpolate(Some(&[size]), None, how, false, antialias).unwrap();
                assert!(y.to_vec::<f64>().unwrap().iter().all(|y| (y - 1.0).abs() < 1e-12));
            }
            if !antialias {
                let y = x.interpolate(Some(&[9]), None, how, true, false).unwrap();
                let y = y.to_vec::<f64>().unwrap();
                assert!(y[0].abs() < 1e-12 && (y[8] - 4.0).abs() < 1e-12);
            }
        }
        let nearest = |how| {
            let y = x.interpolate(Some(&[3]), None, how, false, false).unwrap();
            y.to_vec::<f64>().unwrap()
        };
        assert_eq!(nearest(Interpolation::Nearest), [0.0, 1.0, 3.0]);
        assert_eq!(nearest(Interpolation::NearestExact), [0.0, 2.0, 4.0]);
    }

    #[test]
    fn bad_sizes_are_refused() {
        let x = noise(&[1, 1, 4], DType::F32, 1);
        let of = |x: &Tensor, sizes: Option<&[i64]>, factors: Option<&[f64]>| {
            x.interpolate(sizes, factors, Interpolation::Nearest, false, false)
        };
        assert!(of(&x, Some(&[0]), None).is_err());
        assert!(of(&x, None, Some(&[0.1])).is_err());
        assert!(of(&x, Some(&[2, 2]), None).is_err());
        assert!(of(&x, None, None).is_err());
        assert!(of(&noise(&[4], DType::F32, 1), Some(&[2]), None).is_err());
    }
}
