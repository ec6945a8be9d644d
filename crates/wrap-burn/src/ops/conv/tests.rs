use super::*;
use crate::ops::linalg::tests::{gradcheck, noise};

fn arguments<'a>(
    stride: &'a [i64],
    padding: &'a [i64],
    dilation: &'a [i64],
    groups: i64,
) -> ConvArguments<'a> {
    ConvArguments { stride, padding: Border::Each(padding), dilation, groups }
}

#[test]
fn gradients() {
    for dtype in [DType::F64, DType::C128] {
        let inputs =
            [noise(&[2, 4, 5, 6], dtype, 1), noise(&[6, 2, 2, 3], dtype, 2), noise(&[6], dtype, 3)];
        gradcheck("conv2d", &inputs, true, &|x| {
            Ok(vec![x[0].convolution(
                2,
                &x[1],
                Some(&x[2]),
                arguments(&[2, 1], &[1, 2], &[2, 1], 2),
            )?])
        });
        let inputs =
            [noise(&[2, 4, 3, 2], dtype, 1), noise(&[4, 3, 2, 3], dtype, 2), noise(&[6], dtype, 3)];
        gradcheck("conv_transpose2d", &inputs, true, &|x| {
            let arguments = arguments(&[2, 3], &[1, 0], &[1, 2], 2);
            Ok(vec![x[0].convolution_transposed(2, &x[1], Some(&x[2]), arguments, &[1, 2])?])
        });
    }
    let inputs = [noise(&[2, 2, 7], DType::F64, 1), noise(&[3, 2, 4], DType::F64, 2)];
    gradcheck("conv1d", &inputs, true, &|x| {
        let same = ConvArguments { padding: Border::Same, ..arguments(&[1], &[], &[1], 1) };
        Ok(vec![x[0].convolution(1, &x[1], None, same)?])
    });
    // A window more would fit into the result than it came from.
    let inputs = [noise(&[1, 2, 3], DType::F64, 1), noise(&[2, 1, 2], DType::F64, 2)];
    gradcheck("conv_transpose1d", &inputs, true, &|x| {
        let arguments = arguments(&[1], &[0], &[3], 1);
        Ok(vec![x[0].convolution_transposed(1, &x[1], None, arguments, &[2])?])
    });
    let inputs = [noise(&[2, 3, 3, 4, 3], DType::F64, 1), noise(&[2, 3, 2, 2, 2], DType::F64, 2)];
    gradcheck("conv3d", &inputs, true, &|x| {
        Ok(vec![x[0].convolution(3, &x[1], None, arguments(&[1, 2, 1], &[1, 0, 1], &[1], 1))?])
    });
}

#[test]
fn integers_and_halves() {
    let x = Tensor::from_vec(vec![1i64, 2, 3, 4], &[1, 1, 4]).unwrap();
    let w = Tensor::from_vec(vec![1i64, -1], &[1, 1, 2]).unwrap();
    let plain = arguments(&[1], &[0], &[1], 1);
    for dtype in [DType::I64, DType::I32, DType::I16, DType::F16, DType::BF16, DType::C64] {
        let of = |x: &Tensor| x.to_dtype(dtype).unwrap();
        let y = of(&x).convolution(1, &of(&w), None, plain).unwrap();
        assert_eq!(y.dtype(), dtype);
        let y = if dtype.is_complex() { y.real().unwrap() } else { y };
        assert_eq!(y.to_vec::<f64>().unwrap(), [-1.0; 3]);
    }
    let bools = x.to_dtype(DType::Bool).unwrap();
    assert!(bools.convolution(1, &bools, None, plain).is_err());
}

#[test]
fn sizes_that_do_not_fit() {
    let x = noise(&[1, 4, 5], DType::F32, 1);
    let w = noise(&[6, 2, 3], DType::F32, 2);
    let message = |x: &Tensor, w: &Tensor, bias: Option<&Tensor>, a: ConvArguments<'_>| {
        x.convolution(1, w, bias, a).unwrap_err().message().to_string()
    };
    let good = arguments(&[1], &[0], &[1], 2);
    assert!(x.convolution(1, &w, None, good).is_ok());
    assert!(message(&x, &w, None, arguments(&[1], &[0], &[1], 1)).contains("2 channels"));
    assert!(message(&x, &w, None, arguments(&[0], &[0], &[1], 2)).contains("stride"));
    assert!(message(&x, &w, None, arguments(&[1, 1], &[0], &[1], 2)).contains("1 values"));
    assert!(message(&x, &w, None, arguments(&[1], &[-1], &[1], 2)).contains("padding"));
    assert!(message(&x, &w, None, arguments(&[1], &[0], &[3], 2)).contains("Kernel size"));
    assert!(message(&x, &w, None, arguments(&[1], &[0], &[1], 4)).contains("divisible"));
    assert!(message(&x, &w, Some(&noise(&[5], DType::F32, 3)), good).contains("bias"));
    assert!(message(&x, &w.to_dtype(DType::F64).unwrap(), None, good).contains("dtype"));
    assert!(message(&noise(&[4], DType::F32, 1), &w, None, good).contains("2D (unbatched)"));
    let w = noise(&[4, 2, 3], DType::F32, 2);
    let wrong = |extra: i64, padding: i64| {
        let arguments = arguments(&[2], std::slice::from_ref(&padding), &[1], 1);
        let fault = x.convolution_transposed(1, &w, None, arguments, &[extra]).unwrap_err();
        fault.message().to_string()
    };
    assert!(wrong(2, 0).contains("output padding"));
    assert!(wrong(0, 6).contains("too small"));
}

#[test]
fn an_empty_batch_has_an_empty_result() {
    let x = Tensor::zeros(&[0, 2, 5], DType::F32, Device::Cpu).unwrap();
    let w = noise(&[3, 2, 2], DType::F32, 2);
    let y = x.convolution(1, &w, None, arguments(&[1], &[0], &[1], 1)).unwrap();
    assert_eq!(y.shape().as_slice(), [0, 3, 4]);
}
