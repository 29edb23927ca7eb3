//! Tests the rules that a user writes: which one decides, and what the errors say.

use insight::rules::TtlSettings;
use insight::{Caching, Rules, Subject};
use std::time::Duration;

const ORDERS: (&str, &str) = ("shop", "orders");
const STOCK: (&str, &str) = ("Shop", "Stock_2026");

fn of(text: &str, account: &str, tables: &[(&str, &str)]) -> Caching {
    let rules = Rules::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    rules.of(&Subject { digest: 0xab, account, tables })
}

fn lasting(seconds: u64) -> Caching {
    let ttl = Duration::from_secs(seconds);
    Caching::Always(TtlSettings { ttl, soft_ttl: ttl, coalesce: Duration::ZERO, in_transactions: false })
}

#[test]
fn without_rules_everything_is_normal() {
    for text in ["", "  ", "[]"] {
        assert_eq!(of(text, "a@b", &[ORDERS]), Caching::Normal);
        assert!(Rules::parse(text).unwrap().is_empty());
    }
}

#[test]
fn the_first_rule_that_fits_decides() {
    let text = r#"[{"table": "shop.orders", "cache": "normal"}, {"schema": "shop", "cache": "never"}]"#;
    assert_eq!(of(text, "a@b", &[ORDERS]), Caching::Normal);
    assert_eq!(of(text, "a@b", &[STOCK]), Caching::Never, "names are compared without case");
    assert_eq!(of(text, "a@b", &[("other", "orders")]), Caching::Normal);
}

#[test]
fn never_needs_one_table_and_always_needs_all() {
    let always = r#"[{"table": "shop.%stock%", "cache": "always", "ttl": 500}]"#;
    assert_eq!(of(always, "a@b", &[STOCK]), lasting(500));
    assert_eq!(of(always, "a@b", &[STOCK, ORDERS]), Caching::Normal);
    assert_eq!(of(always, "a@b", &[]), Caching::Normal);
    let never = r#"[{"table": "shop.%stock%", "cache": "never"}]"#;
    assert_eq!(of(never, "a@b", &[ORDERS, STOCK]), Caching::Never);
    assert!(Rules::parse(always).unwrap().has_ttl() && !Rules::parse(never).unwrap().has_ttl());
}

#[test]
fn all_parts_of_a_rule_must_fit() {
    let text = r#"[{"account": "app@10.%", "table": "shop.orders", "cache": "never"},
                   {"digest": "000000000000000000000000000000AB", "account": "%@%", "cache": "always", "ttl": 9}]"#;
    assert_eq!(of(text, "app@10.0.0.7", &[ORDERS]), Caching::Never);
    assert_eq!(of(text, "app@11.0.0.7", &[ORDERS]), lasting(9));
    assert_eq!(of(text, "app", &[ORDERS]), Caching::Normal);
}

#[test]
fn patterns_match_in_order_and_without_overlap() {
    let fits = |pattern: &str, name: &str| {
        let text = format!(r#"[{{"schema": "{pattern}", "cache": "never"}}]"#);
        of(&text, "", &[(name, "t")]) == Caching::Never
    };
    for (pattern, name) in [("%", ""), ("a%", "a"), ("a%b%c", "aXbYc"), ("a%b%c", "abc"), ("%b", "abb"), ("é%", "Éa")]
    {
        assert!(fits(pattern, name), "{pattern} {name}");
    }
    for (pattern, name) in [("a", "ab"), ("ab%ba", "aba"), ("a%b%c", "acb"), ("%x", "xy"), ("", "a")] {
        assert!(!fits(pattern, name), "{pattern} {name}");
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_would_be_right() {
    let cases: &[(&str, &[&str])] = &[
        ("{}", &["not a list of rules", r#"[{"table":"#]),
        ("never", &["not a list of rules"]),
        ("[{\"table\": \"a.b\",\n \"cache\": \"sometimes\"}]", &["sometimes", "never", "line 2 column 21"]),
        (r#"[{"table": "a.b"}]"#, &["cache", "line 1 column 17"]),
        (r#"[{"cache": "never"}]"#, &["fits nothing", "line 1 column 20"]),
        (r#"[{"table": "a", "cache": "never"}]"#, &["schema.table", "line 1 column"]),
        (r#"[{"tabel": "a.b", "cache": "never"}]"#, &["tabel", "table", "line 1 column 9"]),
        (r#"[{"schema": "a", "cache": "always"}]"#, &["ttl", "seconds from 1 to 3600", "line 1 column"]),
        (r#"[{"schema": "a", "cache": "always", "ttl": 0}]"#, &["ttl", "line 1 column"]),
        (r#"[{"schema": "a", "cache": "always", "ttl": 1.5}]"#, &["whole number of seconds from 1 to 3600, not 1.5"]),
        (r#"[{"schema": "a", "cache": "always", "ttl": 5, "soft_ttl": 1}]"#, &["soft_ttl", "fqc-near"]),
        (r#"[{"text": "a", "cache": "never"}]"#, &["text", "fqc-near", "line 1 column"]),
        (r#"[{"schema": "a", "cache": "never", "ttl": 5}]"#, &["always", "line 1 column"]),
        (r#"[{"digest": "12", "cache": "never"}]"#, &["32 hexadecimal", "line 1 column"]),
        (r#"[{"schema": "a", "cache": "never"}"#, &["EOF", "line 1 column 34"]),
    ];
    for (text, parts) in cases {
        let error = Rules::parse(text).expect_err(text);
        parts.iter().for_each(|part| assert!(error.contains(part), "{text}: {error}"));
    }
}
