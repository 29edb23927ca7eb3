//! How far the bytes of a client character set can be read without decoding them.

use crate::Value;
use flavour::Charsets;

/// The session variables that `SET NAMES` sets.
pub const CHARACTER_SETS: [&[u8]; 4] =
    [b"character_set_client", b"character_set_connection", b"character_set_results", b"collation_connection"];

/// A property of a client character set: which assumptions the lexer may make about the bytes of texts in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8: bytes of 0x80 and above are letters of identifiers.
    #[default]
    Utf8,
    /// Bytes below 0x80 are ASCII, but some of the others may be spaces or punctuation, so outside of quotes they make a text opaque. The
    /// EUC families belong here, too: their trail bytes all lie above 0x80.
    AsciiSuperset,
    /// A trail byte may equal a quote or a backslash, or ASCII itself is altered, so every text is opaque: its kind cannot be determined.
    Unreadable,
}

impl Charset {
    /// Returns what is known of a character set by its name, in any case, as in `SET NAMES latin1`. `known` is the flavour's list; a name
    /// that is not in it is [`Unreadable`](Charset::Unreadable).
    pub fn of_name(name: &[u8], known: &Charsets) -> Charset {
        let is_in = |names: &[&str]| names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
        Charset::new(is_in(known.utf8), is_in(known.ascii_supersets))
    }

    /// Returns what is known of the character set that this value of an assignment names. DEFAULT and expressions are
    /// [`Unreadable`](Charset::Unreadable), and so is a name that is not in `known`, the flavour's list.
    pub fn of_value(value: &Value, known: &Charsets) -> Charset {
        value.plain().map_or(Charset::Unreadable, |name| Charset::of_name(name, known))
    }

    /// Returns what is known of the character set of a collation, given by its number, as the handshake contains it.
    /// `known` is the flavour's list; a number that is not in it is [`Unreadable`](Charset::Unreadable).
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
