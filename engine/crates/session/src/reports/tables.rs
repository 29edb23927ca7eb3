//! Reports about a connection's statements: tables that they lock or define, and statements that run inside them.

use crate::engine::Engine;
use crate::engine::tables::{Table, Verdict};
use crate::reason::ContextReason;
use crate::session::Session;
use crate::text::kinds::may_be_anything;
use sql::Kind;
use std::sync::Arc;

impl Session {
    /// Handles `Report::Locked`: a read depends on the table from here on, and a write closes its version cells. If the
    /// table's type is not known, the host is asked to look it up.
    pub(crate) fn on_locked(&mut self, engine: &Engine, db: &[u8], name: &[u8], is_read_only: bool) {
        let schemas = &engine.flavour().schemas;
        if schemas.is_internal_table(db, name) {
            // The server reads this table once in a session for each routine, and then keeps the routine in a cache of
            // the session.
            if schemas.routines.is_some_and(|routines| routines.as_bytes() == name) {
                self.identity.note_privilege_rechecks();
            }
            if schemas.registry.is_some_and(|registry| registry.as_bytes() == name) {
                self.refuse_to_store(ContextReason::SystemTable);
            }
            return;
        }
        let table = self.recent_tables.use_table(engine, db, name);
        table.count(is_read_only);
        let verdict = table.verdict(engine.catalogue().generation());
        if verdict == Verdict::Unknown {
            let running = self.work.running.as_ref();
            let inherited = running.map_or_else(|| engine.settings().inherited(), |running| running.inherited);
            engine.tables().request_look_up(table, inherited);
            engine.want_catalogue();
        }
        let recording = self.work.running.as_mut().and_then(|running| running.read.as_mut());
        match recording {
            _ if !is_read_only => {
                let table = table.clone();
                self.on_write(engine, &table);
            }
            Some(recording) if engine.flavour().schemas.is_system(db) => recording.refuse(ContextReason::SystemTable),
            Some(recording) => {
                if engine.insight().has_rules() {
                    recording.tables.push(table.clone());
                }
                recording.depend_on(table, verdict);
            }
            None => {}
        }
    }

    /// Handles the report that the running statement writes a table: its cells are closed, and the statement's own
    /// result is not stored.
    fn on_write(&mut self, engine: &Engine, table: &Arc<Table>) {
        self.coverage.is_uneventful = false;
        self.work.running.iter_mut().for_each(|running| running.is_inert = false);
        self.close_written_table(engine, table);
        if table.db == b"mysql" {
            self.writes.close_everything(engine, true);
        }
        self.refuse_to_store(ContextReason::WroteTable);
    }

    /// Notes that the result of the running statement, if it is a read, must not be stored.
    fn refuse_to_store(&mut self, reason: ContextReason) {
        if let Some(recording) = self.work.running.as_mut().and_then(|running| running.read.as_mut()) {
            recording.refuse(reason);
        }
    }

    /// Handles `Report::Defined`: closes the cells of the table, for its rows and for its definition.
    pub(crate) fn on_defined(&mut self, engine: &Engine, db: &[u8], name: &[u8]) {
        let table = self.recent_tables.use_table(engine, db, name).clone();
        self.writes.close_defined(engine, table);
        self.work.running.iter_mut().for_each(|running| running.is_inert = false);
        self.refuse_to_store(ContextReason::WroteTable);
    }

    /// Handles `Report::Statement` for a statement inside the client's command, for instance in a routine: closes the
    /// cells of what it may change, and notes what it may set, prepare or create. The report of the command's own
    /// statement is ignored.
    pub(crate) fn on_inner_statement(&mut self, engine: &Engine, text: &[u8]) {
        let Some(running) = self.work.running.as_mut().filter(|running| running.may_run_others) else { return };
        if std::mem::take(&mut running.logs_itself) {
            return;
        }
        running.is_inert = false;
        self.coverage.is_uneventful = false;
        let statement = sql::classify(text, self.identity.mode());
        if !matches!(statement.kind, Kind::Read(_) | Kind::Write) {
            self.identity.note_side_effects(text);
        }
        self.close_for(engine, &statement.kind);
        self.statements.note_sent(&statement.kind);
        match statement.kind {
            Kind::CreateTemporary => self.temporary.note_hidden(),
            Kind::Prepare(_) => self.note_temporary(&statement.kind, text),
            // The server replaces variables of a routine in this text and may garble it, so a SET may have set
            // anything.
            kind if may_be_anything(&kind) || matches!(kind, Kind::Set(_) | Kind::SetTransaction(_)) => {
                self.note_temporary(&kind, text);
                self.transaction.is_set_once = true;
                self.identity.stop_sharing(engine.contexts());
            }
            _ => {}
        }
    }
}
