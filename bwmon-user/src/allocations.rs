//! Counts this thread's allocations, so that the cost of a decision can be told and bounded.
//!
//! The system's allocator with one addition to a thread-local number; the road itself allocates
//! nothing, so the agent does not feel it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // `const` and without a destructor: it may be touched from within the allocator at any time.
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: usize) {
    // A thread that is going down is not counted any more.
    let _ = COUNT.try_with(|count| count.set(count.get().wrapping_add(1)));
    let _ = BYTES.try_with(|sum| sum.set(sum.get().wrapping_add(bytes as u64)));
}

// SAFETY: every call is the system allocator's with the same arguments; counting touches a plain
// number of this thread and cannot allocate, panic or unwind.
#[allow(unsafe_code, reason = "the allocator's trait is unsafe; it only passes calls on")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(old, layout, size) }
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(old, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and reallocations of this thread since it began.
pub fn allocations() -> u64 {
    COUNT.with(Cell::get)
}

/// Bytes that those asked for, whether or not they were given back.
pub fn allocated_bytes() -> u64 {
    BYTES.with(Cell::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_is_counted_and_plain_work_is_not() {
        let before = allocations();
        let boxed = std::hint::black_box(Box::new(5));
        assert_eq!(allocations() - before, 1);
        let before = allocations();
        std::hint::black_box(*boxed + 1);
        drop(boxed);
        assert_eq!(allocations() - before, 0);
        let before = allocated_bytes();
        drop(std::hint::black_box(vec![0_u8; 1_000]));
        assert_eq!(allocated_bytes() - before, 1_000);
    }
}
