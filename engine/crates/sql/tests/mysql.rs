//! What MySQL's statements are.

use flavour::{MARIADB, MYSQL};
use sql::{DdlScope, Flush, Hint, Kind, LexMode, Refusal, Target, classify, surface, touched};

fn mode() -> LexMode {
    LexMode::new(&MYSQL)
}

fn kind(text: &str) -> Kind {
    classify(text.as_bytes(), mode()).kind
}

fn refusal(text: &str) -> Option<Refusal> {
    match kind(text) {
        Kind::Read(read) => read.refusal,
        other => panic!("{text} is {other:?}"),
    }
}

#[test]
fn reads_of_mysqls_own_shapes_may_be_kept() {
    for text in [
        "TABLE t",
        "TABLE t ORDER BY id LIMIT 3",
        "SELECT id FROM t EXCEPT ALL SELECT id FROM u",
        "(SELECT id FROM t) INTERSECT (TABLE u) ORDER BY 1",
        "SELECT * FROM t JOIN (VALUES ROW(1, 'a'), ROW(2, 'b')) AS v ON t.id = v.column_0",
        "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c, t",
        "SELECT id, RANK() OVER (PARTITION BY a ORDER BY id) FROM t",
        "SELECT id, SUM(v) OVER w FROM t WINDOW w AS (ORDER BY id ROWS UNBOUNDED PRECEDING)",
        "SELECT j->'$.a', j->>\"$.b\" FROM t",
        "SELECT id FROM t WHERE 3 MEMBER OF (j->'$.list')",
        "SELECT JSON_VALUE(j, '$.a' RETURNING DECIMAL(4, 2)) FROM t",
        "SELECT /*+ MAX_EXECUTION_TIME(1000) BKA(t1) */ id FROM t AS t1",
        "SELECT t.id, l.n FROM t, LATERAL (SELECT COUNT(*) AS n FROM u WHERE u.id = t.id) AS l",
        "SELECT a, b, SUM(v) FROM t GROUP BY a, b WITH ROLLUP HAVING GROUPING(a) = 0",
        "SELECT a, SUM(v) FROM t GROUP BY ROLLUP (a)",
        "SELECT id FROM t ORDER BY VECTOR_DIM(v)",
        "SELECT UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db') FROM t",
        "SELECT id FROM t FORCE INDEX FOR ORDER BY (PRIMARY) WHERE id > 3",
        "SELECT id FROM t /*M! executed by MariaDB alone */ WHERE id = 1",
    ] {
        assert_eq!(refusal(text), None, "{text}");
    }
}

#[test]
fn reads_that_must_run_are_refused() {
    for (text, expected) in [
        ("SELECT id FROM t FOR SHARE SKIP LOCKED", Refusal::LockingRead),
        ("SELECT id FROM t FOR UPDATE OF t NOWAIT", Refusal::LockingRead),
        ("SELECT id FROM t LOCK IN SHARE MODE", Refusal::LockingRead),
        ("TABLE t INTO OUTFILE 'x'", Refusal::Into),
        ("SELECT * FROM t, JSON_TABLE(t.j, '$[*]' COLUMNS (c TIME PATH '$')) AS x", Refusal::CurrentDate),
        ("SELECT JSON_VALUE(j, '$.a' RETURNING TIME) FROM t", Refusal::CurrentDate),
        ("SELECT JSON_VALUE(j, '$.a' RETURNING TIME NULL ON EMPTY) FROM t", Refusal::CurrentDate),
        ("SELECT MD5(a) FROM t", Refusal::UnknownFunction),
        ("SELECT SQL_CACHE(a) FROM t", Refusal::UnknownFunction),
        ("SELECT COUNT (*) FROM t", Refusal::UnknownFunction),
        ("SELECT mysql_query_attribute_string('n') FROM t", Refusal::UnknownFunction),
        ("SELECT * FROM ndbinfo.nodes", Refusal::SystemSchema),
        ("SELECT PS_CURRENT_THREAD_ID() FROM t", Refusal::SessionState),
        ("SELECT WAIT_FOR_EXECUTED_GTID_SET('x') FROM t", Refusal::SideEffect),
        ("SELECT id FROM t WHERE a = @@PERSIST.sort_buffer_size", Refusal::SystemVariable),
        ("SELECT /*!80000 id, */ a FROM t", Refusal::ExecutableComment),
    ] {
        assert_eq!(refusal(text), Some(expected), "{text}");
    }
}

