//! LIKE and WHERE of the reports: the rows that they choose, and the errors for what they do not support.

use flavour::MARIADB;
use sql::{Charset, Kind, LexMode, Selection, SelectionError, Show, classify};

const COLUMNS: [&str; 3] = ["Item", "Count", "Meaning"];

fn parsed_in(tail: &str, mode: LexMode) -> Result<Selection, SelectionError> {
    match classify(format!("SHOW FQC REASONS {tail}").as_bytes(), mode).kind {
        Kind::Show(Show::Fqc { rows, .. }) => rows,
        other => panic!("{tail} is {other:?}"),
    }
}

fn parsed(tail: &str) -> Result<Selection, SelectionError> {
    parsed_in(tail, LexMode::new(&MARIADB))
}

/// Returns which of four fixed rows `SHOW FQC ...` with this tail, such as `WHERE a = 1`, selects.
fn chosen(tail: &str) -> String {
    let selection = parsed(tail).unwrap_or_else(|misuse| panic!("{tail}: {misuse:?}"));
    assert_eq!(selection.unknown_column(&COLUMNS), None, "{tail}");
    let row = |item: &str, count: &str, meaning: Option<&str>| {
        vec![Some(item.to_owned()), Some(count.to_owned()), meaning.map(str::to_owned)]
    };
    let rows = [
        row("a", "5", Some("first")),
        row("B_x", "12", Some("50% off")),
        row("c", "9.5e1", None),
        row("Ü", "-3", Some("")),
    ];
    let numbers = (1..).zip(rows).filter(|(_, row)| selection.selects(&COLUMNS, row));
    numbers.map(|(number, _)| number.to_string()).collect()
}

#[test]
fn rows_are_chosen_as_the_server_would() {
    let cases = [
        ("", "1234"),
        ("LIKE 'A'", "1"),
        ("LIKE '%'", "1234"),
        ("LIKE '_'", "134"),
        (r"LIKE 'b\_%'", "2"),
        (r"LIKE 'a\_%'", ""),
        ("LIKE 'ü'", "4"),
        ("WHERE Item = 'A'", "1"),
        ("WHERE item = 'a  '", "1"),
        ("WHERE `ITEM` <> 'a'", "234"),
        ("WHERE Count > 5", "23"),
        ("WHERE Count >= 5 AND Count<95", "12"),
        ("WHERE Count = 95", "3"),
        ("WHERE Count = -3", "4"),
        ("WHERE Count != +5.0", "234"),
        ("WHERE Count > '5'", "3"),
        ("WHERE Count <= 5", "14"),
        ("WHERE Item < 'b'", "1"),
        ("WHERE Meaning IS NULL", "3"),
        ("WHERE Meaning IS NOT NULL", "124"),
        ("WHERE NOT Meaning IS NULL", "124"),
        ("WHERE Meaning = 'first' OR Meaning <> 'first'", "124"),
        ("WHERE NOT Meaning = 'first'", "24"),
        ("WHERE Meaning = 'x' OR Count > 90", "3"),
        ("WHERE Meaning LIKE '50\\% %'", "2"),
        ("WHERE Meaning NOT LIKE '%o%'", "14"),
        ("WHERE Item = 'a' OR Item = 'c' AND Count = 5", "1"),
        ("WHERE (Item = 'a' OR Item = 'c') AND Count = 5", "1"),
        ("WHERE (Item = 'a' OR Item = 'c') AND NOT (Count = 5 OR Count = 6)", "3"),
        ("WHERE NOT NOT Item = 'a'", "1"),
        ("WHERE NOT Item = 'a' AND Count < 50;", "24"),
        ("WHERE ((Item = 'a'))", "1"),
    ];
    for (tail, expected) in cases {
        assert_eq!(chosen(tail), expected, "{tail}");
    }
}

#[test]
fn a_name_that_is_no_column_is_told() {
    let selection = parsed("WHERE Item = 'a' OR (NOT Itme = 'b')").unwrap();
    assert_eq!(selection.unknown_column(&COLUMNS), Some("Itme"));
}

#[test]
fn what_is_not_supported_is_named() {
    let cases = [
        ("WHERE Item IN ('a')", "IN"),
        ("WHERE Count BETWEEN 1 AND 2", "BETWEEN"),
        ("WHERE Item REGEXP 'a'", "REGEXP"),
        ("WHERE Item = 'a' XOR Count = 1", "XOR"),
        ("WHERE Item = 'a' && Count = 1", "&"),
        ("WHERE Count + 1 = 2", "+"),
        ("WHERE Count <=> 1", "<=>"),
        ("WHERE UPPER(Item) = 'A'", "a function"),
        ("WHERE t.Item = 'a'", "a column with the name of its table"),
        ("WHERE 'a' = Item", "a literal on the left side"),
        ("WHERE Item = Meaning", "a column on the right side"),
        ("WHERE Item LIKE Meaning", "a column on the right side"),
        ("WHERE Item = @a", "a variable"),
        ("WHERE Item = (SELECT 1)", "a query or an expression on the right side"),
        ("WHERE Item = NULL", "a comparison with NULL"),
        ("WHERE Item IS TRUE", "IS TRUE, FALSE and UNKNOWN"),
        ("WHERE Item", "a column without a comparison"),
        ("WHERE Item = x'41'", "a literal of this kind"),
        ("LIKE 'a|%' ESCAPE '|'", "ESCAPE"),
    ];
    for (tail, what) in cases {
        assert_eq!(parsed(tail), Err(SelectionError::Unsupported(what.into())), "{tail}");
    }
    let latin1 = LexMode { charset: Charset::AsciiSuperset, ..LexMode::new(&MARIADB) };
    assert!(matches!(parsed_in("LIKE 'ü'", latin1), Err(SelectionError::Unsupported(_))));
}

#[test]
fn nonsense_is_a_syntax_error_from_where_it_begins() {
    let cases = [
        ("nonsense", Some("nonsense")),
        ("'a'", Some("'a'")),
        ("LIKE", None),
        ("LIKE 'a' more", Some("more")),
        ("WHERE", None),
        ("WHERE Item = 'a' nonsense", Some("nonsense")),
        ("WHERE Item = 'a')", Some(")")),
        ("WHERE (Item = 'a'", None),
        ("WHERE Item = ", None),
        ("WHERE Item = 'a' AND", None),
        ("WHERE AND Item = 'a'", Some("AND Item = 'a'")),
        ("WHERE Item IS 5", Some("5")),
        ("WHERE Item NOT = 5", Some("= 5")),
        ("WHERE ()", Some(")")),
        ("ORDER BY 1", Some("ORDER BY 1")),
    ];
    for (tail, rest) in cases {
        let text = format!("SHOW FQC REASONS {tail}");
        let Err(SelectionError::Syntax(at)) = parsed(tail) else { panic!("{tail}: {:?}", parsed(tail)) };
        assert_eq!(at.map(|at| &text[at..]), rest, "{tail}");
    }
}

#[test]
fn depth_has_no_bound() {
    let deep = format!("WHERE {}Item = 'a'{}", "NOT (".repeat(100_000), ")".repeat(100_000));
    assert_eq!(chosen(&deep), "1");
}
