//! Steps by the sign of the gradient: Lion and Rprop.

use super::{Lane, Rule, directed, hyper};

hyper! {
    /// Lion: steps of one length, in the direction of the signs of an average. State: the average.
    Lion {
        /// The length of a step.
        lr,
        /// How much of the average counts in the step.
        beta1,
        /// How much of the average is kept.
        beta2,
        /// How fast weights shrink.
        weight_decay,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 4, 1, 0> for Lion<C> {
    fn coefficients(&self, _: [f64; 0], _: bool) -> ([C; 4], [f64; 0]) {
        let Lion { lr, beta1, beta2, weight_decay, .. } = self.clone();
        let one = || C::of(1.0);
        ([one() - weight_decay * &lr, one() - beta1, one() - beta2, lr], [])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 4], param: L, grad: L, [average]: [L; 1]) -> (L, [L; 1]) {
        let [decay, take1, take2, rate] = c;
        let grad = directed(grad, &param, self.maximize, None);
        let param = if self.weight_decay.value() != 0.0 { param * decay } else { param };
        let direction = average.clone().lerp(&grad, take1).sign();
        (param - direction * rate, [average.lerp(&grad, take2)])
    }
}

hyper! {
    /// Rprop: every weight has a step length of its own, which grows while the gradient's sign
    /// stays. State: the gradient before, the step length. Scalars: steps.
    Rprop {
        /// What a step length is multiplied by after a change of sign.
        eta_minus,
        /// What it is multiplied by otherwise.
        eta_plus,
        /// The shortest step.
        shortest,
        /// The longest step.
        longest,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 4, 2, 1> for Rprop<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 4], [f64; 1]) {
        let Rprop { eta_minus, eta_plus, shortest, longest, .. } = self.clone();
        ([eta_minus, eta_plus, shortest, longest], [step + 1.0])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 4], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [minus, plus, shortest, longest] = c;
        let [previous, length] = state;
        let grad = directed(grad, &param, self.maximize, None);
        let turn = grad.clone() * previous;
        let factor = turn.by_sign(plus.clone(), minus.clone(), L::of(1.0));
        let length = (length * factor).at_least(shortest.clone()).at_most(longest.clone());
        // After a change of sign the weight stays once.
        let grad = turn.by_sign(grad.clone(), L::of(0.0), grad);
        (param - grad.sign() * length.clone(), [grad, length])
    }
}
