//! Every kind of statement that is not a read.

use flavour::MARIADB;
use sql::{Begin, Completion, DdlScope, Filter, Flush, FqcTopic, Isolation, Kind, LexMode, Preparation};
use sql::{
    Pattern, Selection, SelectionError, SetTransaction, Show, ShowScope, TableName, TransactionScope, Xa, classify,
};

fn kind(text: &str) -> Kind {
    classify(text.as_bytes(), LexMode::new(&MARIADB)).kind
}

fn assert_kinds(cases: &[(Kind, &[&str])]) {
    for (expected, texts) in cases {
        for text in *texts {
            assert_eq!(kind(text), *expected, "{text}");
            assert_eq!(kind(&format!("{text} ; ")), *expected, "{text}");
        }
    }
}

#[test]
fn transactions_are_understood() {
    let snapshot = Begin { consistent_snapshot: true, ..Begin::default() };
    let read_only = Begin { read_only: true, ..Begin::default() };
    let read_write = Begin { read_write: true, ..Begin::default() };
    assert_kinds(&[
        (Kind::Begin(Begin::default()), &["BEGIN", "begin work", "START TRANSACTION", "/* x */ BEGIN -- y"]),
        (Kind::Begin(snapshot), &["START TRANSACTION WITH CONSISTENT SNAPSHOT"]),
        (Kind::Begin(read_only), &["START TRANSACTION READ ONLY"]),
        (Kind::Begin(read_write), &["start transaction read write"]),
        (
            Kind::Begin(Begin { read_only: true, ..snapshot }),
            &[
                "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
                "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT",
            ],
        ),
        (Kind::Commit(Completion::default()), &["COMMIT", "commit work"]),
        (Kind::Commit(Completion { chain: Some(true), release: None }), &["COMMIT AND CHAIN"]),
        (Kind::Commit(Completion { chain: Some(false), release: Some(true) }), &["COMMIT WORK AND NO CHAIN RELEASE"]),
        (Kind::Commit(Completion { chain: None, release: Some(false) }), &["COMMIT NO RELEASE"]),
        (Kind::Rollback(Completion::default()), &["ROLLBACK", "rollback work"]),
        (Kind::Rollback(Completion { chain: Some(true), release: None }), &["ROLLBACK AND CHAIN"]),
        (Kind::RollbackToSavepoint, &["ROLLBACK TO a", "ROLLBACK WORK TO SAVEPOINT `a b`"]),
        (Kind::Savepoint, &["SAVEPOINT a"]),
        (Kind::ReleaseSavepoint, &["RELEASE SAVEPOINT a"]),
        (Kind::Xa(Xa::Start), &["XA START 'x'", "XA BEGIN 'x','y',3"]),
        (Kind::Xa(Xa::End), &["XA END 'x'"]),
        (Kind::Xa(Xa::Prepare), &["XA PREPARE 'x'"]),
        (Kind::Xa(Xa::Commit), &["XA COMMIT 'x' ONE PHASE"]),
        (Kind::Xa(Xa::Rollback), &["XA ROLLBACK x'31'"]),
        (Kind::Xa(Xa::Recover), &["XA RECOVER"]),
        (
            Kind::Opaque,
            &[
                "COMMIT x",
                "COMMIT AND x",
                "ROLLBACK TO",
                "START SLAVE",
                "START TRANSACTION x",
                "SAVEPOINT",
                "XA x",
                "SAVEPOINT a b",
            ],
        ),
    ]);
}

#[test]
fn isolation_levels_are_understood() {
    let set = |scope, isolation, read_only| Kind::SetTransaction(SetTransaction { scope, isolation, read_only });
    use TransactionScope::{Global, Next, Session};
    assert_kinds(&[
        (set(Next, Some(Isolation::ReadCommitted), None), &["SET TRANSACTION ISOLATION LEVEL READ COMMITTED"]),
        (
            set(Session, Some(Isolation::RepeatableRead), Some(true)),
            &[
                "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
                "SET LOCAL TRANSACTION READ ONLY, ISOLATION LEVEL REPEATABLE READ",
            ],
        ),
        (set(Global, Some(Isolation::Serializable), None), &["SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE"]),
        (
            set(Session, Some(Isolation::ReadUncommitted), None),
            &["set session transaction isolation level read uncommitted"],
        ),
        (set(Next, None, Some(false)), &["SET TRANSACTION READ WRITE"]),
        (Kind::Opaque, &["SET TRANSACTION", "SET TRANSACTION ISOLATION LEVEL x", "SET SESSION TRANSACTION READ x"]),
    ]);
}

