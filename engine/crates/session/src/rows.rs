//! The rows that a statement touches, as cells: told from its text, where the catalogue allows it.
//!
//! A write of known rows closes the cell of any change to its table, and those of its rows and their blocks. A read of known
//! rows depends on these and on the cell of unknown changes, which every other write closes.
//! Invariants:
//! - what the catalogue says of a table is believed only while nothing is being defined, and read after that was made sure;
//! - what is told from the text holds for the table that the text names, in the database where it was read, and for no other
//!   table that the statement touches.

use crate::engine::Engine;
use crate::engine::tables::{Table, Verdict};
use crate::session::Session;
use crate::statement::rows::{CELLS_OF_ROW, is_named, row_cells};
use crate::statement::running::Running;
use crate::statement::terms::{Terms, Wording};
use crate::text::reading::Reading;
use footprint::Keys;
use sql::touched::Written;
use sql::{Kind, Numbers, Refusal};
use std::sync::Arc;
use wire::{Execute, Outcome, OutcomeKind};

/// Rows of one write; of more, none is told apart.
const MOST_WRITTEN: usize = 64;
/// Cells that a transaction remembers before it stops telling rows apart.
pub(crate) const MOST_REMEMBERED: usize = 192;
/// Bytes of a text that is looked at.
const LONGEST: usize = 16 * 1024;

enum Touched {
    /// Those with these keys.
    Rows(Vec<i128>),
    Generated,
}

/// A write, or a read that locks rows as a write does.
fn may_write_rows(kind: &Kind) -> bool {
    matches!(kind, Kind::Write) || matches!(kind, Kind::Read(read) if read.refusal == Some(Refusal::LockingRead))
}

impl Session {
    /// Where the numbers are in the text that was read last, if its rows may be asked for.
    pub(crate) fn numbers_of_write(&self, reading: &Reading) -> Option<Numbers> {
        may_write_rows(&reading.statement.kind).then_some(self.recent.numbers)
    }

    /// A write goes to the server, or a read that locks rows as a write does: its text is kept until the server locks its tables.
    /// `numbers`: those of the text, if it is not a prepared statement's.
    pub(crate) fn note_wording<T>(
        &mut self,
        engine: &Engine,
        reading: &Arc<Reading>,
        (text, terms): (T, Terms),
        numbers: Option<Numbers>,
    ) where
        T: AsRef<[u8]> + Into<Arc<[u8]>>,
    {
        let is_told =
            may_write_rows(&reading.statement.kind) && engine.settings().is_on() && text.as_ref().len() <= LONGEST;
        if let Some(running) = self.work.running.as_mut().filter(|_| is_told) {
            running.wording = Some(Wording { text: text.into(), terms, reading: reading.clone(), numbers });
        }
    }

    pub(crate) fn own_terms(&self) -> Terms {
        let is_certain = self.identity.variables().are_certain();
        Terms { mode: self.identity.mode(), is_certain, database: None, bound: Vec::new() }
    }

    /// Those of a statement that is prepared now, whatever is set later.
    pub(crate) fn lasting_terms(&self) -> Terms {
        let database = self.identity.known_database().unwrap_or_default();
        Terms { database: Some(database.into()), ..self.own_terms() }
    }

    /// The terms of a prepared statement that is executed; of values that came in pieces nothing is told.
    pub(crate) fn bound_terms(&mut self, execute: &Execute) -> Option<Terms> {
        let prepared = self.statements.get_mut(execute.id)?;
        let params = execute.params(prepared.parameters, &prepared.types).filter(|_| !prepared.has_long_data);
        let bound = params.map_or(Vec::new(), |params| params.iter().map(|param| param.integer()).collect());
        Some(Terms { bound, ..prepared.terms.clone() })
    }

    /// The running statement locks a table for writing.
    pub(crate) fn close_written_table(&mut self, engine: &Engine, table: &Arc<Table>) {
        let has_closed = !self.writes.is_empty();
        self.close_touched(engine, table);
        if let Some(running) = &mut self.work.running {
            let before = running.written_alone.take().filter(|(alone, _)| alone.whole == table.whole);
            let is_alone = !has_closed || before.is_some();
            running.written_alone = is_alone.then(|| (table.clone(), self.writes.cells().len()));
        }
    }

    fn close_touched(&mut self, engine: &Engine, table: &Arc<Table>) {
        let touched = self.touched(engine, table);
        if let Some(Touched::Rows(keys)) = touched {
            self.writes.close(engine, table.any);
            let cells = keys.into_iter().flat_map(|key| row_cells(engine, table, key));
            return cells.for_each(|cell| self.writes.close(engine, cell));
        }
        let was_closed = self.writes.is_closed(table.whole);
        self.writes.close_table(engine, table);
        let Some(running) = &mut self.work.running else { return };
        match touched {
            Some(_) if !was_closed => running.generated = Some(table.clone()),
            Some(_) => {}
            None => _ = running.generated.take_if(|generated| generated.whole == table.whole),
        }
    }

    fn touched(&self, engine: &Engine, table: &Table) -> Option<Touched> {
        let wording = self.work.running.as_ref()?.wording.as_ref().filter(|_| !self.temporary.may_exist())?;
        let terms = &wording.terms;
        let key = engine.key_of(table).filter(|_| terms.is_certain)?;
        let current = self.identity.known_database();
        let keys = match wording.written(&key, |named| is_named(table, named, terms, current))? {
            Written::Generated => return Some(Touched::Generated),
            Written::Keys(Keys::Points(keys)) if keys.len() <= MOST_WRITTEN => keys,
            Written::Keys(keys) => keys.points(MOST_WRITTEN)?,
        };
        let fits = self.transaction.written.len() + CELLS_OF_ROW * keys.len() <= MOST_REMEMBERED;
        fits.then_some(Touched::Rows(keys))
    }

    /// A row whose key the server made up: it is told now, and nothing else has changed.
    pub(crate) fn narrow(&mut self, engine: &Engine, table: &Table, outcome: &Outcome) {
        let is_one = matches!(outcome.kind, OutcomeKind::Ok) && outcome.affected_rows == 1;
        if !is_one || outcome.last_insert_id == 0 || self.writes.is_locked {
            return;
        }
        for cell in row_cells(engine, table, outcome.last_insert_id.into()) {
            self.writes.close(engine, cell);
        }
        self.writes.reopen_one(engine, table.whole);
    }

    /// The response says that the write changed no row, so what it closed is as it was. Triggers and routines could have changed
    /// another table only by locking that for writing, too.
    pub(crate) fn reopen_if_unchanged(&mut self, engine: &Engine, running: &Running, outcome: &Outcome) {
        let has_changed = !matches!(outcome.kind, OutcomeKind::Ok) || outcome.affected_rows > 0 || outcome.results > 0;
        let Some(((table, cells), wording)) = running.written_alone.as_ref().zip(running.wording.as_ref()) else {
            return;
        };
        if has_changed || self.writes.is_locked || self.writes.cells().len() != *cells {
            return;
        }
        let is_of_innodb = table.verdict(engine.catalogue().generation()) == Verdict::Snapshot;
        if is_of_innodb && wording.terms.is_certain && wording.reading.counts_changes() {
            self.writes.reopen(engine);
        }
    }
}
