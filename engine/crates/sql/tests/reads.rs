//! Reads whose results may be stored, and the refusals of those that may not.

use flavour::MARIADB;
use sql::{Charset, Hint, Kind, LexMode, Read, Refusal, classify};

fn read_in(text: &str, mode: LexMode) -> Read {
    match classify(text.as_bytes(), mode).kind {
        Kind::Read(read) => read,
        other => panic!("{text}: {other:?}"),
    }
}

fn read(text: &str) -> Read {
    read_in(text, LexMode::new(&MARIADB))
}

fn assert_all_refused(refusal: Refusal, texts: &[&str]) {
    for text in texts {
        assert_eq!(read(text).refusal, Some(refusal), "{text}");
    }
}

#[test]
fn plain_reads_are_cacheable() {
    for text in [
        "SELECT c FROM sbtest1 WHERE id=5023",
        "select distinct c from sbtest1 where id between 1 and 100 order by c",
        "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?",
        "SELECT * FROM a JOIN b USING (id) LEFT JOIN c ON (c.x = a.x)",
        "SELECT * FROM t WHERE a IN (1, 2, (3)) AND NOT (b OR c)",
        "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)",
        "SELECT * FROM t WHERE a > ANY (SELECT b FROM u) AND c < ALL (SELECT d FROM u)",
        "SELECT * FROM (SELECT a FROM t) AS d",
        "SELECT * FROM (t, u)",
        "(SELECT a FROM t) UNION ALL (SELECT b FROM u) ORDER BY 1 LIMIT 3",
        "((SELECT a FROM t))",
        "SELECT a FROM t EXCEPT SELECT a FROM u INTERSECT (SELECT a FROM v)",
        "WITH x AS (SELECT a FROM t) SELECT * FROM x",
        "WITH RECURSIVE n (i) AS (SELECT 1 FROM t UNION ALL SELECT i+1 FROM n WHERE i<9) SELECT * FROM n",
        "WITH x (a) AS (SELECT a FROM t), y (b) AS (SELECT b FROM u) SELECT * FROM x, y",
        "WITH `x` (a) AS (SELECT a FROM t) SELECT * FROM x",
        "SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c) FROM t",
        "SELECT a, SUM(b) OVER w FROM t WINDOW w AS (ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        "SELECT * FROM t USE INDEX (i) WHERE a = 1",
        "SELECT * FROM t FORCE KEY FOR ORDER BY (i), u IGNORE INDEX FOR JOIN (j)",
        "SELECT * FROM t PARTITION (p0, p1)",
        "SELECT CASE WHEN (a) THEN (b) ELSE (c) END FROM t",
        "SELECT CAST(a AS CHAR(10)), CAST(b AS DECIMAL(10,2)), CONVERT(c USING utf8mb4) FROM t",
        "SELECT CAST(a AS DATETIME(6)), CONVERT(b, DATE) FROM t",
        "SELECT a FROM t WHERE d > '2020-01-01' - INTERVAL 3 DAY AND d < DATE_ADD('2020-01-01', INTERVAL (2) MONTH)",
        "SELECT DATE '2020-01-01', TIMESTAMP'2020-01-01 00:00:00' FROM t",
        "SELECT SUBSTRING(a FROM 2 FOR 3), TRIM(LEADING 'x' FROM a), EXTRACT(YEAR FROM d) FROM t",
        "SELECT GROUP_CONCAT(DISTINCT a ORDER BY b SEPARATOR ', ') FROM t GROUP BY c WITH ROLLUP HAVING (COUNT(*) > 1)",
        "SELECT JSON_EXTRACT(j, '$.a'), JSON_VALUE(j, '$.b') FROM t",
        "SELECT ST_AsText(g) FROM t WHERE MBRContains(ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))'), g)",
        "SELECT DATABASE(), SCHEMA(), VERSION() FROM t",
        "SELECT * FROM t WHERE MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE)",
        "SELECT COALESCE(a, b), IF(a, b, c), IFNULL(a, 0), NULLIF(a, b), LEFT(a, 1), REPLACE(a, 'x', 'y') FROM t",
        "SELECT CONCAT (a, b), LOWER (a) FROM t",
        "SELECT UNIX_TIMESTAMP(a), FROM_UNIXTIME(b) FROM t",
        "SELECT a FROM t LIMIT 5, 10",
        "SELECT status, name, date, time, value, user, `current_user`, t.now FROM t",
        "SELECT time FROM t WHERE x IN (a, time) AND COALESCE(a, time) > 0",
        "SELECT 'NOW()', \"@x\", `RAND()` FROM t",
        "SELECT 'it''s', 'a\\'b', \"q\"\"q\", `a``b` FROM t",
        "SELECT N'x', _utf8mb4'y', x'1F', 0x1F, b'01', 1e5, .5, 1.5e-3, -1 FROM t",
        "SELECT a FROM db.t WHERE db.t.a = 1",
        "SELECT mysql, sys FROM t",
        "SELECT a FROM t -- FOR UPDATE\n WHERE b = 1",
        "SELECT a /* FOR UPDATE */ FROM t # INTO OUTFILE\n",
        "SELECT /*+ hint */ a FROM t",
        "/* first */ SELECT a FROM t;",
        "SELECT a FROM t ; ;\n",
        "SELECT 1--1 FROM t",
        "SELECT été FROM tâble",
        "SELECT 1a, _x, $y FROM t",
        "VALUES (1), ((SELECT MAX(a) FROM t))",
        "TABLE t",
        "SELECT \\N FROM t",
    ] {
        assert_eq!(read(text).refusal, None, "{text}");
    }
}

