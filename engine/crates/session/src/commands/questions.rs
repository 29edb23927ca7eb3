//! The server is asked for settings that are not certain, before a statement for which they matter.

use crate::engine::Engine;
use crate::session::Session;
use crate::statement::question;
use crate::statement::running::Purpose;
use sql::{Kind, Read, Refusal, Statement};
use wire::Expect;

impl Session {
    /// Before a read that could be stored or a write of rows, the server is asked for the settings that are not certain.
    /// `text` is that of a query, and empty for a statement that is prepared.
    pub(crate) fn ask(&mut self, engine: &Engine, statement: &Statement, text: &[u8]) -> Option<Vec<u8>> {
        let matters = match &statement.kind {
            Kind::Read(read) => self.is_cached(engine) && self.may_be_kept(read, text),
            _ => self.may_tell_rows(engine, statement),
        };
        let is_uncertain = self.identity.variables().is_uncertain;
        if !is_uncertain || !matters || statement.reads_diagnostics || !self.may_be_asked() {
            return None;
        }
        // The question is about the number of rows found, too.
        let unseen = self.tell_unseen(engine, |_| true);
        unseen.or_else(|| {
            Some(self.inject(
                engine,
                Purpose::Ask,
                (question::question(engine.flavour(), self.identity.capabilities()), Expect::Query),
            ))
        })
    }

    fn may_be_kept(&self, read: &Read, text: &[u8]) -> bool {
        match read.refusal {
            None | Some(Refusal::CalcFoundRows) => true,
            Some(Refusal::SystemVariable) => sql::shows_setting_alone(text, self.identity.mode()),
            _ => false,
        }
    }

    fn may_be_asked(&self) -> bool {
        let is_unseen = !self.identity.may_report() || self.transaction.is_outside();
        is_unseen
            && !self.identity.must_run()
            // The question would be in the place of the last statement's trace.
            && !self.identity.wants_all()
            && self.transaction.deferred_begin.is_none()
    }

    fn may_tell_rows(&self, engine: &Engine, statement: &Statement) -> bool {
        statement.kind == Kind::Write
            && engine.settings().is_on()
            && engine.settings().tells_rows()
            && self.is_told(engine)
    }
}
