//! A server thread whose packets are not seen: a connection that is older than the plugin or compressed, an event, a replication
//! applier.
//!
//! An unfollowed thread is served nothing, but its writes count. The cells of tables that it locks for writing stay closed until the
//! server shows that its transaction has ended. If its past is unknown, every statement may end a transaction that has written
//! anything.

use crate::engine::Engine;
use crate::engine::tables::{Table, Verdict};
use crate::report::{Report, SessionState};
use crate::rows::MOST_REMEMBERED;
use crate::statement::rows::row_cells;
use crate::text::kinds::closing;
use crate::transaction::writes::Writes;
use footprint::KeyColumn;
use sql::{Kind, LexMode};
use std::sync::Arc;

/// A server thread whose packets the engine does not see, known from the server's reports alone. It keeps the version cells of
/// what it changes closed, which means that no result with such a cell is served until the change has ended.
pub struct UnfollowedThread {
    writes: Writes,
    /// The thread may have a transaction open from before the engine followed it, so each of its statements counts as a change
    /// of anything.
    is_past_unknown: bool,
    /// Tables for which the thread closes only the cells of rows that are reported, see `Report::LocksRows`.
    row_reported: Vec<RowReportedTable>,
}

/// A table whose changed rows the server reports one by one.
struct RowReportedTable {
    /// The number with which the server reports the table's rows.
    handler: usize,
    table: Arc<Table>,
    key: Arc<KeyColumn>,
    /// A changed row was reported since the table was locked.
    has_rows: bool,
}

impl UnfollowedThread {
    /// A thread with no cell closed. `is_new`: everything that the thread ever did has been reported here. Otherwise each
    /// statement may end a transaction that has written anything, until the thread is seen outside of one.
    pub fn new(is_new: bool) -> UnfollowedThread {
        UnfollowedThread { writes: Writes::default(), is_past_unknown: !is_new, row_reported: Vec::new() }
    }

    /// Handles a report about this thread. Blocks while near caches may still serve results that the thread is about to change.
    pub fn report(&mut self, engine: &Engine, report: Report) {
        match report {
            Report::Locked { is_read_only: true, .. } => {}
            Report::Locked { db, name, .. } => self.writes(engine, db, name),
            Report::LocksRows { db, name, handler } => self.on_locked_for_rows(engine, db, name, handler),
            Report::Row { handler, key } => self.on_row(engine, handler, key),
            Report::Commits => self.close_tables_without_rows(engine),
            Report::Defined { db, name } => {
                self.writes.close_everything(engine, true);
                self.writes(engine, db, name);
            }
            Report::Statement { text } => self.on_statement(engine, text),
            Report::Applies { state } => self.on_applies(engine, &state),
            Report::Ended { state, executed } => self.on_ended(engine, &state, executed),
            Report::Gone => {
                self.row_reported.clear();
                self.writes.is_locked = false;
                self.writes.open(engine);
            }
            Report::Connected { .. } | Report::UserChanged { .. } | Report::CacheType(_) => {}
        }
        self.writes.announce(engine);
    }

    /// True if the thread keeps any version cell closed, because it has written something and its transaction has not ended.
    pub fn has_written(&self) -> bool {
        !self.writes.is_empty()
    }

    /// True if the server must report each changed row (`Report::Row`) with this `handler`. False for all other handlers: their
    /// tables are closed as a whole.
    pub fn needs_rows_of(&self, handler: usize) -> bool {
        self.row_reported.iter().any(|reported| reported.handler == handler)
    }

