//! What holds for every text.

use sql::{Kind, LexMode, classify, mentions, surface};

/// SplitMix64: the same cases on every run.
struct Random(u64);

impl Random {
    fn next(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((bits ^ bits >> 31) % limit as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.next(choices.len())]
    }
}

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
];

fn random_text(random: &mut Random) -> String {
    let length = random.next(20);
    (0..length).map(|_| [random.pick(FRAGMENTS), random.pick(&["", " "])].concat()).collect()
}

fn modes() -> impl Iterator<Item = LexMode> {
    (0..8u8).map(|bits| LexMode {
        ansi_quotes: bits & 1 != 0,
        no_backslash_escapes: bits & 2 != 0,
        ignore_space: bits & 4 != 0,
        ..LexMode::default()
    })
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
        }
    }
}

#[test]
fn any_bytes_have_an_answer() {
    let mut random = Random(2);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.next(60)).map(|_| random.next(256) as u8).collect();
        for mode in modes() {
            classify(&bytes, mode);
            surface::rewrite(&bytes, mode);
        }
    }
}

/// Fragments with a safe boundary on both sides, and no name before a parenthesis.
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
        let tokens: Vec<&str> = (0..random.next(15)).map(|_| random.pick(TOKENS)).collect();
        let plain = format!("SELECT {}", tokens.join(" "));
        let mut varied = String::from("/* x */ sElEcT\t");
        for token in tokens {
            let is_quoted = token.contains(['\'', '`']);
            varied += &if is_quoted { token.to_owned() } else { token.to_ascii_lowercase() };
            varied += random.pick(&["\n", " ", "/**/ ", " # y ;\n", " -- '\n", "\t\t", " /* FOR UPDATE */ "]);
        }
        let judge = |text: &str| classify(text.as_bytes(), LexMode::default());
        assert_eq!(judge(&plain), judge(&varied), "{plain}\n{varied}");
    }
}

#[test]
fn a_rewritten_text_keeps_its_kind() {
    let mut random = Random(4);
    for _ in 0..20_000 {
        let text = random_text(&mut random);
        if let Some(rewrite) = surface::rewrite(text.as_bytes(), LexMode::default()) {
            let before = classify(text.as_bytes(), LexMode::default()).kind;
            let after = classify(&rewrite.text, LexMode::default()).kind;
            assert_eq!(std::mem::discriminant(&before), std::mem::discriminant(&after), "{text}");
        }
    }
}

#[test]
fn long_texts_take_linear_time_and_no_stack() {
    for unit in ["(", "a,", "'x',", "/**/", "((SELECT ", "@@", "SET STATEMENT a=1 FOR ", "f(", "--\n"] {
        let text = format!("SELECT {}", unit.repeat(200_000));
        assert!(!matches!(classify(text.as_bytes(), LexMode::default()).kind, Kind::Empty), "{unit}");
    }
}

#[test]
fn mentions_finds_names_however_written() {
    let mentions_t = |text: &str| mentions(text.as_bytes(), LexMode::default(), |name| name == b"my`t");
    assert!(mentions_t("SELECT * FROM `My``T`"));
    assert!(!mentions_t("SELECT 'my`t'"));
    let mentions_v = |text: &str| mentions(text.as_bytes(), LexMode::default(), |name| name == b"v");
    for text in ["SELECT * FROM v", "SELECT * FROM d.V", "SELECT * FROM `v`", "SELECT 1 /*! x */", "SELECT 'broken"] {
        assert!(mentions_v(text), "{text}");
    }
    for text in ["SELECT 'v'", "SELECT * FROM v1", "SELECT 1 /* v */", "SELECT 1 -- v"] {
        assert!(!mentions_v(text), "{text}");
    }
}
