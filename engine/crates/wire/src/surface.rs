//! Results as the user should see them: names translated back, values replaced, own results built.
//!
//! Text protocol, complete responses of a single result. `None` means it could not be done; the caller then
//! sends what it had.

/// Renames columns after a statement was rewritten: each `ours` that follows `@` or `.` in a column name becomes
/// `theirs` again.
pub fn rename_columns(response: &[u8], capabilities: u64, names: &[(&[u8], &[u8])]) -> Option<Vec<u8>> {
    let _ = (response, capabilities, names);
    None
}

/// Replaces the second value of every row whose first value is one of the names, in any case.
pub fn replace_values(response: &[u8], capabilities: u64, values: &[(&str, &str)]) -> Option<Vec<u8>> {
    let _ = (response, capabilities, values);
    None
}

/// A result of strings. The response begins with sequence 1.
pub fn text_result(columns: &[&str], rows: &[Vec<Option<String>>], capabilities: u64, status: u16) -> Vec<u8> {
    let _ = (columns, rows, capabilities, status);
    Vec::new()
}
