//! Unique keys besides the primary key, from what a catalogue reports about them.
//!
//! A read that compares every column of such a key with a constant finds at most one row. If it shows that row's primary key, its
//! result changes only with that row: as long as the row stays as it is, no other row can have the same unique key.
//! Invariants: a comparison with a constant of the column's own kind distinguishes at least what the key distinguishes. So prefixes,
//! expressions, nullable or generated columns, and types whose constants are converted are left out.

use crate::CatalogueRow;

/// The columns of one unique key, in no particular order. No two rows of the table have the same values in all of them.
pub type UniqueKey = Vec<KeyPart>;

/// One column of a unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// The column's name as the table defines it. The server compares column names without case.
    pub name: Vec<u8>,
    pub kind: PartKind,
}

/// The type of a column of a unique key. It decides which constants in a comparison are certain to find only rows that the key holds to be
/// equal: those that the server does not convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// TINYINT to BIGINT.
    Integer,
    /// CHAR or VARCHAR, compared by a collation. Only constants in ASCII are certain: for others, the server may convert the column.
    Text,
    /// BINARY or VARBINARY.
    Binary,
}

/// Returns the unique keys that comparisons with constants can be relied on for; those with any other column are left out. `parts` has a
/// row for each column of each unique key except the primary key: key name, column name, and `1` if the key contains the column's value
/// unchanged. The rows of a key follow one another. `columns` has a [`CatalogueRow`] for each column of the table.
pub fn unique_keys(parts: &[CatalogueRow], columns: &[CatalogueRow]) -> Vec<UniqueKey> {
    let keys = parts.chunk_by(|one, next| value(one, 0) == value(next, 0));
    keys.filter_map(|key| key.iter().map(|part| usable(part, columns)).collect()).collect()
}

/// Returns the column of one row of [`unique_keys`]; None if a key with this column cannot be relied on, for example because the column is
/// generated or of another type, or because the key contains only a prefix.
fn usable(part: &CatalogueRow, columns: &[CatalogueRow]) -> Option<KeyPart> {
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

/// Returns the value at this index of a row; None if it is NULL or missing.
fn value(row: &CatalogueRow, place: usize) -> Option<&[u8]> {
    row.get(place)?.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(values: &[&str]) -> CatalogueRow {
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
