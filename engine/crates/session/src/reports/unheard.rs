//! A connection that the server reports nothing about.

use crate::engine::Engine;
use crate::reports::past::may_write;
use crate::transaction::writes::Writes;
use wire::{Command, Header};

/// For as long as somebody may do anything that the server does not report, nothing is fresh.
pub struct Unheard(Writes);

impl Unheard {
    /// Whether what its client has sent, of which `payload` has come, may be a command that changes what others read.
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

    /// Bytes of a response to it are about to leave, perhaps the last.
    pub fn answers(&self, engine: &Engine) {
        self.0.advance(engine);
    }

    pub fn ends(&mut self, engine: &Engine) {
        self.0.open(engine);
    }
}
