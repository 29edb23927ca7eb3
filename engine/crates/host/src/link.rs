//! How a host queries the server.

/// A row of a result set, with a value for each column as text. A value is none if it is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// A connection of the host's own to the server, with the privileges that the engine's queries need.
pub trait Link {
    /// Runs one statement, and blocks until it has ended. Returns the rows of its result set, none of them if it has no result set. The
    /// error is the server's message, or the host's reason why the statement did not run.
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String>;
}

/// Returns the first value of each row. Rows in which it is NULL are left out.
pub fn first_column(rows: Vec<Row>) -> impl Iterator<Item = Vec<u8>> {
    rows.into_iter().filter_map(|row| row.into_iter().next().flatten())
}

/// Parses a value as a decimal number. Returns 0 for NULL and for a text that is not a number.
pub fn number(value: &Option<Vec<u8>>) -> u64 {
    value.as_deref().and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0)
}
