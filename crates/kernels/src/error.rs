//! What can go wrong inside a kernel: only what depends on the data.

/// Faults that no shape check can foresee.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// An index tensor points outside its dimension.
    #[error("index {index} is out of bounds for dimension {dim} with size {size}")]
    Index { index: i64, dim: usize, size: usize },
    /// A matrix has no inverse.
    #[error("matrix {batch} of the batch is singular: U[{pivot}, {pivot}] is zero")]
    Singular { batch: usize, pivot: usize },
    /// A matrix is not positive definite.
    #[error("matrix {batch} of the batch is not positive definite: minor {minor} fails")]
    NotPositiveDefinite { batch: usize, minor: usize },
    /// An iteration did not settle.
    #[error("{what} did not converge for matrix {batch} of the batch")]
    NoConvergence { what: &'static str, batch: usize },
    /// A value lies outside what the function is defined for.
    #[error("{0}")]
    Value(String),
}

/// A kernel's result.
pub type Result<T> = std::result::Result<T, Error>;
