//! How far the server's reports about this session can be relied on.

#[derive(Default)]
pub struct ReportCoverage {
    /// The value of `EngineMode::epoch` when the server last reported the session's state; it changes whenever the engine
    /// wakes, is suspended or enters light mode. Nothing is served unless it is the current one.
    pub reported_in_epoch: u64,
    /// The session has done something that was not reported. From its next command on it is served
    /// nothing.
    pub has_unreported_effects: bool,
    /// The epoch of the last light mode in which the session was active, until it is decided whether
    /// everything in it could be followed. Then 0, and nothing is served before.
    pub light_mode_epoch: u64,
    /// The session was active in light mode, where its statements are not reported, and its state was not corrected since.
    pub was_active_in_light_mode: bool,
    /// Since its last report the server has run only a plain read for this session, so there is no new state to report.
    pub is_uneventful: bool,
    /// The last command sent to the server may choose another database, or drop the current one.
    pub may_change_database: bool,
    /// The current database may have changed since the server last reported it.
    pub database_may_have_changed: bool,
    /// The value of `Settings::inherited` from before the server began to set up the session.
    pub inherited_at_accept: u64,
}

impl ReportCoverage {
    /// Called when a command goes to the server. `may_change_database` says whether it may change the current database.
    pub fn note_forwarded(&mut self, may_change_database: bool) {
        self.may_change_database = may_change_database;
        self.database_may_have_changed |= may_change_database;
    }
}
