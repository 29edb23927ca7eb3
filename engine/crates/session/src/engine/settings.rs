//! The settings of the cache, and a number that changes with everything that new sessions inherit.

use crate::identity::side_effects::SideEffects;
use locks::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The settings of the cache, shared by all sessions, and what is known of the settings that new sessions inherit.
#[derive(Default)]
pub struct Settings {
    /// Entries may be served and stored. False if the cache has no memory, or the plugin is being unloaded.
    is_on: AtomicBool,
    /// A fault was contained. Nothing is served or stored in this process any more.
    is_faulty: AtomicBool,
    /// The server has a property that forbids serving, whatever the settings say.
    is_obstructed: AtomicBool,
    /// Number of reasons for which the server itself does not answer new reads at once, see `hold`.
    held: AtomicU64,
    /// Why serving is forbidden, for `SHOW FQC STATUS`. None if it is not forbidden, or if no reason was given.
    obstacle: Mutex<Option<&'static str>>,
    /// Largest size of a result in bytes (`fqc_limit`).
    limit: AtomicU64,
    /// Size of the cache in bytes (`fqc_size`).
    size: AtomicU64,
    /// The global `fqc_type`, which new sessions inherit: 0 off, 1 on, 2 on demand.
    global_type: AtomicU64,
    /// A BEGIN may be acknowledged before the server gets it.
    defers_begin: AtomicBool,
    /// Results of statements whose results are rarely reused are mostly not stored (`fqc_adaptation`).
    adapts: AtomicBool,
    /// The engine may enter light mode while the cache saves less than it costs (`fqc_doze`).
    allows_light_mode: AtomicBool,
    /// Sessions with the cache off are followed too, to measure what the cache would do for them (`fqc_observe`).
    observes: AtomicBool,
    /// Out of a million hits, the number that are compared with the server's answer (`fqc_verify_ppm`).
    verify_ppm: AtomicU64,
    /// Writes and results are tracked by rows, not only by tables (`fqc_row_footprints`).
    tracks_rows: AtomicBool,
    /// The server compares the names of tables byte by byte (`lower_case_table_names` is 0), so it reports them as statements
    /// spell them.
    has_case_sensitive_names: AtomicBool,
    /// A number that grows when a change of what new sessions inherit (global variables, accounts, privileges) begins, and when
    /// it ends.
    inherited: AtomicU64,
    /// The value of `inherited` when privileges last changed or were about to.
    granting: AtomicU64,
    /// The value of `inherited` when accounts with several hosts were last looked up, plus 1. 0 before the first look-up.
    hosts: AtomicU64,
    /// Number of changes of what new sessions inherit that are under way.
    changing: AtomicU64,
    /// The value of `inherited` when the initial state of new sessions was last looked up, above the bits of `InitialState`.
    initial_state: AtomicU64,
}

/// The state in which new sessions begin, as far as the host has looked it up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InitialState {
    /// New sessions parse statements in the usual way: neither `sql_mode` nor `init_connect` changes that, and passwords do not
    /// expire.
    pub parses_as_usual: bool,
    /// `init_connect` is not empty, so new sessions run it first.
    pub has_init_connect: bool,
    /// The side effects that new sessions expect of each statement.
    pub side_effects: SideEffects,
}

impl InitialState {
    const BITS: u32 = 8;

    fn pack(self, inherited: u64) -> u64 {
        let SideEffects { traces, limits_idleness, reports, limits_joins, numbers, waits } = self.side_effects;
        let bits = [
            self.parses_as_usual,
            self.has_init_connect,
            traces,
            limits_idleness,
            reports,
            limits_joins,
            numbers,
            waits,
        ];
        bits.iter().fold(inherited, |packed, bit| packed << 1 | u64::from(*bit))
    }

    fn unpack(packed: u64) -> InitialState {
        let is = |place: u32| packed >> (Self::BITS - place) & 1 != 0;
        let side_effects = SideEffects {
            traces: is(3),
            limits_idleness: is(4),
            reports: is(5),
            limits_joins: is(6),
            numbers: is(7),
            waits: is(8),
        };
        InitialState { parses_as_usual: is(1), has_init_connect: is(2), side_effects }
    }
}

