//! Random numbers from a counter: Philox4x32-10.
//!
//! A [`Generator`] is a seed and a counter. Every fill first reserves the counters it needs, and an
//! element is a pure function of the seed and of its own counter, so fills run on any number of
//! threads and always give the same values. A counter is worth a whole stream of draws ([`Stream`]),
//! which is what rejection methods live on.

mod lanes;
mod philox;
mod real;

pub use philox::philox;
pub use real::Real;

use crate::{Element, Error, Result, Strided, par};
use philox::LANES;

/// A source of random numbers that can be saved, restored and skipped ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    seed: u64,
    counter: u64,
}

/// How many bytes [`Generator::state`] holds.
pub const STATE_BYTES: usize = 16;

/// How many random blocks cost about as much as [`par::GRAIN`] cheap operations.
const BLOCK_GRAIN: usize = par::GRAIN / 8;

impl Generator {
    /// A generator at the start of the sequence of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, counter: 0 }
    }

    /// The seed the sequence belongs to.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Moves to the start of the sequence of another seed.
    pub fn set_seed(&mut self, seed: u64) {
        *self = Self::new(seed);
    }

    /// Everything there is to know: the seed and the next free counter, both little-endian.
    pub fn state(&self) -> [u8; STATE_BYTES] {
        let mut bytes = [0; STATE_BYTES];
        bytes[..8].copy_from_slice(&self.seed.to_le_bytes());
        bytes[8..].copy_from_slice(&self.counter.to_le_bytes());
        bytes
    }

    /// Continues from where [`Generator::state`] was taken.
    pub fn set_state(&mut self, state: &[u8]) -> Result<()> {
        let state: &[u8; STATE_BYTES] =
            state.try_into().map_err(|_| Error::Value("RNG state is wrong size".into()))?;
        let (seed, counter) = state.split_at(8);
        self.seed = u64::from_le_bytes(seed.try_into().expect("eight bytes"));
        self.counter = u64::from_le_bytes(counter.try_into().expect("eight bytes"));
        Ok(())
    }

    /// Takes `count` counters out of the sequence and gives the first of them.
    pub fn reserve(&mut self, count: u64) -> u64 {
        let first = self.counter;
        self.counter = first.wrapping_add(count);
        first
    }

    /// The stream of draws that belongs to one reserved counter.
    pub fn stream(&self, counter: u64) -> Stream {
        Stream::new(self.seed, counter)
    }

    /// `n` numbers uniform in `[low, high)`, on a grid of `2^-24` of the range for `f32` and of
    /// `2^-53` for `f64`.
    pub fn uniform<T: Real>(&mut self, n: usize, low: T, high: T) -> Result<Vec<T>> {
        require(low <= high, || {
            format!(
                "uniform_ expects to return a [from, to) range, but found from={low} > to={high}"
            )
        })?;
        let span = high - low;
        require(span.is_finite(), || {
            format!(
                "uniform_ expects to-from <= std::numeric_limits<{}>::max(), but found to={high} \
                 and from={low} which result in to-from to exceed the limit",
                T::NAME
            )
        })?;
        Ok(T::units(self, n, move |unit| {
            // The last step of the grid may round up to the excluded end.
            let value = unit * span + low;
            if value < high { value } else { low }
        }))
    }

    /// `n` numbers from the normal distribution.
    pub fn normal<T: Real>(&mut self, n: usize, mean: T, std: T) -> Result<Vec<T>> {
        require(std >= T::zero(), || format!("normal expects std >= 0.0, but found std {std}"))?;
        Ok(T::normals(self, n, move |value| value * std + mean))
    }

    /// One with probability `p[i]` and zero otherwise, in row-major order; probabilities count to
    /// within `2^-32`.
    pub fn bernoulli<T: Real>(&mut self, p: &Strided<T>) -> Result<Vec<u8>> {
        let p = crate::index::row_major(p);
        require(p.iter().all(|&p| p >= T::zero() && p <= T::one()), || {
            "bernoulli expects all elements of p to be in [0, 1]".into()
        })?;
        Ok(self.fill_blocks(p.len(), |at, _, block| {
            std::array::from_fn::<_, 4, _>(|k| match p.get(at + k) {
                Some(p) => u8::from(f64::from(block[k]) < p.to_f64_exact() * WORDS),
                None => 0,
            })
        }))
    }

    /// `n` ones and zeros, one with probability `p`, which counts to within `2^-32`.
    pub fn bernoulli_scalar(&mut self, n: usize, p: f64) -> Result<Vec<u8>> {
        require((0.0..=1.0).contains(&p), || {
            format!("bernoulli_ expects p to be in [0, 1], but got p={p}")
        })?;
        let threshold = (p * WORDS).round() as u64;
        Ok(self
            .fill_blocks(n, |_, _, block| block.map(|word| u8::from(u64::from(word) < threshold))))
    }

    /// `n` integers, each of `low..high` exactly as likely as the others.
    pub fn randint(&mut self, n: usize, low: i64, high: i64) -> Result<Vec<i64>> {
        require(low < high, || {
            format!("random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        })?;
        let span = high.wrapping_sub(low) as u64;
        let seed = self.seed;
        Ok(self.fill_blocks(n, |_, counter, block| {
            std::array::from_fn::<_, 2, _>(|half| {
                low.wrapping_add(below(span, seed, counter, block, half) as i64)
            })
        }))
    }

    /// A permutation of `0..n`, each as likely as the others.
    pub fn randperm(&mut self, n: usize) -> Vec<i64> {
        let seed = self.seed;
        // How far ahead of itself each place swaps, drawn in parallel; the swaps themselves chain.
        let ahead: Vec<u64> = self.fill_blocks(n, |at, counter, block| {
            std::array::from_fn::<_, 2, _>(|half| {
                let left = n.saturating_sub(at + half).max(1) as u64;
                below(left, seed, counter, block, half)
            })
        });
        let mut order: Vec<i64> = (0..n as i64).collect();
        for (place, ahead) in ahead.into_iter().enumerate() {
            order.swap(place, place + ahead as usize);
        }
        order
    }

    /// `n` elements, `PER` from each block: `make(element, counter, block)` gives the elements
    /// `element..element + PER` (those past the end are dropped). The workhorse of every
    /// distribution that needs a fixed number of random bits.
    pub(crate) fn fill_blocks<T: Element, const PER: usize>(
        &mut self,
        n: usize,
        make: impl Fn(usize, u64, [u32; 4]) -> [T; PER] + Sync,
    ) -> Vec<T> {
        let seed = self.seed;
        let base = self.reserve(n.div_ceil(PER) as u64);
        par::fill(n, BLOCK_GRAIN * PER, |range, out| {
            // Threads may start within a block: its first elements are then another's.
            let mut block = range.start / PER;
            let mut skip = range.start % PER;
            let mut rest = out;
            while !rest.is_empty() {
                let counter = base.wrapping_add(block as u64);
                let made = lanes::make(seed, counter, block * PER, &make);
                let made = &made.as_flattened()[skip..];
                let (now, later) = rest.split_at_mut(made.len().min(rest.len()));
                for (slot, &value) in now.iter_mut().zip(made) {
                    slot.write(value);
                }
                rest = later;
                skip = 0;
                block += LANES;
            }
        })
    }

    /// `n` elements from 64 random bits each.
    pub(crate) fn fill_words<T: Element>(
        &mut self,
        n: usize,
        make: impl Fn(u64) -> T + Sync,
    ) -> Vec<T> {
        self.fill_blocks(n, |_, _, block| [make(word(block, 0)), make(word(block, 1))])
    }

    /// `n` elements, each from a stream of its own: for methods that draw until they accept.
    /// `grain` is how many are worth a thread.
    pub(crate) fn fill_streams<T: Element>(
        &mut self,
        n: usize,
        grain: usize,
        make: impl Fn(usize, &mut Stream) -> T + Sync,
    ) -> Vec<T> {
        let seed = self.seed;
        let base = self.reserve(n as u64);
        par::fill(n, grain, |range, out| {
            for (i, slot) in range.zip(out) {
                slot.write(make(i, &mut Stream::new(seed, base.wrapping_add(i as u64))));
            }
        })
    }
}

/// An error in the given words unless the condition holds.
pub(crate) fn require(holds: bool, words: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::Value(words())) }
}

