//! Categories drawn by weight.

use crate::index::{row_major, runs};
use crate::random::{Generator, Real, open_unit, require, word};
use crate::{Error, Result, Strided, par};

impl Generator {
    /// For each row of `weights` (or for the only one), `samples` categories, each as likely as its
    /// weight; without replacement no category comes twice.
    pub fn multinomial<T: Real>(
        &mut self,
        weights: &Strided<T>,
        samples: usize,
        replacement: bool,
    ) -> Result<Vec<i64>> {
        let (rows, categories) = match *weights.shape {
            [categories] => (1, categories),
            [rows, categories] => (rows, categories),
            _ => return Err(Error::Value("prob_dist must be 1 or 2 dim".into())),
        };
        require(samples > 0, || "cannot sample n_sample <= 0 samples".into())?;
        require(replacement || samples <= categories, || {
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement".into()
        })?;
        let weights = row_major(weights);
        require(weights.iter().all(|&w| w >= T::zero() && w.is_finite()), || {
            "probability tensor contains either `inf`, `nan` or element < 0".into()
        })?;
        // Without categories there is no row to cut the weights into, and nothing to draw.
        let fewest = match categories {
            0 => (rows > 0).then_some(0),
            _ => weights.chunks_exact(categories).map(possible).min(),
        };
        require(fewest != Some(0), || {
            "invalid multinomial distribution (sum of probabilities <= 0)".into()
        })?;
        require(replacement || fewest.is_none_or(|fewest| fewest >= samples), || {
            "invalid multinomial distribution (with replacement=False, not enough non-negative \
             category to sample)"
                .into()
        })?;
        Ok(if replacement {
            self.with_replacement(&weights, rows, categories, samples)
        } else {
            self.without_replacement(&weights, rows, categories, samples)
        })
    }

    /// By looking uniform numbers up in the running sums of the weights.
    fn with_replacement<T: Real>(
        &mut self,
        weights: &[T],
        rows: usize,
        categories: usize,
        samples: usize,
    ) -> Vec<i64> {
        let mut sums = Vec::with_capacity(weights.len());
        for row in weights.chunks_exact(categories.max(1)) {
            // In units of the greatest, so that no sum overflows.
            let unit = row.iter().fold(T::zero(), |a, &b| a.max(b)).to_f64_exact();
            let mut sum = 0.0;
            sums.extend(row.iter().map(|weight| {
                sum += weight.to_f64_exact() / unit;
                sum
            }));
        }
        let pick = |place: usize, word: u64| {
            let row = place / samples;
            // A block may reach past the last place.
            if row >= rows {
                return 0;
            }
            let sums = &sums[row * categories..][..categories];
            let total = sums[categories - 1];
            let drawn = open_unit(word) * total;
            // The first sum above the number: never a category that adds nothing. Rounding up to
            // the total itself is the last category that adds anything.
            let category = sums.partition_point(|&sum| sum <= drawn);
            category.min(sums.partition_point(|&sum| sum < total)) as i64
        };
        self.fill_blocks(rows * samples, |place, _, block| {
            [pick(place, word(block, 0)), pick(place + 1, word(block, 1))]
        })
    }

    /// By racing: each category arrives after an exponential time at the rate of its weight, and the
    /// first ones are drawn, in the order of arrival.
    fn without_replacement<T: Real>(
        &mut self,
        weights: &[T],
        rows: usize,
        categories: usize,
        samples: usize,
    ) -> Vec<i64> {
        let times: Vec<f64> = self.fill_words(weights.len(), |word| -open_unit(word).ln());
        let shape = [rows, samples];
        let grain = (par::GRAIN * samples).div_ceil(16 * categories);
        par::fill(rows * samples, grain, |range, out| {
            let start = range.start;
            // Threads may share a row: each then works out its order.
            runs(&shape, [&[1, 0], &[0, 1]], range, |linear, [row, first], len| {
                let row = row as usize * categories;
                let mut arrivals: Vec<(f64, usize)> = (0..categories)
                    .filter(|&k| weights[row + k] > T::zero())
                    .map(|k| (times[row + k] / weights[row + k].to_f64_exact(), k))
                    .collect();
                let order =
                    |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                if samples < arrivals.len() {
                    arrivals.select_nth_unstable_by(samples, order);
                    arrivals.truncate(samples);
                }
                arrivals.sort_unstable_by(order);
                let drawn = &arrivals[first as usize..][..len];
                for (slot, &(_, category)) in out[linear - start..].iter_mut().zip(drawn) {
                    slot.write(category as i64);
                }
            });
        })
    }
}

