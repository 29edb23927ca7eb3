//! The state that all sessions of a server share: the cache, the versions, the tables, the settings and the counters.

pub mod catalogue;
pub mod counts;
pub mod durations;
pub mod feed;
pub mod insight;
pub mod late;
pub mod look_ups;
pub(crate) mod marks;
pub mod mode;
pub mod near_totals;
pub mod settings;
pub mod tables;
pub mod uninstallation;

use crate::engine::catalogue::Catalogue;
use crate::engine::counts::Counts;
use crate::engine::feed::Feed;
use crate::engine::insight::Insight;
use crate::engine::late::LateResults;
use crate::engine::look_ups::CatalogueLookUps;
use crate::engine::mode::{EngineMode, TRIAL_BYTES};
use crate::engine::settings::Settings;
use crate::engine::tables::{Table, Tables};
use crate::engine::uninstallation::Uninstallation;
use crate::entries::ages::Ages;
use crate::entries::basis::Basis;
use crate::flushable_counter::FlushableCounter;
use crate::identity::contexts::Contexts;
use crate::reason::{Reason, Reasons};
use crate::text::shared_analyses::SharedAnalyses;
use ::insight::{Moment, Repeats};
use cache::{Cache, Rows, Versions};
use flavour::Flavour;
use footprint::KeyColumn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The state that all sessions of one server share: the cache, the versions, what is known of tables and settings, and the
/// counters. The *host*, such as the plugin inside the server, feeds it and carries out its decisions. Threads may use it at
/// the same time, except where a method forbids that.
pub struct Engine {
    flavour: &'static Flavour,
    cache: Cache,
    /// The cells whose versions show which results are current. Every result depends on the cell `EVERYTHING`, which is closed
    /// by a statement that may change anything (DDL, privileges, global variables).
    versions: Versions,
    rows: Rows,
    tables: Tables,
    catalogue: Catalogue,
    contexts: Contexts,
    settings: Settings,
    counts: Counts,
    reasons: Reasons,
    insight: Insight,
    mode: EngineMode,
    shared_analyses: SharedAnalyses,
    /// The host should query the server's catalogue: it has changed, or a session needs the type of a table or the definition
    /// of a view.
    wants_catalogue: AtomicBool,
    look_ups: CatalogueLookUps,
    uninstallation: Uninstallation,
    repeats: Repeats,
    ages: Ages,
    late_results: LateResults,
    feed: Feed,
}

/// The rows of all tables share one million version cells (2 to this power), and the blocks of rows an eighth of that: nine
/// megabytes when all are in use.
const ROW_BITS: u32 = 20;
const BLOCK_BITS: u32 = 17;

impl Engine {
    /// An engine that is suspended and has no memory: it neither follows nor serves anything before
    /// [`EarlierStatements::wake`](crate::EarlierStatements::wake). `clock` returns a monotonic time in nanoseconds.
    pub fn new(flavour: &'static Flavour, clock: fn() -> u64) -> Engine {
        let versions = Versions::new();
        Engine {
            flavour,
            cache: Cache::new(0),
            rows: Rows::new(&versions, ROW_BITS, BLOCK_BITS),
            versions,
            tables: Tables::default(),
            catalogue: Catalogue::default(),
            contexts: Contexts::default(),
            settings: Settings::default(),
            counts: Counts::default(),
            reasons: Reasons::default(),
            insight: Insight::default(),
            mode: EngineMode::default(),
            shared_analyses: SharedAnalyses::default(),
            wants_catalogue: AtomicBool::new(false),
            look_ups: CatalogueLookUps::default(),
            uninstallation: Uninstallation::default(),
            repeats: Repeats::default(),
            ages: Ages::new(clock),
            late_results: LateResults::default(),
            feed: Feed::default(),
        }
    }

