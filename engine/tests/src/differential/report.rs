//! Readable reports: decoded answers and listed histories.

use std::fmt::Write;

use super::action::{Action, Commands};
use super::lane::Answer;
use crate::client::{Part, Response};

const MOST_ROWS: usize = 60;
const LONGEST: usize = 160;

/// A line for each step: its session and its statement, long ones cut off.
pub fn history(actions: &[Action]) -> String {
    actions.iter().map(|action| format!("  {}\n", clipped(&action.to_string(), 2000))).collect()
}

/// The decoded responses to a step, with at most 60 rows each, and their first bytes.
pub fn answer(answer: &Answer, action: &Action) -> String {
    let is_binary = matches!(action.commands, Commands::Run(..));
    let mut text: String = answer.responses.iter().map(|one| response(one, is_binary)).collect();
    if let Some(reason) = &answer.lost {
        let _ = writeln!(text, "    connection lost: {reason}");
    }
    text
}

fn response(response: &Response, is_binary: bool) -> String {
    let mut text = String::new();
    for part in &response.parts {
        let _ = match part {
            Part::Ok(finish) => writeln!(text, "    {finish:?}"),
            Part::Err(failure) => writeln!(text, "    {failure}"),
            Part::Rows(rows) => {
                let names = rows.columns.iter().map(|one| format!("{} (type {})", lossy(&one.name), one.kind));
                let names: Vec<_> = names.collect();
                writeln!(text, "    {} rows of {}; end {:?}", rows.rows.len(), names.join(", "), rows.end)
            }
        };
    }
    for row in response.rows(is_binary).iter().take(MOST_ROWS) {
        let values = row.iter().map(|value| value.as_deref().map_or("NULL".into(), lossy));
        let _ = writeln!(text, "      {}", values.collect::<Vec<_>>().join(" | "));
    }
    let head = &response.bytes[..response.bytes.len().min(LONGEST)];
    let _ = writeln!(text, "    {} bytes, first {}", response.bytes.len(), head.escape_ascii());
    text
}

fn lossy(bytes: &[u8]) -> String {
    clipped(&String::from_utf8_lossy(bytes), LONGEST)
}

/// The first `longest` characters of a text, with a note of its length if it is longer.
pub fn clipped(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}... ({} bytes)", &text[..at], text.len()),
        None => text.into(),
    }
}
