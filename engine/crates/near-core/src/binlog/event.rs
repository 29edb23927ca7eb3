//! Events of the binary log, decoded as far as they show what changed.
//!
//! Invariants: no panic on any bytes; an event that is not understood completely becomes [`Event::Privileges`].

use super::gtid::{self, Gtid};
use super::rows::{Images, Rows, TableMap};
use wire::lenenc::Reader;

/// The length of an event's header in bytes.
pub const HEADER: usize = 19;
const CHECKSUM: usize = 4;
/// The number in a format event of the only kind of checksum.
const CRC32: u8 = 1;
/// The flag of an event that the server made for this replica alone and that is not part of the log.
const ARTIFICIAL: u16 = 0x20;
/// The flags of a MariaDB GTID event for a transaction that is prepared, or that was prepared earlier and is completed now.
const IS_XA: u8 = 0xC0;
const LONGEST_NAME: u8 = 250;

/// One event of the binary log, reduced to what it says about changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// The log continues in this file at this position. The event stands at the end of a file that is followed by another one,
    /// and the server also makes one before each file that it sends.
    Rotate {
        file: &'a [u8],
        at: u64,
    },
    /// The description of the file that follows. `has_checksums` is true if its events end with a CRC-32. `created` is its
    /// creation time in seconds, by the server's clock.
    Format {
        has_checksums: bool,
        created: u32,
    },
    /// A transaction of a MySQL server starts; it has this GTID.
    Gtid(Gtid<'a>),
    /// A transaction of a MySQL server starts; it has no GTID.
    AnonymousGtid,
    /// Rows of this table change in the current transaction. `table_map` is what later events of its rows are decoded with.
    Table {
        schema: &'a [u8],
        name: &'a [u8],
        table_map: TableMap<'a>,
    },
    /// Rows have changed. None if the changed rows cannot be decoded; any table of the transaction may then be affected.
    Rows(Option<Rows<'a>>),
    /// A whole transaction of a MySQL server, compressed.
    CompressedTransaction(&'a [u8]),
    /// The end of a transaction with an XID: transactions become visible in the order in which these events stand in the log.
    Committed,
    /// The end of a transaction for which the log does not show when it becomes visible.
    Ended,
    /// A part of a two-phase transaction. The log does not show when it becomes visible.
    Xa,
    /// Anything but privileges counts as changed: a statement has changed data or definitions.
    Everything,
    /// Anything may have changed, including privileges: a statement may have changed them, or the event is not understood.
    Privileges,
    /// The server has sent everything before the position of this event, except for transactions that were not requested.
    Heartbeat,
    Nothing,
}

/// An event of the log with the position at which it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedEvent<'a> {
    /// The lower 32 bits of the log position at which the event ends. None if the event is not part of the log or describes the
    /// file.
    pub end: Option<u32>,
    pub event: Event<'a>,
}

/// The bytes are not an event, or the checksum is wrong. The log cannot be followed any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

mod kind {
    pub const QUERY: u8 = 2;
    pub const STOP: u8 = 3;
    pub const ROTATE: u8 = 4;
    pub const INTVAR: u8 = 5;
    pub const RAND: u8 = 13;
    pub const USER_VAR: u8 = 14;
    pub const FORMAT: u8 = 15;
    pub const XID: u8 = 16;
    pub const TABLE_MAP: u8 = 19;
    pub const HEARTBEAT: u8 = 27;
    pub const ROWS_QUERY: u8 = 29;
    pub const MYSQL_GTID: u8 = 33;
    pub const ANONYMOUS_GTID: u8 = 34;
    pub const PREVIOUS_GTIDS: u8 = 35;
    pub const XA_PREPARE: u8 = 38;
    /// The type of events with updated rows in which JSON documents are only partly contained.
    pub const PARTIAL_ROWS: u8 = 39;
    pub const PACKED: u8 = 40;
    pub const TAGGED_GTID: u8 = 42;
    pub const ANNOTATE: u8 = 160;
    pub const CHECKPOINT: u8 = 161;
    pub const GTID: u8 = 162;
    pub const GTID_LIST: u8 = 163;
    pub const START_ENCRYPTION: u8 = 164;
    /// The types of events with inserted, updated and deleted rows, in version 1 of their format.
    pub const ROWS: std::ops::RangeInclusive<u8> = 23..=25;
    /// The types of events with inserted, updated and deleted rows, in version 2 of their format, which has an extra header.
    pub const LATER_ROWS: std::ops::RangeInclusive<u8> = 30..=32;
    /// The types of events with updated rows, which contain two images of each row.
    pub const UPDATED: [u8; 2] = [24, 31];
    /// The types of events of MariaDB with compressed inserted, updated and deleted rows.
    pub const COMPRESSED_ROWS: std::ops::RangeInclusive<u8> = 166..=171;
}

/// Decodes an event. `is_whole` is false if `bytes` contains only the beginning of an event that is too long to be buffered.
/// `has_checksums` is the setting of the current file, from its [`Event::Format`]. An event that is not understood is
/// [`Event::Privileges`]. Fails if the bytes are no event or the checksum is wrong; the log can no longer be followed then.
pub fn read(bytes: &[u8], is_whole: bool, has_checksums: bool) -> Result<PlacedEvent<'_>, Malformed> {
    let mut header = Reader::new(bytes.get(..HEADER).ok_or(Malformed)?);
    let Head { created, kind, end, flags } = header_of(&mut header).ok_or(Malformed)?;
    let mut has_checksum = has_checksums;
    if kind == kind::FORMAT {
        let index = bytes.len().checked_sub(CHECKSUM + 1).ok_or(Malformed)?;
        has_checksum = bytes[index] == CRC32;
    }
    let body = if has_checksum && is_whole { checked(bytes)? } else { bytes };
    let body = body.get(HEADER..).ok_or(Malformed)?;
    let event = match kind {
        kind::FORMAT => Event::Format { has_checksums: has_checksum, created },
        kind::ROTATE => rotate(body).ok_or(Malformed)?,
        _ => event(kind, body, is_whole).unwrap_or(Event::Privileges),
    };
    // The position of a format event follows from the rotate event before it.
    let is_placed = flags & ARTIFICIAL == 0 && kind != kind::FORMAT;
    Ok(PlacedEvent { end: (is_placed && end > 0).then_some(end), event })
}