/// How many categories of a row can be drawn at all.
fn possible<T: Real>(row: &[T]) -> usize {
    row.iter().filter(|&&weight| weight > T::zero()).count()
}

#[cfg(test)]
mod tests {
    use super::super::check::close;
    use super::*;

    fn view<'a, T>(data: &'a [T], shape: &'a [usize], strides: &'a [isize]) -> Strided<'a, T> {
        Strided { data, shape, strides, offset: 0 }
    }

    #[test]
    fn categories_come_as_often_as_they_weigh() {
        let mut generator = Generator::new(51);
        let weights = [0.0f32, 1.0, 0.0, 3.0, 0.0, 2.0, 2.0, 0.0];
        let n = 100_000;
        let drawn = generator.multinomial(&view(&weights, &[2, 4], &[4, 1]), n, true).unwrap();
        let share = |row: usize, category: i64| {
            let row = &drawn[row * n..][..n];
            row.iter().filter(|&&c| c == category).count() as f64 / n as f64
        };
        close(share(0, 1), 0.25, 6e-3);
        close(share(0, 3), 0.75, 6e-3);
        close(share(1, 1), 0.5, 7e-3);
        assert_eq!(share(0, 0) + share(0, 2) + share(1, 0) + share(1, 3), 0.0);
    }

    #[test]
    fn without_replacement_is_drawing_one_after_the_other() {
        let weights = [1.0f64, 0.0, 2.0, 3.0];
        let n = 60_000;
        // One row, seen many times.
        let shape = [n, 4];
        let rows = view(&weights, &shape, &[0, 1]);
        let drawn = Generator::new(52).multinomial(&rows, 2, false).unwrap();
        let share = |pair: [i64; 2]| {
            drawn.chunks_exact(2).filter(|&drawn| *drawn == pair).count() as f64 / n as f64
        };
        // The first by weight, the second by weight among the rest.
        close(share([0, 2]), 1.0 / 6.0 * 2.0 / 5.0, 5e-3);
        close(share([2, 3]), 2.0 / 6.0 * 3.0 / 4.0, 7e-3);
        close(share([3, 0]), 3.0 / 6.0 * 1.0 / 3.0, 7e-3);
        assert!(drawn.chunks_exact(2).all(|pair| pair[0] != pair[1] && !pair.contains(&1)));
        let mut all = Generator::new(53)
            .multinomial(&view(&[1.0f32, 5.0, 0.5], &[3], &[1]), 3, false)
            .unwrap();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    }

    #[test]
    fn impossible_weights_are_refused_in_known_words() {
        let fault = |weights: &[f32], samples, replacement| {
            let shape = [weights.len()];
            let weights = view(weights, &shape, &[1]);
            let drawn = Generator::new(54).multinomial(&weights, samples, replacement);
            drawn.unwrap_err().to_string()
        };
        for bad in [-1.0, f32::INFINITY, f32::NAN] {
            assert_eq!(
                fault(&[1.0, bad], 1, true),
                "probability tensor contains either `inf`, `nan` or element < 0"
            );
        }
        assert_eq!(
            fault(&[0.0, 0.0], 1, true),
            "invalid multinomial distribution (sum of probabilities <= 0)"
        );
        assert!(fault(&[0.0, 1.0], 2, false).contains("not enough non-negative category"));
        assert!(fault(&[1.0, 1.0], 3, false).starts_with("cannot sample n_sample > prob_dist"));
        assert!(fault(&[1.0], 0, true).contains("n_sample <= 0"));
        assert!(fault(&[], 1, true).contains("sum of probabilities"));
        let none = Generator::new(55).multinomial(&view(&[0.0f32; 0], &[0, 3], &[3, 1]), 2, true);
        assert_eq!(none, Ok(vec![]));
    }
}
