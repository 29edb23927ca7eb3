//! How far the server's reports about this session can be relied on.

#[derive(Default)]
pub struct Told {
    /// The engine's epoch in which the server last reported the session's state. Nothing is served unless that is the
    /// current one.
    pub in_epoch: u64,
    /// The session has done something that was not reported. From its next command on it rests.
    pub has_missed: bool,
    /// The last doze in which the session did anything, until it is decided whether that could be followed. Otherwise
    /// 0.
    pub dozed_in: u64,
    /// In a doze the session has sent statements whose effects were not reported and not examined since.
    pub is_dozing: bool,
    /// Since its last report the server has run only a plain read, so there is nothing new to report.
    pub is_uneventful: bool,
    /// The last command sent to the server may choose another database, or drop the current one.
    pub may_move: bool,
    /// The current database may have changed since the server last reported it.
    pub has_moved: bool,
    /// The value of `Settings::inherited` from before the server began to set up the session.
    pub accepted_under: u64,
}

impl Told {
    /// Called when a command goes to the server. `may_move` says whether it may change the current database.
    pub fn note_given(&mut self, may_move: bool) {
        self.may_move = may_move;
        self.has_moved |= may_move;
    }
}
