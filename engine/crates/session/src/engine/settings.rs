//! The settings of the cache, and a number that changes with everything that new sessions inherit.

use crate::identity::habits::Habits;
use locks::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Default)]
pub struct Settings {
    /// Entries may be served and stored. False if the cache has no memory, or the plugin is being unloaded.
    is_on: AtomicBool,
    is_faulty: AtomicBool,
    /// The server has a property that forbids serving, whatever the settings say.
    is_obstructed: AtomicBool,
    /// Text that says why, for `SHOW FQC STATUS`.
    obstacle: Mutex<Option<&'static str>>,
    limit: AtomicU64,
    size: AtomicU64,
    global_type: AtomicU64,
    defers_begin: AtomicBool,
    /// Results of shapes that are rarely reused are mostly not stored.
    adapts: AtomicBool,
    /// The engine may enter light mode while the cache saves less than it costs.
    dozes: AtomicBool,
    /// Sessions with the cache off are followed too, to measure what it would do.
    observes: AtomicBool,
    /// Out of a million hits, the number that are compared with the server's answer.
    verify_ppm: AtomicU64,
    tells_rows: AtomicBool,
    /// In its reports the server spells a table's name as it stores it, whatever the case in the statement.
    tells_case: AtomicBool,
    /// Grows when a change of what new sessions inherit begins, and when it ends.
    inherited: AtomicU64,
    /// The value of `inherited` when privileges were last about to change.
    granting: AtomicU64,
    /// The value of `inherited` when accounts with several hosts were last looked up, plus 1. 0 before the first look-up.
    hosts: AtomicU64,
    /// Number of changes of what new sessions inherit that are under way.
    changing: AtomicU64,
    /// The value of `inherited` when the initial state of new sessions was last looked up, above the bits of `Beginnings`.
    beginnings: AtomicU64,
}

/// The initial state of new sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beginnings {
    /// `sql_mode`, `init_connect` and passwords leave the usual way of parsing statements.
    pub as_usual: bool,
    /// `init_connect` is set, so sessions run it first.
    pub with_first: bool,
    pub habits: Habits,
}

impl Beginnings {
    const BITS: u32 = 7;

    fn pack(self, inherited: u64) -> u64 {
        let Habits { traces, limits_idleness, reports, limits_joins, numbers } = self.habits;
        let bits = [self.as_usual, self.with_first, traces, limits_idleness, reports, limits_joins, numbers];
        bits.iter().fold(inherited, |packed, bit| packed << 1 | u64::from(*bit))
    }

    fn unpack(packed: u64) -> Beginnings {
        let is = |place: u32| packed >> (Self::BITS - place) & 1 != 0;
        let habits =
            Habits { traces: is(3), limits_idleness: is(4), reports: is(5), limits_joins: is(6), numbers: is(7) };
        Beginnings { as_usual: is(1), with_first: is(2), habits }
    }
}

impl Settings {
    pub fn is_on(&self) -> bool {
        // Relaxed, here and below: a switch orders nothing. Whether a result is current depends on the versions alone.
        self.is_on.load(Ordering::Relaxed) && !self.is_faulty() && !self.is_obstructed()
    }

    pub fn switch(&self, on: bool) {
        self.is_on.store(on, Ordering::Relaxed);
    }

    /// Called after a contained fault. Nothing is served or stored in this process any more.
    pub fn fail(&self) {
        self.is_faulty.store(true, Ordering::Relaxed);
    }

    pub fn is_faulty(&self) -> bool {
        self.is_faulty.load(Ordering::Relaxed)
    }

    pub fn set_obstructed(&self, value: bool) {
        // Written only if the value differs: this is called often, and the flag is read at every hit.
        if self.is_obstructed() != value {
            self.is_obstructed.store(value, Ordering::Relaxed);
        }
    }

    /// True for instance in a cluster: a read may have to wait for commits of other nodes (`wsrep_sync_wait`), or must fail
    /// because they are unreachable, and only the server does that.
    pub fn is_obstructed(&self) -> bool {
        self.is_obstructed.load(Ordering::Relaxed)
    }

