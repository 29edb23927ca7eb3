//! Results that a rule keeps alive through writes, for a time that it says.
//!
//! Invariants:
//! - what is told was true within that time: ages are counted from before the result's statement reached the server;
//! - definitions, privileges and settings end it at once, and a transaction is told only what still is true;
//! - without such a rule nothing is different: this is asked only of results that are outdated, and says no.

use crate::engine::Engine;
use crate::engine::tables::{definition_of, table_cells};
use crate::entries::layout::Layout;
use crate::session::Session;
use crate::statement::recording::Recording;
use crate::transaction::state::Admission;
use cache::{CellId, Entry, Stamp};

/// What a result depends on, and since when.
#[derive(Clone, Copy)]
pub(crate) struct Basis<'a> {
    pub cells: &'a [CellId],
    pub stamp: Stamp,
    pub layout: Layout,
}

impl<'a> Basis<'a> {
    pub fn of(entry: &Entry<'a>) -> Basis<'a> {
        Basis { cells: entry.cells(), stamp: entry.stamp(), layout: Layout(entry.flags()) }
    }

    /// Whether the result can be told to anyone.
    pub fn is_alive(self, engine: &Engine) -> bool {
        engine.versions.is_fresh(self.cells, self.stamp) || self.lasts(engine)
    }

    /// Whether a rule lets it live, although it may be outdated.
    fn lasts(self, engine: &Engine) -> bool {
        let is_young = |seconds| engine.insight.is_younger(engine, self.stamp, seconds);
        self.layout.lasts_seconds().is_some_and(is_young) && self.is_defined_as_then(engine)
    }

    fn is_defined_as_then(self, engine: &Engine) -> bool {
        let is_as_then = |cells: &[CellId]| engine.versions.is_fresh(cells, self.stamp);
        let mut tables = table_cells(self.cells, self.layout.is_by_rows());
        is_as_then(&[]) && tables.all(|table| is_as_then(&[definition_of(table)]))
    }
}

impl Session {
    /// An outdated result is told nevertheless.
    #[cold]
    pub(crate) fn tells_outdated(&self, engine: &Engine, basis: Basis) -> bool {
        let is_admitted = || self.transaction.admit(&engine.versions, basis.cells, false) == Admission::Serve;
        self.is_outside() && basis.lasts(engine) && is_admitted()
    }

    /// Whether a result may be stored, as far as changes since it was asked for are concerned. What outlives writes may be
    /// older than one.
    pub(crate) fn may_still_store(&self, engine: &Engine, recording: &Recording) -> bool {
        let layout = Layout::default().by_rows(recording.is_by_rows);
        let basis = Basis { cells: &recording.cells, stamp: recording.stamp, layout };
        let may_outlive = recording.lasts_seconds.is_some() && self.is_outside();
        basis.is_alive(engine) || may_outlive && basis.is_defined_as_then(engine)
    }

    /// No transaction promises anything.
    fn is_outside(&self) -> bool {
        self.transaction.autocommit && !self.transaction.has_begun()
    }
}
