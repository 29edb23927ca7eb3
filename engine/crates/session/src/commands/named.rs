//! PREPARE and EXECUTE in SQL. While it is known what a name stands for, EXECUTE is what it runs: it outdates the tables that the
//! server locks for it, and no more. It is neither served nor stored.
//!
//! A name is forgotten with whatever may give it to another text where nobody looks: routines, blocks, statements that are not
//! understood. Functions and triggers cannot.

use crate::session::Session;
use crate::statement::prepared::Named;
use crate::text::reading::Reading;
use sql::Kind;
use std::sync::Arc;

impl Session {
    /// An EXECUTE of a read or a write that is known, as that; anything else as it is.
    pub(crate) fn as_prepared(&mut self, reading: Arc<Reading>) -> Arc<Reading> {
        let Kind::Execute(Some(name)) = &reading.statement.kind else { return reading };
        let is_of_rows = |named: &&Named| matches!(named.statement.kind, Kind::Read(_) | Kind::Write);
        let Some(named) = self.statements.by_name(name).filter(is_of_rows) else { return reading };
        let executed = Reading::executed(&named.statement);
        // From there the server comes back, and looks up what is granted here.
        if named.database.is_none() || named.database.as_deref() != self.identity.known_database() {
            self.identity.go_elsewhere();
        }
        executed
    }

    /// A PREPARE goes to the server.
    pub(crate) fn note_preparation(&mut self, kind: &Kind) {
        let Kind::Prepare(Some(preparation)) = kind else { return };
        if self.identity.variables().are_certain() {
            let statement = sql::classify(&preparation.text, self.identity.mode());
            let database = self.identity.known_database().map(Box::from);
            self.statements.begin_naming(preparation.name.clone(), Named { statement, database });
        }
    }
}
