use super::*;
use crate::DType;
use crate::ops::linalg::tests::{gradcheck, noise};

fn samplers() -> Vec<Sampler> {
    let mut all = Vec::new();
    for sampling in [Sampling::Linear, Sampling::Nearest, Sampling::Cubic] {
        for outside in [Outside::Zeros, Outside::Border, Outside::Reflection] {
            for coordinates in [Coordinates::Centres, Coordinates::Edges, Coordinates::Elements] {
                all.push(Sampler { sampling, outside, coordinates });
            }
        }
    }
    all
}

#[test]
fn fused_and_composed_agree() {
    for shape in [&[2, 3, 4, 5][..], &[1, 2, 3, 2, 4]] {
        let rank = shape.len() - 2;
        let x = noise(shape, DType::F64, 1);
        let mut points = vec![shape[0], 2, 6];
        points.extend([3, 1].iter().take(rank - 2));
        points.push(rank);
        for sampler in samplers() {
            let wide = if sampler.coordinates == Coordinates::Elements { 7.0 } else { 2.5 };
            let grid = noise(&points, DType::F64, 2).mul_scalar(wide).unwrap();
            let fused = x.grid_sample(&grid, sampler).unwrap().to_vec::<f64>().unwrap();
            let other = composed::sample(&x, &grid, sampler).unwrap();
            assert_eq!(other.shape().as_slice()[2..], points[1..=rank]);
            let other = other.to_vec::<f64>().unwrap();
            let close = fused.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-12);
            assert!(close, "{sampler:?}");
        }
    }
}

#[test]
fn gradients() {
    let inputs = [
        noise(&[1, 2, 3, 4], DType::F64, 1),
        noise(&[1, 2, 2, 2], DType::F64, 5).mul_scalar(1.3).unwrap(),
    ];
    for sampler in samplers() {
        if sampler.coordinates != Coordinates::Elements {
            gradcheck("grid_sample", &inputs, true, &|x| {
                Ok(vec![x[0].grid_sample(&x[1], sampler)?])
            });
        }
    }
}

#[test]
fn bad_grids_are_refused() {
    let sampler = samplers()[0];
    let x = noise(&[2, 1, 3, 3], DType::F32, 1);
    let message = |x: &Tensor, shape: &[usize], dtype: DType| {
        let grid = noise(shape, dtype, 1);
        x.grid_sample(&grid, sampler).unwrap_err().message().to_string()
    };
    assert!(message(&x, &[2, 1, 1], DType::F32).contains("number of dimensions"));
    assert!(message(&x, &[2, 1, 1, 3], DType::F32).contains("last dimension"));
    assert!(message(&x, &[1, 1, 1, 2], DType::F32).contains("batch size"));
    assert!(message(&x, &[2, 1, 1, 2], DType::F64).contains("dtype"));
    let empty = Tensor::zeros(&[2, 1, 0, 3], DType::F32, Device::Cpu).unwrap();
    assert!(message(&empty, &[2, 1, 1, 2], DType::F32).contains("non-empty"));
}