impl Settings {
    /// True if results may be served and stored at all: the cache has memory, no fault was contained, the server has no
    /// property that forbids it, and it does not hold new reads back.
    pub fn is_on(&self) -> bool {
        // Relaxed, here and below: a switch orders nothing. Whether a result is current depends on the versions alone.
        self.is_on.load(Ordering::Relaxed) && !self.is_faulty() && !self.is_obstructed() && !self.is_held()
    }

    /// Switches serving and storing on or off. Off if the cache has no memory, or while the plugin is being unloaded.
    pub fn switch(&self, on: bool) {
        self.is_on.store(on, Ordering::Relaxed);
    }

    /// Called after a fault in the engine was contained. Nothing is served or stored in this process any more.
    pub fn fail(&self) {
        self.is_faulty.store(true, Ordering::Relaxed);
    }

    /// True once a fault in the engine was contained: nothing is served or stored any more until the process ends.
    pub fn is_faulty(&self) -> bool {
        self.is_faulty.load(Ordering::Relaxed)
    }

    /// Sets whether the server has a property that forbids serving, see `is_obstructed`.
    pub fn set_obstructed(&self, value: bool) {
        // Written only if the value differs: this is called often, and the flag is read at every hit.
        if self.is_obstructed() != value {
            self.is_obstructed.store(value, Ordering::Relaxed);
        }
    }

    /// True if the server has a property that forbids serving, whatever the settings say. For instance in a cluster: a read may
    /// have to wait for commits of other nodes (`wsrep_sync_wait`), or must fail because they are unreachable, and only the
    /// server does that.
    pub fn is_obstructed(&self) -> bool {
        self.is_obstructed.load(Ordering::Relaxed)
    }

