//! Convolutions, pools, windows, resizing and sampling of images.

use wrap_burn::Tensor;
use wrap_burn::ops::conv::{Border, ConvArguments};
use wrap_burn::ops::grid_sample::{Coordinates, Outside, Sampler, Sampling};
use wrap_burn::ops::interpolate::{Filter, Interpolation};
use wrap_burn::ops::window::Sliding;

use crate::args::{Ints, T};

fn tensor(argument: &Option<T>) -> Option<&Tensor> {
    argument.as_ref().map(|argument| &argument.0)
}

fn arguments<'a>(
    stride: &'a Ints,
    padding: Option<&'a Ints>,
    dilation: &'a Ints,
    groups: i64,
) -> ConvArguments<'a> {
    let padding = padding.map_or(Border::Same, |padding| Border::Each(&padding.0));
    ConvArguments { stride: &stride.0, padding, dilation: &dilation.0, groups }
}

fn sliding<'a>(
    kernel: &'a Ints,
    stride: &'a Ints,
    padding: &'a Ints,
    dilation: &'a Ints,
) -> Sliding<'a> {
    Sliding { kernel: &kernel.0, stride: &stride.0, padding: &padding.0, dilation: &dilation.0 }
}

/// For pools without a dilation.
const DENSE: &[i64] = &[1];

fn interpolation(mode: &str) -> wrap_burn::Result<Interpolation> {
    Ok(match mode {
        "nearest" => Interpolation::Nearest,
        "nearest-exact" => Interpolation::NearestExact,
        "linear" | "bilinear" | "trilinear" => Interpolation::Filtered(Filter::Linear),
        "bicubic" => Interpolation::Filtered(Filter::Cubic),
        "lanczos" => Interpolation::Filtered(Filter::Lanczos),
        other => return Err(wrap_burn::error!(Value, "interpolate: no mode is called '{other}'")),
    })
}

fn sampler(mode: &str, padding: &str, coordinates: &str) -> wrap_burn::Result<Sampler> {
    let unknown = |what: &str, name: &str| {
        wrap_burn::error!(Value, "grid_sample: no {what} is called '{name}'")
    };
    Ok(Sampler {
        sampling: match mode {
            "bilinear" => Sampling::Linear,
            "nearest" => Sampling::Nearest,
            "bicubic" => Sampling::Cubic,
            other => return Err(unknown("mode", other)),
        },
        outside: match padding {
            "zeros" => Outside::Zeros,
            "border" => Outside::Border,
            "reflection" => Outside::Reflection,
            other => return Err(unknown("padding mode", other)),
        },
        coordinates: match coordinates {
            "centres" => Coordinates::Centres,
            "edges" => Coordinates::Edges,
            "elements" => Coordinates::Elements,
            other => return Err(unknown("system of coordinates", other)),
        },
    })
}

native! {
    fn convolution(
        input, rank: usize, weight: T, bias: Option<T>, stride: Ints, padding: Option<Ints>,
        dilation: Ints, groups: i64
    ) => input.convolution(
        rank, &weight.0, tensor(&bias), arguments(&stride, padding.as_ref(), &dilation, groups)
    );
    fn convolution_transposed(
        input, rank: usize, weight: T, bias: Option<T>, stride: Ints, padding: Ints,
        output_padding: Ints, groups: i64, dilation: Ints
    ) => input.convolution_transposed(
        rank, &weight.0, tensor(&bias), arguments(&stride, Some(&padding), &dilation, groups),
        &output_padding.0
    );

    fn max_pool(
        input, rank: usize, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints,
        ceil_mode: bool
    ) => input.max_pool(rank, sliding(&kernel_size, &stride, &padding, &dilation), ceil_mode);
    fn avg_pool(
        input, rank: usize, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool,
        count_include_pad: bool, divisor: Option<i64>
    ) -> Tensor => {
        let dense = Ints(DENSE.to_vec());
        let windows = sliding(&kernel_size, &stride, &padding, &dense);
        input.avg_pool(rank, windows, ceil_mode, count_include_pad, divisor)
    };
    fn adaptive_max_pool(input, rank: usize, output_size: Ints) =>
        input.adaptive_max_pool(rank, &output_size.0);
    fn adaptive_avg_pool(input, rank: usize, output_size: Ints) =>
        input.adaptive_avg_pool(rank, &output_size.0);
    fn fractional_max_pool(input, rank: usize, samples: T, kernel_size: Ints, output_size: Ints) =>
        input.fractional_max_pool(rank, &samples.0, &kernel_size.0, &output_size.0);
    fn max_unpool(input, rank: usize, indices: T, output_size: Ints) =>
        input.max_unpool(rank, &indices.0, &output_size.0);

    fn unfold_windows(input, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints) =>
        input.unfold_windows(sliding(&kernel_size, &stride, &padding, &dilation));
    fn fold_windows(
        input, output_size: Ints, kernel_size: Ints, dilation: Ints, padding: Ints, stride: Ints
    ) => input.fold_windows(&output_size.0, sliding(&kernel_size, &stride, &padding, &dilation));

    fn interpolate(
        input, size: Option<Vec<i64>>, scale_factor: Option<Vec<f64>>, mode: &str,
        align_corners: bool, antialias: bool
    ) => input.interpolate(
        size.as_deref(), scale_factor.as_deref(), interpolation(mode)?, align_corners, antialias
    );
    fn grid_sample(input, grid: T, mode: &str, padding_mode: &str, coordinates: &str) =>
        input.grid_sample(&grid.0, sampler(mode, padding_mode, coordinates)?);
}
