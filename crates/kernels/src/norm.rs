//! Normalisation: elements less the mean of their group, over its standard deviation, and the
//! gradients of that.
//!
//! Sums go block by block: within a block in the elements' own precision, over blocks in `f64`. So
//! they are exact enough for any length, and do not depend on the number of threads.

mod batch;
mod groups;
pub(crate) mod sums;

pub use batch::{Planes, batch_norm, batch_norm_backward};
pub use groups::{Groups, norm, norm_backward};

/// A normalised tensor and what it was normalised by.
#[derive(Debug)]
pub struct Normalised<T> {
    /// The result.
    pub y: Vec<T>,
    /// The mean of each group.
    pub mean: Vec<T>,
    /// What each group's elements spread by: one over the standard deviation, or the variance.
    pub spread: Vec<T>,
}

/// Gradients of a normalisation.
#[derive(Debug)]
pub struct NormGrads<T> {
    /// By the elements.
    pub x: Vec<T>,
    /// By the weight of each channel.
    pub weight: Vec<T>,
    /// By the bias of each channel.
    pub bias: Vec<T>,
}

/// A number of `f64` as an element.
#[inline(always)]
pub(crate) fn narrow<T: crate::Real>(x: f64) -> T {
    num_traits::NumCast::from(x).expect("floats hold every f64, rounded")
}

/// An element as a number of `f64`.
#[inline(always)]
pub(crate) fn widen<T: crate::Real>(x: T) -> f64 {
    num_traits::NumCast::from(x).expect("f64 holds every float")
}
