//! How much host memory tensors hold. Every thread keeps a count of its own, which only it writes:
//! a counter that all threads shared would be the dearest part of a small operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::Mutex;

use super::MemoryStats;

/// What one thread has taken less what it has given back, of which either may be more: memory may
/// be freed by another thread than the one that took it.
#[derive(Default)]
struct Count {
    bytes: AtomicI64,
    blocks: AtomicI64,
}

impl Count {
    fn read(&self) -> (i64, i64) {
        (self.bytes.load(Ordering::Relaxed), self.blocks.load(Ordering::Relaxed))
    }
}

/// The counts of the threads that live.
static LIVING: Mutex<Vec<Arc<Count>>> = Mutex::new(Vec::new());
/// The count of all that ended.
static ENDED: Count = Count { bytes: AtomicI64::new(0), blocks: AtomicI64::new(0) };

/// A thread's own count, which joins those of the ended threads with it.
struct Own(Arc<Count>);

impl Drop for Own {
    fn drop(&mut self) {
        let mut living = LIVING.lock();
        living.retain(|count| !Arc::ptr_eq(count, &self.0));
        let (bytes, blocks) = self.0.read();
        ENDED.bytes.fetch_add(bytes, Ordering::Relaxed);
        ENDED.blocks.fetch_add(blocks, Ordering::Relaxed);
    }
}

thread_local! {
    static OWN: Own = {
        let count = Arc::<Count>::default();
        LIVING.lock().push(count.clone());
        Own(count)
    };
}

fn change(bytes: i64, blocks: i64) {
    let counted = OWN.try_with(|Own(count)| {
        // No other thread writes here: a load and a store do, without the price of one step.
        let (old_bytes, old_blocks) = count.read();
        count.bytes.store(old_bytes + bytes, Ordering::Relaxed);
        count.blocks.store(old_blocks + blocks, Ordering::Relaxed);
    });
    if counted.is_err() {
        // The thread is ending and its count is gone.
        ENDED.bytes.fetch_add(bytes, Ordering::Relaxed);
        ENDED.blocks.fetch_add(blocks, Ordering::Relaxed);
    }
}

/// Tensors hold a further block.
pub(crate) fn taken(bytes: usize) {
    change(bytes as i64, 1);
}

/// Tensors no longer hold a block.
pub(crate) fn freed(bytes: usize) {
    change(-(bytes as i64), -1);
}

/// The sum over all threads. What is freed goes back at once, so nothing more is reserved.
pub(super) fn total() -> MemoryStats {
    let living = LIVING.lock();
    let (bytes, blocks) = living
        .iter()
        .map(|count| count.read())
        .fold(ENDED.read(), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    // Another thread may be between its two stores, or between taking and freeing.
    let bytes = bytes.max(0) as u64;
    MemoryStats { in_use: bytes, reserved: bytes, allocations: blocks.max(0) as u64 }
}

#[cfg(test)]
mod tests {
    use crate::{DType, Device, Tensor, device};

    /// Larger than what other tests hold at a time, by far.
    const ELEMENTS: usize = 1 << 26;

    #[test]
    fn a_tensor_counts_until_the_last_view_is_gone() {
        let used = || device::memory_stats(Device::Cpu).unwrap().in_use;
        let tensor = Tensor::zeros(&[ELEMENTS], DType::U8, Device::Cpu).unwrap();
        assert!(used() >= ELEMENTS as u64);
        let view = tensor.detach();
        drop(tensor);
        assert!(used() >= ELEMENTS as u64);
        // Freed by a thread that took nothing.
        std::thread::spawn(move || drop(view)).join().unwrap();
        assert!(used() < ELEMENTS as u64);
    }
}
