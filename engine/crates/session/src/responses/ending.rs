//! What the end of a statement means for its session: flags, transaction, snapshot, settings, and tables that open again.

use crate::engine::{Engine, OF_ONE};
use crate::identity::variables::{ASKABLE, Effect as Understood};
use crate::reports::resting::keeps_track;
use crate::session::Session;
use crate::statement::question;
use crate::statement::recording::Recording;
use crate::statement::running::{Effect, Purpose, Running};
use crate::statement::unseen::Pending;
use crate::text::kinds::may_be_anything;
use crate::transaction::state::{Snapshot, Transaction};
use cache::Versions;
use sql::{Flush, Kind, Statement, Xa};
use wire::{Outcome, OutcomeKind, status};

impl Session {
    /// Not all that the server had to tell of it was told.
    pub(crate) fn note_missed(&mut self, engine: &Engine, running: &Running) {
        let keeps_track = !matches!(&running.effect, Effect::Statement(statement) if !keeps_track(&statement.kind));
        self.has_missed |= running.epoch != engine.vigil.epoch() && !keeps_track;
    }

    pub(crate) fn take_flags(&mut self, running: &Running, mut flags: u16) {
        const OF_MODE: u16 = status::ANSI_QUOTES | status::NO_BACKSLASH_ESCAPES;
        // These are told while the settings of SET STATEMENT are still in force.
        if matches!(&running.effect, Effect::Statement(statement) if matches!(statement.kind, Kind::SetStatement(_))) {
            flags = flags & !OF_MODE | self.status & OF_MODE;
        }
        self.status = flags;
        self.transaction.is_open = flags & status::IN_TRANS != 0;
        self.transaction.is_doubtful = false;
        self.transaction.autocommit = flags & status::AUTOCOMMIT != 0;
        self.variables.mode.ansi_quotes = flags & status::ANSI_QUOTES != 0;
        self.variables.mode.no_backslash_escapes = flags & status::NO_BACKSLASH_ESCAPES != 0;
    }

    /// Tables open again. In a transaction they are remembered, to be closed again when it may commit.
    pub(crate) fn end_writes(&mut self, engine: &Engine, running: &Running, has_failed: bool) {
        let kind = running.kind();
        let ends = matches!(kind, Some(Kind::Commit(_) | Kind::Rollback(_) | Kind::Begin(_))) && !has_failed;
        if matches!(kind, Some(Kind::LockTables)) && !has_failed {
            self.writes.is_locked = true;
        }
        if ends || !self.transaction.is_open && !has_failed {
            self.transaction.written.clear();
        } else {
            for cell in self.writes.cells() {
                if *cell != Versions::EVERYTHING && !self.transaction.written.contains(cell) {
                    self.transaction.written.push(*cell);
                }
            }
        }
        if matches!(kind, Some(Kind::UnlockTables)) && !has_failed {
            self.writes.is_locked = false;
        }
        if !self.writes.is_empty() {
            self.writes.open(engine);
        }
    }

    /// What SET TRANSACTION set is used up by a transaction that has ended.
    pub(crate) fn note_set_once(&mut self, running: &Running, has_failed: bool) {
        let Effect::Statement(statement) = &running.effect else { return };
        let ends_one = match &statement.kind {
            Kind::SetTransaction(set) if set.scope == sql::TransactionScope::Next => {
                return self.transaction.is_set_once = true;
            }
            Kind::Set(assignments) if assignments.iter().any(|a| matches!(a.target, sql::Target::OneShot(_))) => {
                return self.transaction.is_set_once = true;
            }
            kind if may_be_anything(kind) => return self.transaction.is_set_once = true,
            Kind::Commit(_) | Kind::Rollback(_) => !has_failed,
            // Without a table of an engine that knows transactions, it was none. Of writes it is not known.
            Kind::Read(_) => {
                let is_one = |recording: &Recording| recording.all_snapshot && !recording.cells.is_empty();
                !has_failed && running.read.as_ref().is_some_and(is_one)
            }
            _ => false,
        };
        if ends_one && !self.transaction.is_open {
            self.transaction.is_set_once = false;
        }
    }

