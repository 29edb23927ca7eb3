//! Results that a rule keeps alive through writes, for a time that it says.
//!
//! Invariants:
//! - such a result was true within that time: its age counts from before its statement reached the server;
//! - changes to definitions, privileges or settings end it at once, and a transaction gets only what is still true;
//! - without such a rule nothing changes: this is checked only for outdated results, and the answer is no.

use crate::entries::ages::Ages;
use crate::entries::cells::{definition_of, table_cells};
use crate::entries::layout::Layout;
use cache::{CellId, Entry, Stamp, Versions};

/// What a result depends on, and since when.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    pub cells: &'a [CellId],
    pub stamp: Stamp,
    pub layout: Layout,
}

impl<'a> Basis<'a> {
    pub fn of(entry: &Entry<'a>) -> Basis<'a> {
        Basis { cells: entry.cells(), stamp: entry.stamp(), layout: Layout(entry.flags()) }
    }

    /// Whether the result may be served to anyone.
    pub fn is_alive(self, versions: &Versions, ages: &Ages) -> bool {
        versions.is_fresh(self.cells, self.stamp) || self.lasts(versions, ages)
    }

    /// Whether a rule lets it live, although it may be outdated.
    pub fn lasts(self, versions: &Versions, ages: &Ages) -> bool {
        let is_young = |seconds| ages.is_younger(self.stamp, seconds);
        self.layout.lasts_seconds().is_some_and(is_young) && self.is_defined_as_then(versions)
    }

    pub fn is_defined_as_then(self, versions: &Versions) -> bool {
        let is_as_then = |cells: &[CellId]| versions.is_fresh(cells, self.stamp);
        let mut tables = table_cells(self.cells, self.layout.is_by_rows());
        is_as_then(&[]) && tables.all(|table| is_as_then(&[definition_of(table)]))
    }
}
