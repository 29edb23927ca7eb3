//! The rows that a statement touches, as cells. They are derived from its text, if the catalogue says enough about the table.
//!
//! A write of known rows closes three kinds of cells: any change of its table, each of its rows, and the blocks of these rows. A
//! read of known rows depends on the cells of its rows or blocks, and on the cell of unknown changes, which every other write
//! closes.
//! Invariants:
//! - what the catalogue says about a table is used only while nothing is being defined, and is read after that was checked;
//! - what follows from the text holds only for the table that the text names, in the database where it was parsed, and for no
//!   other table that the statement touches.

use crate::engine::Engine;
use crate::engine::tables::{Table, Verdict};
use crate::session::Session;
use crate::statement::parse_context::{ParseContext, RunningWrite};
use crate::statement::rows::{CELLS_OF_ROW, is_named, row_cells};
use crate::statement::running::Running;
use crate::text::analysis::Analysis;
use footprint::Keys;
use sql::touched::WrittenRows;
use sql::{Kind, Numbers, Refusal};
use std::sync::Arc;
use wire::{Execute, Outcome, OutcomeKind};

/// Largest number of rows of one write that are tracked. A write of more rows closes the whole table.
const MOST_WRITTEN: usize = 64;
/// Largest number of version cells that a transaction remembers as written. Beyond it, its writes close whole tables.
pub(crate) const MOST_REMEMBERED: usize = 192;
/// Longest text in bytes that is examined for the rows it touches.
const LONGEST: usize = 16 * 1024;

/// The rows that a write may touch.
enum Touched {
    /// The rows with these keys.
    Rows(Vec<i128>),
    /// One new row, whose key the server generates and reports in the response.
    Generated,
}

/// True for a write, and for a read that locks rows like a write (SELECT ... FOR UPDATE).
fn may_write_rows(kind: &Kind) -> bool {
    matches!(kind, Kind::Write) || matches!(kind, Kind::Read(read) if read.refusal == Some(Refusal::LockingRead))
}

impl Session {
    /// Returns the positions of the numbers in the text that was parsed last, if it may write rows. To be called before the next text is
    /// parsed. None for other statements.
    pub(crate) fn numbers_of_write(&self, analysis: &Analysis) -> Option<Numbers> {
        may_write_rows(&analysis.statement.kind).then_some(self.recent_analyses.numbers)
    }

    /// Keeps the text of a write, or of a read that locks rows like a write, until the server locks its tables; does nothing for other
    /// statements. To be called after the statement was noted as running. `numbers` are the positions of numbers in the text; none for a
    /// prepared statement.
    pub(crate) fn note_running_write<T>(
        &mut self,
        engine: &Engine,
        analysis: &Arc<Analysis>,
        (text, parse_context): (T, ParseContext),
        numbers: Option<Numbers>,
    ) where
        T: AsRef<[u8]> + Into<Arc<[u8]>>,
    {
        let is_state_known =
            may_write_rows(&analysis.statement.kind) && engine.settings().is_on() && text.as_ref().len() <= LONGEST;
        if let Some(running) = self.work.running.as_mut().filter(|_| is_state_known) {
            running.running_write =
                Some(RunningWrite { text: text.into(), parse_context, analysis: analysis.clone(), numbers });
        }
    }

    /// How a text that this session sends now is to be parsed. Its database is that of the session, whichever that is when it is needed.
    pub(crate) fn own_parse_context(&self) -> ParseContext {
        let is_certain = self.identity.variables().are_certain();
        ParseContext { mode: self.identity.mode(), is_certain, database: None, bound: Vec::new() }
    }

    /// Returns how a text that is being prepared is to be parsed, with the current database fixed: a later USE does not
    /// change what the names in a prepared statement mean.
    pub(crate) fn fixed_parse_context(&self) -> ParseContext {
        let database = self.identity.known_database().unwrap_or_default();
        ParseContext { database: Some(database.into()), ..self.own_parse_context() }
    }

    /// How the text of this prepared statement is to be parsed, with the integers that this execution binds. There are none if they cannot
    /// be read or were sent by COM_STMT_SEND_LONG_DATA. None if the statement is not known.
    pub(crate) fn bound_parse_context(&mut self, execute: &Execute) -> Option<ParseContext> {
        let prepared = self.statements.get_mut(execute.id)?;
        let params = execute.params(prepared.parameters, &prepared.types).filter(|_| !prepared.has_long_data);
        let bound = params.map_or(Vec::new(), |params| params.iter().map(|param| param.integer()).collect());
        Some(ParseContext { bound, ..prepared.parse_context.clone() })
    }