#[test]
fn what_is_not_known_may_be_anything() {
    for text in [
        "BEGIN NOT ATOMIC SELECT 1",
        "EXECUTE IMMEDIATE 'SELECT 1'",
        "SET STATEMENT max_statement_time = 1 FOR SELECT 1",
        "ANALYZE SELECT 1",
        "CLONE LOCAL DATA DIRECTORY = '/x'",
        "RESET PERSIST",
        "LOCK INSTANCE FOR BACKUP",
        "BACKUP STAGE START",
        "IMPORT TABLE FROM 'x'",
        "SET RESOURCE GROUP r",
        "SELECT /*+ QB_NAME(`x*/`) */ 1 FROM t",
        "SELECT $$ ' $$ FROM t",
        "SELECT $x$ ; DROP TABLE t; $x$",
        "SELECT $a FROM t",
    ] {
        assert_eq!(kind(text), Kind::Opaque, "{text}");
    }
}

#[test]
fn the_question_of_a_new_client_changes_nothing() {
    assert_eq!(refusal("select $$"), Some(Refusal::NoTable));
    assert_eq!(kind("select 1; select $$"), Kind::Several);
}

#[test]
fn statements_that_mysql_shares_are_what_they_are() {
    assert_eq!(kind("EXPLAIN ANALYZE SELECT * FROM t"), Kind::Explain);
    assert_eq!(kind("INSERT INTO t VALUES (1, 2) AS new ON DUPLICATE KEY UPDATE v = new.v"), Kind::Write);
    assert_eq!(kind("INSERT INTO t TABLE u"), Kind::Write);
    assert_eq!(kind("WITH c AS (SELECT 1) UPDATE t SET v = 1"), Kind::Write);
    assert_eq!(kind("FLUSH QUERY CACHE"), Kind::Flush(Flush::QueryCache));
    assert_eq!(kind("RESET QUERY CACHE"), Kind::ResetQueryCache);
    assert!(matches!(kind("ANALYZE TABLE t UPDATE HISTOGRAM ON a"), Kind::Ddl(DdlScope::Tables(_))));
    assert!(matches!(
        kind("CREATE JSON RELATIONAL DUALITY VIEW v AS SELECT JSON_DUALITY_OBJECT('_id': id) FROM t"),
        Kind::Ddl(DdlScope::Everything)
    ));
}

#[test]
fn persisted_settings_are_those_of_new_sessions() {
    for text in ["SET PERSIST sort_buffer_size = 1", "SET PERSIST_ONLY a = 1", "SET @@PERSIST.sort_buffer_size = 1"] {
        let Kind::Set(assignments) = kind(text) else { panic!("{text}") };
        assert!(matches!(assignments[0].target, Target::Global(_)), "{text}");
    }
    assert_eq!(classify(b"SET PERSIST sort_buffer_size = 1", LexMode::new(&MARIADB)).kind, Kind::Opaque);
}

