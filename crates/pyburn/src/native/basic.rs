//! Arithmetic, comparison, reduction, scans, joining, matrix product, indexing along a dimension.

use wrap_burn::Tensor;
use wrap_burn::autograd::look;
use wrap_burn::ops::binary::Binary;
use wrap_burn::ops::compare::{Compare, Logical};
use wrap_burn::ops::index::ScatterReduce;
use wrap_burn::ops::unary::Predicate;
use wrap_burn::ops::view::ViewOp;

use crate::args::{Ints, Number, Op, T};

fn dims(ints: &Option<Ints>) -> Option<&[i64]> {
    ints.as_ref().map(|ints| ints.0.as_slice())
}

fn binary_kind(name: &str) -> wrap_burn::Result<Binary> {
    Ok(match name {
        "add" => Binary::Add,
        "sub" => Binary::Sub,
        "mul" => Binary::Mul,
        "div" => Binary::Div,
        "floor_divide" => Binary::FloorDiv,
        "trunc_divide" => Binary::TruncDiv,
        "remainder" => Binary::Remainder,
        "fmod" => Binary::Fmod,
        "pow" => Binary::Pow,
        "maximum" => Binary::Maximum,
        "minimum" => Binary::Minimum,
        "fmax" => Binary::Fmax,
        "fmin" => Binary::Fmin,
        "atan2" => Binary::Atan2,
        "hypot" => Binary::Hypot,
        "copysign" => Binary::Copysign,
        "nextafter" => Binary::Nextafter,
        "logaddexp" => Binary::Logaddexp,
        "logaddexp2" => Binary::Logaddexp2,
        "xlogy" => Binary::Xlogy,
        "xlog1py" => Binary::Xlog1py,
        "heaviside" => Binary::Heaviside,
        "bitwise_and" => Binary::BitAnd,
        "bitwise_or" => Binary::BitOr,
        "bitwise_xor" => Binary::BitXor,
        "bitwise_left_shift" => Binary::ShiftLeft,
        "bitwise_right_shift" => Binary::ShiftRight,
        "gcd" => Binary::Gcd,
        "lcm" => Binary::Lcm,
        "zeta" => Binary::Zeta,
        "igamma" => Binary::Igamma,
        "igammac" => Binary::Igammac,
        other => return Err(wrap_burn::error!(Value, "binary: no function is called '{other}'")),
    })
}

fn compare_kind(name: &str) -> wrap_burn::Result<Compare> {
    Ok(match name {
        "eq" => Compare::Eq,
        "ne" => Compare::Ne,
        "lt" => Compare::Lt,
        "le" => Compare::Le,
        "gt" => Compare::Gt,
        "ge" => Compare::Ge,
        other => {
            return Err(wrap_burn::error!(Value, "compare: no comparison is called '{other}'"));
        }
    })
}

fn logical_kind(name: &str) -> wrap_burn::Result<Logical> {
    Ok(match name {
        "logical_and" => Logical::And,
        "logical_or" => Logical::Or,
        "logical_xor" => Logical::Xor,
        other => return Err(wrap_burn::error!(Value, "logical: no function is called '{other}'")),
    })
}

fn predicate_kind(name: &str) -> wrap_burn::Result<Predicate> {
    Ok(match name {
        "isnan" => Predicate::IsNan,
        "isinf" => Predicate::IsInf,
        "isfinite" => Predicate::IsFinite,
        "isposinf" => Predicate::IsPosInf,
        "isneginf" => Predicate::IsNegInf,
        "signbit" => Predicate::SignBit,
        "logical_not" => Predicate::LogicalNot,
        "isreal" => Predicate::IsReal,
        other => {
            return Err(wrap_burn::error!(Value, "predicate: no question is called '{other}'"));
        }
    })
}

fn scatter_kind(name: &str) -> wrap_burn::Result<ScatterReduce> {
    Ok(match name {
        "add" | "sum" => ScatterReduce::Add,
        "multiply" | "prod" => ScatterReduce::Mul,
        "amax" => ScatterReduce::Max,
        "amin" => ScatterReduce::Min,
        other => {
            return Err(wrap_burn::error!(
                Runtime,
                "scatter: reduce argument must be either add or multiply, got '{other}'"
            ));
        }
    })
}

