//! Commands that do not run a statement: prepare, close, reset, change user and others.

use crate::decision::Decision;
use crate::engine::Engine;
use crate::packets::command_packet;
use crate::session::Session;
use crate::statement::running::{Effect, Purpose, Running};
use crate::surface::intercept::{refusal_on_departure, understood};
use crate::text::analysis::Analysis;
use sql::Kind;
use std::sync::Arc;
use wire::{Command, Expect};

impl Session {
    /// Decides about a command that does not run a statement. `command` is None if it is not known: it may then do
    /// anything.
    pub(crate) fn on_other(&mut self, engine: &Engine, packet: &[u8], command: Option<Command>) -> Decision {
        // Commands without a response tell nothing about the transaction, and leave the diagnostics of the last
        // statement alone.
        let is_answered = !matches!(command, Some(Command::Quit | Command::StmtClose | Command::StmtSendLongData));
        if is_answered {
            let has_warnings = self.diagnostics.has_warnings;
            // After a failed COM_CHANGE_USER the session goes on, and the server then answers from its own diagnostics.
            let may_be_anything = matches!(command, None | Some(Command::StmtBulkExecute | Command::ChangeUser));
            let pending_read = |session: &mut Session| {
                session.inject_pending_read(engine, |pending| {
                    may_be_anything || has_warnings && pending.is_latest || pending.has_warnings()
                })
            };
            if let Some(first) = self.inject_deferred_begin(engine).or_else(|| pending_read(self)) {
                return Decision::Inject(first);
            }
        }
        // The types must come first: sent later, they would consume or discard the long data that is sent now.
        if command == Some(Command::StmtSendLongData)
            && let Some(first) = self
                .inject_parameter_types(engine)
                .or_else(|| self.inject_skipped_execution(engine, id_of(&packet[4..])))
        {
            return Decision::Inject(first);
        }
        // A statement that was closed can no longer be replayed.
        let capabilities = self.identity.capabilities();
        if command == Some(Command::StmtClose)
            && let Some(first) =
                self.inject_pending_read(engine, |pending| pending.may_execute(id_of(&packet[4..]), capabilities))
        {
            return Decision::Inject(first);
        }
        let analysis = (command == Some(Command::StmtPrepare)).then(|| self.analyse(engine, &packet[5..]));
        if let Some(analysis) = &analysis
            && let Some(question) = self.inject_settings_query(engine, &analysis.statement, b"")
        {
            return Decision::Inject(question);
        }
        // Sent later, a pending read would overwrite what the prepare leaves in the diagnostics, or would run in
        // another context after a reset.
        if let Some(Command::StmtPrepare | Command::ResetConnection) = command
            && let Some(owed) = self.inject_pending_read(engine, |pending| pending.is_owed || pending.is_replayed())
        {
            return Decision::Inject(owed);
        }
        if is_answered {
            self.diagnostics.note_other();
        }
        if let Some(analysis) = &analysis
            && let Some(refusal) = self.refused_preparation(engine, &analysis.statement.kind, &packet[5..])
        {
            return Decision::Replace(refusal);
        }
        self.forward_other(engine, &packet[4..], command).map_or(Decision::Forward, Decision::Replace)
    }

    /// Returns the packet of a statement that fails, to be sent instead of this PREPARE, if it is about the cache while
    /// the plugin is being uninstalled. The error packet is the same for both commands.
    fn refused_preparation(&mut self, engine: &Engine, kind: &Kind, text: &[u8]) -> Option<Vec<u8>> {
        let mode = self.identity.mode();
        let refusal = refusal_on_departure(engine, kind, text, mode)?;
        self.forward(engine, &Arc::new(sql::classify(&refusal, mode)), Expect::Query, None);
        Some(self.query_packet(&refusal))
    }