#[test]
fn nondeterministic_functions_are_refused() {
    assert_all_refused(
        Refusal::Nondeterministic,
        &[
            "SELECT NOW() FROM t",
            "SELECT a FROM t WHERE d > now()",
            "SELECT a FROM t WHERE d > CURRENT_TIMESTAMP",
            "SELECT a FROM t WHERE d > CURRENT_TIMESTAMP(6)",
            "SELECT CURDATE() FROM t",
            "SELECT current_date FROM t",
            "SELECT current_time FROM t",
            "SELECT LOCALTIME FROM t",
            "SELECT LocalTimestamp FROM t",
            "SELECT UTC_DATE, a FROM t",
            "SELECT UTC_TIMESTAMP() FROM t",
            "SELECT SYSDATE() FROM t",
            "SELECT a FROM t ORDER BY RAND()",
            "SELECT RAND(5) FROM t",
            "SELECT UUID(), a FROM t",
            "SELECT UUID_SHORT() FROM t",
            "SELECT UNIX_TIMESTAMP() FROM t",
            "SELECT UNIX_TIMESTAMP( /* x */ ) FROM t",
            "SELECT DEFAULT(a) FROM t",
            "SELECT ENCRYPT(a) FROM t",
            "SELECT RANDOM_BYTES(4) FROM t",
            "WITH x AS (SELECT a FROM t) (SELECT a FROM x) ORDER BY a, RAND()",
            "WITH x AS (SELECT a FROM t), y AS (SELECT NOW() FROM t) SELECT a FROM x",
        ],
    );
}

#[test]
fn session_state_is_refused() {
    assert_all_refused(
        Refusal::SessionState,
        &[
            "SELECT LAST_INSERT_ID() FROM t",
            "SELECT * FROM t WHERE id = last_insert_id()",
            "SELECT FOUND_ROWS() FROM t",
            "SELECT ROW_COUNT() FROM t",
            "SELECT CONNECTION_ID() FROM t",
            "SELECT USER() FROM t",
            "SELECT CURRENT_USER FROM t",
            "SELECT CURRENT_USER() FROM t",
            "SELECT SESSION_USER() FROM t",
            "SELECT SYSTEM_USER() FROM t",
            "SELECT CURRENT_ROLE FROM t",
        ],
    );
}

