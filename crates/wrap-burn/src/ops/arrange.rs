//! Tensors cut, repeated, turned, and put side by side.

use kernels::Dims;

use crate::ops::create::check_fits;
use crate::ops::view::{Item, ViewOp};
use crate::shape::{broadcast, wrap_dim, wrap_dims};
use crate::tensor::Tensor;
use crate::value::Meta;
use crate::{Category, DType, Result, bail};

/// Refuses a tensor without dimensions where one is to be cut.
fn check_cuttable(op: &str, tensor: &Tensor) -> Result<()> {
    if tensor.rank() == 0 {
        bail!(Runtime, "{op}: expects at least a 1-dimensional tensor, got a tensor with 0 dims");
    }
    Ok(())
}

/// Refuses more views than memory holds.
fn check_parts(op: &str, parts: i64) -> Result<()> {
    /// About what a view takes.
    const BYTES: usize = 256;
    check_fits(op, &Meta::new([usize::try_from(parts).unwrap_or(0), BYTES].as_slice(), DType::U8))
}

impl Tensor {
    /// Elements moved on along dimensions, those pushed out coming in again at the start. Without
    /// dimensions, as if the tensor were flat.
    pub fn roll(&self, shifts: &[i64], dims: &[i64]) -> Result<Tensor> {
        if shifts.is_empty() {
            bail!(Runtime, "roll: `shifts` required");
        }
        if dims.is_empty() && shifts.len() == 1 {
            let flat = self.reshape_to(&[self.numel()])?;
            return flat.roll(shifts, &[0])?.reshape_to(&self.shape());
        }
        if shifts.len() != dims.len() {
            bail!(
                Runtime,
                "roll: shifts and dimensions must align. shifts: {}, dims: {}",
                shifts.len(),
                dims.len()
            );
        }
        let shape = self.shape();
        if shape.is_empty() {
            bail!(Index, "roll: dimension specified as {} but tensor has no dimensions", dims[0]);
        }
        let mut out = self.clone();
        for (&shift, &dim) in shifts.iter().zip(dims) {
            let dim = wrap_dim("roll", dim, shape.len())?;
            let size = shape.get(dim).copied().unwrap_or(1);
            if self.numel() == 0 || size < 2 {
                continue;
            }
            let shift = shift.rem_euclid(size as i64) as usize;
            if shift > 0 {
                let (start, end) =
                    (out.slice(dim, size - shift, shift, 1)?, out.slice(dim, 0, size - shift, 1)?);
                out = Tensor::cat(&[start, end], dim as i64)?;
            }
        }
        if out.is(self) { self.deep_copy() } else { Ok(out) }
    }

    /// A plane of two dimensions turned by `k` quarters of a circle, from the first to the second.
    pub fn rot90(&self, k: i64, dims: &[i64]) -> Result<Tensor> {
        let &[from, to] = dims else {
            bail!(
                Runtime,
                "rot90: expected total rotation dims == 2, but got dims = {}",
                dims.len()
            );
        };
        let rank = self.rank();
        if rank < 2 {
            bail!(Runtime, "rot90: expected total dims >= 2, but got total dims = {rank}");
        }
        let (first, second) = (wrap_dim("rot90", from, rank)?, wrap_dim("rot90", to, rank)?);
        if first == second {
            bail!(
                Runtime,
                "rot90: expected rotation dims to be different, but got dim0 = {from} and dim1 = {to}"
            );
        }
        match k.rem_euclid(4) {
            1 => self.flip(&[to])?.transpose(from, to)?.deep_copy(),
            2 => self.flip(dims),
            3 => self.flip(&[from])?.transpose(from, to)?.deep_copy(),
            _ => self.deep_copy(),
        }
    }

    /// A copy with every dimension repeated so many times; leading ones may be new.
    pub fn repeat(&self, sizes: &[i64]) -> Result<Tensor> {
        let own = self.shape();
        if sizes.len() < own.len() {
            bail!(
                Runtime,
                "repeat: number of dimensions of repeat dims can not be smaller than number of \
                 dimensions of tensor, got {sizes:?} for shape {own:?}"
            );
        }
        if let Some(&wrong) = sizes.iter().find(|&&size| size < 0) {
            bail!(
                Runtime,
                "repeat: trying to create tensor with negative dimension {wrong}: {sizes:?}"
            );
        }
        // Before each dimension one of size one, expanded to the number of repeats and merged.
        let missing = sizes.len() - own.len();
        let (mut split, mut wide, mut shape) = (Dims::new(), Dims::new(), Dims::new());
        for (d, &times) in sizes.iter().enumerate() {
            let size = if d < missing { 1 } else { own[d - missing] };
            let times = times as usize;
            if times != 1 {
                split.push(1);
                wide.push(times);
            }
            split.push(size);
            wide.push(size);
            shape.push(size.saturating_mul(times));
        }
        crate::ops::create::check_size("repeat", &shape, self.dtype())?;
        self.reshape_to(&split)?.expand_to("repeat", &wide)?.deep_copy()?.reshape_to(&shape)
    }

