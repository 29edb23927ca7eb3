//! The version cells that this session keeps closed, and the order in which they are opened again. While a cell is closed, no
//! result that depends on it is served or stored.

use crate::engine::Engine;
use crate::engine::tables::Table;
use cache::{CellId, Versions};
use std::sync::Arc;

/// The version cells that one session, or one thread without a client, keeps closed, because a statement may be changing what
/// they stand for.
#[derive(Default)]
pub struct Writes {
    closed: Vec<CellId>,
    /// LOCK TABLES is in force. Closed cells stay closed until it ends.
    pub is_locked: bool,
    /// Tables that the running statement may define. What the catalogue says of them does not hold any more when it ends.
    defined: Vec<Arc<Table>>,
    /// The running statement may define anything, so that the catalogue is stale when it ends.
    defines: bool,
    /// Near caches were not informed about all closed cells yet.
    is_unannounced: bool,
    /// Cells that were opened without a change. Near caches do not know that yet.
    reopened: Vec<CellId>,
}

impl Writes {
    /// Closes a version cell, unless this session has closed it already: until `open`, no result that depends on the cell is
    /// served or stored. `announce` must follow before anything can change.
    pub fn close(&mut self, engine: &Engine, cell: CellId) {
        if !self.closed.contains(&cell) {
            engine.versions().close(cell);
            self.closed.push(cell);
            self.is_unannounced = true;
        }
    }

    /// Informs near caches about the closed cells. Must be called before anything that these cells stand for can change. Blocks
    /// until no near cache can serve results that depend on them.
    #[inline]
    pub fn announce(&mut self, engine: &Engine) {
        if std::mem::take(&mut self.is_unannounced) {
            engine.announce_closed(&self.closed);
        }
    }

    /// Closes the version cells of a table for a change of rows that are not known: no result from the table is current from
    /// here on.
    pub fn close_table(&mut self, engine: &Engine, table: &Table) {
        self.close(engine, table.any_change);
        self.close(engine, table.unknown_change);
    }

    /// Closes the version cells of a table that the statement may define: those for its rows, and the one for its definition.
    pub fn close_defined(&mut self, engine: &Engine, table: Arc<Table>) {
        table.begin_definition();
        self.close_table(engine, &table);
        self.close(engine, table.definition);
        self.defined.push(table);
    }

    /// Closes the cell that every result depends on, because the statement may change privileges, what new sessions inherit
    /// and, if `defines`, the catalogue.
    pub fn close_everything(&mut self, engine: &Engine, defines: bool) {
        self.defines |= defines;
        if !self.is_closed(Versions::EVERYTHING) {
            engine.settings().begin_change();
            self.close(engine, Versions::EVERYTHING);
        }
    }

    /// True if this session keeps this version cell closed.
    pub fn is_closed(&self, cell: CellId) -> bool {
        self.closed.contains(&cell)
    }

    /// True if this session keeps no version cell closed.
    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    /// The version cells that this session keeps closed, in no particular order.
    pub fn cells(&self) -> &[CellId] {
        &self.closed
    }

    /// Invalidates once more what depends on the closed cells, because bytes of a response are about to be sent while the
    /// statement is still running.
    pub fn advance(&self, engine: &Engine) {
        for cell in &self.closed {
            engine.versions().advance(*cell);
        }
    }

    /// Opens the closed cells after the statement has ended: what depends on them is invalidated, and may be computed and
    /// stored again. Under LOCK TABLES the cells of tables stay closed.
    pub fn open(&mut self, engine: &Engine) {
        for table in self.defined.drain(..) {
            table.redefine();
            engine.catalogue().note_definition();
        }
        self.open_everything(engine);
        if self.is_locked {
            self.advance(engine);
            return;
        }
        engine.counts().invalidations.add(self.closed.len() as u64);
        engine.versions().open_all(&self.closed);
        engine.announce_opened(&self.closed, &self.reopened);
        self.closed.clear();
        self.reopened.clear();
    }

    /// Opens one cell without a change, so that what depends on it is current again: what it stands for has not changed after
    /// all.
    pub fn reopen_one(&mut self, engine: &Engine, cell: CellId) {
        if let Some(at) = self.closed.iter().position(|closed| *closed == cell) {
            // Near caches must know the cells that are closed instead before this one opens. No wait is needed, because they
            // were waited for when this one was closed.
            if std::mem::take(&mut self.is_unannounced) {
                engine.announce_narrowed(&self.closed);
            }
            self.closed.swap_remove(at);
            engine.versions().reopen(cell);
            self.reopened.push(cell);
        }
    }

    /// Opens all closed cells without a change, so that what depends on them is current again, because the statement has
    /// changed nothing.
    pub fn reopen(&mut self, engine: &Engine) {
        self.defined.drain(..).for_each(|table| table.end_definition());
        self.defines = false;
        for cell in &self.closed {
            engine.versions().reopen(*cell);
            if *cell == Versions::EVERYTHING {
                engine.settings().end_change();
            }
        }
        self.closed.append(&mut self.reopened);
        engine.announce_opened(&[], &self.closed);
        self.closed.clear();
    }

    /// Opens the cell that every result depends on, if it is closed. The cells of tables stay closed.
    pub fn open_everything(&mut self, engine: &Engine) {
        if let Some(at) = self.closed.iter().position(|cell| *cell == Versions::EVERYTHING) {
            self.closed.swap_remove(at);
            if std::mem::take(&mut self.defines) {
                engine.invalidate_catalogue();
            }
            engine.versions().open(Versions::EVERYTHING);
            engine.announce_opened(&[Versions::EVERYTHING], &[]);
            engine.settings().end_change();
        }
    }
}
