use super::*;
use crate::ops::binary::Operand;
use crate::{DType, Tensor};

const CPU: Device = Device::Cpu;

fn seeded(seed: u64) -> Generator {
    let generator = Generator::new(CPU);
    generator.manual_seed(seed);
    generator
}

fn moments(tensor: &Tensor) -> (f64, f64) {
    let data = tensor.to_vec::<f64>().unwrap();
    let mean = data.iter().sum::<f64>() / data.len() as f64;
    (mean, data.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / data.len() as f64)
}

fn near(value: f64, wanted: f64, within: f64) {
    assert!((value - wanted).abs() < within, "{value} instead of {wanted}");
}

#[test]
fn a_seed_fixes_the_values() {
    let draw =
        |generator: &Generator| Tensor::rand(&[5], DType::F32, CPU, Some(generator)).unwrap();
    let (a, b) = (seeded(7), seeded(7));
    let first = draw(&a).to_vec::<f32>().unwrap();
    assert_eq!(first, draw(&b).to_vec::<f32>().unwrap());
    let state = a.get_state();
    let second = draw(&a).to_vec::<f32>().unwrap();
    assert_ne!(first, second);
    a.set_state(&state).unwrap();
    assert_eq!(draw(&a).to_vec::<f32>().unwrap(), second);
    assert_eq!((a.initial_seed(), Generator::new(CPU).initial_seed()), (7, FIRST_SEED));
    assert_ne!(a.seed(), a.seed());
    assert!(a.set_state(&[1, 2]).is_err());
}

#[test]
fn every_dtype_has_its_numbers() {
    let g = seeded(1);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let (mean, var) = moments(&Tensor::randn(&[20_000], dtype, CPU, Some(&g)).unwrap());
        near(mean, 0.0, 0.04);
        near(var, 1.0, 0.05);
    }
    let z = Tensor::randn(&[20_000], DType::C64, CPU, Some(&g)).unwrap();
    near(moments(&z.real().unwrap()).1, 0.5, 0.03);
    near(moments(&z.imag().unwrap()).1, 0.5, 0.03);
    assert!(Tensor::rand(&[2], DType::I64, CPU, Some(&g)).is_err());
    let dice =
        Tensor::randint(1, 7, &[1000], DType::U8, CPU, Some(&g)).unwrap().to_vec::<i64>().unwrap();
    assert!(
        (1..7).all(|face| dice.contains(&face)) && dice.iter().all(|face| (1..7).contains(face))
    );
    assert!(Tensor::randint(0, 300, &[1], DType::U8, CPU, Some(&g)).is_err());
    assert!(Tensor::randint(3, 3, &[1], DType::I64, CPU, Some(&g)).is_err());
    let mut order =
        Tensor::randperm(50, DType::I64, CPU, Some(&g)).unwrap().to_vec::<i64>().unwrap();
    order.sort_unstable();
    assert_eq!(order, (0..50).collect::<Vec<i64>>());
}

#[test]
fn fills_keep_views_and_histories() {
    let g = seeded(2);
    let x = Tensor::zeros(&[4, 2], DType::F32, CPU).unwrap();
    x.select(1, 0).unwrap().uniform_(1.0, 2.0, Some(&g)).unwrap();
    let data = x.to_vec::<f32>().unwrap();
    assert!(data.iter().step_by(2).all(|v| (1.0..2.0).contains(v)));
    assert!(data.iter().skip(1).step_by(2).all(|&v| v == 0.0));
    let leaf = Tensor::zeros(&[3], DType::F32, CPU).unwrap();
    leaf.set_requires_grad(true).unwrap();
    assert!(leaf.normal_(0.0, 1.0, Some(&g)).is_err());
    let y = leaf.mul_scalar(2.0).unwrap();
    y.normal_(0.0, 1.0, Some(&g)).unwrap();
    crate::autograd::backward(&[y.sum(None, false).unwrap()], &[None], false, false, None).unwrap();
    assert_eq!(leaf.grad().unwrap().to_vec::<f32>().unwrap(), [0.0; 3]);
}

