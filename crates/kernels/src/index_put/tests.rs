use std::marker::PhantomData;

use super::*;
use crate::Error;

fn view<'a, T>(data: &'a [T], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, T> {
    Strided { data, shape, strides, offset: 0 }
}

fn target<'a, T>(data: &'a mut [T], shape: &'a [usize], strides: &'a [isize]) -> StridedMut<'a, T> {
    StridedMut { data: data.as_mut_ptr(), shape, strides, offset: 0, lifetime: PhantomData }
}

#[test]
fn rows_by_index_and_by_negative_index() {
    let x: Vec<i32> = (0..12).collect();
    let x = view(&x, &[4, 3], &[3, 1]);
    let rows = [-1i64, 0];
    let got = index_get(&x, &[Some(view(&rows, &[2], &[1])), None], 0).unwrap();
    assert_eq!(got, [9, 10, 11, 0, 1, 2]);
    let columns = index_get(&x, &[None, Some(view(&rows, &[2], &[1]))], 1).unwrap();
    assert_eq!(columns, [2, 0, 5, 3, 8, 6, 11, 9]);
    // The index's dimension in front instead.
    let columns = index_get(&x, &[None, Some(view(&rows, &[2], &[1]))], 0).unwrap();
    assert_eq!(columns, [2, 5, 8, 11, 0, 3, 6, 9]);
}

#[test]
fn several_indices_meet_in_one_shape() {
    // x[i, j, k] is 100 i + 10 j + k over [2, 3, 4].
    let x: Vec<i64> = (0..24).map(|v| v / 12 * 100 + v / 4 % 3 * 10 + v % 4).collect();
    let x = view(&x, &[2, 3, 4], &[12, 4, 1]);
    // Broadcast to [2, 2]: i along the first dimension, k along the second.
    let (i, k) = ([0i64, 1], [3i64, -4]);
    let indices = [Some(view(&i, &[2, 2], &[1, 0])), None, Some(view(&k, &[2, 2], &[0, 1]))];
    let got = index_get(&x, &indices, 0).unwrap();
    assert_eq!(got, [3, 13, 23, 0, 10, 20, 103, 113, 123, 100, 110, 120]);
    let last = index_get(&x, &indices, 1).unwrap();
    assert_eq!(last, [3, 0, 103, 100, 13, 10, 113, 110, 23, 20, 123, 120]);
    let all = index_get(&x, &[None, None, None], 0).unwrap();
    assert_eq!(all, x.data);
}

#[test]
fn bad_indices_name_their_dimension() {
    let x = [0u8; 6];
    let x = view(&x, &[2, 3], &[3, 1]);
    let bad = [0i64, 3];
    assert_eq!(
        index_get(&x, &[None, Some(view(&bad, &[2], &[1]))], 1),
        Err(Error::Index { index: 3, dim: 1, size: 3 })
    );
    assert_eq!(
        index_get(&x, &[Some(view(&[-3], &[], &[])), None], 0),
        Err(Error::Index { index: -3, dim: 0, size: 2 })
    );
    let none = index_get(&x, &[Some(view(&[], &[0], &[1])), None], 0).unwrap();
    assert!(none.is_empty());
}

#[test]
fn puts_and_accumulates() {
    let mut out = [0.0f32; 6];
    let rows = [1i64, -1, 0];
    let indices = [Some(view(&rows, &[3], &[1])), None];
    let values = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let values = view(&values, &[3, 2], &[2, 1]);
    index_put(target(&mut out, &[3, 2], &[2, 1]), &indices, 0, &values).unwrap();
    assert_eq!(out, [5.0, 6.0, 1.0, 2.0, 3.0, 4.0]);
    let rows = [0i64, 0, 2];
    let columns = [1i64, -1, 0];
    let indices = [Some(view(&rows, &[3], &[1])), Some(view(&columns, &[3], &[1]))];
    let one = view(&[10.0f32], &[3], &[0]);
    index_put_accumulate(target(&mut out, &[3, 2], &[2, 1]), &indices, 0, &one).unwrap();
    assert_eq!(out, [5.0, 26.0, 1.0, 2.0, 13.0, 4.0]);
    // The target transposed, the values of a middle dimension.
    let mut out = [0i64; 6];
    let indices = [None, Some(view(&[2], &[1], &[1]))];
    index_put(target(&mut out, &[2, 3], &[1, 2]), &indices, 1, &view(&[7, 8], &[2, 1], &[1, 1]))
        .unwrap();
    assert_eq!(out, [0, 0, 0, 0, 7, 8]);
}

#[test]
fn large_lookups_agree_with_the_plain_loop() {
    let (rows, width, count) = (1000usize, 48usize, 3000usize);
    let table: Vec<f32> = (0..rows * width).map(|i| i as f32).collect();
    let index: Vec<i64> = (0..count as i64).map(|i| (i * 7919) % 2000 - 1000).collect();
    let strides = [width as isize, 1];
    let length = [count];
    let indices = [Some(view(&index, &length, &[1])), None];
    let got = index_get(&view(&table, &[rows, width], &strides), &indices, 0).unwrap();
    let mut sum = vec![0.0f32; rows * width];
    let shape = [count, width];
    let values = view(&got, &shape, &strides);
    index_put_accumulate(target(&mut sum, &[rows, width], &strides), &indices, 0, &values).unwrap();
    let mut expected = vec![0.0f32; rows * width];
    for (place, &row) in index.iter().enumerate() {
        let row = row.rem_euclid(rows as i64) as usize;
        assert_eq!(got[place * width..][..width], table[row * width..][..width]);
        for k in 0..width {
            expected[row * width + k] += table[row * width + k];
        }
    }
    assert_eq!(sum, expected);
}