/// The fields of an event's header that are used.
struct Head {
    created: u32,
    kind: u8,
    end: u32,
    flags: u16,
}

fn header_of(reader: &mut Reader) -> Option<Head> {
    let (created, kind) = (reader.u32()?, reader.u8()?);
    reader.take(8)?;
    Some(Head { created, kind, end: reader.u32()?, flags: reader.u16()? })
}

/// Returns the event without its checksum. Fails if the checksum is wrong.
fn checked(bytes: &[u8]) -> Result<&[u8], Malformed> {
    let (body, checksum) = bytes.split_last_chunk::<CHECKSUM>().ok_or(Malformed)?;
    if crc32(body) == u32::from_le_bytes(*checksum) { Ok(body) } else { Err(Malformed) }
}

/// Decodes the body of an event of this kind. None if it is not understood: the caller then takes it for a change of
/// privileges, which invalidates everything.
fn event(kind: u8, body: &[u8], is_whole: bool) -> Option<Event<'_>> {
    match kind {
        kind::QUERY => query(body),
        kind::TABLE_MAP => table(body, is_whole),
        kind::GTID => Some(if body.get(12)? & IS_XA == 0 { Event::Nothing } else { Event::Xa }),
        kind::MYSQL_GTID => gtid::plain(body).map(Event::Gtid),
        kind::TAGGED_GTID => gtid::tagged(body).map(Event::Gtid),
        kind::ANONYMOUS_GTID => Some(Event::AnonymousGtid),
        kind::XID => Some(Event::Committed),
        kind::XA_PREPARE => Some(Event::Xa),
        kind::HEARTBEAT => Some(Event::Heartbeat),
        // These events set values that the next statement uses.
        kind::INTVAR | kind::RAND | kind::USER_VAR => Some(Event::Nothing),
        kind::STOP | kind::ANNOTATE | kind::CHECKPOINT | kind::GTID_LIST | kind::START_ENCRYPTION => {
            Some(Event::Nothing)
        }
        kind::ROWS_QUERY | kind::PREVIOUS_GTIDS => Some(Event::Nothing),
        kind::PARTIAL_ROWS => Some(Event::Rows(None)),
        kind::PACKED if is_whole => packed(body).map(Event::CompressedTransaction),
        _ if kind::ROWS.contains(&kind) || kind::LATER_ROWS.contains(&kind) => {
            Some(Event::Rows(if is_whole { rows(kind, body) } else { None }))
        }
        _ if kind::COMPRESSED_ROWS.contains(&kind) => Some(Event::Rows(None)),
        _ => None,
    }
}

fn rotate(body: &[u8]) -> Option<Event<'_>> {
    let mut reader = Reader::new(body);
    Some(Event::Rotate { at: reader.uint(8)?, file: reader.rest() })
}

