//! Products with strict shapes, and products added to something.

use kernels::Dims;

use crate::ops::binary::{Binary, result_type};
use crate::shape::wrap_dims;
use crate::tensor::Tensor;
use crate::{Category, Result, Scalar, bail};

/// Refuses two operands of different dtypes.
fn check_dtypes(op: &str, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.dtype() != b.dtype() {
        bail!(
            Runtime,
            "{op}: expected both tensors to have the same dtype, but found {} and {}; hint: convert one \
             with .to()",
            a.dtype(),
            b.dtype()
        );
    }
    Ok(())
}

/// Refuses a tensor of another rank.
fn check_rank(op: &str, which: &str, x: &Tensor, rank: usize) -> Result<()> {
    if x.rank() != rank {
        bail!(
            Runtime,
            "{op}: Expected {rank}-D argument {which}, but got {}-D (shape {:?})",
            x.rank(),
            x.shape()
        );
    }
    Ok(())
}

impl Tensor {
    /// The product of two matrices.
    pub fn mm(&self, other: &Tensor) -> Result<Tensor> {
        for (name, x) in [("self", self), ("mat2", other)] {
            if x.rank() != 2 {
                bail!(Runtime, "mm: {name} must be a matrix, got shape {:?}", x.shape());
            }
        }
        check_dtypes("mm", self, other)?;
        let (a, b) = (self.shape(), other.shape());
        if a[1] != b[0] {
            bail!(
                Runtime,
                "mm: mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})",
                a[0],
                a[1],
                b[0],
                b[1]
            );
        }
        self.matmul(other)
    }

    /// The product of a matrix and a vector.
    pub fn mv(&self, vec: &Tensor) -> Result<Tensor> {
        if self.rank() != 2 || vec.rank() != 1 {
            bail!(
                Runtime,
                "mv: vector + matrix @ vector expected, got {}D and {}D tensors",
                self.rank(),
                vec.rank()
            );
        }
        check_dtypes("mv", self, vec)?;
        let (a, b) = (self.shape(), vec.shape());
        if a[1] != b[0] {
            bail!(
                Runtime,
                "mv: size mismatch, got input ({}), mat ({}x{}), vec ({})",
                a[0],
                a[0],
                a[1],
                b[0]
            );
        }
        self.matmul(vec)
    }

    /// The products of the matrices of two batches.
    pub fn bmm(&self, other: &Tensor) -> Result<Tensor> {
        for (name, x) in [("batch1", self), ("batch2", other)] {
            if x.rank() != 3 {
                bail!(Runtime, "bmm: {name} must be a 3D tensor, got shape {:?}", x.shape());
            }
        }
        check_dtypes("bmm", self, other)?;
        let (a, b) = (self.shape(), other.shape());
        if a[0] != b[0] || a[2] != b[1] {
            bail!(
                Runtime,
                "bmm: Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: \
                 [{}, {}]: shapes {a:?} and {b:?}",
                a[0],
                a[2],
                b[0],
                b[1]
            );
        }
        self.matmul(other)
    }

    /// The sum of the products of two vectors.
    pub fn dot(&self, other: &Tensor) -> Result<Tensor> {
        self.dot_named("dot", other)
    }

    fn dot_named(&self, op: &str, other: &Tensor) -> Result<Tensor> {
        if self.rank() != 1 || other.rank() != 1 {
            bail!(
                Runtime,
                "{op}: 1D tensors expected, but got {}D and {}D tensors",
                self.rank(),
                other.rank()
            );
        }
        if self.dtype() != other.dtype() {
            bail!(
                Runtime,
                "{op}: expected both vectors to have same dtype, but found {} and {}",
                self.dtype(),
                other.dtype()
            );
        }
        if self.numel() != other.numel() {
            bail!(
                Runtime,
                "{op}: inconsistent tensor size, expected tensor {:?} and src {:?} to have the same \
                 number of elements, but got {} and {} elements respectively",
                self.shape(),
                other.shape(),
                self.numel(),
                other.numel()
            );
        }
        self.matmul(other)
    }

    /// The sum of the products of a conjugated vector and another.
    pub fn vdot(&self, other: &Tensor) -> Result<Tensor> {
        self.conj()?.dot_named("vdot", other)
    }

    /// All products of the elements of two vectors.
    pub fn outer(&self, other: &Tensor) -> Result<Tensor> {
        check_rank("outer", "self", self, 1)?;
        check_rank("outer", "vec2", other, 1)?;
        self.unsqueeze(1)?.mul(&other.unsqueeze(0)?)
    }

    /// Products summed over the last dimension of both.
    pub fn inner(&self, other: &Tensor) -> Result<Tensor> {
        let (a, b) = (self.shape(), other.shape());
        if a.is_empty() || b.is_empty() {
            return self.mul(other);
        }
        if a.last() != b.last() {
            bail!(
                Runtime,
                "inner: the last dimension must match on both input tensors but got shapes {a:?} and {b:?}"
            );
        }
        self.tensordot(other, &[-1], &[-1])
    }

