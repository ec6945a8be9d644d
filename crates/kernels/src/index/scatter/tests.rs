use std::marker::PhantomData;

use num_complex::Complex;

use super::*;

fn view<'a, T>(data: &'a [T], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, T> {
    Strided { data, shape, strides, offset: 0 }
}

fn target<'a, T>(data: &'a mut [T], shape: &'a [usize], strides: &'a [isize]) -> StridedMut<'a, T> {
    StridedMut { data: data.as_mut_ptr(), shape, strides, offset: 0, lifetime: PhantomData }
}

#[test]
fn scatters_as_the_documentation_of_torch_shows() {
    let source: Vec<i64> = (1..=10).collect();
    let source = view(&source, &[2, 5], &[5, 1]);
    let mut out = [0i64; 15];
    let index = [0, 1, 2, 0];
    scatter(target(&mut out, &[3, 5], &[5, 1]), 0, &view(&index, &[1, 4], &[4, 1]), &source)
        .unwrap();
    assert_eq!(out, [1, 0, 0, 4, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0]);
    let mut out = [0i64; 15];
    let index = [0, 1, 2, 0, 1, 4];
    scatter(target(&mut out, &[3, 5], &[5, 1]), 1, &view(&index, &[2, 3], &[3, 1]), &source)
        .unwrap();
    assert_eq!(out, [1, 2, 3, 0, 0, 6, 7, 0, 0, 8, 0, 0, 0, 0, 0]);
}

#[test]
fn the_last_of_several_stands() {
    let mut out = [0i32; 2];
    let index = view(&[1, 1, 0, 1], &[4], &[1]);
    scatter(target(&mut out, &[2], &[1]), 0, &index, &view(&[1, 2, 3, 4], &[4], &[1])).unwrap();
    assert_eq!(out, [3, 4]);
}

#[test]
fn reductions_start_from_what_is_there() {
    let source = [1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let source = view(&source, &[6], &[1]);
    let index = view(&[0, 1, 0, 1, 2, 1], &[6], &[1]);
    let run = |kind| {
        let mut out = [1.0, 2.0, 3.0, 4.0];
        scatter_reduce(target(&mut out, &[4], &[1]), 0, &index, &source, kind).unwrap();
        out
    };
    assert_eq!(run(ScatterReduce::Add), [5.0, 14.0, 8.0, 4.0]);
    assert_eq!(run(ScatterReduce::Mul), [3.0, 96.0, 15.0, 4.0]);
    assert_eq!(run(ScatterReduce::Max), [3.0, 6.0, 5.0, 4.0]);
    assert_eq!(run(ScatterReduce::Min), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn extremes_keep_nan_and_integers_wrap() {
    for kind in [ScatterReduce::Min, ScatterReduce::Max] {
        for source in [[f32::NAN, 1.0], [1.0, f32::NAN]] {
            let mut out = [0.0f32];
            let index = view(&[0], &[2], &[0]);
            let source = view(&source, &[2], &[1]);
            scatter_reduce(target(&mut out, &[1], &[1]), 0, &index, &source, kind).unwrap();
            assert!(out[0].is_nan());
        }
    }
    let mut out = [200u8];
    let (index, source) = (view(&[0], &[1], &[1]), view(&[100u8], &[1], &[1]));
    scatter_reduce(target(&mut out, &[1], &[1]), 0, &index, &source, ScatterReduce::Add).unwrap();
    assert_eq!(out, [44]);
}

#[test]
fn complex_numbers_have_no_order() {
    let mut out = [Complex::new(1.0f32, 1.0)];
    let source = [Complex::new(0.0, 2.0)];
    let (index, source) = (view(&[0], &[1], &[1]), view(&source, &[1], &[1]));
    let mut run = |kind| {
        scatter_reduce(target(&mut out, &[1], &[1]), 0, &index, &source, kind).map(|()| out[0])
    };
    assert_eq!(run(ScatterReduce::Mul), Ok(Complex::new(-2.0, 2.0)));
    assert!(run(ScatterReduce::Max).is_err());
}

#[test]
fn a_bad_index_leaves_the_target_alone() {
    let mut out = [0i64; 2];
    let index = view(&[0, 2], &[2], &[1]);
    let source = view(&[1, 1], &[2], &[1]);
    assert_eq!(
        scatter(target(&mut out, &[2], &[1]), 0, &index, &source),
        Err(Error::Index { index: 2, dim: 0, size: 2 })
    );
    assert_eq!(out, [0, 0]);
}

#[test]
fn adds_slices() {
    let source = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let index = [2, 0, 2];
    let index = view(&index, &[3], &[1]);
    let mut out = [1.0f32; 6];
    // Rows of a 3 x 2 source into rows of a 3 x 2 target.
    let rows = view(&source, &[3, 2], &[2, 1]);
    index_add(target(&mut out, &[3, 2], &[2, 1]), 0, &index, &rows, 2.0).unwrap();
    assert_eq!(out, [7.0, 9.0, 1.0, 1.0, 13.0, 17.0]);
    // Columns of a 2 x 3 source into the columns of a transposed target.
    let columns = view(&source, &[2, 3], &[3, 1]);
    let mut out = [0.0f32; 6];
    index_add(target(&mut out, &[2, 3], &[1, 2]), 1, &index, &columns, 1.0).unwrap();
    assert_eq!(out, [2.0, 5.0, 0.0, 0.0, 4.0, 10.0]);
}

#[test]
fn many_rows_add_up_in_order_on_any_number_of_threads() {
    let (rows, width) = (4000usize, 64usize);
    let source: Vec<f32> = (0..rows * width).map(|i| 1.0 / (1 + i % 977) as f32).collect();
    let index: Vec<i64> = (0..rows as i64).map(|i| i * i % 13).collect();
    let mut expected = vec![0.0f32; 13 * width];
    for (row, &to) in index.iter().enumerate() {
        for k in 0..width {
            expected[to as usize * width + k] += source[row * width + k];
        }
    }
    let run = |threads| {
        let mut out = vec![0.0f32; 13 * width];
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let strides = [width as isize, 1];
            index_add(
                target(&mut out, &[13, width], &strides),
                0,
                &view(&index, &[rows], &[1]),
                &view(&source, &[rows, width], &strides),
                1.0,
            )
            .unwrap();
        });
        out
    };
    assert_eq!(run(1), expected);
    assert_eq!(run(3), expected);
}
