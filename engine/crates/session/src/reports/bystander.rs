//! A server thread whose bytes are not seen: a connection older than the plugin or compressed, an event, an applier.
//!
//! Nothing is served to it, but its writes count. What it locks for writing is closed until the server shows that its
//! transaction has ended; of one whose past is unknown, every statement may end a transaction that wrote anything.

use crate::engine::Engine;
use crate::report::{Report, SessionState};
use crate::text::kinds::closing;
use crate::transaction::writes::Writes;
use cache::Versions;
use sql::{Kind, LexMode};

pub struct Bystander {
    writes: Writes,
    /// What it has left to whoever ends a prepared transaction: closed for as long as it lives.
    prepared: Writes,
    is_past_unknown: bool,
}

impl Bystander {
    /// `is_new`: everything that it ever did has been reported here.
    pub fn new(is_new: bool) -> Bystander {
        Bystander { writes: Writes::default(), prepared: Writes::default(), is_past_unknown: !is_new }
    }

    pub fn report(&mut self, engine: &Engine, report: Report) {
        match report {
            Report::Locked { is_read_only: true, .. } => {}
            Report::Locked { db, name, .. } => self.writes(engine, db, name),
            Report::Defined { db, name } => {
                self.writes.close_everything(engine, true);
                self.writes(engine, db, name);
            }
            Report::Statement { text } => self.runs(engine, text),
            Report::Applies { state } => self.applies(engine, &state),
            Report::Prepared => self.prepares(engine),
            Report::Ended { state, executed } => self.ends(engine, &state, executed),
            Report::Gone => {
                self.writes.is_locked = false;
                self.writes.open(engine);
                self.prepared.open(engine);
            }
            Report::Connected { .. } | Report::UserChanged { .. } | Report::CacheType(_) => {}
        }
    }

    /// It holds something closed.
    pub fn has_written(&self) -> bool {
        !self.writes.is_empty()
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
        let closing = closing(&statement.kind);
        if self.is_past_unknown || closing.everything {
            self.writes.close_everything(engine, closing.defines);
        }
    }

    /// Alone, it may be a definition, or the end of a prepared transaction: of most of these nothing is told before they show. In
    /// a transaction, it writes tables, and locks them before.
    fn applies(&mut self, engine: &Engine, state: &SessionState) {
        if self.is_past_unknown || is_outside(state) {
            self.writes.close_everything(engine, true);
        }
    }

    fn prepares(&mut self, engine: &Engine) {
        for cell in self.writes.cells().iter().filter(|cell| **cell != Versions::EVERYTHING) {
            self.prepared.close(engine, *cell);
        }
        self.writes.open(engine);
    }

    /// Its client may have been told already.
    fn ends(&mut self, engine: &Engine, state: &SessionState, executed: &[u8]) {
        self.writes.is_locked = state.in_lock_tables;
        let ended = is_outside(state)
            || matches!(
                sql::classify(executed, LexMode::new(engine.flavour())).kind,
                Kind::Commit(_) | Kind::Rollback(_)
            );
        if ended {
            // What was locked before anybody looked may be written without a word, and what hangs on it.
            self.is_past_unknown &= state.in_lock_tables;
            self.writes.open(engine);
        } else {
            self.writes.open_everything(engine);
        }
    }
}

fn is_outside(state: &SessionState) -> bool {
    state.autocommit && !state.has_begun
}
