//! One response: its bytes, and their meaning.

use std::fmt;
use std::io;
use std::ops::Range;

use super::capability;
use super::decode::{self, Column, Cursor, Row};
use super::packets::Packets;

const MORE_RESULTS: u16 = 0x0008;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub code: u16,
    pub state: String,
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "error {} ({}): {}", self.code, self.state, self.message)
    }
}

/// An OK or EOF packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finish {
    pub affected: u64,
    pub insert_id: u64,
    pub status: u16,
    pub warnings: u16,
    pub info: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    pub columns: Vec<Column>,
    /// Payload of each row, in the bytes of the response (a row over 16 MB spans the headers between).
    pub rows: Vec<Range<usize>>,
    /// A result can still fail after its first row.
    pub end: Result<Finish, Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Ok(Finish),
    Err(Failure),
    Rows(Rows),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    pub bytes: Vec<u8>,
    pub parts: Vec<Part>,
    /// Where the two bytes of status flags lie, in every OK and EOF packet.
    pub flags: Vec<Range<usize>>,
    /// Where the two bytes of flags lie, in every column definition.
    pub column_flags: Vec<Range<usize>>,
    /// Where every column definition begins, and where in it the name of the table lies that the column comes from.
    pub origins: Vec<(usize, Range<usize>)>,
    /// Where the id of a prepared statement lies; servers number them across all sessions.
    pub statement_id: Option<Range<usize>>,
}

impl Response {
    pub fn failure(&self) -> Option<&Failure> {
        match self.parts.last()? {
            Part::Err(failure) => Some(failure),
            Part::Rows(rows) => rows.end.as_ref().err(),
            Part::Ok(_) => None,
        }
    }

    /// Status flags of the last OK or EOF; `None` after an error.
    pub fn status(&self) -> Option<u16> {
        match self.parts.last()? {
            Part::Ok(finish) => Some(finish.status),
            Part::Rows(rows) => rows.end.as_ref().ok().map(|finish| finish.status),
            Part::Err(_) => None,
        }
    }

    /// The rows of every result, decoded. Binary rows start with a zero byte, as no text row of an integer does,
    /// but an empty string does: so the caller says which protocol it spoke.
    pub fn rows(&self, is_binary: bool) -> Vec<Row> {
        let mut decoded = Vec::new();
        for part in &self.parts {
            let Part::Rows(rows) = part else { continue };
            for range in &rows.rows {
                let payload = &self.bytes[range.clone()];
                decoded.push(match is_binary {
                    true => decode::binary_row(payload, &rows.columns),
                    false => decode::text_row(payload, rows.columns.len()),
                });
            }
        }
        decoded
    }

    /// Text protocol: first column of the first row.
    pub fn scalar(&self) -> Option<String> {
        let value = self.rows(false).into_iter().next()?.into_iter().next()??;
        Some(String::from_utf8_lossy(&value).into_owned())
    }
}

/// Reads all results of one command.
pub fn read(packets: &mut Packets, capabilities: u64, local_file: &[u8]) -> io::Result<Response> {
    let mut reader = Reader { packets, capabilities, response: Response::default() };
    while reader.part(local_file)? {}
    Ok(reader.response)
}

pub struct Reader<'a> {
    pub packets: &'a mut Packets,
    pub capabilities: u64,
    pub response: Response,
}