    /// Passes every read to the server until the matching `release`, because the server itself holds new reads back for a
    /// moment. It applies to each read that arrives after this call, on every thread. Calls may overlap.
    pub fn hold(&self) {
        // SeqCst, like the other two: a client that has received an answer to what happened after this call must not be served.
        self.held.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the effect of one call of `hold`. Reads are served from the cache again once every call of `hold` was
    /// followed by one of `release`.
    pub fn release(&self) {
        self.held.fetch_sub(1, Ordering::SeqCst);
    }

    /// True between a call of `hold` and the matching `release`.
    pub fn is_held(&self) -> bool {
        self.held.load(Ordering::SeqCst) > 0
    }

    /// Sets the text that says why serving is forbidden, for `SHOW FQC STATUS`; None if it is not. The text has no effect on
    /// serving.
    pub fn set_obstacle(&self, words: Option<&'static str>) {
        *self.obstacle.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }

    /// The text that says why serving is forbidden; None if none was set.
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

    /// True if a BEGIN may be acknowledged before the server gets it.
    pub fn defers_begin(&self) -> bool {
        self.defers_begin.load(Ordering::Relaxed)
    }

    pub fn set_defers_begin(&self, value: bool) {
        self.defers_begin.store(value, Ordering::Relaxed);
    }

    /// True if most results of statements whose results are rarely reused are not stored (`fqc_adaptation`).
    pub fn adapts(&self) -> bool {
        self.adapts.load(Ordering::Relaxed)
    }

    pub fn set_adapts(&self, value: bool) {
        self.adapts.store(value, Ordering::Relaxed);
    }

    /// True if the settings allow light mode (`fqc_doze`). Whether the engine is in it, `EngineMode::is_in_light_mode` shows.
    pub fn allows_light_mode(&self) -> bool {
        self.allows_light_mode.load(Ordering::Relaxed)
    }

    pub fn set_allows_light_mode(&self, value: bool) {
        self.allows_light_mode.store(value, Ordering::Relaxed);
    }

    /// True if sessions with the cache off are followed too, to measure what the cache would do for them (`fqc_observe`).
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

    /// True if writes and results are tracked by rows, not only by tables. This may be switched at any time: a result that
    /// depends on rows also depends on the cell of unknown changes of its table, and a result that depends on the table is
    /// invalidated by each of its changes.
    pub fn tracks_rows(&self) -> bool {
        self.tracks_rows.load(Ordering::Relaxed)
    }

    pub fn set_tracks_rows(&self, value: bool) {
        self.tracks_rows.store(value, Ordering::Relaxed);
    }

    /// True if the server compares the names of tables byte by byte (`lower_case_table_names` is 0), so it reports them as
    /// statements spell them.
    pub fn has_case_sensitive_names(&self) -> bool {
        self.has_case_sensitive_names.load(Ordering::Relaxed)
    }

    pub fn set_has_case_sensitive_names(&self, value: bool) {
        self.has_case_sensitive_names.store(value, Ordering::Relaxed);
    }

    /// A number that grows when a change of what new sessions inherit (global variables, accounts, privileges) begins, and
    /// again when it ends. Read it before something is looked up or set up, and check it afterwards with `is_unchanged_since`.
    pub fn inherited(&self) -> u64 {
        // SeqCst, like the three below: a new session compares two values of this, with the changes between them.
        self.inherited.load(Ordering::SeqCst)
    }

    /// True if nothing that new sessions inherit has changed since `inherited` returned this number, and no such change is
    /// under way.
    pub fn is_unchanged_since(&self, number: u64) -> bool {
        self.changing.load(Ordering::SeqCst) == 0 && self.inherited() == number
    }

    /// The initial state of sessions that were set up when `Settings::inherited` had this value. None if it is not known or not
    /// the usual one. For a session that was reset it counts as known only if `init_connect` is empty, because a reset does not
    /// run it.
    pub fn usual_initial_state(&self, inherited: u64, was_reset: bool) -> Option<InitialState> {
        let packed = self.initial_state.load(Ordering::Relaxed);
        let known = InitialState::unpack(packed);
        let is_usual = packed >> InitialState::BITS == inherited
            && known.parses_as_usual
            && !(known.has_init_connect && was_reset);
        is_usual.then_some(known)
    }

    /// True if the initial state of new sessions was looked up since it last changed.
    pub fn knows_initial_state(&self) -> bool {
        self.initial_state.load(Ordering::Relaxed) >> InitialState::BITS == self.inherited()
    }

    /// Returns the value that the counter `inherited` had when privileges last changed, provided that the accounts with
    /// several hosts were looked up after that. None otherwise: it is then unknown for which users the privileges
    /// depend on the client's address.
    pub fn known_hosts(&self) -> Option<u64> {
        let granting = self.granting.load(Ordering::SeqCst);
        (self.hosts.load(Ordering::SeqCst) > granting).then_some(granting)
    }

    /// Notes that the accounts with several hosts were looked up. `inherited` is the value from before the look-up; ignored if
    /// it has changed since.
    pub fn note_hosts(&self, inherited: u64) {
        if self.is_unchanged_since(inherited) {
            self.hosts.store(inherited + 1, Ordering::SeqCst);
        }
    }

    /// Notes how new sessions begin. `inherited` is the value from before the look-up; ignored if it has changed since.
    pub fn note_initial_state(&self, inherited: u64, initial_state: InitialState) {
        if self.is_unchanged_since(inherited) {
            self.initial_state.store(initial_state.pack(inherited), Ordering::Relaxed);
        }
    }

    /// Called when a statement has locked a table of privileges, as every change of privileges does. From here on it is not
    /// known whether sessions that looked up their privileges before would find the same again, see `are_grants_unchanged_since`.
    pub fn note_grants(&self) {
        self.granting.fetch_max(self.inherited(), Ordering::SeqCst);
    }

    /// True if no privileges have changed since `inherited` returned this number.
    pub fn are_grants_unchanged_since(&self, number: u64) -> bool {
        self.granting.load(Ordering::SeqCst) <= number
    }

    /// Notes that a statement is about to change what new sessions inherit: global variables, accounts or privileges.
    /// What was looked up before, and until `end_change`, does not count, see `is_unchanged_since`. Each call must be
    /// followed by one of `end_change`.
    pub fn begin_change(&self) {
        self.changing.fetch_add(1, Ordering::SeqCst);
        self.inherited.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes that the change which `begin_change` has announced is over. What is looked up from here on is the new
    /// state.
    pub fn end_change(&self) {
        self.inherited.fetch_add(1, Ordering::SeqCst);
        self.changing.fetch_sub(1, Ordering::SeqCst);
    }
}