    /// An XA transaction that has begun lasts as long as the server says that one is open. After an error it has said nothing.
    pub(crate) fn note_branch(&mut self, running: &Running, has_failed: bool) {
        let kind = running.kind();
        let may_begin = kind.is_some_and(|kind| matches!(kind, Kind::Xa(_) | Kind::Call) || may_be_anything(kind));
        let begins = matches!(kind, Some(Kind::Xa(Xa::Start)));
        let Transaction { is_open, is_branch, is_own_branch, .. } = &mut self.transaction;
        *is_branch = *is_open && (may_begin || *is_branch);
        *is_own_branch = *is_open && !has_failed && (begins || *is_own_branch);
    }

    /// The server keeps its warnings until a statement that uses a table.
    pub(crate) fn note_warnings(&mut self, running: &Running, outcome: &Outcome, has_failed: bool) {
        let uses_table = match (&running.effect, &running.purpose) {
            (_, Purpose::Unseen { keeps_warnings }) => !keeps_warnings,
            (Effect::Statement(statement), _) => match statement.kind {
                Kind::Write => true,
                Kind::Read(_) => running.read.as_ref().is_some_and(|recording| !recording.cells.is_empty()),
                _ => false,
            },
            _ => false,
        };
        self.has_warnings = has_failed || outcome.warnings > 0 || self.has_warnings && !uses_table;
    }

