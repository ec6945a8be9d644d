use super::*;
use crate::ops::linalg::tests::{gradcheck, noise};

fn given<'a>(
    kernel: &'a [i64],
    stride: &'a [i64],
    padding: &'a [i64],
    dilation: &'a [i64],
) -> Sliding<'a> {
    Sliding { kernel, stride, padding, dilation }
}

#[test]
fn gradients() {
    let x = noise(&[2, 2, 5, 6], DType::F64, 1);
    let windows = given(&[3, 2], &[2, 1], &[1, 0], &[1]);
    gradcheck("max_pool2d", std::slice::from_ref(&x), true, &|x| {
        Ok(vec![x[0].max_pool(2, windows, true)?.0])
    });
    gradcheck("adaptive_max_pool2d", std::slice::from_ref(&x), true, &|x| {
        Ok(vec![x[0].adaptive_max_pool(2, &[2, 4])?.0])
    });
    for (ceil, pads, divisor) in [(false, true, None), (true, false, None), (true, true, Some(3))] {
        gradcheck("avg_pool2d", std::slice::from_ref(&x), true, &|x| {
            Ok(vec![x[0].avg_pool(2, windows, ceil, pads, divisor)?])
        });
    }
    gradcheck("adaptive_avg_pool2d", std::slice::from_ref(&x), true, &|x| {
        Ok(vec![x[0].adaptive_avg_pool(2, &[3, 4])?])
    });
    let samples =
        Tensor::from_vec(vec![0.3, 0.8, 0.1, 0.5, 0.9, 0.2, 0.4, 0.7], &[2, 2, 2]).unwrap();
    gradcheck("fractional_max_pool2d", std::slice::from_ref(&x), true, &|x| {
        Ok(vec![x[0].fractional_max_pool(2, &samples, &[2, 3], &[3, 2])?.0])
    });
    let (best, places) = x.max_pool(2, given(&[2], &[], &[0], &[1]), false).unwrap();
    gradcheck("max_unpool2d", &[best], true, &|x| {
        Ok(vec![x[0].max_unpool(2, &places, &[5, 6])?])
    });
}

#[test]
fn sizes_round_up_where_a_window_starts_inside() {
    let x = noise(&[1, 1, 6], DType::F32, 1);
    let count = |stride: i64, padding: i64, ceil: bool| {
        let (stride, padding) = ([stride], [padding]);
        x.max_pool(1, given(&[3], &stride, &padding, &[1]), ceil).unwrap().0.shape()[2]
    };
    assert_eq!([count(2, 0, false), count(2, 0, true)], [2, 3]);
    // A third window would start in the padding after the last element.
    assert_eq!(count(4, 1, true), 2);
}

#[test]
fn bad_windows_are_refused() {
    let x = noise(&[1, 2, 4, 4], DType::F32, 1);
    let message =
        |windows: Sliding<'_>| x.max_pool(2, windows, false).unwrap_err().message().to_string();
    assert!(message(given(&[0], &[1], &[0], &[1])).contains("kernel size"));
    assert!(message(given(&[2], &[0], &[0], &[1])).contains("stride"));
    assert!(message(given(&[2], &[], &[2], &[1])).contains("half"));
    assert!(message(given(&[2], &[], &[-1], &[1])).contains("non-negative"));
    assert!(message(given(&[2], &[], &[0], &[0])).contains("dilation"));
    assert!(message(given(&[5], &[], &[0], &[1])).contains("too small"));
    assert!(message(given(&[2, 2, 2], &[], &[0], &[1])).contains("list of 2"));
    assert!(x.max_pool(1, given(&[2], &[], &[0], &[1]), false).is_err());
    assert!(x.adaptive_avg_pool(2, &[-1]).is_err());
    assert!(x.avg_pool(2, given(&[2], &[], &[0], &[1]), false, true, Some(0)).is_err());
    let places = Tensor::full(&[1, 2, 4, 4], 99, DType::I64, Device::Cpu).unwrap();
    let fault = x.max_unpool(2, &places, &[8, 8]).unwrap_err();
    assert!(fault.message().contains("invalid max index"), "{fault}");
}
