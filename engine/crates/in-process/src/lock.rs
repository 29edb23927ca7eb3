//! A lock for the few instructions in which a connection is looked at. It can be forced open in a process that was just forked.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

const MOST_TRIES: usize = 10_000;

pub struct Lock<T> {
    is_locked: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only by the one who holds the lock.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    pub const fn new(value: T) -> Lock<T> {
        Lock { is_locked: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Returns none if another thread holds the lock for long.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> Option<R> {
        let mut tries = 0;
        while self.is_locked.swap(true, Ordering::Acquire) {
            tries += 1;
            if tries == MOST_TRIES {
                return None;
            }
            std::thread::yield_now();
        }
        // SAFETY: this thread has just taken the lock.
        let outcome = work(unsafe { &mut *self.value.get() });
        self.is_locked.store(false, Ordering::Release);
        Some(outcome)
    }

    /// For a process that was just forked: no other thread is left that could hold the lock.
    pub fn force_open(&self) {
        self.is_locked.store(false, Ordering::Relaxed);
    }
}
