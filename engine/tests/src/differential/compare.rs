//! Decides whether two answers count as equal: byte for byte, except for what differs by nature.
//!
//! Expected differences are: the flags that a statement was slow or used no index, which depend on statistics and the clock; the ids of
//! prepared statements; whether column metadata is sent again to a client that caches it; names of scratch tables inside error messages;
//! how an unknown account was asked for its password; the order of rows without an ORDER BY, and the order in which an OK packet lists the
//! settings that a statement has changed.

use super::lane::Answer;
use crate::client::{Finish, Part, Response};

/// The status flags "query was slow", "no good index used" and "no index used".
const BY_NATURE: u16 = 0x0800 | 0x0010 | 0x0020;

/// The status flag "the columns of a prepared statement have changed".
const METADATA_CHANGED: u16 = 0x0400;

/// Returns None if the answers count as equal, and else words for the first difference. `is_ordered`: the order of rows must be equal, too.
pub fn difference(plain: &Answer, cached: &Answer, is_ordered: bool) -> Option<String> {
    if plain.lost.is_some() != cached.lost.is_some() {
        return Some(format!("connection: plain {:?}, cached {:?}", plain.lost, cached.lost));
    }
    if plain.responses.len() != cached.responses.len() {
        return Some(format!("{} answers against {}", plain.responses.len(), cached.responses.len()));
    }
    let pairs = plain.responses.iter().zip(&cached.responses);
    pairs.into_iter().find_map(|(plain, cached)| unequal(plain, cached, is_ordered))
}

/// True if the answers are equal except for the values of rows: each result has as many rows and columns, and all else is the same.
pub fn are_alike(plain: &Answer, cached: &Answer) -> bool {
    let parts = |answer: &Answer| answer.responses.iter().flat_map(|one| one.parts.clone()).collect::<Vec<_>>();
    let (plain, cached) = (parts(plain), parts(cached));
    let alike = |(plain, cached): (&Part, &Part)| match (plain, cached) {
        (Part::Rows(plain), Part::Rows(cached)) => {
            (plain.columns.len(), plain.rows.len()) == (cached.columns.len(), cached.rows.len())
        }
        _ => plain == cached,
    };
    plain.len() == cached.len() && plain.iter().zip(&cached).all(alike)
}

/// True if the answers to a statement that is not a read are equal except for their numbers of warnings.
pub fn warn_differently(plain: &Answer, cached: &Answer) -> bool {
    let are_as_many = plain.responses.len() == cached.responses.len();
    let mut pairs = plain.responses.iter().zip(&cached.responses);
    let is_told = |(plain, cached)| without_warnings(plain) == without_warnings(cached);
    are_as_many && pairs.all(is_told)
}

/// The parts of a response that must be equal where numbers of warnings may differ: how each result ended, without its warnings, and all
/// rows, sorted.
fn without_warnings(response: &Response) -> (Vec<String>, Vec<&[u8]>) {
    let end = |part: &Part| match part {
        Part::Ok(Finish { affected, insert_id, status, .. }) => {
            format!("{affected} {insert_id} {}", status & !BY_NATURE)
        }
        Part::Rows(rows) => format!("{:?}", rows.end.as_ref().map(|end| end.warnings)),
        Part::Err(failure) => format!("{failure:?}"),
    };
    (response.parts.iter().map(end).collect(), sorted(response))
}

/// True if the answers consist of OK packets that are equal except for generated row numbers.
pub fn number_differently(plain: &Answer, cached: &Answer) -> bool {
    let told = |answer: &Answer| -> Option<Vec<Finish>> {
        let without_number = |part: &Part| match part {
            Part::Ok(finish) => Some(Finish { insert_id: 0, status: finish.status & !BY_NATURE, ..finish.clone() }),
            _ => None,
        };
        answer.responses.iter().flat_map(|one| &one.parts).map(without_number).collect()
    };
    told(plain).is_some_and(|plain| Some(plain) == told(cached))
}

/// True if the last responses of both answers have the same rows, in any order.
pub fn have_same_rows(plain: &Answer, cached: &Answer) -> bool {
    let rows = |answer: &Answer| answer.responses.last().map(|last| sorted(last).concat());
    rows(plain) == rows(cached)
}

/// True if the answers are equal except that only the plain server reports that a prepared statement has other columns than before.
pub fn tells_of_columns_alone(plain: &Answer, cached: &Answer, is_ordered: bool) -> bool {
    let mut plain = plain.clone();
    for response in &mut plain.responses {
        for flags in response.flags.clone() {
            response.bytes[flags.start + 1] &= !METADATA_CHANGED.to_be_bytes()[0];
        }
    }
    difference(&plain, cached, is_ordered).is_none()
}

