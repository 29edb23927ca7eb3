//! PREPARE and EXECUTE in SQL. While the statement behind a name is known, EXECUTE counts as that statement and invalidates only
//! the tables that the server locks for it. Its result is neither served nor stored.
//!
//! A name is forgotten after anything that may prepare another text under it without the engine seeing that: routines, compound
//! statements, statements that are not understood. Functions and triggers cannot do so.

use crate::session::Session;
use crate::statement::prepared::NamedStatement;
use crate::text::analysis::Analysis;
use sql::Kind;
use std::sync::Arc;

impl Session {
    /// Takes what is known of a statement's text. If that is an EXECUTE in SQL of a known read or write, returns what is known
    /// of the statement behind the name. Otherwise returns `analysis` unchanged.
    pub(crate) fn as_prepared(&mut self, analysis: Arc<Analysis>) -> Arc<Analysis> {
        let Kind::Execute(Some(name)) = &analysis.statement.kind else { return analysis };
        let is_of_rows = |named: &&NamedStatement| matches!(named.statement.kind, Kind::Read(_) | Kind::Write);
        let Some(named) = self.statements.by_name(name).filter(is_of_rows) else { return analysis };
        let executed = Analysis::executed(&named.statement);
        // If the statement was prepared in another database, the server changes the current database and back, and then looks up
        // the privileges for the current one again.
        if named.database.is_none() || named.database.as_deref() != self.identity.known_database() {
            self.identity.note_privilege_rechecks();
        }
        executed
    }

    /// Called when a PREPARE in SQL goes to the server. Keeps its statement until the response shows whether it has succeeded.
    pub(crate) fn note_preparation(&mut self, kind: &Kind) {
        let Kind::Prepare(Some(preparation)) = kind else { return };
        if self.identity.variables().are_certain() {
            let statement = sql::classify(&preparation.text, self.identity.mode());
            let database = self.identity.known_database().map(Box::from);
            self.statements.begin_naming(preparation.name.clone(), NamedStatement { statement, database });
        }
    }
}
