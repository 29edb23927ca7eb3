//! Whether the engine is awake. Awake, it follows what every statement does. Asleep, while nobody wants the cache, it follows
//! nothing and statements cost nothing. Dozing, while the cache would not pay, it follows sessions by their bytes alone. In both
//! it forgets what it knew of tables, and starts afresh when it wakes.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub struct Vigil {
    /// Odd while awake; rises with every change.
    epoch: AtomicU64,
    /// The epoch of the last doze, 0 if there was none.
    dozed: AtomicU64,
    /// The epoch of the last sleep. Whoever did anything in it, or before it and not since, may have been missed.
    slept: AtomicU64,
    /// The last doze of which it is known whether anything in it could go unnoticed, and the last of which it could.
    judged: AtomicU64,
    lost: AtomicU64,
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

    pub fn is_dozing(&self) -> bool {
        let epoch = self.epoch();
        epoch != 0 && epoch == self.last_doze()
    }

    pub(crate) fn last_doze(&self) -> u64 {
        self.dozed.load(Ordering::SeqCst)
    }

    /// Since this epoch the engine has been awake or dozed, but has not slept.
    pub(crate) fn has_only_dozed_since(&self, epoch: u64) -> bool {
        self.slept.load(Ordering::SeqCst) < epoch
    }

    pub(crate) fn wake(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// To be called by one thread at a time, while awake.
    pub(crate) fn doze(&self) {
        self.dozed.store(self.epoch() + 1, Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// From any other state. What was done in a doze from which nobody wakes is not looked into.
    pub(crate) fn sleep(&self) {
        let epoch = self.epoch() + if self.is_dozing() { 2 } else { 1 };
        if self.is_last_doze_open() {
            self.judge_last_doze(true);
        }
        self.slept.store(epoch, Ordering::SeqCst);
        self.epoch.store(epoch, Ordering::SeqCst);
    }

    /// The last doze is over, and whether sessions could do anything in it that their bytes do not show.
    pub fn judge_last_doze(&self, is_lost: bool) {
        self.judge(self.last_doze(), is_lost);
    }

    fn judge(&self, doze: u64, is_lost: bool) {
        if is_lost {
            self.lost.store(doze, Ordering::SeqCst);
        }
        self.judged.store(doze, Ordering::SeqCst);
    }

    /// It is not known yet whether all that was done in it could be followed.
    pub fn is_last_doze_open(&self) -> bool {
        self.judged.load(Ordering::SeqCst) < self.last_doze()
    }

    pub(crate) fn is_judged(&self, doze: u64) -> bool {
        self.judged.load(Ordering::SeqCst) >= doze
    }

    /// Of the sessions that worked in this doze some may have been missed.
    pub(crate) fn is_lost(&self, doze: u64) -> bool {
        self.lost.load(Ordering::SeqCst) >= doze
    }

    /// How many connections there are for which the cache is on, and that can be followed.
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
