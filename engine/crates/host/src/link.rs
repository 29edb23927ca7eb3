//! How a host asks the server.

/// A row of an answer; a value is none where it is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// A connection to the server with the privileges that the engine's questions need.
pub trait Link {
    /// The rows of the answer, or what the server has to say against the question.
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String>;
}

/// The first value of each row.
pub fn first_column(rows: Vec<Row>) -> impl Iterator<Item = Vec<u8>> {
    rows.into_iter().filter_map(|row| row.into_iter().next().flatten())
}

/// 0 for what is no number.
pub fn number(value: &Option<Vec<u8>>) -> u64 {
    value.as_deref().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
}
