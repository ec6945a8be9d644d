//! Adam with a look ahead: NAdam and Adan.

use super::{Lane, Rule, directed, hyper};

hyper! {
    /// NAdam: Adam with Nesterov's momentum. State: averages of the gradient and of its square.
    /// Scalars: steps, and the product of all momenta so far.
    NAdam {
        /// The length of a step.
        lr,
        /// How much of the average of gradients is kept.
        beta1,
        /// How much of the average of squares is kept.
        beta2,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        /// How fast the momentum rises.
        momentum_decay,
        ;
        /// The penalty shrinks weights instead of changing gradients.
        decoupled,
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 9, 2, 2> for NAdam<C> {
    fn coefficients(&self, [step, product]: [f64; 2], _: bool) -> ([C; 9], [f64; 2]) {
        let NAdam { lr, beta1, beta2, eps, weight_decay, momentum_decay, .. } = self.clone();
        let step = step + 1.0;
        let one = || C::of(1.0);
        let rise = momentum_decay.value();
        let momentum = |step: f64| beta1.clone() * C::of(1.0 - 0.5 * 0.96f64.powf(step * rise));
        let (now, next) = (momentum(step), momentum(step + 1.0));
        let product = now.clone() * C::of(product);
        let after = product.value();
        let coefficients = [
            weight_decay.clone(),
            one() - weight_decay * &lr,
            one() - beta1.clone(),
            beta2.clone(),
            one() - beta2.clone(),
            one() - beta2.pow(step),
            eps,
            lr.clone() * (one() - now) / (one() - &product),
            lr * &next / (one() - product * next),
        ];
        (coefficients, [step, after])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 9], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [penalty, decay, take1, beta2, take2, correction, eps, rate, ahead] = c;
        let [first, second] = state;
        let decays = self.weight_decay.value() != 0.0;
        let penalty = (decays && !self.decoupled).then_some(penalty);
        let grad = directed(grad, &param, self.maximize, penalty);
        let param = if decays && self.decoupled { param * decay } else { param };
        let first = first.lerp(&grad, take1);
        let second = second * beta2 + grad.square() * take2;
        let denominator = (second.clone() / correction).sqrt() + eps;
        let step = grad * rate + first.clone() * ahead;
        (param - step / denominator, [first, second])
    }
}

hyper! {
    /// Adan: averages of the gradient, of its change and of the square of both together. State:
    /// these three, and the gradient before. Scalars: steps.
    Adan {
        /// The length of a step.
        lr,
        /// How much of the average of gradients is kept.
        beta1,
        /// How much of the average of changes is kept.
        beta2,
        /// How much of the average of squares is kept.
        beta3,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Weights shrink before the step, as in AdamW, instead of after it.
        shrinks_first,
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 12, 4, 1> for Adan<C> {
    fn coefficients(&self, [step]: [f64; 1], fresh: bool) -> ([C; 12], [f64; 1]) {
        let Adan { lr, beta1, beta2, beta3, eps, weight_decay, .. } = self.clone();
        let step = step + 1.0;
        let one = || C::of(1.0);
        let correction = |beta: &C| one() - beta.clone().pow(step);
        let loss = weight_decay * &lr;
        let coefficients = [
            // Nothing has changed in the first step.
            C::of(if fresh { 0.0 } else { 1.0 }),
            one() - &beta1,
            one() - &beta2,
            beta3.clone(),
            one() - &beta3,
            beta2.clone(),
            correction(&beta3).sqrt(),
            eps,
            lr.clone() / correction(&beta1),
            lr * &beta2 / correction(&beta2),
            one() - &loss,
            one() + loss,
        ];
        (coefficients, [step])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 12], param: L, grad: L, state: [L; 4]) -> (L, [L; 4]) {
        let [
            changes,
            take1,
            take2,
            beta3,
            take3,
            beta2,
            correction,
            eps,
            rate,
            ahead,
            before,
            after,
        ] = c;
        let [first, second, change, previous] = state;
        let grad = directed(grad, &param, self.maximize, None);
        let difference = (grad.clone() - previous) * changes;
        let first = first.lerp(&grad, take1);
        let change = change.lerp(&difference, take2);
        let both = grad.clone() + difference * beta2;
        let second = second * beta3 + both.square() * take3;
        let denominator = second.clone().sqrt() / correction + eps;
        let step = (first.clone() * rate + change.clone() * ahead) / denominator;
        let decays = self.weight_decay.value() != 0.0;
        let param = match (decays, self.shrinks_first) {
            (false, _) => param - step,
            (true, true) => param * before - step,
            (true, false) => (param - step) / after,
        };
        (param, [first, second, change, grad])
    }
}
