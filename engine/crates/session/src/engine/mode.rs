//! Whether the engine is awake. Awake, it follows every statement. Suspended ("asleep"), while no session wants the cache, it
//! follows nothing and costs nothing. In light mode ("dozing"), while the cache costs more than it saves, it follows sessions
//! by their packets only. In both of these it forgets the state of all tables, and it starts afresh when it wakes.
//!
//! An *epoch* is the time between two such changes, and its number.

use std::sync::atomic::{AtomicU64, Ordering};

/// Whether the engine is awake, suspended or in light mode, and the number of sessions that want it to be awake.
#[derive(Default)]
pub struct EngineMode {
    /// The number of the current epoch: odd while the engine is awake. Grows with every change between awake, asleep and
    /// dozing.
    epoch: AtomicU64,
    /// The epoch in which the engine was last in light mode, or is now; 0 if there was none.
    light_mode_epoch: AtomicU64,
    /// The epoch of the last suspension. Whatever a session did in that epoch, or before it and not since, may have been
    /// missed.
    suspended_epoch: AtomicU64,
    /// The epoch of the last light mode for which it is decided whether sessions could do anything unnoticed in it. `lost` is
    /// the last one in which they could.
    judged: AtomicU64,
    lost: AtomicU64,
    /// Number of sessions that have the cache on and can be followed.
    interested_sessions: AtomicU64,
    /// Number of sessions that try the cache out (`fqc_trial`).
    trials: AtomicU64,
}

/// Memory in bytes for all trials together, while the cache has no memory of its own.
pub const TRIAL_BYTES: u64 = 16 << 20;

impl EngineMode {
    // SeqCst throughout: these accesses are rare or off the path of hits, and sessions compare the values with counts of their
    // own.

    /// The number of changes so far between awake, suspended and light mode. It is odd while the engine is awake, and even
    /// otherwise.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// True if the engine follows every statement, so that results can be served and stored.
    pub fn is_awake(&self) -> bool {
        self.epoch() % 2 == 1
    }

    /// True if the engine is in light mode: it serves nothing, and follows sessions by their packets only.
    pub fn is_in_light_mode(&self) -> bool {
        let epoch = self.epoch();
        epoch != 0 && epoch == self.last_light_mode()
    }

    /// The epoch in which the engine was last in light mode, or is now; 0 if it never was.
    pub(crate) fn last_light_mode(&self) -> u64 {
        self.light_mode_epoch.load(Ordering::SeqCst)
    }

    /// True if the engine was never suspended since this epoch, but only awake or in light mode.
    pub(crate) fn was_not_suspended_since(&self, epoch: u64) -> bool {
        self.suspended_epoch.load(Ordering::SeqCst) < epoch
    }

    /// Wakes the engine. Must not be called by two threads at once, and only while the engine is not awake.
    pub(crate) fn wake(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Enters light mode. Must not be called by two threads at once, and only while the engine is awake.
    pub(crate) fn enter_light_mode(&self) {
        self.light_mode_epoch.store(self.epoch() + 1, Ordering::SeqCst);
        self.epoch.fetch_add(1, Ordering::SeqCst);
    }

    /// Suspends the engine, awake or in light mode. A light mode that ends in suspension is not examined: anything that
    /// sessions did in it counts as missed.
    pub(crate) fn suspend(&self) {
        let epoch = self.epoch() + if self.is_in_light_mode() { 2 } else { 1 };
        if self.is_last_light_mode_unjudged() {
            self.judge_last_light_mode(true);
        }
        self.suspended_epoch.store(epoch, Ordering::SeqCst);
        self.epoch.store(epoch, Ordering::SeqCst);
    }

    /// Decides about the last light mode, once it is over and its statements have ended. `is_lost` says whether sessions could
    /// do anything in it that their packets do not show; those that were active in it are then served nothing until they
    /// connect again.
    pub fn judge_last_light_mode(&self, is_lost: bool) {
        self.judge(self.last_light_mode(), is_lost);
    }

    fn judge(&self, epoch: u64, is_lost: bool) {
        if is_lost {
            self.lost.store(epoch, Ordering::SeqCst);
        }
        self.judged.store(epoch, Ordering::SeqCst);
    }

    /// True from the beginning of a light mode until `judge_last_light_mode` has decided about it.
    pub fn is_last_light_mode_unjudged(&self) -> bool {
        self.judged.load(Ordering::SeqCst) < self.last_light_mode()
    }

    /// True if it has been decided whether sessions did anything that the engine missed in the period of light mode
    /// with this number (`epoch`).
    pub(crate) fn is_judged(&self, epoch: u64) -> bool {
        self.judged.load(Ordering::SeqCst) >= epoch
    }

    /// True if sessions that were active in the period of light mode with this number (`epoch`) may have done something
    /// that the engine missed.
    pub(crate) fn is_lost(&self, epoch: u64) -> bool {
        self.lost.load(Ordering::SeqCst) >= epoch
    }

    /// Number of sessions that have the cache on and can be followed.
    pub fn interested_sessions(&self) -> u64 {
        self.interested_sessions.load(Ordering::SeqCst)
    }

    /// True if any session that can be followed has the cache on.
    pub fn has_interested_sessions(&self) -> bool {
        self.interested_sessions() > 0
    }

    /// True if any session tries the cache out (`fqc_trial`).
    pub fn has_trials(&self) -> bool {
        self.trials.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn add_interested_session(&self) {
        self.interested_sessions.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn remove_interested_session(&self) {
        self.interested_sessions.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn begin_trial(&self) {
        self.trials.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn end_trial(&self) {
        self.trials.fetch_sub(1, Ordering::SeqCst);
    }
}
