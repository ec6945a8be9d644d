//! Stochastic gradient descent.

use super::{Lane, Rule, directed, hyper, variant};

hyper! {
    /// Stochastic gradient descent: a step against the gradient. No state.
    Sgd {
        /// The length of a step.
        lr,
        /// How much of the old direction is kept.
        momentum,
        /// How much of a new gradient is left out of the direction.
        dampening,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Look ahead in the direction of the momentum.
        nesterov,
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 2, 0, 0> for Sgd<C> {
    fn coefficients(&self, _: [f64; 0], _: bool) -> ([C; 2], [f64; 0]) {
        ([self.weight_decay.clone(), self.lr.clone()], [])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 2], param: L, grad: L, _: [L; 0]) -> (L, [L; 0]) {
        let [penalty, rate] = c;
        let grad = directed(grad, &param, self.maximize, self.penalty(penalty));
        (param - grad * rate, [])
    }
}

impl<C: Lane> Sgd<C> {
    #[inline(always)]
    fn penalty<'a, L>(&self, penalty: &'a L) -> Option<&'a L> {
        (self.weight_decay.value() != 0.0).then_some(penalty)
    }
}

variant! {
    /// [`Sgd`] with momentum. State: the direction.
    Momentum of Sgd
}

impl<C: Lane> Rule<C, 5, 1, 0> for Momentum<C> {
    fn coefficients(&self, _: [f64; 0], fresh: bool) -> ([C; 5], [f64; 0]) {
        let Sgd { lr, momentum, dampening, weight_decay, .. } = self.0.clone();
        // The first direction is the first gradient, whole.
        let (keep, take) = match fresh {
            true => (C::of(0.0), C::of(1.0)),
            false => (momentum.clone(), C::of(1.0) - dampening),
        };
        ([weight_decay, keep, take, momentum, lr], [])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 5], param: L, grad: L, [buffer]: [L; 1]) -> (L, [L; 1]) {
        let [penalty, keep, take, ahead, rate] = c;
        let grad = directed(grad, &param, self.0.maximize, self.0.penalty(penalty));
        let buffer = buffer * keep + grad.clone() * take;
        let direction =
            if self.0.nesterov { grad + buffer.clone() * ahead } else { buffer.clone() };
        (param - direction * rate, [buffer])
    }
}