impl Reader<'_> {
    /// One logical packet; its parts are joined by where they lie, headers included when there are several.
    pub fn packet(&mut self) -> io::Result<Range<usize>> {
        let (first, mut continues) = self.packets.read_into(&mut self.response.bytes)?;
        let mut end = first.end;
        while continues {
            let (next, more) = self.packets.read_into(&mut self.response.bytes)?;
            (end, continues) = (next.end, more);
        }
        Ok(first.start..end)
    }

    pub fn payload(&self, range: &Range<usize>) -> &[u8] {
        &self.response.bytes[range.clone()]
    }

    fn part(&mut self, local_file: &[u8]) -> io::Result<bool> {
        let range = self.packet()?;
        let part = match self.payload(&range).first() {
            Some(0x00) => {
                self.note_flags(&range, true);
                Part::Ok(ok(self.payload(&range)))
            }
            Some(0xff) => Part::Err(failure(self.payload(&range))),
            Some(0xfe) if range.len() < 9 => {
                self.note_flags(&range, false);
                Part::Ok(eof(self.payload(&range)))
            }
            Some(0xfb) => {
                self.send_file(local_file)?;
                return Ok(true);
            }
            _ => {
                let columns = self.payload(&range).to_vec();
                Part::Rows(self.result(&columns)?)
            }
        };
        let more = match &part {
            Part::Ok(finish) => finish.status & MORE_RESULTS != 0,
            Part::Rows(rows) => rows.end.as_ref().is_ok_and(|finish| finish.status & MORE_RESULTS != 0),
            Part::Err(_) => false,
        };
        self.response.parts.push(part);
        Ok(more)
    }

    fn send_file(&mut self, local_file: &[u8]) -> io::Result<()> {
        if !local_file.is_empty() {
            self.packets.write_payload(local_file)?;
        }
        self.packets.write_payload(&[])
    }

    fn result(&mut self, head: &[u8]) -> io::Result<Rows> {
        let mut cursor = Cursor::new(head);
        let count = cursor.length().unwrap_or(0);
        let has_metadata = self.capabilities & capability::CACHE_METADATA == 0 || cursor.int(1) == 1;
        let columns = if has_metadata { self.columns(count)? } else { Vec::new() };
        let mut rows = Vec::new();
        let end = loop {
            let range = self.packet()?;
            match self.ending(&range) {
                Some(end) => break end,
                None => rows.push(range),
            }
        };
        Ok(Rows { columns, rows, end })
    }

    /// `count` definitions, and the EOF behind them where it was not agreed away.
    pub fn columns(&mut self, count: u64) -> io::Result<Vec<Column>> {
        let extended = self.capabilities & capability::EXTENDED_METADATA != 0;
        let mut columns = Vec::new();
        for _ in 0..count {
            let range = self.packet()?;
            columns.push(decode::column(self.payload(&range), extended));
            // Behind the flags: one byte of decimals, two of filler.
            let origin = decode::origin(self.payload(&range));
            self.response.origins.push((range.start, range.start + origin.start..range.start + origin.end));
            self.response.column_flags.push(range.end.saturating_sub(5)..range.end.saturating_sub(3));
        }
        if count > 0 && !self.deprecates_eof() {
            let range = self.packet()?;
            self.note_flags(&range, false);
        }
        Ok(columns)
    }

    fn deprecates_eof(&self) -> bool {
        self.capabilities & capability::DEPRECATE_EOF != 0
    }

    fn ending(&mut self, range: &Range<usize>) -> Option<Result<Finish, Failure>> {
        let payload = self.payload(range);
        match payload.first() {
            Some(0xff) => Some(Err(failure(payload))),
            Some(0xfe) if self.deprecates_eof() && payload.len() < 0xff_ffff => {
                self.note_flags(range, true);
                Some(Ok(ok(self.payload(range))))
            }
            Some(0xfe) if payload.len() < 9 => {
                self.note_flags(range, false);
                Some(Ok(eof(self.payload(range))))
            }
            _ => None,
        }
    }

    /// In an OK packet two length-encoded numbers come before the flags, in an EOF the count of warnings.
    fn note_flags(&mut self, range: &Range<usize>, is_ok: bool) {
        let mut cursor = Cursor::new(&self.response.bytes[range.start + 1..range.end]);
        match is_ok {
            true => (cursor.length(), cursor.length()),
            false => (Some(cursor.int(2)), None),
        };
        let at = range.end - cursor.rest().len();
        if at + 2 <= range.end {
            self.response.flags.push(at..at + 2);
        }
    }
}

pub fn ok(payload: &[u8]) -> Finish {
    let mut cursor = Cursor::new(&payload[1..]);
    Finish {
        affected: cursor.length().unwrap_or(0),
        insert_id: cursor.length().unwrap_or(0),
        status: cursor.int(2) as u16,
        warnings: cursor.int(2) as u16,
        info: cursor.rest().to_vec(),
    }
}

fn eof(payload: &[u8]) -> Finish {
    let mut cursor = Cursor::new(&payload[1..]);
    let warnings = cursor.int(2) as u16;
    Finish { warnings, status: cursor.int(2) as u16, ..Finish::default() }
}

pub fn failure(payload: &[u8]) -> Failure {
    let mut cursor = Cursor::new(&payload[1..]);
    let code = cursor.int(2) as u16;
    let rest = cursor.rest();
    let (state, message) = match rest.first() {
        Some(b'#') => rest[1..].split_at(5.min(rest.len() - 1)),
        _ => (&b""[..], rest),
    };
    let readable = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Failure { code, state: readable(state), message: readable(message) }
}
