//! A server thread whose bytes are not seen: a connection older than the plugin or compressed, an event, an applier.
//!
//! Nothing is served to it, but its writes count. What it locks for writing is closed until the server shows that its
//! transaction has ended; of one whose past is unknown, every statement may end a transaction that wrote anything.

use crate::engine::Engine;
use crate::reports::past::may_write;
use crate::text::kinds::closing;
use crate::transaction::writes::Writes;
use sql::{Kind, LexMode};
use wire::{Command, Header};

pub struct Bystander {
    writes: Writes,
    is_past_unknown: bool,
}

impl Bystander {
    /// `is_new`: everything that it ever did has been reported here.
    pub fn new(is_new: bool) -> Bystander {
        Bystander { writes: Writes::default(), is_past_unknown: !is_new }
    }

    pub fn on_table(&mut self, engine: &Engine, db: &[u8], name: &[u8], is_read_only: bool) {
        if is_read_only || crate::engine::system::is_server_own(db, name) {
            return;
        }
        self.writes.close_table(engine, &engine.tables.find(&engine.versions, db, name));
        if db == b"mysql" {
            self.writes.close_everything(engine, true);
        }
    }

    pub fn on_table_defined(&mut self, engine: &Engine, db: &[u8], name: &[u8]) {
        self.writes.close_everything(engine, true);
        self.on_table(engine, db, name, false);
    }

    pub fn on_logged(&mut self, engine: &Engine, text: &[u8]) {
        let statement = sql::classify(text, LexMode::default());
        let closing = closing(&statement.kind);
        if self.is_past_unknown || closing.everything {
            self.writes.close_everything(engine, closing.defines);
        }
    }

    /// A command has ended, and its client may have been told already. `executed`: the text of what it has done, empty if
    /// it failed or did something else.
    pub fn on_status(&mut self, engine: &Engine, executed: &[u8], is_in_transaction: bool, is_locked: bool) {
        self.writes.is_locked = is_locked;
        let ended = !is_in_transaction
            || matches!(sql::classify(executed, LexMode::default()).kind, Kind::Commit(_) | Kind::Rollback(_));
        if ended {
            // What was locked before anybody looked may be written without a word, and what hangs on it.
            self.is_past_unknown &= is_locked;
            self.writes.open(engine);
        } else {
            self.writes.open_everything(engine);
        }
    }

    pub fn on_end(&mut self, engine: &Engine) {
        self.writes.is_locked = false;
        self.writes.open(engine);
    }
}

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
        engine.settings.note_grants();
        Unheard(writes)
    }

    /// Bytes of a response to it are about to leave, perhaps the last.
    pub fn on_response(&self, engine: &Engine) {
        self.0.advance(engine);
    }

    pub fn on_end(&mut self, engine: &Engine) {
        self.0.open(engine);
    }
}
