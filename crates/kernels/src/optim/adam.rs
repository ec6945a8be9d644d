//! Adam and its relatives: averages of the gradient and of its square.

use super::{Lane, Rule, directed, hyper, variant};

hyper! {
    /// Adam, and AdamW where the decay is decoupled. State: averages of the gradient and of its
    /// square. Scalars: steps.
    Adam {
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
        ;
        /// The penalty shrinks weights instead of changing gradients.
        decoupled,
        /// Go up instead of down.
        maximize,
    }
}

/// What the averages of the gradient and its square come to; common to all rules of this family.
#[inline(always)]
fn average<L: Lane>(grad: &L, [first, second]: [L; 2], c: [&L; 3]) -> [L; 2] {
    let [take1, beta2, take2] = c;
    [first.lerp(grad, take1), second * beta2 + grad.square() * take2]
}

impl<C: Lane> Adam<C> {
    #[inline(always)]
    fn penalises(&self) -> bool {
        !self.decoupled && self.weight_decay.value() != 0.0
    }

    #[inline(always)]
    fn shrinks(&self) -> bool {
        self.decoupled && self.weight_decay.value() != 0.0
    }

    /// The gradient to use, and the weight as the penalty leaves it.
    #[inline(always)]
    fn prepared<L: Lane>(&self, grad: L, param: L, penalty: &L, decay: &L) -> (L, L) {
        let grad = directed(grad, &param, self.maximize, self.penalises().then_some(penalty));
        (grad, if self.shrinks() { param * decay } else { param })
    }
}

impl<C: Lane> Rule<C, 8, 2, 1> for Adam<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 8], [f64; 1]) {
        let Adam { lr, beta1, beta2, eps, weight_decay, .. } = self.clone();
        let step = step + 1.0;
        let one = || C::of(1.0);
        let correction1 = one() - beta1.clone().pow(step);
        let correction2 = one() - beta2.clone().pow(step);
        let coefficients = [
            weight_decay.clone(),
            one() - weight_decay * &lr,
            one() - beta1,
            beta2.clone(),
            one() - beta2,
            correction2.sqrt(),
            eps,
            lr / correction1,
        ];
        (coefficients, [step])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 8], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [penalty, decay, take1, beta2, take2, correction, eps, rate] = c;
        let (grad, param) = self.prepared(grad, param, penalty, decay);
        let [first, second] = average(&grad, state, [take1, beta2, take2]);
        let denominator = second.clone().sqrt() / correction + eps;
        (param - first.clone() / denominator * rate, [first, second])
    }
}

variant! {
    /// [`Adam`] with the largest average of squares so far in the denominator; its third state.
    Amsgrad of Adam
}

impl<C: Lane> Rule<C, 8, 3, 1> for Amsgrad<C> {
    fn coefficients(&self, scalars: [f64; 1], fresh: bool) -> ([C; 8], [f64; 1]) {
        self.0.coefficients(scalars, fresh)
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 8], param: L, grad: L, state: [L; 3]) -> (L, [L; 3]) {
        let [penalty, decay, take1, beta2, take2, correction, eps, rate] = c;
        let [first, second, largest] = state;
        let (grad, param) = self.0.prepared(grad, param, penalty, decay);
        let [first, second] = average(&grad, [first, second], [take1, beta2, take2]);
        let largest = largest.at_least(second.clone());
        let denominator = largest.clone().sqrt() / correction + eps;
        (param - first.clone() / denominator * rate, [first, second, largest])
    }
}

variant! {
    /// [`Adam`] that does without the average of squares while it is of too few steps.
    RAdam of Adam
}

impl<C: Lane> Rule<C, 8, 2, 1> for RAdam<C> {
    fn coefficients(&self, [step]: [f64; 1], fresh: bool) -> ([C; 8], [f64; 1]) {
        let ([penalty, decay, take1, beta2, take2, correction, eps, rate], [step]) =
            self.0.coefficients([step], fresh);
        // How many steps the average of squares amounts to, now and in the end.
        let end = C::of(2.0) / &take2 - C::of(1.0);
        let faded = beta2.clone().pow(step) * C::of(2.0 * step);
        let now = end.clone() - faded / correction.square();
        let adaption = if now.value() > 5.0 {
            let [four, two] = [4.0, 2.0].map(C::of);
            let above = (now.clone() - &four) * (now.clone() - &two) * &end;
            let below = (end.clone() - four) * (end - two) * now;
            (above / below).sqrt() * correction
        } else {
            C::of(0.0)
        };
        ([penalty, decay, take1, beta2, take2, adaption, eps, rate], [step])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 8], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [penalty, decay, take1, beta2, take2, adaption, eps, rate] = c;
        let (grad, param) = self.0.prepared(grad, param, penalty, decay);
        let [first, second] = average(&grad, state, [take1, beta2, take2]);
        let adapted = adaption.clone() / (second.clone().sqrt() + eps);
        let factor = adaption.clone().if_positive(adapted, L::of(1.0));
        (param - first.clone() * rate * factor, [first, second])
    }
}

hyper! {
    /// Adamax: the denominator is a fading maximum of gradients. State: the average of gradients
    /// and that maximum. Scalars: steps.
    Adamax {
        /// The length of a step.
        lr,
        /// How much of the average of gradients is kept.
        beta1,
        /// How fast the maximum fades.
        beta2,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 5, 2, 1> for Adamax<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 5], [f64; 1]) {
        let Adamax { lr, beta1, beta2, eps, weight_decay, .. } = self.clone();
        let step = step + 1.0;
        let correction = C::of(1.0) - beta1.clone().pow(step);
        ([weight_decay, C::of(1.0) - beta1, beta2, eps, lr / correction], [step])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 5], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [penalty, take, fade, eps, rate] = c;
        let [first, largest] = state;
        let penalty = (self.weight_decay.value() != 0.0).then_some(penalty);
        let grad = directed(grad, &param, self.maximize, penalty);
        let first = first.lerp(&grad, take);
        let largest = (largest * fade).at_least(grad.abs() + eps);
        (param - first.clone() / largest.clone() * rate, [first, largest])
    }
}

hyper! {
    /// The direction of a step of LAMB, before it is scaled to the weights' size. State: as
    /// [`Adam`], and a place for the direction. The parameter stays as it is. Scalars: steps.
    LambDirection {
        /// How much of the average of gradients is kept.
        beta1,
        /// How much of the average of squares is kept.
        beta2,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 7, 3, 1> for LambDirection<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 7], [f64; 1]) {
        let LambDirection { beta1, beta2, eps, weight_decay, .. } = self.clone();
        let step = step + 1.0;
        let one = || C::of(1.0);
        let scale1 = one() - beta1.clone().pow(step);
        let scale2 = (one() - beta2.clone().pow(step)).sqrt();
        let coefficients =
            [one() - beta1, beta2.clone(), one() - beta2, scale1, scale2, eps, weight_decay];
        (coefficients, [step])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 7], param: L, grad: L, state: [L; 3]) -> (L, [L; 3]) {
        let [take1, beta2, take2, scale1, scale2, eps, penalty] = c;
        let [first, second, _] = state;
        let grad = directed(grad, &param, self.maximize, None);
        let [first, second] = average(&grad, [first, second], [take1, beta2, take2]);
        let ratio = first.clone() / scale1 / (second.clone().sqrt() / scale2 + eps);
        let direction = match self.weight_decay.value() != 0.0 {
            true => ratio + param.clone() * penalty,
            false => ratio,
        };
        (param, [first, second, direction])
    }
}
