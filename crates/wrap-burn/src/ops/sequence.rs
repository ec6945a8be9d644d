//! Tensors from rules: sequences, diagonals, indices, combinations.

use kernels::Dims;
use num_complex::Complex;

use crate::device::Device;
use crate::op::{apply1, cast_host};
use crate::ops::create::{by_place, check_fits, check_size, filled};
use crate::ops::view::{ViewBackward, ViewOp};
use crate::shape::{numel, wrap_dim};
use crate::tensor::Tensor;
use crate::value::{Meta, Value};
use crate::{Category, DType, Result, Scalar, bail};

/// A tensor over what `make` computes on the host, converted to a dtype; on the meta device nothing
/// is computed.
fn made(
    op: &str,
    shape: &[usize],
    dtype: DType,
    device: Device,
    make: impl FnOnce() -> Result<Value>,
) -> Result<Tensor> {
    check_size(op, shape, dtype)?;
    if device == Device::Meta {
        return Ok(Tensor::from_value(Value::meta(Meta::new(shape, dtype), device)));
    }
    check_fits(op, &Meta::new(shape, dtype))?;
    crate::device::require(device)?;
    Ok(Tensor::from_value(cast_host(&make()?, dtype)?.to_device(device)?))
}

/// `steps` values with equal steps between them, computed from the nearer end so that both ends are
/// met exactly.
fn spaced<T>(op: &str, start: T, end: T, steps: usize) -> Result<Vec<T>>
where
    T: Copy
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<f64, Output = T>
        + std::ops::Div<f64, Output = T>,
{
    if steps == 1 {
        return Ok(vec![start]);
    }
    let step = (end - start) / (steps as f64 - 1.0);
    let half = steps / 2;
    by_place(op, steps, |at| {
        if at < half { start + step * at as f64 } else { end - step * (steps - at - 1) as f64 }
    })
}

/// A size somebody gave, which may not be negative.
fn size(op: &str, name: &str, value: i64) -> Result<usize> {
    if value < 0 {
        bail!(Runtime, "{op}: {name} must be greater or equal to 0, got {value}");
    }
    Ok(value as usize)
}

/// Positions of one triangle of a matrix, in row-major order.
fn triangle(
    op: &str,
    rows: i64,
    columns: i64,
    dtype: DType,
    device: Device,
    bounds: impl Fn(i64) -> (i64, i64),
) -> Result<Tensor> {
    // Rows are gone through one by one, also where nothing of them belongs to the triangle.
    check_fits(op, &Meta::new([size(op, "row", rows)?].as_slice(), DType::I64))?;
    size(op, "col", columns)?;
    if dtype.category() != Category::Int {
        bail!(Runtime, "{op}: not implemented for {dtype}; hint: use int64");
    }
    let range = |row: i64| {
        let (from, to) = bounds(row);
        (from.clamp(0, columns), to.clamp(0, columns))
    };
    let count: usize = (0..rows)
        .map(|row| {
            let (from, to) = range(row);
            (to - from).max(0) as usize
        })
        .sum();
    made(op, &[2, count], dtype, device, || {
        check_fits(op, &Meta::new([2, count].as_slice(), DType::I64))?;
        let mut data = Vec::with_capacity(2 * count);
        for row in 0..rows {
            let (from, to) = range(row);
            data.extend((from..to).map(|_| row));
        }
        for row in 0..rows {
            let (from, to) = range(row);
            data.extend(from..to);
        }
        Ok(Value::from_vec(data, Dims::from_slice(&[2, count])))
    })
}

impl Tensor {
    /// `steps` values from `start` to `end` (included) with equal steps between them.
    pub fn linspace(
        start: Scalar,
        end: Scalar,
        steps: i64,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        if steps < 0 {
            bail!(Runtime, "linspace: number of steps must be non-negative, got {steps}");
        }
        if dtype == DType::Bool {
            bail!(Runtime, "linspace: not implemented for {dtype}");
        }
        let steps = steps as usize;
        made("linspace", &[steps], dtype, device, || {
            let shape = Dims::from_slice(&[steps]);
            let op = "linspace";
            Ok(match dtype.category() {
                Category::Complex => {
                    Value::from_vec(spaced(op, complex(start), complex(end), steps)?, shape)
                }
                // Integer sequences run between integer ends.
                Category::Bool | Category::Int => Value::from_vec(
                    spaced(op, start.to_i64() as f64, end.to_i64() as f64, steps)?,
                    shape,
                ),
                Category::Float => {
                    Value::from_vec(spaced(op, start.to_f64(), end.to_f64(), steps)?, shape)
                }
            })
        })
    }

