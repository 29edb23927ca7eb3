//! Every word that may stand before a parenthesis in a read, and whether the result may then be kept.
//!
//! Invariants: the tables are sorted and disjoint; each safe name is built into every supported server, so that
//! no stored or loadable function can take its place; its value depends on its arguments and on settings that are
//! part of a cached result's identity.
//! Deliberately absent: functions that make TIME values, because the server completes those with today's date
//! where a date is needed; JSON_TABLE, whose columns can be of that type; POINT(), POLYGON() and the like, which
//! with another number of arguments are stored functions.

mod names;

use crate::Refusal;
use names::{REFUSED, SAFE, SYNTAX, TIGHT};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not a call, or one that is always safe.
    Safe,
    /// Built in only if the parenthesis follows at once; else a stored function.
    SafeIfTight,
    /// Without an argument it tells the time.
    SafeWithArgument,
    Refused(Refusal),
}

/// Judges a word, in lower case, before a parenthesis.
pub(crate) fn verdict(name: &[u8]) -> Verdict {
    let is_in = |table: &[&str]| table.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok();
    if is_in(SYNTAX) || is_in(SAFE) {
        return Verdict::Safe;
    }
    if is_in(TIGHT) {
        return Verdict::SafeIfTight;
    }
    if name == b"unix_timestamp" {
        return Verdict::SafeWithArgument;
    }
    match REFUSED.binary_search_by(|(known, _)| known.as_bytes().cmp(name)) {
        Ok(index) => Verdict::Refused(REFUSED[index].1),
        Err(_) => Verdict::Refused(Refusal::UnknownFunction),
    }
}

/// Words that call a function without any parenthesis.
pub(crate) fn niladic(name: &[u8]) -> Option<Refusal> {
    match name {
        b"current_timestamp" | b"current_date" | b"current_time" | b"localtime" | b"localtimestamp" | b"utc_date"
        | b"utc_time" | b"utc_timestamp" => Some(Refusal::Nondeterministic),
        b"current_user" | b"current_role" => Some(Refusal::SessionState),
        _ => None,
    }
}

/// Functions that tell about the statement before.
pub(crate) fn reads_diagnostics(name: &[u8]) -> bool {
    matches!(name, b"found_rows" | b"row_count" | b"warning_count" | b"error_count")
}

#[cfg(test)]
mod tests;
