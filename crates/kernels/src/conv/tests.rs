//! The faster ways against the products over columns, and those against the definition.

use super::*;
use crate::Dims;
use crate::window::split;

fn numbers(len: usize, salt: usize) -> Vec<f64> {
    // Small whole numbers, so that sums are exact in every order.
    (0..len).map(|i| ((i * 7919 + salt * 104_729) % 13) as f64 - 6.0).collect()
}

struct Case {
    batch: usize,
    groups: usize,
    channels: usize,
    filters: usize,
    size: &'static [usize],
    kernel: &'static [usize],
    stride: &'static [usize],
    padding: &'static [usize],
    dilation: &'static [usize],
}

impl Case {
    fn convolution(&self) -> Convolution {
        let dims = Dims::from_slice;
        let count = (0..self.size.len()).map(|d| {
            let reach = self.dilation[d] * (self.kernel[d] - 1) + 1;
            (self.size[d] + 2 * self.padding[d] - reach) / self.stride[d] + 1
        });
        Convolution {
            batch: self.batch,
            groups: self.groups,
            channels: self.channels,
            filters: self.filters,
            windows: Windows {
                size: dims(self.size),
                kernel: dims(self.kernel),
                stride: dims(self.stride),
                dilation: dims(self.dilation),
                padding: dims(self.padding),
                count: count.collect(),
            },
        }
    }
}

macro_rules! case {
    ($batch:literal $groups:literal $channels:literal $filters:literal;
     $size:expr, $kernel:expr, $stride:expr, $padding:expr, $dilation:expr) => {
        Case {
            batch: $batch,
            groups: $groups,
            channels: $channels,
            filters: $filters,
            size: &$size,
            kernel: &$kernel,
            stride: &$stride,
            padding: &$padding,
            dilation: &$dilation,
        }
    };
}

fn cases() -> Vec<Case> {
    vec![
        case!(1 1 1 1; [5], [3], [1], [0], [1]),
        case!(3 1 2 5; [17], [4], [3], [2], [2]),
        case!(2 2 3 4; [9, 7], [3, 2], [1, 1], [1, 0], [1, 1]),
        case!(2 1 16 19; [9, 11], [3, 3], [2, 2], [1, 1], [1, 1]),
        case!(5 1 13 7; [6, 6], [3, 3], [1, 1], [1, 1], [1, 1]),
        case!(2 6 1 1; [10, 12], [3, 3], [1, 2], [1, 2], [2, 1]),
        case!(1 3 1 2; [8, 8], [5, 5], [1, 1], [2, 2], [1, 1]),
        case!(1 1 20 33; [7, 40], [1, 1], [1, 1], [0, 0], [1, 1]),
        case!(2 1 3 8; [16, 16], [4, 4], [4, 4], [0, 0], [1, 1]),
        case!(2 1 2 3; [5, 6], [2, 3], [4, 3], [3, 2], [1, 2]),
        case!(2 1 2 3; [5, 5], [1, 2], [3, 5], [4, 0], [1, 1]),
        case!(2 2 4 3; [5, 4, 6], [2, 3, 2], [2, 1, 1], [1, 1, 0], [1, 1, 2]),
        case!(1 1 14 9; [4, 6, 5], [3, 3, 3], [1, 2, 2], [1, 1, 1], [1, 1, 1]),
        case!(1 1 2 2; [1500], [3], [1], [1], [1]),
        case!(1 1 12 8; [1500], [3], [1], [1], [1]),
        case!(1 1 70 24; [50, 60], [3, 3], [1, 1], [1, 1], [1, 1]),
    ]
}