#[test]
fn side_effects_are_refused() {
    assert_all_refused(
        Refusal::SideEffect,
        &[
            "SELECT SLEEP(1) FROM t",
            "SELECT BENCHMARK(10, a) FROM t",
            "SELECT GET_LOCK('a', 1) FROM t",
            "SELECT RELEASE_LOCK('a') FROM t",
            "SELECT IS_FREE_LOCK('a') FROM t",
            "SELECT LOAD_FILE('/etc/hosts') FROM t",
            "SELECT MASTER_POS_WAIT('a', 1) FROM t",
            "SELECT MASTER_GTID_WAIT('0-1-1') FROM t",
        ],
    );
}

#[test]
fn unknown_functions_are_refused() {
    assert_all_refused(
        Refusal::UnknownFunction,
        &[
            "SELECT f(a) FROM t",
            "SELECT db.f(a) FROM t",
            "SELECT db.concat(a) FROM t",
            "SELECT db . concat(a) FROM t",
            "SELECT `concat`(a) FROM t",
            "SELECT COUNT (*) FROM t",
            "SELECT MAX/**/(a) FROM t",
            "SELECT REGEXP_LIKE(a, 'b') FROM t",
            "SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$')) j",
            "SELECT été(a) FROM t",
            "SELECT against(a), point(1), polygon() FROM t",
            "SELECT a AND against ('x') FROM t",
            "SELECT lateral(a) FROM t",
            "SELECT escape(a) FROM t",
            "SELECT a FROM t WHERE b = a_very_long_name_of_a_stored_function_that_exceeds_buffers(1)",
            "SELECT * FROM (SELECT 1 FROM t) AS d (a)",
        ],
    );
}

#[test]
fn a_space_before_the_parenthesis_matters_only_without_ignore_space() {
    let ignore_space = LexMode { ignore_space: true, ..LexMode::new(&MARIADB) };
    assert_eq!(read_in("SELECT COUNT \n (*) FROM t", ignore_space).refusal, None);
    assert_eq!(read_in("SELECT COUNT/**/(*) FROM t", ignore_space).refusal, Some(Refusal::UnknownFunction));
    assert_eq!(read("SELECT COUNT (*) FROM t").refusal, Some(Refusal::UnknownFunction));
}

#[test]
fn times_without_a_date_are_refused() {
    assert_all_refused(
        Refusal::CurrentDate,
        &[
            "SELECT CAST(a AS TIME) FROM t",
            "SELECT CAST(a AS TIME(3)) FROM t",
            "SELECT CONVERT(a, TIME) FROM t",
            "SELECT CONVERT((a), time(6)) FROM t",
            "SELECT CONVERT(CONVERT(a, DATE), TIME) FROM t",
            "SELECT CAST(a AS INTERVAL DAY_SECOND(3)) FROM t",
            "SELECT TIME(a) FROM t",
            "SELECT TIME '10:00:00' FROM t",
            "SELECT MAKETIME(1,2,3) FROM t",
            "SELECT SEC_TO_TIME(a) FROM t",
            "SELECT TIMEDIFF(a, b) FROM t",
            "SELECT STR_TO_DATE('10:00', '%H:%i') FROM t",
        ],
    );
}

#[test]
fn variables_are_refused() {
    assert_all_refused(
        Refusal::UserVariable,
        &[
            "SELECT @x FROM t",
            "SELECT a, @n := @n + 1 FROM t",
            "SELECT @`x y` FROM t",
            "SELECT @'x' FROM t",
            "SELECT a FROM t WHERE b = @a.b",
        ],
    );
    assert_all_refused(
        Refusal::SystemVariable,
        &["SELECT @@version FROM t", "SELECT @@global.max_connections FROM t", "SELECT @@query_cache_size"],
    );
}

#[test]
fn locking_reads_are_refused() {
    assert_all_refused(
        Refusal::LockingRead,
        &[
            "SELECT a FROM t FOR UPDATE",
            "SELECT a FROM t FOR/**/UPDATE",
            "SELECT a FROM t FOR UPDATE SKIP LOCKED",
            "SELECT a FROM t FOR SHARE",
            "SELECT a FROM t LOCK IN SHARE MODE",
            "SELECT a FROM (SELECT a FROM t FOR UPDATE) d",
            "(SELECT a FROM t FOR UPDATE)",
        ],
    );
}

