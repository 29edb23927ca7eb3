//! How the text of a statement must be parsed: its SQL mode, its database, its parameters.

use crate::text::analysis::Analysis;
use footprint::KeyColumn;
use sql::touched::{self, Text, WrittenRows};
use sql::{LexMode, Numbers, TableName};
use std::sync::Arc;

/// How the text of a statement is to be parsed.
#[derive(Clone, Debug)]
pub struct ParseContext {
    /// The settings that decide how texts are parsed, as far as they are known.
    pub mode: LexMode,
    /// `mode` is certainly that of the server. If not, nothing may be derived from the text.
    pub is_certain: bool,
    /// The database of unqualified names. None: the current database of the session.
    pub database: Option<Arc<[u8]>>,
    /// The integers that are bound to the parameters, in their order; None for a value of another type.
    pub bound: Vec<Option<i128>>,
}

/// The text of a write that the server is running, as the client sent it, and how it is to be parsed.
#[derive(Debug)]
pub struct RunningWrite {
    pub text: Arc<[u8]>,
    pub parse_context: ParseContext,
    pub analysis: Arc<Analysis>,
    /// The positions of the numbers in the text. None for a prepared statement.
    pub numbers: Option<Numbers>,
}

impl RunningWrite {
    /// The rows that the statement can touch. None if the text does not show them, or if `is_it` returns false for the table that it names.
    /// `key` must be that table's key column. The text is parsed again only if its shape and its numbers are not enough.
    pub fn written(&self, key: &Arc<KeyColumn>, is_it: impl Fn(&TableName) -> bool) -> Option<WrittenRows> {
        if let Some(numbers) = &self.numbers
            && let Some(key_positions) = self.analysis.key_positions(key, self.parse_context.mode)
            && let Some(written) = key_positions.written(&self.text, numbers, key)
        {
            return is_it(&key_positions.table).then_some(written);
        }
        let (named, written) = touched::written(self.parse_context.text(&self.text), key)?;
        is_it(&named).then_some(written)
    }
}

impl ParseContext {
    /// The text together with these terms, for the parser.
    pub fn text<'a>(&'a self, text: &'a [u8]) -> Text<'a> {
        Text { text, mode: self.mode, bound: &self.bound }
    }
}
