//! What holds for every text.

mod random;

use flavour::{MARIADB, MYSQL};
use random::Random;
use sql::{Kind, LexMode, classify, mentions, surface};

const FRAGMENTS: &[&str] = &[
    "SELECT",
    "FROM",
    "t",
    "a",
    "WHERE",
    "(",
    ")",
    ",",
    "=",
    "NOW()",
    "'x'",
    "`y`",
    "\"z\"",
    "FOR",
    "UPDATE",
    "@",
    "@@",
    ":=",
    ";",
    ".",
    "SET",
    "GLOBAL",
    "/*",
    "*/",
    "/*!",
    "--",
    "#",
    "\n",
    "\\",
    "'",
    "`",
    "WITH",
    "AS",
    "TIME",
    "CONVERT",
    "0x1",
    "1e5",
    ".5",
    "x'",
    "INTO",
    "UNION",
    "BEGIN",
    "\0",
    "é",
    "query_cache_type",
    "STATEMENT",
    "VALUE",
    "CREATE",
    "TABLE",
    "DROP",
    "SHOW",
    "XA",
    "-1",
    "{",
    "mysql.",
    "$$",
    "/*+",
    "SQL_CACHE",
    "PERSIST",
];

fn random_text(random: &mut Random) -> String {
    let length = random.below(20);
    (0..length).map(|_| [random.pick(FRAGMENTS), random.pick(&["", " "])].concat()).collect()
}

fn modes() -> impl Iterator<Item = LexMode> {
    let of_bits = |(flavour, bits)| LexMode {
        ansi_quotes: bits & 1 != 0,
        no_backslash_escapes: bits & 2 != 0,
        ignore_space: bits & 4 != 0,
        ..LexMode::new(flavour)
    };
    [&MARIADB, &MYSQL].into_iter().flat_map(|flavour| (0..8u8).map(move |bits| (flavour, bits))).map(of_bits)
}

#[test]
fn any_text_has_an_answer() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let text = random_text(&mut random);
        for mode in modes() {
            classify(text.as_bytes(), mode);
            mentions(text.as_bytes(), mode, |_| false);
            surface::rewrite(text.as_bytes(), mode);
            if let Some(other) = surface::without_sql_cache(text.as_bytes(), mode) {
                assert_eq!(other.len(), text.len());
                let [before, after] = [text.as_bytes(), &other].map(|text| classify(text, mode).kind);
                assert_eq!(std::mem::discriminant(&before), std::mem::discriminant(&after), "{text}");
            }
        }
    }
}

#[test]
fn any_bytes_have_an_answer() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        for mode in modes() {
            classify(&bytes, mode);
            surface::rewrite(&bytes, mode);
        }
    }
}

/// Pieces of SQL that can be joined by blanks in any order without becoming another token or a call.
const TOKENS: &[&str] = &[
    "a",
    "t",
    "b",
    ",",
    "=",
    "<",
    "'x'",
    "`y`",
    "1",
    "FROM",
    "WHERE",
    "AND",
    "IN",
    "INTO",
    "FOR",
    "UPDATE",
    "LOCK",
    "@x",
    "@@y",
    "UNION",
    "SELECT",
    "AS",
    "TIME",
    "'q''q'",
    "CURRENT_USER",
    "CURRENT_DATE",
    "SQL_CALC_FOUND_ROWS",
    "SQL_NO_CACHE",
    "mysql . user",
    "IN ( 1 )",
    ") (",
    "IS NULL",
];

#[test]
fn blanks_comments_and_case_change_no_judgement() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let tokens: Vec<&str> = (0..random.below(15)).map(|_| random.pick(TOKENS)).collect();
        let plain = format!("SELECT {}", tokens.join(" "));
        let mut varied = String::from("/* x */ sElEcT\t");
        for token in tokens {
            let is_quoted = token.contains(['\'', '`']);
            varied += &if is_quoted { token.to_owned() } else { token.to_ascii_lowercase() };
            varied += random.pick(&["\n", " ", "/**/ ", " # y ;\n", " -- '\n", "\t\t", " /* FOR UPDATE */ "]);
        }
        let judge = |text: &str| classify(text.as_bytes(), LexMode::new(&MARIADB));
        assert_eq!(judge(&plain), judge(&varied), "{plain}\n{varied}");
    }
}

#[test]
fn a_rewritten_text_keeps_its_kind() {
    let mut random = Random(4);
    for _ in 0..20_000 {
        let text = random_text(&mut random);
        if let Some(rewrite) = surface::rewrite(text.as_bytes(), LexMode::new(&MARIADB)) {
            let before = classify(text.as_bytes(), LexMode::new(&MARIADB)).kind;
            let after = classify(&rewrite.text, LexMode::new(&MARIADB)).kind;
            assert_eq!(std::mem::discriminant(&before), std::mem::discriminant(&after), "{text}");
        }
    }
}

#[test]
fn long_texts_take_linear_time_and_no_stack() {
    for unit in ["(", "a,", "'x',", "/**/", "((SELECT ", "@@", "SET STATEMENT a=1 FOR ", "f(", "--\n"] {
        let text = format!("SELECT {}", unit.repeat(200_000));
        assert!(!matches!(classify(text.as_bytes(), LexMode::new(&MARIADB)).kind, Kind::Empty), "{unit}");
    }
}

