//! Update rules of optimizers, each written once.
//!
//! A [`Rule`] holds hyperparameters. Its [`coefficients`](Rule::coefficients) are what they come to
//! in one step, computed once per parameter; its [`update`](Rule::update) is what happens to one
//! element. Both are generic over [`Lane`], a kind of number: [`sweep`] runs a rule over slices of
//! `f32` or `f64` in one pass over memory, and a caller whose tensors are not slices makes its own
//! kind of number of them and gets the same arithmetic.

mod adam;
mod adaptive;
mod averaged;
mod nesterov;
mod sgd;
mod signs;

use std::ops::{Add, Div, Mul, Neg, Sub};

pub use self::adam::{Adam, Adamax, Amsgrad, LambDirection, RAdam};
pub use self::adaptive::{Adadelta, Adagrad, Centered, CenteredMomentum, RmsMomentum, RmsProp};
pub use self::averaged::Asgd;
pub use self::nesterov::{Adan, NAdam};
pub use self::sgd::{Momentum, Sgd};
pub use self::signs::{Lion, Rprop};
use crate::par;
use crate::simd::{self, Task};

/// What a rule computes with: a number, or something that many numbers are hidden in.
pub trait Lane:
    Clone
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + for<'a> Add<&'a Self, Output = Self>
    + for<'a> Sub<&'a Self, Output = Self>
    + for<'a> Mul<&'a Self, Output = Self>
    + for<'a> Div<&'a Self, Output = Self>
{
    /// A constant.
    fn of(number: f64) -> Self;
    /// The number, where it is one.
    fn value(&self) -> f64;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// This number to a power that is known.
    fn pow(self, exponent: f64) -> Self;
    /// The larger of two, or NaN.
    fn at_least(self, other: Self) -> Self;
    /// The smaller of two, or NaN.
    fn at_most(self, other: Self) -> Self;
    /// One of two, by whether this number is above zero.
    fn if_positive(self, yes: Self, no: Self) -> Self;

    /// The square.
    #[inline(always)]
    fn square(&self) -> Self {
        self.clone() * self
    }

    /// A step from here towards `end`.
    #[inline(always)]
    fn lerp(self, end: &Self, weight: &Self) -> Self {
        let way = end.clone() - &self;
        self + way * weight
    }

    /// One of three, by the sign. NaN counts as zero.
    #[inline(always)]
    fn by_sign(&self, above: Self, below: Self, zero: Self) -> Self {
        let rest = (-self.clone()).if_positive(below, zero);
        self.clone().if_positive(above, rest)
    }

    /// Minus one, zero or one; NaN stays.
    #[inline(always)]
    fn sign(&self) -> Self {
        self.by_sign(Self::of(1.0), Self::of(-1.0), self.clone())
    }
}

macro_rules! lanes {
    ($($t:ident)*) => {$(
        impl Lane for $t {
            #[inline(always)]
            fn of(number: f64) -> Self {
                number as $t
            }

            #[inline(always)]
            fn value(&self) -> f64 {
                *self as f64
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }

            #[inline(always)]
            fn pow(self, exponent: f64) -> Self {
                self.powf(exponent as $t)
            }

            #[inline(always)]
            fn at_least(self, other: Self) -> Self {
                if self > other || self.is_nan() { self } else { other }
            }

            #[inline(always)]
            fn at_most(self, other: Self) -> Self {
                if self < other || self.is_nan() { self } else { other }
            }

            #[inline(always)]
            fn if_positive(self, yes: Self, no: Self) -> Self {
                if self > 0.0 { yes } else { no }
            }
        }
    )*};
}
lanes!(f32 f64);

