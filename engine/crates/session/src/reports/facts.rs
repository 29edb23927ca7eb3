//! What the server tells of a session: the tables and statements that its thread meets, and the facts at their end.

use crate::engine::Engine;
use crate::engine::system::{is_server_own, is_system_schema};
use crate::engine::tables::{Table, Verdict};
use crate::reason::Own;
use crate::report::ThreadFacts;
use crate::session::Session;
use crate::text::kinds::may_be_anything;
use crate::transaction::state::{Isolation, Snapshot};
use sql::{Charset, Kind};
use std::sync::Arc;
use wire::status;

impl Session {
    /// Whether the facts at the end of the statement that has just run may differ from those before it.
    pub fn expects_facts(&mut self, engine: &Engine) -> bool {
        !std::mem::take(&mut self.is_uneventful) || self.has_failed || self.running.is_some() || !self.is_told(engine)
    }

    /// At the end of a statement, on the thread that ran it.
    pub fn on_status(&mut self, engine: &Engine, facts: &ThreadFacts) {
        self.take_facts(engine, facts);
        match &mut self.running {
            // Of what is executed this is told before the response.
            Some(running) => running.has_begun = Some(facts.has_begun),
            None if std::mem::take(&mut self.has_failed) => self.take_transaction(facts.has_begun),
            None => {}
        }
        if self.writes.is_locked && !facts.in_lock_tables {
            self.writes.is_locked = false;
            if self.running.is_none() {
                self.writes.open(engine);
            }
        }
    }

    /// What failed may have begun a transaction before, or ended one.
    pub(crate) fn take_transaction(&mut self, has_begun: bool) {
        if !self.transaction.autocommit {
            return self.transaction.is_doubtful = !self.transaction.is_open;
        }
        if has_begun == self.transaction.is_open {
            return;
        }
        self.transaction.is_open = has_begun;
        self.transaction.snapshot = Snapshot::Unknown;
        self.transaction.is_branch &= has_begun;
        self.status &= !(status::IN_TRANS | status::IN_TRANS_READONLY);
        if has_begun {
            self.status |= status::IN_TRANS;
        }
    }

    pub(crate) fn take_facts(&mut self, engine: &Engine, facts: &ThreadFacts) {
        self.told_in = engine.vigil.epoch();
        self.transaction.autocommit = facts.autocommit;
        self.status = self.status & !status::AUTOCOMMIT | if facts.autocommit { status::AUTOCOMMIT } else { 0 };
        self.transaction.is_read_only = facts.is_read_only;
        self.transaction.isolation = Isolation::from_number(facts.isolation);
        self.writes.is_locked |= facts.in_lock_tables;
        if self.database != facts.database || !self.database_known {
            self.database = facts.database.to_vec();
            self.database_known = true;
            self.contexts = None;
        }
        if self.cache_type != facts.cache_type {
            self.on_type(engine, facts.cache_type);
        }
        self.try_out(engine, facts.is_trial);
        if self.must_run != facts.must_run {
            self.must_run = facts.must_run;
            self.contexts = None;
        }
        if self.collation != facts.collation {
            self.collation = facts.collation;
            self.contexts = None;
        }
        let charset = Charset::of_collation(facts.collation as u16);
        if charset != self.variables.mode.charset {
            self.variables.mode.charset = charset;
            self.contexts = None;
        }
    }

    /// A statement on this session's connection locks a table.
    pub fn on_table(&mut self, engine: &Engine, db: &[u8], name: &[u8], is_read_only: bool) {
        if is_server_own(db, name) {
            // Once in a session for each routine, which then is remembered there.
            self.goes_elsewhere |= name == b"proc";
            return;
        }
        let table = self.met.meet(engine, db, name);
        table.count(is_read_only);
        let verdict = table.verdict(engine.catalogue.generation());
        if verdict == Verdict::Unknown {
            engine.tables.ask(table);
            engine.want_catalogue();
        }
        let recording = self.running.as_mut().and_then(|running| running.read.as_mut());
        match recording {
            _ if !is_read_only => {
                let table = table.clone();
                self.on_write(engine, &table);
            }
            Some(recording) if is_system_schema(db) => recording.refuse(Own::SystemTable),
            Some(recording) => {
                if engine.insight.has_rules() {
                    recording.tables.push(table.clone());
                }
                recording.depend_on(table, verdict);
            }
            None => {}
        }
    }

    fn on_write(&mut self, engine: &Engine, table: &Arc<Table>) {
        self.is_uneventful = false;
        self.running.iter_mut().for_each(|running| running.is_inert = false);
        self.close_written_table(engine, table);
        if table.db == b"mysql" {
            self.writes.close_everything(engine, true);
        }
        self.refuse_to_store(Own::WroteTable);
    }

    fn refuse_to_store(&mut self, reason: Own) {
        if let Some(recording) = self.running.as_mut().and_then(|running| running.read.as_mut()) {
            recording.refuse(reason);
        }
    }

    /// A table is created, dropped, renamed or altered.
    pub fn on_table_defined(&mut self, engine: &Engine, db: &[u8], name: &[u8]) {
        let table = self.met.meet(engine, db, name).clone();
        self.writes.close_defined(engine, table);
        self.running.iter_mut().for_each(|running| running.is_inert = false);
        self.refuse_to_store(Own::WroteTable);
    }

    /// The server logs a statement that it is about to run, also one inside a routine.
    pub fn on_logged(&mut self, engine: &Engine, text: &[u8]) {
        let Some(running) = self.running.as_mut().filter(|running| running.may_run_others) else { return };
        if std::mem::take(&mut running.logs_itself) {
            return;
        }
        running.is_inert = false;
        self.is_uneventful = false;
        let statement = sql::classify(text, self.variables.mode);
        if !matches!(statement.kind, Kind::Read(_) | Kind::Write) {
            self.variables.habits.note_text(text);
        }
        self.close_for(engine, &statement.kind);
        match statement.kind {
            Kind::CreateTemporary => self.has_temporary_tables = true,
            Kind::Prepare => self.note_temporary(&statement.kind, text),
            // With variables of a routine put in, the server's text may be garbled: then it may have set anything, too.
            kind if may_be_anything(&kind) || matches!(kind, Kind::Set(_) | Kind::SetTransaction(_)) => {
                self.note_temporary(&kind, text);
                self.transaction.is_set_once = true;
                self.become_private(engine);
            }
            _ => {}
        }
    }
}
