//! Whether the engine is awake. Awake, it follows what every statement does. Asleep, while nobody wants the cache, it follows
//! nothing and statements cost nothing. It then forgets what it knew, and starts afresh when it wakes.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub struct Vigil {
    /// Odd while awake; rises with every change.
    epoch: AtomicU64,
    /// Sessions that have turned the cache on for themselves, or were begun with it on.
    wishes: AtomicU64,
    /// Sessions that try the cache out.
    trials: AtomicU64,
}

/// What all trials together may take while the cache has no memory of its own.
pub const TRIAL_BYTES: u64 = 16 << 20;

impl Vigil {
    // SeqCst throughout: rare, or off the path of hits, and sessions compare it with what they count themselves.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    pub fn is_awake(&self) -> bool {
        self.epoch() % 2 == 1
    }

    pub(crate) fn change(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    pub fn is_wished_for(&self) -> bool {
        self.wishes.load(Ordering::SeqCst) > 0
    }

    pub fn has_trials(&self) -> bool {
        self.trials.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn wish(&self) {
        self.wishes.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn unwish(&self) {
        self.wishes.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn begin_trial(&self) {
        self.trials.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn end_trial(&self) {
        self.trials.fetch_sub(1, Ordering::SeqCst);
    }
}
