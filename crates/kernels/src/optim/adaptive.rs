//! Step lengths by the size of past gradients: Adadelta, Adagrad, RMSprop.

use super::{Lane, Rule, directed, hyper, variant};

hyper! {
    /// Adadelta. State: averages of the squares of gradients and of steps. Scalars: steps.
    Adadelta {
        /// What steps are multiplied by.
        lr,
        /// How much of the averages is kept.
        rho,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 5, 2, 1> for Adadelta<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 5], [f64; 1]) {
        let Adadelta { lr, rho, eps, weight_decay, .. } = self.clone();
        ([weight_decay, rho.clone(), C::of(1.0) - rho, eps, lr], [step + 1.0])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 5], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [penalty, keep, take, eps, rate] = c;
        let [squares, steps] = state;
        let penalty = (self.weight_decay.value() != 0.0).then_some(penalty);
        let grad = directed(grad, &param, self.maximize, penalty);
        let squares = squares * keep + grad.square() * take;
        let ratio = (steps.clone() + eps).sqrt() / (squares.clone() + eps).sqrt();
        let step = ratio * grad;
        let steps = steps * keep + step.square() * take;
        (param - step * rate, [squares, steps])
    }
}

hyper! {
    /// Adagrad. State: the sum of the squares of all gradients. Scalars: steps.
    Adagrad {
        /// The length of a step.
        lr,
        /// How fast that length shrinks.
        lr_decay,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        ;
        /// Go up instead of down.
        maximize,
    }
}

impl<C: Lane> Rule<C, 3, 1, 1> for Adagrad<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 3], [f64; 1]) {
        let Adagrad { lr, lr_decay, eps, weight_decay, .. } = self.clone();
        let rate = lr / (C::of(1.0) + lr_decay * C::of(step));
        ([weight_decay, eps, rate], [step + 1.0])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 3], param: L, grad: L, [sum]: [L; 1]) -> (L, [L; 1]) {
        let [penalty, eps, rate] = c;
        let penalty = (self.weight_decay.value() != 0.0).then_some(penalty);
        let grad = directed(grad, &param, self.maximize, penalty);
        let sum = sum + grad.square();
        (param - grad / (sum.clone().sqrt() + eps) * rate, [sum])
    }
}

hyper! {
    /// RMSprop. State: the average of the squares of gradients. Scalars: steps.
    RmsProp {
        /// The length of a step.
        lr,
        /// How much of the averages is kept.
        alpha,
        /// Keeps the denominator from zero.
        eps,
        /// The penalty on large weights.
        weight_decay,
        /// How much of the old direction is kept.
        momentum,
        ;
        /// Go up instead of down.
        maximize,
    }
}

/// What the four rules of RMSprop have in common: the gradient to use, its average of squares and
/// what it is divided by, given the average of gradients where that is kept.
impl<C: Lane> RmsProp<C> {
    #[inline(always)]
    fn divided<L: Lane>(
        &self,
        c: &[L; 6],
        param: &L,
        grad: L,
        squares: L,
        average: Option<L>,
    ) -> (L, L, Option<L>) {
        let [penalty, keep, take, eps, ..] = c;
        let penalty = (self.weight_decay.value() != 0.0).then_some(penalty);
        let grad = directed(grad, param, self.maximize, penalty);
        let squares = squares * keep + grad.square() * take;
        let average = average.map(|average| average.lerp(&grad, take));
        let variance = match &average {
            Some(average) => squares.clone() - average.square(),
            None => squares.clone(),
        };
        (grad / (variance.sqrt() + eps), squares, average)
    }
}

impl<C: Lane> Rule<C, 6, 1, 1> for RmsProp<C> {
    fn coefficients(&self, [step]: [f64; 1], _: bool) -> ([C; 6], [f64; 1]) {
        let RmsProp { lr, alpha, eps, weight_decay, momentum, .. } = self.clone();
        ([weight_decay, alpha.clone(), C::of(1.0) - alpha, eps, momentum, lr], [step + 1.0])
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 6], param: L, grad: L, [squares]: [L; 1]) -> (L, [L; 1]) {
        let (step, squares, _) = self.divided(c, &param, grad, squares, None);
        (param - step * &c[5], [squares])
    }
}

variant! {
    /// [`RmsProp`] with momentum. State: also the direction.
    RmsMomentum of RmsProp
}

impl<C: Lane> Rule<C, 6, 2, 1> for RmsMomentum<C> {
    fn coefficients(&self, scalars: [f64; 1], fresh: bool) -> ([C; 6], [f64; 1]) {
        self.0.coefficients(scalars, fresh)
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 6], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [squares, buffer] = state;
        let (step, squares, _) = self.0.divided(c, &param, grad, squares, None);
        let buffer = buffer * &c[4] + step;
        (param - buffer.clone() * &c[5], [squares, buffer])
    }
}

variant! {
    /// [`RmsProp`] that divides by the deviation instead of the size. State: also the average of
    /// gradients.
    Centered of RmsProp
}

impl<C: Lane> Rule<C, 6, 2, 1> for Centered<C> {
    fn coefficients(&self, scalars: [f64; 1], fresh: bool) -> ([C; 6], [f64; 1]) {
        self.0.coefficients(scalars, fresh)
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 6], param: L, grad: L, state: [L; 2]) -> (L, [L; 2]) {
        let [squares, average] = state;
        let (step, squares, average) = self.0.divided(c, &param, grad, squares, Some(average));
        (param - step * &c[5], [squares, average.expect("it was given")])
    }
}

variant! {
    /// [`Centered`] with momentum. State: the average of squares, the direction, the average of
    /// gradients.
    CenteredMomentum of RmsProp
}

impl<C: Lane> Rule<C, 6, 3, 1> for CenteredMomentum<C> {
    fn coefficients(&self, scalars: [f64; 1], fresh: bool) -> ([C; 6], [f64; 1]) {
        self.0.coefficients(scalars, fresh)
    }

    #[inline(always)]
    fn update<L: Lane>(&self, c: &[L; 6], param: L, grad: L, state: [L; 3]) -> (L, [L; 3]) {
        let [squares, buffer, average] = state;
        let (step, squares, average) = self.0.divided(c, &param, grad, squares, Some(average));
        let buffer = buffer * &c[4] + step;
        let state = [squares, buffer.clone(), average.expect("it was given")];
        (param - buffer * &c[5], state)
    }
}