#[test]
fn writes_are_understood() {
    assert_kinds(&[
        (
            Kind::Write,
            &[
                "INSERT INTO t VALUES (1)",
                "insert t set a=1",
                "INSERT INTO db.t (a, b) SELECT a, b FROM u ON DUPLICATE KEY UPDATE a=VALUES(a)",
                "INSERT IGNORE t (a) VALUES (1) RETURNING a",
                "REPLACE INTO t VALUES (1)",
                "UPDATE t SET a=1 WHERE id=2",
                "DELETE FROM t WHERE id=2",
                "DELETE t FROM t JOIN u USING (id)",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
                "LOAD XML INFILE 'x' INTO TABLE t",
                "WITH x AS (SELECT 1) UPDATE t JOIN x SET a=1",
                "WITH x AS (SELECT 1) DELETE FROM t",
                "WITH x AS (SELECT REPLACE(a,1,2) FROM t) INSERT INTO t SELECT * FROM x",
                "ANALYZE UPDATE t SET a=1",
                "ANALYZE FORMAT=JSON DELETE FROM t",
            ],
        ),
        (
            Kind::Opaque,
            &[
                "INSERT DELAYED INTO t VALUES (1)",
                "REPLACE DELAYED t VALUES (1)",
                "LOAD INDEX INTO CACHE t",
                "INSERT /*! IGNORE */ INTO t VALUES (1)",
            ],
        ),
    ]);
}

#[test]
fn a_flush_of_counters_without_a_scope_means_all_of_them_in_older_lines() {
    for (version, expected) in [("11.4.5-MariaDB", Flush::Status), ("11.8.9-MariaDB", Flush::SessionStatus)] {
        let mode = LexMode::new(flavour::of(version));
        assert_eq!(classify(b"FLUSH STATUS", mode).kind, Kind::Flush(expected), "{version}");
    }
}

