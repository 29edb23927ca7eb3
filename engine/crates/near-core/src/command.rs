//! Checks of client commands that all kinds of serving share.

use wire::Command;

/// The maximum length of a command whose answer is stored, in bytes.
pub const LONGEST: usize = 16 << 10;

/// Returns true if a command changes neither the session nor anything that a statement leaves behind, such as warnings.
pub fn is_harmless(payload: &[u8]) -> bool {
    [Command::Ping as u8, Command::StmtClose as u8].contains(&payload[0])
}

/// Returns true if a text may be a read: it starts with SELECT, WITH or a parenthesis.
pub fn begins_a_read(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word));
    [&b"select"[..], b"with", b"("].into_iter().any(begins)
}
