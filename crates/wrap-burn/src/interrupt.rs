//! Long walks ask between two steps whether they are still wanted.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::Result;

/// The longest time between two questions, but for a single step.
const PATIENCE: Duration = Duration::from_millis(50);

/// What answers: an error ends the walk.
static ASK: OnceLock<fn() -> Result<()>> = OnceLock::new();

/// Sets who is asked, once for the process: the Python module looks for pending signals.
pub fn ask(whom: fn() -> Result<()>) {
    // Whoever comes second is the same module, imported again.
    let _ = ASK.set(whom);
}

/// Counts the steps of one walk.
pub(crate) struct Pulse {
    work: usize,
    next: Instant,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self { work: 0, next: Instant::now() + PATIENCE }
    }

    /// Asks, if enough time has passed, before a step on so many elements.
    pub(crate) fn before(&mut self, elements: usize) -> Result<()> {
        /// What a step costs whatever it does, and how much work is worth a look at the clock.
        const STEP: usize = 4096;
        const LOOK: usize = 16 * STEP;
        self.work = self.work.saturating_add(elements).saturating_add(STEP);
        if self.work < LOOK {
            return Ok(());
        }
        self.work = 0;
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next = now + PATIENCE;
        ASK.get().map_or(Ok(()), |ask| ask())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::error;

    #[test]
    fn asks_now_and_then() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        ask(|| {
            // Other tests walk as well; they are not to be ended.
            if std::thread::current().name().is_some_and(|name| name.contains("now_and_then")) {
                ASKED.fetch_add(1, Ordering::Relaxed);
                return Err(error!(Runtime, "no longer wanted"));
            }
            Ok(())
        });
        let mut pulse = Pulse::new();
        let start = Instant::now();
        let mut steps = 0;
        while pulse.before(1).is_ok() {
            steps += 1;
            assert!(start.elapsed() < 100 * PATIENCE);
        }
        assert!(start.elapsed() >= PATIENCE);
        assert!(steps > 100);
        assert_eq!(ASKED.load(Ordering::Relaxed), 1);
        pulse.before(usize::MAX).unwrap();
    }
}