    /// [`repeat`](Tensor::repeat) where sizes count from the last dimension.
    pub fn tile(&self, sizes: &[i64]) -> Result<Tensor> {
        let missing = self.rank().saturating_sub(sizes.len());
        let sizes: Vec<i64> =
            std::iter::repeat_n(1, missing).chain(sizes.iter().copied()).collect();
        self.repeat(&sizes)
    }

    /// Views of `size` positions each along a dimension; the last may be shorter.
    pub fn split(&self, size: i64, dim: i64) -> Result<Vec<Tensor>> {
        check_cuttable("split", self)?;
        let dim = wrap_dim("split", dim, self.rank())?;
        if size < 0 {
            bail!(Runtime, "split: expects split_size be non-negative, but got split_size={size}");
        }
        let (length, size) = (self.shape()[dim], size as usize);
        if length == 0 {
            return Ok(vec![self.slice(dim, 0, 0, 1)?]);
        }
        if size == 0 {
            bail!(
                Runtime,
                "split: split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
            );
        }
        (0..length)
            .step_by(size)
            .map(|start| self.slice(dim, start, size.min(length - start), 1))
            .collect()
    }

    /// Views of the given sizes along a dimension, which they have to fill.
    pub fn split_with_sizes(&self, sizes: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        check_cuttable("split_with_sizes", self)?;
        let dim = wrap_dim("split_with_sizes", dim, self.rank())?;
        let length = self.shape()[dim];
        if sizes.iter().any(|&size| size < 0) {
            bail!(
                Runtime,
                "split_with_sizes: expects split_sizes have only non-negative entries, but got split_sizes={sizes:?}"
            );
        }
        if sizes.iter().map(|&size| size as u128).sum::<u128>() != length as u128 {
            bail!(
                Runtime,
                "split_with_sizes: expects split_sizes to sum exactly to {length} (input tensor's size \
                 at dimension {dim}), but got split_sizes={sizes:?}"
            );
        }
        let mut start = 0;
        sizes
            .iter()
            .map(|&size| {
                start += size as usize;
                self.slice(dim, start - size as usize, size as usize, 1)
            })
            .collect()
    }

    /// At most `chunks` views of equal size along a dimension; the last may be shorter.
    pub fn chunk(&self, chunks: i64, dim: i64) -> Result<Vec<Tensor>> {
        check_cuttable("chunk", self)?;
        let dim = wrap_dim("chunk", dim, self.rank())?;
        if chunks <= 0 {
            bail!(Runtime, "chunk: expects `chunks` to be greater than 0, got: {chunks}");
        }
        let length = self.shape()[dim];
        if length == 0 {
            check_parts("chunk", chunks)?;
            return (0..chunks).map(|_| self.slice(dim, 0, 0, 1)).collect();
        }
        self.split(length.div_ceil(chunks as usize) as i64, dim as i64)
    }

    /// Exactly so many views along a dimension, the first ones longer by one where it does not
    /// divide.
    pub fn tensor_split(&self, sections: i64, dim: i64) -> Result<Vec<Tensor>> {
        check_cuttable("tensor_split", self)?;
        let dim = wrap_dim("tensor_split", dim, self.rank())?;
        if sections <= 0 {
            bail!(
                Runtime,
                "tensor_split: number of sections must be larger than 0, got {sections}"
            );
        }
        check_parts("tensor_split", sections)?;
        let (length, sections) = (self.shape()[dim], sections as usize);
        let (size, longer) = (length / sections, length % sections);
        (0..sections)
            .map(|at| {
                self.slice(dim, at * size + at.min(longer), size + usize::from(at < longer), 1)
            })
            .collect()
    }