    /// `base` to the power of `steps` values from `start` to `end` with equal steps between them.
    pub fn logspace(
        start: Scalar,
        end: Scalar,
        steps: i64,
        base: f64,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        if steps < 0 {
            bail!(Runtime, "logspace: number of steps must be non-negative, got {steps}");
        }
        if dtype == DType::Bool {
            bail!(Runtime, "logspace: not implemented for {dtype}");
        }
        let steps = steps as usize;
        made("logspace", &[steps], dtype, device, || {
            let shape = Dims::from_slice(&[steps]);
            if dtype.is_complex() {
                let powers = spaced("logspace", complex(start), complex(end), steps)?;
                let base = Complex::new(base, 0.0);
                let data = powers.into_iter().map(|power| base.powc(power)).collect();
                return Ok(Value::from_vec(data, shape));
            }
            let powers = spaced("logspace", start.to_f64(), end.to_f64(), steps)?;
            Ok(Value::from_vec(powers.into_iter().map(|power| base.powf(power)).collect(), shape))
        })
    }

    /// Ones on the diagonal of an `n` by `m` matrix (square without `m`), zeros elsewhere.
    pub fn eye(n: i64, m: Option<i64>, dtype: DType, device: Device) -> Result<Tensor> {
        let (rows, columns) = (size("eye", "n", n)?, size("eye", "m", m.unwrap_or(n))?);
        made("eye", &[rows, columns], dtype, device, || {
            let mut ones = filled(rows * columns, 0u8)?;
            ones.iter_mut().step_by(columns + 1).take(rows.min(columns)).for_each(|one| *one = 1);
            Ok(Value::from_vec_as(ones, Dims::from_slice(&[rows, columns]), DType::Bool))
        })
    }

    /// Rows and columns of the lower triangle of a matrix.
    pub fn tril_indices(
        rows: i64,
        columns: i64,
        offset: i64,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        triangle("tril_indices", rows, columns, dtype, device, |row| {
            (0, row.saturating_add(offset).saturating_add(1))
        })
    }

    /// Rows and columns of the upper triangle of a matrix.
    pub fn triu_indices(
        rows: i64,
        columns: i64,
        offset: i64,
        dtype: DType,
        device: Device,
    ) -> Result<Tensor> {
        triangle("triu_indices", rows, columns, dtype, device, |row| {
            (row.saturating_add(offset), columns)
        })
    }

    /// The last dimension on a diagonal of two new dimensions, zeros elsewhere.
    pub fn diag_embed(&self, offset: i64, dim1: i64, dim2: i64) -> Result<Tensor> {
        let own = self.shape();
        let rank = own.len() + 1;
        let (dim1, dim2) =
            (wrap_dim("diag_embed", dim1, rank)?, wrap_dim("diag_embed", dim2, rank)?);
        if dim1 == dim2 || own.is_empty() {
            bail!(
                Runtime,
                "diag_embed: diagonal dimensions cannot be identical {dim1}, {dim2} (shape {own:?})"
            );
        }
        let length = own[own.len() - 1] + offset.unsigned_abs() as usize;
        let mut rest = own[..own.len() - 1].iter();
        let shape: Dims = (0..rank)
            .map(|d| {
                if d == dim1 || d == dim2 {
                    length
                } else {
                    *rest.next().expect("one per other dim")
                }
            })
            .collect();
        check_size("diag_embed", &shape, self.dtype())?;
        apply1(&ViewBackward { op: ViewOp::Diagonal { offset, dim1, dim2 }, shape }, &[self])
    }