#[test]
fn routine_kinds_are_told_apart() {
    assert_kinds(&[
        (Kind::Call, &["CALL p(1)", "call db.p"]),
        (Kind::Execute(Some(b"s".into())), &["EXECUTE s", "EXECUTE `S` USING @a, @`b c`"]),
        (
            Kind::Execute(None),
            &["EXECUTE s USING f()", "EXECUTE s USING @a := 1", "EXECUTE `s `", "EXECUTE ś", "EXECUTE"],
        ),
        (
            Kind::Prepare(Some(Preparation { name: b"s".into(), text: b"SELECT 'a'".into() })),
            &["PREPARE s FROM 'SELECT ''a'''", "prepare S from \"SELECT 'a'\""],
        ),
        (
            Kind::Prepare(None),
            &[
                "PREPARE s FROM @a",
                "PREPARE s FROM CONCAT('a', 'b')",
                "PREPARE s FROM 'SELECT \\'a\\''",
                "PREPARE s FROM 'SELECT' ' 1'",
                "PREPARE s FROM 'SELECT \"ä\"'",
                "PREPARE `s ` FROM 'SELECT 1'",
                "PREPARE s FROM _latin1'SELECT 1'",
                "PREPARE s FROM x'53'",
            ],
        ),
        (Kind::Deallocate, &["DEALLOCATE PREPARE s", "DROP PREPARE s"]),
        (
            Kind::Compound,
            &["EXECUTE IMMEDIATE 'x'", "BEGIN NOT ATOMIC COMMIT END", "IF 1 THEN COMMIT END IF", "BEGIN COMMIT"],
        ),
        (Kind::Do, &["DO 1", "DO f(1)", "DO RELEASE_LOCK('a')"]),
        (
            Kind::Explain,
            &[
                "EXPLAIN SELECT 1",
                "DESC t",
                "DESCRIBE t a",
                "EXPLAIN UPDATE t SET a=1",
                "ANALYZE SELECT * FROM t",
                "ANALYZE FORMAT=JSON SELECT 1",
            ],
        ),
        (Kind::Handler, &["HANDLER t OPEN", "HANDLER t READ FIRST"]),
        (Kind::LockTables, &["LOCK TABLES t READ, u WRITE", "LOCK TABLE t READ"]),
        (Kind::UnlockTables, &["UNLOCK TABLES", "UNLOCK TABLE"]),
        (Kind::Kill, &["KILL 5", "KILL QUERY 5", "KILL USER a"]),
        (Kind::Use(b"db".to_vec()), &["USE db", "use `db`"]),
        (Kind::Flush(Flush::QueryCache), &["FLUSH QUERY CACHE", "FLUSH LOCAL QUERY CACHE"]),
        (Kind::Flush(Flush::Status), &["FLUSH GLOBAL STATUS"]),
        (
            Kind::Flush(Flush::SessionStatus),
            &["FLUSH STATUS", "flush no_write_to_binlog status", "FLUSH SESSION STATUS"],
        ),
        (
            Kind::Flush(Flush::Other),
            &[
                "FLUSH GLOBAL TABLES",
                "FLUSH TABLES",
                "FLUSH PRIVILEGES",
                "FLUSH STATUS, TABLES",
                "FLUSH TABLES WITH READ LOCK",
            ],
        ),
        (Kind::ResetQueryCache, &["RESET QUERY CACHE"]),
        (
            Kind::Harmless,
            &[
                "HELP 'select'",
                "CHECKSUM TABLE t",
                "GET DIAGNOSTICS @a = NUMBER",
                "GET CURRENT DIAGNOSTICS @a = ROW_COUNT",
            ],
        ),
        (
            Kind::CreateTemporary,
            &[
                "CREATE TEMPORARY TABLE t (a INT)",
                "CREATE OR REPLACE TEMPORARY TABLE t SELECT 1",
                "CREATE TEMPORARY SEQUENCE s",
            ],
        ),
        (
            Kind::DropTemporary { may_be_missing: false },
            &["DROP TEMPORARY TABLE t", "DROP TEMPORARY TABLE `if`, u", "DROP TEMPORARY SEQUENCE s"],
        ),
        (
            Kind::DropTemporary { may_be_missing: true },
            &["DROP TEMPORARY TABLE IF EXISTS t", "drop temporary /* */ tables if exists t"],
        ),
        (Kind::Empty, &["", " ", "-- x\n", "/* x */", ";", ";; "]),
    ]);
}

#[test]
fn a_backup_commits_and_changes_no_table() {
    let commits = Kind::Ddl(DdlScope::Tables(Vec::new()));
    assert_kinds(&[(commits, &["BACKUP STAGE START", "backup stage block_commit", "BACKUP LOCK t", "BACKUP UNLOCK"])]);
}

#[test]
fn what_is_not_understood_is_opaque() {
    assert_kinds(&[(
        Kind::Opaque,
        &[
            "SHUTDOWN",
            "RESET MASTER",
            "RESET QUERY CACHE, MASTER",
            "PURGE BINARY LOGS TO 'x'",
            "CHANGE MASTER TO MASTER_HOST='x'",
            "BINLOG 'x'",
            "CACHE INDEX t IN c",
            "SIGNAL SQLSTATE '45000'",
            "label: BEGIN END",
            "nonsense",
            "USE",
            "USE a b",
            "LOCK INSTANCE FOR BACKUP",
            "STOP SLAVE",
            "'text'",
            "(INSERT INTO t VALUES (1))",
            "`select` 1",
            "/*!40101 SET NAMES utf8 */",
            "/*! DROP TABLE t */",
            "SELECT 1 /*! ' */ ; DROP TABLE t -- ' */",
            "WITH x AS (SELECT 1) /*! DELETE FROM t */ SELECT 1",
            "SELECT 'unfinished",
            "SELECT `unfinished",
            "SELECT 1 /* unfinished",
            "SELECT x'1",
            "SELECT 1 \0 FROM t",
            "SELECT 1 -- \0\nFROM t",
            "SELECT \\ FROM t",
            "SELECT `a\0b` FROM t",
        ],
    )]);
}

