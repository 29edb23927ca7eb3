//! Results that the engine makes itself, in the form in which the server would send them.

use super::result::column_count_payload;
use crate::capability::{DEPRECATE_EOF, MARIADB_EXTENDED_METADATA};
use crate::lenenc::push_string;
use crate::push_packet;
use crate::reply::end_of_rows_payload;

/// The number of the collation `utf8mb3_general_ci`, which every client understands.
const COLLATION: u16 = 33;
const VAR_STRING: u8 = 0xFD;
/// The number of decimals that column definitions of strings state.
const NOT_FIXED: u8 = 31;
const BYTES_PER_CHARACTER: u32 = 3;

/// Returns a whole text result of UTF-8 strings, as packets with sequence numbers from 1, as in the response to a command. `None` in a row
/// is NULL; each row must have a value for each column. `capabilities` are those that client and server have agreed on, `status` the flags
/// of the session.
pub fn text_result(columns: &[&str], rows: &[Vec<Option<String>>], capabilities: u64, status: u16) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sequence = 1;
    let mut push = |payload: &[u8]| push_packet(&mut out, &mut sequence, payload);
    push(&column_count_payload(columns.len() as u64, capabilities));
    for (index, column) in columns.iter().enumerate() {
        push(&definition(column, widest(rows, index), capabilities));
    }
    if capabilities & DEPRECATE_EOF == 0 {
        push(&end_of_rows_payload(capabilities, status, 0));
    }
    for values in rows {
        push(&row(values));
    }
    push(&end_of_rows_payload(capabilities, status, 0));
    out
}

/// Returns the maximum length of the column's values in bytes, as its definition states it.
fn widest(rows: &[Vec<Option<String>>], column: usize) -> u32 {
    let values = rows.iter().filter_map(|row| row.get(column)?.as_ref());
    let characters = values.map(|value| value.chars().count()).max().unwrap_or(0);
    u32::try_from(characters).unwrap_or(u32::MAX).saturating_mul(BYTES_PER_CHARACTER)
}

fn definition(name: &str, width: u32, capabilities: u64) -> Vec<u8> {
    let mut out = Vec::new();
    // Catalogue, schema, table, original table, name, original name.
    for string in ["def", "", "", "", name, ""] {
        push_string(&mut out, string.as_bytes());
    }
    if capabilities & MARIADB_EXTENDED_METADATA != 0 {
        push_string(&mut out, b"");
    }
    out.push(12); // the length of what follows
    out.extend_from_slice(&COLLATION.to_le_bytes());
    out.extend_from_slice(&width.to_le_bytes());
    out.push(VAR_STRING);
    out.extend_from_slice(&0u16.to_le_bytes());
    out.push(NOT_FIXED);
    out.extend_from_slice(&[0, 0]);
    out
}

fn row(values: &[Option<String>]) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values {
        match value {
            Some(value) => push_string(&mut out, value.as_bytes()),
            None => out.push(0xFB),
        }
    }
    out
}