    /// Handles `Report::LocksRows`: closes the cell of any change of the table, and leaves its rows to further reports. The
    /// table's verdict and key hold until the transaction ends, because the server allows no definition of the table before.
    fn on_locked_for_rows(&mut self, engine: &Engine, db: &[u8], name: &[u8], handler: usize) {
        if self.needs_rows_of(handler) {
            self.close_tables_without_rows(engine);
            self.row_reported.retain(|reported| reported.handler != handler);
        }
        let table = engine.tables().find(engine.versions(), db, name);
        let has_snapshots = table.verdict(engine.catalogue().generation()) == Verdict::Snapshot;
        let key = engine.key_of(&table).filter(|_| has_snapshots && !self.is_past_unknown && db != b"mysql");
        let Some(key) = key else { return self.writes(engine, db, name) };
        self.writes.close(engine, table.any_change);
        self.row_reported.push(RowReportedTable { handler, table, key, has_rows: false });
    }

    /// Handles `Report::Row`: closes the cells of the row, or those of the whole table if the row is not known.
    fn on_row(&mut self, engine: &Engine, handler: usize, key: Option<[u8; 8]>) {
        let Some(reported) = self.row_reported.iter_mut().find(|reported| reported.handler == handler) else { return };
        reported.has_rows = true;
        if self.writes.is_closed(reported.table.unknown_change) {
            return;
        }
        let fits = self.writes.cells().len() + 2 <= MOST_REMEMBERED;
        let Some(key) = key.filter(|_| fits) else { return self.writes.close(engine, reported.table.unknown_change) };
        for cell in row_cells(engine, &reported.table, reported.key.read(key)) {
            self.writes.close(engine, cell);
        }
    }

    /// Closes a whole table if no changed row of it was reported. A thread that locks a table for its rows changes some of
    /// them, so they are unknown.
    fn close_tables_without_rows(&mut self, engine: &Engine) {
        for reported in self.row_reported.iter().filter(|reported| !reported.has_rows) {
            self.writes.close(engine, reported.table.unknown_change);
        }
    }

    /// Closes the version cells of a table that the thread writes, and everything if the table is one of schema `mysql`, which
    /// holds privileges.
    fn writes(&mut self, engine: &Engine, db: &[u8], name: &[u8]) {
        if engine.flavour().schemas.is_internal_table(db, name) {
            return;
        }
        self.writes.close_table(engine, &engine.tables().find(engine.versions(), db, name));
        if db == b"mysql" {
            self.writes.close_everything(engine, true);
        }
    }

    /// Handles `Report::Statement`: closes what the statement may change, as far as its text shows that.
    fn on_statement(&mut self, engine: &Engine, text: &[u8]) {
        let statement = sql::classify(text, LexMode::new(engine.flavour()));
        let closing = closing(engine.flavour(), &statement.kind);
        if self.is_past_unknown || closing.everything {
            self.writes.close_everything(engine, closing.defines);
        }
        if closing.flushes {
            engine.look_ups().await_end();
        }
    }

    /// Handles `Report::Applies`. Outside of a transaction, the statement may be a definition or the end of a prepared
    /// transaction. Most of these are reported only after their effect is visible. Inside a transaction it only writes tables,
    /// and locks them before.
    fn on_applies(&mut self, engine: &Engine, state: &SessionState) {
        self.close_tables_without_rows(engine);
        if self.is_past_unknown || is_outside(state) {
            self.writes.close_everything(engine, true);
        }
    }

    /// Handles `Report::Ended`: opens the cells if the transaction has ended. The thread's client may already have its
    /// response.
    fn on_ended(&mut self, engine: &Engine, state: &SessionState, executed: &[u8]) {
        self.writes.is_locked = state.in_lock_tables;
        let ended = is_outside(state)
            || matches!(
                sql::classify(executed, LexMode::new(engine.flavour())).kind,
                Kind::Commit(_) | Kind::Rollback(_)
            );
        if ended {
            // A table that was locked before the engine was watching may be written without a report, and tables that depend on
            // it too.
            self.is_past_unknown &= state.in_lock_tables;
            self.row_reported.clear();
            self.writes.open(engine);
        } else {
            self.writes.open_everything(engine);
        }
    }
}

fn is_outside(state: &SessionState) -> bool {
    state.autocommit && !state.has_begun
}
