//! Sessions that work while the engine dozes. The server reports nothing of their statements, but no stored program exists that
//! could do anything for them: what they set, begin, prepare and create is in their own bytes.
//!
//! A statement that only reads or writes rows, or begins or ends a transaction, passes without a further look: what it has
//! written, and whether a transaction is open, is found out after waking. All others go their usual way. Whatever may run what
//! is not in its text ends the matter: that session rests.

use crate::decision::Decision;
use crate::engine::Engine;
use crate::session::{Phase, Session};
use crate::text::reading::SYSTEM;
use foldhash::fast::FixedState;
use sql::{DdlScope, Kind};
use std::hash::BuildHasher;
use wire::{Command, Execute};

impl Session {
    /// A command of a session at work while the engine dozes, if it passes without a further look.
    pub(crate) fn passes_in_doze(
        &mut self,
        engine: &Engine,
        command: Option<Command>,
        body: &[u8],
        payload: &[u8],
    ) -> Option<Decision> {
        if self.phase != Phase::Commands || !engine.vigil().is_dozing() {
            return None;
        }
        if self.told.dozed_in != engine.vigil().epoch() {
            // Whatever the server has not been told yet it is told first.
            if let Some(first) = self.before_pieces(engine) {
                return Some(Decision::Inject(first));
            }
            self.begin_doze(engine);
        }
        if self.told.has_missed {
            return None;
        }
        let passes = match command {
            Some(Command::Query) => self.is_of_rows(body),
            Some(Command::StmtExecute) => self.executes_in_doze(payload),
            _ => false,
        };
        passes.then(|| {
            self.told.is_dozing = true;
            engine.repeats().note(FixedState::with_seed(0).hash_one(body));
            Decision::Forward
        })
    }

    /// The first command since the engine began to doze.
    fn begin_doze(&mut self, engine: &Engine) {
        self.look_back(engine);
        self.note_doze(engine.vigil().last_doze());
        let is_known = self.identity.known_database().is_some_and(|name| !name.eq_ignore_ascii_case(SYSTEM));
        self.told.has_missed |= !is_known || self.writes.is_locked || self.transaction.is_branch;
        self.verification = None;
    }

    pub(crate) fn note_doze(&mut self, doze: u64) {
        (self.told.dozed_in, self.told.is_dozing) = (doze, true);
    }

    /// Nothing of such a text is of interest but that it reads or writes rows, or begins or ends a transaction.
    fn is_of_rows(&self, text: &[u8]) -> bool {
        // Whether several statements in one text are allowed may change without a login.
        let may_be_several = text.iter().position(|byte| *byte == b';').is_some_and(|at| at + 1 < text.len());
        begins_plainly(text)
            && !may_be_several
            && !sql::says(text, SYSTEM)
            && !sql::surface::is_near(text, self.identity.mode())
    }

    /// The server keeps how parameters are bound, and what it is told of that in one execution holds for the next.
    fn executes_in_doze(&mut self, payload: &[u8]) -> bool {
        let Some(execute) = Execute::parse(payload, self.identity.capabilities()) else { return false };
        let database = self.identity.known_database();
        let Some(prepared) = self.statements.get_mut(execute.id) else { return false };
        let kind = &prepared.reading.statement.kind;
        let is_plain =
            matches!(kind, Kind::Read(_) | Kind::Write | Kind::Begin(_) | Kind::Commit(_) | Kind::Rollback(_));
        // From another one the server comes back, and looks up what is granted here.
        let is_here = database.is_some() && prepared.terms.database.as_deref() == database;
        if !is_plain || !is_here || prepared.reading.names_system() {
            return false;
        }
        prepared.bind(&execute);
        prepared.note_forwarded(&execute);
        true
    }

    /// Whether a command that does not pass so may do what its bytes do not show.
    pub(crate) fn hides_in_doze(&mut self, engine: &Engine, command: Option<Command>, body: &[u8]) -> bool {
        if self.told.dozed_in != engine.vigil().epoch() {
            self.begin_doze(engine);
        }
        let names_system = || sql::says(body, SYSTEM);
        let hides = match command {
            Some(Command::Query) => {
                let mode = self.identity.mode();
                names_system() && sql::mentions(body, mode, |word| word == SYSTEM)
                    || !shows_all(&self.read(engine, body).statement.kind)
            }
            Some(Command::StmtExecute | Command::StmtBulkExecute) | None => true,
            Some(Command::InitDb | Command::ChangeUser) => names_system(),
            Some(_) => false,
        };
        self.told.is_dozing = true;
        self.told.has_missed || hides
    }

    /// Looks at what a doze has left behind, once it is over.
    #[inline]
    pub(crate) fn look_back(&mut self, engine: &Engine) {
        if self.told.dozed_in != 0 && self.told.dozed_in != engine.vigil().epoch() {
            self.come_back(engine);
        }
    }

    #[cold]
    fn come_back(&mut self, engine: &Engine) {
        let vigil = engine.vigil();
        // Asked first: whoever finds it judged finds the verdict.
        let is_judged = vigil.is_judged(self.told.dozed_in);
        self.told.has_missed |= vigil.is_lost(self.told.dozed_in);
        if std::mem::take(&mut self.told.is_dozing) {
            self.transaction.lose_sight();
            self.diagnostics.has_warnings = true;
        }
        // Until then it is served nothing.
        if is_judged {
            self.told.dozed_in = 0;
        }
    }

    /// A statement has ended that was sent while the engine dozed, and of which the server has told since.
    pub(crate) fn ends_unseen(&mut self, engine: &Engine) {
        if self.told.dozed_in != 0 && self.work.running.is_none() {
            self.writes.open(engine);
        }
    }
}

/// SELECT, INSERT, UPDATE, DELETE or REPLACE, or one of these words alone: BEGIN, COMMIT, ROLLBACK.
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

/// Where no stored program exists, what a statement of this kind does to its session is known from its text and response.
pub(crate) fn shows_all(kind: &Kind) -> bool {
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