#[test]
fn mentions_finds_names_however_written() {
    let mentions_t = |text: &str| mentions(text.as_bytes(), LexMode::new(&MARIADB), |name| name == b"my`t");
    assert!(mentions_t("SELECT * FROM `My``T`"));
    assert!(!mentions_t("SELECT 'my`t'"));
    let mentions_v = |text: &str| mentions(text.as_bytes(), LexMode::new(&MARIADB), |name| name == b"v");
    for text in ["SELECT * FROM v", "SELECT * FROM d.V", "SELECT * FROM `v`", "SELECT 1 /*! x */", "SELECT 'broken"] {
        assert!(mentions_v(text), "{text}");
    }
    for text in ["SELECT 'v'", "SELECT * FROM v1", "SELECT 1 /* v */", "SELECT 1 -- v"] {
        assert!(!mentions_v(text), "{text}");
    }
}

const LITERALS: &[&str] = &[
    "0",
    "7",
    "18446744073709551616",
    "1.5",
    "2.",
    "''",
    "'it''s'",
    "'FOR UPDATE; -- /* now() @x'",
    "'\\''",
    "'\u{e9}'",
    "\"z\"",
];

/// Returns a text of this shape, with `7` for each number and `'7'` for each string.
fn plainest(shape: &[u8]) -> Vec<u8> {
    shape[1..].iter().map(|byte| if *byte == b'?' { b'7' } else { *byte }).collect()
}

fn names(text: &[u8], mode: LexMode) -> (bool, Vec<Vec<u8>>) {
    let found = std::cell::RefCell::new(Vec::new());
    let is_unreadable = mentions(text, mode, |name| {
        found.borrow_mut().push(name.to_vec());
        false
    });
    (is_unreadable, found.into_inner())
}

const COMMENTS: &[&str] = &[
    "/* x */",
    "/**/",
    "/* it's ; -- # \"y\" `z` @a 'x' FOR UPDATE NOW() */",
    "/* /* x */",
    "/***/",
    "/*/ x */",
    "/*! x */",
    "/*M! x */",
    "/*+ x */",
    "/*\0*/",
    "/* \u{e9} */",
    "/* open",
];

const BEGINNINGS: &[&str] = &[
    "SELECT ",
    "/* Title::method */ SELECT ",
    "INSERT INTO t ",
    "UPDATE t SET a = ",
    "(SELECT ",
    "",
    "BEGIN ",
    "START TRANSACTION ",
    "COMMIT ",
    "ROLLBACK ",
];

#[test]
fn texts_of_one_shape_are_of_one_kind() {
    use Kind::*;
    let mut random = Random(6);
    let mut judged = 0;
    for _ in 0..60_000 {
        let mut text = String::from(random.pick(BEGINNINGS));
        for _ in 0..random.below(12) {
            let pieces = match random.below(6) {
                0 => COMMENTS,
                1 | 2 => LITERALS,
                _ => FRAGMENTS,
            };
            text += random.pick(pieces);
            text += random.pick(&["", " ", " "]);
        }
        for mode in modes() {
            let mut shape = Vec::new();
            if !sql::shape(text.as_bytes(), mode, &mut shape) {
                continue;
            }
            let other = plainest(&shape);
            let mut same = Vec::new();
            assert!(sql::shape(&other, mode, &mut same), "{text}");
            assert_eq!(shape, same, "{text}");
            let statement = classify(text.as_bytes(), mode);
            if matches!(statement.kind, Read(_) | Write | Begin(_) | Commit(_) | Rollback(_)) {
                judged += 1;
                assert_eq!(statement, classify(&other, mode), "{text}");
                assert_eq!(names(text.as_bytes(), mode), names(&other, mode), "{text}");
            }
        }
    }
    assert!(judged > 10_000, "{judged} texts had a shape");
}

#[test]
fn a_shape_is_the_text_without_its_literals() {
    let shape_of = |text: &str| {
        let mut shape = Vec::new();
        sql::shape(text.as_bytes(), LexMode::new(&MARIADB), &mut shape)
            .then(|| String::from_utf8_lossy(&shape[1..]).into_owned())
    };
    let form = "SELECT c FROM sbtest1 WHERE id=? AND k = '?' LIMIT ?";
    assert_eq!(shape_of("SELECT c FROM sbtest1 WHERE id=17 AND k = 'it''s \\' ;' LIMIT 1.5").as_deref(), Some(form));
    let commented = "/* It's 7 */ SELECT c FROM t/**/WHERE id = 7 /* traceparent='00-1' */";
    assert_eq!(shape_of(commented).as_deref(), Some("/**/ SELECT c FROM t/**/WHERE id = ? /**/"));
    assert_eq!(shape_of("SELECT `a 1`.b2 FROM t1").as_deref(), Some("SELECT `a 1`.b2 FROM t1"));
    for text in [
        "SELECT 1 -- x",
        "SELECT /*! x */ 1",
        "SELECT /*+ x */ 1",
        "SELECT 1; SELECT 2",
        "SELECT 0x1F",
        "SELECT x'1F'",
        "SELECT @a",
        "SELECT t.1a",
        "SELECT 'open",
    ] {
        assert_eq!(shape_of(text), None, "{text}");
    }
}
