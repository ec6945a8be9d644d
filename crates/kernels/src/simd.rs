//! One loop, compiled for several instruction sets, chosen when it runs.
//!
//! Wheels are built for the oldest processor they support. A [`Task`] is a loop written once, marked
//! for inlining; [`run`] and [`run_wide`] hold copies of it compiled with wider vectors and call the
//! best one this processor has. Every copy computes the same bits: the loops are elementwise, and a
//! fused multiplication is only ever one the source asks for.

use std::sync::OnceLock;

/// A loop worth compiling more than once. Mark `run` with `#[inline(always)]`, and everything it
/// calls that is meant to become part of the loop.
pub trait Task {
    /// The loop.
    fn run(self);
}

/// What the processor offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What every processor of the architecture has.
    Baseline,
    /// 256-bit vectors and fused multiplication.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

/// The best level of this processor, found out once.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    use std::arch::is_x86_feature_detected as has;
    if !(has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("f16c")) {
        Level::Baseline
    } else if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
        Level::Avx512
    } else {
        Level::Avx2
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Baseline
}

/// Runs a loop that memory limits: 256-bit vectors are as fast as it gets.
#[inline]
pub fn run<K: Task>(task: K) {
    #[cfg(target_arch = "x86_64")]
    if level() >= Level::Avx2 {
        // SAFETY: the processor has been asked.
        return unsafe { avx2(task) };
    }
    task.run();
}

/// Runs a loop that computes a lot per element: the widest vectors there are.
#[inline]
pub fn run_wide<K: Task>(task: K) {
    #[cfg(target_arch = "x86_64")]
    match level() {
        // SAFETY: the processor has been asked.
        Level::Avx512 => return unsafe { avx512(task) },
        // SAFETY: as above.
        Level::Avx2 => return unsafe { avx2(task) },
        Level::Baseline => {}
    }
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,f16c")]
fn avx2<K: Task>(task: K) {
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,f16c")]
fn avx512<K: Task>(task: K) {
    task.run();
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Doubling<'a>(&'a mut [f32]);

    impl Task for Doubling<'_> {
        #[inline(always)]
        fn run(self) {
            self.0.iter_mut().for_each(|x| *x *= 2.0);
        }
    }

    #[test]
    fn every_level_runs_the_same_loop() {
        let expected: Vec<f32> = (0..77).map(|i| 2.0 * i as f32).collect();
        for level in 0..3 {
            let mut x: Vec<f32> = (0..77).map(|i| i as f32).collect();
            let task = Doubling(&mut x);
            match level {
                0 => task.run(),
                1 => run(task),
                _ => run_wide(task),
            }
            assert_eq!(x, expected);
        }
    }
}
