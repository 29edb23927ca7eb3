//! Column names after a statement was rewritten: `@@fqc_size` becomes `@@query_cache_size` again, as the user wrote it.

use super::result::{Part, Parts, edit_response, strings};
use crate::lenenc::{Reader, push_string};

/// Returns a copy of a response with renamed columns: each name `ours` that follows `@` or `.` in a column name, in any case, becomes
/// `theirs`. `names` are pairs of (ours, theirs). The response may be a single result, or that of COM_STMT_PREPARE. None if it is something
/// else or has no definitions; the caller then sends the original one.
pub fn rename_columns(response: &[u8], capabilities: u64, names: &[(&[u8], &[u8])]) -> Option<Vec<u8>> {
    let parts = Parts::of_result(response, capabilities).or_else(|| Parts::of_prepared(response, capabilities))?;
    edit_response(response, parts, |part, payload| match part {
        Part::Definition => rename_definition(payload, names),
        Part::Row | Part::Frame => None,
    })
}

/// Returns a column definition with the column's name changed; None if it is malformed. A definition begins with catalogue, schema, table,
/// original table, name.
fn rename_definition(payload: &[u8], names: &[(&[u8], &[u8])]) -> Option<Vec<u8>> {
    let mut reader = Reader::new(payload);
    let [catalogue, schema, table, original_table, name] = strings(&mut reader)?;
    let mut out = Vec::with_capacity(payload.len() + 32);
    for string in [catalogue, schema, table, original_table] {
        push_string(&mut out, string);
    }
    push_string(&mut out, &renamed(name, names));
    out.extend_from_slice(reader.rest());
    Some(out)
}

fn renamed(name: &[u8], names: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len() + 16);
    let mut rest = name;
    while let Some((&first, tail)) = rest.split_first() {
        out.push(first);
        rest = tail;
        let found = names.iter().find(|(ours, _)| begins_with_word(rest, ours));
        if let (b'@' | b'.', Some((ours, theirs))) = (first, found) {
            out.extend_from_slice(theirs);
            rest = &rest[ours.len()..];
        }
    }
    out
}

/// True if the text begins with this word, in any case, and no further letter, digit, `_` or `$` follows it.
fn begins_with_word(text: &[u8], word: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80;
    let begins = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    begins && !word.is_empty() && !text[word.len()..].first().is_some_and(is_letter)
}
