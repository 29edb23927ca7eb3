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

/// Counts of packets, which identify the parts of a response.
pub(super) struct Parts {
    /// The number of definitions directly after the first packet.
    definitions: u64,
    rows: u64,
    /// This is a response to COM_STMT_PREPARE, in which further definitions may follow an EOF.
    is_prepared: bool,
}

/// Rewrites a response. `edit` gives the new payload of a packet, or `None` to leave it as it is.
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
    pub fn of_result(response: &[u8], capabilities: u64) -> Option<Parts> {
        match kind(response, Expect::Query, capabilities)? {
            OutcomeKind::ResultSet { rows, columns } => Some(Parts { definitions: columns, rows, is_prepared: false }),
            _ => None,
        }
    }

    pub fn of_prepared(response: &[u8], capabilities: u64) -> Option<Parts> {
        match kind(response, Expect::Prepare, capabilities)? {
            OutcomeKind::Prepared { .. } => Some(Parts { definitions: 0, rows: 0, is_prepared: true }),
            _ => None,
        }
    }

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

/// How a complete response ended. None unless it is a single result with its metadata.
fn kind(response: &[u8], expect: Expect, capabilities: u64) -> Option<OutcomeKind> {
    match ResponseTracker::new(expect, capabilities).feed(response) {
        Progress::Done(outcome) if outcome.metadata_follows && !outcome.more_results_seen => Some(outcome.kind),
        _ => None,
    }
}

/// The column count as the first packet of a result has it.
pub(super) fn column_count_payload(columns: u64, capabilities: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    crate::lenenc::push_int(&mut payload, columns);
    if capabilities & (MARIADB_CACHE_METADATA | OPTIONAL_RESULTSET_METADATA) != 0 {
        payload.push(1);
    }
    payload
}

/// Reads strings from the front of a payload. `None` if there are too few.
pub(super) fn strings<'a, const N: usize>(reader: &mut Reader<'a>) -> Option<[&'a [u8]; N]> {
    let mut strings = [&[][..]; N];
    for string in &mut strings {
        *string = reader.string()?;
    }
    Some(strings)
}
