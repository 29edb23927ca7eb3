//! Reads that were answered from memory and that the server has not received ("pending"), and commands that wait until it has.

use crate::command::is_harmless;
use crate::follow::Follower;
use crate::prepared::ContextId;
use sql::Aggregates;
use wire::{Command, ErrPacket, Execute, Expect, Header, Outcome, OutcomeKind};

/// The maximum number of earlier reads that are kept for the server to run before the last one, so that FOUND_ROWS() is right.
const MOST_BEFORE: usize = 8;
/// The error number of "Record has changed since last read".
const HAS_CHANGED: u16 = 1020;

/// The last read that was answered from memory and that the server has not received, with the ones before it that still matter.
pub struct PendingRead {
    /// The client's command, with its packet header.
    pub packet: Vec<u8>,
    /// The number of rows that the client received. None if FOUND_ROWS() on the server may be that of an older read.
    pub rows: Option<u64>,
    /// The value that FOUND_ROWS() must have for the client after the read. None if it is not certain.
    pub found_rows: Option<u64>,
    /// True if the server will give a warning, because the statement's text contains deprecated words.
    pub warns: bool,
    /// The session context in which the read was answered. None if the server assigns no numbers to contexts.
    pub context_id: Option<ContextId>,
    /// The parameter types that the read binds, if the server has none for the prepared statement yet. Later executions may omit
    /// them.
    pub first_types: Option<Vec<u8>>,
    /// Pending reads that were answered before this one, oldest first. They matter because this one may leave FOUND_ROWS()
    /// unchanged.
    pub before: Vec<PendingRead>,
}

