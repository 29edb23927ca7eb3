//! How far the bytes of a client character set can be read without decoding them.

/// What the lexer may assume about bytes of 0x80 and above.
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

const UTF8: [&str; 3] = ["utf8", "utf8mb3", "utf8mb4"];
const SUPERSETS: [&str; 29] = [
    "armscii8", "ascii", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "dec8",
    "eucjpms", "euckr", "gb2312", "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2",
    "latin5", "latin7", "macce", "macroman", "tis620", "ujis",
];

impl Charset {
    /// By the name of a character set, as in `SET NAMES latin1`. Unknown names are unreadable.
    pub fn of_name(name: &[u8]) -> Charset {
        let is = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
        if UTF8.iter().any(is) {
            Charset::Utf8
        } else if SUPERSETS.iter().any(is) {
            Charset::AsciiSuperset
        } else {
            Charset::Unreadable
        }
    }

    /// By the collation number of the handshake. Unknown numbers are unreadable.
    pub fn of_collation(id: u16) -> Charset {
        // "No pad" collations repeat the numbers of the others, 1024 higher.
        let base = if (1024..2048).contains(&id) { id - 1024 } else { id };
        match base {
            33 | 45 | 46 | 76 | 83 | 192..=247 | 255..=323 | 576..=578 | 608..=610 => Charset::Utf8,
            2048..=2559 => Charset::Utf8,
            // big5, sjis, swe7, gbk, cp932
            1 | 84 | 13 | 88 | 10 | 82 | 28 | 87 | 95 | 96 => Charset::Unreadable,
            // ucs2, utf16, utf16le, utf32: never a client character set
            35 | 90 | 54 | 55 | 56 | 62 | 60 | 61 | 101..=191 => Charset::Unreadable,
            2..=99 => Charset::AsciiSuperset,
            _ => Charset::Unreadable,
        }
    }
}