#[test]
fn columns_agree_with_the_definition() {
    for case in cases() {
        let c = case.convolution();
        if c.work() > 100_000 {
            continue;
        }
        let w = &c.windows;
        let (x, weight) = (numbers(c.inputs(), 1), numbers(c.weights(), 2));
        let (area, taps, windows) = (w.area(), w.taps(), w.windows());
        let mut want = vec![0.0; c.outputs()];
        for (at, want) in want.iter_mut().enumerate() {
            let (plane, window) = (at / windows, split(at % windows, &w.count));
            let filter = plane % (c.groups * c.filters);
            let (image, group) = (plane / (c.groups * c.filters), filter / c.filters);
            for channel in 0..c.channels {
                let input = &x[((image * c.groups + group) * c.channels + channel) * area..];
                for tap in 0..taps {
                    let t = split(tap, &w.kernel);
                    let place = (0..w.rank()).try_fold(0, |place, d| {
                        let at = window[d] * w.stride[d] + t[d] * w.dilation[d];
                        let at = at.checked_sub(w.padding[d]).filter(|&at| at < w.size[d])?;
                        Some(place * w.size[d] + at)
                    });
                    let weight = weight[(filter * c.channels + channel) * taps + tap];
                    *want += place.map_or(0.0, |place| input[place]) * weight;
                }
            }
        }
        assert!(columns::forward(&c, &x, &weight, None) == want, "{c:?}");
        // Both gradients are the transposes of that.
        let g = numbers(c.outputs(), 3);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let total = dot(&want, &g);
        assert_eq!(dot(&columns::input(&c, &g, &weight, None), &x), total, "{c:?}");
        assert_eq!(dot(&columns::weight(&c, &x, &g), &weight), total, "{c:?}");
    }
}

#[test]
fn tiles_agree_with_columns() {
    for case in cases() {
        let c = case.convolution();
        let (x, weight, g) =
            (numbers(c.inputs(), 1), numbers(c.weights(), 2), numbers(c.outputs(), 3));
        let bias = numbers(c.groups * c.filters, 4);
        let (bias, other) = (Some(&bias[..]), numbers(c.groups * c.channels, 5));
        let single = |data: &[f64]| data.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let double = |data: Vec<f32>| data.into_iter().map(f64::from).collect::<Vec<f64>>();
        let (x32, w32, g32) = (single(&x), single(&weight), single(&g));
        let want = columns::forward(&c, &x, &weight, bias);
        assert!(f64::forward(&c, &x, &weight, bias) == want, "{c:?}");
        let bias32 = bias.map(single);
        assert!(double(f32::forward(&c, &x32, &w32, bias32.as_deref())) == want, "{c:?}");
        let want = columns::input(&c, &g, &weight, Some(&other));
        assert!(f64::input(&c, &g, &weight, Some(&other)) == want, "{c:?}");
        let other32 = single(&other);
        assert!(double(f32::input(&c, &g32, &w32, Some(&other32))) == want, "{c:?}");
        let want = columns::weight(&c, &x, &g);
        assert!(<f64 as ConvElement>::weight(&c, &x, &g) == want, "{c:?}");
        assert!(double(<f32 as ConvElement>::weight(&c, &x32, &g32)) == want, "{c:?}");
    }
}

#[test]
fn infinities_stay_where_they_are() {
    let c = case!(1 1 1 1; [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]).convolution();
    let mut x = numbers(20, 1);
    x[4] = f64::INFINITY;
    let g = vec![1.0; 12];
    let weight = <f64 as ConvElement>::weight(&c, &x, &g);
    // The element in the corner is seen by one tap only.
    assert_eq!(weight.iter().filter(|value| value.is_finite()).count(), 3);
}

#[test]
fn nothing_gives_nothing() {
    let mut c = case!(1 1 2 3; [5], [2], [1], [0], [1]).convolution();
    c.batch = 0;
    assert!(f32::forward(&c, &[], &numbers(12, 1).map_to_f32(), None).is_empty());
    assert_eq!(<f32 as ConvElement>::weight(&c, &[], &[]), vec![0.0; 12]);
}

trait MapToF32 {
    fn map_to_f32(&self) -> Vec<f32>;
}

impl MapToF32 for Vec<f64> {
    fn map_to_f32(&self) -> Vec<f32> {
        self.iter().map(|&x| x as f32).collect()
    }
}
