//! Reads that were answered from memory and that the server has not seen, and commands that wait until it has.

use crate::command::is_harmless;
use crate::follow::Follower;
use crate::prepared::Under;
use sql::Aggregates;
use std::collections::VecDeque;
use wire::{Command, ErrPacket, Execute, Expect, Header, Outcome, OutcomeKind};

/// The maximum number of reads that the server must run before the last one, for its number of rows found to be right.
const MOST_BEFORE: usize = 8;
/// The error number of "Record has changed since last read".
const HAS_CHANGED: u16 = 1020;

/// The last read that was answered from memory and that the server has not seen, with the ones before it that still matter.
pub struct Unseen {
    pub packet: Vec<u8>,
    /// The number of rows found. None if it may be that of an older read.
    pub rows: Option<u64>,
    /// The value of FOUND_ROWS() after the read. None if it is not certain.
    pub found: Option<u64>,
    /// True if the server warns of words in the text.
    pub warns: bool,
    /// The context in which the read was answered. None if the server provides no numbers of contexts.
    pub under: Option<Under>,
    /// The types that the read binds, if the server has none for the statement yet. Later executions may rely on them.
    pub first_types: Option<Vec<u8>>,
    /// Reads that were answered before this one, oldest first. This one may have left their number of rows found unchanged.
    pub before: Vec<Unseen>,
}

impl Unseen {
    /// Adds earlier reads, which the server must run first so that the number of rows found is right. If there are too many, the
    /// number becomes unknown.
    pub fn after(mut self, mut earlier: Unseen) -> Unseen {
        if earlier.rows.is_none() || earlier.before.len() >= MOST_BEFORE {
            self.rows = None;
            return self;
        }
        self.before = std::mem::take(&mut earlier.before);
        self.before.push(earlier);
        // The same command is kept once: either its later run has rows, or its earlier one had none.
        self.before.retain(|one| one.packet != self.packet);
        self
    }

    /// Returns true if this packet is the read, its number of rows is known, and no other read has to be sent before it.
    pub fn is_alone(&self, packet: &[u8]) -> bool {
        self.before.is_empty() && self.rows.is_some() && self.packet == packet
    }

    /// Returns the number of reads that the server has not seen.
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

    /// Returns true if the server may get this command without having seen the read: the command does not depend on it, or the
    /// client leaves. A closed statement cannot be run later, and the answer to a ping may contain the number of warnings.
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

    /// Returns true if the read is this command.
    pub fn is_same(&self, payload: &[u8]) -> bool {
        self.packet.get(Header::SIZE..) == Some(payload)
    }

    /// Returns the reads before this one; none if there are none.
    pub fn earlier(self) -> Option<Unseen> {
        let mut before = self.before;
        let last = before.pop()?;
        Some(Unseen { before, ..last })
    }

    /// Returns true if `payload` executes the same statement, and binds the types that the server does not have yet. Such an
    /// execution leaves the same state behind, and the server reports changed metadata only once anyway.
    pub fn is_replaced_by(&self, payload: &[u8], capabilities: u64) -> bool {
        let binds = |types: &Vec<u8>| binds_all(payload, types, capabilities).unwrap_or_default();
        self.is_of_same_statement(payload) && self.first_types.as_ref().is_none_or(binds)
    }

    /// Returns true if another read may be answered from memory before the server has seen this one.
    pub fn may_be_forgotten_for(&self, payload: &[u8], capabilities: u64) -> bool {
        self.first_types.is_none() || self.is_replaced_by(payload, capabilities)
    }

    /// Returns this command with the parameter types of the unseen read, if the server needs them because it does not get that
    /// read. None if the command can be sent unchanged.
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

/// Returns true if an execution brings these types, and a value other than NULL for each. None if it cannot be parsed.
fn binds_all(payload: &[u8], types: &[u8], capabilities: u64) -> Option<bool> {
    let execute = Execute::parse(payload, capabilities)?;
    let params = execute.params(count(types), &[])?;
    Some(params.are_types_new && params.types == types && params.nulls.iter().all(|byte| *byte == 0))
}

/// A command that waits until the server has run the reads that it had not seen.
pub struct Held {
    command: Vec<u8>,
    /// For each of these reads the number of rows found for the client. None if it is not known.
    awaited: VecDeque<Option<u64>>,
    is_right: bool,
}

impl Held {
    pub fn new(command: Vec<u8>, unseen: &Unseen) -> Held {
        let awaited = unseen.before.iter().chain([unseen]).map(|one| one.rows).collect();
        Held { command, awaited, is_right: true }
    }

    /// Compares the outcome of the next of these reads with what the client was given.
    pub fn count(&mut self, outcome: &Outcome) {
        if let Some(rows) = self.awaited.pop_front() {
            self.is_right &= is_found(rows, outcome);
        }
    }

    pub fn is_counted(&self) -> bool {
        self.awaited.is_empty()
    }

    /// Returns the command, which the server gets now, if the server has found as many rows as the client was given. Otherwise
    /// returns the error packet for the client.
    pub fn released(self) -> Result<Vec<u8>, Vec<u8>> {
        if self.is_right { Ok(self.command) } else { Err(has_changed()) }
    }
}

/// Returns true if the server has found as many rows as the client was given.
pub fn is_found(rows: Option<u64>, outcome: &Outcome) -> bool {
    rows.is_some() && found(outcome) == rows
}

/// Returns true if an answer may be that of an aggregate over no rows, which leaves the number of rows found unchanged. The
/// caller checks that the answer has at most one row.
pub fn may_leave_found(aggregates: Aggregates, answer: &[u8], capabilities: u64, is_binary: bool) -> bool {
    let shows_rows =
        || wire::first_value(answer, capabilities, is_binary).is_some_and(|value| aggregates.show_rows(value));
    aggregates != Aggregates::No && !shows_rows()
}

/// Returns the number of rows of an answer with rows; none for other answers.
pub fn found(outcome: &Outcome) -> Option<u64> {
    if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { Some(rows) } else { None }
}

/// Returns the error for a client that asks for a FOUND_ROWS() that cannot be determined.
pub fn has_changed() -> Vec<u8> {
    let message = "fqc-near: rows have changed since the read whose FOUND_ROWS() is asked for; read again";
    ErrPacket::build(1, HAS_CHANGED, b"HY000", message)
}
