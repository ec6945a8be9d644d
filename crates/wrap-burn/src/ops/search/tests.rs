use super::*;
use crate::ops::advanced::tests::{doubles, longs};

fn places(x: &Tensor) -> Vec<i64> {
    x.to_vec::<i64>().unwrap()
}

#[test]
fn where_values_go() {
    let sorted = doubles(&[1.0, 3.0, 5.0], &[3]);
    let values = doubles(&[3.0, 6.0], &[2]);
    let found = sorted
        .searchsorted(&Operand::Tensor(values.clone()), false, Some("right"), None, true)
        .unwrap();
    assert_eq!((places(&found), found.dtype()), (vec![2, 3], DType::I32));
    let one =
        longs(&[1, 3], &[2]).searchsorted(&Operand::from(2.5), false, None, None, false).unwrap();
    assert_eq!((places(&one), one.rank()), (vec![1], 0));
    let shuffled = doubles(&[5.0, 1.0, 3.0], &[3]);
    let sorter = longs(&[1, 2, 0], &[3]);
    let found = shuffled
        .searchsorted(&Operand::Tensor(values.clone()), false, None, Some(&sorter), false)
        .unwrap();
    assert_eq!(places(&found), [1, 3]);
    let single = Operand::Tensor(values.to_dtype(DType::F32).unwrap());
    assert!(sorted.searchsorted(&single, false, None, None, false).is_err());
    assert!(sorted.searchsorted(&Operand::from(1.0), true, Some("left"), None, false).is_err());
    assert!(sorted.searchsorted(&Operand::from(1.0), false, Some("up"), None, false).is_err());
}

#[test]
fn how_often() {
    let x = longs(&[1, 3, 1], &[3]).to_dtype(DType::U8).unwrap();
    assert_eq!(places(&x.bincount(None, 5).unwrap()), [0, 2, 0, 1, 0]);
    let sums = x.bincount(Some(&longs(&[1, 2, 3], &[3])), 0).unwrap();
    assert_eq!(
        (sums.to_vec::<f64>().unwrap(), sums.dtype()),
        (vec![0.0, 4.0, 0.0, 2.0], DType::F64)
    );
    assert!(x.bincount(None, -1).is_err() && longs(&[-1], &[1]).bincount(None, 0).is_err());
    let x = doubles(&[1.0, 2.0, 5.0], &[3]);
    assert_eq!(x.histc(2, 1.0, 5.0).unwrap().to_vec::<f64>().unwrap(), [2.0, 1.0]);
    assert!(x.histc(0, 1.0, 5.0).is_err() && x.histc(2, 5.0, 1.0).is_err());
    let (counts, edges) =
        x.histogram(&Bins::Equal { count: 2, range: None }, Some(&x), false).unwrap();
    assert_eq!(counts.to_vec::<f64>().unwrap(), [3.0, 5.0]);
    assert_eq!(edges.to_vec::<f64>().unwrap(), [1.0, 3.0, 5.0]);
    let bins = Bins::Edges(doubles(&[0.0, 2.0, 4.0, 6.0], &[4]));
    let (density, _) = x.histogram(&bins, None, true).unwrap();
    assert_eq!(density.to_vec::<f64>().unwrap(), [1.0 / 6.0; 3]);
}

#[test]
fn distinct() {
    let x = longs(&[3, 1, 3, 3, 2, 1], &[2, 3]);
    let (values, inverse, counts) = x.unique(None).unwrap();
    assert_eq!((places(&values), places(&counts)), (vec![1, 2, 3], vec![2, 1, 3]));
    assert_eq!(
        (places(&inverse), inverse.shape().as_slice()),
        (vec![2, 0, 2, 2, 1, 0], &[2, 3][..])
    );
    let (values, _, _) = x.to_dtype(DType::I8).unwrap().unique_consecutive(None).unwrap();
    assert_eq!((places(&values), values.dtype()), (vec![3, 1, 3, 2, 1], DType::I8));
    let rows = longs(&[2, 1, 1, 1, 2, 1], &[3, 2]);
    let (values, inverse, counts) = rows.unique(Some(0)).unwrap();
    assert_eq!(
        (places(&values), places(&inverse), places(&counts)),
        (vec![1, 1, 2, 1], vec![1, 0, 1], vec![1, 2])
    );
    assert_eq!(places(&longs(&[4], &[]).unique(Some(0)).unwrap().0), [4]);
}

#[test]
fn among_others() {
    let x = longs(&[1, 2, 3], &[3]);
    let tests = doubles(&[2.0, 2.5], &[2]);
    assert_eq!(x.isin(&tests, false).unwrap().to_vec::<u8>().unwrap(), [0, 1, 0]);
    assert_eq!(x.isin(&tests, true).unwrap().to_vec::<u8>().unwrap(), [1, 0, 1]);
}