    /// Products summed over pairs of dimensions.
    pub fn tensordot(
        &self,
        other: &Tensor,
        dims_self: &[i64],
        dims_other: &[i64],
    ) -> Result<Tensor> {
        let op = "tensordot";
        if dims_self.len() != dims_other.len() {
            bail!(
                Runtime,
                "{op}: both dimension lists should have same length, got {dims_self:?} and {dims_other:?}"
            );
        }
        check_dtypes(op, self, other)?;
        let (mut left, mut right) = (self.clone(), other.clone());
        let first = wrap_dims(op, dims_self, left.rank())?;
        let second = wrap_dims(op, dims_other, right.rank())?;
        for (&one, &two) in first.iter().zip(&second) {
            let sizes = (left.shape()[one], right.shape()[two]);
            match sizes {
                (a, b) if a == b => {}
                // A size of one stands for all; what it meets is summed first.
                (1, _) => right = right.sum_dims(&[two], true)?,
                (_, 1) => left = left.sum_dims(&[one], true)?,
                (a, b) => bail!(
                    Runtime,
                    "{op}: contracted dimensions need to match, but first has size {a} in dim {one} and \
                     second has size {b} in dim {two}"
                ),
            }
        }
        let (a, b) = (left.shape(), right.shape());
        let kept = |shape: &[usize], used: &[usize]| -> Dims {
            (0..shape.len()).filter(|d| !used.contains(d)).collect()
        };
        let (outer, inner) = (kept(&a, &first), kept(&b, &second));
        let order = |x: &[usize], y: &[usize]| -> Vec<i64> {
            x.iter().chain(y).map(|&d| d as i64).collect()
        };
        let count =
            |shape: &[usize], dims: &[usize]| dims.iter().map(|&d| shape[d]).product::<usize>();
        let (rows, common, columns) = (count(&a, &outer), count(&a, &first), count(&b, &inner));
        let left = left.permute(&order(&outer, &first))?.reshape_to(&[rows, common])?;
        let right = right.permute(&order(&second, &inner))?.reshape_to(&[common, columns])?;
        let shape: Dims = outer.iter().map(|&d| a[d]).chain(inner.iter().map(|&d| b[d])).collect();
        left.matmul(&right)?.reshape_to(&shape)
    }

    /// The Kronecker product.
    pub fn kron(&self, other: &Tensor) -> Result<Tensor> {
        let (a, b) = (self.shape(), other.shape());
        let rank = a.len().max(b.len());
        let aligned = |shape: &[usize]| -> Dims {
            std::iter::repeat_n(1, rank - shape.len()).chain(shape.iter().copied()).collect()
        };
        let (a, b) = (aligned(&a), aligned(&b));
        let left: Dims = a.iter().flat_map(|&size| [size, 1]).collect();
        let right: Dims = b.iter().flat_map(|&size| [1, size]).collect();
        let shape: Dims = a.iter().zip(&b).map(|(x, y)| x * y).collect();
        self.reshape_to(&left)?.mul(&other.reshape_to(&right)?)?.reshape_to(&shape)
    }

    /// `beta * self + alpha * product`; a `beta` of zero drops `self`, whatever it holds.
    fn plus_product(
        &self,
        op: &str,
        product: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let shape = product.shape();
        let dtype = result_type(self, product);
        for (name, factor) in [("beta", beta), ("alpha", alpha)] {
            if dtype.category() <= Category::Int && factor.category() > Category::Int {
                bail!(
                    Runtime,
                    "{op}: For integral input tensors, argument {name} must not be a floating point number."
                );
            }
        }
        if self.dtype() != product.dtype() {
            bail!(
                Runtime,
                "{op}: self and mat2 must have the same dtype, but got {} and {}",
                self.dtype(),
                product.dtype()
            );
        }
        let one = |factor: Scalar| factor.to_parts() == (1.0, 0.0);
        let scaled = |x: &Tensor, factor: Scalar| {
            if one(factor) { Ok(x.clone()) } else { x.with_scalar(Binary::Mul, factor, false) }
        };
        let wide = self.expand_to(op, &shape)?;
        let product = scaled(product, alpha)?;
        if beta.to_parts() == (0.0, 0.0) {
            return Ok(product);
        }
        scaled(&wide, beta)?.add(&product)
    }

    /// `beta * self + alpha * (mat1 @ mat2)`.
    pub fn addmm(
        &self,
        mat1: &Tensor,
        mat2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let product = mat1.mm(mat2).map_err(|fault| fault.within("addmm"))?;
        self.plus_product("addmm", &product, beta, alpha)
    }

    /// `beta * self + alpha * (mat @ vec)`.
    pub fn addmv(&self, mat: &Tensor, vec: &Tensor, beta: Scalar, alpha: Scalar) -> Result<Tensor> {
        let product = mat.mv(vec).map_err(|fault| fault.within("addmv"))?;
        self.plus_product("addmv", &product, beta, alpha)
    }

    /// `beta * self + alpha * outer(vec1, vec2)`.
    pub fn addr(
        &self,
        vec1: &Tensor,
        vec2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let product = vec1.outer(vec2).map_err(|fault| fault.within("addr"))?;
        let dtype = result_type(self, &product);
        self.to_dtype(dtype)?.plus_product("addr", &product.to_dtype(dtype)?, beta, alpha)
    }

    /// `beta * self + alpha * bmm(batch1, batch2)`.
    pub fn baddbmm(
        &self,
        batch1: &Tensor,
        batch2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let product = batch1.bmm(batch2).map_err(|fault| fault.within("baddbmm"))?;
        self.plus_product("baddbmm", &product, beta, alpha)
    }

    /// `beta * self + alpha * bmm(batch1, batch2).sum(0)`.
    pub fn addbmm(
        &self,
        batch1: &Tensor,
        batch2: &Tensor,
        beta: Scalar,
        alpha: Scalar,
    ) -> Result<Tensor> {
        let product = batch1.bmm(batch2).map_err(|fault| fault.within("addbmm"))?;
        self.plus_product("addbmm", &product.sum_dims(&[0], false)?, beta, alpha)
    }
}
