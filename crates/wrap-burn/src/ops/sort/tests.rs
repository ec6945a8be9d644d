use super::*;
use crate::ops::advanced::tests::{check_gradient, doubles};

fn list(x: &Tensor) -> Vec<f64> {
    x.to_vec::<f64>().unwrap()
}

fn sample() -> Tensor {
    doubles(&[3.0, 1.0, 2.0, 0.5, 5.0, -4.0], &[2, 3])
}

#[test]
fn in_order() {
    let x = sample();
    let (values, places) = x.sort(-1, true).unwrap();
    assert_eq!(list(&values), [3.0, 2.0, 1.0, 5.0, 0.5, -4.0]);
    assert_eq!(places.to_vec::<i64>().unwrap(), [0, 2, 1, 1, 0, 2]);
    assert_eq!(list(&x.msort().unwrap()), [0.5, 1.0, -4.0, 3.0, 5.0, 2.0]);
    let (values, places) = x.to_dtype(DType::BF16).unwrap().topk(2, 1, false, true).unwrap();
    assert_eq!((list(&values), values.dtype()), (vec![1.0, 2.0, -4.0, 0.5], DType::BF16));
    assert_eq!(places.to_vec::<i64>().unwrap(), [1, 2, 2, 0]);
    assert!(x.topk(4, 1, true, true).is_err());
    let scalar = doubles(&[2.0], &[]);
    assert_eq!(list(&scalar.sort(0, false).unwrap().0), [2.0]);
    assert_eq!(list(&scalar.topk(1, 0, true, true).unwrap().0), [2.0]);
    check_gradient(&[sample()], |x| x[0].sort(0, false)?.0.square());
    check_gradient(&[sample()], |x| Ok(x[0].topk(2, 1, true, true)?.0));
}

#[test]
fn ranks() {
    let x = sample();
    let (values, places) = x.kthvalue(2, 1, true).unwrap();
    assert_eq!((list(&values), values.shape().as_slice()), (vec![2.0, 0.5], &[2, 1][..]));
    assert_eq!(places.to_vec::<i64>().unwrap(), [2, 0]);
    assert!(x.kthvalue(4, 1, false).is_err() && x.kthvalue(0, 1, false).is_err());
    assert_eq!(list(&x.median().unwrap()), [1.0]);
    assert_eq!(list(&x.median_dim(0, false).unwrap().0), [0.5, 1.0, -4.0]);
    let spoilt = doubles(&[1.0, f64::NAN, 3.0, 2.0], &[4]);
    assert!(list(&spoilt.median().unwrap())[0].is_nan());
    assert_eq!(list(&spoilt.nanmedian().unwrap()), [2.0]);
    assert!(list(&doubles(&[], &[0]).median().unwrap())[0].is_nan());
    let (values, places) = doubles(&[2.0, 1.0, 2.0, 1.0], &[4]).mode(0, false).unwrap();
    assert_eq!((list(&values), places.to_vec::<i64>().unwrap()), (vec![1.0], vec![3]));
    check_gradient(&[sample()], |x| x[0].median_dim(1, true)?.0.square());
    check_gradient(&[sample()], |x| {
        Ok(x[0].kthvalue(3, 0, false).or(x[0].kthvalue(2, 0, false))?.0)
    });
    check_gradient(&[sample()], |x| x[0].nanmedian());
}

#[test]
fn quantiles() {
    let x = doubles(&[4.0, 1.0, 2.0, 8.0, 1.0, 3.0, 3.0, f64::NAN], &[2, 4]);
    let q = doubles(&[0.25, 0.4], &[2]);
    let half = Operand::from(0.4);
    let first = x.slice(0, 0, 1, 1).unwrap();
    let of =
        |interpolation| list(&first.quantile(&half, Some(1), false, interpolation).unwrap())[0];
    assert!((of(Interpolation::Linear) - 2.4).abs() < 1e-12);
    assert_eq!(of(Interpolation::Lower), 2.0);
    assert_eq!(of(Interpolation::Higher), 4.0);
    assert_eq!(of(Interpolation::Midpoint), 3.0);
    assert_eq!(of(Interpolation::Nearest), 2.0);
    let both =
        x.quantile(&Operand::Tensor(q.clone()), Some(-1), true, Interpolation::Linear).unwrap();
    assert_eq!(both.shape().as_slice(), [2, 2, 1]);
    let both = list(&both);
    assert!(
        both[0] == 1.75 && both[1].is_nan() && (both[2] - 2.4).abs() < 1e-12 && both[3].is_nan()
    );
    let present =
        list(&x.nanquantile(&Operand::from(0.5), Some(1), false, Interpolation::Linear).unwrap());
    assert_eq!(present, [3.0, 3.0]);
    let nothing = doubles(&[f64::NAN; 2], &[2])
        .nanquantile(&half, None, true, Interpolation::Linear)
        .unwrap();
    assert!(list(&nothing)[0].is_nan() && nothing.shape().as_slice() == [1]);
    assert!(first.quantile(&Operand::from(1.5), None, false, Interpolation::Linear).is_err());
    assert!(
        x.to_dtype(DType::F16)
            .unwrap()
            .quantile(&half, None, false, Interpolation::Linear)
            .is_err()
    );
    check_gradient(&[sample(), q.clone()], |x| {
        x[0].quantile(&Operand::Tensor(x[1].clone()), Some(0), false, Interpolation::Linear)
    });
    check_gradient(&[sample()], |x| x[0].nanquantile(&half, None, false, Interpolation::Midpoint));
}