#[test]
fn results_that_go_elsewhere_are_refused() {
    assert_all_refused(
        Refusal::Into,
        &[
            "SELECT a FROM t INTO OUTFILE '/tmp/x'",
            "SELECT a INTO DUMPFILE '/tmp/x' FROM t",
            "SELECT a INTO @x FROM t",
            "SELECT a FROM t INTO b",
        ],
    );
    assert_all_refused(Refusal::Procedure, &["SELECT a FROM t PROCEDURE ANALYSE()", "SELECT a FROM t procedure x"]);
    assert_all_refused(Refusal::CalcFoundRows, &["SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1"]);
    // What else speaks against it counts first.
    assert_all_refused(Refusal::Nondeterministic, &["SELECT SQL_CALC_FOUND_ROWS a, RAND() FROM t LIMIT 1"]);
}

#[test]
fn a_statement_that_only_asks_for_the_rows_found_is_known() {
    let asks = |text: &str| sql::asks_for_found_rows_alone(text.as_bytes(), LexMode::new(&MARIADB));
    for text in [
        "SELECT FOUND_ROWS()",
        "/* c */ select found_rows ( ) ;",
        "SELECT FOUND_ROWS() AS n",
        "SELECT FOUND_ROWS() `n`",
    ] {
        assert!(asks(text), "{text}");
    }
    for text in [
        "",
        "SELECT FOUND_ROWS",
        "SELECT FOUND_ROWS(), 1",
        "SELECT FOUND_ROWS() + 1",
        "SELECT FOUND_ROWS() FROM t",
        "SELECT FOUND_ROWS() INTO @a",
        "SELECT FOUND_ROWS() LIMIT 0",
        "SELECT DISTINCT FOUND_ROWS()",
        "SELECT FOUND_ROWS(); SELECT 1",
        "SELECT d.FOUND_ROWS()",
        "SELECT `FOUND_ROWS`()",
        "(SELECT FOUND_ROWS())",
    ] {
        assert!(!asks(text), "{text}");
    }
}

#[test]
fn a_read_that_certainly_looks_for_rows_is_told_from_one_that_may_not() {
    let reads = |text: &str| sql::certainly_reads(text.as_bytes(), LexMode::new(&MARIADB));
    for text in [
        "SELECT a FROM t",
        "SELECT COUNT(*), MAX(a) FROM d.t AS x",
        "SELECT a FROM t WHERE b = 1",
        "SELECT EXTRACT(YEAR FROM a) FROM t WHERE -7 <= t.b AND (`c` LIKE 'x%' OR d IS NOT NULL) ORDER BY a DESC LIMIT 1",
        "SELECT a FROM t WHERE a IN (1, -2, 'x') GROUP BY a LIMIT 0, 10;",
        "SELECT /* c */ a FROM t LEFT JOIN u ON (t.b = u.c) WHERE (u.namespace = 1 AND u.title = 'Page_31')",
        "SELECT a FROM t, u USE INDEX (i) WHERE t.b <=> u.c",
        "SELECT a FROM t JOIN u USING (b) WHERE c <> 1",
    ] {
        assert!(reads(text), "{text}");
    }
    for text in [
        "",
        "SELECT 1",
        "SELECT a FROM t WHERE 1 = 0",
        "SELECT a FROM t WHERE 0",
        "SELECT a FROM t WHERE FALSE",
        "SELECT a FROM t WHERE b = NULL",
        "SELECT a FROM t WHERE b IS NULL",
        "SELECT a FROM t WHERE b = ?",
        "SELECT a FROM t WHERE b = 1 AND b = 2",
        "SELECT a FROM t WHERE b > 3 AND t.B < 2",
        "SELECT a FROM t WHERE b BETWEEN 3 AND 2",
        "SELECT a FROM t WHERE b = 'ü'",
        "SELECT a FROM t WHERE b = 1 AND 1 = 0",
        "SELECT a FROM t WHERE NOT b = 1",
        "SELECT a FROM t WHERE b + 1 = 2",
        "SELECT a FROM t WHERE b = c + 1",
        "SELECT a FROM t WHERE ABS(b) = 1",
        "SELECT a FROM t WHERE b IN ()",
        "SELECT a FROM t WHERE (b = 1",
        "SELECT a FROM t WHERE b = 1 HAVING a > 1",
        "SELECT a FROM t LIMIT 0",
        "SELECT a FROM t LIMIT 10, 0",
        "SELECT a FROM t LIMIT ?",
        "SELECT a FROM t LIMIT ROWS EXAMINED 1",
        "SELECT a FROM t LIMIT 1 OFFSET 1",
        "SELECT a FROM t PARTITION (p)",
        "SELECT a FROM t JOIN u ON 1 = 0",
        "SELECT a FROM t JOIN u ON t.b = u.b AND 1 = 0",
        "SELECT a FROM t WHERE b = 1 /*! AND 1 = 0 */",
        "WITH t AS (SELECT 1) SELECT a FROM t",
    ] {
        assert!(!reads(text), "{text}");
    }
}