    /// Of a vector the matrix with it on a diagonal, of a matrix a copy of a diagonal.
    pub fn diag(&self, offset: i64) -> Result<Tensor> {
        match self.rank() {
            1 => self.diag_embed(offset, 0, 1),
            2 => self.diagonal(offset, 0, 1)?.deep_copy(),
            rank => bail!(
                Runtime,
                "diag: supports 1D or 2D tensors. Got {rank}D (shape {:?})",
                self.shape()
            ),
        }
    }

    /// The matrix with all elements on a diagonal.
    pub fn diagflat(&self, offset: i64) -> Result<Tensor> {
        self.reshape_to(&[self.numel()])?.diag_embed(offset, 0, 1)
    }

    /// The sum of a matrix's diagonal.
    pub fn trace(&self) -> Result<Tensor> {
        if self.rank() != 2 {
            bail!(
                Runtime,
                "trace: expected a matrix, but got tensor with dim {} (shape {:?})",
                self.rank(),
                self.shape()
            );
        }
        self.diagonal(0, 0, 1)?.sum(None, false)
    }

    /// The coordinates of a grid over vectors. With `indexing` `"ij"` the first vector runs along
    /// the first dimension, with `"xy"` along the second.
    pub fn meshgrid(tensors: &[Tensor], indexing: &str) -> Result<Vec<Tensor>> {
        let swap = match indexing {
            "ij" => false,
            "xy" => tensors.len() >= 2,
            other => bail!(
                Runtime,
                "meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {other}"
            ),
        };
        let Some(first) = tensors.first() else {
            bail!(Runtime, "meshgrid: expects a non-empty TensorList");
        };
        for tensor in tensors {
            if tensor.rank() > 1 {
                bail!(
                    Runtime,
                    "meshgrid: expected scalar or 1D tensor in the tensor list but got shape {:?}",
                    tensor.shape()
                );
            }
            if tensor.dtype() != first.dtype() {
                bail!(
                    Runtime,
                    "meshgrid: expects all tensors to have the same dtype, got {} and {}",
                    first.dtype(),
                    tensor.dtype()
                );
            }
        }
        let mut order: Vec<usize> = (0..tensors.len()).collect();
        if swap {
            order.swap(0, 1);
        }
        let shape: Dims = order.iter().map(|&at| tensors[at].numel()).collect();
        check_size("meshgrid", &shape, first.dtype())?;
        let along = |at: usize| -> Result<Tensor> {
            let mut own = Dims::from_elem(1, shape.len());
            own[order[at]] = tensors[at].numel();
            tensors[at].reshape_to(&own)?.expand_to("meshgrid", &shape)
        };
        // Swapping two is its own inverse: `order` says where a vector lies and which lies there.
        (0..tensors.len()).map(along).collect()
    }

    /// For each class number a row of zeros with a one at it; `classes` of -1 means one more than
    /// the largest.
    pub fn one_hot(&self, classes: i64) -> Result<Tensor> {
        let (dtype, device) = (self.dtype(), self.device());
        if dtype != device.narrow(DType::I64) {
            bail!(
                Runtime,
                "one_hot: is only applicable to index tensor of type int64, got {dtype}"
            );
        }
        let classes = if self.numel() == 0 {
            if classes <= 0 {
                bail!(Runtime, "one_hot: can not infer total number of classes from empty tensor");
            }
            classes
        } else {
            if classes == 0 || classes < -1 {
                bail!(Runtime, "one_hot: num_classes should be positive, got {classes}");
            }
            if device == Device::Meta {
                if classes == -1 {
                    bail!(
                        Runtime,
                        "one_hot: the number of classes must be given for a meta tensor"
                    );
                }
            } else if self.amin(None, false)?.item()?.to_i64() < 0 {
                bail!(Runtime, "one_hot: class values must be non-negative");
            }
            let last =
                if device == Device::Meta { 0 } else { self.amax(None, false)?.item()?.to_i64() };
            if classes != -1 && last >= classes {
                bail!(
                    Runtime,
                    "one_hot: class values must be smaller than num_classes ({classes}), got {last}"
                );
            }
            if classes == -1 { last + 1 } else { classes }
        };
        let mut shape = self.shape();
        shape.push(classes as usize);
        check_size("one_hot", &shape, dtype)?;
        let numbers =
            Tensor::arange(Scalar::Int(0), Scalar::Int(classes), Scalar::Int(1), dtype, device)?;
        self.unsqueeze(-1)?.eq(&numbers)?.to_dtype(dtype)
    }

