//! Updates the session at the end of a statement: status flags, transaction, snapshot, settings, and the cells that are
//! opened.

use crate::engine::Engine;
use crate::reports::light_mode::shows_all_effects;
use crate::reports::unserved::keeps_track;
use crate::session::Session;
use crate::statement::pending_read::PendingRead;
use crate::statement::running::{Effect, Running};
use crate::statement::type_history::ParameterTypeHistory;
use crate::text::kinds::may_be_anything;
use cache::Versions;
use sql::{Flush, Kind, Statement};
use wire::{Outcome, OutcomeKind, status};

impl Session {
    /// Called at the end of a statement. If the engine was not awake all the time, some reports about the statement may be
    /// missing. If nothing can have been hidden, the session is examined once light mode is over. Otherwise it is not served from its
    /// next command on.
    pub(crate) fn note_missed(&mut self, engine: &Engine, running: &Running) {
        if running.epoch == engine.mode().epoch() {
            return;
        }
        let kind = running.kind();
        if kind.is_none_or(keeps_track) {
            return;
        }
        if running.is_plain
            && kind.is_some_and(shows_all_effects)
            && engine.mode().was_not_suspended_since(running.epoch)
        {
            self.note_light_mode(engine.mode().last_light_mode());
        } else {
            self.coverage.has_unreported_effects = true;
        }
    }

    /// Takes over the status flags of the response to `running`: whether a transaction is open, autocommit, and how texts are parsed.
    pub(crate) fn take_flags(&mut self, running: &Running, mut flags: u16) {
        // The server sets these flags while the settings of SET STATEMENT are still in force, so the mode flags are not
        // taken over.
        if matches!(&running.effect, Effect::Statement(statement) if matches!(statement.kind, Kind::SetStatement(_))) {
            flags = flags & !status::OF_MODE | self.transaction.status & status::OF_MODE;
        }
        self.transaction.take_flags(flags);
        self.identity.set_mode_flags(flags);
    }