#[test]
fn system_schemas_are_refused() {
    assert_all_refused(
        Refusal::SystemSchema,
        &[
            "SELECT * FROM mysql.user",
            "SELECT * FROM MySQL.user",
            "SELECT * FROM `mysql`.`user`",
            "SELECT * FROM information_schema.tables",
            "SELECT * FROM INFORMATION_SCHEMA . TABLES",
            "SELECT * FROM performance_schema.threads",
            "SELECT * FROM t JOIN sys.processlist",
            "SELECT sys.f(a) FROM t",
        ],
    );
}

#[test]
fn sequences_and_history_are_refused() {
    assert_all_refused(
        Refusal::SequenceValue,
        &[
            "SELECT NEXTVAL(s) FROM t",
            "SELECT LASTVAL(s)",
            "SELECT SETVAL(s, 5)",
            "SELECT NEXT VALUE FOR s",
            "SELECT PREVIOUS VALUE FOR s FROM t",
        ],
    );
    assert_all_refused(
        Refusal::SystemTime,
        &["SELECT * FROM t FOR SYSTEM_TIME AS OF '2020-01-01'", "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP(a)"],
    );
}

#[test]
fn executable_comments_are_refused() {
    assert_all_refused(
        Refusal::ExecutableComment,
        &["SELECT /*!40001 SQL_NO_CACHE */ * FROM t", "SELECT a /*! */ FROM t", "SELECT a /*M!100100 , b */ FROM t"],
    );
}

#[test]
fn reads_without_a_table_are_refused() {
    assert_all_refused(
        Refusal::NoTable,
        &[
            "SELECT 1",
            "SELECT 1 + 1;",
            "SELECT VERSION()",
            "VALUES (1), (2)",
            "(SELECT 'FROM')",
            "SELECT 1 FROM DUAL",
            "SELECT 1 FROM/**/dual WHERE 1",
            "SELECT EXTRACT(YEAR FROM '2020-01-01')",
            "(SELECT TRIM(LEADING 'x' FROM ('xa')) FROM DUAL)",
        ],
    );
    for text in ["SELECT 1 FROM `dual`", "SELECT TRIM('x' FROM a) FROM t", "SELECT 1 FROM DUAL UNION SELECT a FROM t"] {
        assert_eq!(read(text).refusal, None, "{text}");
    }
}

#[test]
fn what_does_not_belong_into_a_read_is_refused() {
    assert_all_refused(
        Refusal::Unrecognised,
        &[
            "SELECT a FROM t FOR ever",
            "SELECT {fn abs(1)} FROM t",
            "SELECT {t '10:00:00'} FROM t",
            "SELECT a FROM t DELETE FROM u",
            "SELECT a FROM t UPDATE u",
            "SELECT a FROM t SET x",
        ],
    );
    let deep = format!("SELECT {}a{} FROM t", "(".repeat(70), ")".repeat(70));
    assert_all_refused(Refusal::Unrecognised, &[&deep]);
}

