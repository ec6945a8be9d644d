//! Products and linear algebra.

use pyo3::prelude::*;
use wrap_burn::Tensor;
use wrap_burn::ops::linalg::norm::NormOrder;
use wrap_burn::ops::linalg::qr::QrMode;

use super::tensors;
use crate::args::{Ints, Number, Op, T};
use crate::dtype::DTypeArg;

fn dims(ints: &Option<Ints>) -> Option<&[i64]> {
    ints.as_ref().map(|ints| ints.0.as_slice())
}

/// The order of a norm: a number, ``"fro"`` or ``"nuc"``.
#[derive(Clone, Copy)]
pub(super) struct Order(NormOrder);

impl<'a, 'py> FromPyObject<'a, 'py> for Order {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.extract::<String>() {
            return match name.as_str() {
                "fro" => Ok(Order(NormOrder::Fro)),
                "nuc" => Ok(Order(NormOrder::Nuc)),
                _ => Err(pyo3::exceptions::PyRuntimeError::new_err(format!(
                    "norm: only 'fro' and 'nuc' are norms by name, got '{name}'"
                ))),
            };
        }
        Ok(Order(NormOrder::Number(object.extract::<Number>()?.0.to_f64())))
    }
}

fn qr_mode(name: &str) -> wrap_burn::Result<QrMode> {
    Ok(match name {
        "reduced" => QrMode::Reduced,
        "complete" => QrMode::Complete,
        "r" => QrMode::R,
        other => {
            return Err(wrap_burn::error!(
                Runtime,
                "linalg.qr: expected mode to be one of reduced, complete or r, got '{other}'"
            ));
        }
    })
}