#[test]
fn several_statements_about_rows_are_several() {
    for text in [
        "SELECT 1; SELECT 2",
        "SELECT 1 FROM t; -- x",
        "BEGIN; COMMIT",
        ";SELECT 1",
        "START TRANSACTION; UPDATE t SET a = ';' WHERE id = 1; INSERT INTO t VALUES (1); COMMIT;;",
    ] {
        assert_eq!(kind(text), Kind::Several, "{text}");
        assert!(classify(text.as_bytes(), LexMode::new(&MARIADB)).reads_diagnostics, "{text}");
    }
}

#[test]
fn other_statements_in_one_text_are_multiple() {
    for text in [
        "SET a=1; SET b=2",
        "SELECT 1; CALL p()",
        "COMMIT AND CHAIN; SELECT 1",
        "UPDATE t SET a = 1; DROP TABLE t",
        "INSERT DELAYED INTO t VALUES (1); SELECT 1",
        "SELECT ';' FROM t; x",
        "CREATE PROCEDURE p() BEGIN SELECT 1; END",
        "BEGIN NOT ATOMIC COMMIT; END",
        "SELECT 1;/*! x */",
    ] {
        assert_eq!(kind(text), Kind::Multiple, "{text}");
        assert!(classify(text.as_bytes(), LexMode::new(&MARIADB)).reads_diagnostics, "{text}");
    }
}

fn tables(names: &[&str]) -> Kind {
    let name = |name: &str| match name.split_once('.') {
        Some((db, name)) => TableName { db: Some(db.into()), name: name.into() },
        None => TableName { db: None, name: name.into() },
    };
    Kind::Ddl(DdlScope::Tables(names.iter().map(|text| name(text)).collect()))
}

#[test]
fn definitions_of_plain_tables_name_them() {
    assert_kinds(&[
        (
            tables(&["t"]),
            &[
                "TRUNCATE t",
                "TRUNCATE TABLE t",
                "truncate table `t` WAIT 5",
                "CREATE TABLE t (a INT)",
                "CREATE OR REPLACE TABLE t (a INT)",
                "CREATE TABLE IF NOT EXISTS t LIKE u",
                "CREATE TABLE t SELECT * FROM u",
                "DROP TABLE t",
                "DROP TABLE IF EXISTS t CASCADE",
                "ALTER TABLE t ADD COLUMN b INT",
                "ALTER ONLINE TABLE t ENGINE=InnoDB",
                "ALTER IGNORE TABLE IF EXISTS t DROP COLUMN b",
                "ALTER TABLE t DROP PARTITION p0",
                "ALTER TABLE t TRUNCATE PARTITION p0",
                "ALTER TABLE t DISCARD TABLESPACE",
                "CREATE INDEX i ON t (a)",
                "CREATE UNIQUE INDEX i USING BTREE ON t (a)",
                "CREATE OR REPLACE INDEX IF NOT EXISTS i ON t (a)",
                "CREATE FULLTEXT INDEX i ON t (a)",
                "DROP INDEX i ON t",
                "DROP INDEX IF EXISTS i ON t",
                "ANALYZE TABLE t",
                "OPTIMIZE LOCAL TABLE t",
                "REPAIR TABLE t QUICK",
                "CHECK TABLE t EXTENDED",
                "ANALYZE NO_WRITE_TO_BINLOG TABLE t",
            ],
        ),
        (
            tables(&["d.t"]),
            &["TRUNCATE d.t", "DROP TABLE d . t", "ALTER TABLE `d`.`t` ADD b INT", "CREATE INDEX i ON d.t (a)"],
        ),
        (tables(&["a", "d.b"]), &["DROP TABLES a, d.b", "OPTIMIZE TABLE a, `d`.`b`", "CHECK TABLES a, d.b"]),
    ]);
}

