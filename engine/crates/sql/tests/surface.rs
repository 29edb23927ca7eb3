//! Translation of the names that tools know.

use flavour::{Alias, MARIADB};
use sql::LexMode;
use sql::surface::rewrite;

fn rewritten(text: &str) -> Option<String> {
    let rewrite = rewrite(text.as_bytes(), LexMode::new(&MARIADB))?;
    Some(String::from_utf8(rewrite.text).expect("only ASCII was replaced"))
}

#[test]
fn system_variables_are_translated() {
    for (text, expected) in [
        ("SET query_cache_type=1", "SET fqc_type=1"),
        ("SET SESSION query_cache_type = ON", "SET SESSION fqc_type = ON"),
        ("set global Query_Cache_Size := 1024", "set global fqc_size := 1024"),
        ("SET @@query_cache_type=DEFAULT", "SET @@fqc_type=DEFAULT"),
        (
            "SET @@global.query_cache_limit=1, @@session . query_cache_type=2",
            "SET @@global.fqc_limit=1, @@session . fqc_type=2",
        ),
        ("SET `query_cache_type`=1", "SET fqc_type=1"),
        ("SET a=(SELECT 1, 2), query_cache_type=0", "SET a=(SELECT 1, 2), fqc_type=0"),
        ("SET NAMES utf8, query_cache_type=0", "SET NAMES utf8, fqc_type=0"),
        ("SET query_cache_type=@@global.query_cache_type", "SET fqc_type=@@global.fqc_type"),
        ("SET STATEMENT query_cache_size=0 FOR SELECT 1", "SET STATEMENT fqc_size=0 FOR SELECT 1"),
        (
            "SET STATEMENT query_cache_type=0 FOR SET query_cache_type=1",
            "SET STATEMENT query_cache_type=0 FOR SET fqc_type=1",
        ),
        ("SELECT @@query_cache_size", "SELECT @@fqc_size"),
        ("SELECT @@global.query_cache_size / 1024 FROM t", "SELECT @@global.fqc_size / 1024 FROM t"),
        ("SELECT @@`query_cache_type`", "SELECT @@fqc_type"),
        ("INSERT INTO t VALUES (@@query_cache_limit)", "INSERT INTO t VALUES (@@fqc_limit)"),
        ("SELECT 1; SET query_cache_type=1", "SELECT 1; SET fqc_type=1"),
        (
            "SELECT /* query_cache_size */ 'query_cache_size', @@query_cache_size",
            "SELECT /* query_cache_size */ 'query_cache_size', @@fqc_size",
        ),
    ] {
        assert_eq!(rewritten(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn everything_else_stays() {
    for text in [
        "SELECT query_cache_size FROM t",
        "SELECT @@query_cache_min_res_unit, @@query_cache_wlock_invalidate, @@query_cache_strip_comments",
        "SET STATEMENT max_statement_time=1, query_cache_type=0 FOR SELECT 1",
        "SELECT '@@query_cache_size'",
        "SELECT 1 -- @@query_cache_size",
        "SELECT @query_cache_size",
        "SELECT @@query_cache_info",
        "SELECT @@query_cache_size_x",
        "SELECT @@x.query_cache_size",
        "SET @query_cache_type=1",
        "SET a=query_cache_type",
        "UPDATE t SET query_cache_type=1",
        "SHOW VARIABLES LIKE 'query_cache%'",
        "SET query_cache_type='unfinished",
        "",
    ] {
        assert_eq!(rewritten(text), None, "{text}");
    }
}

#[test]
fn replaced_names_are_told_once_as_they_were_written() {
    let rewrite = rewrite(b"SELECT @@Query_Cache_Size, @@query_cache_type, @@query_cache_type", LexMode::new(&MARIADB));
    let renamed: Vec<_> =
        rewrite.expect("has aliases").renamed.into_iter().map(|name| (name.theirs, name.ours)).collect();
    assert_eq!(renamed, [(b"Query_Cache_Size".to_vec(), "fqc_size"), (b"query_cache_type".to_vec(), "fqc_type")]);
}

#[test]
fn every_alias_is_translated() {
    for Alias { theirs, ours } in MARIADB.statements.aliases {
        assert!(theirs.starts_with(MARIADB.statements.alias_prefix));
        assert_eq!(rewritten(&format!("SET GLOBAL {theirs} = 1")), Some(format!("SET GLOBAL {ours} = 1")));
    }
}
