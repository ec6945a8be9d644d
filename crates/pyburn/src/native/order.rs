//! Order and counting: sorting, ranks, quantiles, searching, histograms, distinct elements,
//! statistics of several variables.

use pyo3::prelude::*;
use wrap_burn::ops::search::Bins;
use wrap_burn::ops::sort::Interpolation;

use crate::args::{Ints, Op, T};
use crate::shapes::{HasShapes, Shapes};

fn dims(ints: &Option<Ints>) -> Option<&[i64]> {
    ints.as_ref().map(|ints| ints.0.as_slice())
}

fn interpolation(name: &str) -> wrap_burn::Result<Interpolation> {
    Ok(match name {
        "linear" => Interpolation::Linear,
        "lower" => Interpolation::Lower,
        "higher" => Interpolation::Higher,
        "midpoint" => Interpolation::Midpoint,
        "nearest" => Interpolation::Nearest,
        other => {
            return Err(wrap_burn::error!(
                Runtime,
                "quantile: interpolation must be one of linear, lower, higher, midpoint or nearest, but got {other}"
            ));
        }
    })
}

/// The bins of a histogram: how many, or their edges.
pub(super) enum BinsArg {
    Count(usize),
    Edges(T),
}

impl<'a, 'py> FromPyObject<'a, 'py> for BinsArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(edges) = object.extract::<T>() {
            return Ok(BinsArg::Edges(edges));
        }
        object.extract::<usize>().map(BinsArg::Count).map_err(|_| {
            pyo3::exceptions::PyTypeError::new_err(
                "histogram: expected bins to be a positive int or a tensor of edges",
            )
        })
    }
}

impl BinsArg {
    fn with(&self, range: Option<(f64, f64)>) -> Bins {
        match self {
            BinsArg::Count(count) => Bins::Equal { count: *count, range },
            BinsArg::Edges(edges) => Bins::Edges(edges.0.clone()),
        }
    }
}

impl HasShapes for BinsArg {
    fn shapes(&self, found: Shapes) -> Shapes {
        match self {
            BinsArg::Count(_) => found,
            BinsArg::Edges(edges) => edges.shapes(found),
        }
    }
}

native! {
    fn sort(input, dim: i64, descending: bool) => input.sort(dim, descending);
    fn argsort(input, dim: i64, descending: bool) => input.argsort(dim, descending);
    fn msort(input) => input.msort();
    fn topk(input, k: i64, dim: i64, largest: bool, sorted: bool) => input.topk(k, dim, largest, sorted);
    fn kthvalue(input, k: i64, dim: i64, keepdim: bool) => input.kthvalue(k, dim, keepdim);
    fn median(input) => input.median();
    fn median_dim(input, dim: i64, keepdim: bool) => input.median_dim(dim, keepdim);
    fn nanmedian(input) => input.nanmedian();
    fn nanmedian_dim(input, dim: i64, keepdim: bool) => input.nanmedian_dim(dim, keepdim);
    fn mode(input, dim: i64, keepdim: bool) => input.mode(dim, keepdim);
    fn quantile(input, q: Op, dim: Option<i64>, keepdim: bool, method: &str) =>
        input.quantile(&q.0, dim, keepdim, interpolation(method)?);
    fn nanquantile(input, q: Op, dim: Option<i64>, keepdim: bool, method: &str) =>
        input.nanquantile(&q.0, dim, keepdim, interpolation(method)?);

    fn searchsorted(edges, values: Op, right: bool, side: Option<String>, sorter: Option<T>, out_int32: bool) =>
        edges.searchsorted(&values.0, right, side.as_deref(), sorter.as_ref().map(|t| &t.0), out_int32);
    fn bincount(input, weights: Option<T>, minlength: i64) =>
        input.bincount(weights.as_ref().map(|t| &t.0), minlength);
    fn histc(input, bins: i64, min: f64, max: f64) => input.histc(bins, min, max);
    fn histogram(input, bins: BinsArg, range: Option<(f64, f64)>, weight: Option<T>, density: bool) =>
        input.histogram(&bins.with(range), weight.as_ref().map(|t| &t.0), density);
    fn unique(input, dim: Option<i64>) => input.unique(dim);
    fn unique_consecutive(input, dim: Option<i64>) => input.unique_consecutive(dim);
    fn isin(input, tests: T, invert: bool) => input.isin(&tests.0, invert);

    fn cov(input, correction: i64, fweights: Option<T>, aweights: Option<T>) =>
        input.cov(correction, fweights.as_ref().map(|t| &t.0), aweights.as_ref().map(|t| &t.0));
    fn corrcoef(input) => input.corrcoef();
    fn nanmean(input, dim: Option<Ints>, keepdim: bool) => input.nanmean(dims(&dim), keepdim);
    #[pyo3(name = "std")]
    fn deviation(input, dim: Option<Ints>, correction: f64, keepdim: bool) => input.std(dims(&dim), correction, keepdim);
    fn std_mean(input, dim: Option<Ints>, correction: f64, keepdim: bool) =>
        input.std_mean(dims(&dim), correction, keepdim);
    fn aminmax(input, dim: Option<i64>, keepdim: bool) => input.aminmax(dim, keepdim);
    fn dist(input, other: T, p: f64) => input.dist(&other.0, p);
    fn renorm(input, p: f64, dim: i64, maxnorm: f64) => input.renorm(p, dim, maxnorm);
    fn equal(input, other: T) => input.equal(&other.0);
    fn isclose(input, other: T, rtol: f64, atol: f64, equal_nan: bool) =>
        input.isclose(&other.0, rtol, atol, equal_nan);
    fn allclose(input, other: T, rtol: f64, atol: f64, equal_nan: bool) =>
        input.allclose(&other.0, rtol, atol, equal_nan);
}
