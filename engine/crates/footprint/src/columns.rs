//! Finds the key column of a table in what a catalogue reports about the table's columns.

use crate::KeyColumn;

/// A row of a server's answer about a table; `None` stands for NULL. For the functions here it is one of `information_schema.COLUMNS` with
/// these values: COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, EXTRA, GENERATION_EXPRESSION.
pub type CatalogueRow = Vec<Option<Vec<u8>>>;

struct Column {
    name: Vec<u8>,
    data_type: String,
    full_type: String,
    is_primary: bool,
    extra: String,
}

/// Finds the table's primary key in rows of all its columns, in the table's order. Returns the key column's index in `columns`, from 0, and
/// the column; `is_sole` and `unique_keys` are left unknown. None if the primary key is not a single integer column with a name in ASCII,
/// or if a row is incomplete.
pub fn key_of(columns: &[CatalogueRow]) -> Option<(usize, KeyColumn)> {
    let columns: Option<Vec<_>> = columns.iter().map(column).collect();
    of_columns(&columns?)
}

/// True if one of the columns has the type TIME. The server completes such a value with today's date when it compares it with a date, so
/// the result of a read can change from day to day.
pub fn has_time(columns: &[CatalogueRow]) -> bool {
    columns.iter().any(|column| value(column, 1).eq_ignore_ascii_case(b"time"))
}

/// Returns the defining expressions, as SQL, of those columns that are virtual, that is, computed whenever they are read. An expression
/// that the row lacks is empty.
pub fn computed(columns: &[CatalogueRow]) -> impl Iterator<Item = &[u8]> {
    let is_virtual =
        |column: &&CatalogueRow| value(column, 4).to_ascii_lowercase().windows(7).any(|word| word == b"virtual");
    columns.iter().filter(is_virtual).map(|column| value(column, 5))
}

/// Returns the value at this index of a row; empty if it is NULL or missing.
fn value(column: &CatalogueRow, place: usize) -> &[u8] {
    column.get(place).and_then(|value| value.as_deref()).unwrap_or_default()
}

fn column(told: &CatalogueRow) -> Option<Column> {
    let [Some(name), data_type, full_type, key, extra, ..] = told.as_slice() else { return None };
    let text = |value: &Option<Vec<u8>>| Some(String::from_utf8(value.clone()?).ok()?.to_ascii_lowercase());
    Some(Column {
        name: name.clone(),
        data_type: text(data_type)?,
        full_type: text(full_type)?,
        is_primary: text(key)? == "pri",
        extra: text(extra)?,
    })
}

fn of_columns(columns: &[Column]) -> Option<(usize, KeyColumn)> {
    let mut primary = columns.iter().enumerate().filter(|(_, column)| column.is_primary);
    let (Some((position, column)), None) = (primary.next(), primary.next()) else { return None };
    let is_plain = matches!(column.extra.as_str(), "" | "auto_increment") && column.name.is_ascii();
    let (least, most) = bounds(&column.data_type, column.full_type.contains("unsigned")).filter(|_| is_plain)?;
    let are_all_visible = columns.iter().all(|column| !column.extra.contains("invisible"));
    let (name, is_generated) = (column.name.clone(), column.extra == "auto_increment");
    let among_visible = are_all_visible.then_some(position);
    let computes = columns.iter().any(|column| column.extra.contains("virtual"));
    let key = KeyColumn { position: among_visible, is_generated, computes, ..KeyColumn::new(name, least, most) };
    Some((position, key))
}

/// Returns the least and the greatest value of an integer type, None for any other type. `data_type` is in lower case.
fn bounds(data_type: &str, is_unsigned: bool) -> Option<(i128, i128)> {
    let bits = match data_type {
        "tinyint" => 8,
        "smallint" => 16,
        "mediumint" => 24,
        "int" => 32,
        "bigint" => 64,
        _ => return None,
    };
    let half = 1i128 << (bits - 1);
    Some(if is_unsigned { (0, 2 * half - 1) } else { (-half, half - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, full_type: &str, key: &str, extra: &str) -> Column {
        let data_type = full_type.split(['(', ' ']).next().unwrap_or_default().to_owned();
        let (name, full_type, extra) = (name.into(), full_type.into(), extra.into());
        Column { name, data_type, full_type, is_primary: key == "pri", extra }
    }

    #[test]
    fn an_integer_primary_key_tells_rows_apart() {
        let columns = [column("a", "int(11)", "mul", ""), column("id", "bigint(20) unsigned", "pri", "auto_increment")];
        let key = of_columns(&columns).expect("a key").1;
        assert_eq!((key.name.as_slice(), key.position, key.is_generated), (&b"id"[..], Some(1), true));
        assert_eq!((key.least, key.most, key.computes), (0, u64::MAX.into(), false));
        let computing =
            [column("id", "int(11)", "pri", ""), column("a", "int(11)", "", "virtual generated, invisible")];
        assert!(of_columns(&computing).expect("a key").1.computes);
        let signed = of_columns(&[column("id", "tinyint(4)", "pri", "")]).expect("a key").1;
        assert_eq!((signed.least, signed.most, signed.is_generated), (-128, 127, false));
    }

    #[test]
    fn nothing_else_does() {
        let id = || column("id", "int(11)", "pri", "");
        assert_eq!(of_columns(&[column("id", "int(11)", "uni", "")]), None);
        assert_eq!(of_columns(&[id(), column("a", "int(11)", "pri", "")]), None);
        assert_eq!(of_columns(&[column("id", "int(11)", "pri", "stored generated")]), None);
        assert_eq!(of_columns(&[column("id", "varchar(9)", "pri", "")]), None);
        assert_eq!(of_columns(&[column("id", "decimal(9,0)", "pri", "")]), None);
        assert_eq!(of_columns(&[column("schlüssel", "int(11)", "pri", "")]), None);
        let (place, hidden) = of_columns(&[column("a", "int(11)", "", "invisible"), id()]).expect("a key");
        assert_eq!((place, hidden.position), (1, None), "a list of values leaves hidden columns out");
    }
}
