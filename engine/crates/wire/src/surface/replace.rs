//! Values in results such as that of SHOW VARIABLES: each row has a name and a value.

use super::result::{Part, Parts, edit_response};
use crate::lenenc::{Reader, push_string};

/// Returns a copy of a text result in which the second value of every row is replaced whose first value is one of the names, in any case.
/// `values` are pairs of (name, new value). None if the response is not a single result with its definitions; the caller then sends the
/// original one.
pub fn replace_values(response: &[u8], capabilities: u64, values: &[(&str, &str)]) -> Option<Vec<u8>> {
    edit_response(response, Parts::of_result(response, capabilities)?, |part, payload| match part {
        Part::Row => replace_in_row(payload, values),
        Part::Definition | Part::Frame => None,
    })
}

fn replace_in_row(payload: &[u8], values: &[(&str, &str)]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(payload);
    let name = reader.string()?;
    let (_, value) = values.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name))?;
    reader.text_value()?;
    let mut row = Vec::with_capacity(payload.len() + value.len());
    push_string(&mut row, name);
    push_string(&mut row, value.as_bytes());
    row.extend_from_slice(reader.rest());
    Some(row)
}
