//! The command that the server is running for this connection, and what is left of the last one.
//!
//! Invariant: the client never sees a response to a command of the engine's own, even if the connection is abandoned before
//! that response arrives.

use crate::statement::recording::FinishedRead;
use crate::statement::running::{HiddenError, Running};
use wire::{Progress, ResponseTracker};

#[derive(Default)]
pub struct Work {
    /// The command that the server is running, one of the client or of the engine's own. None between commands.
    pub running: Option<Running>,
    /// Set after the connection was abandoned, while the server still answers a command of the engine's own. The client must
    /// not see that response.
    draining: Option<ResponseTracker>,
    /// The last read, if its response is complete. Its result may be stored once the response was sent.
    pub finished: Option<FinishedRead>,
    /// The error of a hidden command that the client's next command depends on. The client gets it as the answer to that
    /// command.
    pub hidden_error: Option<HiddenError>,
    /// Buffer that the next recording reuses.
    pub scratch: Vec<u8>,
}

impl Work {
    /// True if the server is running no command that is followed or must be hidden from the client.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.draining.is_none()
    }

    /// Stops following the running command. If its response is hidden from the client, the rest of the response still is.
    pub fn abandon(&mut self) {
        self.draining = self.running.take().filter(Running::is_hidden).map(|running| running.tracker);
    }

    /// Forgets the running command, because its response is not understood. From here on all of the response passes to the
    /// client.
    pub fn give_up(&mut self) {
        self.running = None;
        self.draining = None;
    }

    /// True if these bytes answer a command of the engine's own that was abandoned: the client must not get them. To be called
    /// once for each piece of a response, because it follows the response to its end.
    pub fn consumes_abandoned_response(&mut self, bytes: &[u8]) -> bool {
        let Some(tracker) = &mut self.draining else { return false };
        if !matches!(tracker.feed(bytes), Progress::More) {
            self.draining = None;
        }
        true
    }
}