#[test]
fn all_other_definitions_touch_everything() {
    let texts: &[&str] = &[
        "RENAME TABLE a TO b",
        "RENAME USER a TO b",
        "ALTER TABLE t RENAME TO u",
        "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u",
        "ALTER TABLE t CONVERT PARTITION p TO TABLE u",
        "ALTER TABLE t UNION=(a,b)",
        "ALTER DATABASE d CHARACTER SET utf8",
        "ALTER VIEW v AS SELECT 1",
        "ALTER EVENT e ENABLE",
        "ALTER SEQUENCE s RESTART",
        "CREATE VIEW v AS SELECT 1",
        "CREATE OR REPLACE VIEW v AS SELECT 1",
        "DROP VIEW v",
        "DROP DATABASE d",
        "CREATE DATABASE d",
        "CREATE FUNCTION f() RETURNS INT RETURN 1",
        "DROP FUNCTION f",
        "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW SET NEW.a=1",
        "DROP TRIGGER x",
        "CREATE USER u",
        "CREATE DEFINER=root@localhost VIEW v AS SELECT 1",
        "GRANT SELECT ON t TO u",
        "REVOKE ALL ON t FROM u",
        "INSTALL SONAME 'x'",
        "UNINSTALL PLUGIN x",
        "CREATE SEQUENCE s",
        "DROP SEQUENCE s",
        "CHECK VIEW v",
        "REPAIR VIEW v",
        "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x')",
        "DROP TABLE",
        "TRUNCATE 'x'",
        "CREATE INDEX ON",
        "CREATE ROLE r",
        "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO COMMIT",
    ];
    assert_kinds(&[(Kind::Ddl(DdlScope::Everything), texts)]);
}

#[test]
fn show_is_understood_where_its_answer_is_ours() {
    let (session, global) = (ShowScope::Session, ShowScope::Global);
    let like = |pattern: &str| Filter::Like(pattern.into());
    let all = || Ok(Selection::All);
    let show = Kind::Show;
    assert_kinds(&[
        (
            show(Show::Status { scope: session, filter: Filter::None }),
            &["SHOW STATUS", "SHOW SESSION STATUS", "show local status"],
        ),
        (show(Show::Status { scope: global, filter: like("Qcache%") }), &["SHOW GLOBAL STATUS LIKE 'Qcache%'"]),
        (
            show(Show::Variables { scope: session, filter: like("query\\_cache%") }),
            &["SHOW VARIABLES LIKE 'query\\_cache%'"],
        ),
        (
            show(Show::Variables { scope: global, filter: Filter::Other }),
            &["SHOW GLOBAL VARIABLES WHERE Variable_name='a'"],
        ),
        (show(Show::Warnings), &["SHOW WARNINGS", "SHOW WARNINGS LIMIT 3"]),
        (show(Show::Errors), &["SHOW ERRORS"]),
        (show(Show::CountWarnings), &["SHOW COUNT(*) WARNINGS"]),
        (show(Show::CountErrors), &["SHOW COUNT( * ) ERRORS"]),
        (
            show(Show::Fqc { topic: FqcTopic::Status, rows: all() }),
            &["SHOW FQC STATUS", "show fqc status", "SHOW FQC STATUS ; "],
        ),
        (
            show(Show::Fqc { topic: FqcTopic::Queries, rows: Ok(Selection::Like(Pattern::new("%a%", true))) }),
            &["SHOW FQC QUERIES LIKE '%a%'"],
        ),
        (show(Show::Fqc { topic: FqcTopic::Tables, rows: all() }), &["SHOW FQC TABLES"]),
        (show(Show::Fqc { topic: FqcTopic::Reasons, rows: all() }), &["SHOW FQC REASONS"]),
        (
            show(Show::Fqc { topic: FqcTopic::Curve, rows: Err(SelectionError::Syntax(Some(15))) }),
            &["SHOW FQC CURVE x"],
        ),
        (
            show(Show::Other),
            &[
                "SHOW TABLES",
                "SHOW CREATE TABLE t",
                "SHOW FQC x",
                "SHOW MASTER STATUS",
                "SHOW",
                "SHOW COUNT(1) WARNINGS",
            ],
        ),
    ]);
}

