//! The transforms users call: along one dimension or several, cut or padded to a size.

use kernels::Dims;

use super::{Fft, FftNorm, FftOp, half};
use crate::device::Device;
use crate::op::{apply1, cast_host};
use crate::ops::pad::PadMode;
use crate::shape::{wrap_dim, wrap_dims};
use crate::tensor::Tensor;
use crate::value::Value;
use crate::{Category, DType, Result, Scalar, bail};

/// One step of a transform.
fn step(x: &Tensor, kind: Fft, dim: usize, scale: f64) -> Result<Tensor> {
    apply1(&FftOp { kind, dim, scale }, &[x])
}

/// Real input as the floats a transform works on.
fn real_input(op: &str, x: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype();
    match dtype.category() {
        Category::Complex => bail!(Runtime, "{op}: expects a real input tensor, but got {dtype}"),
        Category::Float => Ok(x.clone()),
        _ => x.to_dtype(x.device().narrow(crate::defaults::float())),
    }
}

/// Any input as complex numbers.
fn complex_input(op: &str, x: &Tensor) -> Result<Tensor> {
    let x = if x.dtype().is_complex() { x.clone() } else { real_input(op, x)? };
    match x.dtype() {
        DType::F16 | DType::BF16 => bail!(Runtime, "{op}: Unsupported dtype {}", x.dtype()),
        dtype => x.to_dtype(dtype.to_complex()),
    }
}

/// Cut or padded with zeros to a size along a dimension.
fn resized(x: &Tensor, dim: usize, size: usize) -> Result<Tensor> {
    let shape = x.shape();
    if shape[dim] == size {
        return Ok(x.clone());
    }
    if shape[dim] > size {
        return x.slice(dim, 0, size, 1);
    }
    let mut pads = vec![0i64; 2 * (shape.len() - dim)];
    let last = pads.len() - 1;
    pads[last] = (size - shape[dim]) as i64;
    x.pad(&pads, PadMode::Constant(Scalar::Int(0)))
}

/// The wanted size of one dimension.
fn size_of(op: &str, n: Option<i64>, own: usize) -> Result<usize> {
    let size = n.unwrap_or(own as i64);
    if size < 1 {
        bail!(Runtime, "{op}: Invalid number of data points ({size}) specified");
    }
    Ok(size as usize)
}

/// Which dimensions are transformed, and to which sizes.
fn plan(
    op: &str,
    shape: &[usize],
    s: Option<&[i64]>,
    dims: Option<&[i64]>,
    spectrum: bool,
) -> Result<(Dims, Dims)> {
    let rank = shape.len();
    let dims: Dims = match (dims, s) {
        (Some(dims), _) => match wrap_dims(op, dims, rank) {
            Ok(dims) => dims,
            Err(fault) if fault.message().contains("multiple times") => {
                bail!(Runtime, "{op}: FFT dims must be unique, got {dims:?}")
            }
            Err(fault) => return Err(fault),
        },
        (None, Some(s)) if s.len() > rank => bail!(
            Runtime,
            "{op}: Got shape with {} values but input tensor only has {rank} dimensions.",
            s.len()
        ),
        (None, Some(s)) => (rank - s.len()..rank).collect(),
        (None, None) => (0..rank).collect(),
    };
    if dims.iter().any(|&dim| dim >= rank) {
        bail!(Index, "{op}: expected at least one dimension, got a 0-d tensor");
    }
    if s.is_some_and(|s| s.len() != dims.len()) {
        bail!(Runtime, "{op}: When given, dim and shape arguments must have the same length");
    }
    let mut sizes = Dims::new();
    for (at, &dim) in dims.iter().enumerate() {
        let wanted = s.map(|s| s[at]).filter(|&size| size != -1);
        // A half spectrum's own size is not that of what it stands for.
        let own =
            if spectrum && at + 1 == dims.len() { 2 * (shape[dim].max(1) - 1) } else { shape[dim] };
        sizes.push(size_of(op, wanted, own)?);
    }
    Ok((dims, sizes))
}

/// A complex transform over several dimensions.
fn complex_many(
    op: &str,
    x: &Tensor,
    s: Option<&[i64]>,
    dims: Option<&[i64]>,
    norm: FftNorm,
    inverse: bool,
) -> Result<Tensor> {
    let mut out = complex_input(op, x)?;
    let (dims, sizes) = plan(op, &out.shape(), s, dims, false)?;
    for (&dim, &size) in dims.iter().zip(&sizes) {
        out = resized(&out, dim, size)?;
    }
    for (&dim, &size) in dims.iter().zip(&sizes) {
        out = step(&out, Fft::Complex { inverse }, dim, norm.scale(size, inverse))?;
    }
    Ok(out)
}

