//! Whether the engine is awake. Awake, it follows every statement. Suspended ("asleep"), while no session wants the cache, it
//! follows nothing and costs nothing. In light mode ("dozing"), while the cache costs more than it saves, it follows sessions by
//! their packets only. In both of these it forgets the state of all tables, and it starts afresh when it wakes.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub struct Vigil {
    /// Odd while the engine is awake. Grows with every change between awake, asleep and dozing.
    epoch: AtomicU64,
    /// The epoch of the last doze; 0 if there was none.
    dozed: AtomicU64,
    /// The epoch of the last sleep. Whatever a session did in that epoch, or before it and not since, may have been missed.
    slept: AtomicU64,
    /// The last doze for which it is decided whether anything in it could go unnoticed. `lost` is the last one in which it
    /// could.
    judged: AtomicU64,
    lost: AtomicU64,
    /// Number of sessions that have the cache on.
    wishes: AtomicU64,
    /// Number of sessions that try the cache out (`fqc_trial`).
    trials: AtomicU64,
}

/// Memory in bytes for all trials together, while the cache has no memory of its own.
pub const TRIAL_BYTES: u64 = 16 << 20;

impl Vigil {
    // SeqCst throughout: these accesses are rare or off the path of hits, and sessions compare the values with counts of their
    // own.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    pub fn is_awake(&self) -> bool {
        self.epoch() % 2 == 1
    }

    pub fn is_dozing(&self) -> bool {
        let epoch = self.epoch();
        epoch != 0 && epoch == self.last_doze()
    }

    pub(crate) fn last_doze(&self) -> u64 {
        self.dozed.load(Ordering::SeqCst)
    }

    /// True if the engine has only been awake or dozing since this epoch, and never asleep.
    pub(crate) fn has_only_dozed_since(&self, epoch: u64) -> bool {
        self.slept.load(Ordering::SeqCst) < epoch
    }

    pub(crate) fn wake(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Enters light mode. Must not be called by two threads at once, and only while the engine is awake.
    pub(crate) fn doze(&self) {
        self.dozed.store(self.epoch() + 1, Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Suspends the engine, awake or dozing. A doze that ends in sleep is not examined: anything in it counts as missed.
    pub(crate) fn sleep(&self) {
        let epoch = self.epoch() + if self.is_dozing() { 2 } else { 1 };
        if self.is_last_doze_open() {
            self.judge_last_doze(true);
        }
        self.slept.store(epoch, Ordering::SeqCst);
        self.epoch.store(epoch, Ordering::SeqCst);
    }

    /// Decides about the last doze, once it is over. `is_lost` says whether sessions could do anything in it that their packets
    /// do not show.
    pub fn judge_last_doze(&self, is_lost: bool) {
        self.judge(self.last_doze(), is_lost);
    }

    fn judge(&self, doze: u64, is_lost: bool) {
        if is_lost {
            self.lost.store(doze, Ordering::SeqCst);
        }
        self.judged.store(doze, Ordering::SeqCst);
    }

    /// True while it is not decided whether everything in the last doze could be followed.
    pub fn is_last_doze_open(&self) -> bool {
        self.judged.load(Ordering::SeqCst) < self.last_doze()
    }

    pub(crate) fn is_judged(&self, doze: u64) -> bool {
        self.judged.load(Ordering::SeqCst) >= doze
    }

    /// True if sessions that worked in this doze may have done something that was missed.
    pub(crate) fn is_lost(&self, doze: u64) -> bool {
        self.lost.load(Ordering::SeqCst) >= doze
    }

    /// Number of sessions that have the cache on and can be followed.
    pub fn wishes(&self) -> u64 {
        self.wishes.load(Ordering::SeqCst)
    }

    pub fn is_wished_for(&self) -> bool {
        self.wishes() > 0
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