#[test]
fn the_first_objection_is_the_reason() {
    assert_eq!(read("SELECT NOW(), @x FROM t FOR UPDATE").refusal, Some(Refusal::Nondeterministic));
    assert_eq!(read("SELECT @x, NOW()").refusal, Some(Refusal::UserVariable));
}

#[test]
fn hints_are_seen() {
    assert_eq!(read("SELECT SQL_CACHE a FROM t").hint, Hint::SqlCache);
    assert_eq!(read("SELECT DISTINCT sql_no_cache a FROM t").hint, Hint::SqlNoCache);
    assert_eq!(read("SELECT SQL_CACHE a FROM (SELECT SQL_NO_CACHE b FROM t) d").hint, Hint::SqlNoCache);
    assert_eq!(read("SELECT 'SQL_CACHE' FROM t").hint, Hint::None);
    assert_eq!(read("SELECT /*!40001 SQL_NO_CACHE */ * FROM t").hint, Hint::None);
    for text in ["SELECT SQL_CACHE a FROM t", "SELECT SQL_NO_CACHE (a) FROM t"] {
        assert_eq!(read(text).refusal, None, "{text}");
    }
}

#[test]
fn reads_that_ask_about_the_statement_before_are_known() {
    for (text, expected) in [
        ("SELECT FOUND_ROWS()", true),
        ("SELECT a, row_count() FROM t", true),
        ("SELECT @@warning_count", true),
        ("SELECT @@session.error_count", true),
        ("SELECT @@local . warning_count", true),
        ("SELECT f()", true),
        ("SELECT NOW()", false),
        ("SELECT @@max_connections", false),
        ("SELECT found_rows FROM t", false),
        ("SELECT session.warning_count FROM session", true),
        ("SELECT CONCAT(a) FROM t", false),
    ] {
        assert_eq!(classify(text.as_bytes(), LexMode::new(&MARIADB)).reads_diagnostics, expected, "{text}");
    }
}

#[test]
fn quotes_follow_the_mode() {
    let ansi = LexMode { ansi_quotes: true, ..LexMode::new(&MARIADB) };
    assert_eq!(read_in("SELECT \"a\" FROM \"mysql\".\"user\"", ansi).refusal, Some(Refusal::SystemSchema));
    assert_eq!(read("SELECT \"mysql\" FROM t").refusal, None);
    let plain = LexMode { no_backslash_escapes: true, ..LexMode::new(&MARIADB) };
    assert_eq!(read_in("SELECT '\\', NOW() -- '\n FROM t", plain).refusal, Some(Refusal::Nondeterministic));
    assert_eq!(read("SELECT '\\', NOW() -- ' FROM t").refusal, None);
}

#[test]
fn charsets_that_cannot_be_read_make_every_text_opaque() {
    let gbk = LexMode { charset: Charset::of_name(b"gbk", &MARIADB.charsets), ..LexMode::new(&MARIADB) };
    let oracle = LexMode { is_foreign: true, ..LexMode::new(&MARIADB) };
    for mode in [gbk, oracle] {
        assert_eq!(classify(b"SELECT a FROM t", mode).kind, Kind::Opaque);
    }
    assert!(matches!(classify(b"SET query_cache_type = 0", oracle).kind, Kind::Set(_)));
    assert!(matches!(classify(b"SHOW VARIABLES", oracle).kind, Kind::Show(_)));
    let latin1 = LexMode { charset: Charset::of_name(b"LATIN1", &MARIADB.charsets), ..LexMode::new(&MARIADB) };
    assert_eq!(read_in("SELECT a FROM t WHERE b = 'é'", latin1).refusal, None);
    // 0xA0 is a space to the server.
    assert_eq!(classify(b"SELECT a FROM t\xA0FOR UPDATE", latin1).kind, Kind::Opaque);
}

#[test]
fn every_refusal_has_a_name_and_a_sentence() {
    for refusal in Refusal::ALL {
        assert!(refusal.name().bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{refusal:?}");
        assert!(refusal.explain().ends_with('.'), "{refusal:?}");
    }
}
