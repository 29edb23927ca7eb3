//! Sessions at work while the engine is in light mode ("dozing"). The server reports nothing about their statements. But light
//! mode requires that no stored program exists, so everything that a session sets, begins, prepares or creates shows in its own
//! packets.
//!
//! Statements that read or write rows, or begin or end a transaction, are forwarded unexamined: what they have written, and
//! whether a transaction is open, is found out when the engine wakes. All other statements are examined as usual. After a
//! statement that may run something that is not in its text, the session is not served any more.

use crate::decision::Decision;
use crate::engine::Engine;
use crate::session::{Phase, Session};
use crate::text::analysis::SYSTEM;
use foldhash::fast::FixedState;
use sql::{DdlScope, Kind};
use std::hash::BuildHasher;
use wire::{Command, Execute};

impl Session {
    /// Decides about a command in light mode, in which the engine follows sessions by their packets only. `Forward` if it may
    /// be sent to the server unexamined, and `Inject` for what the server must get before it. None if the command must be
    /// examined, or if the engine is not in light mode.
    pub(crate) fn passes_in_light_mode(
        &mut self,
        engine: &Engine,
        command: Option<Command>,
        body: &[u8],
        payload: &[u8],
    ) -> Option<Decision> {
        if self.phase != Phase::Commands || !engine.mode().is_in_light_mode() {
            return None;
        }
        if self.coverage.light_mode_epoch != engine.mode().epoch() {
            // The server first gets whatever it still lacks.
            if let Some(first) = self.before_pieces(engine) {
                return Some(Decision::Inject(first));
            }
            self.begin_doze(engine);
        }
        if self.coverage.has_unreported_effects {
            return None;
        }
        let passes = match command {
            Some(Command::Query) => self.is_of_rows(body),
            Some(Command::StmtExecute) => self.executes_in_doze(payload),
            _ => false,
        };
        passes.then(|| {
            self.coverage.was_active_in_light_mode = true;
            engine.repeats().note(FixedState::with_seed(0).hash_one(body));
            Decision::Forward
        })
    }

    /// Called at the session's first command in this light mode. Notes if the session's state is not certain now, so that it
    /// must not be served any more.
    fn begin_doze(&mut self, engine: &Engine) {
        self.review_light_mode(engine);
        self.note_light_mode(engine.mode().last_light_mode());
        let is_known = self.identity.known_database().is_some_and(|name| !name.eq_ignore_ascii_case(SYSTEM));
        self.coverage.has_unreported_effects |= !is_known || self.writes.is_locked || self.transaction.is_branch;
        self.verification = None;
    }

    /// Notes that the session is active in the light mode with this epoch, where the server does not report its statements.
    pub(crate) fn note_light_mode(&mut self, doze: u64) {
        (self.coverage.light_mode_epoch, self.coverage.was_active_in_light_mode) = (doze, true);
    }

    /// True if this text only reads or writes rows, or begins or ends a transaction, and names neither the schema `sys` nor
    /// anything of the cache.
    fn is_of_rows(&self, text: &[u8]) -> bool {
        // Multiple statements in one text may be allowed in the middle of a session, so this does not rely on the login.
        let may_be_several = text.iter().position(|byte| *byte == b';').is_some_and(|at| at + 1 < text.len());
        begins_plainly(text)
            && !may_be_several
            && !sql::contains_ignoring_case(text, SYSTEM)
            && !sql::surface::may_need_rewrite_or_file(text, self.identity.mode())
    }

