use super::*;
use crate::ops::advanced::tests::{check_gradient, doubles, longs};

fn list(x: &Tensor) -> Vec<f64> {
    x.to_vec::<f64>().unwrap()
}

#[test]
fn segments() {
    let x = doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[3, 2]);
    let lengths = Segments::Lengths(longs(&[2, 0, 1], &[3]));
    let of = |kind, initial| list(&x.segment_reduce(kind, &lengths, initial).unwrap());
    assert_eq!(of(SegmentReduce::Sum, None), [4.0, 6.0, 0.0, 0.0, 5.0, 6.0]);
    assert_eq!(of(SegmentReduce::Prod, Some(2.0)), [6.0, 16.0, 2.0, 2.0, 10.0, 12.0]);
    assert_eq!(of(SegmentReduce::Max, Some(4.0)), [4.0, 4.0, 4.0, 4.0, 5.0, 6.0]);
    assert!(of(SegmentReduce::Mean, None)[2].is_nan());
    let indices = Segments::Indices(longs(&[0, 0, 2], &[3]));
    assert_eq!(
        list(&x.segment_reduce(SegmentReduce::Sum, &indices, None).unwrap()),
        of(SegmentReduce::Sum, None)
    );
    let wrong = Segments::Lengths(longs(&[2, 2], &[2]));
    assert!(x.segment_reduce(SegmentReduce::Sum, &wrong, None).is_err());
}

#[test]
fn segment_gradients() {
    let x = doubles(&[1.0, 2.0, 0.0, 4.0, 5.0, 6.0, 7.0, -2.0, 1.5, 3.0], &[5, 2]);
    let offsets = Segments::Offsets(longs(&[1, 3, 3, 4], &[4]));
    let lengths = Segments::Lengths(longs(&[3, 2], &[2]));
    for kind in [SegmentReduce::Sum, SegmentReduce::Prod, SegmentReduce::Max, SegmentReduce::Min] {
        check_gradient(std::slice::from_ref(&x), |x| {
            x[0].segment_reduce(kind, &offsets, Some(0.5))
        });
    }
    for kind in [SegmentReduce::Mean, SegmentReduce::Prod] {
        check_gradient(std::slice::from_ref(&x), |x| x[0].segment_reduce(kind, &lengths, None));
    }
}

#[test]
fn repeats() {
    let x = doubles(&[1.0, 2.0, 3.0, 4.0], &[2, 2]);
    let twice = x.repeat_interleave(&Operand::from(2i64), Some(1)).unwrap();
    assert_eq!(
        (list(&twice), twice.shape().as_slice()),
        (vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0], &[2, 4][..])
    );
    let counts = Operand::Tensor(longs(&[0, 2], &[2]));
    assert_eq!(list(&x.repeat_interleave(&counts, Some(0)).unwrap()), [3.0, 4.0, 3.0, 4.0]);
    assert_eq!(
        list(&x.repeat_interleave(&Operand::from(1i64), None).unwrap()),
        [1.0, 2.0, 3.0, 4.0]
    );
    assert_eq!(
        longs(&[1, 0, 2], &[3]).repeated_places().unwrap().to_vec::<i64>().unwrap(),
        [0, 2, 2]
    );
    assert!(x.repeat_interleave(&Operand::from(-1i64), Some(0)).is_err());
    assert!(x.repeat_interleave(&Operand::from(i64::MAX), Some(0)).is_err());
    assert!(x.repeat_interleave(&Operand::Tensor(longs(&[1, 2, 3], &[3])), Some(0)).is_err());
    check_gradient(std::slice::from_ref(&x), |x| {
        x[0].repeat_interleave(&Operand::from(3i64), Some(0))
    });
    check_gradient(&[x], |x| x[0].repeat_interleave(&counts, Some(1)));
}
