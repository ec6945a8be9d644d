use super::policy::Policy;
use super::*;
use crate::autograd::{self, ModeGuard};
use crate::ops::matmul::MatmulOp;

/// Autocast on the CPU, until it is dropped.
struct On;

impl On {
    fn cpu() -> Self {
        enter();
        set_enabled(Kind::Cpu, true);
        On
    }
}

impl Drop for On {
    fn drop(&mut self) {
        set_enabled(Kind::Cpu, false);
        set_dtype(Kind::Cpu, DType::BF16);
        leave();
    }
}

fn ones(shape: &[usize], dtype: DType) -> Tensor {
    Tensor::ones(shape, dtype, Device::Cpu).unwrap()
}

fn weight() -> Tensor {
    let weight = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    weight.set_requires_grad(true).unwrap();
    weight
}

fn cached() -> usize {
    CACHE.with_borrow(|cache| cache.len())
}

#[test]
fn off_by_default() {
    assert!(!active());
    assert!(Paused::new().is_none());
    let x = ones(&[2, 2], DType::F32);
    assert_eq!(x.matmul(&x).unwrap().dtype(), DType::F32);
}

#[test]
fn products_are_narrow_and_doubles_are_left_alone() {
    let _on = On::cpu();
    for (left, right) in [(DType::F32, DType::F32), (DType::F16, DType::F32)] {
        let product = ones(&[2, 2], left).matmul(&ones(&[2, 2], right)).unwrap();
        assert_eq!(product.dtype(), DType::BF16);
    }
    set_dtype(Kind::Cpu, DType::F16);
    let x = ones(&[2, 2], DType::F32);
    assert_eq!(x.matmul(&x).unwrap().dtype(), DType::F16);
    let double = ones(&[2, 2], DType::F64);
    assert_eq!(double.matmul(&double).unwrap().dtype(), DType::F64);
    assert!(double.matmul(&x).is_err());
    let whole = ones(&[2, 2], DType::I64);
    assert_eq!(whole.matmul(&whole).unwrap().dtype(), DType::I64);
}

#[test]
fn other_kinds_of_devices_are_left_alone() {
    set_enabled(Kind::Cuda, true);
    let x = ones(&[2, 2], DType::F32);
    let product = x.matmul(&x).unwrap();
    set_enabled(Kind::Cuda, false);
    assert_eq!(product.dtype(), DType::F32);
    let _on = On::cpu();
    let meta = Tensor::ones(&[2, 2], DType::F32, Device::Meta).unwrap();
    assert_eq!(meta.matmul(&meta).unwrap().dtype(), DType::F32);
}

#[test]
fn what_an_op_does_inside_is_as_given() {
    let _on = On::cpu();
    // Made of an SVD and a product, which would be narrowed by itself.
    let inverse = ones(&[3, 2], DType::F32).pinv(None, None, false).unwrap();
    assert_eq!(inverse.dtype(), DType::F32);
    assert!((inverse.to_vec::<f32>().unwrap()[0] - 1.0 / 6.0).abs() < 1e-6);
}

#[test]
fn writes_in_place_are_as_given() {
    let _on = On::cpu();
    let x = Tensor::full(&[1, 1], 1.001f64, DType::F32, Device::Cpu).unwrap();
    autograd::apply_into(&MatmulOp, &[&x, &ones(&[1, 1], DType::F32)]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.001], "no bfloat16 holds it");
}

#[test]
fn gradients_arrive_in_the_dtype_of_what_was_converted() {
    let (x, weight) = (ones(&[2, 2], DType::F32), weight());
    x.set_requires_grad(true).unwrap();
    let loss = {
        let _on = On::cpu();
        let product = x.matmul(&weight).unwrap();
        assert_eq!(product.dtype(), DType::BF16);
        let loss = product.sum(None, false).unwrap();
        // The walk back is not narrowed further.
        autograd::backward(std::slice::from_ref(&loss), &[None], true, false, None).unwrap();
        loss
    };
    for tensor in [&x, &weight] {
        assert_eq!(tensor.grad().unwrap().dtype(), DType::F32);
    }
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [3.0, 7.0, 3.0, 7.0]);
    autograd::backward(&[loss], &[None], false, false, None).unwrap();
    assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [6.0, 14.0, 6.0, 14.0]);
}

