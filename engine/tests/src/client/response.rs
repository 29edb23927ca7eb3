//! One response of a server: its bytes, and their meaning.

use std::fmt;
use std::io;
use std::ops::Range;

use super::capability;
use super::decode::{self, Column, Cursor, Row};
use super::packets::Packets;

const MORE_RESULTS: u16 = 0x0008;

/// An error packet. `state` is the SQLSTATE, empty if the server sent none.
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

/// An OK or EOF packet. An EOF packet has only `status` and `warnings`; the other fields are then 0 or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finish {
    pub affected: u64,
    pub insert_id: u64,
    /// The server's status flags.
    pub status: u16,
    pub warnings: u16,
    /// The rest of an OK packet as it was sent: a text such as `Rows matched: 1 ...` and changes of the session's state.
    pub info: Vec<u8>,
}

/// A result with columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The columns. Empty if the server left them out because the client caches metadata.
    pub columns: Vec<Column>,
    /// Where each row's payload lies in [`Response::bytes`]. A row over 16 MB spans the headers between its packets.
    pub rows: Vec<Range<usize>>,
    /// How the result ended. `Err` if the server failed after it had sent the columns or some rows.
    pub end: Result<Finish, Failure>,
}

/// One of the results in a response: an OK (or EOF) packet, an error, or rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Ok(Finish),
    Err(Failure),
    Rows(Rows),
}

/// The complete answer to one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// All bytes that the server sent, with packet headers. After a login or `COM_CHANGE_USER` only those of the last packet.
    pub bytes: Vec<u8>,
    /// The results in their order: several after several statements or a call. Empty after a successful `COM_STMT_PREPARE`.
    pub parts: Vec<Part>,
    /// Where in `bytes` the two bytes of status flags lie, for every OK and EOF packet.
    pub flags: Vec<Range<usize>>,
    /// Where in `bytes` the two bytes of column flags lie, for every column definition.
    pub column_flags: Vec<Range<usize>>,
    /// For every column definition: where in `bytes` its payload begins, and where the names of the table and the column lie that it comes
    /// from.
    pub origins: Vec<(usize, [Range<usize>; 2])>,
    /// Where in `bytes` the id of a prepared statement lies. Servers number them across all sessions. None unless this answers a
    /// `COM_STMT_PREPARE`.
    pub statement_id: Option<Range<usize>>,
}

impl Response {
    /// The server's error, which may come after successful results or after some rows. None if everything succeeded.
    pub fn failure(&self) -> Option<&Failure> {
        match self.parts.last()? {
            Part::Err(failure) => Some(failure),
            Part::Rows(rows) => rows.end.as_ref().err(),
            Part::Ok(_) => None,
        }
    }

    /// Status flags of the last OK or EOF packet. None after an error or a `COM_STMT_PREPARE`.
    pub fn status(&self) -> Option<u16> {
        match self.parts.last()? {
            Part::Ok(finish) => Some(finish.status),
            Part::Rows(rows) => rows.end.as_ref().ok().map(|finish| finish.status),
            Part::Err(_) => None,
        }
    }

    /// The rows of all results, one after another, decoded. `is_binary`: this answers `COM_STMT_EXECUTE` or `COM_STMT_FETCH`. The caller
    /// has to say so, because the bytes do not always show it.
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

    /// The first column of the first row of a response in the text protocol. None for NULL or no row.
    pub fn scalar(&self) -> Option<String> {
        let value = self.rows(false).into_iter().next()?.into_iter().next()??;
        Some(String::from_utf8_lossy(&value).into_owned())
    }
}

/// Waits for all results of one command. Sends `local_file` if the server asks for a file.
pub fn read(packets: &mut Packets, capabilities: u64, local_file: &[u8]) -> io::Result<Response> {
    let mut reader = Reader { packets, capabilities, response: Response::default() };
    while reader.part(local_file)? {}
    Ok(reader.response)
}

/// Reads one response piece by piece. `response` grows with each packet.
pub struct Reader<'a> {
    pub packets: &'a mut Packets,
    pub capabilities: u64,
    pub response: Response,
}

impl Reader<'_> {
    /// Reads one payload, which may span several packets. Returns where it lies in `response.bytes`; the range includes the headers between
    /// its packets.
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

    /// Reads one result. Returns true if more follows.
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

    /// Reads this many column definitions, and the EOF packet after them unless both sides agreed to leave it out.
    pub fn columns(&mut self, count: u64) -> io::Result<Vec<Column>> {
        let extended = self.capabilities & capability::EXTENDED_METADATA != 0;
        let mut columns = Vec::new();
        for _ in 0..count {
            let range = self.packet()?;
            columns.push(decode::column(self.payload(&range), extended));
            // Behind the flags: one byte of decimals, two of filler.
            let origin = decode::origin(self.payload(&range));
            let in_bytes = |part: Range<usize>| range.start + part.start..range.start + part.end;
            self.response.origins.push((range.start, origin.map(in_bytes)));
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

    /// How the result ends, if this packet ends it. None if the packet is a row.
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

    /// Notes where the status flags of an OK or EOF packet lie. In an OK packet two length-encoded numbers come before them, in an EOF
    /// packet the count of warnings.
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

/// Decodes an OK packet.
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

/// Decodes an error packet.
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
