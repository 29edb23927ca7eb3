//! The tables that this session holds closed, and the order in which they open again.

use crate::engine::Engine;
use crate::engine::tables::Table;
use cache::{CellId, Versions};
use std::sync::Arc;

#[derive(Default)]
pub struct Writes {
    closed: Vec<CellId>,
    /// LOCK TABLES is in force: what is closed stays closed until it ends.
    pub is_locked: bool,
    /// Tables that the statement defines: what the catalogue said of them must be asked for again.
    defined: Vec<Arc<Table>>,
    /// It may define anything.
    defines: bool,
    /// Near caches have not been told of all that is closed.
    is_unannounced: bool,
    /// Opened, without near caches having been told.
    reopened: Vec<CellId>,
}

impl Writes {
    pub fn close(&mut self, engine: &Engine, cell: CellId) {
        if !self.closed.contains(&cell) {
            engine.versions().close(cell);
            self.closed.push(cell);
            self.is_unannounced = true;
        }
    }

    /// To be called before anything that was closed can change: returns when no near cache can serve anything of it.
    #[inline]
    pub fn announce(&mut self, engine: &Engine) {
        if std::mem::take(&mut self.is_unannounced) {
            engine.announce_closed(&self.closed);
        }
    }

    /// Rows of it that nobody knows change.
    pub fn close_table(&mut self, engine: &Engine, table: &Table) {
        self.close(engine, table.any);
        self.close(engine, table.whole);
    }

    pub fn close_defined(&mut self, engine: &Engine, table: Arc<Table>) {
        table.begin_definition();
        self.close_table(engine, &table);
        self.close(engine, table.definition);
        self.defined.push(table);
    }

    /// The statement may touch anything: privileges, what new sessions inherit, and if it `defines`, the catalogue.
    pub fn close_everything(&mut self, engine: &Engine, defines: bool) {
        self.defines |= defines;
        if !self.is_closed(Versions::EVERYTHING) {
            engine.settings().begin_change();
            self.close(engine, Versions::EVERYTHING);
        }
    }

    pub fn is_closed(&self, cell: CellId) -> bool {
        self.closed.contains(&cell)
    }

    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }

    pub fn cells(&self) -> &[CellId] {
        &self.closed
    }

    /// Bytes of a response are about to leave while the statement still runs.
    pub fn advance(&self, engine: &Engine) {
        for cell in &self.closed {
            engine.versions().advance(*cell);
        }
    }

    /// The statement has ended.
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

    /// What a cell stands for has not changed after all.
    pub fn reopen_one(&mut self, engine: &Engine, cell: CellId) {
        if let Some(at) = self.closed.iter().position(|closed| *closed == cell) {
            // Near caches must know what is closed in its place before it opens; they have been waited for by its own closing.
            if std::mem::take(&mut self.is_unannounced) {
                engine.announce_narrowed(&self.closed);
            }
            self.closed.swap_remove(at);
            engine.versions().reopen(cell);
            self.reopened.push(cell);
        }
    }

    /// The statement was refused before it began: what it closed is as it was.
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

    /// What could touch anything has ended; single tables stay closed.
    pub fn open_everything(&mut self, engine: &Engine) {
        if let Some(at) = self.closed.iter().position(|cell| *cell == Versions::EVERYTHING) {
            self.closed.swap_remove(at);
            if std::mem::take(&mut self.defines) {
                engine.outdate_catalogue();
            }
            engine.versions().open(Versions::EVERYTHING);
            engine.announce_opened(&[Versions::EVERYTHING], &[]);
            engine.settings().end_change();
        }
    }
}
