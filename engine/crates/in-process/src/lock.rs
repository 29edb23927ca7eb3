//! A lock that is held for a few instructions. It can be forced open in a process that was just forked.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The maximum number of tries to take the lock, with a pause after each.
const MOST_TRIES: usize = 10_000;

/// A value under a lock. A thread that cannot take the lock gives up after some time, so that a signal handler which has interrupted the
/// holder does not hang.
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

    /// Runs `work` under the lock, and returns what that returns. None if another thread, or the code that a signal handler has
    /// interrupted, holds the lock for long; `work` was not run then.
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

    /// Releases the lock without regard to its holder. Only for a process that was just forked, where no other thread is left that could
    /// hold it.
    pub fn force_open(&self) {
        self.is_locked.store(false, Ordering::Relaxed);
    }
}
