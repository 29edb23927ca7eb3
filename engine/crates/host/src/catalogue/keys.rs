//! The key column of a table, if its rows can be told apart by the text of statements: asked of the catalogue.
//!
//! Fails closed: a catalogue that answers with a warning may have skipped the table, and then nothing is known.

use crate::link::{Link, Row};
use flavour::{Catalogue, Flavour};
use footprint::KeyColumn;

/// `schema` and `table` are literals. `columns`: the rows of `Catalogue::columns`; none if the server had a warning about them.
pub fn key_column(
    flavour: &Flavour,
    link: &mut dyn Link,
    schema: &str,
    table: &str,
    columns: Option<&[Row]>,
) -> Result<Option<KeyColumn>, String> {
    let catalogue = &flavour.catalogue;
    let mut certain = |question| certain(catalogue, link, &flavour::ask(question, schema, table));
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

/// None if the server has anything to say about its answer, or was started without what is asked.
fn certain(catalogue: &Catalogue, link: &mut dyn Link, question: &str) -> Result<Option<Vec<Row>>, String> {
    let rows = match link.query(question) {
        Err(error) if error.contains("Unknown table 'INNODB_SYS_FOREIGN'") => return Ok(None),
        answer => answer?,
    };
    Ok(link.query(catalogue.warnings)?.is_empty().then_some(rows))
}
