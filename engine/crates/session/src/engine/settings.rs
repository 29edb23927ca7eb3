//! The settings of the cache, and a number that changes whenever what new sessions inherit changes.

use crate::identity::habits::Habits;
use locks::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Default)]
pub struct Settings {
    /// Entries may be served and stored. False without memory, after a contained fault, and while unloading.
    is_on: AtomicBool,
    is_faulty: AtomicBool,
    /// Nothing may be served on this server, whatever is set.
    is_obstructed: AtomicBool,
    /// Why, as last told.
    obstacle: Mutex<Option<&'static str>>,
    limit: AtomicU64,
    size: AtomicU64,
    global_type: AtomicU64,
    defers_begin: AtomicBool,
    /// Shapes whose results are not reused are hardly stored.
    adapts: AtomicBool,
    /// The engine may doze where it does not pay.
    dozes: AtomicBool,
    /// Sessions for which the cache is off are followed, to tell what it would do.
    observes: AtomicBool,
    /// Of a million hits, so many are compared with the server's answer.
    verify_ppm: AtomicU64,
    tells_rows: AtomicBool,
    /// The server spells table names in its events as it stores them, whatever their case in a statement.
    tells_case: AtomicBool,
    /// Rises when something begins or ends to change what new sessions inherit.
    inherited: AtomicU64,
    /// What `inherited` said when privileges were last about to change.
    granting: AtomicU64,
    /// What it said when it was looked up who has several hosts, and one more; 0 before.
    hosts: AtomicU64,
    /// How many such changes are under way.
    changing: AtomicU64,
    /// The last number of `inherited` for which it was looked up how new sessions begin, above the bits of `Beginnings`.
    beginnings: AtomicU64,
}

/// How new sessions begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beginnings {
    /// Their texts are read as usual: `sql_mode`, `init_connect` and passwords say nothing else.
    pub as_usual: bool,
    /// They run `init_connect` first.
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
        // Relaxed, here and below: a switch orders nothing; validity is the versions' alone.
        self.is_on.load(Ordering::Relaxed) && !self.is_faulty() && !self.is_obstructed()
    }

    pub fn switch(&self, on: bool) {
        self.is_on.store(on, Ordering::Relaxed);
    }

    /// A fault was contained: nothing is served or stored any more in this process.
    pub fn fail(&self) {
        self.is_faulty.store(true, Ordering::Relaxed);
    }

    pub fn is_faulty(&self) -> bool {
        self.is_faulty.load(Ordering::Relaxed)
    }

    pub fn set_obstructed(&self, value: bool) {
        // Stored only if it is another: this is told often, and read at every hit.
        if self.is_obstructed() != value {
            self.is_obstructed.store(value, Ordering::Relaxed);
        }
    }

    /// For instance in a cluster: a read may have to wait for what other nodes have committed (`wsrep_sync_wait`), or to be
    /// refused because they are out of reach, and only the server does that.
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

    /// Rows are told apart, not only tables. Turning it on or off is safe at any time: what depends on rows dies with their
    /// table's unknown changes, and what depends on the table with all of its changes.
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
        // SeqCst, with the three below: a session that connects compares two readings with the changes between them.
        self.inherited.load(Ordering::SeqCst)
    }

    /// Whether nothing that a session inherits has changed since `inherited` gave this number, or is changing.
    pub fn is_unchanged_since(&self, number: u64) -> bool {
        self.changing.load(Ordering::SeqCst) == 0 && self.inherited() == number
    }

    /// How sessions that inherit this begin as usual. Of those that were reset it is known only if there is no `init_connect`,
    /// from which they have nothing.
    pub fn usual_beginnings(&self, inherited: u64, was_reset: bool) -> Option<Beginnings> {
        let packed = self.beginnings.load(Ordering::Relaxed);
        let known = Beginnings::unpack(packed);
        let is_usual = packed >> Beginnings::BITS == inherited && known.as_usual && !(known.with_first && was_reset);
        is_usual.then_some(known)
    }

    pub fn knows_beginnings(&self) -> bool {
        self.beginnings.load(Ordering::Relaxed) >> Beginnings::BITS == self.inherited()
    }

    /// When privileges last changed, if it has been looked up since to whom they are granted for several hosts.
    pub fn known_hosts(&self) -> Option<u64> {
        let granting = self.granting.load(Ordering::SeqCst);
        (self.hosts.load(Ordering::SeqCst) > granting).then_some(granting)
    }

    /// `inherited`: the number from before it was looked up.
    pub fn note_hosts(&self, inherited: u64) {
        if self.is_unchanged_since(inherited) {
            self.hosts.store(inherited + 1, Ordering::SeqCst);
        }
    }

    /// `inherited`: the number from before it was looked up.
    pub fn note_beginnings(&self, inherited: u64, beginnings: Beginnings) {
        if self.is_unchanged_since(inherited) {
            self.beginnings.store(beginnings.pack(inherited), Ordering::Relaxed);
        }
    }

    /// Somebody has locked what privileges are read from, as all do that change them: of sessions that looked theirs up before,
    /// nobody knows any more what they would find.
    pub fn note_grants(&self) {
        self.granting.fetch_max(self.inherited(), Ordering::SeqCst);
    }

    /// Whether privileges have been the same since `inherited` gave this number.
    pub fn are_granted_since(&self, number: u64) -> bool {
        self.granting.load(Ordering::SeqCst) <= number
    }

    pub fn begin_change(&self) {
        self.changing.fetch_add(1, Ordering::SeqCst);
        self.inherited.fetch_add(1, Ordering::SeqCst);
    }

    pub fn end_change(&self) {
        self.inherited.fetch_add(1, Ordering::SeqCst);
        self.changing.fetch_sub(1, Ordering::SeqCst);
    }
}
