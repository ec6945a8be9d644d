//! The same by ops of tensors: for gradients of gradients, and for GPUs.

use super::{Coordinates, Outside, Sampler, Sampling};
use crate::ops::unary::Unary;
use crate::tensor::Tensor;
use crate::{DType, Result, Scalar};

/// What points take from one dimension: for each of a few elements its number, its weight, and
/// whether it lies inside, each as `(batch, points)`.
struct Tap {
    place: Tensor,
    weight: Option<Tensor>,
    inside: Option<Tensor>,
}

/// See [`GridSampleOp`](super::GridSampleOp).
pub(super) fn sample(x: &Tensor, grid: &Tensor, sampler: Sampler) -> Result<Tensor> {
    let (shape, points) = (x.shape(), grid.shape());
    let (batch, channels, size) = (shape[0], shape[1], &shape[2..]);
    let rank = size.len();
    let count = points[1..=rank].iter().product();
    let area = size.iter().product();
    let flat = grid.reshape_to(&[batch, count, rank])?;
    let lines = (0..rank)
        .map(|dim| {
            let at = flat.select(-1, (rank - 1 - dim) as i64)?;
            taps(&at, size[dim], sampler)
        })
        .collect::<Result<Vec<_>>>()?;
    let rows = x.reshape_to(&[batch, channels, area])?;
    let mut sum: Option<Tensor> = None;
    let combinations: usize = lines.iter().map(Vec::len).product();
    for mut number in 0..combinations {
        let (mut place, mut weight): (Option<Tensor>, Option<Tensor>) = (None, None);
        let mut step = 1;
        for (dim, line) in lines.iter().enumerate().rev() {
            let tap = &line[number % line.len()];
            number /= line.len();
            let own = tap.place.mul_scalar(step as f64)?;
            place = Some(match place {
                Some(place) => place.add(&own)?,
                None => own,
            });
            for factor in tap.weight.iter().chain(&tap.inside) {
                weight = Some(match weight {
                    Some(weight) => weight.mul(factor)?,
                    None => factor.clone(),
                });
            }
            step *= size[dim];
        }
        let place = place.expect("a grid has dimensions");
        let place = place.to_dtype(x.device().narrow(DType::I64))?.unsqueeze(1)?;
        let place = place.expand_to("grid_sample", &[batch, channels, count])?;
        let mut term = rows.gather(2, &place)?;
        if let Some(weight) = weight {
            term = term.mul(&weight.unsqueeze(1)?)?;
        }
        sum = Some(match sum {
            Some(sum) => sum.add(&term)?,
            None => term,
        });
    }
    let mut result = vec![batch, channels];
    result.extend_from_slice(&points[1..=rank]);
    sum.expect("a point takes from an element at least").reshape_to(&result)
}

/// A coordinate in elements.
fn scaled(at: &Tensor, size: usize, sampler: Sampler) -> Result<Tensor> {
    let size = size as f64;
    match sampler.coordinates {
        Coordinates::Elements => Ok(at.clone()),
        Coordinates::Centres => at.add_scalar(1.0)?.mul_scalar((size - 1.0) / 2.0),
        Coordinates::Edges => at.add_scalar(1.0)?.mul_scalar(size / 2.0)?.add_scalar(-0.5),
    }
}

fn clipped(at: &Tensor, size: usize) -> Result<Tensor> {
    at.clamp_scalar(Some(Scalar::Float(0.0)), Some(Scalar::Float(size as f64 - 1.0)))
}

/// A place brought inside, as the border demands.
fn inside(at: &Tensor, size: usize, sampler: Sampler) -> Result<Tensor> {
    match sampler.outside {
        Outside::Zeros => Ok(at.clone()),
        Outside::Border => clipped(at, size),
        Outside::Reflection => {
            let last = size as f64 - 1.0;
            let (low, span) = match sampler.coordinates {
                Coordinates::Edges => (-0.5, last + 1.0),
                _ => (0.0, last),
            };
            if span <= 0.0 {
                return at.mul_scalar(0.0);
            }
            let away = at.add_scalar(-low)?.unary(Unary::Abs)?;
            let flips = away.detach().mul_scalar(1.0 / span)?.unary(Unary::Floor)?;
            let extra = away.sub(&flips.mul_scalar(span)?)?;
            let half = flips.mul_scalar(0.5)?;
            let even = half.eq(&half.unary(Unary::Floor)?)?;
            let back = extra.neg()?.add_scalar(span)?;
            clipped(&even.where_(&extra, &back)?.add_scalar(low)?, size)
        }
    }
}

/// The element with a number, and, as a float, whether there is one.
fn element(number: &Tensor, size: usize, weight: Option<Tensor>, sampler: Sampler) -> Result<Tap> {
    let number = number.detach();
    let place = clipped(&number, size)?;
    let inside = match sampler.outside {
        Outside::Zeros => Some(place.eq(&number)?.to_dtype(number.dtype())?),
        _ => None,
    };
    Ok(Tap { place, weight, inside })
}

fn taps(at: &Tensor, size: usize, sampler: Sampler) -> Result<Vec<Tap>> {
    let at = scaled(at, size, sampler)?;
    match sampler.sampling {
        Sampling::Nearest => {
            let at = inside(&at, size, sampler)?.unary(Unary::Round)?;
            Ok(vec![element(&at, size, None, sampler)?])
        }
        Sampling::Linear => {
            let at = inside(&at, size, sampler)?;
            let low = at.detach().unary(Unary::Floor)?;
            let part = at.sub(&low)?;
            let rest = part.neg()?.add_scalar(1.0)?;
            Ok(vec![
                element(&low, size, Some(rest), sampler)?,
                element(&low.add_scalar(1.0)?, size, Some(part), sampler)?,
            ])
        }
        Sampling::Cubic => {
            let low = at.detach().unary(Unary::Floor)?;
            let part = at.sub(&low)?;
            (0..4)
                .map(|k| {
                    let number = inside(&low.add_scalar(k as f64 - 1.0)?, size, sampler)?;
                    let distance = match k {
                        0 => part.add_scalar(1.0)?,
                        1 => part.clone(),
                        k => part.neg()?.add_scalar(k as f64 - 1.0)?,
                    };
                    let weight = cubic(&distance, k == 1 || k == 2)?;
                    element(&number, size, Some(weight), sampler)
                })
                .collect()
        }
    }
}

/// The weight at a distance of up to one element, or else between one and two.
fn cubic(x: &Tensor, near: bool) -> Result<Tensor> {
    const A: f64 = -0.75;
    if near {
        let line = x.mul_scalar(A + 2.0)?.add_scalar(-(A + 3.0))?;
        return line.mul(&x.square()?)?.add_scalar(1.0);
    }
    let line = x.mul_scalar(A)?.add_scalar(-5.0 * A)?;
    let square = line.mul(x)?.add_scalar(8.0 * A)?;
    square.mul(x)?.add_scalar(-4.0 * A)
}
