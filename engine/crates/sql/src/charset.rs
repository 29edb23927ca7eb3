//! How far the bytes of a client character set can be read without decoding them.

use crate::Value;
use flavour::Charsets;

/// The variables of a session that `SET NAMES` sets.
pub const CHARACTER_SETS: [&[u8]; 4] =
    [b"character_set_client", b"character_set_connection", b"character_set_results", b"collation_connection"];

/// Assumptions that the lexer may make about bytes of 0x80 and above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8: such bytes are letters of identifiers.
    #[default]
    Utf8,
    /// ASCII below 0x80, but above it some bytes are spaces or punctuation: outside quotes they make a
    /// text opaque. Also the EUC families, whose trail bytes all lie above 0x80.
    AsciiSuperset,
    /// A trail byte may equal a quote or a backslash, or ASCII itself is altered: every text is opaque.
    Unreadable,
}

impl Charset {
    /// Finds a character set by its name, as in `SET NAMES latin1`. Unknown names are unreadable.
    pub fn of_name(name: &[u8], known: &Charsets) -> Charset {
        let is_in = |names: &[&str]| names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
        Charset::new(is_in(known.utf8), is_in(known.ascii_supersets))
    }

    /// Reads the value that `SET` assigns. DEFAULT and expressions are unreadable.
    pub fn of_value(value: &Value, known: &Charsets) -> Charset {
        value.plain().map_or(Charset::Unreadable, |name| Charset::of_name(name, known))
    }

    /// Finds a character set by the collation number of the handshake. Unknown numbers are unreadable.
    pub fn of_collation(id: u16, known: &Charsets) -> Charset {
        let is_utf8 = known.utf8_collations.iter().any(|range| range.contains(&id));
        Charset::new(is_utf8, !is_utf8 && known.ascii_superset_collations.iter().any(|range| range.contains(&id)))
    }

    fn new(is_utf8: bool, is_ascii_superset: bool) -> Charset {
        match (is_utf8, is_ascii_superset) {
            (true, _) => Charset::Utf8,
            (false, true) => Charset::AsciiSuperset,
            (false, false) => Charset::Unreadable,
        }
    }
}
