//! A connection about which the server reports nothing.

use crate::engine::Engine;
use crate::reports::past::may_write;
use crate::transaction::writes::Writes;
use wire::{Command, Header};

/// While this exists, no stored result is current, because the connection may change anything without a report.
pub struct Unheard(Writes);

impl Unheard {
    /// True if the client's packet may be a command that changes what other sessions read. `payload` is the part of it
    /// that has arrived.
    pub fn matters(engine: &Engine, header: Header, payload: &[u8]) -> bool {
        let is_whole = header.sequence == 0 && header.length == payload.len();
        let Some((&byte, text)) = payload.split_first().filter(|_| is_whole) else { return true };
        match Command::from_byte(byte) {
            Some(Command::Ping | Command::Quit | Command::Statistics | Command::InitDb) => false,
            Some(Command::Query) => may_write(engine, text),
            _ => true,
        }
    }

    pub fn new(engine: &Engine) -> Unheard {
        let mut writes = Writes::default();
        writes.close_everything(engine, true);
        writes.announce(engine);
        engine.questions().await_end();
        engine.settings().note_grants();
        Unheard(writes)
    }

    /// Invalidates all results once more: bytes of a response are about to be sent, perhaps the last ones.
    pub fn answers(&self, engine: &Engine) {
        self.0.advance(engine);
    }

    pub fn ends(&mut self, engine: &Engine) {
        self.0.open(engine);
    }
}
