//! Framing: 4-byte headers, packets split at 16 MB - 1, sequence numbers.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::time::Duration;

use super::stream::Line;

/// The longest payload of one packet. A payload that reaches this length goes on in the next packet, which may be empty.
const LONGEST: usize = 0xff_ffff;

/// The packets of a connection: a buffer for reading, and the sequence number of the next packet to write.
pub struct Packets {
    line: Line,
    buffer: Vec<u8>,
    start: usize,
    sequence: u8,
}

/// Appends the packets of one command, with headers, to `out`. `kind` is the command byte.
pub fn frame_command(kind: u8, body: &[u8], out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(body.len() + 1);
    payload.push(kind);
    payload.extend_from_slice(body);
    frame(&payload, 0, out);
}

fn frame(payload: &[u8], mut sequence: u8, out: &mut Vec<u8>) {
    let mut rest = payload;
    loop {
        let (piece, after) = rest.split_at(rest.len().min(LONGEST));
        out.extend_from_slice(&(piece.len() as u32).to_le_bytes()[..3]);
        out.push(sequence);
        out.extend_from_slice(piece);
        sequence = sequence.wrapping_add(1);
        if piece.len() < LONGEST {
            return;
        }
        rest = after;
    }
}

impl Packets {
    pub fn new(line: Line) -> Self {
        Self { line, buffer: Vec::new(), start: 0, sequence: 0 }
    }

    /// Starts the sequence numbers at 0 again, as each command does.
    pub fn begin(&mut self) {
        self.sequence = 0;
    }

    pub fn write_command(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(body.len() + 5);
        frame_command(kind, body, &mut bytes);
        self.write_raw(&bytes)
    }

    /// Writes the next packet of an exchange under way, such as a login's answer or a file's content.
    pub fn write_payload(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(payload.len() + 4);
        frame(payload, self.sequence, &mut bytes);
        self.sequence = self.sequence.wrapping_add(1);
        self.write_raw(&bytes)
    }

    pub fn write_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.line.write_all(bytes)
    }

    /// Reads one packet, and appends its bytes with header to `raw`. Returns where its payload lies there, and whether the payload goes on
    /// in the next packet. After a timeout nothing is lost, and it may be called again.
    pub fn read_into(&mut self, raw: &mut Vec<u8>) -> io::Result<(Range<usize>, bool)> {
        self.fill(4)?;
        let header = &self.buffer[self.start..self.start + 4];
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        self.sequence = header[3].wrapping_add(1);
        self.fill(4 + length)?;
        raw.extend_from_slice(&self.buffer[self.start..self.start + 4 + length]);
        self.start += 4 + length;
        Ok((raw.len() - length..raw.len(), length == LONGEST))
    }

    /// Waits until the buffer holds this many unread bytes.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        if self.buffer.len() - self.start >= wanted {
            return Ok(());
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        let mut chunk = [0; 32 * 1024];
        while self.buffer.len() < wanted {
            match self.line.read(&mut chunk)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.buffer.extend_from_slice(&chunk[..count]),
            }
        }
        Ok(())
    }

    pub fn set_timeout(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.line.set_timeout(limit)
    }

    pub fn abort(self) {
        self.line.cut();
    }

    pub fn line(&self) -> io::Result<Line> {
        self.line.duplicate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_exactly_the_longest_payload_ends_with_an_empty_packet() {
        let mut bytes = Vec::new();
        frame_command(3, &vec![b'x'; LONGEST - 1], &mut bytes);
        assert_eq!(bytes.len(), 4 + LONGEST + 4);
        assert_eq!(&bytes[4 + LONGEST..], &[0, 0, 0, 1]);
    }
}