/// A real transform over several dimensions: the last one halves, the others are complex.
fn real_many(
    op: &str,
    x: &Tensor,
    s: Option<&[i64]>,
    dims: Option<&[i64]>,
    norm: FftNorm,
) -> Result<Tensor> {
    let mut out = real_input(op, x)?;
    let (dims, sizes) = plan(op, &out.shape(), s, dims, false)?;
    let Some((&last, rest)) = dims.split_last() else {
        bail!(Runtime, "{op}: must transform at least one axis");
    };
    for (&dim, &size) in dims.iter().zip(&sizes) {
        out = resized(&out, dim, size)?;
    }
    out = step(&out, Fft::ToHalf, last, norm.scale(sizes[rest.len()], false))?;
    for (&dim, &size) in rest.iter().zip(&sizes) {
        out = step(&out, Fft::Complex { inverse: false }, dim, norm.scale(size, false))?;
    }
    Ok(out)
}

/// The way back from half a spectrum over several dimensions.
fn half_many(
    op: &str,
    x: &Tensor,
    s: Option<&[i64]>,
    dims: Option<&[i64]>,
    norm: FftNorm,
) -> Result<Tensor> {
    let mut out = complex_input(op, x)?;
    let (dims, sizes) = plan(op, &out.shape(), s, dims, true)?;
    let Some((&last, rest)) = dims.split_last() else {
        bail!(Runtime, "{op}: must transform at least one axis");
    };
    for (&dim, &size) in rest.iter().zip(&sizes) {
        out = resized(&out, dim, size)?;
    }
    let size = sizes[rest.len()];
    out = resized(&out, last, half(size))?;
    for (&dim, &size) in rest.iter().zip(&sizes) {
        out = step(&out, Fft::Complex { inverse: true }, dim, norm.scale(size, true))?;
    }
    step(&out, Fft::FromHalf { size }, last, norm.scale(size, true))
}

