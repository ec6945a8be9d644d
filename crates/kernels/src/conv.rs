//! Convolutions over any number of dimensions, with strides, dilation, padding and groups: the
//! result, its gradient with respect to the input (a transposed convolution is the same) and with
//! respect to the weights.
//!
//! Floats are computed without columns: a padded copy of the input is laid out so that each tap of
//! the weights reads consecutive elements for consecutive results (`plan`), and small tiles of
//! results stay in registers while all taps and channels are added up (`tiles`). How a result is
//! summed depends on its shape alone, not on the number of threads.

use num_complex::Complex;

use crate::arithmetic::Ring;
use crate::matmul::MatmulElement;
use crate::window::Windows;

mod columns;
mod direct;
mod lanes;
mod plan;
mod tiles;
mod weight;

/// A convolution of `x` `(batch, groups * channels, *windows.size)` by weights
/// `(groups * filters, channels, *windows.kernel)` to `(batch, groups * filters, *windows.count)`.
#[derive(Clone, Debug)]
pub struct Convolution {
    /// Number of images.
    pub batch: usize,
    /// Channels and filters are divided into so many groups that do not see each other.
    pub groups: usize,
    /// Input channels of a group.
    pub channels: usize,
    /// Output channels of a group.
    pub filters: usize,
    /// Where the weights are applied.
    pub windows: Windows,
}

impl Convolution {
    /// Elements of the input.
    fn inputs(&self) -> usize {
        self.batch * self.groups * self.channels * self.windows.area()
    }

    /// Elements of the result.
    fn outputs(&self) -> usize {
        self.batch * self.groups * self.filters * self.windows.windows()
    }

    /// Elements of the weights.
    fn weights(&self) -> usize {
        self.groups * self.filters * self.channels * self.windows.taps()
    }

    /// Multiplications, about.
    fn work(&self) -> usize {
        self.outputs() * self.channels * self.windows.taps()
    }
}

/// Elements that can be convolved: floats, complex floats and integers, which wrap around.
pub trait ConvElement: MatmulElement + Ring {
    /// The result; `bias` has an element for each filter.
    fn forward(c: &Convolution, x: &[Self], weight: &[Self], bias: Option<&[Self]>) -> Vec<Self> {
        columns::forward(c, x, weight, bias)
    }

    /// The gradient with respect to the input from that of the result, `g`; `bias`, one element
    /// for each input channel, is added.
    fn input(c: &Convolution, g: &[Self], weight: &[Self], bias: Option<&[Self]>) -> Vec<Self> {
        columns::input(c, g, weight, bias)
    }

    /// The gradient with respect to the weights from that of the result, `g`.
    fn weight(c: &Convolution, x: &[Self], g: &[Self]) -> Vec<Self> {
        columns::weight(c, x, g)
    }
}

macro_rules! directly {
    ($($float:ty),*) => {$(
        impl ConvElement for $float {
            fn forward(
                c: &Convolution,
                x: &[Self],
                weight: &[Self],
                bias: Option<&[Self]>,
            ) -> Vec<Self> {
                direct::forward(c, x, weight, bias)
            }

            fn input(
                c: &Convolution,
                g: &[Self],
                weight: &[Self],
                bias: Option<&[Self]>,
            ) -> Vec<Self> {
                direct::input(c, g, weight, bias)
            }

            fn weight(c: &Convolution, x: &[Self], g: &[Self]) -> Vec<Self> {
                weight::weight(c, x, g)
            }
        }
    )*};
}
directly!(f32, f64);

macro_rules! by_columns {
    ($($element:ty),*) => {$( impl ConvElement for $element {} )*};
}
by_columns!(u8, i8, i16, i32, i64, Complex<f32>, Complex<f64>);

#[cfg(test)]
mod tests;
