//! Results that stay alive after a write to their tables, for a time that a rule sets.
//!
//! Invariants:
//! - such a result was current within that time: its age counts from before its statement reached the server;
//! - changes of definitions, privileges or settings end it at once, and a transaction is served only current results;
//! - without such a rule nothing changes: the check runs only for stale results, and then fails.

use crate::entries::ages::Ages;
use crate::entries::cells::{definition_of, table_cells};
use crate::entries::layout::Layout;
use cache::{CellId, Entry, Stamp, Versions};

/// What decides whether a result is current: the cells that it depends on, and its stamp. It is current while none of
/// the cells has changed since the stamp.
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

    /// True if the result may still be served: it is current, or a rule keeps it alive.
    pub fn is_alive(self, versions: &Versions, ages: &Ages) -> bool {
        versions.is_fresh(self.cells, self.stamp) || self.may_be_served_stale(versions, ages)
    }

    /// True if a rule lets the result be served although it may be stale: it is not too old, and neither its tables nor
    /// anything that affects all sessions was redefined since.
    pub fn may_be_served_stale(self, versions: &Versions, ages: &Ages) -> bool {
        let is_young = |seconds| ages.is_younger(self.stamp, seconds);
        self.layout.stale_seconds().is_some_and(is_young) && self.is_defined_as_then(versions)
    }

    /// True if neither the definitions of its tables nor anything that affects all sessions has changed since its
    /// stamp.
    pub fn is_defined_as_then(self, versions: &Versions) -> bool {
        let is_as_then = |cells: &[CellId]| versions.is_fresh(cells, self.stamp);
        let mut tables = table_cells(self.cells, self.layout.is_by_rows());
        is_as_then(&[]) && tables.all(|table| is_as_then(&[definition_of(table)]))
    }
}