#[test]
fn set_statement_carries_the_statement_within() {
    let Kind::SetStatement(inner) =
        kind("SET STATEMENT max_statement_time=(SUBSTRING('1' FROM 1 FOR 1)) FOR SELECT a FROM t")
    else {
        panic!("not a SET STATEMENT");
    };
    assert!(matches!(inner.kind, Kind::Read(read) if read.refusal.is_none()));
    let Kind::SetStatement(inner) = kind("SET STATEMENT a=1 FOR SET STATEMENT b=2 FOR COMMIT") else {
        panic!("not a SET STATEMENT");
    };
    assert_eq!(inner.kind, Kind::Opaque);
    assert_eq!(kind("SET STATEMENT a=1"), Kind::Opaque);
    assert_eq!(kind("SET STATEMENT a=1, `Character_Set_Results`=latin1 FOR SELECT 1"), Kind::Opaque);
}

#[test]
fn statements_that_ask_about_the_one_before_are_known() {
    for (text, expected) in [
        ("SHOW WARNINGS", true),
        ("SHOW ERRORS", true),
        ("SHOW COUNT(*) WARNINGS", true),
        ("SHOW STATUS", false),
        ("GET DIAGNOSTICS @n = ROW_COUNT", true),
        ("CALL p()", true),
        ("EXECUTE s", true),
        ("EXECUTE IMMEDIATE 'x'", true),
        ("nonsense", true),
        ("INSERT INTO t (a) VALUES (1)", false),
        ("INSERT INTO d.t(a) VALUES (1)", false),
        ("INSERT INTO t VALUES (FOUND_ROWS())", true),
        ("REPLACE t (a) VALUES (f())", true),
        ("UPDATE t SET a=ROW_COUNT()", true),
        ("UPDATE t SET a=CONCAT(b)", false),
        ("SET @a = FOUND_ROWS()", true),
        ("SET @a = @@warning_count", true),
        ("SET a = 1", false),
        ("DO f()", true),
        ("BEGIN", false),
        ("COMMIT", false),
        ("USE d", false),
        ("PREPARE s FROM 'x'", false),
        ("SET STATEMENT a=1 FOR SELECT ROW_COUNT()", true),
    ] {
        assert_eq!(classify(text.as_bytes(), LexMode::new(&MARIADB)).reads_diagnostics, expected, "{text}");
    }
}

#[test]
fn only_plain_writes_of_one_table_certainly_search_nothing() {
    let searches = |text: &str| sql::may_search(text.as_bytes(), LexMode::new(&MARIADB));
    for plain in [
        "INSERT INTO t (a, b) VALUES (1, 2) ON DUPLICATE KEY UPDATE a = 3",
        "REPLACE t SET a = 1, b = 2",
        "UPDATE t SET a = 1, b = (2) WHERE id IN (1, 2)",
        "UPDATE LOW_PRIORITY d.t SET a = 'select'",
        "DELETE QUICK FROM t WHERE `using` = 1",
        "SET @a = 1, @b = 2",
    ] {
        assert!(!searches(plain), "{plain}");
    }
    for other in [
        "INSERT INTO t SELECT 1",
        "INSERT INTO t VALUES ((SELECT 1))",
        "UPDATE t, u SET t.a = 1",
        "UPDATE t JOIN u SET t.a = 1",
        "UPDATE (SELECT 1) AS x SET a = 1",
        "DELETE t FROM t",
        "DELETE FROM t USING t, u",
        "WITH x AS (SELECT 1) DELETE FROM t",
        "SET @a = (SELECT 1)",
        "LOAD DATA INFILE 'f' INTO TABLE t",
        "INSERT INTO t /*!50000 SELECT 1 */",
        "INSERT INTO t VALUES ('unfinished",
    ] {
        assert!(searches(other), "{other}");
    }
}