    pub(crate) fn note_snapshot(&mut self, running: &Running, outcome: &Outcome, was_open: bool, has_failed: bool) {
        if let Purpose::OpenSnapshot(moment) = running.purpose {
            self.transaction.snapshot = if has_failed { Snapshot::Unknown } else { Snapshot::Open(moment) };
            return;
        }
        if !self.transaction.is_open {
            self.transaction.snapshot = Snapshot::Unknown;
            return;
        }
        if has_failed {
            // A deadlock, say, has rolled the transaction back: the flags are told with the next success.
            self.transaction.snapshot = Snapshot::Unknown;
            return;
        }
        let kind = match (&running.effect, &running.purpose) {
            (_, Purpose::Idle | Purpose::Ask) => return,
            (_, Purpose::Begin) => return self.transaction.snapshot = Snapshot::NotYet,
            (Effect::Statement(statement), _) => &statement.kind,
            _ => return,
        };
        match kind {
            Kind::Begin(begin) if begin.consistent_snapshot => {
                self.transaction.snapshot = Snapshot::Open(running.moment)
            }
            Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) => self.transaction.snapshot = Snapshot::NotYet,
            Kind::Several => self.transaction.snapshot = Snapshot::Unknown,
            Kind::Read(_) => {
                if !was_open {
                    self.transaction.snapshot = Snapshot::NotYet;
                }
                let has_read = running.read.as_ref().is_some_and(|recording| recording.has_read_rows(outcome));
                self.transaction.after_read(running.moment, has_read);
            }
            _ => self.transaction.after_other(),
        }
    }

    pub(crate) fn apply(&mut self, engine: &Engine, running: &Running, outcome: &Outcome, has_failed: bool) {
        match &running.effect {
            Effect::None => {}
            Effect::Statement(statement) => self.apply_statement(engine, running, statement, has_failed),
            Effect::Prepare { text, reading, context, terms } => match outcome.kind {
                OutcomeKind::Prepared { id, params, columns } => {
                    let (text, reading) = (text.clone(), reading.clone());
                    let prepared = crate::statement::prepared::Prepared {
                        text,
                        reading,
                        terms: terms.clone(),
                        parameters: params,
                        columns: columns.into(),
                        types: Vec::new(),
                        knows_types: true,
                        has_cursor: false,
                        has_long_data: false,
                        context: *context,
                        metadata: None,
                    };
                    self.statements.insert(id, prepared);
                }
                _ => self.statements.forget_last(),
            },
            Effect::ChangeUser { charset } => {
                self.charset = charset.unwrap_or(self.charset);
                self.granted = [engine.number_of(running.inherited); 2];
                self.begin_again(engine, running.inherited);
                if has_failed {
                    self.abandon(engine);
                }
            }
            Effect::Reset => self.begin_again(engine, running.inherited),
            Effect::Database if has_failed => {}
            Effect::Database => self.choose_database(engine, running),
        }
    }

    pub(crate) fn apply_statement(
        &mut self,
        engine: &Engine,
        running: &Running,
        statement: &Statement,
        has_failed: bool,
    ) {
        match &statement.kind {
            // One that failed may have been applied in part.
            Kind::Set(assignments) if has_failed => self.lose_settings(engine, assignments),
            Kind::Set(assignments) => self.apply_settings(engine, running, assignments),
            Kind::CreateTemporary => self.has_temporary_tables = true,
            Kind::Use(_) if !has_failed => self.choose_database(engine, running),
            // Anything may have been set inside.
            kind if may_be_anything(kind) => self.become_private(engine),
            Kind::Flush(Flush::QueryCache) | Kind::ResetQueryCache if !has_failed => {
                if matches!(statement.kind, Kind::ResetQueryCache) {
                    engine.cache.clear();
                }
            }
            Kind::Flush(Flush::Status) if !has_failed => {
                engine.counts.flush();
                engine.insight.flush();
            }
            _ => {}
        }
    }

    fn lose_settings(&mut self, engine: &Engine, assignments: &[sql::Assignment]) {
        if assignments.iter().all(|a| matches!(a.target, sql::Target::Global(_))) {
            return;
        }
        let is_askable = |a: &sql::Assignment| match &a.target {
            sql::Target::Session(name) => ASKABLE.contains(&name.as_slice()),
            sql::Target::Names { .. } => true,
            _ => false,
        };
        for assignment in assignments {
            if let sql::Target::Session(name) = &assignment.target {
                self.variables.habits.set(name, None);
            }
        }
        self.variables.doubt();
        self.has_set_role |= assignments.iter().any(|a| a.target == sql::Target::Role);
        self.forget_contexts();
        if !assignments.iter().all(is_askable) {
            self.become_private(engine);
        }
    }

    pub(crate) fn learn(&mut self, engine: &Engine, response: &[u8]) {
        match question::answer(response, self.capabilities).as_deref() {
            Some([found, first, values @ ..]) => {
                self.variables.learn(values);
                if self.was_reset && !first.is_empty() {
                    self.become_private(engine);
                }
                let rows = std::str::from_utf8(found).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
                self.unseen = Some(Pending { rows, is_latest: false, is_owed: true, replay: Vec::new() });
            }
            _ => self.variables.knowledge = crate::identity::variables::Knowledge::Lost,
        }
        self.variables.is_uncertain = false;
        self.forget_contexts();
    }

    /// Its name is told at the end of the statement, but not while the engine sleeps.
    fn choose_database(&mut self, engine: &Engine, running: &Running) {
        self.database_known = false;
        self.granted[1] = engine.number_of(running.inherited);
        self.forget_contexts();
    }

    /// Privileges have changed since the database was chosen, and the statement may have made the server look them up anew, or
    /// not: nobody else is known to have the same.
    pub(crate) fn doubt_granted(&mut self, engine: &Engine, running: &Running) {
        let is_as_then = self.granted[1] & OF_ONE == 0 && engine.settings.are_granted_since(self.granted[1]);
        if !self.goes_elsewhere || is_as_then || running.is_hidden() {
            return;
        }
        let is_read_of_tables = running.read.as_ref().is_some_and(|recording| {
            recording.refusal.is_none() && !self.may_name_view(engine, &recording.reading, &recording.text)
        });
        let runs_nothing = matches!(running.effect, Effect::Statement(_)) && !running.may_run_others;
        if !is_read_of_tables && !runs_nothing {
            self.granted[1] = OF_ONE | engine.contexts.private();
            self.forget_contexts();
        }
    }

    fn apply_settings(&mut self, engine: &Engine, running: &Running, assignments: &[sql::Assignment]) {
        let inherited = engine.number_of(running.inherited);
        for assignment in assignments {
            self.has_set_role |= assignment.target == sql::Target::Role;
            match self.variables.apply(assignment, inherited) {
                Understood::Nothing => {}
                Understood::Changed => self.forget_contexts(),
                Understood::NotUnderstood => self.become_private(engine),
            }
        }
    }
}