    /// All choices of `r` elements of a vector, in order; one element may be taken several times if
    /// `replacement` is set.
    pub fn combinations(&self, r: i64, replacement: bool) -> Result<Tensor> {
        let shape = self.shape();
        if shape.len() != 1 {
            bail!(Runtime, "combinations: expect a 1D vector, but got shape {shape:?}");
        }
        if r < 0 {
            bail!(Runtime, "combinations: expect a non-negative number, but got {r}");
        }
        let (n, r) = (shape[0], r as usize);
        if r == 0 {
            return Tensor::zeros(&[0], self.dtype(), self.device());
        }
        let choices = choices(n, r, replacement)?;
        let count = choices.len() / r;
        let places = Tensor::from_vec(choices, &[count * r])?;
        let device = self.device();
        let places = places.to_dtype(device.narrow(DType::I64))?.to_device(device)?;
        self.index_select(0, &places)?.reshape_to(&[count, r])
    }

    /// Every tuple with one element of each vector, as rows; of a single vector, itself.
    pub fn cartesian_prod(tensors: &[Tensor]) -> Result<Tensor> {
        for tensor in tensors {
            if tensor.rank() != 1 {
                bail!(
                    Runtime,
                    "cartesian_prod: expect a 1D vector, but got shape {:?}",
                    tensor.shape()
                );
            }
        }
        if let [only] = tensors {
            return Ok(only.clone());
        }
        let grids = Tensor::meshgrid(tensors, "ij")?;
        let flat: Vec<Tensor> = grids
            .iter()
            .map(|grid| grid.reshape_to(&[numel(&grid.shape())]))
            .collect::<Result<_>>()?;
        Tensor::stack(&flat, 1)
    }
}

fn complex(number: Scalar) -> Complex<f64> {
    let (re, im) = number.to_parts();
    Complex::new(re, im)
}

