//! OK, ERR and EOF packets: reads payloads, and builds and patches packets.

use crate::capability::{DEPRECATE_EOF, MARIADB_CACHE_METADATA, OPTIONAL_RESULTSET_METADATA, SESSION_TRACK};
use crate::lenenc::{Reader, push_int};
use crate::packet::{Packet, packets, push_packet};
use crate::{StatusOffsets, status};

/// The payload of an OK packet, which also ends the rows of a result if DEPRECATE_EOF is agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OkPacket<'a> {
    pub affected_rows: u64,
    pub last_insert_id: u64,
    /// Status flags, see [`status`].
    pub status: u16,
    /// The number of warnings.
    pub warnings: u16,
    /// A message for the user, for example on the rows matched.
    pub info: &'a [u8],
    /// Entries of session tracking, each a type byte and a length-encoded string; empty if the packet has none.
    pub session_state: &'a [u8],
    /// The offset of the status flags in the payload.
    pub status_offset: usize,
}

impl<'a> OkPacket<'a> {
    /// Reads the payload of an OK packet: it begins with 0x00, or with 0xFE if it ends rows, which is not checked. `capabilities` are those
    /// that client and server have agreed on. None if the payload is malformed.
    pub fn parse(payload: &'a [u8], capabilities: u64) -> Option<OkPacket<'a>> {
        let mut reader = Reader::new(payload);
        reader.u8()?;
        let affected_rows = reader.int()?;
        let last_insert_id = reader.int()?;
        let status_offset = payload.len() - reader.rest().len();
        let status = reader.u16()?;
        let warnings = reader.u16()?;
        let mut ok =
            OkPacket { affected_rows, last_insert_id, status, warnings, info: &[], session_state: &[], status_offset };
        if capabilities & SESSION_TRACK == 0 {
            ok.info = reader.rest();
        } else if !reader.is_empty() {
            ok.info = reader.string()?;
            if status & status::SESSION_STATE_CHANGED != 0 {
                ok.session_state = reader.string()?;
            }
        }
        Some(ok)
    }
}

/// The payload of an error packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// The server's error number, such as 1064.
    pub code: u16,
    /// Five characters such as `42000`. None in an error before the log-in.
    pub sqlstate: Option<&'a [u8]>,
    pub message: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    /// Reads the payload of a packet. None if it is no error packet.
    pub fn parse(payload: &'a [u8]) -> Option<ErrPacket<'a>> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != 0xFF {
            return None;
        }
        let code = reader.u16()?;
        let mut marked = reader;
        let sqlstate = if marked.u8() == Some(b'#') { marked.take(5) } else { None };
        let message = if sqlstate.is_some() { marked.rest() } else { reader.rest() };
        Some(ErrPacket { code, sqlstate, message })
    }

    /// Returns a whole error packet, header included, with this sequence number. `sqlstate` is five characters such as `HY000`.
    pub fn build(sequence: u8, code: u16, sqlstate: &[u8; 5], message: &str) -> Vec<u8> {
        let mut payload = vec![0xFF];
        payload.extend_from_slice(&code.to_le_bytes());
        payload.push(b'#');
        payload.extend_from_slice(sqlstate);
        payload.extend_from_slice(message.as_bytes());
        framed(sequence, &payload)
    }
}

/// Reads the payload of the first packet of a result: how many columns there are, and whether column definitions follow. `None` if it is
/// the payload of another packet. `capabilities` are those that client and server have agreed on.
pub fn column_count(payload: &[u8], capabilities: u64) -> Option<(u64, bool)> {
    let mut reader = Reader::new(payload);
    let columns = reader.int().filter(|count| *count > 0)?;
    let says_so = capabilities & (MARIADB_CACHE_METADATA | OPTIONAL_RESULTSET_METADATA) != 0 && !reader.is_empty();
    let follows = !says_so || reader.u8() != Some(0);
    reader.is_empty().then_some((columns, follows))
}

/// Returns the number of columns of the result that a response, given as packets, begins with. None if it begins with no result.
pub fn columns_of(response: &[u8], capabilities: u64) -> Option<u64> {
    column_count(Packet::parse(response)?.payload, capabilities).map(|(columns, _)| columns)
}

/// Returns copies of the values of the only row of a text result, without zero bytes. None if the response is no text result with column
/// definitions, has no row or cannot be read, or if a value is NULL.
pub fn only_row(response: &[u8], capabilities: u64) -> Option<Vec<Vec<u8>>> {
    let mut packets = packets(response);
    let (columns, true) = column_count(packets.next()?.payload, capabilities)? else { return None };
    let skipped = usize::try_from(columns).ok()? + usize::from(capabilities & DEPRECATE_EOF == 0);
    let row = packets.nth(skipped)?;
    let mut reader = Reader::new(row.payload);
    // The engine only asks for values without zero bytes. If there are zeros, they come from a wide character set of results.
    let narrow = |value: &[u8]| value.iter().copied().filter(|byte| *byte != 0).collect();
    (0..columns).map(|_| reader.string().map(narrow)).collect()
}

