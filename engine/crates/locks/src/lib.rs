//! The standard library's locks, as all of the engine uses them. With debug assertions, each thread counts how often it has asked for a
//! lock that it might have to wait for, so that a test can show that hits ask for none. Without debug assertions nothing is added.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "they are counted here")]

use std::sync::{LockResult, MutexGuard, RwLockReadGuard, RwLockWriteGuard, TryLockResult};

/// [`std::sync::Mutex`] that, with debug assertions, counts its `lock` calls in [`asked_for`].
#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex(std::sync::Mutex::new(value))
    }

    /// Like [`std::sync::Mutex::lock`]: waits for the lock. Err if a thread panicked while it held the lock.
    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        count();
        self.0.lock()
    }

    /// Like [`std::sync::Mutex::try_lock`]: never waits. Err if the lock is held, or if a thread panicked while it held it. Not counted.
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.0.try_lock()
    }
}

/// [`std::sync::RwLock`] that, with debug assertions, counts its `read` and `write` calls in [`asked_for`].
#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub const fn new(value: T) -> Self {
        RwLock(std::sync::RwLock::new(value))
    }

    /// Like [`std::sync::RwLock::read`]: waits until no thread writes. Err if a thread panicked while it was writing.
    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        count();
        self.0.read()
    }

    /// Like [`std::sync::RwLock::try_read`]: never waits. Err if a thread is writing, or panicked while it was writing. Not counted.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.0.try_read()
    }

    /// Like [`std::sync::RwLock::write`]: waits until no other thread reads or writes. Err if a thread panicked while it was writing.
    #[inline]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        count();
        self.0.write()
    }
}

#[cfg(debug_assertions)]
thread_local! {
    static ASKED_FOR: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[inline]
fn count() {
    #[cfg(debug_assertions)]
    let _ = ASKED_FOR.try_with(|count| count.set(count.get() + 1));
}

/// Returns how often the calling thread has called [`Mutex::lock`], [`RwLock::read`] or [`RwLock::write`] since it started, whether or not
/// it had to wait. For tests; it exists with debug assertions only.
#[cfg(debug_assertions)]
pub fn asked_for() -> u64 {
    ASKED_FOR.get()
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn each_lock_that_may_be_waited_for_counts_on_its_own_thread() {
        let (mutex, shared) = (Mutex::new(1), RwLock::new(2));
        let before = asked_for();
        assert_eq!(*mutex.lock().unwrap() + *shared.read().unwrap(), 3);
        *shared.write().unwrap() = 4;
        assert_eq!(asked_for() - before, 3);
        assert!(mutex.try_lock().is_ok() && shared.try_read().is_ok());
        std::thread::scope(|scope| _ = scope.spawn(|| drop(mutex.lock())).join());
        assert_eq!(asked_for() - before, 3);
    }
}
