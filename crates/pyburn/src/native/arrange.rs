//! Moving elements: rolling, repeating, splitting, joining, placing on diagonals.

use wrap_burn::Tensor;
use wrap_burn::ops::binary::Operand;
use wrap_burn::ops::create::check_fill;
use wrap_burn::ops::pad::PadMode;

use super::{Sizes, tensors};
use crate::args::{Ints, Number, Op, T};
use crate::dtype::{DTypeArg, DeviceArg};

/// How a border is filled, by its public name.
pub(super) fn pad_mode(name: &str, value: Option<Number>) -> wrap_burn::Result<PadMode> {
    Ok(match name {
        "constant" => PadMode::Constant(value.map_or(wrap_burn::Scalar::Int(0), |number| number.0)),
        "reflect" => PadMode::Reflect,
        "replicate" => PadMode::Replicate,
        "circular" => PadMode::Circular,
        other => {
            return Err(wrap_burn::error!(
                Value,
                "pad: expected mode to be one of constant, reflect, replicate or circular, got '{other}'"
            ));
        }
    })
}

native! {
    fn roll(input, shifts: Ints, dims: Ints) => input.roll(&shifts.0, &dims.0);
    fn rot90(input, k: i64, dims: Ints) => input.rot90(k, &dims.0);
    fn repeat(input, sizes: Ints) => input.repeat(&sizes.0);
    fn tile(input, sizes: Ints) => input.tile(&sizes.0);
    fn split(input, size: i64, dim: i64) => input.split(size, dim);
    fn split_with_sizes(input, sizes: Ints, dim: i64) => input.split_with_sizes(&sizes.0, dim);
    fn chunk(input, chunks: i64, dim: i64) => input.chunk(chunks, dim);
    fn tensor_split(input, sections: i64, dim: i64) => input.tensor_split(sections, dim);
    fn tensor_split_at(input, places: Ints, dim: i64) => input.tensor_split_at(&places.0, dim);
    fn unbind(input, dim: i64) => input.unbind(dim);
    fn movedim(input, source: Ints, destination: Ints) => input.movedim(&source.0, &destination.0);
    fn atleast_nd(input, rank: usize) => input.atleast_nd(rank);
    fn expand_as(input, other: T) => input.expand_as(&other.0);
    fn diff(input, n: i64, dim: i64, prepend: Option<T>, append: Option<T>) =>
        input.diff(n, dim, prepend.as_ref().map(|t| &t.0), append.as_ref().map(|t| &t.0));
    fn trapezoid(input, x: Option<T>, dx: f64, dim: i64) => input.trapezoid(x.as_ref().map(|t| &t.0), dx, dim);
    fn cumulative_trapezoid(input, x: Option<T>, dx: f64, dim: i64) =>
        input.cumulative_trapezoid(x.as_ref().map(|t| &t.0), dx, dim);
    fn pad(input, pads: Ints, mode: &str, value: Option<Number>) => input.pad(&pads.0, pad_mode(mode, value)?);
    fn diag_embed(input, offset: i64, dim1: i64, dim2: i64) => input.diag_embed(offset, dim1, dim2);
    fn diag(input, offset: i64) => input.diag(offset);
    fn diagflat(input, offset: i64) => input.diagflat(offset);
    fn trace(input) => input.trace();
    fn one_hot(input, classes: i64) => input.one_hot(classes);
    fn combinations(input, r: i64, replacement: bool) => input.combinations(r, replacement);
    fn repeat_interleave(input, repeats: Op, dim: Option<i64>) => {
        if let Operand::Tensor(counts) = &repeats.0 && counts.device() != input.device() {
            return Err(wrap_burn::error!(
                Runtime,
                "repeat_interleave: expected repeats on {}, got {}", input.device(), counts.device()
            ));
        }
        input.repeat_interleave(&repeats.0, dim)
    };
    fn repeated_places(repeats) => repeats.repeated_places();
}

native_free! {
    fn _cat(parts: Vec<T>, dim: i64) => Tensor::cat(&tensors(&parts), dim);
    fn _stack(parts: Vec<T>, dim: i64) => Tensor::stack(&tensors(&parts), dim);
    fn _hstack(parts: Vec<T>) => Tensor::hstack(&tensors(&parts));
    fn _vstack(parts: Vec<T>) => Tensor::vstack(&tensors(&parts));
    fn _dstack(parts: Vec<T>) => Tensor::dstack(&tensors(&parts));
    fn _column_stack(parts: Vec<T>) => Tensor::column_stack(&tensors(&parts));
    fn _block_diag(parts: Vec<T>) => Tensor::block_diag(&tensors(&parts));
    fn _broadcast_tensors(parts: Vec<T>) => Tensor::broadcast_tensors(&tensors(&parts));
    fn _meshgrid(parts: Vec<T>, indexing: &str) => Tensor::meshgrid(&tensors(&parts), indexing);
    fn _cartesian_prod(parts: Vec<T>) => Tensor::cartesian_prod(&tensors(&parts));
    fn _full(size: Sizes, fill: Number, dtype: DTypeArg, device: DeviceArg) => {
        check_fill("full", fill.0, dtype.0)?;
        Tensor::full(&size.0, fill.0, dtype.0, device.0)
    };
    fn _arange(start: Number, end: Number, step: Number, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::arange(start.0, end.0, step.0, dtype.0, device.0);
    fn _linspace(start: Number, end: Number, steps: i64, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::linspace(start.0, end.0, steps, dtype.0, device.0);
    fn _logspace(start: Number, end: Number, steps: i64, base: f64, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::logspace(start.0, end.0, steps, base, dtype.0, device.0);
    fn _eye(n: i64, m: Option<i64>, dtype: DTypeArg, device: DeviceArg) => Tensor::eye(n, m, dtype.0, device.0);
    fn _tril_indices(rows: i64, columns: i64, offset: i64, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::tril_indices(rows, columns, offset, dtype.0, device.0);
    fn _triu_indices(rows: i64, columns: i64, offset: i64, dtype: DTypeArg, device: DeviceArg) =>
        Tensor::triu_indices(rows, columns, offset, dtype.0, device.0);
    fn _polar(modulus: T, angle: T) => Tensor::polar(&modulus.0, &angle.0);
}