    /// True if this COM_STMT_EXECUTE may be sent to the server unexamined: a known statement that reads, writes or controls a
    /// transaction, was prepared in the current database and names no system schema. Then also records its bindings, because
    /// the server reuses parameter types.
    fn executes_in_doze(&mut self, payload: &[u8]) -> bool {
        let Some(execute) = Execute::parse(payload, self.identity.capabilities()) else { return false };
        let database = self.identity.known_database();
        let Some(prepared) = self.statements.get_mut(execute.id) else { return false };
        let kind = &prepared.analysis.statement.kind;
        let is_plain =
            matches!(kind, Kind::Read(_) | Kind::Write | Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_));
        // For a statement from another database the server changes the current database and back, and then looks up privileges
        // again.
        let is_here = database.is_some() && prepared.parse_context.database.as_deref() == database;
        if !is_plain || !is_here || prepared.analysis.names_system() {
            return false;
        }
        prepared.bind(&execute);
        prepared.note_forwarded(&execute);
        true
    }

    /// True if a command that is examined in light mode may do something that does not show in its packets. The session must
    /// then not be served any more.
    pub(crate) fn hides_in_light_mode(&mut self, engine: &Engine, command: Option<Command>, body: &[u8]) -> bool {
        if self.coverage.light_mode_epoch != engine.mode().epoch() {
            self.begin_doze(engine);
        }
        let names_system = || sql::contains_ignoring_case(body, SYSTEM);
        let hides = match command {
            Some(Command::Query) => {
                let mode = self.identity.mode();
                names_system() && sql::mentions(body, mode, |word| word == SYSTEM)
                    || !shows_all_effects(&self.analyse(engine, body).statement.kind)
            }
            Some(Command::StmtExecute | Command::StmtBulkExecute) | None => true,
            Some(Command::InitDb | Command::ChangeUser) => names_system(),
            Some(_) => false,
        };
        self.coverage.was_active_in_light_mode = true;
        self.coverage.has_unreported_effects || hides
    }

    /// Updates what is known of the session if a light mode is over in which it was active: a transaction may be open, and
    /// something may have been missed. Does nothing otherwise. To be called before each command.
    #[inline]
    pub(crate) fn review_light_mode(&mut self, engine: &Engine) {
        if self.coverage.light_mode_epoch != 0 && self.coverage.light_mode_epoch != engine.mode().epoch() {
            self.come_back(engine);
        }
    }

    #[cold]
    fn come_back(&mut self, engine: &Engine) {
        let mode = engine.mode();
        // This is read before the verdict: a session that sees the doze as decided also sees the decision.
        let is_judged = mode.is_judged(self.coverage.light_mode_epoch);
        self.coverage.has_unreported_effects |= mode.is_lost(self.coverage.light_mode_epoch);
        if std::mem::take(&mut self.coverage.was_active_in_light_mode) {
            self.transaction.lose_sight();
            self.diagnostics.has_warnings = true;
        }
        // Until the doze is decided, this session is served nothing.
        if is_judged {
            self.coverage.light_mode_epoch = 0;
        }
    }

    /// Called when the server reports the end of a statement that is not known as running. If it was sent in light mode and
    /// reported after the engine woke, opens the cells that its reports have closed.
    pub(crate) fn note_unknown_end(&mut self, engine: &Engine) {
        if self.coverage.light_mode_epoch != 0 && self.work.running.is_none() {
            self.writes.open(engine);
        }
    }
}

/// True for a text that begins with SELECT, INSERT, UPDATE, DELETE or REPLACE, or that is only BEGIN, COMMIT or ROLLBACK.
fn begins_plainly(text: &[u8]) -> bool {
    let word = &text[..text.iter().take(9).position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(text.len().min(9))];
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    match word.len() {
        6 => is(b"select") || is(b"insert") || is(b"update") || is(b"delete") || is(b"commit") && text.len() == 6,
        7 => is(b"replace"),
        5 => is(b"begin") && text.len() == 5,
        8 => is(b"rollback") && text.len() == 8,
        _ => false,
    }
}

/// True if a statement of this kind shows its effect on the session in its text and response, provided that no stored program
/// exists.
pub(crate) fn shows_all_effects(kind: &Kind) -> bool {
    match kind {
        Kind::Read(_) | Kind::Write | Kind::Several => true,
        Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_) => true,
        Kind::Savepoint | Kind::RollbackToSavepoint | Kind::ReleaseSavepoint => true,
        Kind::Set(_) | Kind::SetTransaction(_) | Kind::Use(_) => true,
        Kind::SetStatement(inner) => matches!(inner.kind, Kind::Read(_) | Kind::Write),
        Kind::Show(_) | Kind::Explain | Kind::Do | Kind::Kill | Kind::Empty | Kind::Harmless => true,
        Kind::CreateTemporary | Kind::DropTemporary { .. } | Kind::Ddl(DdlScope::Tables(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plainest_texts_pass_without_a_look() {
        for text in
            ["SELECT 1", "select(1)", "insert INTO t VALUES (1)", "REPLACE t SET a = 1", "BEGIN", "commit", "Rollback"]
        {
            assert!(begins_plainly(text.as_bytes()), "{text}");
        }
        let others = [
            "",
            "SELECTED",
            "BEGIN NOT ATOMIC",
            "COMMIT AND CHAIN",
            "CALL p()",
            "/* x */ SELECT 1",
            " SELECT 1",
            "ROLLBACK TO s",
        ];
        for text in others {
            assert!(!begins_plainly(text.as_bytes()), "{text}");
        }
    }
}
