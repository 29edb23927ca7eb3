//! Text of other programs, prepared for one line of a log, a metric or a report.

/// The maximum length of another program's text in a line of a log or a metric, in characters.
pub const LONGEST_LINE: usize = 1000;

/// Returns the first `most` characters of `text`, with a space for each line break, and without other control characters.
pub fn one_line(text: &str, most: usize) -> String {
    let is_break = |one: char| one == '\n';
    text.chars()
        .filter(|one| is_break(*one) || !one.is_control())
        .map(|one| if is_break(one) { ' ' } else { one })
        .take(most)
        .collect()
}
