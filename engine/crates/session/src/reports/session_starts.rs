//! A session begins: after a login, a change of user or a reset.

use crate::engine::Engine;
use crate::identity::account::Account;
use crate::report::SessionState;
use crate::session::temporary::TemporaryTables;
use crate::session::{Phase, Session};

impl Session {
    /// Handles `Report::Connected`: the login has succeeded, and commands are followed from here on. Does nothing if the
    /// packets cannot be followed.
    pub(crate) fn on_connected(&mut self, engine: &Engine, account: Account, state: &SessionState) {
        if self.phase == Phase::Foreign {
            return;
        }
        self.identity.set_account(Some(account));
        let inherited_at_accept = self.coverage.inherited_at_accept;
        self.identity.set_granted(engine.number_of(inherited_at_accept));
        self.begin_anew(engine, inherited_at_accept);
        // The client asked for this database at login; the server has not made it the current one yet.
        let database = self.identity.database().to_vec();
        self.take_state(engine, &SessionState { database: Some(&database), ..*state });
        self.coverage.database_may_have_changed = true;
        // `init_connect` may have raised warnings.
        let initial_side_effects = engine.settings().usual_initial_state(inherited_at_accept, false);
        self.diagnostics.has_warnings = initial_side_effects.is_none_or(|known| known.has_init_connect);
        self.phase = Phase::Commands;
    }

    /// Starts the session afresh after a login, a change of user or a reset. Its settings, transaction, temporary tables and
    /// prepared statements are gone; FOUND_ROWS() stays. `inherited_at_accept` is the value of `Settings::inherited` from before the
    /// server set the session up.
    fn begin_anew(&mut self, engine: &Engine, inherited_at_accept: u64) {
        let initial_side_effects =
            engine.settings().usual_initial_state(inherited_at_accept, self.identity.was_reset());
        let known = initial_side_effects.filter(|_| engine.mode().is_awake());
        self.identity.begin(inherited_at_accept, known.map(|known| known.side_effects));
        self.transaction.begin_anew();
        self.statements.clear();
        self.temporary = TemporaryTables::default();
        // While the engine is suspended, it does not see changes of what new sessions inherit.
        let is_unchanged = engine.settings().is_unchanged_since(inherited_at_accept) && engine.mode().is_awake();
        if self.identity.has_set_role() || !is_unchanged {
            self.identity.become_private(engine.contexts());
        }
    }

    /// Starts a session afresh after a change of user or a reset: what `init_connect` had set is gone too. `inherited` is the
    /// value of `Settings::inherited` from before.
    pub(crate) fn begin_again(&mut self, engine: &Engine, inherited: u64) {
        self.identity.note_reset();
        self.begin_anew(engine, inherited);
    }

    /// Takes the session's `fqc_type`: 0 off, 1 on, 2 on demand. Counts the session among those that want the cache, unless it
    /// is 0.
    pub(crate) fn set_cache_type(&mut self, engine: &Engine, cache_type: u8) {
        self.identity.set_cache_type(cache_type);
        self.set_interested(engine, cache_type != 0 && !self.is_unserved());
    }
}
