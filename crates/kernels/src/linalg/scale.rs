//! Powers of two that bring a matrix's numbers near one, so that their squares neither overflow nor
//! vanish. Multiplying by them is exact, but for numbers that are nothing beside the largest one.

use num_traits::Float;

use super::LinalgElement;

/// The power of two that a matrix was multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    exponent: i32,
}

impl Scale {
    /// The scale for some numbers: none where the largest of them is near one, zero or not finite.
    pub(super) fn of<'a, T: LinalgElement + 'a>(values: impl IntoIterator<Item = &'a T>) -> Self {
        let largest = values
            .into_iter()
            .fold(T::Real::neg_zero(), |largest, x| largest.max(x.re().abs()).max(x.im().abs()));
        if largest == T::Real::neg_zero() || !largest.is_finite() {
            return Self::none();
        }
        let (mantissa, exponent, _) = largest.integer_decode();
        let exponent = i32::from(exponent) + mantissa.ilog2() as i32;
        let widest = widest::<T::Real>();
        // Far from where squares overflow, as algorithms multiply more than two numbers.
        let exponent = if exponent.abs() <= widest / 8 { 0 } else { -exponent };
        Self { exponent: exponent.clamp(-widest, widest) }
    }

    /// No scale.
    pub(super) fn none() -> Self {
        Self { exponent: 0 }
    }

    /// The scale for numbers all of which matter, however much they differ in size: none but where
    /// even the largest is tiny, because multiplying by it takes nothing from the others.
    pub(super) fn up<'a, T: LinalgElement + 'a>(values: impl IntoIterator<Item = &'a T>) -> Self {
        let scale = Self::of(values);
        if scale.exponent > 0 { scale } else { Self::none() }
    }

    /// Lifts tiny numbers towards one, see [`Scale::up`].
    pub(super) fn lift<T: LinalgElement>(values: &mut [T]) -> Self {
        let scale = Self::up(&*values);
        scale.apply(values);
        scale
    }

    /// Brings a matrix near one. What is nothing beside its largest number is lost.
    pub(super) fn bring<T: LinalgElement>(matrix: &mut [T]) -> Self {
        let scale = Self::of(&*matrix);
        scale.apply(matrix);
        scale
    }

    /// The scale that undoes this one.
    pub(super) fn inverse(self) -> Self {
        Self { exponent: self.exponent.saturating_neg() }
    }

    /// The scale of quotients of numbers of this scale and of the other one.
    pub(super) fn over(self, other: Self) -> Self {
        Self { exponent: self.exponent - other.exponent }
    }

    /// The scale of products of `count` numbers of this one.
    pub(super) fn power(self, count: usize) -> Self {
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        Self { exponent: self.exponent.saturating_mul(count) }
    }

    /// The logarithm of the factor.
    pub(super) fn ln<R: Float>(self) -> R {
        R::from(f64::from(self.exponent) * std::f64::consts::LN_2).expect("a float holds it")
    }

    /// Multiplies by the factor.
    pub(super) fn apply<T: LinalgElement>(self, values: &mut [T]) {
        for factor in self.factors::<T::Real>() {
            values.iter_mut().for_each(|value| *value = value.scaled(factor));
        }
    }

    /// Divides by the factor.
    pub(super) fn undo<T: LinalgElement>(self, values: &mut [T]) {
        self.inverse().apply(values);
    }

    /// Numbers whose product is the factor: one, but for the scales of quotients and of products,
    /// of which no number may hold the factor itself.
    pub(super) fn factors<R: Float>(self) -> impl Iterator<Item = R> {
        let (widest, two) = (widest::<R>(), R::one() + R::one());
        let mut left = self.exponent;
        // Past the fourth, whatever is multiplied is zero or infinite.
        std::iter::from_fn(move || {
            let step = left.clamp(-widest, widest);
            left -= step;
            (step != 0).then(|| two.powi(step))
        })
        .take(4)
    }
}

/// The largest exponent for which two to its power and to its negative are normal numbers.
fn widest<R: Float>() -> i32 {
    let (_, exponent, _) = R::min_positive_value().integer_decode();
    let (_, precision, _) = R::one().integer_decode();
    i32::from(precision - exponent)
}

#[cfg(test)]
mod tests {
    use num_complex::Complex;

    use super::*;

    #[test]
    fn the_widest_exponents() {
        assert_eq!((widest::<f32>(), widest::<f64>()), (126, 1022));
    }

    #[test]
    fn numbers_near_one_stay() {
        for value in [0.0, 1.0, -3e-4, 9e3, f32::INFINITY, f32::NAN] {
            assert_eq!(Scale::of(&[value]), Scale { exponent: 0 }, "{value}");
        }
    }

    #[test]
    fn there_and_back() {
        for largest in [f32::MAX, 1e30, 1e-30, f32::MIN_POSITIVE, 1e-45] {
            let given = [largest, -largest / 4.0, 0.0];
            let mut values = given;
            let scale = Scale::bring(&mut values);
            assert!((1e-7..8.0).contains(&values[0]), "{largest}: {values:?}");
            scale.undo(&mut values);
            assert_eq!(values, given);
        }
        assert_eq!(Scale::up(&[f32::MAX]), Scale::none());
        assert_eq!(Scale::up(&[1e-30f32]), Scale::of(&[1e-30f32]));
        let mut value = [Complex::new(-1e-300, 5e300)];
        Scale::bring(&mut value);
        assert!((1.0..2.0).contains(&value[0].im));
    }

    #[test]
    fn scales_of_results() {
        let (huge, tiny) = (Scale::of(&[2f64.powi(700)]), Scale::of(&[2f64.powi(-700)]));
        let mut value = [2f64.powi(600)];
        huge.over(tiny).apply(&mut value);
        assert_eq!(value, [2f64.powi(-800)]);
        huge.over(tiny).undo(&mut value);
        assert_eq!(value, [2f64.powi(600)]);
        let mut value = [1.0];
        tiny.power(2).apply(&mut value);
        assert_eq!(value, [f64::INFINITY]);
        tiny.power(usize::MAX).undo(&mut [1.0]);
        assert_eq!(huge.ln::<f64>(), -700.0 * 2f64.ln());
    }
}
