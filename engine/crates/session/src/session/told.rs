//! How far the server's reports about this session can be relied on.

#[derive(Default)]
pub struct Told {
    /// When the server last told what is in force here; nothing is served before it has in the present epoch.
    pub in_epoch: u64,
    /// A statement began before the engine woke, or ended after it went to sleep.
    pub has_missed: bool,
    /// The last doze in which it did anything, as long as it is not known whether that could be followed; otherwise 0.
    pub dozed_in: u64,
    /// It has done something of which its bytes alone were seen, and has not looked at itself since.
    pub is_dozing: bool,
    /// The server has run nothing since its last report but a plain read: there is nothing new to report.
    pub is_uneventful: bool,
    /// What the server has been given last may choose another database, or drop the current one.
    pub may_move: bool,
    /// Something may have, since the server last told which one it is.
    pub has_moved: bool,
    /// What `Settings::inherited` said before the server began to set the session up.
    pub accepted_under: u64,
}

impl Told {
    /// The server gets something that may choose another database, or not.
    pub fn note_given(&mut self, may_move: bool) {
        self.may_move = may_move;
        self.has_moved |= may_move;
    }
}