/// Decodes a statement in the log, or its beginning. Only statements that control transactions change nothing; others may have
/// changed anything. None if bytes are missing: the caller then takes it for a change of privileges.
fn query(body: &[u8]) -> Option<Event<'_>> {
    let mut reader = Reader::new(body);
    reader.take(8)?;
    let schema = usize::from(reader.u8()?);
    reader.take(2)?;
    let status = usize::from(reader.u16()?);
    reader.take(status + schema)?;
    let (0, text) = (reader.u8()?, reader.rest()) else { return None };
    let begins = |word: &str| text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()));
    Some(match text {
        b"BEGIN" => Event::Nothing,
        b"COMMIT" | b"ROLLBACK" => Event::Ended,
        _ if begins("XA ") => Event::Xa,
        _ if begins("SAVEPOINT ") || begins("ROLLBACK TO ") => Event::Nothing,
        _ if leaves_privileges(text) => Event::Everything,
        _ => Event::Privileges,
    })
}

/// Returns true if the first words of a statement show that it does not change privileges. Any other statement may change them,
/// also one that starts with a comment.
fn leaves_privileges(text: &[u8]) -> bool {
    const ROWS: [&[u8]; 9] =
        [b"INSERT", b"REPLACE", b"UPDATE", b"DELETE", b"TRUNCATE", b"LOAD", b"ANALYZE", b"OPTIMIZE", b"REPAIR"];
    const DEFINITIONS: [&[u8]; 4] = [b"CREATE", b"ALTER", b"DROP", b"RENAME"];
    const BETWEEN: [&[u8]; 2] = [b"OR", b"REPLACE"];
    const DEFINED: [&[u8]; 8] =
        [b"TABLE", b"TABLES", b"TEMPORARY", b"INDEX", b"UNIQUE", b"VIEW", b"DATABASE", b"SCHEMA"];
    // The clause that may follow CREATE for a view.
    const ALGORITHM: &[u8] = b"ALGORITHM=";
    let is_one = |word: &[u8], of: &[&[u8]]| of.iter().any(|known| known.eq_ignore_ascii_case(word));
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let second = words.find(|word| !is_one(word, &BETWEEN)).unwrap_or_default();
    let is_of_view = second.get(..ALGORITHM.len()).is_some_and(|word| word.eq_ignore_ascii_case(ALGORITHM));
    is_one(first, &ROWS) || is_one(first, &DEFINITIONS) && (is_of_view || is_one(second, &DEFINED))
}

/// Returns the compressed events of a transaction payload event. None if the compression is not zstd.
fn packed(body: &[u8]) -> Option<&[u8]> {
    const END: u64 = 0;
    const METHOD: u64 = 2;
    const ZSTD: u64 = 0;
    let mut reader = Reader::new(body);
    let mut method = None;
    loop {
        match reader.int()? {
            END => break,
            field => {
                let value = reader.string()?;
                if field == METHOD {
                    method = Reader::new(value).int();
                }
            }
        }
    }
    (method == Some(ZSTD)).then(|| reader.rest())
}

fn table(body: &[u8], is_whole: bool) -> Option<Event<'_>> {
    let mut reader = Reader::new(body);
    let id = id(&mut reader)?;
    let (schema, name) = (name(&mut reader)?, name(&mut reader)?);
    let columns = if is_whole { reader.rest() } else { &[] };
    Some(Event::Table { schema, name, table_map: TableMap { id, columns } })
}

fn rows(kind: u8, body: &[u8]) -> Option<Rows<'_>> {
    const LENGTH: u16 = 2;
    let mut reader = Reader::new(body);
    let id = id(&mut reader)?;
    if kind::LATER_ROWS.contains(&kind) {
        let more = reader.u16()?.checked_sub(LENGTH)?;
        reader.take(more.into())?;
    }
    let images = if kind::UPDATED.contains(&kind) { Images::Two } else { Images::One };
    Some(Rows { id, images, bytes: reader.rest() })
}

/// Reads a table id, which the server assigns to a table for some time, and skips the flags after it. None if bytes are
/// missing.
fn id(reader: &mut Reader) -> Option<u64> {
    const FLAGS: usize = 2;
    let id = reader.uint(6)?;
    reader.take(FLAGS)?;
    Some(id)
}

/// Reads the name of a schema or table. None if it is too long or not terminated.
fn name<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = reader.u8().filter(|length| *length <= LONGEST_NAME)?;
    let name = reader.take(usize::from(length))?;
    (reader.u8()? == 0).then_some(name)
}

