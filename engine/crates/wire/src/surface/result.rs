//! A complete text result, read packet by packet, so that some of its packets can be replaced.

use crate::capability::{MARIADB_CACHE_METADATA, OPTIONAL_RESULTSET_METADATA};
use crate::lenenc::Reader;
use crate::{Expect, Header, MAX_PAYLOAD, OutcomeKind, Progress, ResponseTracker, packets, push_packet};

/// The role of a packet within a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Definition,
    Row,
    /// The column count, and the packets that end definitions and rows.
    Frame,
}

/// The numbers of packets in a response by role, which identify the role of each packet in turn.
pub(super) struct Parts {
    /// The number of definitions directly after the first packet.
    definitions: u64,
    /// The number of rows that are still to come.
    rows: u64,
    /// True for a response to COM_STMT_PREPARE, in which further definitions may follow an EOF.
    is_prepared: bool,
}

/// Returns a copy of a response with some payloads replaced, and sequence numbers that fit. `edit` returns the new payload of a definition
/// or a row, or `None` to leave it as it is. `None` if the response contains a packet that is full.
pub(super) fn edit_response(
    response: &[u8],
    mut parts: Parts,
    mut edit: impl FnMut(Part, &[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(response.len() + 64);
    let mut sequence = Header::parse(response)?.sequence;
    for (index, packet) in packets(response).enumerate() {
        if packet.payload.len() == MAX_PAYLOAD {
            return None;
        }
        let part = parts.part(index as u64, packet.payload);
        let edited = if part == Part::Frame { None } else { edit(part, packet.payload) };
        push_packet(&mut out, &mut sequence, edited.as_deref().unwrap_or(packet.payload));
    }
    Some(out)
}

impl Parts {
    /// Returns the parts of a single complete result with its definitions; None if the response is something else.
    pub fn of_result(response: &[u8], capabilities: u64) -> Option<Parts> {
        match kind(response, Expect::Query, capabilities)? {
            OutcomeKind::ResultSet { rows, columns } => Some(Parts { definitions: columns, rows, is_prepared: false }),
            _ => None,
        }
    }

    /// Returns the parts of a complete response to COM_STMT_PREPARE with its definitions; None if it is something else.
    pub fn of_prepared(response: &[u8], capabilities: u64) -> Option<Parts> {
        match kind(response, Expect::Prepare, capabilities)? {
            OutcomeKind::Prepared { .. } => Some(Parts { definitions: 0, rows: 0, is_prepared: true }),
            _ => None,
        }
    }

    /// Returns the role of the packet with this index in the response, from 0. Call it for each packet in order.
    fn part(&mut self, index: u64, payload: &[u8]) -> Part {
        // Packets are smaller than `MAX_PAYLOAD`: no row begins with 0xFE, and definitions begin with a length.
        let is_end = payload.first() == Some(&0xFE);
        if index == 0 || is_end {
            return Part::Frame;
        }
        if self.is_prepared || index <= self.definitions {
            return Part::Definition;
        }
        if self.rows == 0 {
            return Part::Frame;
        }
        self.rows -= 1;
        Part::Row
    }
}

/// Returns the kind of a complete response. None if it is incomplete, has several results, or lacks definitions.
fn kind(response: &[u8], expect: Expect, capabilities: u64) -> Option<OutcomeKind> {
    match ResponseTracker::new(expect, capabilities).feed(response) {
        Progress::Done(outcome) if outcome.metadata_follows && !outcome.more_results_seen => Some(outcome.kind),
        _ => None,
    }
}

/// Returns the payload of the first packet of a result, which states the column count and that definitions follow.
pub(super) fn column_count_payload(columns: u64, capabilities: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    crate::lenenc::push_int(&mut payload, columns);
    if capabilities & (MARIADB_CACHE_METADATA | OPTIONAL_RESULTSET_METADATA) != 0 {
        payload.push(1);
    }
    payload
}

/// Reads `N` length-encoded strings. `None` if there are fewer; some may be consumed then.
pub(super) fn strings<'a, const N: usize>(reader: &mut Reader<'a>) -> Option<[&'a [u8]; N]> {
    let mut strings = [&[][..]; N];
    for string in &mut strings {
        *string = reader.string()?;
    }
    Some(strings)
}