    /// Views along a dimension, cut before each of the given places; places wrap and are held
    /// within the dimension as in slices.
    pub fn tensor_split_at(&self, places: &[i64], dim: i64) -> Result<Vec<Tensor>> {
        check_cuttable("tensor_split", self)?;
        let dim = wrap_dim("tensor_split", dim, self.rank())?;
        let length = self.shape()[dim] as i64;
        let place = |at: i64| {
            (if at < 0 { at.saturating_add(length) } else { at }).clamp(0, length) as usize
        };
        let starts = std::iter::once(0).chain(places.iter().map(|&at| place(at)));
        let ends = places.iter().map(|&at| place(at)).chain([length as usize]);
        starts
            .zip(ends)
            .map(|(start, end)| self.slice(dim, start, end.saturating_sub(start), 1))
            .collect()
    }

    /// A view of each position of a dimension, which disappears.
    pub fn unbind(&self, dim: i64) -> Result<Vec<Tensor>> {
        if self.rank() == 0 {
            bail!(Index, "unbind: dimension specified as {dim} but tensor has no dimensions");
        }
        let dim = wrap_dim("unbind", dim, self.rank())?;
        (0..self.shape()[dim] as i64).map(|at| self.select(dim as i64, at)).collect()
    }

    /// Dimensions moved to other places, the others staying in order.
    pub fn movedim(&self, source: &[i64], destination: &[i64]) -> Result<Tensor> {
        if source.len() != destination.len() {
            bail!(
                Runtime,
                "movedim: invalid source or destination dims: source ({source:?} dims) should contain \
                 the same number of dims as destination ({destination:?} dims)"
            );
        }
        let rank = self.rank();
        let (from, to) =
            (wrap_dims("movedim", source, rank)?, wrap_dims("movedim", destination, rank)?);
        if rank == 0 {
            return self.view_op(ViewOp::Permute { dims: Dims::new() });
        }
        let mut rest = (0..rank).filter(|d| !from.contains(d));
        let dims = (0..rank)
            .map(|d| match to.iter().position(|&place| place == d) {
                Some(at) => from[at],
                None => rest.next().expect("as many places as dimensions"),
            })
            .collect();
        self.view_op(ViewOp::Permute { dims })
    }

    /// A view with at least `n` dimensions, for `n` up to three: a vector becomes a row, and a
    /// matrix gets its third dimension last.
    pub fn atleast_nd(&self, n: usize) -> Result<Tensor> {
        let rank = self.rank();
        if rank >= n {
            return Ok(self.clone());
        }
        let own = self.shape();
        let whole = own.iter().map(|&len| Item::Slice { start: 0, len, step: 1 });
        let before = if rank == 2 { 0 } else { 1.min(n - rank) };
        // A scalar has no side; all its dimensions are new.
        let after = n - rank - before;
        let new = |count: usize| std::iter::repeat_n(Item::NewAxis, count);
        self.view_op(ViewOp::Index { items: new(before).chain(whole).chain(new(after)).collect() })
    }

    /// Tensors side by side: along the second dimension, vectors along their only one.
    pub fn hstack(tensors: &[Tensor]) -> Result<Tensor> {
        let tensors = raised("hstack", tensors, 1)?;
        Tensor::cat(&tensors, i64::from(tensors[0].rank() > 1))
    }

    /// Tensors one below the other, vectors as rows.
    pub fn vstack(tensors: &[Tensor]) -> Result<Tensor> {
        Tensor::cat(&raised("vstack", tensors, 2)?, 0)
    }

    /// Tensors one behind the other, along the third dimension.
    pub fn dstack(tensors: &[Tensor]) -> Result<Tensor> {
        Tensor::cat(&raised("dstack", tensors, 3)?, 2)
    }

    /// Tensors side by side, vectors as columns.
    pub fn column_stack(tensors: &[Tensor]) -> Result<Tensor> {
        if tensors.is_empty() {
            bail!(Runtime, "column_stack: expects a non-empty TensorList");
        }
        let columns: Vec<Tensor> = tensors
            .iter()
            .map(|tensor| {
                if tensor.rank() <= 1 {
                    tensor.reshape_to(&[tensor.numel(), 1])
                } else {
                    Ok(tensor.clone())
                }
            })
            .collect::<Result<_>>()?;
        Tensor::hstack(&columns)
    }

