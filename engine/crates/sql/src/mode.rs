//! The lexer's mode: everything outside of a text that changes how the server splits it into tokens.

use crate::{Charset, Value};
use flavour::Flavour;

/// Everything outside of a statement's text that changes how the server reads it: the product, and settings of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexMode {
    /// The product and dialect that texts are written for.
    pub flavour: &'static Flavour,
    /// The sql_mode contains ANSI_QUOTES: text in double quotes is a name.
    pub ansi_quotes: bool,
    /// The sql_mode contains NO_BACKSLASH_ESCAPES: a backslash in a string is an ordinary character.
    pub no_backslash_escapes: bool,
    /// The sql_mode contains IGNORE_SPACE: blanks are allowed between a function's name and its parenthesis.
    pub ignore_space: bool,
    /// True if the sql_mode selects another grammar, such as Oracle's. Every text is then opaque, except for SET and SHOW.
    pub is_foreign: bool,
    /// The character set that the session's texts are in (`character_set_client`).
    pub charset: Charset,
}

impl LexMode {
    /// Returns the mode for a server of this flavour, with an empty sql_mode and UTF-8.
    pub fn new(flavour: &'static Flavour) -> LexMode {
        LexMode {
            flavour,
            ansi_quotes: false,
            no_backslash_escapes: false,
            ignore_space: false,
            is_foreign: false,
            charset: Charset::default(),
        }
    }

    /// Returns a copy of the mode with another `sql_mode`, which is a list of names. `None` if the value is a number, DEFAULT or an
    /// expression: then the mode is not known.
    pub fn with_sql_mode(self, value: &Value) -> Option<LexMode> {
        let names = match value {
            Value::Text(names) | Value::Word(names) => names,
            Value::Number(_) | Value::Default | Value::Complex => return None,
        };
        let any =
            |is_it: &dyn Fn(&[u8]) -> bool| names.split(|byte| *byte == b',').any(|name| is_it(name.trim_ascii()));
        let has = |flag: &str| any(&|name| name.eq_ignore_ascii_case(flag.as_bytes()));
        let known = &self.flavour.modes;
        let is_ansi = any(&|name| known.is_ansi(name));
        Some(LexMode {
            ansi_quotes: has("ANSI_QUOTES") || is_ansi,
            no_backslash_escapes: has("NO_BACKSLASH_ESCAPES"),
            ignore_space: has("IGNORE_SPACE") || is_ansi,
            is_foreign: any(&|name| known.is_foreign(name)),
            ..self
        })
    }
}