    /// Closes the version cells of what the running statement may change in a table that it has locked for writing: of certain rows if its
    /// text shows them, and otherwise of the whole table. Results that depend on them are neither served nor stored until the statement has
    /// ended.
    pub(crate) fn close_written_table(&mut self, engine: &Engine, table: &Arc<Table>) {
        let has_closed = !self.writes.is_empty();
        self.close_touched(engine, table);
        if let Some(running) = &mut self.work.running {
            let before = running.written_alone.take().filter(|(alone, _)| alone.unknown_change == table.unknown_change);
            let is_alone = !has_closed || before.is_some();
            running.written_alone = is_alone.then(|| (table.clone(), self.writes.cells().len()));
        }
    }

    fn close_touched(&mut self, engine: &Engine, table: &Arc<Table>) {
        let touched = self.touched(engine, table);
        if let Some(Touched::Rows(keys)) = touched {
            self.writes.close(engine, table.any_change);
            let cells = keys.into_iter().flat_map(|key| row_cells(engine, table, key));
            return cells.for_each(|cell| self.writes.close(engine, cell));
        }
        let was_closed = self.writes.is_closed(table.unknown_change);
        self.writes.close_table(engine, table);
        let Some(running) = &mut self.work.running else { return };
        match touched {
            Some(_) if !was_closed => running.generated = Some(table.clone()),
            Some(_) => {}
            None => _ = running.generated.take_if(|generated| generated.unknown_change == table.unknown_change),
        }
    }

    /// The rows of this table that the running statement may change. None if its text does not show them.
    fn touched(&self, engine: &Engine, table: &Table) -> Option<Touched> {
        let running_write =
            self.work.running.as_ref()?.running_write.as_ref().filter(|_| !self.temporary.may_exist())?;
        let parse_context = &running_write.parse_context;
        let key = engine.key_of(table).filter(|_| parse_context.is_certain)?;
        let current = self.identity.known_database();
        let keys = match running_write.written(&key, |named| is_named(table, named, parse_context, current))? {
            WrittenRows::Generated => return Some(Touched::Generated),
            WrittenRows::Keys(Keys::Points(keys)) if keys.len() <= MOST_WRITTEN => keys,
            WrittenRows::Keys(keys) => keys.points(MOST_WRITTEN)?,
        };
        let fits = self.transaction.written.len() + CELLS_OF_ROW * keys.len() <= MOST_REMEMBERED;
        fits.then_some(Touched::Rows(keys))
    }

    /// Called at the end of an INSERT that was to add one row with a generated key. If the response reports the key, only results that
    /// depend on this row remain invalid, and other results of the table can be served again. Otherwise does nothing.
    pub(crate) fn narrow(&mut self, engine: &Engine, table: &Table, outcome: &Outcome) {
        let is_one = matches!(outcome.kind, OutcomeKind::Ok) && outcome.affected_rows == 1;
        if !is_one || outcome.last_insert_id == 0 || self.writes.is_locked {
            return;
        }
        for cell in row_cells(engine, table, outcome.last_insert_id.into()) {
            self.writes.close(engine, cell);
        }
        self.writes.reopen_one(engine, table.unknown_change);
    }

    /// Called at the end of a statement. If the response says that the statement has changed no row of the only table, of InnoDB, that it
    /// has locked for writing, the results that were not served during the statement are served again. A trigger or routine could have
    /// changed another table only by locking it, too.
    pub(crate) fn reopen_if_unchanged(&mut self, engine: &Engine, running: &Running, outcome: &Outcome) {
        let has_changed = !matches!(outcome.kind, OutcomeKind::Ok) || outcome.affected_rows > 0 || outcome.results > 0;
        let Some(((table, cells), running_write)) = running.written_alone.as_ref().zip(running.running_write.as_ref())
        else {
            return;
        };
        if has_changed || self.writes.is_locked || self.writes.cells().len() != *cells {
            return;
        }
        let is_of_innodb = table.verdict(engine.catalogue().generation()) == Verdict::Snapshot;
        if is_of_innodb && running_write.parse_context.is_certain && running_write.analysis.counts_changes() {
            self.writes.reopen(engine);
        }
    }
}
