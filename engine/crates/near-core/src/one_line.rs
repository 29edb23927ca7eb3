//! Text of other programs, made fit for one line of a log, a metric or a report.

/// The most characters of such a text in logs and metrics.
pub const LONGEST_LINE: usize = 1000;

/// The first `most` characters of `text`, with a space for each line break, and without other control characters.
pub fn one_line(text: &str, most: usize) -> String {
    let is_break = |one: char| one == '\n';
    text.chars()
        .filter(|one| is_break(*one) || !one.is_control())
        .map(|one| if is_break(one) { ' ' } else { one })
        .take(most)
        .collect()
}