macro_rules! one_dimension {
    ($($(#[$doc:meta])* $name:ident = $op:literal, $via:ident;)*) => {
        impl Tensor {
            $($(#[$doc])*
            pub fn $name(&self, n: Option<i64>, dim: i64, norm: FftNorm) -> Result<Tensor> {
                // Over several dimensions -1 stands for a size that stays, here for nothing.
                size_of($op, n.filter(|&n| n < 1), 1)?;
                let size = n.map(|n| [n]);
                self.$via($op, size.as_ref().map(|size| &size[..]), Some(&[dim]), norm)
            })*
        }
    };
}

one_dimension! {
    /// The transform along one dimension, cut or padded to `n`.
    fft = "fft.fft", forward_many;
    /// The inverse of [`fft`](Tensor::fft).
    ifft = "fft.ifft", inverse_many;
    /// The transform of real numbers: the half of the spectrum that says all.
    rfft = "fft.rfft", to_half;
    /// The inverse of [`rfft`](Tensor::rfft), of `n` real numbers.
    irfft = "fft.irfft", of_half;
    /// The transform of the half of a signal with a real spectrum.
    hfft = "fft.hfft", hermitian;
    /// The inverse of [`hfft`](Tensor::hfft).
    ihfft = "fft.ihfft", inverse_hermitian;
}

macro_rules! several_dimensions {
    ($($(#[$doc:meta])* $many:ident $two:ident = $op_many:literal $op_two:literal, $via:ident;)*) => {
        impl Tensor {
            $($(#[$doc])*
            pub fn $many(&self, s: Option<&[i64]>, dims: Option<&[i64]>, norm: FftNorm) -> Result<Tensor> {
                self.$via($op_many, s, dims, norm)
            }

            #[doc = concat!("[`", stringify!($many), "`](Tensor::", stringify!($many), ") over two dimensions.")]
            pub fn $two(&self, s: Option<&[i64]>, dims: &[i64], norm: FftNorm) -> Result<Tensor> {
                self.$via($op_two, s, Some(dims), norm)
            })*
        }
    };
}

several_dimensions! {
    /// The transform over several dimensions, all of them if none is named.
    fftn fft2 = "fft.fftn" "fft.fft2", forward_many;
    /// The inverse of [`fftn`](Tensor::fftn).
    ifftn ifft2 = "fft.ifftn" "fft.ifft2", inverse_many;
    /// The transform of real numbers over several dimensions; the last one becomes half a spectrum.
    rfftn rfft2 = "fft.rfftn" "fft.rfft2", to_half;
    /// The inverse of [`rfftn`](Tensor::rfftn).
    irfftn irfft2 = "fft.irfftn" "fft.irfft2", of_half;
    /// The transform of the half of a signal with a real spectrum, over several dimensions.
    hfftn hfft2 = "fft.hfftn" "fft.hfft2", hermitian;
    /// The inverse of [`hfftn`](Tensor::hfftn).
    ihfftn ihfft2 = "fft.ihfftn" "fft.ihfft2", inverse_hermitian;
}

impl Tensor {
    fn forward_many(
        &self,
        op: &str,
        s: Option<&[i64]>,
        dims: Option<&[i64]>,
        norm: FftNorm,
    ) -> Result<Tensor> {
        complex_many(op, self, s, dims, norm, false)
    }

    fn inverse_many(
        &self,
        op: &str,
        s: Option<&[i64]>,
        dims: Option<&[i64]>,
        norm: FftNorm,
    ) -> Result<Tensor> {
        complex_many(op, self, s, dims, norm, true)
    }

    fn to_half(
        &self,
        op: &str,
        s: Option<&[i64]>,
        dims: Option<&[i64]>,
        norm: FftNorm,
    ) -> Result<Tensor> {
        real_many(op, self, s, dims, norm)
    }

    fn of_half(
        &self,
        op: &str,
        s: Option<&[i64]>,
        dims: Option<&[i64]>,
        norm: FftNorm,
    ) -> Result<Tensor> {
        half_many(op, self, s, dims, norm)
    }

    /// A forward transform is the inverse one of the conjugate, with the factor swapped.
    fn hermitian(
        &self,
        op: &str,
        s: Option<&[i64]>,
        dims: Option<&[i64]>,
        norm: FftNorm,
    ) -> Result<Tensor> {
        half_many(op, &complex_input(op, self)?.conj()?, s, dims, norm.swapped())
    }

    fn inverse_hermitian(
        &self,
        op: &str,
        s: Option<&[i64]>,
        dims: Option<&[i64]>,
        norm: FftNorm,
    ) -> Result<Tensor> {
        real_many(op, self, s, dims, norm.swapped())?.conj()
    }

    /// Dimensions rotated so that what stands at `starts(size)` comes first.
    fn rotated(
        &self,
        op: &str,
        dims: Option<&[i64]>,
        start: impl Fn(usize) -> usize,
    ) -> Result<Tensor> {
        let shape = self.shape();
        let all: Vec<i64> = (0..shape.len() as i64).collect();
        let mut out = self.clone();
        for &dim in dims.unwrap_or(&all) {
            let dim = wrap_dim(op, dim, shape.len())?;
            let size = shape.get(dim).copied().unwrap_or(1);
            let start = start(size);
            if start > 0 && start < size {
                let (head, tail) =
                    (out.slice(dim, 0, start, 1)?, out.slice(dim, start, size - start, 1)?);
                out = Tensor::cat(&[tail, head], dim as i64)?;
            }
        }
        if out.is(self) { self.deep_copy() } else { Ok(out) }
    }

    /// The zero frequency moved to the middle.
    pub fn fftshift(&self, dims: Option<&[i64]>) -> Result<Tensor> {
        self.rotated("fft.fftshift", dims, |size| size.div_ceil(2))
    }

    /// The inverse of [`fftshift`](Tensor::fftshift).
    pub fn ifftshift(&self, dims: Option<&[i64]>) -> Result<Tensor> {
        self.rotated("fft.ifftshift", dims, |size| size / 2)
    }

    /// The frequencies of [`fft`](Tensor::fft) of `n` samples `d` apart.
    pub fn fftfreq(n: usize, d: f64, dtype: DType, device: Device) -> Result<Tensor> {
        let count = n as i64;
        let numbers = (0..count).map(|k| if k < (count + 1) / 2 { k } else { k - count });
        frequencies(numbers, n, d, dtype, device)
    }

    /// The frequencies of [`rfft`](Tensor::rfft) of `n` samples `d` apart.
    pub fn rfftfreq(n: usize, d: f64, dtype: DType, device: Device) -> Result<Tensor> {
        frequencies(0..half(n) as i64, n, d, dtype, device)
    }
}

fn frequencies(
    numbers: impl Iterator<Item = i64>,
    n: usize,
    d: f64,
    dtype: DType,
    device: Device,
) -> Result<Tensor> {
    let unit = 1.0 / (n as f64 * d);
    let data: Vec<f64> = numbers.map(|k| k as f64 * unit).collect();
    let count = data.len();
    let value = Value::from_vec(data, [count].as_slice());
    Ok(Tensor::from_value(cast_host(&value, dtype)?.to_device(device)?))
}
