use super::*;
use crate::distributions::check::{close, kolmogorov, moments, normal_cdf};

const N: usize = 200_000;

#[test]
fn uniform_numbers_are_uniform() {
    let mut generator = Generator::new(1);
    let single = generator.uniform::<f32>(N, -1.0, 3.0).unwrap();
    assert!(single.iter().all(|v| (-1.0..3.0).contains(v)));
    kolmogorov(&single, |x| (x + 1.0) / 4.0);
    let double = generator.uniform::<f64>(N, 0.0, 1.0).unwrap();
    let (mean, variance) = moments(&double);
    close(mean, 0.5, 3e-3);
    close(variance, 1.0 / 12.0, 1e-3);
    kolmogorov(&double, |x| x);
}

#[test]
fn normal_numbers_are_normal() {
    let mut generator = Generator::new(2);
    let single = generator.normal::<f32>(N, 2.0, 0.5).unwrap();
    let (mean, variance) = moments(&single);
    close(mean, 2.0, 4e-3);
    close(variance, 0.25, 4e-3);
    kolmogorov(&single, |x| normal_cdf((x - 2.0) / 0.5));
    let double = generator.normal::<f64>(N, 0.0, 1.0).unwrap();
    kolmogorov(&double, normal_cdf);
    let fourth = double.iter().map(|x| x.powi(4)).sum::<f64>() / N as f64;
    close(fourth, 3.0, 0.1);
    // The two of a pair are independent.
    let product = single.chunks_exact(2).map(|p| f64::from((p[0] - 2.0) * (p[1] - 2.0)));
    close(product.sum::<f64>() / (N / 2) as f64, 0.0, 4e-3);
}

#[test]
fn integers_cover_their_range_evenly() {
    let mut generator = Generator::new(3);
    let values = generator.randint(N, -3, 7).unwrap();
    let mut counts = [0usize; 10];
    for value in values {
        counts[(value + 3) as usize] += 1;
    }
    let expected = N as f64 / 10.0;
    let chi2: f64 = counts.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
    assert!(chi2 < 27.9, "chi2 with nine degrees of freedom: {chi2}");
    // Three quarters of the words: one in four draws is rejected, and no residue gains by it.
    let wide = generator.randint(N, i64::MIN, i64::MIN / 2 + i64::MAX).unwrap();
    let low = wide.iter().filter(|&&v| v < -(1 << 61)).count() as f64 / N as f64;
    close(low, 0.5, 4e-3);
    let full = generator.randint(1000, i64::MIN, i64::MAX).unwrap();
    assert!(full.iter().any(|&v| v < 0) && full.iter().any(|&v| v > 0));
    assert!(generator.randint(1, 5, 5).is_err());
}

#[test]
fn permutations_hold_everything_once_and_are_even() {
    let mut generator = Generator::new(4);
    let order = generator.randperm(10_007);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().enumerate().all(|(i, &v)| v == i as i64));
    assert_ne!(order, sorted);
    assert!(generator.randperm(0).is_empty());
    let mut counts = std::collections::HashMap::new();
    for _ in 0..6000 {
        *counts.entry(generator.randperm(3)).or_insert(0usize) += 1;
    }
    let chi2: f64 = counts.values().map(|&c| (c as f64 - 1000.0).powi(2) / 1000.0).sum();
    assert!(counts.len() == 6 && chi2 < 20.5, "chi2 with five degrees of freedom: {chi2}");
}

#[test]
fn coins_fall_as_often_as_asked() {
    let mut generator = Generator::new(5);
    let ones = |v: &[u8]| v.iter().map(|&b| f64::from(b)).sum::<f64>() / v.len() as f64;
    close(ones(&generator.bernoulli_scalar(N, 0.3).unwrap()), 0.3, 4e-3);
    assert!(generator.bernoulli_scalar(1000, 1.0).unwrap().iter().all(|&b| b == 1));
    assert!(generator.bernoulli_scalar(1000, 0.0).unwrap().iter().all(|&b| b == 0));
    assert!(generator.bernoulli_scalar(1, f64::NAN).is_err());
    let p = [0.0f32, 0.25, 1.0];
    let p = Strided { data: &p, shape: &[N, 3], strides: &[0, 1], offset: 0 };
    let coins = generator.bernoulli(&p).unwrap();
    let column = |k: usize| coins.iter().skip(k).step_by(3).copied().collect::<Vec<_>>();
    assert_eq!((ones(&column(0)), ones(&column(2))), (0.0, 1.0));
    close(ones(&column(1)), 0.25, 4e-3);
}

#[test]
fn the_state_restores_the_sequence() {
    let mut generator = Generator::new(6);
    generator.normal::<f32>(5, 0.0, 1.0).unwrap();
    let state = generator.state();
    let first = generator.uniform::<f64>(100, 0.0, 1.0).unwrap();
    let second = generator.uniform::<f64>(100, 0.0, 1.0).unwrap();
    assert_ne!(first, second);
    let mut other = Generator::new(0);
    other.set_state(&state).unwrap();
    assert_eq!(other.seed(), 6);
    assert_eq!(other.uniform::<f64>(100, 0.0, 1.0).unwrap(), first);
    assert!(other.set_state(&state[1..]).is_err());
}

#[test]
fn values_do_not_depend_on_how_the_work_is_cut() {
    let mut generator = Generator::new(7);
    let n = 10 * par::GRAIN + 3;
    let parallel = generator.clone().normal::<f32>(n, 0.0, 1.0).unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let three = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let mut twin = generator.clone();
    assert_eq!(one.install(|| generator.normal::<f32>(n, 0.0, 1.0).unwrap()), parallel);
    assert_eq!(three.install(|| twin.normal::<f32>(n, 0.0, 1.0).unwrap()), parallel);
}

#[test]
fn arguments_outside_the_definition_are_errors() {
    let mut generator = Generator::new(8);
    assert!(generator.uniform::<f32>(1, 1.0, 0.0).is_err());
    assert!(generator.uniform::<f32>(1, -f32::MAX, f32::MAX).is_err());
    assert!(generator.normal::<f64>(1, 0.0, -1.0).is_err());
    assert_eq!(generator.uniform::<f64>(3, 2.0, 2.0).unwrap(), [2.0; 3]);
    assert!(generator.normal::<f32>(0, 0.0, 1.0).unwrap().is_empty());
}