    /// Matrices along a diagonal, zeros elsewhere; vectors are rows.
    pub fn block_diag(tensors: &[Tensor]) -> Result<Tensor> {
        let Some(first) = tensors.first() else {
            return Tensor::zeros(&[1, 0], crate::defaults::float(), crate::defaults::device());
        };
        let mut dtype = first.dtype();
        let mut blocks = Vec::with_capacity(tensors.len());
        for (at, tensor) in tensors.iter().enumerate() {
            if tensor.rank() > 2 {
                bail!(
                    Runtime,
                    "block_diag: input tensors must have 2 or fewer dimensions. Input {at} has {} \
                     dimensions (shape {:?})",
                    tensor.rank(),
                    tensor.shape()
                );
            }
            dtype = dtype.promote(tensor.dtype());
            blocks.push(tensor.atleast_nd(2)?);
        }
        let columns: usize = blocks.iter().map(|block| block.shape()[1]).sum();
        let mut left = 0;
        let mut rows = Vec::with_capacity(blocks.len());
        for block in &blocks {
            let [height, width] = [block.shape()[0], block.shape()[1]];
            let zeros = |width: usize| Tensor::zeros(&[height, width], dtype, block.device());
            let parts = [zeros(left)?, block.to_dtype(dtype)?, zeros(columns - left - width)?];
            rows.push(Tensor::cat(&parts, 1)?);
            left += width;
        }
        Tensor::cat(&rows, 0)
    }

    /// Views of one shape, to which all tensors broadcast.
    pub fn broadcast_tensors(tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut shape = Dims::new();
        for tensor in tensors {
            shape = broadcast("broadcast_tensors", &shape, &tensor.shape())?;
        }
        tensors.iter().map(|tensor| tensor.expand_to("broadcast_tensors", &shape)).collect()
    }

    /// A view in another tensor's shape.
    pub fn expand_as(&self, other: &Tensor) -> Result<Tensor> {
        let sizes: Vec<i64> = other.shape().iter().map(|&size| size as i64).collect();
        self.expand(&sizes)
    }

    /// Differences of neighbours along a dimension, `n` times; `before` and `after` are put in front
    /// and behind first.
    pub fn diff(
        &self,
        n: i64,
        dim: i64,
        before: Option<&Tensor>,
        after: Option<&Tensor>,
    ) -> Result<Tensor> {
        if self.rank() == 0 {
            bail!(Runtime, "diff: expects input to be at least one-dimensional");
        }
        if n < 0 {
            bail!(Runtime, "diff: order must be non-negative but got {n}");
        }
        let dim = wrap_dim("diff", dim, self.rank())?;
        for other in [before, after].into_iter().flatten() {
            if other.rank() != self.rank() {
                bail!(
                    Runtime,
                    "diff: expects prepend or append to be the same dimension as input, got shapes {:?} \
                     and {:?}",
                    self.shape(),
                    other.shape()
                );
            }
        }
        let mut x = self.clone();
        if n > 0 && (before.is_some() || after.is_some()) {
            let parts: Vec<Tensor> =
                before.into_iter().chain([self]).chain(after).cloned().collect();
            x = Tensor::cat(&parts, dim as i64).map_err(|fault| fault.within("diff"))?;
        }
        for _ in 0..n {
            let size = x.shape()[dim];
            if size <= 1 {
                return x.slice(dim, 0, 0, 1)?.deep_copy();
            }
            let (right, left) = (x.slice(dim, 1, size - 1, 1)?, x.slice(dim, 0, size - 1, 1)?);
            x = if x.dtype() == DType::Bool {
                right.logical(crate::ops::compare::Logical::Xor, &left)?
            } else {
                right.sub(&left)?
            };
        }
        if n == 0 { self.deep_copy() } else { Ok(x) }
    }

    /// The integral of samples along a dimension by the trapezoid rule, at the places `x` or at
    /// steps of `dx`.
    pub fn trapezoid(&self, x: Option<&Tensor>, dx: f64, dim: i64) -> Result<Tensor> {
        let dim = wrap_dim("trapezoid", dim, self.rank())?;
        if self.shape().get(dim) == Some(&0) {
            let shape = crate::ops::reduce::reduced(&self.shape(), &[dim], false);
            return Tensor::zeros(&shape, self.dtype(), self.device());
        }
        self.trapezoids("trapezoid", x, dx, dim)?.sum(Some(&[dim as i64]), false)?.mul_scalar(0.5)
    }

