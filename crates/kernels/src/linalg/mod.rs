//! Dense linear algebra on batches of matrices.
//!
//! Inputs are views of shape `(*batch, rows, columns)` with any strides; outputs are row-major.
//! Matrices are factored one by one, on several threads where there are many of them; where they
//! are few and large, products and the factorisations made of products use several threads inside.
//! Functions of several matrices expect equal batch dimensions. Signs and phases follow LAPACK
//! wherever a decomposition leaves them open and LAPACK defines them. Numbers far from one are scaled
//! before and after, so that only results that no number holds overflow or vanish.

mod batch;
mod cholesky;
mod distance;
mod eigen;
mod element;
mod engine;
mod ldl;
mod lstsq;
mod lu;
mod matrix_exp;
mod qr;
mod scale;
mod solve;
mod svd;

pub use cholesky::{cholesky, cholesky_ex, cholesky_solve};
pub use distance::cdist;
pub use eigen::{eig, eigh, eigvals, eigvalsh};
pub use element::LinalgElement;
pub use ldl::{LdlFactors, ldl_factor, ldl_solve};
pub use lstsq::{Lstsq, lstsq};
pub use lu::{LuFactors, det, lu_factor, slogdet};
pub use matrix_exp::matrix_exp;
pub use qr::{geqrf, householder_product, qr};
pub use solve::{inv, solve, solve_triangular};
pub use svd::{Svd, svd, svdvals};

pub(crate) use engine::Engine;

#[cfg(test)]
mod test_support;
