//! Before a statement for which uncertain settings matter, the engine queries the server for their values.

use crate::engine::Engine;
use crate::session::Session;
use crate::statement::running::Purpose;
use crate::statement::settings_query;
use sql::{Kind, Read, Refusal, Statement};
use wire::Expect;

impl Session {
    /// Returns the packet of a query for the session's uncertain settings, or of a served read that the server must
    /// replay before it. None if the settings are certain, do not matter to this statement, or may not be queried now.
    /// `text` is the text of a query, and empty for a statement that is being prepared.
    pub(crate) fn inject_settings_query(
        &mut self,
        engine: &Engine,
        statement: &Statement,
        text: &[u8],
    ) -> Option<Vec<u8>> {
        let matters = match &statement.kind {
            Kind::Read(read) => self.is_cached(engine) && self.may_be_kept(read, text),
            _ => self.may_show_rows(engine, statement),
        };
        let is_uncertain = self.identity.variables().is_uncertain;
        if !is_uncertain || !matters || statement.reads_diagnostics || !self.may_query_settings() {
            return None;
        }
        // The engine's query also reads FOUND_ROWS(), so a pending read is replayed first.
        let pending_read = self.inject_pending_read(engine, |_| true);
        pending_read.or_else(|| {
            Some(self.inject(
                engine,
                Purpose::QuerySettings,
                (settings_query::packet(engine.flavour(), self.identity.capabilities()), Expect::Query),
            ))
        })
    }

    /// True if the result of this read could be stored, as far as its text shows that.
    fn may_be_kept(&self, read: &Read, text: &[u8]) -> bool {
        match read.refusal {
            None | Some(Refusal::CalcFoundRows) => true,
            Some(Refusal::SystemVariable) => sql::shows_setting_alone(text, self.identity.mode()),
            _ => false,
        }
    }

    /// True if the engine may send a query of its own on this connection now, without any effect that the client sees.
    fn may_query_settings(&self) -> bool {
        let is_unobserved = !self.identity.may_report() || self.transaction.is_outside();
        is_unobserved
            && !self.identity.must_run()
            // With the optimizer trace on, the query would replace the trace of the client's last statement.
            && !self.identity.expects_side_effects()
            && self.transaction.deferred_begin.is_none()
    }

    /// True if the statement is a write whose text may show which rows it changes.
    fn may_show_rows(&self, engine: &Engine, statement: &Statement) -> bool {
        statement.kind == Kind::Write
            && engine.settings().is_on()
            && engine.settings().tracks_rows()
            && self.is_state_known(engine)
    }
}
