//! Character sets by name and by number, as a real server pairs them.

use flavour::MARIADB;
use sql::Charset;

fn of_name(name: &[u8]) -> Charset {
    Charset::of_name(name, &MARIADB.charsets)
}

fn of_collation(id: u16) -> Charset {
    Charset::of_collation(id, &MARIADB.charsets)
}

/// The answer of servers to `SELECT id, character_set_name FROM information_schema.collation_character_set_applicability`.
const COLLATIONS: &str = include_str!("fixtures/collations.txt");

/// Character sets that a server never accepts as that of a client.
const WIDE: [&str; 4] = ["ucs2", "utf16", "utf16le", "utf32"];

#[test]
fn numbers_and_names_agree() {
    let mut count = 0;
    for line in COLLATIONS.lines() {
        let (id, name) = line.split_once(' ').expect("number and name");
        let id = id.parse().expect("a number");
        assert_eq!(of_collation(id), of_name(name.as_bytes()), "{line}");
        count += 1;
    }
    assert!(count > 300, "{count} collations");
}

#[test]
fn what_hides_quotes_is_unreadable() {
    for name in ["big5", "gbk", "sjis", "cp932", "swe7", "gb18030", "unknown", ""].iter().chain(&WIDE) {
        assert_eq!(of_name(name.as_bytes()), Charset::Unreadable, "{name}");
    }
    assert_eq!(of_name(b"UTF8MB4"), Charset::Utf8);
    assert_eq!(of_name(b"latin1"), Charset::AsciiSuperset);
    assert_eq!(of_collation(0), Charset::Unreadable);
    assert_eq!(of_collation(u16::MAX), Charset::Unreadable);
}
