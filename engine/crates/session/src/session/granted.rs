//! The privileges for the current database. The server looks them up when the database is chosen and keeps them. It looks them up
//! again when it returns from another database: after a routine that it ran or only loaded there, or a statement that was
//! prepared there.

use crate::engine::{Engine, OF_ONE};
use crate::session::Session;
use crate::statement::recording::Recording;
use crate::statement::running::{Effect, Running};
use crate::text::analysis::Analysis;
use crate::text::kinds::opens_what_it_names;
use flavour::Flavour;
use sql::Kind;

impl Session {
    /// Called after the statement was noted as running and before the server gets it. Notes in `Running::stays_in` that it certainly calls
    /// no routine, and so cannot make the server look up the privileges for the current database again.
    pub(crate) fn note_stay(&mut self, engine: &Engine, analysis: &Analysis, text: &[u8]) {
        if !self.identity.rechecks_database_privileges() || self.are_grants_unchanged(engine) {
            return;
        }
        let generation = engine.catalogue().generation();
        let stays = self.stays(engine, analysis, text);
        if let Some(running) = self.work.running.as_mut().filter(|_| stays) {
            running.stays_in = Some(generation);
        }
    }

    /// True if the statement certainly uses no routine, and no view, which may call one. False also if that is not known.
    fn stays(&self, engine: &Engine, analysis: &Analysis, text: &[u8]) -> bool {
        let flavour = engine.flavour();
        let is_certain = !self.identity.variables().is_doubtful() || parses_alike_everywhere(flavour, text);
        let is_in_users = self.identity.known_database().is_some_and(|name| !flavour.schemas.is_system(name));
        let statement = &analysis.statement;
        let runs_its_text = match statement.kind {
            Kind::Write => engine.catalogue().has_no_triggers(),
            _ => opens_what_it_names(&statement.kind),
        };
        is_certain
            && is_in_users
            && runs_its_text
            && !statement.may_call_stored
            && !analysis.names_system()
            && !sql::contains_ignoring_case(text, DESCRIBING)
            && !self.may_name_view(engine, analysis, text)
    }

    /// Called at the end of a statement. If privileges have changed since the session chose its database, and this statement may have made
    /// the server look them up again, they get a private number: the session shares no results until it chooses a database again.
    pub(crate) fn recheck_grants(&mut self, engine: &Engine, running: &Running) {
        if !self.identity.rechecks_database_privileges() || self.are_grants_unchanged(engine) || running.is_hidden() {
            return;
        }
        let is_of_tables = |read: &Recording| read.refusal.is_none() && !read.may_read_views;
        let is_read_of_tables = running.read.as_ref().is_some_and(is_of_tables);
        let runs_nothing = matches!(running.effect, Effect::Statement(_)) && !running.may_run_others;
        let is_as_then = engine.settings().is_unchanged_since(running.inherited);
        let stays = is_as_then && running.stays_in == Some(engine.catalogue().generation());
        if !is_read_of_tables && !runs_nothing && !stays {
            self.identity.set_granted_for_database(OF_ONE | engine.contexts().private());
        }
    }

    /// True if no privileges have changed since the session chose its current database. False also if it is not known which privileges the
    /// server has looked up for that database. Then even a PREPARE may make the server look them up again.
    pub(crate) fn are_grants_unchanged(&self, engine: &Engine) -> bool {
        let granted = self.identity.granted_for_database();
        granted & OF_ONE == 0 && engine.settings().are_grants_unchanged_since(granted)
    }
}

/// Tables of this schema describe views, and for that the server opens the views.
const DESCRIBING: &[u8] = b"information_schema";

/// True if the text is parsed alike in every SQL mode and in every character set of a client.
pub(crate) fn parses_alike_everywhere(flavour: &Flavour, text: &[u8]) -> bool {
    flavour.modes.foreign.is_empty() && text.iter().all(|byte| byte.is_ascii() && !matches!(byte, b'"' | b'\\'))
}
