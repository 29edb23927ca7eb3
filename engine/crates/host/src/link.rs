//! How a host queries the server.

/// A row of a result set. A value is none if it is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// A connection to the server with the privileges that the engine's questions need.
pub trait Link {
    /// Returns the rows of the result set, or the server's error message.
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String>;
}

/// The first value of each row.
pub fn first_column(rows: Vec<Row>) -> impl Iterator<Item = Vec<u8>> {
    rows.into_iter().filter_map(|row| row.into_iter().next().flatten())
}

/// Parses a number. Returns 0 for NULL and for a text that is not a number.
pub fn number(value: &Option<Vec<u8>>) -> u64 {
    value.as_deref().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
}
