use super::*;
use crate::ops::advanced::tests::{check_gradient, doubles, longs, mask};

fn list(x: &Tensor) -> Vec<f64> {
    x.to_vec::<f64>().unwrap()
}

#[test]
fn places_that_are_not_zero() {
    let x = doubles(&[0.0, 2.0, 0.0, -1.0], &[2, 2]);
    let places = x.nonzero().unwrap();
    assert_eq!(
        (places.shape().as_slice(), places.to_vec::<i64>().unwrap()),
        (&[2, 2][..], vec![0, 1, 1, 1])
    );
    let columns = x.to_dtype(DType::F16).unwrap().nonzero_tuple().unwrap();
    assert_eq!(columns[0].to_vec::<i64>().unwrap(), [0, 1]);
    let scalar = doubles(&[2.0], &[]);
    assert_eq!(scalar.nonzero().unwrap().shape().as_slice(), [1, 0]);
    assert_eq!(scalar.nonzero_tuple().unwrap()[0].to_vec::<i64>().unwrap(), [0]);
}

#[test]
fn masks() {
    let x = doubles(&[1.0, 2.0, 3.0], &[3]);
    let rows = mask(&[1, 0, 1, 0, 1, 0], &[2, 3]);
    assert_eq!(list(&x.masked_select(&rows).unwrap()), [1.0, 3.0, 2.0]);
    let source = doubles(&[10.0, 20.0, 30.0, 40.0], &[4]);
    let placed = x.masked_scatter(&rows, &source).unwrap();
    assert_eq!(list(&placed), [10.0, 2.0, 20.0, 1.0, 30.0, 3.0]);
    assert!(x.masked_scatter(&rows, &x.slice(0, 0, 2, 1).unwrap()).is_err());
    assert!(x.masked_select(&longs(&[1, 0, 1], &[3])).is_err());
    check_gradient(std::slice::from_ref(&x), |x| x[0].masked_select(&rows));
    check_gradient(&[x, source], |x| x[0].masked_scatter(&rows, &x[1]));
}

#[test]
fn flat_places() {
    let x = doubles(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let places = longs(&[-1, 0, 3], &[3]);
    assert_eq!(list(&x.transpose(0, 1).unwrap().take(&places).unwrap()), [4.0, 1.0, 4.0]);
    let source = doubles(&[10.0, 20.0, 30.0], &[3]);
    assert_eq!(list(&x.put(&places, &source, false).unwrap()), [20.0, 2.0, 3.0, 30.0]);
    assert_eq!(list(&x.put(&places, &source, true).unwrap()), [21.0, 2.0, 3.0, 44.0]);
    assert!(x.take(&longs(&[4], &[1])).is_err());
    check_gradient(std::slice::from_ref(&x), |x| x[0].take(&places));
    check_gradient(&[x, source], |x| x[0].put(&places, &x[1], true));
}

#[test]
fn slices() {
    let x = doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    let index = longs(&[2, 0], &[2]);
    let source = doubles(&[7.0, 8.0, 9.0, 1.5], &[2, 2]);
    assert_eq!(list(&x.index_copy(1, &index, &source).unwrap()), [8.0, 2.0, 7.0, 1.5, 5.0, 9.0]);
    assert!(x.index_copy(1, &longs(&[-1, 0], &[2]), &source).is_err());
    assert!(x.index_copy(0, &index, &source).is_err());
    let filled = x.index_fill(1, &longs(&[-1], &[]), &Operand::from(0.5)).unwrap();
    assert_eq!(list(&filled), [1.0, 2.0, 0.5, 4.0, 5.0, 0.5]);
    let scalar = doubles(&[1.0], &[]);
    assert_eq!(
        list(&scalar.index_fill(0, &longs(&[0], &[1]), &Operand::from(2.0)).unwrap()),
        [2.0]
    );
    check_gradient(&[x.clone(), source], |x| x[0].index_copy(1, &index, &x[1]));
    check_gradient(&[x, scalar], |x| {
        x[0].index_fill(0, &longs(&[1], &[1]), &Operand::Tensor(x[1].clone()))
    });
}

#[test]
fn combining() {
    let x = doubles(&[1.0, 2.0, 3.0], &[3]);
    let index = longs(&[0, 0, 2, 0], &[4]);
    let source = doubles(&[4.0, 5.0, 0.5, 6.0, 99.0], &[5]);
    let of = |combine, own| list(&x.scatter_reduce(0, &index, &source, combine, own).unwrap());
    assert_eq!(of(Combine::Sum, true), [16.0, 2.0, 3.5]);
    assert_eq!(of(Combine::Sum, false), [15.0, 2.0, 0.5]);
    assert_eq!(of(Combine::Prod, false), [120.0, 2.0, 0.5]);
    assert_eq!(of(Combine::Mean, true), [4.0, 2.0, 1.75]);
    assert_eq!(of(Combine::Mean, false), [5.0, 2.0, 0.5]);
    assert_eq!(of(Combine::Amax, true), [6.0, 2.0, 3.0]);
    assert_eq!(of(Combine::Amax, false), [6.0, 2.0, 0.5]);
    assert_eq!(of(Combine::Amin, false), [4.0, 2.0, 0.5]);
    let whole = |t: &Tensor| t.to_dtype(DType::I8).unwrap();
    let floor = whole(&x)
        .scatter_reduce(0, &index, &whole(&source.neg().unwrap()), Combine::Mean, true)
        .unwrap();
    assert_eq!(floor.to_vec::<i64>().unwrap(), [-4, 2, 1]);
    let least = whole(&x).scatter_reduce(0, &index, &whole(&source), Combine::Amax, false).unwrap();
    assert_eq!(least.to_vec::<i64>().unwrap(), [6, 2, 0]);
    for combine in [Combine::Sum, Combine::Prod, Combine::Mean, Combine::Amax, Combine::Amin] {
        for own in [true, false] {
            check_gradient(&[x.clone(), source.clone()], |x| {
                x[0].scatter_reduce(0, &index, &x[1], combine, own)
            });
        }
    }
    assert!("median".parse::<Combine>().is_err());
}

#[test]
fn combining_slices() {
    let x = doubles(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let index = longs(&[1, 1], &[2]);
    let source = doubles(&[5.0, 6.0, 7.0, 8.5], &[2, 2]);
    let mean = x.index_reduce(0, &index, &source, Combine::Mean, false).unwrap();
    assert_eq!(list(&mean), [1.0, 2.0, 6.0, 7.25]);
    let most = x.index_reduce(1, &index, &source, Combine::Amax, true).unwrap();
    assert_eq!(list(&most), [1.0, 6.0, 3.0, 8.5]);
    assert!(x.index_reduce(0, &index, &source, Combine::Sum, true).is_err());
    check_gradient(&[x, source], |x| x[0].index_reduce(0, &index, &x[1], Combine::Prod, true));
}

#[test]
fn along_a_dimension() {
    let x = doubles(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], &[2, 3]);
    let first = longs(&[1], &[1, 1]);
    assert_eq!(list(&x.take_along_dim(&first, Some(1)).unwrap()), [1.0, 5.0]);
    assert_eq!(list(&x.take_along_dim(&first, None).unwrap()), [1.0]);
    assert!(x.take_along_dim(&longs(&[0], &[1]), Some(0)).is_err());
    check_gradient(&[x], |x| x[0].take_along_dim(&first, Some(0)));
}