/// True if the last responses of both answers count as equal. A response to a prepare may come before one of them.
pub fn end_alike(earlier: &Answer, cached: &Answer, is_ordered: bool) -> bool {
    let lasts = earlier.responses.last().zip(cached.responses.last());
    lasts.is_some_and(|(earlier, cached)| unequal(earlier, cached, is_ordered).is_none())
}

/// True if a response of the answer ended with an error, or the connection was lost.
pub fn has_failed(answer: &Answer) -> bool {
    answer.lost.is_some() || answer.responses.iter().any(|one| one.failure().is_some())
}

/// Returns None if the responses count as equal, and else words for the first difference.
fn unequal(plain: &Response, cached: &Response, is_ordered: bool) -> Option<String> {
    if plain.bytes == cached.bytes {
        return None;
    }
    let (left, right) = (canonical(plain), canonical(cached));
    if left == right {
        return None;
    }
    if tell_other_origins(plain, cached) && without_origins(plain, &left) == without_origins(cached, &right) {
        return None;
    }
    if omits_metadata(plain) != omits_metadata(cached) && rows_and_ends(plain) == rows_and_ends(cached) {
        return None;
    }
    if tells_settings(plain) && tells_settings(cached) && as_bag(&left) == as_bag(&right) {
        return None;
    }
    if !is_ordered && sorted(plain) == sorted(cached) && without_rows(plain, &left) == without_rows(cached, &right) {
        return None;
    }
    let at = left.iter().zip(&right).position(|(left, right)| left != right);
    let shorter = left.len().min(right.len());
    Some(format!("byte {} of {} / {}", at.unwrap_or(shorter), left.len(), right.len()))
}

/// True if the server has left out the metadata of the response's columns. A client that caches column metadata gets it again when it has
/// changed. The server also counts a change between a plan with a scratch table and one without, so this depends on how often the statement
/// has run.
fn omits_metadata(response: &Response) -> bool {
    // One packet of two bytes: the number of columns, and whether their metadata follows.
    matches!(response.bytes[..], [2, 0, 0, _, _, 0, ..])
}

type Ends = Vec<(Vec<Vec<u8>>, String)>;

/// The rows and the end of each result, without the columns.
fn rows_and_ends(response: &Response) -> Ends {
    let of_part = |part: &Part| match part {
        Part::Rows(rows) => {
            (rows.rows.iter().map(|row| response.bytes[row.clone()].to_vec()).collect(), format!("{:?}", rows.end))
        }
        other => (Vec::new(), format!("{other:?}")),
    };
    response.parts.iter().map(of_part).collect()
}

/// The status flag "session state has changed": a list of settings follows, in the order of a hash table.
const STATE_CHANGED: u16 = 0x4000;

/// True if the response lists changed settings.
fn tells_settings(response: &Response) -> bool {
    let flags = response.flags.iter().map(|range| [response.bytes[range.start], response.bytes[range.start + 1]]);
    flags.map(u16::from_le_bytes).any(|flags| flags & STATE_CHANGED != 0)
}

/// The bytes in sorted order, to compare them in any order.
fn as_bag(bytes: &[u8]) -> Vec<u8> {
    let mut bag = bytes.to_vec();
    bag.sort_unstable();
    bag
}

/// The column flags that may differ, as bits of their two bytes: flags of a computed column (NOT NULL, UNSIGNED, BINARY), and whether a
/// column is reported as a key of any kind, as AUTO_INCREMENT or as one without a default. They depend on the plan and on statistics: on
/// one server they change between two executions of the same prepared statement.
const COLUMN_BY_NATURE: [u8; 2] = [0xAF, 0x52];

/// The error of a refused login. Each MySQL server chooses at random how it asks an unknown account for its password, so that a client
/// cannot find out which accounts exist. So the packet of the refusal can have another sequence number.
const ACCESS_DENIED: u16 = 1045;

/// The bytes of a response, with zeros where a difference is expected. Of some errors only the code and the SQLSTATE.
fn canonical(response: &Response) -> Vec<u8> {
    let mut bytes = response.bytes.clone();
    for range in &response.flags {
        let flags = u16::from_le_bytes([bytes[range.start], bytes[range.start + 1]]) & !BY_NATURE;
        bytes[range.clone()].copy_from_slice(&flags.to_le_bytes());
    }
    for range in &response.column_flags {
        range.clone().zip(COLUMN_BY_NATURE).for_each(|(at, nature)| bytes[at] &= !nature);
    }
    if let Some(range) = &response.statement_id {
        bytes[range.clone()].fill(0);
    }
    match response.failure() {
        Some(failure) if failure.message.contains("#sql") || failure.code == ACCESS_DENIED => {
            format!("{} {}", failure.code, failure.state).into_bytes()
        }
        _ => bytes,
    }
}