#[test]
fn sql_cache_is_taken_out_where_it_is_the_hint() {
    let blank = |text: &str| {
        let out = surface::without_sql_cache(text.as_bytes(), mode());
        out.map(|out| String::from_utf8(out).expect("UTF-8").split_whitespace().collect::<Vec<_>>().join(" "))
    };
    for (text, expected) in [
        ("SELECT SQL_CACHE * FROM t", "SELECT * FROM t"),
        ("select distinct sql_cache a, b from t", "select distinct a, b from t"),
        ("SELECT SQL_CACHE `a` FROM t", "SELECT `a` FROM t"),
        ("SELECT SQL_CACHE COUNT(*) FROM t WHERE id = ?", "SELECT COUNT(*) FROM t WHERE id = ?"),
        ("SELECT SQL_CACHE ? FROM t", "SELECT ? FROM t"),
        ("SELECT SQL_CACHE (a) FROM t", "SELECT (a) FROM t"),
        ("(SELECT SQL_CACHE 1 FROM t) UNION SELECT SQL_CACHE 'x'", "(SELECT 1 FROM t) UNION SELECT 'x'"),
        ("INSERT INTO u SELECT SQL_CACHE id FROM t", "INSERT INTO u SELECT id FROM t"),
    ] {
        assert_eq!(blank(text).as_deref(), Some(expected), "{text}");
        assert_eq!(surface::without_sql_cache(text.as_bytes(), LexMode::new(&MARIADB)), None, "{text}");
    }
    for text in [
        "SELECT sql_cache FROM t",
        "SELECT sql_cache, id FROM t",
        "SELECT sql_cache AS x FROM t",
        "SELECT sql_cache * 2 FROM t",
        "SELECT sql_cache - 1 FROM t",
        "SELECT sql_cache(a) FROM t",
        "SELECT t.sql_cache FROM t",
        "SELECT id FROM t WHERE sql_cache = 1",
        "SELECT 'SELECT SQL_CACHE a'",
        "SELECT `sql_cache` a FROM t",
    ] {
        assert_eq!(blank(text), None, "{text}");
    }
    let Kind::Read(read) = kind("SELECT SQL_CACHE a FROM t") else { panic!("a read") };
    assert_eq!((read.refusal, read.hint), (None, Hint::SqlCache));
}

#[test]
fn a_word_keeps_its_place_when_the_hint_is_taken_out() {
    let text = b"SELECT SQL_CACHE a FROM t WHERE";
    assert_eq!(surface::without_sql_cache(text, mode()).map(|out| out.len()), Some(text.len()));
}

#[test]
fn modes_are_mysqls_own() {
    let with = |names: &str| mode().with_sql_mode(&sql::Value::Text(names.into())).expect("names");
    assert!(with("ANSI").ansi_quotes && with("STRICT_TRANS_TABLES,ansi").ignore_space);
    assert_eq!(with("ORACLE,DB2"), mode());
}

#[test]
fn rows_are_told_apart_only_where_one_table_is_read_once() {
    let key = footprint::KeyColumn {
        position: Some(0),
        is_sole: true,
        ..footprint::KeyColumn::new(b"id".to_vec(), i64::MIN.into(), i64::MAX.into())
    };
    let text = |text| touched::Text { text, mode: mode(), bound: &[] };
    assert!(touched::read(text(b"SELECT a FROM t WHERE id = 7"), &key).is_some());
    assert!(touched::read(text(b"SELECT (TABLE t LIMIT 1) FROM t WHERE id = 7"), &key).is_none());
    assert!(touched::written(text(b"INSERT INTO t VALUES (1, 2)"), &key).is_some());
    for other in [
        &b"INSERT INTO t VALUES ROW(1, 2)"[..],
        b"INSERT INTO t VALUES (1, 2) AS new ON DUPLICATE KEY UPDATE v = new.v",
        b"INSERT INTO t TABLE u",
        b"DELETE FROM t AS x WHERE x.id = 7",
    ] {
        assert!(touched::written(text(other), &key).is_none(), "{}", String::from_utf8_lossy(other));
    }
}

#[test]
fn names_of_tables_are_found_in_mysqls_own_shapes() {
    let names = |text: &str| {
        let found = sql::sources(text.as_bytes(), mode()).expect("an answer");
        found.iter().map(|one| String::from_utf8_lossy(&one.name).into_owned()).collect::<Vec<_>>().join(" ")
    };
    for (text, expected) in [
        ("TABLE v ORDER BY id", "v"),
        ("(TABLE u) EXCEPT (TABLE v LIMIT 1)", "u v"),
        ("SELECT 1 FROM t, LATERAL (SELECT 1 FROM v WHERE v.a = t.a) AS l", "t LATERAL v"),
        ("SELECT 1 FROM t JOIN (VALUES ROW(1, 2)) AS x, v", "t VALUES v"),
        ("WITH c AS (TABLE v) SELECT 1 FROM c", "v c"),
        ("SELECT /*+ BKA(t) */ 1 FROM t", "t"),
    ] {
        assert_eq!(names(text), expected, "{text}");
    }
    assert_eq!(sql::sources(b"SELECT /*+ QB_NAME(`x*/`) */ 1 FROM t", mode()), None);
}
