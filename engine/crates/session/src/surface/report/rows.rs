//! Rows of text, as `SHOW` returns them.

/// Rows of text in the order of the report's columns. None is NULL.
pub type Rows = Vec<Vec<Option<String>>>;

/// A row with these values, none of them NULL.
pub fn row<const N: usize>(values: [&str; N]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}