    pub fn set_obstacle(&self, words: Option<&'static str>) {
        *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    pub fn obstacle(&self) -> Option<&'static str> {
        *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    pub fn set_limit(&self, bytes: u64) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    pub fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    pub fn set_size(&self, bytes: u64) {
        self.size.store(bytes, Ordering::Relaxed);
    }

    pub fn global_type(&self) -> u8 {
        self.global_type.load(Ordering::Relaxed) as u8
    }

    pub fn set_global_type(&self, value: u8) {
        self.global_type.store(u64::from(value), Ordering::Relaxed);
    }

    pub fn defers_begin(&self) -> bool {
        self.defers_begin.load(Ordering::Relaxed)
    }

    pub fn set_defers_begin(&self, value: bool) {
        self.defers_begin.store(value, Ordering::Relaxed);
    }

    pub fn adapts(&self) -> bool {
        self.adapts.load(Ordering::Relaxed)
    }

    pub fn set_adapts(&self, value: bool) {
        self.adapts.store(value, Ordering::Relaxed);
    }

    pub fn dozes(&self) -> bool {
        self.dozes.load(Ordering::Relaxed)
    }

    pub fn set_dozes(&self, value: bool) {
        self.dozes.store(value, Ordering::Relaxed);
    }

    pub fn observes(&self) -> bool {
        self.observes.load(Ordering::Relaxed)
    }

    pub fn set_observes(&self, value: bool) {
        self.observes.store(value, Ordering::Relaxed);
    }

    pub fn verify_ppm(&self) -> u64 {
        self.verify_ppm.load(Ordering::Relaxed)
    }

    pub fn set_verify_ppm(&self, value: u64) {
        self.verify_ppm.store(value, Ordering::Relaxed);
    }

    /// Rows are tracked, not only tables. This may be switched at any time: a result that depends on rows also depends on the
    /// cell of unknown changes of its table, and a result that depends on the table is invalidated by each of its changes.
    pub fn tells_rows(&self) -> bool {
        self.tells_rows.load(Ordering::Relaxed)
    }

    pub fn set_tells_rows(&self, value: bool) {
        self.tells_rows.store(value, Ordering::Relaxed);
    }

    pub fn tells_case(&self) -> bool {
        self.tells_case.load(Ordering::Relaxed)
    }

    pub fn set_tells_case(&self, value: bool) {
        self.tells_case.store(value, Ordering::Relaxed);
    }

    pub fn inherited(&self) -> u64 {
        // SeqCst, like the three below: a new session compares two values of this, with the changes between them.
        self.inherited.load(Ordering::SeqCst)
    }

    /// True if nothing that sessions inherit is changing or has changed since `inherited` had this value.
    pub fn is_unchanged_since(&self, number: u64) -> bool {
        self.changing.load(Ordering::SeqCst) == 0 && self.inherited() == number
    }

    /// How sessions that inherit this begin, if that is known and usual. For a session that was reset it counts as known only
    /// if `init_connect` is empty, because a reset does not run it.
    pub fn usual_beginnings(&self, inherited: u64, was_reset: bool) -> Option<Beginnings> {
        let packed = self.beginnings.load(Ordering::Relaxed);
        let known = Beginnings::unpack(packed);
        let is_usual = packed >> Beginnings::BITS == inherited && known.as_usual && !(known.with_first && was_reset);
        is_usual.then_some(known)
    }

    pub fn knows_beginnings(&self) -> bool {
        self.beginnings.load(Ordering::Relaxed) >> Beginnings::BITS == self.inherited()
    }

    /// The value of `inherited` when privileges last changed, if accounts with several hosts have been looked up since.
    pub fn known_hosts(&self) -> Option<u64> {
        let granting = self.granting.load(Ordering::SeqCst);
        (self.hosts.load(Ordering::SeqCst) > granting).then_some(granting)
    }

    /// Notes that accounts with several hosts were looked up. `inherited` is the value from before the look-up.
    pub fn note_hosts(&self, inherited: u64) {
        if self.is_unchanged_since(inherited) {
            self.hosts.store(inherited + 1, Ordering::SeqCst);
        }
    }

    /// Notes how new sessions begin. `inherited` is the value from before the look-up.
    pub fn note_beginnings(&self, inherited: u64, beginnings: Beginnings) {
        if self.is_unchanged_since(inherited) {
            self.beginnings.store(beginnings.pack(inherited), Ordering::Relaxed);
        }
    }

    /// A statement has locked a table of privileges, which every change of privileges does. For sessions that looked up their
    /// privileges before, it is not known whether a new look-up would find the same.
    pub fn note_grants(&self) {
        self.granting.fetch_max(self.inherited(), Ordering::SeqCst);
    }

    /// True if privileges have not changed since `inherited` had this value.
    pub fn are_granted_since(&self, number: u64) -> bool {
        self.granting.load(Ordering::SeqCst) <= number
    }

    /// A statement begins to change what new sessions inherit: global variables, accounts or privileges.
    pub fn begin_change(&self) {
        self.changing.fetch_add(1, Ordering::SeqCst);
        self.inherited.fetch_add(1, Ordering::SeqCst);
    }

    /// That change has ended.
    pub fn end_change(&self) {
        self.inherited.fetch_add(1, Ordering::SeqCst);
        self.changing.fetch_sub(1, Ordering::SeqCst);
    }
}