/// True if the two responses report the same tables and names as the columns' origins, or one of them reports none where the other does.
/// At a statement's second execution MariaDB names the table that a column of a derived table comes from, but not at its first; a computed
/// column has a name of origin at the first execution, but not after a parameter has come with another type.
fn tell_other_origins(plain: &Response, cached: &Response) -> bool {
    let names = |response: &Response| -> Vec<Vec<u8>> {
        let parts = response.origins.iter().flat_map(|(_, parts)| parts.iter().cloned());
        parts.map(|part| response.bytes[part].to_vec()).collect()
    };
    const NONE: &[u8] = &[0];
    let (left, right) = (names(plain), names(cached));
    left.len() == right.len()
        && left.iter().zip(&right).all(|(left, right)| left == right || left == NONE || right == NONE)
}

/// True if the answers are equal except for the tables and names that columns are reported to come from, and nothing has failed.
pub fn tell_origins_alone(plain: &Answer, cached: &Answer) -> bool {
    let bare = |answer: &Answer| -> Vec<Vec<u8>> {
        answer.responses.iter().map(|one| without_origins(one, &canonical(one))).collect()
    };
    !has_failed(plain) && !has_failed(cached) && bare(plain) == bare(cached)
}

/// The canonical bytes without the names of the columns and tables that columns come from, and without the packet lengths that these change.
fn without_origins(response: &Response, canonical: &[u8]) -> Vec<u8> {
    const LENGTH: usize = 3;
    const HEADER: usize = 4;
    let mut kept = Vec::new();
    let mut from = 0;
    for (start, [table, name]) in &response.origins {
        let header = start.saturating_sub(HEADER);
        kept.extend_from_slice(canonical.get(from..header).unwrap_or_default());
        kept.extend_from_slice(canonical.get(header + LENGTH..table.start).unwrap_or_default());
        kept.extend_from_slice(canonical.get(table.end..name.start).unwrap_or_default());
        from = name.end;
    }
    kept.extend_from_slice(canonical.get(from..).unwrap_or_default());
    kept
}

/// All rows of a response, sorted by their bytes.
fn sorted(response: &Response) -> Vec<&[u8]> {
    let mut rows = Vec::new();
    for part in &response.parts {
        if let Part::Rows(result) = part {
            rows.extend(result.rows.iter().map(|range| &response.bytes[range.clone()]));
        }
    }
    rows.sort_unstable();
    rows
}

/// The canonical bytes without the rows.
fn without_rows(response: &Response, canonical: &[u8]) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut from = 0;
    for part in &response.parts {
        let Part::Rows(result) = part else { continue };
        for range in &result.rows {
            // The header of a row holds its length, which belongs to the row.
            kept.extend_from_slice(canonical.get(from..range.start.saturating_sub(4)).unwrap_or_default());
            from = range.end;
        }
    }
    kept.extend_from_slice(canonical.get(from..).unwrap_or_default());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::{Rows, decode};
    use std::ops::Range;

    /// Builds a response with one column definition: the column is called `alias`, and comes from the column `name` of `table`.
    fn told(table: &str, alias: &str, name: &str) -> Response {
        let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
        let before = ["def", "", "alias"].map(text).concat();
        let payload = [before.clone(), text(table), text(alias), text(name), vec![12; 13]].concat();
        let bytes = [&[payload.len() as u8, 0, 0, 1][..], &payload, &[7, 0, 0, 2, 254]].concat();
        let origin = decode::origin(&payload).map(|part| 4 + part.start..4 + part.end);
        Response { bytes, origins: vec![(4, origin)], ..Response::default() }
    }

    #[test]
    fn answers_are_alike_if_only_the_values_of_rows_differ() {
        let answer = |affected, places: Range<usize>| {
            let write = Part::Ok(Finish { affected, ..Finish::default() });
            let rows = places.map(|place| place..place + 1).collect();
            let rows = Rows { columns: Vec::new(), rows, end: Ok(Finish::default()) };
            let response = |part| Response { parts: vec![part], ..Response::default() };
            Answer { responses: vec![response(write), response(Part::Rows(rows))], lost: None }
        };
        let usual = answer(1, 0..2);
        for (other, is_alike) in [(answer(1, 4..6), true), (answer(2, 0..2), false), (answer(1, 0..3), false)] {
            assert_eq!(are_alike(&usual, &other), is_alike, "{other:?}");
        }
    }

    #[test]
    fn where_a_column_comes_from_may_be_told_by_one_alone() {
        let usual = told("t0", "a", "id");
        for (other, is_equal) in [
            (told("", "a", "id"), true),
            (told("t0", "a", ""), true),
            (told("t1", "a", "id"), false),
            (told("t0", "a", "ie"), false),
            (told("", "b", "id"), false),
        ] {
            assert_eq!(unequal(&usual, &other, true).is_none(), is_equal, "{other:?}");
            assert_eq!(unequal(&other, &usual, true).is_none(), is_equal, "{other:?}");
        }
    }
}
