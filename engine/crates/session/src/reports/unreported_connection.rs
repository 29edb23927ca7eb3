//! A connection about which the server reports nothing, although it may change data.

use crate::engine::Engine;
use crate::reports::earlier_statements::may_write;
use crate::transaction::writes::Writes;
use wire::{Command, Header};

/// A connection that may change anything without a report. From `new` to `end`, no stored result is current.
pub struct UnreportedConnection(Writes);

impl UnreportedConnection {
    /// True if the client's packet may be a command that changes what other sessions read. `payload` is the part of the
    /// packet that has arrived; an incomplete one always matters.
    pub fn may_change_others(engine: &Engine, header: Header, payload: &[u8]) -> bool {
        let is_whole = header.sequence == 0 && header.length == payload.len();
        let Some((&byte, text)) = payload.split_first().filter(|_| is_whole) else { return true };
        match Command::from_byte(byte) {
            Some(Command::Ping | Command::Quit | Command::Statistics | Command::InitDb) => false,
            Some(Command::Query) => may_write(engine, text),
            _ => true,
        }
    }

    /// Closes the cell that every result depends on, before the server gets the command. Blocks until no near cache can
    /// serve a result. `end` must follow.
    pub fn new(engine: &Engine) -> UnreportedConnection {
        let mut writes = Writes::default();
        writes.close_everything(engine, true);
        writes.announce(engine);
        engine.look_ups().await_end();
        engine.settings().note_grants();
        UnreportedConnection(writes)
    }

    /// Invalidates all results once more: bytes of a response are about to be sent, perhaps the last ones. Everything
    /// stays closed.
    pub fn note_response_bytes(&self, engine: &Engine) {
        self.0.advance(engine);
    }

    /// Called when the command or the connection has ended. Results may be stored and served again; earlier ones are
    /// stale.
    pub fn end(&mut self, engine: &Engine) {
        self.0.open(engine);
    }
}
