//! Everything outside the text that changes how the server splits it into tokens.

use crate::{Charset, Value};
use flavour::Flavour;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexMode {
    /// Whose statements these are.
    pub flavour: &'static Flavour,
    pub ansi_quotes: bool,
    pub no_backslash_escapes: bool,
    pub ignore_space: bool,
    /// `sql_mode=ORACLE` has a grammar of its own: every text is opaque.
    pub oracle: bool,
    pub charset: Charset,
}

impl LexMode {
    /// As a server of this flavour reads texts where nothing was set.
    pub fn new(flavour: &'static Flavour) -> LexMode {
        LexMode {
            flavour,
            ansi_quotes: false,
            no_backslash_escapes: false,
            ignore_space: false,
            oracle: false,
            charset: Charset::default(),
        }
    }

    /// The same mode under another `sql_mode`; `None` if the value is not a list of names.
    pub fn with_sql_mode(self, value: &Value) -> Option<LexMode> {
        let names = match value {
            Value::Text(names) | Value::Word(names) => names,
            Value::Number(_) | Value::Default | Value::Complex => return None,
        };
        let has = |flags: &[&str]| {
            let listed = |name: &[u8]| flags.iter().any(|flag| flag.as_bytes().eq_ignore_ascii_case(name));
            names.split(|byte| *byte == b',').any(|name| listed(name.trim_ascii()))
        };
        const ANSI: [&str; 6] = ["ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"];
        Some(LexMode {
            ansi_quotes: has(&["ANSI_QUOTES"]) || has(&ANSI),
            no_backslash_escapes: has(&["NO_BACKSLASH_ESCAPES"]),
            ignore_space: has(&["IGNORE_SPACE"]) || has(&ANSI),
            oracle: has(&["ORACLE"]),
            ..self
        })
    }
}
