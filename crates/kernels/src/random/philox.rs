//! The Philox4x32-10 block function (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
//! as 1, 2, 3", 2011).

/// How many blocks [`philox_lanes`] computes side by side.
pub(super) const LANES: usize = 8;

const ROUNDS: usize = 10;
const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// Four random words, a bijection of `counter` under `key`.
#[inline(always)]
pub fn philox(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    rounds(counter.map(|word| [word]), key).map(|[word]| word)
}

/// The block at `draw` in the stream of `counter`.
#[inline]
pub(super) fn block(seed: u64, counter: u64, draw: u32) -> [u32; 4] {
    philox([counter as u32, (counter >> 32) as u32, draw, 0], halves(seed))
}

/// The first blocks of the streams of [`LANES`] counters in a row: word, then lane.
#[inline(always)]
pub(super) fn philox_lanes(seed: u64, counter: u64) -> [[u32; LANES]; 4] {
    let counters: [u64; LANES] = std::array::from_fn(|lane| counter.wrapping_add(lane as u64));
    let low = counters.map(|counter| counter as u32);
    let high = counters.map(|counter| (counter >> 32) as u32);
    rounds([low, high, [0; LANES], [0; LANES]], halves(seed))
}

#[inline(always)]
fn halves(seed: u64) -> [u32; 2] {
    [seed as u32, (seed >> 32) as u32]
}

/// The rounds, for `N` counters side by side. Each word is the lower half of 64 bits, so that the
/// product of two needs no widening: that is the multiplication vector units have. The upper halves
/// hold whatever is left over there.
#[inline(always)]
fn rounds<const N: usize>(words: [[u32; N]; 4], mut key: [u32; 2]) -> [[u32; N]; 4] {
    const LOW: u64 = u32::MAX as u64;
    let [mut a, mut b, mut c, mut d] = words.map(|word| word.map(u64::from));
    for round in 0..ROUNDS {
        if round > 0 {
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        for lane in 0..N {
            let first = MULTIPLIERS[0] * (a[lane] & LOW);
            let second = MULTIPLIERS[1] * (c[lane] & LOW);
            a[lane] = (second >> 32) ^ b[lane] ^ u64::from(key[0]);
            b[lane] = second;
            c[lane] = (first >> 32) ^ d[lane] ^ u64::from(key[1]);
            d[lane] = first;
        }
    }
    [a, b, c, d].map(|word| word.map(|word| word as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that come with the authors' Random123 library.
    #[test]
    fn gives_the_published_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(
            philox([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn lanes_are_consecutive_counters_and_carry() {
        let first = u64::from(u32::MAX) - 2;
        let words = philox_lanes(7, first);
        for lane in 0..LANES {
            let expected = block(7, first + lane as u64, 0);
            assert_eq!(words.map(|word| word[lane]), expected);
        }
    }
}
