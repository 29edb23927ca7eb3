//! Checks of client commands that all kinds of serving share.

use wire::Command;

/// The maximum length of a command whose answer is stored or served, in bytes of its payload.
pub const LONGEST_COMMAND: usize = 16 << 10;

/// Returns true if a command changes neither the session nor anything that a statement leaves behind, such as warnings or
/// FOUND_ROWS(): a ping or COM_STMT_CLOSE. `payload` is not empty.
pub fn is_harmless(payload: &[u8]) -> bool {
    [Command::Ping as u8, Command::StmtClose as u8].contains(&payload[0])
}

/// Returns true if a statement may be a read: its text starts with SELECT, WITH or a parenthesis. A comment before that is not
/// skipped.
pub fn begins_a_read(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|first| first.eq_ignore_ascii_case(word));
    [&b"select"[..], b"with", b"("].into_iter().any(begins)
}
