//! The key column of a table, if its rows can be told apart by the text of statements: asked of the catalogue.
//!
//! Fails closed: a catalogue that answers with a warning may have skipped the table, and then nothing is known.

use crate::link::{Link, Row};
use footprint::KeyColumn;

/// One of `information_schema.COLUMNS`.
struct Column {
    name: Vec<u8>,
    data_type: String,
    full_type: String,
    is_primary: bool,
    extra: String,
}

/// `schema` and `table` are literals.
pub fn key_column(link: &mut dyn Link, schema: &str, table: &str) -> Result<Option<KeyColumn>, String> {
    let columns = format!(
        "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} ORDER BY ORDINAL_POSITION"
    );
    // A trigger may change the key that a statement names, or other rows.
    let triggers = format!(
        "SELECT 1 FROM information_schema.TRIGGERS \
         WHERE EVENT_OBJECT_SCHEMA = {schema} AND EVENT_OBJECT_TABLE = {table} LIMIT 1"
    );
    // A statement on a parent, or on the table itself, may change rows that it does not name.
    let cascades = format!(
        "SELECT 1 FROM information_schema.REFERENTIAL_CONSTRAINTS \
         WHERE CONSTRAINT_SCHEMA = {schema} AND TABLE_NAME = {table} \
         AND NOT (UPDATE_RULE IN ('RESTRICT', 'NO ACTION') AND DELETE_RULE IN ('RESTRICT', 'NO ACTION')) LIMIT 1"
    );
    // Of rows that are kept as history a statement names more than it shows.
    let others = format!(
        "SELECT 1 FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND TABLE_TYPE <> 'BASE TABLE'"
    );
    // A row that is there already may be replaced, or changed, because it has such a key in common with a new one.
    let others_unique = format!(
        "SELECT 1 FROM information_schema.STATISTICS \
         WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table} AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY' LIMIT 1"
    );
    for question in [triggers, cascades, others] {
        if certain(link, &question)?.is_none_or(|rows| !rows.is_empty()) {
            return Ok(None);
        }
    }
    let rows = certain(link, &columns)?.unwrap_or_default();
    let columns: Option<Vec<_>> = rows.iter().map(column).collect();
    let is_sole = certain(link, &others_unique)?.is_some_and(|rows| rows.is_empty());
    Ok(columns.and_then(|columns| of_columns(&columns)).map(|key| KeyColumn { is_sole, ..key }))
}

/// None if the server has anything to say about its answer.
fn certain(link: &mut dyn Link, question: &str) -> Result<Option<Vec<Row>>, String> {
    let rows = link.query(question)?;
    Ok(link.query("SHOW WARNINGS")?.is_empty().then_some(rows))
}

fn column(row: &Row) -> Option<Column> {
    let [Some(name), data_type, full_type, key, extra] = row.as_slice() else { return None };
    let text = |value: &Option<Vec<u8>>| Some(String::from_utf8(value.clone()?).ok()?.to_ascii_lowercase());
    Some(Column {
        name: name.clone(),
        data_type: text(data_type)?,
        full_type: text(full_type)?,
        is_primary: text(key)? == "pri",
        extra: text(extra)?,
    })
}

fn of_columns(columns: &[Column]) -> Option<KeyColumn> {
    let mut primary = columns.iter().enumerate().filter(|(_, column)| column.is_primary);
    let (Some((position, column)), None) = (primary.next(), primary.next()) else { return None };
    let is_plain = matches!(column.extra.as_str(), "" | "auto_increment") && column.name.is_ascii();
    let (least, most) = bounds(&column.data_type, column.full_type.contains("unsigned")).filter(|_| is_plain)?;
    let are_all_visible = columns.iter().all(|column| !column.extra.contains("invisible"));
    let (name, is_generated) = (column.name.clone(), column.extra == "auto_increment");
    let position = are_all_visible.then_some(position);
    let computes = columns.iter().any(|column| column.extra.contains("virtual"));
    Some(KeyColumn { position, is_generated, computes, ..KeyColumn::new(name, least, most) })
}

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
        let key = of_columns(&columns).expect("a key");
        assert_eq!((key.name.as_slice(), key.position, key.is_generated), (&b"id"[..], Some(1), true));
        assert_eq!((key.least, key.most, key.computes), (0, u64::MAX.into(), false));
        let computing =
            [column("id", "int(11)", "pri", ""), column("a", "int(11)", "", "virtual generated, invisible")];
        assert!(of_columns(&computing).expect("a key").computes);
        let signed = of_columns(&[column("id", "tinyint(4)", "pri", "")]).expect("a key");
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
        let hidden = of_columns(&[column("a", "int(11)", "", "invisible"), id()]).expect("a key");
        assert_eq!(hidden.position, None, "a list of values leaves hidden columns out");
    }
}
