//! The arithmetic of one step between the products: gates, states and their gradients, row by row.

use crate::panels::Factor;
use crate::simd::Task;
use crate::vector_math;

/// Elements that are computed together, in arrays that no slice can alias.
const WIDTH: usize = 16;

/// Elements of recurrent layers: `f32` and `f64`.
pub trait Gated: Factor {
    #[doc(hidden)]
    fn sigmoid(self) -> Self;
    #[doc(hidden)]
    fn squash(self) -> Self;
}

impl Gated for f32 {
    #[inline(always)]
    fn sigmoid(self) -> f32 {
        vector_math::sigmoid(self)
    }
    #[inline(always)]
    fn squash(self) -> f32 {
        vector_math::tanh(self)
    }
}

impl Gated for f64 {
    #[inline(always)]
    fn sigmoid(self) -> f64 {
        1.0 / (1.0 + (-self).exp())
    }
    #[inline(always)]
    fn squash(self) -> f64 {
        self.tanh()
    }
}

/// Replaces what `targets` hold at each place by `f` of that and of what `sources` hold there. All
/// rows are equally long.
#[inline(always)]
fn update<T: Factor, const S: usize, const D: usize>(
    sources: [&[T]; S],
    mut targets: [&mut [T]; D],
    f: impl Fn([T; S], [T; D]) -> [T; D],
) {
    let len = targets[0].len();
    let whole = len - len % WIDTH;
    for at in (0..whole).step_by(WIDTH) {
        let chunk = |row: &[T]| -> [T; WIDTH] {
            row[at..at + WIDTH].try_into().expect("a slice of this length")
        };
        let read = sources.map(chunk);
        let mut values: [[T; WIDTH]; D] = std::array::from_fn(|row| chunk(targets[row]));
        for lane in 0..WIDTH {
            let old = std::array::from_fn(|row| values[row][lane]);
            let new = f(std::array::from_fn(|row| read[row][lane]), old);
            for row in 0..D {
                values[row][lane] = new[row];
            }
        }
        for (row, values) in targets.iter_mut().zip(&values) {
            row[at..at + WIDTH].copy_from_slice(values);
        }
    }
    for at in whole..len {
        let old = std::array::from_fn(|row| targets[row][at]);
        let new = f(sources.map(|row| row[at]), old);
        for (row, value) in targets.iter_mut().zip(new) {
            row[at] = value;
        }
    }
}

/// A row of several gates, one after the other.
#[inline(always)]
fn gates<T, const G: usize>(row: &[T]) -> [&[T]; G] {
    let len = row.len() / G;
    std::array::from_fn(|gate| &row[gate * len..][..len])
}

/// [`gates`], to be written.
#[inline(always)]
fn gates_mut<T, const G: usize>(row: &mut [T]) -> [&mut [T]; G] {
    let len = row.len() / G;
    let mut rest = row;
    std::array::from_fn(|_| {
        let (gate, after) = std::mem::take(&mut rest).split_at_mut(len);
        rest = after;
        gate
    })
}

/// One step of a plain recurrent layer: activates the rows of `h`.
pub(super) struct PlainStep<'a, T> {
    pub(super) h: &'a mut [T],
    /// The rectifier in place of the hyperbolic tangent.
    pub(super) relu: bool,
}

impl<T: Gated> Task for PlainStep<'_, T> {
    #[inline(always)]
    fn run(self) {
        if self.relu {
            // A NaN stays one.
            update([], [self.h], |[], [x]| [if x < T::zero() { T::zero() } else { x }]);
        } else {
            update([], [self.h], |[], [x]| [x.squash()]);
        }
    }
}

/// Its gradient: from `dh` and the result `h` that of the sum that was activated.
pub(super) struct PlainBack<'a, T> {
    pub(super) h: &'a [T],
    pub(super) dh: &'a [T],
    pub(super) dx: &'a mut [T],
    pub(super) relu: bool,
}

impl<T: Gated> Task for PlainBack<'_, T> {
    #[inline(always)]
    fn run(self) {
        let PlainBack { h, dh, dx, relu } = self;
        if relu {
            update([h, dh], [dx], |[h, dh], _| [if h > T::zero() { dh } else { T::zero() }]);
        } else {
            update([h, dh], [dx], |[h, dh], _| [dh * (T::one() - h * h)]);
        }
    }
}

/// One step of an LSTM: activates the rows `i f g o` of `gates` in place and updates the states.
pub(super) struct LstmStep<'a, T> {
    pub(super) gates: &'a mut [T],
    pub(super) c: &'a mut [T],
    pub(super) h: &'a mut [T],
    pub(super) hidden: usize,
}

