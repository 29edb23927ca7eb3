//! What all sessions of a server share: the store, the versions, the tables, the settings and the counters.

pub mod catalogue;
pub mod counts;
pub mod departure;
pub mod durations;
pub mod feed;
pub mod insight;
pub mod late;
pub(crate) mod marks;
pub mod near_counts;
pub mod questions;
pub mod settings;
pub mod tables;
pub mod vigil;

use crate::engine::catalogue::Catalogue;
use crate::engine::counts::Counts;
use crate::engine::departure::Departure;
use crate::engine::feed::Feed;
use crate::engine::insight::Insight;
use crate::engine::late::Late;
use crate::engine::questions::Questions;
use crate::engine::settings::Settings;
use crate::engine::tables::{Table, Tables};
use crate::engine::vigil::{TRIAL_BYTES, Vigil};
use crate::entries::ages::Ages;
use crate::entries::lasting::Basis;
use crate::identity::contexts::Contexts;
use crate::reason::{Reason, Reasons};
use crate::tally::Tally;
use crate::text::readings::Readings;
use ::insight::{Moment, Repeats};
use cache::{Cache, Rows, Versions};
use flavour::Flavour;
use footprint::KeyColumn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub struct Engine {
    flavour: &'static Flavour,
    cache: Cache,
    /// Its cell of everything is closed by whatever may touch anything (DDL, privileges, globals).
    versions: Versions,
    rows: Rows,
    tables: Tables,
    catalogue: Catalogue,
    contexts: Contexts,
    settings: Settings,
    counts: Counts,
    reasons: Reasons,
    insight: Insight,
    vigil: Vigil,
    readings: Readings,
    /// Someone waits for the catalogue to be read, or for a table's verdict.
    wants_catalogue: AtomicBool,
    questions: Questions,
    departure: Departure,
    repeats: Repeats,
    ages: Ages,
    late: Late,
    feed: Feed,
}

/// A million cells for rows and an eighth of that for blocks of them: nine megabytes when all are in use.
const ROW_BITS: u32 = 20;
const BLOCK_BITS: u32 = 17;

impl Engine {
    /// `clock`: monotonic, in nanoseconds.
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
            vigil: Vigil::default(),
            readings: Readings::default(),
            wants_catalogue: AtomicBool::new(false),
            questions: Questions::default(),
            departure: Departure::default(),
            repeats: Repeats::default(),
            ages: Ages::new(clock),
            late: Late::default(),
            feed: Feed::default(),
        }
    }

    /// What the server is.
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

    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    pub fn departure(&self) -> &Departure {
        &self.departure
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

    pub fn vigil(&self) -> &Vigil {
        &self.vigil
    }

    /// What comes again while the engine dozes.
    pub fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    pub(crate) fn readings(&self) -> &Readings {
        &self.readings
    }

    pub(crate) fn late(&self) -> &Late {
        &self.late
    }

    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    pub(crate) fn ages(&self) -> &Ages {
        &self.ages
    }

    /// Drops what is stored and what waits to be, and gives the memory back.
    pub fn drop_results(&self) {
        self.drop_late();
        self.cache.clear();
    }

    /// Forgets everything that was known of the server: for a second load into the same process.
    pub fn forget(&self) {
        self.versions.advance(Versions::EVERYTHING);
        self.drop_results();
        self.catalogue.outdate();
    }

    /// Drops results that nobody can be told any more, of so many segments of the cache.
    pub fn sweep(&self, segments: usize) {
        self.cache.sweep(|entry| self.is_alive(Basis::of(entry)), segments);
    }

    /// What was known of the catalogue is outdated. To be called before the cells of the change are opened.
    pub fn outdate_catalogue(&self) {
        self.catalogue.outdate();
        self.want_catalogue();
    }

    pub fn want_catalogue(&self) {
        self.wants_catalogue.store(true, Ordering::Release);
    }

    /// Whether the catalogue has been wanted since this was last asked.
    pub fn is_catalogue_wanted(&self) -> bool {
        self.wants_catalogue.load(Ordering::Relaxed) && self.wants_catalogue.swap(false, Ordering::AcqRel)
    }

    /// `ns`: how long the server took for the statement, if that is known.
    pub fn note_refusal(&self, reason: impl Into<Reason>, ns: u64) {
        self.counts.not_cached.add(1);
        self.reasons.count(reason.into(), ns);
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.ages.now_ns()
    }

    /// Whether a result that depends on this can be told to anyone.
    pub(crate) fn is_alive(&self, basis: Basis) -> bool {
        basis.is_alive(&self.versions, &self.ages)
    }

    /// The column that tells a table's rows apart, if rows are told apart at all.
    pub fn key_of(&self, table: &Table) -> Option<Arc<KeyColumn>> {
        let is_settled = !table.is_being_defined() && self.versions.is_open(Versions::EVERYTHING);
        if !is_settled || !self.settings.tells_rows() || !self.settings.tells_case() {
            return None;
        }
        // The era comes last: who finds a definition ended finds what it left behind.
        table.key(self.catalogue.generation())
    }

    /// The number of the globals and privileges that were in force from when `inherited` was noted until now: another one than
    /// any other's if they may have changed meanwhile.
    pub(crate) fn number_of(&self, inherited: u64) -> u64 {
        let is_certain = self.vigil.is_awake() && self.settings.is_unchanged_since(inherited);
        if is_certain { inherited } else { OF_ONE | self.contexts.private() }
    }

    /// To be called several times a second.
    pub fn tick(&self) {
        self.cache.make_ready();
        self.insight.tick(&self.cache, self.moment());
        if self.insight.has_ttl() {
            self.ages.note(&self.versions);
        }
    }

    fn moment(&self) -> Moment {
        let observed = self.insight.observed.ever();
        let others = [&self.counts.hits, &self.counts.inserts, &self.insight.passed_over].map(Tally::ever);
        Moment {
            requests: observed + others.iter().sum::<u64>(),
            observed,
            is_trial: self.settings.observes(),
            // Not the memory of trials: what they ask for predicts nothing.
            size_bytes: self.settings.size(),
            now_ns: self.now_ns(),
        }
    }

    pub(crate) fn flush_status(&self) {
        // What came since the last tick belongs to what is forgotten.
        self.insight.curve.tick(self.moment());
        self.counts.flush();
        self.reasons.flush();
        self.insight.flush();
    }

    /// Whether anybody could be served, or wants to know how it would be.
    pub fn is_wanted(&self) -> bool {
        self.settings.global_type() != 0 || self.settings.observes() || self.vigil.is_wished_for()
    }

    /// What the cache may take: `fqc_size`, or a little for those who try it out without one.
    pub fn memory_bytes(&self) -> u64 {
        match self.settings.size() {
            0 if self.vigil.has_trials() => TRIAL_BYTES,
            size => size,
        }
    }

    /// What was known is forgotten, and statements that begin from here on are followed.
    pub(crate) fn begin_epoch(&self) {
        self.forget();
        self.vigil.wake();
        self.feed.admit(true);
    }

    /// To be called by one thread at a time, unless asleep.
    pub fn rest(&self) {
        self.feed.admit(false);
        self.detach_all();
        self.vigil.sleep();
        self.drop_results();
    }

    /// To be called by one thread at a time, while awake: from here on sessions are followed by their bytes alone.
    pub fn doze(&self) {
        self.feed.admit(false);
        self.detach_all();
        self.vigil.doze();
        self.drop_results();
    }
}

/// Marks numbers that are those of one session.
pub(crate) const OF_ONE: u64 = 1 << 63;
