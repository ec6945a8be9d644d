//! Tensors as sets: distinct elements, membership, and the elements that satisfy a condition.

mod select;
mod unique;

pub use select::{isin, nonzero};
pub use unique::{Unique, unique, unique_consecutive, unique_consecutive_dim, unique_dim};