    /// [`trapezoid`](Tensor::trapezoid) up to each sample after the first.
    pub fn cumulative_trapezoid(&self, x: Option<&Tensor>, dx: f64, dim: i64) -> Result<Tensor> {
        let dim = wrap_dim("cumulative_trapezoid", dim, self.rank())?;
        self.trapezoids("cumulative_trapezoid", x, dx, dim)?.cumsum(dim as i64)?.mul_scalar(0.5)
    }

    /// Twice the area between each two samples.
    fn trapezoids(&self, op: &str, x: Option<&Tensor>, dx: f64, dim: usize) -> Result<Tensor> {
        let shape = self.shape();
        let refuse = |tensor: &Tensor| -> Result<()> {
            if tensor.dtype().category() == Category::Bool {
                bail!(
                    Runtime,
                    "{op}: received a bool input for `x` or `y`, but bool is not supported"
                );
            }
            Ok(())
        };
        refuse(self)?;
        if shape.is_empty() {
            bail!(Runtime, "{op}: expected samples along a dimension, got a tensor with 0 dims");
        }
        let pairs = |t: &Tensor, dim: usize| -> Result<(Tensor, Tensor)> {
            let steps = t.shape()[dim].saturating_sub(1);
            Ok((t.slice(dim, t.shape()[dim] - steps, steps, 1)?, t.slice(dim, 0, steps, 1)?))
        };
        let (right, left) = pairs(self, dim)?;
        let heights = right.add(&left)?;
        let Some(x) = x else { return heights.mul_scalar(dx) };
        refuse(x)?;
        // Places line up with the samples from the last dimension on; a vector with its dimension.
        let own = x.shape();
        let mut lined = Dims::from_elem(1, shape.len().max(own.len()));
        if own.len() == 1 {
            if own[0] != shape[dim] {
                bail!(
                    Runtime,
                    "{op}: there must be one `x` value for each sample point, got {} for {}",
                    own[0],
                    shape[dim]
                );
            }
            lined[dim] = own[0];
        } else {
            let missing = lined.len() - own.len();
            lined[missing..].copy_from_slice(&own);
        }
        let (right, left) = pairs(&x.reshape_to(&lined)?, dim + lined.len() - shape.len())?;
        heights.mul(&right.sub(&left)?)
    }
}