/// Returns the first value of the first row of a result; see [`value`]. `Some(None)` is NULL, and `None` means that there is no such value
/// or it cannot be read.
pub fn first_value(response: &[u8], capabilities: u64, is_binary: bool) -> Option<Option<&[u8]>> {
    value(response, capabilities, is_binary, 0)
}

/// Returns the value of the column at `place`, from 0, in the first row of a result. `Some(None)` is NULL. `None`: the response is no
/// result, has no row or no such column, or cannot be read; a binary result beyond its first column cannot be read without column
/// definitions. If `is_binary`, the value is the bytes of the row from its first byte on, at most eight, which may include those of other
/// values.
pub fn value(response: &[u8], capabilities: u64, is_binary: bool, place: usize) -> Option<Option<&[u8]>> {
    let mut packets = packets(response);
    let (columns, follows) = column_count(packets.next()?.payload, capabilities)?;
    let columns = usize::try_from(columns).ok().filter(|columns| place < *columns)?;
    let definitions = packets;
    let skipped = usize::from(follows) * columns + usize::from(capabilities & DEPRECATE_EOF == 0);
    let row = packets.nth(skipped)?.payload;
    if !is_binary {
        let mut reader = Reader::new(row);
        return (0..=place).map(|_| reader.text_value()).last()?;
    }
    (place == 0 || follows).then_some(())?;
    binary_value(row, columns, definitions.map(|packet| packet.payload), place)
}

fn binary_value<'a>(
    row: &'a [u8],
    columns: usize,
    mut definitions: impl Iterator<Item = &'a [u8]>,
    place: usize,
) -> Option<Option<&'a [u8]>> {
    const NULLS_FROM_BIT: usize = 2;
    let mut reader = Reader::new(row);
    (reader.u8()? == 0).then_some(())?;
    let nulls = reader.take((columns + NULLS_FROM_BIT).div_ceil(8))?;
    let is_null = |place: usize| {
        let bit = place + NULLS_FROM_BIT;
        nulls[bit / 8] >> (bit % 8) & 1 == 1
    };
    for before in 0..place {
        let definition = definitions.next()?;
        if !is_null(before) {
            skip_binary(&mut reader, definition)?;
        }
    }
    let value = reader.rest();
    Some((!is_null(place)).then(|| &value[..value.len().min(8)]))
}

/// Skips a value of the column with this definition (its packet's payload) in a row of a binary result. None if bytes are missing.
fn skip_binary(reader: &mut Reader, definition: &[u8]) -> Option<()> {
    const FROM_END: usize = 6;
    let kind = *definition.get(definition.len().checked_sub(FROM_END)?)?;
    let length = match kind {
        1 => 1,
        2 | 13 => 2,
        3 | 4 | 9 => 4,
        5 | 8 => 8,
        7 | 10 | 11 | 12 => reader.u8()?.into(),
        _ => reader.int()?,
    };
    reader.take(usize::try_from(length).ok()?).map(drop)
}

/// Returns an OK packet without session tracking, header included.
pub fn ok_packet(sequence: u8, affected_rows: u64, last_insert_id: u64, status: u16, warnings: u16) -> Vec<u8> {
    framed(sequence, &ok_payload(0, affected_rows, last_insert_id, status, warnings))
}

pub(crate) fn ok_payload(header: u8, affected_rows: u64, last_insert_id: u64, status: u16, warnings: u16) -> Vec<u8> {
    let mut payload = vec![header];
    push_int(&mut payload, affected_rows);
    push_int(&mut payload, last_insert_id);
    payload.extend_from_slice(&status.to_le_bytes());
    payload.extend_from_slice(&warnings.to_le_bytes());
    payload
}

/// Returns the payload of the packet that ends the rows of a result: EOF, or OK if DEPRECATE_EOF is agreed on.
pub(crate) fn end_of_rows_payload(capabilities: u64, status: u16, warnings: u16) -> Vec<u8> {
    if capabilities & DEPRECATE_EOF != 0 {
        return ok_payload(0xFE, 0, 0, status, warnings);
    }
    let mut payload = vec![0xFE];
    payload.extend_from_slice(&warnings.to_le_bytes());
    payload.extend_from_slice(&status.to_le_bytes());
    payload
}

/// Sets the bits of `mask` in every status field of a response to those of `value`. `offsets` are those of the response's status fields,
/// from [`Outcome::status_offsets`](crate::Outcome::status_offsets). None if one is outside of the response; fields before it are changed
/// then.
pub fn patch_status(response: &mut [u8], offsets: &StatusOffsets, mask: u16, value: u16) -> Option<()> {
    for &offset in offsets.as_slice() {
        let field: &mut [u8; 2] = response.get_mut(offset as usize..)?.first_chunk_mut()?;
        *field = (u16::from_le_bytes(*field) & !mask | value & mask).to_le_bytes();
    }
    Some(())
}

/// Returns the payload as packets, the first one with this sequence number.
pub(crate) fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(payload.len() + 4);
    push_packet(&mut packet, &mut { sequence }, payload);
    packet
}