    /// Opens the version cells that the statement has closed, so that results of what it may have changed can be stored and served
    /// again. In a transaction these cells are remembered, and closed again when the transaction may commit.
    pub(crate) fn end_writes(&mut self, engine: &Engine, running: &Running, has_failed: bool) {
        let kind = running.kind();
        let ends = matches!(kind, Some(Kind::Commit(_) | Kind::Rollback(_) | Kind::Begin(_))) && !has_failed;
        if matches!(kind, Some(Kind::LockTables)) && !has_failed {
            self.writes.is_locked = true;
        }
        if ends || !self.transaction.is_open && !has_failed {
            self.transaction.written.clear();
            self.transaction.is_unfollowed &= !ends;
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

    /// Applies what a command that has ended has changed in its session: settings, prepared statements, database, user.
    pub(crate) fn apply(&mut self, engine: &Engine, running: &Running, outcome: &Outcome, has_failed: bool) {
        match &running.effect {
            Effect::None => {}
            Effect::Statement(statement) => self.apply_statement(engine, running, statement, has_failed),
            Effect::Prepare { text, analysis, context, parse_context } => match outcome.kind {
                OutcomeKind::Prepared { id, params, columns } => {
                    let (text, analysis) = (text.clone(), analysis.clone());
                    let heeds_types = engine.flavour().statements.depends_on_earlier_types;
                    let parameters = if heeds_types { outcome.parameters.clone() } else { Vec::new() };
                    let prepared = crate::statement::prepared::Prepared {
                        text,
                        analysis,
                        parse_context: parse_context.clone(),
                        parameters: params,
                        columns: Some(columns.into()),
                        types: Vec::new(),
                        knows_types: true,
                        type_history: ParameterTypeHistory::new(parameters),
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
                if let Some(charset) = charset {
                    self.identity.set_charset(*charset);
                }
                self.identity.set_granted(engine.number_of(running.inherited));
                self.begin_again(engine, running.inherited);
                if charset.is_none() {
                    self.identity.mark_charset_unknown();
                }
                if has_failed {
                    self.abandon(engine);
                }
            }
            Effect::Reset => {
                self.begin_again(engine, running.inherited);
                self.identity.mark_charset_unknown();
            }
            Effect::Database if has_failed => {}
            Effect::Database => self.choose_database(engine, running),
        }
    }

    /// Applies what a statement that has ended has changed in its session or in the engine. If it has failed, a part of it may
    /// have had an effect.
    pub(crate) fn apply_statement(
        &mut self,
        engine: &Engine,
        running: &Running,
        statement: &Statement,
        has_failed: bool,
    ) {
        match &statement.kind {
            // A SET that failed may have been applied in part.
            Kind::Set(assignments) if has_failed => self.lose_settings(engine, assignments),
            Kind::Set(assignments) => self.apply_settings(engine, running, statement, assignments),
            Kind::CreateTemporary => self.temporary.note_created(),
            Kind::DropTemporary { may_be_missing: false } if !has_failed => self.temporary.note_dropped(),
            Kind::Prepare(_) => self.statements.end_naming(has_failed),
            Kind::AttachNear { name, protocol } if !has_failed => self.attach(engine, name, *protocol),
            Kind::Use(_) if !has_failed => self.choose_database(engine, running),
            // Such a statement may have set anything.
            kind if may_be_anything(kind) => self.identity.stop_sharing(engine.contexts()),
            Kind::Flush(Flush::QueryCache) | Kind::ResetQueryCache if !has_failed => {
                if matches!(statement.kind, Kind::ResetQueryCache) {
                    engine.drop_results();
                }
            }
            Kind::Flush(Flush::Status) if !has_failed => engine.flush_status(),
            _ => {}
        }
    }

    /// Called after a SET that has failed. What it was to set counts as unknown.
    fn lose_settings(&mut self, engine: &Engine, assignments: &[sql::Assignment]) {
        if assignments.iter().all(|a| matches!(a.target, sql::Target::Global(_))) {
            return;
        }
        if !self.identity.apply_failed(assignments) {
            self.identity.become_private(engine.contexts());
        }
    }

    /// Takes the server's answer to the engine's query for uncertain settings. The query has overwritten FOUND_ROWS() on the
    /// server, so its earlier value is noted as that of a served read, which the server has to catch up with.
    pub(crate) fn take_setting_values(&mut self, engine: &Engine, response: &[u8]) {
        let answer = wire::only_row(response, self.identity.capabilities());
        let Some([found, first, values @ ..]) = answer.as_deref() else {
            return self.identity.take_setting_values(None);
        };
        self.identity.take_setting_values(Some(values));
        if self.identity.was_reset() && !first.is_empty() {
            self.identity.become_private(engine.contexts());
        }
        let rows = std::str::from_utf8(found).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        self.diagnostics.pending_read = Some(PendingRead {
            rows,
            is_latest: false,
            is_owed: true,
            replay: Vec::new(),
            warned: Vec::new(),
            before: Vec::new(),
        });
    }

    /// Notes that another database may be the current one. The server reports its name at the end of the statement, but not
    /// while the engine is suspended.
    fn choose_database(&mut self, engine: &Engine, running: &Running) {
        self.identity.mark_database_unknown();
        self.identity.set_granted_for_database(engine.number_of(running.inherited));
    }

    /// Applies the assignments of a SET that has succeeded. If one is not understood, the session shares no results from here
    /// on.
    fn apply_settings(
        &mut self,
        engine: &Engine,
        running: &Running,
        statement: &Statement,
        assignments: &[sql::Assignment],
    ) {
        let inherited = engine.number_of(running.inherited);
        for assignment in assignments {
            // Built-in functions set no variable of the session.
            let sets_nothing = assignment.target == sql::Target::UserVariable && !statement.may_call_stored;
            if !sets_nothing && !self.identity.apply(assignment, inherited) {
                self.identity.become_private(engine.contexts());
            }
        }
    }
}