impl PendingRead {
    /// Returns this read with `earlier` before it: the server must run that one first, so that FOUND_ROWS() is right. If there
    /// are too many earlier reads, they are dropped, and `rows` becomes unknown.
    pub fn after(mut self, mut earlier: PendingRead) -> PendingRead {
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

    /// Returns true if this packet is the same read, its number of rows is known, and no other read has to be sent before it.
    pub fn is_alone(&self, packet: &[u8]) -> bool {
        self.before.is_empty() && self.rows.is_some() && self.packet == packet
    }

    /// Returns the number of pending reads: this one and those before it.
    pub fn count(&self) -> usize {
        self.before.len() + 1
    }

    /// Returns true if the server gets the parameter types of a prepared statement only from this read.
    pub fn brings_types(&self) -> bool {
        self.first_types.is_some()
    }

    fn is_execution(&self) -> bool {
        self.packet[Header::SIZE] == Command::StmtExecute as u8
    }

    /// Returns the kind of answer that the server will give to the read.
    pub fn expect(&self) -> Expect {
        if self.is_execution() { Expect::Execute } else { Expect::Query }
    }

    /// Returns true if the server may receive this command without having received the read: the command does not depend on the
    /// read, or the client leaves. A statement that is closed cannot be run later, and the answer to a ping may contain the
    /// number of warnings.
    pub fn may_follow(&self, payload: &[u8], follower: &Follower) -> bool {
        let has_execution = || self.before.iter().chain([self]).any(PendingRead::is_execution);
        let is = |command: Command| payload[0] == command as u8;
        let matters =
            is(Command::StmtClose) && has_execution() || is(Command::Ping) && (follower.has_warned() || self.warns);
        is(Command::Quit) || is_harmless(payload) && !matters
    }

    /// Returns true if both the read and this command execute the same prepared statement.
    fn is_of_same_statement(&self, payload: &[u8]) -> bool {
        const COMMAND_AND_ID: usize = 5;
        self.is_execution() && payload.get(..COMMAND_AND_ID) == self.packet[Header::SIZE..].get(..COMMAND_AND_ID)
    }

    /// Returns true if the read is exactly this command.
    pub fn is_same(&self, payload: &[u8]) -> bool {
        self.packet.get(Header::SIZE..) == Some(payload)
    }

    /// Returns the reads before this one, as they were before it was added. None if there are none.
    pub fn earlier(self) -> Option<PendingRead> {
        let mut before = self.before;
        let last = before.pop()?;
        Some(PendingRead { before, ..last })
    }

    /// Returns true if `payload` executes the same prepared statement as this read, and binds all types that the server lacks.
    /// The server then need not run this read: the execution leaves the same state behind, and the server reports changed
    /// metadata only once anyway.
    pub fn is_replaced_by(&self, payload: &[u8], capabilities: u64) -> bool {
        let binds = |types: &Vec<u8>| binds_all(payload, types, capabilities).unwrap_or_default();
        self.is_of_same_statement(payload) && self.first_types.as_ref().is_none_or(binds)
    }

    /// Returns true if the command `payload` may be answered from memory before the server has received this read. False if
    /// parameter types that only this read brings would be lost.
    pub fn may_be_forgotten_for(&self, payload: &[u8], capabilities: u64) -> bool {
        self.first_types.is_none() || self.is_replaced_by(payload, capabilities)
    }

    /// Returns this packet with the parameter types of the pending read, if it executes the same prepared statement without types
    /// of its own. None if it can be sent unchanged.
    pub fn with_missing_types(&self, packet: &[u8], capabilities: u64) -> Option<Vec<u8>> {
        let payload = packet.get(Header::SIZE..).filter(|payload| self.is_of_same_statement(payload))?;
        let types = self.first_types.as_ref()?;
        let is_without = Execute::parse(payload, capabilities)?.new_types(count(types)).is_none();
        is_without.then(|| wire::with_types(packet, types, capabilities))
    }
}

/// Returns the number of parameters that these types belong to; a type has two bytes.
fn count(types: &[u8]) -> u16 {
    (types.len() / 2) as u16
}

/// Returns true if an execution binds exactly these types, and a value other than NULL for each. None if it cannot be parsed.
fn binds_all(payload: &[u8], types: &[u8], capabilities: u64) -> Option<bool> {
    let execute = Execute::parse(payload, capabilities)?;
    let params = execute.params(count(types), &[])?;
    Some(params.are_types_new && params.types == types && params.nulls.iter().all(|byte| *byte == 0))
}

/// A command that waits until the server has answered the hidden commands before it. The command may evaluate FOUND_ROWS(). Only
/// their answers show if the server's FOUND_ROWS() is what the client expects.
pub struct HeldCommand {
    pub command: Vec<u8>,
    /// How many answers are awaited.
    pub awaited: usize,
}

/// Returns true if an answer of the server has as many rows as the client received. False if `rows` is none.
pub fn has_as_many_rows(rows: Option<u64>, outcome: &Outcome) -> bool {
    rows.is_some() && rows_in(outcome) == rows
}

/// Returns true if an answer may be that of an aggregate over no rows, which leaves FOUND_ROWS() unchanged. The caller checks
/// that the answer has at most one row. `is_binary` is true for answers to COM_STMT_EXECUTE.
pub fn may_keep_found_rows(aggregates: Aggregates, answer: &[u8], capabilities: u64, is_binary: bool) -> bool {
    let shows_rows =
        || wire::first_value(answer, capabilities, is_binary).is_some_and(|value| aggregates.show_rows(value));
    aggregates != Aggregates::No && !shows_rows()
}

/// Returns the number of rows in an answer. None if it is not a result set.
pub fn rows_in(outcome: &Outcome) -> Option<u64> {
    if let OutcomeKind::ResultSet { rows, .. } = outcome.kind { Some(rows) } else { None }
}

/// Returns the error packet for a client that asks for a FOUND_ROWS() that cannot be determined.
pub fn found_rows_error() -> Vec<u8> {
    let message = "fqc-near: rows have changed since the read whose FOUND_ROWS() is asked for; read again";
    ErrPacket::build(1, HAS_CHANGED, b"HY000", message)
}
