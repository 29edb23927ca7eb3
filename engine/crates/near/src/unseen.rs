//! A read that was answered here, and what has to wait until the server has seen it.

use crate::command::is_harmless;
use wire::{Command, ErrPacket, Expect, Header, Outcome, OutcomeKind};

/// "Record has changed since last read".
const HAS_CHANGED: u16 = 1020;

/// The last read that the server has not seen.
pub struct Unseen {
    pub packet: Vec<u8>,
    pub rows: u64,
}

impl Unseen {
    fn is_execution(&self) -> bool {
        self.packet[Header::SIZE] == Command::StmtExecute as u8
    }

    pub fn expect(&self) -> Expect {
        if self.is_execution() { Expect::Execute } else { Expect::Query }
    }

    /// The server may get this command without having seen the read: it cannot know the difference. What is closed cannot be run.
    pub fn may_follow(&self, payload: &[u8]) -> bool {
        is_harmless(payload) && !(self.is_execution() && payload[0] == Command::StmtClose as u8)
    }

    /// An execution of the same statement leaves behind what it would. And what changes with a definition the server tells once.
    pub fn is_replaced_by(&self, payload: &[u8]) -> bool {
        const COMMAND_AND_ID: usize = 5;
        self.is_execution() && payload.get(..COMMAND_AND_ID) == self.packet[Header::SIZE..].get(..COMMAND_AND_ID)
    }
}

/// A command that waits until the server has run what it had not seen.
pub struct Held {
    command: Vec<u8>,
    rows: u64,
    /// As the server counts them.
    counted: Option<u64>,
}

impl Held {
    /// `rows`: those that the client was given.
    pub fn new(command: Vec<u8>, rows: u64) -> Held {
        Held { command, rows, counted: None }
    }

    pub fn count(&mut self, outcome: &Outcome) {
        let rows = if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { rows } else { u64::MAX };
        self.counted = Some(rows);
    }

    pub fn is_counted(&self) -> bool {
        self.counted.is_some()
    }

    /// The command that the server gets now, or the error that the client does.
    pub fn released(self) -> Result<Vec<u8>, Vec<u8>> {
        if self.counted == Some(self.rows) {
            return Ok(self.command);
        }
        let message = "fqc-near: rows have changed since the read whose FOUND_ROWS() is asked for; read again";
        Err(ErrPacket::build(1, HAS_CHANGED, b"HY000", message))
    }
}