native! {
    fn mm(input, other: T) => input.mm(&other.0);
    fn mv(input, vec: T) => input.mv(&vec.0);
    fn bmm(input, other: T) => input.bmm(&other.0);
    fn dot(input, other: T) => input.dot(&other.0);
    fn vdot(input, other: T) => input.vdot(&other.0);
    fn outer(input, other: T) => input.outer(&other.0);
    fn inner(input, other: T) => input.inner(&other.0);
    fn tensordot(input, other: T, dims_self: Ints, dims_other: Ints) =>
        input.tensordot(&other.0, &dims_self.0, &dims_other.0);
    fn kron(input, other: T) => input.kron(&other.0);
    fn addmm(input, a: T, b: T, beta: Number, alpha: Number) => input.addmm(&a.0, &b.0, beta.0, alpha.0);
    fn addmv(input, a: T, b: T, beta: Number, alpha: Number) => input.addmv(&a.0, &b.0, beta.0, alpha.0);
    fn addr(input, a: T, b: T, beta: Number, alpha: Number) => input.addr(&a.0, &b.0, beta.0, alpha.0);
    fn baddbmm(input, a: T, b: T, beta: Number, alpha: Number) => input.baddbmm(&a.0, &b.0, beta.0, alpha.0);
    fn addbmm(input, a: T, b: T, beta: Number, alpha: Number) => input.addbmm(&a.0, &b.0, beta.0, alpha.0);
    fn cross(input, other: T, dim: i64) => input.cross(&other.0, dim);
    fn cdist(input, other: T, p: f64, by_product: bool) => input.cdist(&other.0, p, by_product);
    fn pdist(input, p: f64) => input.pdist(p);
    fn cosine_similarity(input, other: T, dim: i64, eps: f64) => input.cosine_similarity(&other.0, dim, eps);

    fn cholesky(input, upper: bool) => input.cholesky(upper);
    fn cholesky_ex(input, upper: bool) => input.cholesky_ex(upper);
    fn cholesky_solve(input, b: T, upper: bool) => input.cholesky_solve(&b.0, upper);
    fn cholesky_inverse(input, upper: bool) => input.cholesky_inverse(upper);
    fn det(input) => input.det();
    fn slogdet(input) => input.slogdet();
    fn logdet(input) => input.logdet();
    fn eigh(input, lower: bool) => input.eigh(lower);
    fn eigvalsh(input, lower: bool) => input.eigvalsh(lower);
    fn eig(input) => input.eig();
    fn eigvals(input) => input.eigvals();
    fn lstsq(input, b: T, rcond: Option<f64>, driver: Option<String>) -> (Tensor, Tensor, Tensor, Tensor) => {
        let found = input.lstsq(&b.0, rcond, driver.as_deref())?;
        Ok((found.solution, found.residuals, found.rank, found.singular_values))
    };
    fn ldl_factor(input, hermitian: bool) => input.ldl_factor(hermitian);
    fn ldl_solve(input, pivots: T, b: T, hermitian: bool) => input.ldl_solve(&pivots.0, &b.0, hermitian);
    fn lu_factor(input) => input.lu_factor();
    fn lu(input) => input.lu();
    fn lu_unpack(input, pivots: T) => input.lu_unpack(&pivots.0);
    fn lu_solve(input, pivots: T, b: T, left: bool, adjoint: bool) =>
        input.lu_solve(&pivots.0, &b.0, left, adjoint);
    fn matrix_exp(input) => input.matrix_exp();
    fn matrix_power(input, n: i64) => input.matrix_power(n);
    fn vander(input, n: Option<usize>) => input.vander(n);
    fn tensorinv(input, ind: i64) => input.tensorinv(ind);
    fn tensorsolve(input, b: T, dims_: Option<Ints>) => input.tensorsolve(&b.0, dims(&dims_));
    fn vector_norm(input, order: f64, dim: Option<Ints>, keepdim: bool, dtype: Option<DTypeArg>) =>
        input.vector_norm(order, dims(&dim), keepdim, dtype.map(|d| d.0));
    fn matrix_norm(input, order: Order, dim: Ints, keepdim: bool, dtype: Option<DTypeArg>) =>
        input.matrix_norm(order.0, &dim.0, keepdim, dtype.map(|d| d.0));
    fn linalg_norm(input, order: Option<Order>, dim: Option<Ints>, keepdim: bool, dtype: Option<DTypeArg>) =>
        input.linalg_norm(order.map(|o| o.0), dims(&dim), keepdim, dtype.map(|d| d.0));
    fn norm(input, order: Order, dim: Option<Ints>, keepdim: bool, dtype: Option<DTypeArg>) =>
        input.norm(order.0, dims(&dim), keepdim, dtype.map(|d| d.0));
    fn pinv(input, atol: Option<Op>, rtol: Option<Op>, hermitian: bool) =>
        input.pinv(atol.as_ref().map(|o| &o.0), rtol.as_ref().map(|o| &o.0), hermitian);
    fn matrix_rank(input, atol: Option<Op>, rtol: Option<Op>, hermitian: bool) =>
        input.matrix_rank(atol.as_ref().map(|o| &o.0), rtol.as_ref().map(|o| &o.0), hermitian);
    fn cond(input, order: Option<Order>) => input.cond(order.map(|o| o.0));
    fn qr(input, mode: &str) => input.qr(qr_mode(mode)?);
    fn householder_product(input, tau: T) => input.householder_product(&tau.0);
    fn geqrf(input) => input.geqrf();
    fn inv(input) => input.inv();
    fn solve(input, b: T, left: bool) => input.solve(&b.0, left);
    fn solve_triangular(input, b: T, upper: bool, left: bool, unitriangular: bool) =>
        input.solve_triangular(&b.0, upper, left, unitriangular);
    fn svd(input, full_matrices: bool) => input.svd(full_matrices);
    fn svdvals(input) => input.svdvals();
}

native_free! {
    fn _einsum(equation: &str, operands: Vec<T>) => Tensor::einsum(equation, &tensors(&operands));
    fn _multi_dot(parts: Vec<T>) => Tensor::multi_dot(&tensors(&parts));
    fn _chain_matmul(parts: Vec<T>) => Tensor::chain_matmul(&tensors(&parts));
}