/// The places of all choices of `r` out of `n`, one after the other.
fn choices(n: usize, r: usize, replacement: bool) -> Result<Vec<i64>> {
    // As many as the binomial coefficient says, which may be more than memory holds.
    let pool = if replacement { n + r - 1 } else { n };
    let fewer = r.min(pool.saturating_sub(r));
    let mut count = if r > pool || n == 0 { 0u128 } else { 1 };
    for taken in 0..fewer as u128 {
        count = count.saturating_mul(pool as u128 - taken) / (taken + 1);
    }
    let rows = usize::try_from(count).unwrap_or(usize::MAX);
    check_size("combinations", &[rows, r], DType::I64)?;
    let mut out = Vec::new();
    if rows == 0 {
        return Ok(out);
    }
    if out.try_reserve_exact(rows * r).is_err() {
        bail!(OutOfMemory, "combinations: {rows} choices of {r} elements do not fit into memory");
    }
    let mut places: Vec<usize> = if replacement { vec![0; r] } else { (0..r).collect() };
    loop {
        out.extend(places.iter().map(|&place| place as i64));
        // The last place that can still move on; those after it start again behind it.
        let limit = |at: usize| if replacement { n - 1 } else { n - r + at };
        let Some(at) = (0..r).rev().find(|&at| places[at] < limit(at)) else { return Ok(out) };
        places[at] += 1;
        for next in at + 1..r {
            places[next] = places[next - 1] + usize::from(!replacement);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: Device = Device::Cpu;

    #[test]
    fn sequences_meet_both_ends() {
        let x =
            Tensor::linspace(Scalar::Float(0.0), Scalar::Float(1.0), 11, DType::F32, CPU).unwrap();
        let x = x.to_vec::<f32>().unwrap();
        assert_eq!((x[0], x[5], x[10]), (0.0, 0.5, 1.0));
        let ints = Tensor::linspace(Scalar::Int(0), Scalar::Int(10), 4, DType::I64, CPU).unwrap();
        assert_eq!(ints.to_vec::<i64>().unwrap(), [0, 3, 6, 10]);
        let one =
            Tensor::linspace(Scalar::Float(3.0), Scalar::Float(9.0), 1, DType::F64, CPU).unwrap();
        assert_eq!(one.to_vec::<f64>().unwrap(), [3.0]);
        let powers =
            Tensor::logspace(Scalar::Int(0), Scalar::Int(3), 4, 2.0, DType::F32, CPU).unwrap();
        assert_eq!(powers.to_vec::<f32>().unwrap(), [1.0, 2.0, 4.0, 8.0]);
        assert!(Tensor::linspace(Scalar::Int(0), Scalar::Int(1), -1, DType::F32, CPU).is_err());
    }

    #[test]
    fn matrices_and_their_diagonals() {
        let eye = Tensor::eye(2, Some(3), DType::F32, CPU).unwrap();
        assert_eq!(eye.to_vec::<f32>().unwrap(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let tall = Tensor::eye(3, Some(1), DType::I64, CPU).unwrap();
        assert_eq!(tall.to_vec::<i64>().unwrap(), [1, 0, 0]);
        assert_eq!(Tensor::eye(0, None, DType::F32, CPU).unwrap().shape().as_slice(), [0, 0]);
        let x = Tensor::from_vec(vec![1.0f32, 2.0], &[2]).unwrap();
        x.set_requires_grad(true).unwrap();
        let up = x.diag(1).unwrap();
        assert_eq!(up.to_vec::<f32>().unwrap(), [0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
        assert_eq!(up.diag(1).unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
        crate::autograd::backward(
            &[up.mul(&up).unwrap().sum(None, false).unwrap()],
            &[None],
            false,
            false,
            None,
        )
        .unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
        assert_eq!(x.diagflat(0).unwrap().trace().unwrap().item().unwrap().to_f64(), 3.0);
    }

    #[test]
    fn triangles_by_their_places() {
        let low = Tensor::tril_indices(3, 3, -1, DType::I64, CPU).unwrap();
        assert_eq!(low.to_vec::<i64>().unwrap(), [1, 2, 2, 0, 0, 1]);
        let high = Tensor::triu_indices(2, 3, 1, DType::I64, CPU).unwrap();
        assert_eq!(high.to_vec::<i64>().unwrap(), [0, 0, 1, 1, 2, 2]);
        assert_eq!(
            Tensor::triu_indices(2, 2, 5, DType::I64, CPU).unwrap().shape().as_slice(),
            [2, 0]
        );
    }

    #[test]
    fn grids_and_choices() {
        let (a, b) = (vec![1i64, 2, 3], vec![4i64, 5]);
        let (a, b) = (Tensor::from_vec(a, &[3]).unwrap(), Tensor::from_vec(b, &[2]).unwrap());
        let grids = Tensor::meshgrid(&[a.clone(), b.clone()], "xy").unwrap();
        assert_eq!(grids[0].shape().as_slice(), [2, 3]);
        assert_eq!(grids[0].to_vec::<i64>().unwrap(), [1, 2, 3, 1, 2, 3]);
        assert_eq!(grids[1].to_vec::<i64>().unwrap(), [4, 4, 4, 5, 5, 5]);
        let pairs = Tensor::cartesian_prod(&[b.clone(), b.clone()]).unwrap();
        assert_eq!(pairs.to_vec::<i64>().unwrap(), [4, 4, 4, 5, 5, 4, 5, 5]);
        assert_eq!(a.combinations(2, false).unwrap().to_vec::<i64>().unwrap(), [1, 2, 1, 3, 2, 3]);
        assert_eq!(b.combinations(2, true).unwrap().to_vec::<i64>().unwrap(), [4, 4, 4, 5, 5, 5]);
        assert_eq!(b.combinations(3, false).unwrap().shape().as_slice(), [0, 3]);
    }

    #[test]
    fn classes_become_rows() {
        let classes = Tensor::from_vec(vec![1i64, 0], &[2]).unwrap();
        assert_eq!(classes.one_hot(-1).unwrap().to_vec::<i64>().unwrap(), [0, 1, 1, 0]);
        assert_eq!(classes.one_hot(3).unwrap().shape().as_slice(), [2, 3]);
        assert!(classes.one_hot(1).is_err());
        assert!(Tensor::from_vec(vec![-1i64], &[1]).unwrap().one_hot(-1).is_err());
    }
}