#[test]
fn fills_follow_their_laws() {
    let g = seeded(3);
    let x = Tensor::zeros(&[50_000], DType::F64, CPU).unwrap();
    x.exponential_(2.0, Some(&g)).unwrap();
    near(moments(&x).0, 0.5, 0.02);
    x.geometric_(0.25, Some(&g)).unwrap();
    near(moments(&x).0, 4.0, 0.1);
    x.log_normal_(0.0, 0.5, Some(&g)).unwrap();
    near(moments(&x).0, 0.125f64.exp(), 0.03);
    x.bernoulli_(0.3, Some(&g)).unwrap();
    near(moments(&x).0, 0.3, 0.02);
    x.trunc_normal_(0.0, 1.0, -1.0, 1.0, Some(&g)).unwrap();
    assert!(x.to_vec::<f64>().unwrap().iter().all(|v| (-1.0..=1.0).contains(v)));
    x.random_(0, None, Some(&g)).unwrap();
    near(moments(&x).0 / (1u64 << 53) as f64, 0.5, 0.02);
    x.cauchy_(0.0, 1.0, Some(&g)).unwrap();
    let bytes = Tensor::zeros(&[1000], DType::I8, CPU).unwrap();
    bytes.random_(-128, None, Some(&g)).unwrap();
    assert!(bytes.to_vec::<i64>().unwrap().iter().any(|&v| v < 0));
    assert!(bytes.cauchy_(0.0, 1.0, Some(&g)).is_err());
    assert!(x.geometric_(1.5, Some(&g)).is_err());
    let coins = Tensor::zeros(&[2, 2], DType::I64, CPU).unwrap();
    coins.bernoulli_from_(&Tensor::from_vec(vec![0.0f32, 1.0], &[2]).unwrap(), Some(&g)).unwrap();
    assert_eq!(coins.to_vec::<i64>().unwrap(), [0, 1, 0, 1]);
}

#[test]
fn parameters_may_be_tensors() {
    let g = seeded(4);
    let full = |value: f64| Tensor::full(&[20_000], value, DType::F32, CPU).unwrap();
    near(moments(&full(0.25).bernoulli(Some(&g)).unwrap()).0, 0.25, 0.02);
    near(moments(&full(3.0).poisson(Some(&g)).unwrap()).1, 3.0, 0.2);
    let p = Tensor::full(&[], 0.5, DType::F32, CPU).unwrap();
    near(moments(&full(10.0).binomial(&p, Some(&g)).unwrap()).0, 5.0, 0.1);
    let alpha = full(2.0);
    alpha.set_requires_grad(true).unwrap();
    let gamma = alpha.standard_gamma(Some(&g)).unwrap();
    near(moments(&gamma).0, 2.0, 0.1);
    // The mean is the concentration, so the numbers follow it one to one on average.
    let total = gamma.sum(None, false).unwrap();
    crate::autograd::backward(&[total], &[None], false, false, None).unwrap();
    near(moments(&alpha.grad().unwrap()).0, 1.0, 0.05);
    let mean = Operand::Tensor(full(1.0));
    let both = Tensor::normal(&mean, &Operand::Tensor(p.clone()), Some(&g)).unwrap();
    near(moments(&both).1, 0.25, 0.02);
    near(moments(&Tensor::normal(&3.0.into(), &mean, Some(&g)).unwrap()).0, 3.0, 0.05);
    assert!(Tensor::normal(&mean, &Operand::Tensor(full(-1.0)), Some(&g)).is_err());
    assert!(full(2.0).bernoulli(Some(&g)).is_err());
    let weights = Tensor::from_vec(vec![0.0f32, 1.0, 1.0, 0.0], &[2, 2]).unwrap();
    assert_eq!(
        weights.multinomial(3, true, Some(&g)).unwrap().to_vec::<i64>().unwrap(),
        [1, 1, 1, 0, 0, 0]
    );
    assert!(weights.multinomial(2, false, Some(&g)).is_err());
}

#[test]
fn dropout_keeps_the_mean() {
    let g = seeded(5);
    let x = Tensor::ones(&[50_000], DType::F32, CPU).unwrap();
    x.set_requires_grad(true).unwrap();
    let y = x.dropout(0.2, true, Some(&g)).unwrap();
    near(moments(&y).0, 1.0, 0.02);
    crate::autograd::backward(&[y.sum(None, false).unwrap()], &[None], false, false, None).unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap());
    assert!(x.dropout(0.2, false, Some(&g)).unwrap().is(&x));
    assert!(x.dropout(1.5, true, Some(&g)).is_err());
    let gone = x.dropout(1.0, true, Some(&g)).unwrap();
    assert_eq!(moments(&gone), (0.0, 0.0));
}

#[test]
fn named_distributions() {
    let draw = |distribution, dtype| Tensor::random(&[1000], distribution, dtype, CPU).unwrap();
    let (mean, _) = moments(&draw(Distribution::Default, DType::F32));
    near(mean, 0.5, 0.06);
    let (mean, _) = moments(&draw(Distribution::Default, DType::I64));
    near(mean, 127.0, 15.0);
    let ints = draw(Distribution::Uniform(-1.0, 1.0), DType::I64).to_vec::<i64>().unwrap();
    assert!(ints.iter().all(|v| (-1..1).contains(v)));
    let (_, var) = moments(&draw(Distribution::Normal(0.0, 2.0), DType::F64));
    near(var, 4.0, 0.8);
    let (mean, _) = moments(&draw(Distribution::Bernoulli(0.5), DType::Bool));
    near(mean, 0.5, 0.1);
}