#[test]
fn a_weight_is_converted_once_in_a_region() {
    let (x, weight) = (ones(&[2, 2], DType::F32), weight());
    {
        let _on = On::cpu();
        let first = inputs_of("matmul", &[&x, &weight]).unwrap().unwrap();
        let second = inputs_of("matmul", &[&x, &weight]).unwrap().unwrap();
        assert!(first[1].is(&second[1]));
        assert!(!first[0].is(&second[0]), "no weight");
        assert_eq!(cached(), 1);

        // Written to, or another memory: converted anew.
        let _unrecorded = ModeGuard::grad(false);
        weight.copy_from(&ones(&[2, 2], DType::F32)).unwrap();
        let third = inputs_of("matmul", &[&x, &weight]).unwrap().unwrap();
        assert_eq!(third[1].to_vec::<f32>().unwrap(), [1.0; 4]);
        weight.set_value(Tensor::full(&[2, 2], 5.0, DType::F32, Device::Cpu).unwrap().value());
        let fourth = inputs_of("matmul", &[&x, &weight]).unwrap().unwrap();
        assert_eq!(fourth[1].to_vec::<f32>().unwrap(), [5.0; 4]);
        assert_eq!(cached(), 1);
    }
    assert_eq!(cached(), 0, "the region is left");
}

#[test]
fn what_was_converted_without_recording_is_not_recorded_later() {
    let (x, weight) = (ones(&[2, 2], DType::F32), weight());
    let _on = On::cpu();
    {
        let _unrecorded = ModeGuard::grad(false);
        assert!(!x.matmul(&weight).unwrap().requires_grad());
    }
    assert_eq!(cached(), 1);
    let loss = x.matmul(&weight).unwrap().sum(None, false).unwrap();
    autograd::backward(&[loss], &[None], false, false, None).unwrap();
    assert_eq!(weight.grad().unwrap().to_vec::<f32>().unwrap(), [2.0; 4]);
}

#[test]
fn nothing_is_kept_where_caching_is_off_or_outside_of_regions() {
    let (x, weight) = (ones(&[2, 2], DType::F32), weight());
    set_enabled(Kind::Cpu, true);
    x.matmul(&weight).unwrap();
    set_enabled(Kind::Cpu, false);
    assert_eq!(cached(), 0);
    let _on = On::cpu();
    assert!(set_caching(false));
    x.matmul(&weight).unwrap();
    assert!(!set_caching(true));
    assert_eq!(cached(), 0);
}

#[test]
fn regions_nest() {
    let (x, weight) = (ones(&[2, 2], DType::F32), weight());
    let _on = On::cpu();
    assert_eq!(enter(), 2);
    x.matmul(&weight).unwrap();
    assert_eq!(leave(), 1);
    assert_eq!(cached(), 1);
}

#[test]
fn functions_begin_by_name() {
    let _on = On::cpu();
    let (mut x, mut y) = (ones(&[2], DType::BF16), ones(&[2], DType::F32));
    let paused = begin("index_copy", &mut [&mut x, &mut y]).unwrap();
    assert!(paused.is_some());
    assert!(!active(), "what it is made of computes in what it is given");
    assert_eq!((x.dtype(), y.dtype()), (DType::F32, DType::F32));
    drop(paused);
    assert!(active());

    // Known, and left as it is; not known.
    for (name, known) in [("mv", true), ("relu", false)] {
        let mut x = ones(&[2], DType::F32);
        assert_eq!(begin(name, &mut [&mut x]).unwrap().is_some(), known);
        assert_eq!(x.dtype(), DType::F32);
    }
}

#[test]
fn the_lists_differ_between_cpu_and_gpus() {
    let on = |name| [Kind::Cpu, Kind::Wgpu, Kind::Cuda].map(|kind| Policy::of(name, kind));
    let (narrow, wide) = (Some(Policy::Narrow), Some(Policy::Wide));
    assert_eq!(on("linear"), [narrow; 3]);
    assert_eq!(on("mse_loss"), [wide; 3]);
    assert_eq!(on("linalg_svd"), [wide; 3]);
    for name in ["softmax", "exp", "sum", "pow", "layer_norm", "linalg_vector_norm"] {
        assert_eq!(on(name), [None, wide, wide], "{name}");
    }
    assert_eq!(on("addmv"), [Some(Policy::Given), narrow, narrow]);
    assert_eq!(on("scatter_add"), [Some(Policy::Widest); 3]);
    for name in ["add", "relu", "to", "batch_norm", "view"] {
        assert_eq!(on(name), [None; 3], "{name}");
    }
}

#[test]
fn a_thread_has_its_own_switch() {
    let _on = On::cpu();
    let other = std::thread::spawn(|| (active(), dtype(Kind::Cpu)));
    set_dtype(Kind::Cpu, DType::F16);
    assert_eq!(other.join().unwrap(), (false, DType::BF16));
}
