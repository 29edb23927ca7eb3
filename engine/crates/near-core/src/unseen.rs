//! A read that was answered here, and what has to wait until the server has seen it.

use crate::command::is_harmless;
use crate::follow::Follower;
use crate::prepared::Under;
use sql::Aggregates;
use std::collections::VecDeque;
use wire::{Command, ErrPacket, Execute, Expect, Header, Outcome, OutcomeKind};

/// Reads that the server must run for the rows found by the last one.
const MOST_BEFORE: usize = 8;
/// "Record has changed since last read".
const HAS_CHANGED: u16 = 1020;

/// The last read that the server has not seen.
pub struct Unseen {
    pub packet: Vec<u8>,
    /// Those found; none if they may be those of an older read.
    pub rows: Option<u64>,
    /// What FOUND_ROWS() tells after it; none if that is not certain.
    pub found: Option<u64>,
    /// The server warns of words in its text.
    pub warns: bool,
    /// The context in which it was answered; none if the server gives out no numbers of contexts.
    pub under: Option<Under>,
    /// It binds types that the server does not have, and that later executions may go by.
    pub first_types: Option<Vec<u8>>,
    /// Those answered before it, the first one first, whose rows found it may have left as they were.
    pub before: Vec<Unseen>,
}

impl Unseen {
    /// The server must run those before it, too: then the rows found are right. If there are too many, it is not known which they are.
    pub fn after(mut self, mut earlier: Unseen) -> Unseen {
        if earlier.rows.is_none() || earlier.before.len() >= MOST_BEFORE {
            self.rows = None;
            return self;
        }
        self.before = std::mem::take(&mut earlier.before);
        self.before.push(earlier);
        // The same command counts once: the later one either has rows, or the earlier one had none.
        self.before.retain(|one| one.packet != self.packet);
        self
    }

    /// Returns true if the read is this packet, its number of rows is known, and no other read is to be sent before it.
    pub fn is_alone(&self, packet: &[u8]) -> bool {
        self.before.is_empty() && self.rows.is_some() && self.packet == packet
    }

    /// How many reads the server has not seen.
    pub fn count(&self) -> usize {
        self.before.len() + 1
    }

    pub fn brings_types(&self) -> bool {
        self.first_types.is_some()
    }

    fn is_execution(&self) -> bool {
        self.packet[Header::SIZE] == Command::StmtExecute as u8
    }

    pub fn expect(&self) -> Expect {
        if self.is_execution() { Expect::Execute } else { Expect::Query }
    }

    /// The server may get this command without having seen the read: it cannot know the difference, or the client goes. What is closed
    /// cannot be run, and the answer to a ping may count warnings.
    pub fn may_follow(&self, payload: &[u8], follower: &Follower) -> bool {
        let has_execution = || self.before.iter().chain([self]).any(Unseen::is_execution);
        let is = |command: Command| payload[0] == command as u8;
        let matters =
            is(Command::StmtClose) && has_execution() || is(Command::Ping) && (follower.has_warned() || self.warns);
        is(Command::Quit) || is_harmless(payload) && !matters
    }

    fn is_of_same_statement(&self, payload: &[u8]) -> bool {
        const COMMAND_AND_ID: usize = 5;
        self.is_execution() && payload.get(..COMMAND_AND_ID) == self.packet[Header::SIZE..].get(..COMMAND_AND_ID)
    }

    /// It is this command.
    pub fn is_same(&self, payload: &[u8]) -> bool {
        self.packet.get(Header::SIZE..) == Some(payload)
    }

    /// Those before this one alone.
    pub fn earlier(self) -> Option<Unseen> {
        let mut before = self.before;
        let last = before.pop()?;
        Some(Unseen { before, ..last })
    }

    /// An execution of the same statement leaves behind what it would. And what changes with a definition the server tells once.
    pub fn is_replaced_by(&self, payload: &[u8], capabilities: u64) -> bool {
        let binds = |types: &Vec<u8>| binds_all(payload, types, capabilities).unwrap_or_default();
        self.is_of_same_statement(payload) && self.first_types.as_ref().is_none_or(binds)
    }

    /// Another read may be answered before the server has seen this one.
    pub fn may_be_forgotten_for(&self, payload: &[u8], capabilities: u64) -> bool {
        self.first_types.is_none() || self.is_replaced_by(payload, capabilities)
    }

    /// This command as the server must get it in place of this read: with the types that it goes by. None if it is to get it as it is.
    pub fn completed(&self, packet: &[u8], capabilities: u64) -> Option<Vec<u8>> {
        let payload = packet.get(Header::SIZE..).filter(|payload| self.is_of_same_statement(payload))?;
        let types = self.first_types.as_ref()?;
        let is_without = Execute::parse(payload, capabilities)?.new_types(count(types)).is_none();
        is_without.then(|| wire::with_types(packet, types, capabilities))
    }
}

fn count(types: &[u8]) -> u16 {
    (types.len() / 2) as u16
}

/// An execution brings these types, and a value of each.
fn binds_all(payload: &[u8], types: &[u8], capabilities: u64) -> Option<bool> {
    let execute = Execute::parse(payload, capabilities)?;
    let params = execute.params(count(types), &[])?;
    Some(params.are_types_new && params.types == types && params.nulls.iter().all(|byte| *byte == 0))
}

/// A command that waits until the server has run what it had not seen.
pub struct Held {
    command: Vec<u8>,
    /// The rows that the client was given by each, if they are those found.
    awaited: VecDeque<Option<u64>>,
    is_right: bool,
}

impl Held {
    pub fn new(command: Vec<u8>, unseen: &Unseen) -> Held {
        let awaited = unseen.before.iter().chain([unseen]).map(|one| one.rows).collect();
        Held { command, awaited, is_right: true }
    }

    /// As the server counts them.
    pub fn count(&mut self, outcome: &Outcome) {
        if let Some(rows) = self.awaited.pop_front() {
            self.is_right &= is_found(rows, outcome);
        }
    }

    pub fn is_counted(&self) -> bool {
        self.awaited.is_empty()
    }

    /// The command that the server gets now, or the error that the client does.
    pub fn released(self) -> Result<Vec<u8>, Vec<u8>> {
        if self.is_right { Ok(self.command) } else { Err(has_changed()) }
    }
}

/// The server has found as many as the client was given.
pub fn is_found(rows: Option<u64>, outcome: &Outcome) -> bool {
    rows.is_some() && found(outcome) == rows
}

/// An answer of one row or none that may be that of an aggregate over nothing.
pub fn may_leave_found(aggregates: Aggregates, answer: &[u8], capabilities: u64, is_binary: bool) -> bool {
    let shows_rows =
        || wire::first_value(answer, capabilities, is_binary).is_some_and(|value| aggregates.show_rows(value));
    aggregates != Aggregates::No && !shows_rows()
}

/// The rows of an answer that has some, or none of them.
pub fn found(outcome: &Outcome) -> Option<u64> {
    if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { Some(rows) } else { None }
}

/// The answer to who asks for FOUND_ROWS() that the server does not know.
pub fn has_changed() -> Vec<u8> {
    let message = "fqc-near: rows have changed since the read whose FOUND_ROWS() is asked for; read again";
    ErrPacket::build(1, HAS_CHANGED, b"HY000", message)
}
