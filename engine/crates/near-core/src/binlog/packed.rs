//! Transactions in one compressed event, which MySQL writes with `binlog_transaction_compression`.

use super::event::{self, Event, HEADER};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// The maximum size of an unpacked transaction in bytes.
const MOST: u64 = 4 << 20;
/// The offset of the event's length in its header.
const LENGTH_AT: usize = 9;

/// Decompresses a transaction. Returns none if it is longer than 4 MiB or not valid zstd.
pub fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    StreamingDecoder::new(packed).ok()?.take(MOST + 1).read_to_end(&mut plain).ok()?;
    (plain.len() as u64 <= MOST).then_some(plain)
}

/// Splits a decompressed transaction into its events, which have no checksums. None if they are not understood, or are not those
/// of a transaction.
pub fn events(mut plain: &[u8]) -> Option<Vec<Event<'_>>> {
    let mut events = Vec::new();
    while !plain.is_empty() {
        let length = u32::from_le_bytes(*plain.get(LENGTH_AT..)?.first_chunk()?) as usize;
        let (event, others) = plain.split_at_checked(length).filter(|_| length >= HEADER)?;
        events.push(event::read(event, true, false).ok()?.event);
        plain = others;
    }
    events.iter().all(is_of_a_transaction).then_some(events)
}

/// Returns true if an event of this kind may be part of a compressed transaction.
fn is_of_a_transaction(event: &Event) -> bool {
    match event {
        Event::Table { .. } | Event::Rows(_) | Event::Committed | Event::Ended => true,
        Event::Everything | Event::Privileges | Event::Nothing => true,
        Event::Rotate { .. } | Event::Format { .. } | Event::Gtid(_) | Event::AnonymousGtid => false,
        Event::CompressedTransaction(_) | Event::Xa | Event::Heartbeat => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::TableMap;
    use super::*;
    use fqc_tests::random::Random;

    const XID: u8 = 16;
    const TABLE_MAP: u8 = 19;
    const ROWS: u8 = 30;
    const MYSQL_GTID: u8 = 33;

    /// Builds an event of this kind.
    fn event(kind: u8, body: &[u8]) -> Vec<u8> {
        let mut event = vec![0; HEADER];
        event[4] = kind;
        event[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&((HEADER + body.len()) as u32).to_le_bytes());
        [&event, body].concat()
    }

    /// Packs bytes in the format of zstd, without compressing them.
    fn packed(plain: &[u8]) -> Vec<u8> {
        const BEGIN: [u8; 5] = [0x28, 0xB5, 0x2F, 0xFD, 0b1000_0000];
        const WINDOW: u8 = 0b0110_0000;
        let mut out = [&BEGIN[..], &[WINDOW], &(plain.len() as u32).to_le_bytes()].concat();
        let mut blocks = plain.chunks(1 << 16).peekable();
        while let Some(block) = blocks.next() {
            let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
            out.extend_from_slice(&header.to_le_bytes()[..3]);
            out.extend_from_slice(block);
        }
        out
    }

    /// Returns the events of a transaction that changes rows of one table, before compression.
    fn transaction() -> Vec<u8> {
        let table = [&[0; 8][..], b"\x01d\0\x01t\0"].concat();
        [event(TABLE_MAP, &table), event(ROWS, &[0; 8]), event(XID, &[0; 8])].concat()
    }

    #[test]
    fn a_transaction_has_the_events_that_were_packed() {
        let plain = unpack(&packed(&transaction())).expect("it is short enough");
        let table = Event::Table { schema: b"d", name: b"t", table_map: TableMap::default() };
        let expected = [table, Event::Rows(None), Event::Committed];
        assert_eq!(events(&plain), Some(expected.to_vec()));
    }

    #[test]
    fn what_is_too_long_or_no_part_of_a_transaction_is_not_understood() {
        assert_eq!(unpack(&packed(&vec![0; MOST as usize + 1])), None);
        assert_eq!(unpack(b"no zstd"), None);
        for strange in [event(MYSQL_GTID, &[0; 60]), vec![0; HEADER], vec![0; 3]] {
            assert_eq!(events(&[transaction(), strange].concat()), None);
        }
    }

    #[test]
    fn any_bytes_have_an_answer() {
        let (mut random, whole) = (Random::new(1), packed(&transaction()));
        for _ in 0..20_000 {
            let mut bytes = whole[..random.below(whole.len() + 1)].to_vec();
            for _ in 0..random.below(4).min(bytes.len()) {
                let index = random.below(bytes.len());
                bytes[index] = random.below(256) as u8;
            }
            if let Some(plain) = unpack(&bytes) {
                events(&plain);
            }
        }
    }
}
