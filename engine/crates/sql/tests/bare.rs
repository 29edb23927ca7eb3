//! A flavour that knows nothing: whatever is not listed is taken for the worst.

use flavour::{Charsets, Comments, Flavour, Functions, MARIADB, Names, Objections, Statements};
use sql::{Charset, Flush, Kind, LexMode, Refusal, classify, surface};

static BARE: Flavour = Flavour {
    comments: Comments { executable: &[], hints: &[] },
    statements: Statements {
        has_set_statement: false,
        has_compound: false,
        has_analyze: false,
        has_backup: false,
        flushes_status_of_all: false,
        has_query_cache: false,
        query_cache_test: None,
        has_sql_cache: false,
        has_dollar_quotes: false,
        reports_transactions: true,
        keeps_warnings: false,
        updates_count_rows: false,
        warns_of_deprecated_words: false,
        counts_until_failure: false,
        keeps_unreadable_types: true,
        depends_on_earlier_types: false,
        admits_nears: false,
        global_scopes: &[],
        row_keyword: "",
        aliases: &[],
        not_in_set_statement: &[],
        alias_prefix: "",
        join_limit_override: [""; 2],
        process_test: "",
        attach_test: "",
    },
    functions: Functions {
        syntax: Names::NONE,
        deterministic: Names::NONE,
        deterministic_if_tight: Names::NONE,
        deterministic_with_argument: Names::NONE,
        refused: Objections::NONE,
        ..MARIADB.functions
    },
    charsets: Charsets {
        utf8: &[],
        ascii_supersets: &[],
        utf8_collations: &[],
        ascii_superset_collations: &[],
        ..MARIADB.charsets
    },
    ..MARIADB
};

fn kind(text: &str) -> Kind {
    classify(text.as_bytes(), LexMode::new(&BARE)).kind
}

fn refusal(text: &str) -> Option<Refusal> {
    match kind(text) {
        Kind::Read(read) => read.refusal,
        other => panic!("{text} is {other:?}"),
    }
}

#[test]
fn every_word_before_a_parenthesis_may_be_a_stored_function() {
    for text in
        ["SELECT UPPER(a) FROM t", "SELECT COUNT(*) FROM t", "SELECT a FROM t WHERE b IN (1)", "SELECT NOW() FROM t"]
    {
        assert_eq!(refusal(text), Some(Refusal::UnknownFunction), "{text}");
    }
    assert_eq!(refusal("SELECT a FROM t WHERE id = 1"), None);
}

#[test]
fn a_statement_that_only_others_have_may_change_anything() {
    let texts = [
        "SET STATEMENT sql_mode = '' FOR SELECT 1",
        "BEGIN NOT ATOMIC SELECT 1; END",
        "EXECUTE IMMEDIATE 'SELECT 1'",
        "IF 1 THEN SELECT 1; END IF",
        "ANALYZE SELECT 1",
        "RESET QUERY CACHE",
    ];
    for text in texts {
        assert!(matches!(kind(text), Kind::Opaque | Kind::Multiple), "{text}: {:?}", kind(text));
    }
    assert_eq!(kind("FLUSH QUERY CACHE"), Kind::Flush(Flush::Other));
}

#[test]
fn no_character_set_can_be_read() {
    assert_eq!(Charset::of_name(b"utf8mb4", &BARE.charsets), Charset::Unreadable);
    assert_eq!(Charset::of_collation(45, &BARE.charsets), Charset::Unreadable);
}

#[test]
fn no_name_is_another_for_a_variable() {
    let mode = LexMode::new(&BARE);
    assert_eq!(surface::rewrite(b"SELECT @@query_cache_size", mode), None);
    assert!(!surface::may_need_rewrite_or_file(b"SELECT @@query_cache_size", mode));
    assert!(surface::may_need_rewrite_or_file(b"LOAD DATA LOCAL INFILE 'x' INTO TABLE t", mode));
}