/// How many values a random word has.
const WORDS: f64 = 4_294_967_296.0;

/// One half of a block as a 64-bit word.
#[inline(always)]
pub(crate) fn word(block: [u32; 4], half: usize) -> u64 {
    u64::from(block[2 * half]) | u64::from(block[2 * half + 1]) << 32
}

/// A word as a number in the open interval (0, 1), symmetric about one half.
#[inline(always)]
pub(crate) fn open_unit(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// An integer below `span` from one half of a block, without bias: the high word of a product, and
/// in the rare case that the low word falls into the uneven part, the same half of the next block of
/// the counter's stream (Lemire, 2019).
#[inline(always)]
fn below(span: u64, seed: u64, counter: u64, block: [u32; 4], half: usize) -> u64 {
    let mut product = u128::from(word(block, half)) * u128::from(span);
    if (product as u64) < span {
        let uneven = span.wrapping_neg() % span;
        let mut draw = 0;
        while (product as u64) < uneven {
            draw += 1;
            let block = philox::block(seed, counter, draw);
            product = u128::from(word(block, half)) * u128::from(span);
        }
    }
    (product >> 64) as u64
}

/// The endless draws of one counter.
#[derive(Clone, Debug)]
pub struct Stream {
    seed: u64,
    counter: u64,
    draw: u32,
    spare_word: Option<u64>,
    spare_normal: Option<f64>,
}

impl Stream {
    fn new(seed: u64, counter: u64) -> Self {
        Self { seed, counter, draw: 0, spare_word: None, spare_normal: None }
    }

    /// The next 64 random bits.
    pub fn next_word(&mut self) -> u64 {
        if let Some(word) = self.spare_word.take() {
            return word;
        }
        let block = philox::block(self.seed, self.counter, self.draw);
        self.draw = self.draw.wrapping_add(1);
        self.spare_word = Some(word(block, 1));
        word(block, 0)
    }

    /// The next number, uniform in the open interval (0, 1).
    pub fn unit(&mut self) -> f64 {
        open_unit(self.next_word())
    }

    /// The next standard normal number.
    pub fn normal(&mut self) -> f64 {
        if let Some(normal) = self.spare_normal.take() {
            return normal;
        }
        let [first, second] = real::box_muller(self.next_word(), self.next_word());
        self.spare_normal = Some(second);
        first
    }
}

#[cfg(test)]
mod tests;
