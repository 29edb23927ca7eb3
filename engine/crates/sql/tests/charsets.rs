//! Character sets by name and by number, as a real server pairs them.

use sql::Charset;

/// `SELECT id, character_set_name FROM information_schema.collation_character_set_applicability`
const COLLATIONS: &str = include_str!("fixtures/collations.txt");

/// Never the character set of a client.
const WIDE: [&str; 4] = ["ucs2", "utf16", "utf16le", "utf32"];

#[test]
fn numbers_and_names_agree() {
    let mut count = 0;
    for line in COLLATIONS.lines() {
        let (id, name) = line.split_once(' ').expect("number and name");
        let id = id.parse().expect("a number");
        assert_eq!(Charset::of_collation(id), Charset::of_name(name.as_bytes()), "{line}");
        count += 1;
    }
    assert!(count > 300, "{count} collations");
}

#[test]
fn what_hides_quotes_is_unreadable() {
    for name in ["big5", "gbk", "sjis", "cp932", "swe7", "gb18030", "unknown", ""].iter().chain(&WIDE) {
        assert_eq!(Charset::of_name(name.as_bytes()), Charset::Unreadable, "{name}");
    }
    assert_eq!(Charset::of_name(b"UTF8MB4"), Charset::Utf8);
    assert_eq!(Charset::of_name(b"latin1"), Charset::AsciiSuperset);
    assert_eq!(Charset::of_collation(0), Charset::Unreadable);
    assert_eq!(Charset::of_collation(u16::MAX), Charset::Unreadable);
}
