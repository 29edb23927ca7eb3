//! The standard library's locks, as all of the engine uses them. With debug assertions, each thread counts how often it has asked for a
//! lock that it might have to wait for, so that a test can show that hits ask for none. Without debug assertions nothing is added.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "they are counted here")]

use std::sync::{LockResult, MutexGuard, RwLockReadGuard, RwLockWriteGuard, TryLockResult};

#[derive(Debug, Default)]
pub struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Mutex(std::sync::Mutex::new(value))
    }

    #[inline]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        count();
        self.0.lock()
    }

    /// Never waits, and is not counted.
    #[inline]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        self.0.try_lock()
    }
}

#[derive(Debug, Default)]
pub struct RwLock<T>(std::sync::RwLock<T>);

impl<T> RwLock<T> {
    pub const fn new(value: T) -> Self {
        RwLock(std::sync::RwLock::new(value))
    }

    #[inline]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        count();
        self.0.read()
    }

    /// Never waits, and is not counted.
    #[inline]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        self.0.try_read()
    }

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

/// The number of times that this thread has asked for a lock that it might have had to wait for.
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
