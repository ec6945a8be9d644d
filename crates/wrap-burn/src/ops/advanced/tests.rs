use super::*;
use crate::ErrorKind;
use crate::autograd::grad;

/// A tensor of doubles.
pub(crate) fn doubles(data: &[f64], shape: &[usize]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

/// An index tensor.
pub(crate) fn longs(data: &[i64], shape: &[usize]) -> Tensor {
    Tensor::from_vec(data.to_vec(), shape).unwrap()
}

/// A mask.
pub(crate) fn mask(data: &[i64], shape: &[usize]) -> Tensor {
    longs(data, shape).to_dtype(DType::Bool).unwrap()
}

/// Compares the gradient of the weighted sum of a function's result with finite differences, for
/// each of its inputs, and sees that the gradient itself can be differentiated.
pub(crate) fn check_gradient(inputs: &[Tensor], f: impl Fn(&[Tensor]) -> Result<Tensor>) {
    let weighted = |inputs: &[Tensor]| -> Tensor {
        let y = f(inputs).unwrap();
        let weights: Vec<f64> = (0..y.numel()).map(|i| 0.3 + (i as f64 * 0.7).sin()).collect();
        y.mul(&doubles(&weights, &y.shape())).unwrap().sum(None, false).unwrap()
    };
    let leaves: Vec<Tensor> = inputs
        .iter()
        .map(|input| {
            let leaf = input.detach().deep_copy().unwrap();
            leaf.set_requires_grad(true).unwrap();
            leaf
        })
        .collect();
    let total = weighted(&leaves);
    let grads = grad(&[total], &leaves, &[None], true, true).unwrap();
    for (at, (leaf, grad)) in leaves.iter().zip(&grads).enumerate() {
        let grad = grad.as_ref().expect("every input has a gradient");
        assert_eq!(grad.shape(), leaf.shape());
        let found = grad.to_vec::<f64>().unwrap();
        let data = leaf.to_vec::<f64>().unwrap();
        for (i, &found) in found.iter().enumerate() {
            let step = 1e-5;
            let moved = |by: f64| {
                let mut data = data.clone();
                data[i] += by;
                let mut inputs: Vec<Tensor> = inputs.to_vec();
                inputs[at] = doubles(&data, &leaf.shape());
                weighted(&inputs).item().unwrap().to_f64()
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * step);
            assert!(
                (found - expected).abs() < 1e-6,
                "input {at}, element {i}: {found} is not {expected}"
            );
        }
        if grad.requires_grad() {
            let square = grad.square().unwrap().sum(None, false).unwrap();
            crate::autograd::grad(&[square], &leaves, &[None], true, false).unwrap();
        }
    }
}

fn numbers(shape: &[usize]) -> Tensor {
    let data: Vec<f64> = (0..numel(shape)).map(|i| i as f64).collect();
    doubles(&data, shape)
}

#[test]
fn where_the_indices_go() {
    let x = numbers(&[2, 3, 4]);
    let (i, k) = (longs(&[1, 0], &[2]), longs(&[-1, 2], &[2]));
    let together = x.advanced_get(&[None, Some(i.clone()), Some(k.clone())]).unwrap();
    assert_eq!(together.shape().as_slice(), [2, 2]);
    assert_eq!(together.to_vec::<f64>().unwrap(), [7.0, 2.0, 19.0, 14.0]);
    let apart = x.advanced_get(&[Some(i.clone()), None, Some(k.clone())]).unwrap();
    assert_eq!(apart.shape().as_slice(), [2, 3]);
    assert_eq!(apart.to_vec::<f64>().unwrap(), [15.0, 19.0, 23.0, 2.0, 6.0, 10.0]);
    let grid = x.advanced_get(&[None, Some(i.reshape_to(&[2, 1]).unwrap()), Some(k)]).unwrap();
    assert_eq!(grid.shape().as_slice(), [2, 2, 2]);
    let one = x.advanced_get(&[None, None, Some(i.to_dtype(DType::I32).unwrap())]).unwrap();
    assert_eq!(one.shape().as_slice(), [2, 3, 2]);
    assert_eq!(one.to_vec::<f64>().unwrap()[..4], [1.0, 0.0, 5.0, 4.0]);
}

#[test]
fn masks_stand_for_what_they_name() {
    let x = numbers(&[2, 3]);
    let whole = mask(&[1, 0, 1, 0, 1, 0], &[2, 3]);
    assert_eq!(
        x.advanced_get(&[Some(whole.clone())]).unwrap().to_vec::<f64>().unwrap(),
        [0.0, 2.0, 4.0]
    );
    let columns = x.advanced_get(&[None, Some(mask(&[0, 1, 1], &[3]))]).unwrap();
    assert_eq!(columns.to_vec::<f64>().unwrap(), [1.0, 2.0, 4.0, 5.0]);
    let yes = x.advanced_get(&[Some(mask(&[1], &[]))]).unwrap();
    let no = x.advanced_get(&[Some(mask(&[0], &[]))]).unwrap();
    assert_eq!((yes.shape().as_slice(), no.shape().as_slice()), (&[1, 2, 3][..], &[0, 2, 3][..]));
    let zero = Tensor::full(&[], 9.0, DType::F64, Device::Cpu).unwrap();
    let filled = x.advanced_put(&[Some(whole)], &zero, false).unwrap();
    assert_eq!(filled.to_vec::<f64>().unwrap(), [9.0, 1.0, 9.0, 3.0, 9.0, 5.0]);
    let filled = x.advanced_put(&[Some(mask(&[1], &[]))], &zero, false).unwrap();
    assert_eq!(filled.to_vec::<f64>().unwrap(), [9.0; 6]);
}

#[test]
fn places_or_adds() {
    let x = numbers(&[3, 2]);
    let rows = [Some(longs(&[2, 0, 2], &[3]))];
    let values = doubles(&[10.0, 20.0, 30.0], &[3, 1]);
    let put = x.advanced_put(&rows, &values, false).unwrap();
    assert_eq!(put.to_vec::<f64>().unwrap(), [20.0, 20.0, 2.0, 3.0, 30.0, 30.0]);
    let sum = x.advanced_put(&rows, &values.reshape_to(&[1, 3, 1]).unwrap(), true).unwrap();
    assert_eq!(sum.to_vec::<f64>().unwrap(), [20.0, 21.0, 2.0, 3.0, 44.0, 45.0]);
    let own = x.deep_copy().unwrap();
    own.advanced_put_(&rows, &values.to_dtype(DType::F32).unwrap(), true).unwrap();
    assert_eq!(own.to_vec::<f64>().unwrap(), sum.to_vec::<f64>().unwrap());
    // A value that looks at what is written.
    own.advanced_put_(&[Some(longs(&[0, 1], &[2]))], &own.slice(0, 1, 2, 1).unwrap(), false)
        .unwrap();
    assert_eq!(own.to_vec::<f64>().unwrap(), [2.0, 3.0, 44.0, 45.0, 44.0, 45.0]);
    let half = x.to_dtype(DType::F16).unwrap();
    half.advanced_put_(&rows, &values, true).unwrap();
    assert_eq!(half.to_vec::<f64>().unwrap(), sum.to_vec::<f64>().unwrap());
    let truth = mask(&[1, 0], &[2]);
    let twice =
        truth.advanced_put(&[Some(longs(&[0, 1], &[2]))], &mask(&[1, 1], &[2]), true).unwrap();
    assert_eq!(twice.to_vec::<u8>().unwrap(), [1, 1]);
}

#[test]
fn gradients() {
    let x = doubles(&[0.1, 0.7, -0.3, 0.4, 1.1, -0.9], &[3, 2]);
    let rows = longs(&[2, 0, 2], &[3]);
    let values = doubles(&[1.0, 2.0], &[2]);
    check_gradient(std::slice::from_ref(&x), |x| x[0].advanced_get(&[Some(rows.clone())]));
    for accumulate in [false, true] {
        let places = [None, Some(longs(&[1, 0], &[2]))];
        check_gradient(&[x.clone(), values.clone()], |x| {
            x[0].advanced_put(&places, &x[1], accumulate)
        });
        check_gradient(&[x.clone(), values.clone()], |x| {
            let own = x[0].mul_scalar(2.0)?;
            own.advanced_put_(&places, &x[1], accumulate)?;
            own.square()
        });
    }
    check_gradient(&[x, doubles(&[3.0], &[])], |x| {
        let own = x[0].mul_scalar(2.0)?;
        own.advanced_put_(&[Some(mask(&[1], &[]))], &x[1], true)?;
        own.square()
    });
}

#[test]
fn errors_name_what_is_wrong() {
    let x = numbers(&[3, 2]);
    let fault = |indices: &[Option<Tensor>]| x.advanced_get(indices).unwrap_err();
    let wrong = fault(&[Some(longs(&[5], &[1]))]);
    assert_eq!(wrong.message(), "index 5 is out of bounds for dimension 0 with size 3");
    assert_eq!(wrong.kind(), ErrorKind::Index);
    assert_eq!(
        fault(&[Some(longs(&[0, 1], &[2])), Some(longs(&[0; 3], &[3]))]).kind(),
        ErrorKind::Index
    );
    assert!(fault(&[None, None, Some(longs(&[0], &[1]))]).message().contains("too many indices"));
    assert!(fault(&[Some(mask(&[1, 1], &[2]))]).message().contains("mask [2] at index 0"));
    let bytes = longs(&[1], &[1]).to_dtype(DType::U8).unwrap();
    assert!(fault(&[Some(bytes)]).message().contains(".bool()"));
    assert_eq!(fault(&[Some(doubles(&[1.0], &[1]))]).kind(), ErrorKind::Index);
    let values = numbers(&[3]);
    assert!(x.advanced_put(&[Some(longs(&[0], &[1]))], &values, false).is_err());
}
