//! The command that the server is running for this connection, and what is left of the last one.
//!
//! Invariant: the client never sees a response to a command of the engine's own, even if the connection is given up meanwhile.

use crate::statement::recording::Finished;
use crate::statement::running::{HiddenError, Running};
use wire::{Progress, ResponseTracker};

#[derive(Default)]
pub struct Work {
    pub running: Option<Running>,
    /// Nothing is followed any more, but the client must not see what the server still answers to us.
    draining: Option<ResponseTracker>,
    /// A read whose result may be stored.
    pub finished: Option<Finished>,
    /// Why the server has not done what the client takes for done: the answer to the command that waits.
    pub hidden_error: Option<HiddenError>,
    /// Room for the next recording.
    pub scratch: Vec<u8>,
}

impl Work {
    /// The server has nothing left to answer that is followed, or that the client must not see.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.running.is_none() && self.draining.is_none()
    }

    /// The command is followed no more.
    pub fn abandon(&mut self) {
        self.draining = self.running.take().filter(Running::is_hidden).map(|running| running.tracker);
    }

    /// The response is not understood: all of it passes.
    pub fn give_up(&mut self) {
        self.running = None;
        self.draining = None;
    }

    /// Whether these bytes answer a question of ours that was abandoned.
    pub fn drains(&mut self, bytes: &[u8]) -> bool {
        let Some(tracker) = &mut self.draining else { return false };
        if !matches!(tracker.feed(bytes), Progress::More) {
            self.draining = None;
        }
        true
    }
}