    /// Notes a command that does not run a statement as sent to the server, with its effect. Returns a packet if the
    /// server must get that one instead.
    pub(crate) fn forward_other(
        &mut self,
        engine: &Engine,
        payload: &[u8],
        command: Option<Command>,
    ) -> Option<Vec<u8>> {
        let body = payload.get(1..).unwrap_or_default();
        self.coverage.note_forwarded(true);
        let effect = match command {
            Some(Command::StmtPrepare) => return self.on_prepare(engine, body),
            Some(Command::StmtClose) => {
                self.statements.remove(id_of(payload));
                Effect::None
            }
            Some(Command::StmtSendLongData) => {
                if let Some(prepared) = self.statements.get_mut(id_of(payload)) {
                    prepared.has_long_data = true;
                }
                Effect::None
            }
            Some(Command::StmtReset) => {
                if let Some(prepared) = self.statements.get_mut(id_of(payload)) {
                    (prepared.has_long_data, prepared.has_cursor) = (false, false);
                }
                Effect::None
            }
            Some(
                Command::Quit
                | Command::Ping
                | Command::SetOption
                | Command::Debug
                | Command::Statistics
                | Command::FieldList
                | Command::StmtFetch,
            ) => Effect::None,
            Some(Command::InitDb) => {
                self.identity.mark_database_unknown();
                Effect::Database
            }
            Some(Command::ChangeUser) => {
                let charset =
                    wire::ChangeUser::parse(payload, self.identity.capabilities()).and_then(|change| change.charset);
                self.close_written(engine);
                self.identity.set_account(None);
                self.identity.mark_database_unknown();
                Effect::ChangeUser { charset }
            }
            Some(Command::ResetConnection) => {
                self.close_written(engine);
                Effect::Reset
            }
            Some(Command::BinlogDump | Command::BinlogDumpGtid | Command::RegisterSlave) => {
                self.abandon(engine);
                return None;
            }
            _ => {
                // COM_STMT_BULK_EXECUTE and unknown commands may bind parameter types that hold for later executions.
                if let Some(prepared) = self.statements.get_mut(id_of(payload)) {
                    (prepared.types, prepared.knows_types) = (Vec::new(), true);
                }
                self.forward(engine, &Analysis::opaque().statement, Expect::Execute, None);
                return None;
            }
        };
        let expect = Expect::of(command);
        let mut running = Running::new(engine, Purpose::Client, expect, self.identity.capabilities());
        // These commands may open a view, which may call a routine, or they choose a database.
        let stays =
            !matches!(command, Some(Command::StmtFetch | Command::FieldList | Command::InitDb | Command::ChangeUser));
        running.stays_in = stays.then(|| engine.catalogue().generation());
        running.effect = effect;
        running.is_exchange = expect == Expect::ChangeUser;
        self.work.running = Some(running);
        None
    }

    /// Notes that a statement is being prepared. Returns a packet if the server must get another text, because it does
    /// not know this one.
    fn on_prepare(&mut self, engine: &Engine, text: &[u8]) -> Option<Vec<u8>> {
        let rewritten = sql::surface::rewrite(text, self.identity.mode());
        let text = rewritten.as_ref().map_or(text, |rewrite| &rewrite.text);
        let analysis = engine.shared_analyses().read_prepared(text, self.identity.mode());
        let understood = understood(text, &analysis.statement.kind, self.identity.mode());
        let context = self.context(engine, true).unwrap_or(0);
        let mut running = Running::new(engine, Purpose::Client, Expect::Prepare, self.identity.capabilities());
        let text: Arc<[u8]> = text.into();
        let parse_context = self.fixed_parse_context();
        running.effect = Effect::Prepare { text: text.clone(), analysis: analysis.clone(), context, parse_context };
        self.work.running = Some(running);
        self.note_stay(engine, &analysis, &text);
        let other = understood.or_else(|| rewritten.map(|rewrite| rewrite.text));
        other.map(|text| command_packet(Command::StmtPrepare, &text))
    }
}

/// The id of the prepared statement that the command is about; 0 if it names none.
fn id_of(payload: &[u8]) -> u32 {
    wire::statement_id(payload).unwrap_or(0)
}
