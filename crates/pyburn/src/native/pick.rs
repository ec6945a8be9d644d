//! Elements picked and placed by index tensors and masks; segments.

use wrap_burn::Tensor;
use wrap_burn::ops::pick::Combine;
use wrap_burn::ops::segment::{SegmentReduce, Segments};

use crate::args::{Op, T};

fn combine(name: &str) -> wrap_burn::Result<Combine> {
    name.parse()
}

fn segment_kind(name: &str) -> wrap_burn::Result<SegmentReduce> {
    Ok(match name {
        "sum" => SegmentReduce::Sum,
        "mean" => SegmentReduce::Mean,
        "max" => SegmentReduce::Max,
        "min" => SegmentReduce::Min,
        "prod" => SegmentReduce::Prod,
        other => {
            return Err(wrap_burn::error!(
                Runtime,
                "segment_reduce: reduce must be one of sum, mean, max, min or prod, got '{other}'"
            ));
        }
    })
}

fn segments(
    lengths: &Option<T>,
    offsets: &Option<T>,
    indices: &Option<T>,
) -> wrap_burn::Result<Segments> {
    match (lengths, offsets, indices) {
        (Some(lengths), None, None) => Ok(Segments::Lengths(lengths.0.clone())),
        (None, Some(offsets), None) => Ok(Segments::Offsets(offsets.0.clone())),
        (None, None, Some(indices)) => Ok(Segments::Indices(indices.0.clone())),
        _ => Err(wrap_burn::error!(
            Runtime,
            "segment_reduce: expected one of lengths, indices and offsets"
        )),
    }
}

fn slots(indices: &[Option<T>]) -> Vec<Option<Tensor>> {
    indices.iter().map(|slot| slot.as_ref().map(|t| t.0.clone())).collect()
}

native! {
    fn nonzero(input) => input.nonzero();
    fn nonzero_tuple(input) => input.nonzero_tuple();
    fn masked_select(input, mask: T) => input.masked_select(&mask.0);
    fn masked_scatter(input, mask: T, source: T) => input.masked_scatter(&mask.0, &source.0);
    fn take(input, index: T) => input.take(&index.0);
    fn put(input, index: T, source: T, accumulate: bool) => input.put(&index.0, &source.0, accumulate);
    fn index_copy(input, dim: i64, index: T, source: T) => input.index_copy(dim, &index.0, &source.0);
    fn index_fill(input, dim: i64, index: T, value: Op) => input.index_fill(dim, &index.0, &value.0);
    fn index_reduce(input, dim: i64, index: T, source: T, reduce: &str, include_self: bool) =>
        input.index_reduce(dim, &index.0, &source.0, combine(reduce)?, include_self);
    fn scatter_reduce(input, dim: i64, index: T, source: T, reduce: &str, include_self: bool) =>
        input.scatter_reduce(dim, &index.0, &source.0, combine(reduce)?, include_self);
    fn take_along_dim(input, index: T, dim: Option<i64>) => input.take_along_dim(&index.0, dim);
    fn advanced_put(input, indices: Vec<Option<T>>, values: T, accumulate: bool) =>
        input.advanced_put(&slots(&indices), &values.0, accumulate);
    fn advanced_put_(input, indices: Vec<Option<T>>, values: T, accumulate: bool) =>
        input.advanced_put_(&slots(&indices), &values.0, accumulate);
    fn segment_reduce(
        input, reduce: &str, lengths: Option<T>, offsets: Option<T>, indices: Option<T>, initial: Option<f64>
    ) => input.segment_reduce(segment_kind(reduce)?, &segments(&lengths, &offsets, &indices)?, initial);
}
