//! Reassembles the payloads of packets from bytes that may be split anywhere.

use wire::Pieces;

/// The maximum number of bytes that are kept of a command.
const MOST_OF_COMMAND: usize = 16 << 10;
/// The maximum number of bytes that are kept of an event.
const MOST_OF_EVENT: usize = 64 << 10;

/// Reassembles the payloads of one direction of a connection. Of a long payload only the beginning is kept.
pub struct Payloads {
    /// The maximum number of bytes that are kept of a payload.
    most: usize,
    /// True if only packets that start an exchange are reported; those that continue one, such as a login, are skipped.
    first_packets_only: bool,
    pieces: Pieces,
    /// True if the present payload is skipped.
    is_skipped: bool,
    payload: Vec<u8>,
    is_whole: bool,
}

impl Payloads {
    /// Creates a reassembler of the commands of a client. Packets that continue an exchange, such as a login, are skipped.
    pub fn of_commands() -> Payloads {
        Payloads::new(MOST_OF_COMMAND, true)
    }

    /// Creates a reassembler of the events of a server that sends its binary log.
    pub fn of_events() -> Payloads {
        Payloads::new(MOST_OF_EVENT, false)
    }

    fn new(most: usize, first_packets_only: bool) -> Payloads {
        let (pieces, payload) = (Pieces::default(), Vec::new());
        Payloads { most, first_packets_only, pieces, is_skipped: false, payload, is_whole: true }
    }

    /// Takes the next bytes, and passes each payload that they complete to `on_payload`. The flag is false if the payload is too long
    /// and only its beginning was kept. Empty payloads are not reported.
    pub fn feed(&mut self, mut bytes: &[u8], mut on_payload: impl FnMut(&[u8], bool)) {
        while let Some(piece) = self.pieces.next(&mut bytes) {
            if let Some(header) = piece.begins {
                (self.is_skipped, self.is_whole) = (self.first_packets_only && header.sequence != 0, true);
            }
            if self.is_skipped {
                continue;
            }
            if piece.begins.is_some() && piece.ends && (1..=self.most).contains(&piece.bytes.len()) {
                on_payload(piece.bytes, true);
                continue;
            }
            self.keep(piece.bytes);
            if piece.ends {
                let payload = std::mem::take(&mut self.payload);
                if !payload.is_empty() {
                    on_payload(&payload, self.is_whole);
                }
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.most.saturating_sub(self.payload.len());
        self.is_whole &= bytes.len() <= room;
        self.payload.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{MAX_PAYLOAD, push_packet};

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_packet(&mut out, &mut { sequence }, payload);
        out
    }

    #[test]
    fn commands_are_the_same_however_their_bytes_are_cut() {
        let long = vec![b'x'; MOST_OF_COMMAND + 1];
        let bytes = [
            packet(0, b"\x03SELECT 1"),
            packet(2, b"no command"),
            packet(0, b"\x0e"),
            packet(0, &long),
            packet(0, &vec![b'y'; MAX_PAYLOAD]),
            packet(0, b"\x01"),
        ]
        .concat();
        for piece in [1, 7, 100_000, bytes.len()] {
            let (mut commands, mut seen) = (Payloads::of_commands(), Vec::new());
            for bytes in bytes.chunks(piece) {
                commands
                    .feed(bytes, |payload, is_whole| seen.push((payload[..payload.len().min(9)].to_vec(), is_whole)));
            }
            let expected: Vec<(&[u8], bool)> = vec![
                (b"\x03SELECT 1", true),
                (b"\x0e", true),
                (b"xxxxxxxxx", false),
                (b"yyyyyyyyy", false),
                (b"\x01", true),
            ];
            assert_eq!(seen, expected.iter().map(|(text, whole)| (text.to_vec(), *whole)).collect::<Vec<_>>());
        }
    }
}
