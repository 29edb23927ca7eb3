//! Text of other programs, made fit for one line of a log, a metric or a report.

/// The most characters of such a text in logs and metrics.
pub const LONGEST_LINE: usize = 1000;

/// The first `most` characters of `text`, without line breaks and other control characters.
pub fn one_line(text: &str, most: usize) -> String {
    text.chars().filter(|one| !one.is_control()).take(most).collect()
}