/// Tensors with at least `n` dimensions, of which there must be one.
fn raised(op: &str, tensors: &[Tensor], n: usize) -> Result<Vec<Tensor>> {
    if tensors.is_empty() {
        bail!(Runtime, "{op}: expects a non-empty TensorList");
    }
    tensors.iter().map(|tensor| tensor.atleast_nd(n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    fn upto(n: i64, shape: &[usize]) -> Tensor {
        Tensor::from_vec((0..n).collect::<Vec<i64>>(), shape).unwrap()
    }

    fn ints(tensor: Tensor) -> Vec<i64> {
        tensor.to_vec().unwrap()
    }

    fn shapes(tensors: &[Tensor]) -> Vec<Vec<usize>> {
        tensors.iter().map(|tensor| tensor.shape().to_vec()).collect()
    }

    #[test]
    fn rolled_and_turned() {
        let x = upto(6, &[2, 3]);
        assert_eq!(ints(x.roll(&[1], &[]).unwrap()), [5, 0, 1, 2, 3, 4]);
        assert_eq!(ints(x.roll(&[-1, 1], &[1, 0]).unwrap()), [4, 5, 3, 1, 2, 0]);
        assert!(x.roll(&[1, 2], &[0]).is_err());
        assert_eq!(ints(x.rot90(1, &[0, 1]).unwrap()), [2, 5, 1, 4, 0, 3]);
        assert_eq!(ints(x.rot90(-1, &[0, 1]).unwrap()), [3, 0, 4, 1, 5, 2]);
        assert_eq!(ints(x.rot90(2, &[0, 1]).unwrap()), [5, 4, 3, 2, 1, 0]);
    }

    #[test]
    fn repeated() {
        let x = upto(2, &[2]);
        assert_eq!(ints(x.repeat(&[2, 2]).unwrap()), [0, 1, 0, 1, 0, 1, 0, 1]);
        assert_eq!(x.repeat(&[0, 3]).unwrap().shape().as_slice(), [0, 6]);
        assert!(!x.repeat(&[1]).unwrap().value().shares_storage(&x.value()));
        assert_eq!(upto(4, &[2, 2]).tile(&[2]).unwrap().shape().as_slice(), [2, 4]);
        let x = Tensor::from_vec(vec![1.0f32, 2.0], &[2]).unwrap();
        x.set_requires_grad(true).unwrap();
        let sum = x.repeat(&[3, 1]).unwrap().sum(None, false).unwrap();
        crate::autograd::backward(&[sum], &[None], false, false, None).unwrap();
        assert_eq!(x.grad().unwrap().to_vec::<f32>().unwrap(), [3.0, 3.0]);
    }

    #[test]
    fn cut() {
        let x = upto(5, &[5]);
        assert_eq!(shapes(&x.split(2, 0).unwrap()), [[2], [2], [1]]);
        assert_eq!(shapes(&x.split_with_sizes(&[0, 5], 0).unwrap()), [[0], [5]]);
        assert!(x.split_with_sizes(&[1, 5], 0).is_err());
        assert_eq!(shapes(&x.chunk(4, 0).unwrap()), [[2], [2], [1]]);
        assert_eq!(shapes(&x.tensor_split(3, 0).unwrap()), [[2], [2], [1]]);
        assert_eq!(shapes(&x.tensor_split_at(&[1, -1, 9], 0).unwrap()), [[1], [3], [1], [0]]);
        assert_eq!(x.unbind(0).unwrap().len(), 5);
        assert!(x.split(0, 0).is_err());
    }

    #[test]
    fn dimensions_moved_and_added() {
        let x = upto(24, &[2, 3, 4]);
        assert_eq!(x.movedim(&[0], &[-1]).unwrap().shape().as_slice(), [3, 4, 2]);
        assert_eq!(x.movedim(&[0, 1], &[1, 2]).unwrap().shape().as_slice(), [4, 2, 3]);
        let (point, row, plane) = (upto(1, &[]), upto(3, &[3]), upto(6, &[2, 3]));
        assert_eq!(point.atleast_nd(3).unwrap().shape().as_slice(), [1, 1, 1]);
        assert_eq!(row.atleast_nd(2).unwrap().shape().as_slice(), [1, 3]);
        assert_eq!(row.atleast_nd(3).unwrap().shape().as_slice(), [1, 3, 1]);
        assert_eq!(plane.atleast_nd(3).unwrap().shape().as_slice(), [2, 3, 1]);
    }

    #[test]
    fn stacked() {
        let x = upto(2, &[2]);
        let pair = [x.clone(), x.clone()];
        assert_eq!(ints(Tensor::hstack(&pair).unwrap()), [0, 1, 0, 1]);
        assert_eq!(Tensor::vstack(&pair).unwrap().shape().as_slice(), [2, 2]);
        assert_eq!(Tensor::dstack(&pair).unwrap().shape().as_slice(), [1, 2, 2]);
        assert_eq!(ints(Tensor::column_stack(&pair).unwrap()), [0, 0, 1, 1]);
        let blocks = Tensor::block_diag(&[upto(1, &[]), upto(2, &[2, 1])]).unwrap();
        assert_eq!((blocks.shape().to_vec(), ints(blocks)), (vec![3, 2], vec![0, 0, 0, 0, 0, 1]));
        assert_eq!(Tensor::block_diag(&[]).unwrap().device(), Device::Cpu);
    }

    #[test]
    fn differences_and_areas() {
        let y = Tensor::from_vec(vec![1.0f64, 4.0, 9.0, 16.0], &[4]).unwrap();
        assert_eq!(y.diff(2, -1, None, None).unwrap().to_vec::<f64>().unwrap(), [2.0, 2.0]);
        let zero = Tensor::from_vec(vec![0.0f64], &[1]).unwrap();
        assert_eq!(
            y.diff(1, 0, Some(&zero), None).unwrap().to_vec::<f64>().unwrap(),
            [1.0, 3.0, 5.0, 7.0]
        );
        assert_eq!(y.trapezoid(None, 2.0, -1).unwrap().item().unwrap().to_f64(), 43.0);
        assert_eq!(y.trapezoid(Some(&y), 1.0, -1).unwrap().item().unwrap().to_f64(), 127.5);
        assert_eq!(
            y.cumulative_trapezoid(None, 1.0, 0).unwrap().to_vec::<f64>().unwrap(),
            [2.5, 9.0, 21.5]
        );
        let flags = upto(2, &[2]).to_dtype(DType::Bool).unwrap();
        assert_eq!(ints(flags.diff(1, 0, None, None).unwrap().to_dtype(DType::I64).unwrap()), [1]);
    }
}