/// An optimizer's arithmetic. `COEFFICIENTS` numbers are fixed within a step, `STATES` are kept per
/// element, `SCALARS` per parameter: most often the number of steps taken.
pub trait Rule<C: Lane, const COEFFICIENTS: usize, const STATES: usize, const SCALARS: usize> {
    /// What a step multiplies by, and the scalars after it. `fresh` says that the parameter's state
    /// was made for this step.
    fn coefficients(
        &self,
        scalars: [f64; SCALARS],
        fresh: bool,
    ) -> ([C; COEFFICIENTS], [f64; SCALARS]);

    /// The element and its state after the step.
    fn update<L: Lane>(
        &self,
        coefficients: &[L; COEFFICIENTS],
        param: L,
        grad: L,
        state: [L; STATES],
    ) -> (L, [L; STATES]);
}

/// Hyperparameters that can be given as one kind of number and computed with as another.
pub trait Hyper<C> {
    /// The same hyperparameters as numbers of another kind.
    type With<D>;

    /// Converts every number, or fails with the first that cannot be.
    fn convert<D, E>(&self, number: impl FnMut(&C) -> Result<D, E>) -> Result<Self::With<D>, E>;
}

/// Declares hyperparameters: a struct of numbers and flags, and their conversion.
macro_rules! hyper {
    (
        $(#[$meta:meta])*
        $name:ident {
            $($(#[$doc:meta])* $field:ident,)*
            ;
            $($(#[$flag_doc:meta])* $flag:ident,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<C> {
            $($(#[$doc])* pub $field: C,)*
            $($(#[$flag_doc])* pub $flag: bool,)*
        }

        impl<C> crate::optim::Hyper<C> for $name<C> {
            type With<D> = $name<D>;

            fn convert<D, E>(
                &self,
                mut number: impl FnMut(&C) -> Result<D, E>,
            ) -> Result<$name<D>, E> {
                Ok($name { $($field: number(&self.$field)?,)* $($flag: self.$flag,)* })
            }
        }
    };
}
use hyper;

/// Declares a rule that is another one with more state: the same hyperparameters.
macro_rules! variant {
    ($(#[$meta:meta])* $name:ident of $inner:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<C>(pub $inner<C>);

        impl<C> crate::optim::Hyper<C> for $name<C> {
            type With<D> = $name<D>;

            fn convert<D, E>(
                &self,
                number: impl FnMut(&C) -> Result<D, E>,
            ) -> Result<$name<D>, E> {
                self.0.convert(number).map($name)
            }
        }
    };
}
use variant;

/// The gradient as a rule uses it: turned round to maximize, and with the penalty on large weights.
#[inline(always)]
fn directed<L: Lane>(grad: L, param: &L, maximize: bool, penalty: Option<&L>) -> L {
    let grad = if maximize { -grad } else { grad };
    match penalty {
        Some(penalty) => grad + param.clone() * penalty,
        None => grad,
    }
}

/// A parameter's elements with all that belongs to them. All slices are equally long.
pub struct Piece<'a, T, const COEFFICIENTS: usize, const STATES: usize> {
    /// What this step multiplies by.
    pub coefficients: [T; COEFFICIENTS],
    /// The elements.
    pub param: &'a mut [T],
    /// Their gradient.
    pub grad: &'a [T],
    /// Their state.
    pub state: [&'a mut [T]; STATES],
}

impl<T: Copy, const C: usize, const S: usize> Piece<'_, T, C, S> {
    /// The first `at` elements, and the others.
    fn split(self, at: usize) -> (Self, Self) {
        let (param, params) = self.param.split_at_mut(at);
        let (grad, grads) = self.grad.split_at(at);
        let mut rest = Vec::with_capacity(S);
        let state = self.state.map(|state| {
            let (first, second) = state.split_at_mut(at);
            rest.push(second);
            first
        });
        let mut rest = rest.into_iter();
        let states = std::array::from_fn(|_| rest.next().expect("each state was split"));
        let coefficients = self.coefficients;
        (
            Piece { coefficients, param, grad, state },
            Piece { coefficients, param: params, grad: grads, state: states },
        )
    }
}

/// Elements that the loop takes at a time: as many as the registers hold.
const BLOCK: usize = 32;

struct Loop<'a, 'b, R, T, const C: usize, const S: usize, const K: usize> {
    rule: &'b R,
    piece: Piece<'a, T, C, S>,
}

impl<R, T, const C: usize, const S: usize, const K: usize> Loop<'_, '_, R, T, C, S, K>
where
    R: Rule<f64, C, S, K>,
    T: Lane + Copy,
{
    /// Updates `N` elements in copies of their own. The compiler then knows that no two of them are
    /// the same memory, which of several slices it would have to find out, and gives up on many.
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "closures would not get the wide instructions")]
    fn block<const N: usize>(
        rule: &R,
        coefficients: &[T; C],
        param: &mut [T],
        grad: &[T],
        state: &mut [&mut [T]; S],
        at: usize,
    ) {
        let zero = T::of(0.0);
        let (mut elements, mut grads, mut states) = ([zero; N], [zero; N], [[zero; N]; S]);
        elements.copy_from_slice(&param[at..at + N]);
        grads.copy_from_slice(&grad[at..at + N]);
        for s in 0..S {
            states[s].copy_from_slice(&state[s][at..at + N]);
        }
        for i in 0..N {
            let mut old = [zero; S];
            for s in 0..S {
                old[s] = states[s][i];
            }
            let (element, new) = rule.update(coefficients, elements[i], grads[i], old);
            elements[i] = element;
            for s in 0..S {
                states[s][i] = new[s];
            }
        }
        param[at..at + N].copy_from_slice(&elements);
        for s in 0..S {
            state[s][at..at + N].copy_from_slice(&states[s]);
        }
    }
}

impl<R, T, const C: usize, const S: usize, const K: usize> Task for Loop<'_, '_, R, T, C, S, K>
where
    R: Rule<f64, C, S, K>,
    T: Lane + Copy,
{
    #[inline(always)]
    fn run(self) {
        let Piece { coefficients, param, grad, mut state } = self.piece;
        let len = param.len();
        assert!(grad.len() == len && state.iter().all(|state| state.len() == len));
        // Two slices are no trouble, so a rule without state takes the plain loop below.
        let blocks = if S > 0 { len / BLOCK } else { 0 };
        for block in 0..blocks {
            let at = block * BLOCK;
            Self::block::<BLOCK>(self.rule, &coefficients, param, grad, &mut state, at);
        }
        for at in blocks * BLOCK..len {
            Self::block::<1>(self.rule, &coefficients, param, grad, &mut state, at);
        }
    }
}

/// Numbers in memory below which another thread costs more than it saves.
const GRAIN: usize = 128 * 1024;

/// Runs a rule over parameters, all of them in one go: on several threads where there is enough to
/// do, each with an equal share of the elements whichever parameters they belong to.
pub fn sweep<R, T, const C: usize, const S: usize, const K: usize>(
    rule: &R,
    pieces: Vec<Piece<T, C, S>>,
) where
    R: Rule<f64, C, S, K> + Sync,
    T: Lane + Copy + Send + Sync,
{
    let walk = |pieces: Vec<Piece<T, C, S>>| {
        pieces.into_iter().for_each(|piece| simd::run_wide(Loop::<R, T, C, S, K> { rule, piece }));
    };
    let len: usize = pieces.iter().map(|piece| piece.param.len()).sum();
    let parts = par::num_threads().min(len * (S + 2) / GRAIN).max(1);
    if parts == 1 {
        return walk(pieces);
    }
    let mut shares = shares(pieces, len.div_ceil(parts)).into_iter();
    let first = shares.next();
    // This thread takes a share itself, and so need not sleep until others have woken up.
    rayon::in_place_scope(|scope| {
        for share in shares {
            scope.spawn(|_| walk(share));
        }
        first.map(walk);
    });
}

/// Pieces cut up so that each share has `share` elements, and the last one the rest.
fn shares<T: Copy, const C: usize, const S: usize>(
    pieces: Vec<Piece<T, C, S>>,
    share: usize,
) -> Vec<Vec<Piece<T, C, S>>> {
    let mut shares = vec![Vec::new()];
    let mut room = share;
    for mut piece in pieces {
        while piece.param.len() > room {
            let (first, rest) = piece.split(room);
            shares.last_mut().expect("there is always a share").push(first);
            shares.push(Vec::new());
            (piece, room) = (rest, share);
        }
        room -= piece.param.len();
        shares.last_mut().expect("there is always a share").push(piece);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adam() -> Adam<f64> {
        Adam {
            lr: 0.01,
            beta1: 0.9,
            beta2: 0.99,
            eps: 1e-8,
            weight_decay: 0.1,
            decoupled: false,
            maximize: false,
        }
    }

    #[test]
    fn threads_and_the_loop_compute_what_the_formula_says() {
        let rule = adam();
        let (coefficients, [step]) = rule.coefficients([4.0], false);
        assert_eq!(step, 5.0);
        let sizes = [3usize, 0, 50_000, 1, 20_000];
        let number = |i: usize| (i as f64 * 0.37).sin();
        let total: usize = sizes.iter().sum();
        let start: [Vec<f64>; 4] = [
            (0..total).map(number).collect(),
            (0..total).map(|i| number(i + 5)).collect(),
            (0..total).map(|i| number(i + 9)).collect(),
            (0..total).map(|i| number(i + 2).abs()).collect(),
        ];
        let [mut param, grad, mut first, mut second] = start.clone();
        let mut pieces = Vec::new();
        let (mut p, mut g) = (param.as_mut_slice(), grad.as_slice());
        let (mut m, mut v) = (first.as_mut_slice(), second.as_mut_slice());
        for size in sizes {
            let (param, grad, state);
            (param, p) = p.split_at_mut(size);
            (grad, g) = g.split_at(size);
            (state, m) = m.split_at_mut(size);
            let (other, rest) = v.split_at_mut(size);
            v = rest;
            pieces.push(Piece { coefficients, param, grad, state: [state, other] });
        }
        sweep(&rule, pieces);
        for i in 0..total {
            let [p, g, m, v] = [0, 1, 2, 3].map(|k| start[k][i]);
            let expected = rule.update(&coefficients, p, g, [m, v]);
            assert_eq!((param[i], [first[i], second[i]]), expected, "{i}");
        }
    }

    #[test]
    fn shares_are_equal_and_complete() {
        let mut param: Vec<f32> = vec![0.0; 100];
        let grad: Vec<f32> = (0..100).map(|i| i as f32).collect();
        let (one, two) = param.split_at_mut(61);
        let pieces = vec![
            Piece { coefficients: [0.0], param: one, grad: &grad[..61], state: [] },
            Piece { coefficients: [1.0], param: two, grad: &grad[61..], state: [] },
        ];
        let shares = shares(pieces, 30);
        let sizes: Vec<usize> =
            shares.iter().map(|share| share.iter().map(|p| p.param.len()).sum()).collect();
        assert_eq!(sizes, [30, 30, 30, 10]);
        let seen: Vec<f32> = shares.iter().flatten().flat_map(|p| p.grad.to_vec()).collect();
        assert_eq!(seen, grad);
        assert_eq!(shares[2].iter().map(|p| p.coefficients[0]).collect::<Vec<_>>(), [0.0, 1.0]);
    }

    #[test]
    fn signs_and_extremes_of_what_is_no_number() {
        assert_eq!([2.0f32, 0.0, -3.0].map(|x| x.sign()), [1.0, 0.0, -1.0]);
        assert!(f32::NAN.sign().is_nan());
        for (a, b) in [(f64::NAN, 1.0), (1.0, f64::NAN)] {
            assert!(a.at_least(b).is_nan() && a.at_most(b).is_nan());
        }
    }
}