/// Entry `[n][byte]` is the CRC-32 of the byte followed by `n` zero bytes.
const CRC_TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut index = 256;
    while index < 8 * 256 {
        let before = tables[index / 256 - 1][index % 256];
        tables[index / 256][index % 256] = before >> 8 ^ tables[0][(before & 0xff) as usize];
        index += 1;
    }
    tables
};

/// Computes the CRC-32 of eight bytes at a time: checksums take most of the time when many rows events are received.
fn crc32(bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let crc = eights.iter().fold(!0, |crc, eight| {
        let mixed = (u64::from_le_bytes(*eight) ^ u64::from(crc)).to_le_bytes();
        mixed.iter().zip(CRC_TABLES.iter().rev()).fold(0, |crc, (byte, table)| crc ^ table[usize::from(*byte)])
    });
    !rest.iter().fold(crc, |crc, byte| crc >> 8 ^ CRC_TABLES[0][usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::super::packed;
    use super::*;
    use fqc_tests::random::Random;

    /// Logs as the servers have written them, with one of each kind of change.
    const MARIADB: &[u8] = include_bytes!("../../tests/data/mariadb-10.11.binlog");
    const MYSQL: &[u8] = include_bytes!("../../tests/data/mysql-9.7.binlog");
    const MAGIC: usize = 4;

    #[test]
    fn checksums_are_those_of_one_bit_after_the_other_at_any_length() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let bytes: Vec<u8> = (0..100u8).map(|byte| byte.wrapping_mul(151)).collect();
        for length in 0..bytes.len() {
            let bits = bytes[..length].iter().flat_map(|byte| (0..8).map(move |bit| u32::from(byte >> bit & 1)));
            let slow = bits.fold(!0, |crc: u32, bit| crc >> 1 ^ if crc & 1 == bit { 0 } else { 0xedb8_8320 });
            assert_eq!(crc32(&bytes[..length]), !slow, "{length}");
        }
    }

    /// Returns all events of the two recorded logs, `MARIADB` and `MYSQL`.
    fn all_events() -> Vec<&'static [u8]> {
        [MARIADB, MYSQL].map(events).concat()
    }

    fn events(log: &'static [u8]) -> Vec<&'static [u8]> {
        let (mut events, mut rest) = (Vec::new(), &log[MAGIC..]);
        while let Some(header) = rest.get(..HEADER) {
            let length = u32::from_le_bytes([header[9], header[10], header[11], header[12]]);
            let (event, others) = rest.split_at(length as usize);
            events.push(event);
            rest = others;
        }
        assert!(rest.is_empty() && events.len() > 60, "{} events", events.len());
        events
    }

    /// Describes an event in a word, for comparison.
    fn in_words(event: &Event) -> String {
        match event {
            Event::Table { schema, name, .. } => {
                format!("{}.{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(name))
            }
            Event::Rotate { file, at } => format!("to {}:{at}", String::from_utf8_lossy(file)),
            Event::CompressedTransaction(packed) => {
                let plain = packed::unpack(packed).expect("it is short");
                let events = packed::events(&plain).expect("a transaction");
                let words = events.iter().filter(|event| **event != Event::Nothing).map(in_words);
                format!("({})", words.collect::<Vec<_>>().join(" "))
            }
            Event::Rows(_) => "rows".to_owned(),
            Event::Gtid(gtid) => format!("{}:{}", String::from_utf8_lossy(gtid.tag), gtid.number),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// Asserts that the events of `log` that change anything are `expected`, and that each ends where it does in the file.
    /// `begins_at` is the position after the format event.
    fn assert_tells(log: &'static [u8], begins_at: u32, expected: &str) {
        let read: Vec<_> = events(log).iter().map(|event| read(event, true, true).expect("an event")).collect();
        assert!(matches!(read[0].event, Event::Format { has_checksums: true, created: 1.. }));
        let words = read[1..].iter().filter(|event| event.event != Event::Nothing).map(|event| in_words(&event.event));
        assert_eq!(words.collect::<Vec<_>>().join(" "), expected.split_whitespace().collect::<Vec<_>>().join(" "));
        let mut at = begins_at;
        for (event, bytes) in read.iter().zip(events(log)).skip(1) {
            at += bytes.len() as u32;
            assert_eq!(event.end, Some(at));
        }
    }

    #[test]
    fn a_log_of_mariadb_tells_what_changed() {
        let expected = "everything everything d.t rows committed d.t rows committed d.t rows committed d.t rows committed \
            d.a rows ended d.a rows ended d.t rows ended everything committed everything committed everything everything \
            privileges xa d.t rows xa xa xa xa to log.000002:4";
        assert_tells(MARIADB, 256, expected);
    }

    #[test]
    fn a_log_of_mysql_tells_what_changed_and_the_numbers_of_transactions() {
        let expected = ":1 everything :2 everything :3 everything :4 d.t rows committed :5 d.t rows committed \
            :6 d.t rows committed :7 d.t rows committed :8 d.t rows committed tagged_one:1 d.t rows committed \
            tagged_one:2 d.t rows committed :9 d.m rows ended :10 (d.t rows committed) :11 d.t rows committed \
            :12 everything committed :13 everything d.copy rows committed :14 everything :15 privileges :16 privileges \
            :17 privileges :18 xa d.t rows xa xa :19 xa :20 xa d.t rows xa xa to log.000002:4";
        assert_tells(MYSQL, 127, expected);
    }

    #[test]
    fn what_was_changed_on_the_way_is_no_event() {
        for event in all_events() {
            for index in [0, HEADER, event.len() - 1] {
                let mut event = event.to_vec();
                event[index] ^= 1;
                assert_eq!(read(&event, true, true), Err(Malformed));
            }
        }
    }

    #[test]
    fn any_bytes_have_an_answer_and_of_a_part_nothing_is_taken_for_certain() {
        let (mut random, events) = (Random::new(1), all_events());
        let mut understood = 0;
        for _ in 0..200_000 {
            let whole = *random.pick(&events);
            let mut event = whole.to_vec();
            for _ in 0..random.below(4) {
                let index = random.below(event.len());
                event[index] = random.below(256) as u8;
            }
            let length = if random.percent(50) { event.len() } else { random.below(event.len() + 1) };
            let is_whole = length == event.len() || random.percent(50);
            understood += usize::from(read(&event[..length], is_whole, random.percent(50)).is_ok());
        }
        assert!((1000..199_000).contains(&understood), "{understood} of them");
        for event in events.iter().filter(|event| event[4] == kind::QUERY) {
            let part = read(&event[..event.len() - 10], false, true).expect("an event");
            assert!(matches!(part.event, Event::Everything | Event::Privileges | Event::Xa), "{:?}", part.event);
        }
    }

    /// A server may log a long statement, or one that it compresses.
    #[test]
    fn a_statement_that_is_not_read_to_its_end_may_have_changed_privileges() {
        const COMPRESSED: u8 = 165;
        let read_as = |kind: u8, text: &str| {
            let mut event = [&[0; HEADER + 14][..], text.as_bytes()].concat();
            event[4] = kind;
            read(&event, false, false).expect("an event").event == Event::Privileges
        };
        assert!(read_as(kind::QUERY, "REVOKE SELECT ON d.* FROM a, b, c"));
        assert!(!read_as(kind::QUERY, "INSERT INTO t VALUES (1), (2), "));
        assert!(read_as(COMPRESSED, "INSERT INTO t VALUES (1)"));
    }

    #[test]
    fn what_may_change_privileges_is_known_from_what_cannot() {
        for text in [
            "INSERT INTO t VALUES (1)",
            "create table t (a INT)",
            "CREATE OR REPLACE\tVIEW v AS SELECT 1",
            "CREATE ALGORITHM=UNDEFINED DEFINER=`u`@`%` SQL SECURITY DEFINER VIEW `v` AS SELECT 1",
            "DROP  TABLE t",
            "ALTER TABLE t ADD a INT",
            "ANALYZE TABLE t",
        ] {
            assert!(leaves_privileges(text.as_bytes()), "{text}");
        }
        for text in [
            "GRANT SELECT ON d.* TO u",
            "REVOKE ALL ON d.* FROM u",
            "CREATE USER u",
            "CREATE OR REPLACE USER u",
            "CREATE DEFINER=`u`@`%` PROCEDURE p() GRANT SELECT ON d.* TO u",
            "CREATE /* */ USER u",
            "/* */ DROP USER u",
            "DROP ROLE r",
            "ALTER USER u ACCOUNT LOCK",
            "SET DEFAULT ROLE r FOR u",
            "FLUSH PRIVILEGES",
            "DROP",
            "",
        ] {
            assert!(!leaves_privileges(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_kind_of_event_that_is_not_known_changes_something() {
        let is_nothing = |kind: u8| {
            let mut event = vec![0; HEADER + 13];
            event[4] = kind;
            matches!(read(&event, true, false).map(|event| event.event), Ok(Event::Nothing))
        };
        let harmless: Vec<u8> = (0..=u8::MAX).filter(|kind| is_nothing(*kind)).collect();
        assert_eq!(harmless, [3, 5, 13, 14, 29, 35, 160, 161, 162, 163, 164]);
    }
}