native! {
    fn binary(input, name: &str, other: Op) => input.with(binary_kind(name)?, &other.0);
    fn binary_(input, name: &str, other: Op) => input.with_(binary_kind(name)?, &other.0);
    fn scalar_binary(input, name: &str, scalar: Number) => input.with_scalar(binary_kind(name)?, scalar.0, true);
    fn compare(input, name: &str, other: Op) => input.compare_with(compare_kind(name)?, &other.0);
    fn logical(input, name: &str, other: T) => input.logical(logical_kind(name)?, &other.0);
    fn predicate(input, name: &str) => input.predicate(predicate_kind(name)?);
    fn result_type(input, other: T) => Ok(wrap_burn::ops::binary::result_type(input, &other.0).to_string());
    fn where_(condition, a: T, b: T) => condition.where_(&a.0, &b.0);
    fn clamp(input, low: Option<T>, high: Option<T>) =>
        input.clamp(low.as_ref().map(|t| &t.0), high.as_ref().map(|t| &t.0));
    fn masked_fill(input, mask: T, value: T) => input.masked_fill(&mask.0, &value.0);

    fn sum(input, dim: Option<Ints>, keepdim: bool) => input.sum(dims(&dim), keepdim);
    fn nansum(input, dim: Option<Ints>, keepdim: bool) => input.nansum(dims(&dim), keepdim);
    fn prod(input, dim: Option<Ints>, keepdim: bool) => input.prod(dims(&dim), keepdim);
    fn mean(input, dim: Option<Ints>, keepdim: bool) => input.mean(dims(&dim), keepdim);
    fn var_mean(input, dim: Option<Ints>, correction: f64, keepdim: bool) =>
        input.var_mean(dims(&dim), correction, keepdim);
    fn amax(input, dim: Option<Ints>, keepdim: bool) => input.amax(dims(&dim), keepdim);
    fn amin(input, dim: Option<Ints>, keepdim: bool) => input.amin(dims(&dim), keepdim);
    fn max_dim(input, dim: i64, keepdim: bool) => input.max_dim(dim, keepdim);
    fn min_dim(input, dim: i64, keepdim: bool) => input.min_dim(dim, keepdim);
    fn argmax(input, dim: Option<i64>, keepdim: bool) => input.argmax(dim, keepdim);
    fn argmin(input, dim: Option<i64>, keepdim: bool) => input.argmin(dim, keepdim);
    fn any(input, dim: Option<Ints>, keepdim: bool) => input.any(dims(&dim), keepdim);
    fn all(input, dim: Option<Ints>, keepdim: bool) => input.all(dims(&dim), keepdim);
    fn count_nonzero(input, dim: Option<Ints>) => input.count_nonzero(dims(&dim));
    fn logsumexp(input, dim: Option<Ints>, keepdim: bool) => input.logsumexp(dims(&dim), keepdim);

    fn cumsum(input, dim: i64) => input.cumsum(dim);
    fn cumprod(input, dim: i64) => input.cumprod(dim);
    fn cummax(input, dim: i64) => input.cummax(dim);
    fn cummin(input, dim: i64) => input.cummin(dim);
    fn logcumsumexp(input, dim: i64) => input.logcumsumexp(dim);

    fn flip(input, dims: Ints) => input.flip(&dims.0);
    fn tril(input, diagonal: i64) => input.tril(diagonal);
    fn triu(input, diagonal: i64) => input.triu(diagonal);
    fn select(input, dim: i64, index: i64) => input.select(dim, index);
    fn narrow(input, dim: i64, start: i64, length: i64) => input.narrow(dim, start, length);
    fn diagonal(input, offset: i64, dim1: i64, dim2: i64) => input.diagonal(offset, dim1, dim2);
    fn unfold(input, dim: i64, size: i64, step: i64) => input.unfold(dim, size, step);
    fn as_strided(input, size: Vec<usize>, stride: Vec<isize>, offset: Option<usize>) =>
        input.as_strided(&size, &stride, offset);
    fn as_strided_scatter(input, src: T, size: Vec<usize>, stride: Vec<isize>, offset: Option<usize>) =>
        input.as_strided_scatter(&src.0, &size, &stride, offset);
    fn as_strided_(input, size: Vec<usize>, stride: Vec<isize>, offset: Option<usize>) =>
        look("as_strided_", input, |x| x.as_strided(&size, &stride, offset));
    fn transpose_(input, dim0: i64, dim1: i64) => look("transpose_", input, |x| x.transpose(dim0, dim1));
    fn squeeze_(input, dim: Option<Ints>) => look("squeeze_", input, |x| x.squeeze(dims(&dim)));
    fn unsqueeze_(input, dim: i64) => look("unsqueeze_", input, |x| x.unsqueeze(dim));
    fn view_as_real(input) => input.view_op(ViewOp::AsReal);
    fn view_as_complex(input) => input.view_op(ViewOp::AsComplex);
    fn real(input) => input.real();
    fn imag(input) => input.imag();
    fn conj(input) => input.conj();
    fn angle(input) => input.angle();
    fn complex(real, imag: T) => Tensor::complex(real, &imag.0);

    fn matmul(input, other: T) => input.matmul(&other.0);
    fn linear(input, weight: T, bias: Option<T>) => input.linear(&weight.0, bias.as_ref().map(|t| &t.0));

    fn gather(input, dim: i64, index: T) => input.gather(dim, &index.0);
    fn scatter(input, dim: i64, index: T, src: T) => input.scatter(dim, &index.0, &src.0);
    fn scatter_with(input, dim: i64, index: T, src: T, reduce: &str) =>
        input.scatter_with(dim, &index.0, &src.0, scatter_kind(reduce)?);
    fn index_select(input, dim: i64, index: T) => input.index_select(dim, &index.0);
    fn index_add(input, dim: i64, index: T, source: T) => input.index_add(dim, &index.0, &source.0);
    fn assign_(input, result: T) => wrap_burn::autograd::assign(input, &result.0);
    fn view_scatter_select(input, src: T, dim: i64, index: i64) => input.select_scatter(&src.0, dim, index);
    fn view_scatter_diagonal(input, src: T, offset: i64, dim1: i64, dim2: i64) =>
        input.diagonal_scatter(&src.0, offset, dim1, dim2);
    fn view_scatter_slice(input, src: T, dim: i64, start: i64, len: i64, step: i64) =>
        input.slice_scatter(&src.0, dim, start, len, step);
}
