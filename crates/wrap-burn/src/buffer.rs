//! Host memory that tensors share.

use std::alloc::Layout;
use std::any::Any;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use kernels::Element;

use crate::device::tally;

/// A block of host memory. All tensors that view one block see each other's in-place writes, so
/// the memory is mutable behind a shared reference: like NumPy's arrays, two threads that write
/// and read one block at the same time race, and the caller has to keep them apart.
pub struct Buffer {
    // An atomic only because a plain pointer is not `Sync`; it never changes.
    pointer: AtomicPtr<u8>,
    bytes: usize,
    version: AtomicU64,
    owner: Owner,
    /// How many bytes of the memory that tensors hold are these.
    counted: usize,
}

enum Owner {
    /// Memory of a `Vec` whose allocation had this layout.
    Heap(Layout),
    /// Somebody else's memory, kept alive by this value.
    Foreign(#[allow(dead_code, reason = "held for its Drop")] Box<dyn Any + Send + Sync>),
}

impl Buffer {
    /// Takes over a vector's memory without a copy.
    pub fn from_vec<T: Element>(data: Vec<T>) -> Self {
        let mut data = ManuallyDrop::new(data);
        let layout = Layout::array::<T>(data.capacity()).expect("the vector has this layout");
        let counted = layout.size();
        if counted > 0 {
            tally::taken(counted);
        }
        Self {
            pointer: AtomicPtr::new(data.as_mut_ptr().cast()),
            bytes: data.len() * size_of::<T>(),
            version: AtomicU64::new(0),
            owner: Owner::Heap(layout),
            counted,
        }
    }

    /// Borrows memory that `owner` keeps alive.
    ///
    /// # Safety
    /// `pointer` must be valid for reads and writes of `bytes` bytes for as long as `owner` lives,
    /// aligned for the element type it will be read as.
    pub unsafe fn from_foreign(
        pointer: *mut u8,
        bytes: usize,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            pointer: AtomicPtr::new(pointer),
            bytes,
            version: AtomicU64::new(0),
            owner: Owner::Foreign(owner),
            counted: 0,
        }
    }

    /// Counts memory whose owner is part of the engine among what tensors hold.
    pub(crate) fn counted(mut self) -> Self {
        self.counted = self.bytes;
        tally::taken(self.counted);
        self
    }

    /// Where the memory starts.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer.load(Ordering::Relaxed)
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether there is no memory.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Whether somebody else owns the memory.
    pub fn is_foreign(&self) -> bool {
        matches!(self.owner, Owner::Foreign(_))
    }

    /// The whole block as elements.
    pub fn as_slice<T: Element>(&self) -> &[T] {
        if self.bytes == 0 {
            return &[];
        }
        debug_assert!(self.pointer().cast::<T>().is_aligned());
        // SAFETY: the block is valid for `bytes` bytes and every bit pattern is a `T` (`Pod`).
        unsafe { std::slice::from_raw_parts(self.pointer().cast(), self.bytes / size_of::<T>()) }
    }

    /// Counts in-place writes; autograd refuses a saved tensor whose count has moved on.
    pub fn version(&self) -> &AtomicU64 {
        &self.version
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.counted > 0 {
            tally::freed(self.counted);
        }
        if let Owner::Heap(layout) = self.owner
            && layout.size() > 0
        {
            // SAFETY: the memory came from a vector's allocation of exactly this layout.
            unsafe { std::alloc::dealloc(self.pointer(), layout) }
        }
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.bytes)
    }
}
