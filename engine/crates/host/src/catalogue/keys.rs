//! Looks up the key column of a table. With it, the text of a statement identifies the rows that the statement reads or writes.
//!
//! Fails closed: if a catalogue query returns a warning, the table may have been skipped, and no key column is assumed.

use crate::link::{Link, Row};
use flavour::{Catalogue, Flavour};
use footprint::KeyColumn;

/// Returns the column whose value in a statement's text identifies the rows that the statement reads or writes. None if the table has no
/// such column that can be relied on, or if `columns` is none. `schema` and `table` are SQL literals. `columns` are the rows of
/// `Catalogue::columns`, none if that query returned a warning. An error is that of a failed query.
pub fn key_column(
    flavour: &Flavour,
    link: &mut dyn Link,
    schema: &str,
    table: &str,
    columns: Option<&[Row]>,
) -> Result<Option<KeyColumn>, String> {
    let catalogue = &flavour.catalogue;
    let mut certain = |question| certain(catalogue, link, &flavour::fill_in(question, schema, table));
    for question in catalogue.unnamed_changes {
        if certain(question)?.is_none_or(|rows| !rows.is_empty()) {
            return Ok(None);
        }
    }
    let parts = certain(catalogue.unique_keys)?;
    let is_sole = parts.as_ref().is_some_and(Vec::is_empty);
    let unique_keys = footprint::unique_keys(&parts.unwrap_or_default(), columns.unwrap_or_default());
    Ok(columns.and_then(footprint::key_of).map(|(_, key)| KeyColumn { is_sole, unique_keys, ..key }))
}

/// Runs `question` and returns its rows. None if the server issued a warning, so that a table may have been skipped, or if the server was
/// started without the table that is queried.
fn certain(catalogue: &Catalogue, link: &mut dyn Link, question: &str) -> Result<Option<Vec<Row>>, String> {
    let rows = match link.query(question) {
        Err(error) if error.contains("Unknown table 'INNODB_SYS_FOREIGN'") => return Ok(None),
        answer => answer?,
    };
    Ok(link.query(catalogue.warnings)?.is_empty().then_some(rows))
}