    /// The data about the server's product and series that the engine goes by.
    pub fn flavour(&self) -> &'static Flavour {
        self.flavour
    }

    pub fn cache(&self) -> &Cache {
        &self.cache
    }

    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    pub fn look_ups(&self) -> &CatalogueLookUps {
        &self.look_ups
    }

    pub fn uninstallation(&self) -> &Uninstallation {
        &self.uninstallation
    }

    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    pub fn reasons(&self) -> &Reasons {
        &self.reasons
    }

    pub fn insight(&self) -> &Insight {
        &self.insight
    }

    pub fn mode(&self) -> &EngineMode {
        &self.mode
    }

    /// Counts repeated statements while the engine is in light mode, to find out whether serving would pay off again.
    pub fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    pub(crate) fn shared_analyses(&self) -> &SharedAnalyses {
        &self.shared_analyses
    }

    pub(crate) fn late_results(&self) -> &LateResults {
        &self.late_results
    }

    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    pub(crate) fn ages(&self) -> &Ages {
        &self.ages
    }

    /// Drops all stored results and those waiting to be stored, and frees their memory. Results of reads that are running may
    /// still be stored.
    pub fn drop_results(&self) {
        self.drop_late_results();
        self.cache.clear();
    }

    /// Drops all results, and lets nothing that is known of the server's tables and views count any more. Needed when the
    /// plugin is loaded a second time into the same process.
    pub fn forget(&self) {
        self.versions.advance(Versions::EVERYTHING);
        self.drop_results();
        self.catalogue.invalidate();
    }

    /// Examines this many segments of the cache, at each call the next ones, and drops results that can no longer be served to
    /// any client.
    pub fn sweep(&self, segments: usize) {
        self.cache.sweep(|entry| self.is_alive(Basis::of(entry)), segments);
    }

    /// Marks what is known of the server's catalogue as stale, and asks the host to query it again. Must be called before
    /// results that depend on the changed definitions may be stored again.
    pub fn invalidate_catalogue(&self) {
        self.catalogue.invalidate();
        self.want_catalogue();
    }

    /// Asks the host (the plugin) to query the server's catalogue soon. Does not wait.
    pub fn want_catalogue(&self) {
        self.wants_catalogue.store(true, Ordering::Release);
    }

    /// Returns whether anything has asked for the server's catalogue since the last call, and forgets that. If true, the host
    /// must query the server.
    pub fn is_catalogue_wanted(&self) -> bool {
        self.wants_catalogue.load(Ordering::Relaxed) && self.wants_catalogue.swap(false, Ordering::AcqRel)
    }

    /// Counts a read that was not cached. `ns` is the time in nanoseconds that the server took for it, or 0 if unknown.
    pub fn note_refusal(&self, reason: impl Into<Reason>, ns: u64) {
        self.counts.not_cached.add(1);
        self.reasons.count(reason.into(), ns);
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.ages.now_ns()
    }

    /// True if a result that depends on these cells and was read at this stamp may still be served: it is current, or a
    /// rule lets it outlive writes.
    pub(crate) fn is_alive(&self, basis: Basis) -> bool {
        basis.is_alive(&self.versions, &self.ages)
    }

    /// The key column that identifies the rows of a table for tracking. None if its rows are not tracked, or cannot be now: a
    /// statement then depends on the whole table, or changes it. To be called again for each statement.
    pub fn key_of(&self, table: &Table) -> Option<Arc<KeyColumn>> {
        let is_settled = !table.is_being_defined() && self.versions.is_open(Versions::EVERYTHING);
        if !is_settled || !self.settings.tracks_rows() || !self.settings.has_case_sensitive_names() {
            return None;
        }
        // The era is read last: a thread that finds a definition ended also sees the new era that it caused.
        table.key(self.catalogue.generation())
    }

    /// Returns a number for the global variables and privileges that were in force all the time since `inherited` was read.
    /// Equal numbers mean that they are the same. If they may have changed in between, the number is private: no other session
    /// gets it.
    pub(crate) fn number_of(&self, inherited: u64) -> u64 {
        let is_certain = self.mode.is_awake() && self.settings.is_unchanged_since(inherited);
        if is_certain { inherited } else { OF_ONE | self.contexts.private() }
    }

    /// Periodic step, to be called several times a second: prepares memory for results, and updates the statistics that decide
    /// which results are worth storing.
    pub fn tick(&self) {
        self.cache.make_ready();
        self.insight.tick(&self.cache, self.moment());
        if self.insight.has_ttl() {
            self.ages.note(&self.versions);
        }
    }

    fn moment(&self) -> Moment {
        let observed = self.insight.observed.total_since_load();
        let others = [&self.counts.hits, &self.counts.inserts, &self.insight.passed_over]
            .map(FlushableCounter::total_since_load);
        Moment {
            requests: observed + others.iter().sum::<u64>(),
            observed,
            is_trial: self.settings.observes(),
            // The memory for trials is left out: it is used by test sessions, which predict nothing.
            size_bytes: self.settings.size(),
            now_ns: self.now_ns(),
        }
    }

    pub(crate) fn flush_status(&self) {
        // Events since the last tick belong to the counts that are being reset.
        self.insight.curve.tick(self.moment());
        self.counts.flush();
        self.reasons.flush();
        self.insight.flush();
    }

    /// True if any session can be served, or if its benefit is to be measured (observation). If false for some time, the host
    /// suspends the engine.
    pub fn is_wanted(&self) -> bool {
        self.settings.global_type() != 0 || self.settings.observes() || self.mode.has_interested_sessions()
    }

    /// The memory limit of the cache in bytes: `fqc_size`, or a small amount if that is 0 but a session tries the cache out.
    pub fn memory_bytes(&self) -> u64 {
        match self.settings.size() {
            0 if self.mode.has_trials() => TRIAL_BYTES,
            size => size,
        }
    }

    /// Wakes the engine: forgets all results and what is known of tables, and from here on follows every statement that begins.
    /// Near caches may attach again.
    pub(crate) fn wake(&self) {
        self.forget();
        self.mode.wake();
        self.feed.admit(true);
    }

    /// Suspends the engine: it follows and serves nothing, and drops all results. Blocks until no near cache may serve results
    /// any more. Must not be called by two threads at once, nor while the engine is already suspended.
    pub fn suspend(&self) {
        self.feed.admit(false);
        self.detach_all();
        self.mode.suspend();
        self.drop_results();
    }

    /// Puts the engine into light mode: it drops all results, serves nothing, and follows sessions by their packets only.
    /// Blocks until no near cache may serve results any more. Must not be called by two threads at once, and only while the
    /// engine is awake.
    pub fn enter_light_mode(&self) {
        self.feed.admit(false);
        self.detach_all();
        self.mode.enter_light_mode();
        self.drop_results();
    }
}

/// The bit that is set in the numbers of contexts and privileges that belong to one session alone.
pub(crate) const OF_ONE: u64 = 1 << 63;
