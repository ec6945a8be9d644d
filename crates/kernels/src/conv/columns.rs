//! Convolutions as matrix products over columns: for every element type, and the definition that
//! the faster ways are tested against.

use super::{ConvElement, Convolution};
use crate::matmul::matmul;
use crate::window::{fold, unfold};
use crate::{Strided, contiguous_strides};

/// The products of the matrices of two batches.
fn product<T: ConvElement>(
    (a, a_shape, a_strides): (&[T], [usize; 3], [isize; 3]),
    (b, b_shape, b_strides): (&[T], [usize; 3], [isize; 3]),
) -> Vec<T> {
    matmul(
        Strided { data: a, shape: &a_shape, strides: &a_strides, offset: 0 },
        Strided { data: b, shape: &b_shape, strides: &b_strides, offset: 0 },
    )
}

fn plain<T>(data: &[T], shape: [usize; 3]) -> (&[T], [usize; 3], [isize; 3]) {
    let strides = contiguous_strides(&shape);
    (data, shape, [strides[0], strides[1], strides[2]])
}

fn turned<T>(data: &[T], shape: [usize; 3]) -> (&[T], [usize; 3], [isize; 3]) {
    let (data, [n, rows, cols], [batch, step, one]) = plain(data, shape);
    (data, [n, cols, rows], [batch, one, step])
}

fn add_bias<T: ConvElement>(out: &mut [T], plane: usize, bias: Option<&[T]>) {
    let Some(bias) = bias else { return };
    for (at, row) in out.chunks_exact_mut(plane.max(1)).enumerate() {
        let value = bias[at % bias.len()];
        row.iter_mut().for_each(|slot| *slot = slot.plus(value));
    }
}

/// See [`ConvElement::forward`].
pub(super) fn forward<T: ConvElement>(
    c: &Convolution,
    x: &[T],
    weight: &[T],
    bias: Option<&[T]>,
) -> Vec<T> {
    let (planes, depth) = (c.groups * c.channels, c.channels * c.windows.taps());
    let (image, windows) = (planes * c.windows.area(), c.windows.windows());
    let mut out = Vec::with_capacity(c.outputs());
    for at in 0..c.batch {
        let columns = unfold(&x[at * image..][..image], planes, &c.windows);
        out.extend(product(
            plain(weight, [c.groups, c.filters, depth]),
            plain(&columns, [c.groups, depth, windows]),
        ));
    }
    add_bias(&mut out, windows, bias);
    out
}

/// See [`ConvElement::input`].
pub(super) fn input<T: ConvElement>(
    c: &Convolution,
    g: &[T],
    weight: &[T],
    bias: Option<&[T]>,
) -> Vec<T> {
    let (planes, depth) = (c.groups * c.channels, c.channels * c.windows.taps());
    let windows = c.windows.windows();
    let image = c.groups * c.filters * windows;
    let mut out = Vec::with_capacity(c.inputs());
    for at in 0..c.batch {
        let columns = product(
            turned(weight, [c.groups, c.filters, depth]),
            plain(&g[at * image..][..image], [c.groups, c.filters, windows]),
        );
        out.extend(fold(&columns, planes, &c.windows));
    }
    add_bias(&mut out, c.windows.area(), bias);
    out
}

/// See [`ConvElement::weight`].
pub(super) fn weight<T: ConvElement>(c: &Convolution, x: &[T], g: &[T]) -> Vec<T> {
    let (planes, depth) = (c.groups * c.channels, c.channels * c.windows.taps());
    let (image, windows) = (planes * c.windows.area(), c.windows.windows());
    let result = c.groups * c.filters * windows;
    let mut out = vec![T::zeroed(); c.weights()];
    for at in 0..c.batch {
        let columns = unfold(&x[at * image..][..image], planes, &c.windows);
        let part = product(
            plain(&g[at * result..][..result], [c.groups, c.filters, windows]),
            turned(&columns, [c.groups, depth, windows]),
        );
        for (sum, value) in out.iter_mut().zip(part) {
            *sum = sum.plus(value);
        }
    }
    out
}
