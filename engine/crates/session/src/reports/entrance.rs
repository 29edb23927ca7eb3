//! Entry point for reports about a connection, and the handling of the state that is reported at the end of each statement.

use crate::engine::Engine;
use crate::report::{Report, SessionState};
use crate::session::Session;
use crate::transaction::state::Isolation;

impl Session {
    /// Handles a report about this connection. Blocks while near caches may still serve results that the connection is about to
    /// change.
    pub fn report(&mut self, engine: &Engine, report: Report) {
        match report {
            Report::Connected { account, state } => self.on_connected(engine, account, &state),
            Report::UserChanged { account } => self.identity.set_account(Some(account)),
            Report::CacheType(cache_type) => {
                self.set_cache_type(engine, cache_type);
                self.identity.set_turned_cache_off(cache_type == 0);
            }
            Report::Locked { db, name, is_read_only } => self.on_locked(engine, db, name, is_read_only),
            Report::Defined { db, name } => self.on_defined(engine, db, name),
            Report::Statement { text } => self.on_inner_statement(engine, text),
            Report::Applies { .. } | Report::Commits => {}
            Report::LocksRows { .. } | Report::Row { .. } => {}
            Report::Ended { state, .. } => {
                self.on_ended(engine, &state);
                self.report_session(engine);
            }
            Report::Gone => self.close(engine),
        }
        self.writes.announce(engine);
    }

    /// True if the state at the end of the statement that has just run may differ from the state before it. If not, the host
    /// may leave out the report `Ended`. To be called once for each statement. `has_failed`: the statement failed.
    pub fn expects_end(&mut self, engine: &Engine, has_failed: bool) -> bool {
        !std::mem::take(&mut self.coverage.is_uneventful)
            || self.transaction.has_failed
            || has_failed && self.work.running.is_some()
            || !self.is_state_known(engine)
    }

    /// True if the next report `Ended` must include the current database. Otherwise it may leave it out.
    pub fn expects_database(&self, engine: &Engine) -> bool {
        self.coverage.database_may_have_changed
            || self.identity.known_database().is_none()
            || !self.is_state_known(engine)
    }

    /// Handles `Report::Ended`, which the server sends before the response of a statement.
    fn on_ended(&mut self, engine: &Engine, state: &SessionState) {
        self.take_state(engine, state);
        match &mut self.work.running {
            // The report comes before the response to the statement.
            Some(running) => running.has_begun = Some(state.has_begun),
            None if std::mem::take(&mut self.transaction.has_failed) => self.transaction.take_begun(state.has_begun),
            None => self.note_unknown_end(engine),
        }
        if self.writes.is_locked && !state.in_lock_tables {
            self.writes.is_locked = false;
            if self.work.running.is_none() {
                self.writes.open(engine);
            }
        }
    }

    /// Takes the state that the server reports for this session at its login and at the end of a statement.
    pub(crate) fn take_state(&mut self, engine: &Engine, state: &SessionState) {
        self.coverage.reported_in_epoch = engine.mode().epoch();
        self.transaction.take_state(state.autocommit, state.is_read_only, Isolation::from_number(state.isolation));
        self.writes.is_locked |= state.in_lock_tables;
        if let Some(database) = state.database {
            self.identity.set_database(database);
            self.coverage.database_may_have_changed = self.coverage.may_change_database;
        }
        if self.identity.cache_type() != state.cache_type {
            self.set_cache_type(engine, state.cache_type);
        }
        self.try_out(engine, state.is_trial);
        self.identity.set_must_run(state.must_run);
        self.identity.set_collation(state.collation);
    }
}
