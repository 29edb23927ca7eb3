//! SET: targets and values.

use flavour::MARIADB;
use sql::{Assignment, Kind, LexMode, Target, Value, classify};

fn set_in(text: &str, mode: LexMode) -> Vec<(Target, Value)> {
    match classify(text.as_bytes(), mode).kind {
        Kind::Set(assignments) => assignments.into_iter().map(|Assignment { target, value }| (target, value)).collect(),
        other => panic!("{text}: {other:?}"),
    }
}

fn set(text: &str) -> Vec<(Target, Value)> {
    set_in(text, LexMode::new(&MARIADB))
}

fn session(name: &str) -> Target {
    Target::Session(name.into())
}

fn global(name: &str) -> Target {
    Target::Global(name.into())
}

fn number(text: &str) -> Value {
    Value::Number(text.into())
}

fn word(text: &str) -> Value {
    Value::Word(text.into())
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

#[test]
fn scopes_and_operators_are_understood() {
    for (statement, target, value) in [
        ("SET a=1", session("a"), number("1")),
        ("set Sql_Mode = 'ANSI'", session("sql_mode"), text("ANSI")),
        ("SET SESSION b='x'", session("b"), text("x")),
        ("SET LOCAL g := ON", session("g"), word("ON")),
        ("SET @@c=1", session("c"), number("1")),
        ("SET @@session.d:=2", session("d"), number("2")),
        ("SET @@local . d = 2", session("d"), number("2")),
        ("SET @@GLOBAL.E=3", global("e"), number("3")),
        ("SET GLOBAL f = DEFAULT", global("f"), Value::Default),
        ("SET GLOBAL hot.key_buffer_size=1", global("hot.key_buffer_size"), number("1")),
        ("SET @@hot.key_buffer_size=1", session("hot.key_buffer_size"), number("1")),
        ("SET `time_zone` = SYSTEM", session("time_zone"), word("SYSTEM")),
        ("SET a = -1.5", session("a"), number("-1.5")),
        ("SET a = 'it''s \\n \\%'", session("a"), text("it's \n \\%")),
        ("SET a = \"x\"", session("a"), text("x")),
        ("SET a = NULL;", session("a"), word("NULL")),
        ("SET names = 1", session("names"), number("1")),
        ("SET @@tx_isolation='SERIALIZABLE'", Target::OneShot(b"tx_isolation".to_vec()), text("SERIALIZABLE")),
        ("SET @@transaction_read_only=1", Target::OneShot(b"transaction_read_only".to_vec()), number("1")),
        ("SET tx_isolation='SERIALIZABLE'", session("tx_isolation"), text("SERIALIZABLE")),
        ("SET @@session.tx_isolation='SERIALIZABLE'", session("tx_isolation"), text("SERIALIZABLE")),
        ("SET @x = 1", Target::UserVariable, number("1")),
        ("SET @`a b` := 'y'", Target::UserVariable, text("y")),
        ("SET @a.b = 1", Target::UserVariable, number("1")),
        ("SET @'x' = 1", Target::UserVariable, number("1")),
        ("SET NAMES utf8mb4", Target::Names { collation: None }, word("utf8mb4")),
        ("SET NAMES 'utf8' COLLATE 'utf8_bin'", Target::Names { collation: Some(b"utf8_bin".to_vec()) }, text("utf8")),
        ("SET NAMES DEFAULT", Target::Names { collation: None }, Value::Default),
        ("SET CHARACTER SET latin1", Target::Charset, word("latin1")),
        ("SET CHARSET 'latin1'", Target::Charset, text("latin1")),
        ("SET CHAR SET DEFAULT", Target::Charset, Value::Default),
        ("SET ROLE r", Target::Role, word("r")),
        ("SET ROLE NONE", Target::Role, word("NONE")),
        ("SET DEFAULT ROLE r FOR u@localhost", Target::DefaultRole, Value::Complex),
        ("SET PASSWORD = PASSWORD('x')", Target::Password, Value::Complex),
        ("SET PASSWORD FOR 'u'@'h' = 'x'", Target::Password, Value::Complex),
    ] {
        assert_eq!(set(statement), [(target, value)], "{statement}");
    }
}

#[test]
fn expressions_are_complex() {
    for value in [
        "1+1",
        "(1)",
        "@x",
        "@@global.a",
        "CONCAT('a', 'b')",
        "(SELECT MAX(a) FROM t WHERE b IN (1, 2))",
        "'a' 'b'",
        "_utf8'a'",
        "N'a'",
        "0x41",
        "- x",
        "a.b",
        "NOT 1",
    ] {
        let expected = [(session("a"), Value::Complex), (session("z"), number("1"))];
        assert_eq!(set(&format!("SET a = {value}, z = 1")), expected, "{value}");
    }
}

#[test]
fn lists_keep_their_order() {
    assert_eq!(
        set("SET a=1, SESSION b='x', @@c=1, @@session.d:=2, @@global.e=3, GLOBAL f=1, LOCAL g=1, @h=1, NAMES utf8"),
        [
            (session("a"), number("1")),
            (session("b"), text("x")),
            (session("c"), number("1")),
            (session("d"), number("2")),
            (global("e"), number("3")),
            (global("f"), number("1")),
            (session("g"), number("1")),
            (Target::UserVariable, number("1")),
            (Target::Names { collation: None }, word("utf8")),
        ]
    );
}

#[test]
fn a_scope_holds_for_the_names_after_it() {
    assert_eq!(
        set("SET GLOBAL a=1, b=2, @@c=3, d=4, SESSION e=5, f=6"),
        [
            (global("a"), number("1")),
            (global("b"), number("2")),
            (session("c"), number("3")),
            (global("d"), number("4")),
            (session("e"), number("5")),
            (session("f"), number("6")),
        ]
    );
}

#[test]
fn malformed_and_foreign_forms_are_opaque() {
    for text in [
        "SET",
        "SET a",
        "SET a=",
        "SET a=1,",
        "SET =1",
        "SET PERSIST a=1",
        "SET @@persist.a.b=1",
        "SET NAMES",
        "SET NAMES utf8 x",
        "SET ROLE a b",
        "SET 1=1",
        "SET a 1",
        "SET RESOURCE GROUP x",
        "SET @@=1",
        "SET DEFAULT a",
        "SET a=1,,b=2",
        "SET GLOBAL GLOBAL a=1",
    ] {
        assert_eq!(classify(text.as_bytes(), LexMode::new(&MARIADB)).kind, Kind::Opaque, "{text}");
    }
}

#[test]
fn quotes_follow_the_mode() {
    let ansi = LexMode { ansi_quotes: true, ..LexMode::new(&MARIADB) };
    assert_eq!(set_in("SET a=\"x\"", ansi), [(session("a"), word("x"))]);
    let plain = LexMode { no_backslash_escapes: true, ..LexMode::new(&MARIADB) };
    assert_eq!(set_in("SET a='\\'", plain), [(session("a"), text("\\"))]);
}

#[test]
fn switches_are_read_in_every_spelling() {
    for (value, expected) in [
        (number("1"), Some(true)),
        (number("0"), Some(false)),
        (word("On"), Some(true)),
        (text("off"), Some(false)),
        (word("TRUE"), Some(true)),
        (word("false"), Some(false)),
        (number("2"), None),
        (Value::Default, None),
    ] {
        assert_eq!(value.switch(), expected, "{value:?}");
    }
}

#[test]
fn sql_modes_shape_the_lexer() {
    let mode = |value| LexMode::new(&MARIADB).with_sql_mode(&value);
    let ansi = LexMode { ansi_quotes: true, ignore_space: true, ..LexMode::new(&MARIADB) };
    assert_eq!(mode(text("STRICT_TRANS_TABLES")), Some(LexMode::new(&MARIADB)));
    assert_eq!(mode(text("")), Some(LexMode::new(&MARIADB)));
    assert_eq!(mode(word("ansi")), Some(ansi));
    assert_eq!(
        mode(text("STRICT_ALL_TABLES,ansi_quotes")),
        Some(LexMode { ansi_quotes: true, ..LexMode::new(&MARIADB) })
    );
    assert_eq!(mode(text("ORACLE")), Some(LexMode { is_foreign: true, ..ansi }));
    assert_eq!(mode(text("NO_BACKSLASH_ESCAPES")).map(|mode| mode.no_backslash_escapes), Some(true));
    assert_eq!(mode(number("4")), None);
    assert_eq!(mode(Value::Default), None);
}