impl<T: Gated> Task for LstmStep<'_, T> {
    #[inline(always)]
    fn run(self) {
        let LstmStep { gates, c, h, hidden } = self;
        let states = c.chunks_exact_mut(hidden).zip(h.chunks_exact_mut(hidden));
        for (row, (c, h)) in gates.chunks_exact_mut(4 * hidden).zip(states) {
            let [i, f, g, o] = gates_mut::<T, 4>(row);
            update([], [i, f, g, o, c, h], |[], [i, f, g, o, c, _]| {
                let (i, f, g, o) = (i.sigmoid(), f.sigmoid(), g.squash(), o.sigmoid());
                let c = f * c + i * g;
                [i, f, g, o, c, o * c.squash()]
            });
        }
    }
}

/// One row of its gradient: the gates' gradients before activation from those of the states; `dc`
/// becomes the gradient of the state before.
pub(super) struct LstmBack<'a, T> {
    pub(super) gates: &'a [T],
    pub(super) c: &'a [T],
    pub(super) c_before: &'a [T],
    pub(super) dh: &'a [T],
    pub(super) dc: &'a mut [T],
    pub(super) dx: &'a mut [T],
}

impl<T: Gated> Task for LstmBack<'_, T> {
    #[inline(always)]
    fn run(self) {
        let [i, f, g, o] = gates::<T, 4>(self.gates);
        let [di, df, dg, d_o] = gates_mut::<T, 4>(self.dx);
        let sources = [i, f, g, o, self.c, self.c_before, self.dh];
        let one = T::one();
        update(sources, [di, df, dg, d_o, self.dc], |values, [.., dc]| {
            let [i, f, g, o, c, c_before, dh] = values;
            let shown = c.squash();
            let dc = dc + dh * o * (one - shown * shown);
            [
                dc * g * i * (one - i),
                dc * c_before * f * (one - f),
                dc * i * (one - g * g),
                dh * shown * o * (one - o),
                dc * f,
            ]
        });
    }
}

/// One step of a GRU: updates the state from the input's sums, which the rows `r z n m` of `gates`
/// hold first, and from the state's sums `s`, rows `r z n`. Leaves `r z n` activated, and the
/// state's part of the third as `m`.
pub(super) struct GruStep<'a, T> {
    pub(super) gates: &'a mut [T],
    pub(super) s: &'a [T],
    pub(super) h: &'a mut [T],
    pub(super) hidden: usize,
}

impl<T: Gated> Task for GruStep<'_, T> {
    #[inline(always)]
    fn run(self) {
        let GruStep { gates: all, s, h, hidden } = self;
        let states = h.chunks_exact_mut(hidden).zip(s.chunks_exact(3 * hidden));
        for (row, (h, s)) in all.chunks_exact_mut(4 * hidden).zip(states) {
            let ([r, z, n, m], sums) = (gates_mut::<T, 4>(row), gates::<T, 3>(s));
            update(sums, [h, r, z, n, m], |[sr, sz, sn], [h, xr, xz, xn, _]| {
                let (r, z) = ((xr + sr).sigmoid(), (xz + sz).sigmoid());
                let n = (xn + r * sn).squash();
                [n + z * (h - n), r, z, n, sn]
            });
        }
    }
}

/// One row of its gradient: those of both sums from that of the new state; `dh` becomes the part
/// that goes to the state before directly.
pub(super) struct GruBack<'a, T> {
    pub(super) kept: &'a [T],
    pub(super) h_before: &'a [T],
    pub(super) dh: &'a mut [T],
    pub(super) dx: &'a mut [T],
    pub(super) ds: &'a mut [T],
}

impl<T: Gated> Task for GruBack<'_, T> {
    #[inline(always)]
    fn run(self) {
        let [r, z, n, m] = gates::<T, 4>(self.kept);
        let ([xr, xz, xn], [sr, sz, sn]) = (gates_mut::<T, 3>(self.dx), gates_mut::<T, 3>(self.ds));
        let one = T::one();
        let targets = [self.dh, xr, xz, xn, sr, sz, sn];
        update([r, z, n, m, self.h_before], targets, |[r, z, n, m, h], [dh, ..]| {
            let dz = dh * (h - n) * z * (one - z);
            let dn = dh * (one - z) * (one - n * n);
            let dr = dn * m * r * (one - r);
            [dh * z, dr, dz, dn, dr, dz, dn * r]
        });
    }
}
