//! How the text of a statement must be read: its mode, its database, its parameters.

use sql::LexMode;
use sql::touched::Text;
use std::sync::Arc;

/// How a text is to be understood.
#[derive(Clone, Debug)]
pub struct Terms {
    pub mode: LexMode,
    /// The mode is that of the server.
    pub is_certain: bool,
    /// Where its unqualified names are; none: in the session's own.
    pub database: Option<Arc<[u8]>>,
    /// What is bound to its parameters.
    pub bound: Vec<Option<i128>>,
}

/// A write on its way through the server, as its client wrote it.
#[derive(Debug)]
pub struct Wording {
    pub text: Arc<[u8]>,
    pub terms: Terms,
}

impl Terms {
    pub fn text<'a>(&'a self, text: &'a [u8]) -> Text<'a> {
        Text { text, mode: self.mode, bound: &self.bound }
    }
}
