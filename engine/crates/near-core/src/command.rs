//! Commands of clients, as far as both ways of serving look at them.

use wire::{Command, Header, Packet};

/// Of a command whose answer is kept.
pub const LONGEST: usize = 16 << 10;

/// It changes nothing of what the session is, nor what a statement leaves behind.
pub fn is_harmless(payload: &[u8]) -> bool {
    [Command::Ping as u8, Command::StmtClose as u8].contains(&payload[0])
}

/// A text may be a read, by its first word.
pub fn begins_a_read(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word));
    [&b"select"[..], b"with", b"("].into_iter().any(begins)
}

/// The payload of a command that these bytes are, the whole of it and nothing else.
pub fn lone_command(bytes: &[u8]) -> Option<&[u8]> {
    first_command(bytes).filter(|payload| payload.len() + Header::SIZE == bytes.len())
}

/// The payload of the command that these bytes begin with, if it is whole.
pub fn first_command(bytes: &[u8]) -> Option<&[u8]> {
    let packet = Packet::parse(bytes).filter(|packet| packet.header.sequence == 0)?;
    (!packet.payload.is_empty() && !packet.header.is_continued()).then_some(packet.payload)
}
