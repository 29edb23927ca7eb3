//! Pending reads: results served from the cache that the server did not see. Before it matters, the engine makes FOUND_ROWS() and
//! the warnings on the server what the client expects.

use crate::engine::Engine;
use crate::identity::side_effects::SideEffects;
use crate::session::Session;
use crate::statement::pending_read::PendingRead;
use crate::statement::running::{HiddenError, Purpose};
use crate::text::analysis::Analysis;
use crate::text::kinds::{changes_transaction, leaves_found_rows};
use sql::{Assignment, Kind, Statement, Target};

/// Every statement that asks for warnings has one of these words in its text.
const WARNINGS: [&[u8]; 3] = [b"warning", b"error", b"diagnostics"];

impl Session {
    /// Returns the packet of a command with which the server catches up with the pending read (a served result that it has not seen). None
    /// if there is no pending read, or if `matters` returns false for it. The command is noted as running. There may be an earlier pending
    /// read that has to be caught up with first, so the caller repeats this until it returns None.
    pub(crate) fn inject_pending_read(
        &mut self,
        engine: &Engine,
        matters: impl Fn(&PendingRead) -> bool,
    ) -> Option<Vec<u8>> {
        let all = self.diagnostics.pending_read.take_if(|pending| matters(pending))?;
        let replaced = PendingRead { is_latest: false, ..all.clone() };
        let (mut pending, rest) = all.split();
        if pending.has_warnings() {
            pending.replay = std::mem::take(&mut pending.warned);
        }
        self.diagnostics.pending_read = rest;
        let capabilities = self.identity.capabilities();
        if let Some(execute) = pending.execution(capabilities)
            && let Some(prepared) = self.statements.get_mut(execute.id)
        {
            // This execution binds the types of that time.
            prepared.note_run(&execute);
        }
        // Keeps the server's warnings if they come from a statement that ran after the read was served.
        let can_keep_warnings = engine.flavour().statements.keeps_warnings && pending.can_keep_warnings();
        let keeps_warnings = self.diagnostics.has_warnings && !pending.is_latest && can_keep_warnings;
        let limits_joins = self.identity.side_effects().limits_joins;
        let command = pending.command(engine.flavour(), capabilities, keeps_warnings, limits_joins);
        let packet = self.inject(engine, Purpose::PendingRead { keeps_warnings }, command);
        if let Some(running) = &mut self.work.running {
            running.replaced = Some(replaced);
        }
        Some(packet)
    }

    /// Called before a client command that cannot be answered with an error. `hidden_error` is the error of the engine's own command before
    /// it, none if that did not fail. If that command was to make the server catch up with a pending read (a served result that it has not
    /// seen), the pending read is dropped.
    pub(crate) fn give_up_pending_read(&mut self, hidden_error: Option<HiddenError>) {
        if hidden_error.is_some_and(|error| !error.is_of_begin) {
            self.diagnostics.pending_read = None;
        }
    }

    /// Returns the packet that the server must get before this statement: a deferred BEGIN, or a command with which it catches up with a
    /// served result that it has not seen. None if the statement can be sent now.
    pub(crate) fn before_forward(
        &mut self,
        engine: &Engine,
        analysis: &Analysis,
        text: &[u8],
        packet: &[u8],
    ) -> Option<Vec<u8>> {
        if let Some(begin) = self.inject_deferred_begin(engine) {
            return Some(begin);
        }
        if self.runs_pending_read(packet) {
            return None;
        }
        let matters =
            self.diagnostics.pending_read.as_ref().is_some_and(|pending| self.matters(engine, pending, analysis, text));
        self.inject_pending_read(engine, |_| matters)
    }

    /// True if this command is the pending read itself, the one that was served from the cache last: running it leaves the diagnostics that
    /// a replay would leave.
    fn runs_pending_read(&mut self, packet: &[u8]) -> bool {
        let is_alone = |pending: &&PendingRead| !pending.is_owed && pending.before.is_empty();
        let Some(pending) = self.diagnostics.pending_read.as_ref().filter(is_alone) else { return false };
        let capabilities = self.identity.capabilities();
        let types = pending.execution(capabilities).and_then(|execute| self.statements.get_mut(execute.id));
        let understood = types.map(|prepared| wire::with_types(packet, &prepared.types, capabilities));
        pending.runs(understood.as_deref().unwrap_or(packet))
    }

    /// True if the server must catch up with the pending read (a served result that it has not seen) before it runs this statement.
    fn matters(&self, engine: &Engine, pending: &PendingRead, analysis: &Analysis, text: &[u8]) -> bool {
        let statement = &*analysis.statement;
        if self.asks_for_warnings(engine, pending, statement, text) {
            return false;
        }
        let is_read = matches!(&statement.kind, Kind::Read(read) if !read.leaves_found_rows);
        // An aggregate over no rows leaves FOUND_ROWS() as it was.
        let may_leave_found_rows = is_read && !analysis.is_single_scan();
        // A read that uses no table leaves the warnings as they are.
        let is_write = statement.kind == Kind::Write;
        let may_count = || {
            let searches = is_write && (analysis.searches() || self.may_name_view(engine, analysis, text))
                || matches!(statement.kind, Kind::Set(_)) && analysis.searches();
            searches || !leaves_found_rows(&statement.kind)
        };
        // This SET may turn on the optimizer trace, and then a later replay would leave a trace.
        let may_trace = || {
            let is_side_effect = |one: &Assignment| matches!(&one.target, Target::Session(name) if SideEffects::depend_on(engine.flavour(), name));
            matches!(&statement.kind, Kind::Set(assignments) if assignments.iter().any(is_side_effect))
        };
        pending.matters_to(statement, text)
            || pending.is_owed
            || may_trace()
            || may_leave_found_rows
            || pending.is_replayed() && changes_transaction(&statement.kind, self.transaction.autocommit)
            || may_count()
            || pending.is_latest && self.diagnostics.has_warnings && !is_write
            // A view may call FOUND_ROWS() or another diagnostic function.
            || pending.is_latest && is_read && self.may_name_view(engine, analysis, text)
    }

    /// True if this statement asks for the warnings of a statement that ran after the served read. On a server that does not keep
    /// warnings, any replay would clear them.
    fn asks_for_warnings(&self, engine: &Engine, pending: &PendingRead, statement: &Statement, text: &[u8]) -> bool {
        !engine.flavour().statements.keeps_warnings
            && self.diagnostics.has_warnings
            && !pending.is_latest
            && statement.reads_diagnostics
            && WARNINGS.iter().any(|word| sql::contains_ignoring_case(text, word))
            && !sql::contains_ignoring_case(text, b"found_rows")
    }

    /// True if the text may name a view. True also if the names of views are not known.
    pub(crate) fn may_name_view(&self, engine: &Engine, analysis: &Analysis, text: &[u8]) -> bool {
        engine.catalogue().views().is_none_or(|views| analysis.names_view(&views, text, self.identity.mode()))
    }
}
