//! Averaged stochastic gradient descent.

use super::{Lane, Rule, directed, hyper};

hyper! {
    /// ASGD: steps that get shorter, and an average of the weights. State: that average. Scalars:
    /// steps, the length of the next step, the share of the next weights in the average.
    Asgd {
        /// The length of the first step.
        lr,
        /// How fast weights and steps shrink.
        lambd,
        /// The power by which steps shrink.
        alpha,
        /// The step from which on weights are averaged.
        t0,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 5, 1, 3> for Asgd<C> {
    fn coefficients(&self, [step, eta, mu]: [f64; 3], _: bool) -> ([C; 5], [f64; 3]) {
        let [lr, lambd, alpha, t0] =
            [&self.lr, &self.lambd, &self.alpha, &self.t0].map(Lane::value);
        let step = step + 1.0;
        let copies = if mu == 1.0 { 1.0 } else { 0.0 };
        let [decay, eta, mu, copies] = [1.0 - lambd * eta, eta, mu, copies].map(C::of);
        let next = [step, lr / (1.0 + lambd * lr * step).powf(alpha), 1.0 / (step - t0).max(1.0)];
        ([self.weight_decay.clone(), decay, eta, mu, copies], next)
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 5], param: L, grad: L, [average]: [L; 1]) -> (L, [L; 1]) {
        let [penalty, decay, eta, mu, copies] = c;
        let penalty = (self.weight_decay.value() != 0.0).then_some(penalty);
        let grad = directed(grad, &param, self.maximize, penalty);
        let param = param * decay - grad * eta;
        // The first weights are the average, to the last bit.
        let blend = average.lerp(&param, mu);
        let average = copies.clone().if_positive(param.clone(), blend);
        (param, [average])
    }
}
