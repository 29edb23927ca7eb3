//! Unique keys besides the primary key, from what a catalogue reports about them.
//!
//! A read that compares every column of such a key with a constant finds at most one row. If it shows that row's primary key, its
//! result changes only with that row: as long as the row stays as it is, no other row can have the same unique key.
//! Invariants: a comparison with a constant of the column's own kind distinguishes at least what the key distinguishes. So prefixes,
//! expressions, nullable or generated columns, and types whose constants are converted are left out.

use crate::Told;

/// The columns of one unique key, in any order.
pub type UniqueKey = Vec<KeyPart>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The column's name as defined. The server compares column names without case.
    pub name: Vec<u8>,
    pub kind: PartKind,
}

/// The constants that a column can be compared with, so that at most rows with the key's equal values are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    Integer,
    /// The column has a collation. Constants beyond ASCII are left out, since the server may convert the column instead of them.
    Text,
    Binary,
}

/// The usable keys among `parts`, which are rows of `Catalogue::unique_keys`, ordered by key. `columns`: all columns of the table.
pub fn unique_keys(parts: &[Told], columns: &[Told]) -> Vec<UniqueKey> {
    let keys = parts.chunk_by(|one, next| value(one, 0) == value(next, 0));
    keys.filter_map(|key| key.iter().map(|part| usable(part, columns)).collect()).collect()
}

/// `part`: the key's name, the column's name, and 1 if the key contains the column's value unchanged. None if the column is not usable.
fn usable(part: &Told, columns: &[Told]) -> Option<KeyPart> {
    let name = value(part, 1)?;
    let column = columns.iter().find(|column| value(column, 0) == Some(name))?;
    let is_plain = value(part, 2) == Some(b"1") && value(column, 4) == Some(b"") && name.is_ascii();
    let kind = match value(column, 1)?.to_ascii_lowercase().as_slice() {
        b"tinyint" | b"smallint" | b"mediumint" | b"int" | b"bigint" => PartKind::Integer,
        b"char" | b"varchar" => PartKind::Text,
        b"binary" | b"varbinary" => PartKind::Binary,
        _ => return None,
    };
    is_plain.then(|| KeyPart { name: name.to_vec(), kind })
}

fn value(row: &Told, place: usize) -> Option<&[u8]> {
    row.get(place)?.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[&str]) -> Told {
        values.iter().map(|value| (*value != "NULL").then(|| value.as_bytes().to_vec())).collect()
    }

    fn keys(parts: &[&[&str]]) -> Vec<Vec<(String, PartKind)>> {
        let columns = [
            ["id", "int", "int(11)", "pri", "auto_increment", "NULL"],
            ["space", "int", "int(11)", "mul", "", "NULL"],
            ["title", "varbinary", "varbinary(255)", "", "", "NULL"],
            ["name", "varchar", "varchar(20)", "uni", "", "NULL"],
            ["made", "int", "int(11)", "uni", "stored generated", "space + 1"],
            ["day", "date", "date", "uni", "", "NULL"],
        ];
        let columns: Vec<_> = columns.iter().map(|column| told(column)).collect();
        let parts: Vec<_> = parts.iter().map(|part| told(part)).collect();
        let named = |part: KeyPart| (String::from_utf8(part.name).expect("a name"), part.kind);
        unique_keys(&parts, &columns).into_iter().map(|key| key.into_iter().map(named).collect()).collect()
    }

    #[test]
    fn whole_columns_whose_constants_are_not_converted_make_a_key() {
        let found = keys(&[&["k", "space", "1"], &["k", "title", "1"], &["n", "name", "1"]]);
        let space_and_title = vec![("space".into(), PartKind::Integer), ("title".into(), PartKind::Binary)];
        assert_eq!(found, [space_and_title, vec![("name".into(), PartKind::Text)]]);
    }

    #[test]
    fn a_key_with_any_other_part_is_left_out() {
        for part in [["k", "name", "0"], ["k", "NULL", "1"], ["k", "made", "1"], ["k", "day", "1"], ["k", "gone", "1"]]
        {
            assert_eq!(keys(&[&["k", "space", "1"], &part]), [] as [Vec<_>; 0], "{part:?}");
        }
        assert_eq!(keys(&[]), [] as [Vec<_>; 0]);
    }
}
