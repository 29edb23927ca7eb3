//! How the text of a statement must be parsed: its mode, its database, its parameters.

use crate::text::reading::Reading;
use footprint::KeyColumn;
use sql::touched::{self, Text, Written};
use sql::{LexMode, Numbers, TableName};
use std::sync::Arc;

/// How a text is to be parsed.
#[derive(Clone, Debug)]
pub struct Terms {
    pub mode: LexMode,
    /// The mode is certainly that of the server.
    pub is_certain: bool,
    /// The database of unqualified names. None: the current database of the session.
    pub database: Option<Arc<[u8]>>,
    /// The integers bound to its parameters; none for other types.
    pub bound: Vec<Option<i128>>,
}

/// A write that the server is running, in the client's wording.
#[derive(Debug)]
pub struct Wording {
    pub text: Arc<[u8]>,
    pub terms: Terms,
    pub reading: Arc<Reading>,
    /// The positions of the numbers in the text. None for a prepared statement.
    pub numbers: Option<Numbers>,
}

impl Wording {
    /// The rows that the statement can touch, if `is_it` holds for the table that it names. `key` must be that table's key column. The
    /// text is parsed again only if its shape and its numbers are not enough.
    pub fn written(&self, key: &Arc<KeyColumn>, is_it: impl Fn(&TableName) -> bool) -> Option<Written> {
        if let Some(numbers) = &self.numbers
            && let Some(placed) = self.reading.placed(key, self.terms.mode)
            && let Some(written) = placed.written(&self.text, numbers, key)
        {
            return is_it(&placed.table).then_some(written);
        }
        let (named, written) = touched::written(self.terms.text(&self.text), key)?;
        is_it(&named).then_some(written)
    }
}

impl Terms {
    pub fn text<'a>(&'a self, text: &'a [u8]) -> Text<'a> {
        Text { text, mode: self.mode, bound: &self.bound }
    }
}
