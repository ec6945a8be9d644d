//! The floats that tiles are computed of, and what the processor has registers for.

use num_traits::Float;

use super::tiles::{Dots, Outer, Strip, dots, outer, strip};
use crate::simd::{self, Level};

/// Floats with tiles of their own, compiled for each level of processors: a vector has as many
/// lanes as one register.
pub(super) trait Real: super::ConvElement + Float {
    /// See [`strip`].
    ///
    /// # Safety
    /// As there.
    unsafe fn strip(job: &Strip<'_, Self>);
    /// See [`outer`].
    ///
    /// # Safety
    /// As there.
    unsafe fn outer(job: &Outer<'_, Self>);
    /// See [`dots`].
    ///
    /// # Safety
    /// As there.
    unsafe fn dots(job: &Dots<'_, Self>);
}

/// Whether every processor of the architecture multiplies and adds in one step.
const FUSES: bool = cfg!(target_arch = "aarch64");

macro_rules! by_level {
    ($float:ty, $lanes512:literal $lanes256:literal $lanes128:literal,
     $($body:ident($job:ident)),*) => {
        impl Real for $float {
            $(unsafe fn $body(job: &$job<'_, Self>) {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                    #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
                    unsafe fn newest(job: &$job<'_, $float>) {
                        unsafe { $body::<$float, $lanes512, true>(job) }
                    }
                    #[target_feature(enable = "avx2,fma,bmi1,bmi2")]
                    unsafe fn newer(job: &$job<'_, $float>) {
                        unsafe { $body::<$float, $lanes256, true>(job) }
                    }
                    // SAFETY: the processor has been asked.
                    match simd::level() {
                        Level::Avx512 => return unsafe { newest(job) },
                        Level::Avx2 => return unsafe { newer(job) },
                        Level::Baseline => {}
                    }
                }
                // SAFETY: the caller's promises are those of the function called.
                unsafe { $body::<$float, $lanes128, FUSES>(job) }
            })*
        }
    };
}
by_level!(f32, 16 8 4, strip(Strip), outer(Outer), dots(Dots));
by_level!(f64, 8 4 2, strip(Strip), outer(Outer), dots(Dots));

/// The lanes of the widest vector.
pub(super) const MOST_LANES: usize = 16;

/// `a * b + c`, in one rounding where the processor does so as fast as in two.
#[inline(always)]
pub(super) fn fused<T: Real, const FUSED: bool>(a: T, b: T, c: T) -> T {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Cuts rows into blocks that are computed at once, by the number of registers: the first row and
/// the height of each.
pub(super) fn blocks(rows: usize) -> Vec<(usize, usize)> {
    let wide = FUSES || simd::level() == Level::Avx512;
    let heights: &[usize] = if wide { &[8, 4, 2, 1] } else { &[4, 2, 1] };
    let mut blocks = Vec::new();
    let mut row = 0;
    for &height in heights {
        while rows - row >= height {
            blocks.push((row, height));
            row += height;
        }
    }
    blocks
}
