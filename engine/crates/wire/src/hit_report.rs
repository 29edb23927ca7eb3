//! A packet that a library in the application's process sends before the client's next command, to report the reads that it has answered.
//!
//! It contains the last of those reads, which the server has not seen. The client itself could achieve the same by commands, so a false
//! report harms only its own connection.

use crate::{Header, push_packet};

/// The first byte of a hit report's payload. No server has a command with this byte.
const COMMAND: u8 = 0xf7;
const MAGIC: &[u8] = b"fqc-note";
const HEAD: usize = 1 + MAGIC.len() + 16;

/// A report on reads that a library in the application's process has answered from its cache, without the server. The library sends it as a
/// packet before the client's next command, to `fqc-near`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HitReport<'a> {
    /// The number of reads that the library has answered since the last command that it sent.
    pub hits: u64,
    /// The number of rows of the last of these reads.
    pub rows: u64,
    /// The packet of the last of these reads, header included, as it would have been sent to the server.
    pub packet: &'a [u8],
}

/// The result of [`LeadingReport::parse`]: whether the bytes that a client has sent begin with a [`HitReport`].
#[derive(Debug, PartialEq, Eq)]
pub enum LeadingReport<'a> {
    /// A complete report, and the bytes after it.
    Complete(HitReport<'a>, &'a [u8]),
    /// There are too few bytes to decide whether this is a hit report, or the report is incomplete. Ask again with more bytes.
    Incomplete,
    /// Something else: the bytes are the client's own.
    Absent,
}

impl<'a> LeadingReport<'a> {
    /// Determines whether these bytes, which a client sends at the start of a command, begin with a [`HitReport`].
    pub fn parse(bytes: &'a [u8]) -> LeadingReport<'a> {
        let Some(Header { length, sequence }) = Header::parse(bytes) else { return LeadingReport::Incomplete };
        let rest = &bytes[Header::SIZE..];
        let known = rest.len().min(1 + MAGIC.len());
        let is_report = sequence == 0 && rest[..known] == [&[COMMAND], MAGIC].concat()[..known] && length >= HEAD;
        match rest.split_at_checked(length) {
            _ if !is_report => LeadingReport::Absent,
            None => LeadingReport::Incomplete,
            Some((payload, rest)) => {
                let number = |at: usize| payload[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                let (hits, rows) = (number(1 + MAGIC.len()), number(1 + MAGIC.len() + 8));
                LeadingReport::Complete(HitReport { hits, rows, packet: &payload[HEAD..] }, rest)
            }
        }
    }
}

impl HitReport<'_> {
    /// Returns the report as packets, headers included.
    pub fn write(&self) -> Vec<u8> {
        let payload = [&[COMMAND][..], MAGIC, &self.hits.to_le_bytes(), &self.rows.to_le_bytes(), self.packet].concat();
        let mut out = Vec::with_capacity(Header::SIZE + payload.len());
        push_packet(&mut out, &mut 0, &payload);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_not_before_it_is_whole() {
        let report = HitReport { hits: 3, rows: 7, packet: b"\x09\0\0\0\x03SELECT 1" };
        let bytes = [report.write(), b"rest".to_vec()].concat();
        assert_eq!(LeadingReport::parse(&bytes), LeadingReport::Complete(report, b"rest"));
        for length in 0..bytes.len() - b"rest".len() {
            assert_eq!(LeadingReport::parse(&bytes[..length]), LeadingReport::Incomplete, "{length}");
        }
    }

    #[test]
    fn no_command_is_taken_for_a_note() {
        for command in
            [&b"\x09\0\0\0\x03SELECT 1"[..], b"\x01\0\0\0\xf7", b"\x09\0\0\0\xf7fqc-note", b"\x19\0\0\x01\xf7"]
        {
            assert_eq!(LeadingReport::parse(command), LeadingReport::Absent);
        }
    }
}
