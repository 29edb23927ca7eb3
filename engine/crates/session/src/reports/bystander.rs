//! A server thread whose packets are not seen: a connection that is older than the plugin or compressed, an event, a replication
//! applier.
//!
//! A bystander is served nothing, but its writes count. The cells of tables that it locks for writing stay closed until the
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

pub struct Bystander {
    writes: Writes,
    is_past_unknown: bool,
    /// Tables for which it closes only the cells of the rows that are reported.
    told: Vec<Told>,
}

struct Told {
    handler: usize,
    table: Arc<Table>,
    key: Arc<KeyColumn>,
    has_rows: bool,
}

impl Bystander {
    /// `is_new`: everything that the thread ever did has been reported here.
    pub fn new(is_new: bool) -> Bystander {
        Bystander { writes: Writes::default(), is_past_unknown: !is_new, told: Vec::new() }
    }

    pub fn report(&mut self, engine: &Engine, report: Report) {
        match report {
            Report::Locked { is_read_only: true, .. } => {}
            Report::Locked { db, name, .. } => self.writes(engine, db, name),
            Report::LocksRows { db, name, handler } => self.writes_rows(engine, db, name, handler),
            Report::Row { handler, key } => self.writes_row(engine, handler, key),
            Report::Commits => self.closes_untold(engine),
            Report::Defined { db, name } => {
                self.writes.close_everything(engine, true);
                self.writes(engine, db, name);
            }
            Report::Statement { text } => self.runs(engine, text),
            Report::Applies { state } => self.applies(engine, &state),
            Report::Ended { state, executed } => self.ends(engine, &state, executed),
            Report::Gone => {
                self.told.clear();
                self.writes.is_locked = false;
                self.writes.open(engine);
            }
            Report::Connected { .. } | Report::UserChanged { .. } | Report::CacheType(_) => {}
        }
        self.writes.announce(engine);
    }

    /// True if it keeps any cell closed.
    pub fn has_written(&self) -> bool {
        !self.writes.is_empty()
    }

    /// True if changed rows are to be reported under this number.
    pub fn tells_rows_of(&self, handler: usize) -> bool {
        self.told.iter().any(|told| told.handler == handler)
    }

    /// Closes the cell of any change of a table whose changed rows will each be reported. The table's verdict and key hold until
    /// the transaction ends, because the server allows no definition of the table before.
    fn writes_rows(&mut self, engine: &Engine, db: &[u8], name: &[u8], handler: usize) {
        if self.tells_rows_of(handler) {
            self.closes_untold(engine);
            self.told.retain(|told| told.handler != handler);
        }
        let table = engine.tables().find(engine.versions(), db, name);
        let has_snapshots = table.verdict(engine.catalogue().generation()) == Verdict::Snapshot;
        let key = engine.key_of(&table).filter(|_| has_snapshots && !self.is_past_unknown && db != b"mysql");
        let Some(key) = key else { return self.writes(engine, db, name) };
        self.writes.close(engine, table.any);
        self.told.push(Told { handler, table, key, has_rows: false });
    }

    fn writes_row(&mut self, engine: &Engine, handler: usize, key: Option<[u8; 8]>) {
        let Some(told) = self.told.iter_mut().find(|told| told.handler == handler) else { return };
        told.has_rows = true;
        if self.writes.is_closed(told.table.whole) {
            return;
        }
        let fits = self.writes.cells().len() + 2 <= MOST_REMEMBERED;
        let Some(key) = key.filter(|_| fits) else { return self.writes.close(engine, told.table.whole) };
        for cell in row_cells(engine, &told.table, told.key.read(key)) {
            self.writes.close(engine, cell);
        }
    }

    /// A thread that locks a table for its rows changes some of them. If no row has been reported, the changed rows are unknown.
    fn closes_untold(&mut self, engine: &Engine) {
        for told in self.told.iter().filter(|told| !told.has_rows) {
            self.writes.close(engine, told.table.whole);
        }
    }

    fn writes(&mut self, engine: &Engine, db: &[u8], name: &[u8]) {
        if engine.flavour().schemas.is_servers_own(db, name) {
            return;
        }
        self.writes.close_table(engine, &engine.tables().find(engine.versions(), db, name));
        if db == b"mysql" {
            self.writes.close_everything(engine, true);
        }
    }

    fn runs(&mut self, engine: &Engine, text: &[u8]) {
        let statement = sql::classify(text, LexMode::new(engine.flavour()));
        let closing = closing(engine.flavour(), &statement.kind);
        if self.is_past_unknown || closing.everything {
            self.writes.close_everything(engine, closing.defines);
        }
        if closing.flushes {
            engine.questions().await_end();
        }
    }

    /// Outside of a transaction, the statement may be a definition or the end of a prepared transaction. Most of these are
    /// reported only after their effect is visible. Inside a transaction it only writes tables, and locks them before.
    fn applies(&mut self, engine: &Engine, state: &SessionState) {
        self.closes_untold(engine);
        if self.is_past_unknown || is_outside(state) {
            self.writes.close_everything(engine, true);
        }
    }

    /// Opens cells after a statement. The thread's client may already have its response.
    fn ends(&mut self, engine: &Engine, state: &SessionState, executed: &[u8]) {
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
            self.told.clear();
            self.writes.open(engine);
        } else {
            self.writes.open_everything(engine);
        }
    }
}

fn is_outside(state: &SessionState) -> bool {
    state.autocommit && !state.has_begun
}
