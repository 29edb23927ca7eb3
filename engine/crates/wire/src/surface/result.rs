//! A complete text result, walked packet by packet, so that some packets can be written anew.

use crate::capability::MARIADB_CACHE_METADATA;
use crate::lenenc::Reader;
use crate::{Expect, Header, MAX_PAYLOAD, OutcomeKind, Progress, ResponseTracker, packets, push_packet};

/// What a packet of a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Definition,
    Row,
    /// Column count and ends.
    Frame,
}

/// Rewrites a result. `edit` gives the new payload of a packet, or `None` to leave it as it is.
pub(super) fn edit_result(
    response: &[u8],
    capabilities: u64,
    mut edit: impl FnMut(Part, &[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let (columns, rows) = dimensions(response, capabilities)?;
    let mut out = Vec::with_capacity(response.len() + 64);
    let mut sequence = Header::parse(response)?.sequence;
    let mut rows_left = rows;
    for (index, packet) in packets(response).enumerate() {
        if packet.payload.len() == MAX_PAYLOAD {
            return None;
        }
        let part = part(index as u64, columns, packet.payload, &mut rows_left);
        let edited = if part == Part::Frame { None } else { edit(part, packet.payload) };
        push_packet(&mut out, &mut sequence, edited.as_deref().unwrap_or(packet.payload));
    }
    Some(out)
}

fn part(index: u64, columns: u64, payload: &[u8], rows_left: &mut u64) -> Part {
    match index {
        0 => Part::Frame,
        _ if index <= columns => Part::Definition,
        // Packets are smaller than `MAX_PAYLOAD`, so that a row cannot begin with 0xFE.
        _ if *rows_left > 0 && payload.first() != Some(&0xFE) => {
            *rows_left -= 1;
            Part::Row
        }
        _ => Part::Frame,
    }
}

/// Columns and rows, if the response is one result with its metadata.
fn dimensions(response: &[u8], capabilities: u64) -> Option<(u64, u64)> {
    let Progress::Done(outcome) = ResponseTracker::new(Expect::Query, capabilities).feed(response) else {
        return None;
    };
    let is_plain = outcome.metadata_follows && !outcome.more_results_seen;
    match outcome.kind {
        OutcomeKind::ResultSet { rows, columns } if is_plain => Some((columns, rows)),
        _ => None,
    }
}

/// The column count as the first packet of a result has it.
pub(super) fn column_count_payload(columns: u64, capabilities: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    crate::lenenc::push_int(&mut payload, columns);
    if capabilities & MARIADB_CACHE_METADATA != 0 {
        payload.push(1);
    }
    payload
}

/// The strings at the front of a payload: `None` unless there are as many.
pub(super) fn strings<'a, const N: usize>(reader: &mut Reader<'a>) -> Option<[&'a [u8]; N]> {
    let mut strings = [&[][..]; N];
    for string in &mut strings {
        *string = reader.string()?;
    }
    Some(strings)
}
