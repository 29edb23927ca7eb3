//! Commands of clients, as far as both ways of serving look at them.

use wire::Command;

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