#[test]
fn what_is_prepared_is_told_by_a_plain_literal_alone() {
    let may_make = |text: &str| sql::may_create_temporary_table(text.as_bytes(), LexMode::new(&MARIADB));
    for text in ["PREPARE p FROM 'SELECT 1'", "EXECUTE IMMEDIATE 'SELECT ?' USING 1", "EXECUTE p", "DO 1; DO 2"] {
        assert!(!may_make(text), "{text}");
    }
    for text in [
        "PREPARE p FROM 'create Temporary table t (a int)'",
        "PREPARE p FROM @s",
        "PREPARE p FROM x",
        "PREPARE p FROM x'41'",
        "PREPARE p FROM 'create tempo' 'rary table t (a int)'",
        "PREPARE p FROM CONCAT('create tempo', 'rary table t (a int)')",
        "EXECUTE IMMEDIATE 'create tempo\\rary table t (a int)'",
        "EXECUTE IMMEDIATE NAME_CONST('x', 'SELECT 1')",
        "DO 1; CREATE TEMPORARY TABLE t (a int)",
    ] {
        assert!(may_make(text), "{text}");
    }
}

#[test]
fn values_alone_leave_the_number_of_rows_found() {
    let leaves = |text: &str| matches!(kind(text), Kind::Read(read) if read.leaves_found_rows);
    for text in ["VALUES (1), (2)", "values ('a', 1);"] {
        assert!(leaves(text), "{text}");
    }
    for text in ["VALUES (1), (2) LIMIT 1", "VALUES ((SELECT 1))", "VALUES (f())", "(VALUES (1))", "SELECT 1"] {
        assert!(!leaves(text), "{text}");
    }
}

#[test]
fn a_function_that_is_not_built_in_may_be_a_stored_one() {
    for (text, expected) in [
        ("SELECT 1", false),
        ("SELECT NOW(), COUNT(*) FROM t WHERE a IN (1, 2)", false),
        ("SET @a = (SELECT MAX(a) FROM t)", false),
        ("SHOW STATUS LIKE 'f()'", false),
        ("INSERT INTO f (a) VALUES (1)", false),
        ("SELECT f()", true),
        ("SELECT d.now()", true),
        ("SELECT `now`()", true),
        ("SELECT now ()", true),
        ("SELECT NOW(), f(1) FROM t", true),
        ("SHOW STATUS WHERE Value = f()", true),
        ("DO f()", true),
        ("SELECT /*!50000 f() */ 1", true),
        ("SELECT 1; SELECT f()", true),
        ("nonsense", true),
        ("SELECT 'open", true),
    ] {
        assert_eq!(classify(text.as_bytes(), LexMode::new(&MARIADB)).may_call_stored, expected, "{text}");
    }
}

#[test]
fn an_expression_may_write_by_the_way() {
    let may_write = |text: &str| classify(text.as_bytes(), LexMode::new(&MARIADB)).may_write_by_the_way;
    for text in [
        "SELECT @@SESSION.sql_mode",
        "SELECT NOW(), FOUND_ROWS(), LAST_INSERT_ID(), DATABASE(), @a",
        "SELECT SQL_CALC_FOUND_ROWS v FROM t",
        "SELECT table_name FROM information_schema.tables",
        "SET NAMES utf8mb4",
        "SET SESSION sql_mode = @@GLOBAL.sql_mode, @a = CONCAT(@a, NOW())",
    ] {
        assert!(!may_write(text), "{text}");
    }
    for text in [
        "SELECT @@sql_mode, f()",
        "SELECT NOW(), now (), d.now()",
        "SELECT NOW(), GET_LOCK('a', 1)",
        "SELECT NOW(), NEXTVAL(s)",
        "SELECT NOW() FROM t FOR UPDATE",
        "SELECT NOW() INTO OUTFILE 'f' FROM t",
        "SELECT NOW() /*! , f() */",
        "SELECT NOW() FROM t PROCEDURE ANALYSE()",
        "SET @a = f()",
        "SET @a = NOW(), @b = NEXTVAL(s)",
        "SELECT NOW(); DELETE FROM t",
        "nonsense",
    ] {
        assert!(may_write(text), "{text}");
    }
}
