//! Reads of views. They are cached if the definitions allow it, they are never stale, and they never show more than the account may see.

mod traps;

use fqc_tests::client::{Client, Login};
use fqc_tests::server::Server;
use std::sync::Arc;
use traps::{Arena, all, rows_text, small_table, start, until, with_table};

const CONTROL: &str = "SELECT v FROM t WHERE id = 1";

/// The number of results that were not stored for this reason.
fn count(server: &Server, reason: &str) -> u64 {
    let rows = rows_text(&server.admin().unwrap().must("SHOW FQC REASONS").unwrap());
    rows.split(';')
        .find_map(|row| row.strip_prefix(reason)?.strip_prefix(',')?.split(',').next()?.parse().ok())
        .unwrap_or(0)
}

/// Checks that the result of a read is never stored, and that this reason is counted.
#[track_caller]
fn refused(arena: &mut Arena, client: &mut Client, read: &str, reason: &str) {
    let before = count(&arena.server, reason);
    until(&format!("`{read}` refused as {reason}:\n{}", arena.server.reasons()), || {
        let (response, is_hit) = arena.ask(client, read);
        assert!(response.failure().is_none(), "`{read}`: {:?}", response.failure());
        assert!(!is_hit, "`{read}` was kept");
        count(&arena.server, reason) > before
    });
    (0..3).for_each(|_| assert!(!arena.ask(client, read).1, "`{read}` was kept"));
}

fn account(arena: &Arena, user: &str) -> Login {
    Login { user: user.into(), password: user.into(), database: None, ..arena.login() }
}

#[test]
fn reads_of_views_are_kept_and_follow_their_tables() {
    let kinds =
        [("InnoDB", "MERGE"), ("InnoDB", "TEMPTABLE"), ("MyISAM", "MERGE"), ("Aria", "TEMPTABLE"), ("MEMORY", "MERGE")];
    for (number, (engine, algorithm)) in kinds.into_iter().enumerate() {
        let mut arena = Arena::enter(&format!("v_follow{number}"));
        let (mut writer, mut reader) = (arena.client(), arena.client());
        small_table(&mut writer, "t", engine);
        writer.must(&format!("CREATE ALGORITHM = {algorithm} VIEW w AS SELECT id, v * 2 AS v FROM t")).unwrap();
        let write = || drop(writer.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap());
        arena.check_write_shows(&mut reader, "SELECT v FROM w WHERE id = 1", write, "22");
        let write = || drop(writer.must("UPDATE t SET v = v + 1 WHERE id = 2").unwrap());
        arena.check_write_shows(&mut reader, "SELECT SUM(v) FROM w", write, "304");
        let prepared = reader.prepare("SELECT v FROM w WHERE id = ?").unwrap().1.unwrap();
        let two = [fqc_tests::client::Param::Int(2)];
        arena.warm_prepared(&mut reader, &prepared, &two);
        writer.must("UPDATE t SET v = v + 1 WHERE id = 2").unwrap();
        let (response, is_hit) = arena.ask_prepared(&mut reader, &prepared, &two);
        assert_eq!((traps::binary_rows_text(&response).as_str(), is_hit), ("44", false));
    }
}

#[test]
fn every_definition_that_says_the_same_at_all_times_is_kept() {
    let (mut arena, mut definer, mut reader) = with_table("v_fit");
    small_table(&mut definer, "u", "InnoDB");
    all(
        &mut definer,
        &[
            "CREATE DATABASE v_fit2",
            "CREATE TABLE h (id INT, v INT) WITH SYSTEM VERSIONING",
            "INSERT INTO h VALUES (1, 1)",
            "UPDATE h SET v = 2",
        ],
    );
    let bodies = [
        "SELECT id, v FROM v_fit.t WHERE v > 10 ORDER BY v DESC LIMIT 3",
        r"SELECT x.id, UPPER(CONCAT('a''\\b\n`', u.v)) AS v FROM v_fit.t x LEFT JOIN v_fit.u ON x.id = u.id AND u.v > 20",
        "SELECT COUNT(*) AS id, MAX(v) AS v FROM v_fit.t GROUP BY id HAVING v > 20",
        "SELECT id, v FROM v_fit.t UNION ALL SELECT v, id FROM v_fit.u",
        "SELECT id, (SELECT SUM(v) FROM v_fit.u WHERE u.id <= x.id) AS v FROM v_fit.t x \
         WHERE EXISTS (SELECT 1 FROM v_fit.u WHERE u.id = x.id)",
        "WITH RECURSIVE c (id, v) AS (SELECT id, v FROM v_fit.t WHERE id = 1 UNION ALL \
         SELECT id + 1, v + 1 FROM c WHERE id < 9) SELECT * FROM c",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY v ORDER BY id) AS v FROM v_fit.t",
        "SELECT d.id, d.v FROM (SELECT id, v FROM v_fit.t LIMIT 2) AS d",
        "SELECT id, CASE WHEN v IN (10, 20) THEN DATE_ADD('2020-01-01', INTERVAL id DAY) ELSE CAST(v AS CHAR) END AS v \
         FROM v_fit.t",
        "SELECT id, GROUP_CONCAT(DISTINCT v ORDER BY v SEPARATOR '-') AS v FROM v_fit.t GROUP BY id",
        "SELECT id, v FROM v_fit.h",
        "SELECT id, v FROM v_fit.t USE INDEX (PRIMARY) WHERE id BETWEEN 1 AND 3",
        "SELECT id, DATABASE() AS v FROM v_fit.t",
    ];
    for (number, body) in bodies.into_iter().enumerate() {
        all(
            &mut definer,
            &[
                &format!("CREATE VIEW v_fit2.w{number} AS {body}"),
                &format!("CREATE VIEW n{number} AS SELECT id AS a, v AS b FROM v_fit2.w{number}"),
                &format!("CREATE VIEW m{number} AS SELECT x.a FROM n{number} AS x, u WHERE u.id = 1"),
            ],
        );
        for read in [
            format!("SELECT * FROM v_fit2.w{number}"),
            format!("SELECT b, a FROM n{number}"),
            format!("SELECT * FROM `m{number}`, u WHERE u.id = 2"),
        ] {
            let expected = arena.server_answer(&read);
            assert_eq!(arena.warm(&mut reader, &read), expected, "{body}");
        }
    }
    definer.must("DROP DATABASE v_fit2").unwrap();
}

#[test]
fn each_definition_that_may_not_be_kept_has_its_reason() {
    let (mut arena, mut definer, mut reader) = with_table("v_unfit");
    all(
        &mut definer,
        &[
            "CREATE FUNCTION f() RETURNS INT DETERMINISTIC RETURN 1",
            "CREATE SEQUENCE s",
            "CREATE TABLE h (id INT, v INT) WITH SYSTEM VERSIONING",
            "CREATE VIEW clock AS SELECT NOW(6) AS n FROM t",
        ],
    );
    let long = format!("SELECT '{}' AS n FROM t", "x".repeat(17_000));
    let calls = "NOW(); CURRENT_TIMESTAMP; CURDATE(); CURRENT_TIME; UTC_DATE(); SYSDATE(); UNIX_TIMESTAMP(); RAND(); UUID(); \
                 CURRENT_USER(); USER(); SESSION_USER(); CURRENT_ROLE(); CONNECTION_ID(); LAST_INSERT_ID(); ROW_COUNT(); \
                 FOUND_ROWS(); GET_LOCK('v_unfit', 0); SLEEP(0); BENCHMARK(1, 1); f(); v_unfit.f(); CAST(v AS TIME); \
                 MAKETIME(1, 2, 3); TIME'10:00:00'; @@session.sql_mode; @@time_zone; DEFAULT(v); LOAD_FILE('x'); \
                 DATE(NOW()); (SELECT MAX(NOW())); CASE WHEN v > 1 THEN RAND(3) ELSE 2 END";
    let calls = calls.split("; ").map(|call| (format!("SELECT {call} AS n FROM t"), "view_function"));
    let others = [
        ("SELECT n FROM clock", "view_function"),
        ("SELECT NEXTVAL(s) AS n FROM t", "wrote_table"),
        ("SELECT NEXT VALUE FOR s AS n FROM t", "wrote_table"),
        ("SELECT LASTVAL(s) AS n FROM t", "sequence"),
        ("SELECT 1 AS n FROM t WHERE v < RAND()", "view_function"),
        ("SELECT v AS n FROM t GROUP BY v HAVING MAX(id) < RAND() * 100", "view_function"),
        ("SELECT v AS n FROM t JOIN (SELECT NOW() AS x) AS d", "view_function"),
        ("WITH c AS (SELECT NOW() AS x) SELECT v AS n FROM t, c", "view_function"),
        ("SELECT 1 AS n UNION SELECT v FROM t WHERE id = CONNECTION_ID()", "view_function"),
        ("SELECT COUNT(*) AS n FROM information_schema.PROCESSLIST, t", "view_system_schema"),
        ("SELECT User AS n FROM mysql.global_priv, t LIMIT 1", "system_table"),
        ("SELECT SQL_NO_CACHE v AS n FROM t", "sql_no_cache"),
        (long.as_str(), "view"),
    ]
    .map(|(body, reason)| (body.to_owned(), reason));
    for (body, reason) in calls.chain(others) {
        let made = definer.query(format!("CREATE OR REPLACE VIEW w AS {body}")).unwrap();
        if let Some(failure) = made.failure() {
            // The server allows this body in no view at all.
            assert!([1351, 1064].contains(&failure.code), "`{body}`: {failure:?}");
            continue;
        }
        definer.must("CREATE OR REPLACE VIEW ww AS SELECT n FROM w").unwrap();
        refused(&mut arena, &mut reader, "SELECT COUNT(n) FROM w", reason);
        for read in ["SELECT 1 FROM t, (SELECT n FROM `w` LIMIT 1) AS d", "SELECT 1 FROM t, v_unfit.ww"] {
            (0..3).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept: {body}"));
        }
    }
    arena.warm(&mut reader, CONTROL);
}

#[test]
fn a_new_definition_outdates_what_was_read_by_the_old_one() {
    let (mut arena, mut definer, mut reader) = with_table("v_anew");
    small_table(&mut definer, "u", "InnoDB");
    all(
        &mut definer,
        &[
            "UPDATE u SET v = v + 1000",
            "CREATE DATABASE v_anew2",
            "CREATE VIEW w AS SELECT id, v FROM t",
            "CREATE VIEW v_anew2.x AS SELECT v + 1 AS v FROM v_anew.w WHERE id = 1",
        ],
    );
    let steps = [
        ("CREATE OR REPLACE VIEW w AS SELECT id, v + 5 AS v FROM t", "16"),
        ("ALTER VIEW w AS SELECT id, v FROM u", "1011"),
        ("ALTER ALGORITHM = TEMPTABLE VIEW w AS SELECT id, v FROM u", "1011"),
        ("UPDATE u SET v = 3 WHERE id = 1", "4"),
        ("UPDATE w SET v = 4 WHERE id = 1", "error 1288"),
        ("DROP VIEW w; CREATE VIEW w AS SELECT id, v FROM t", "11"),
        ("RENAME TABLE w TO y, u TO w, y TO u", "4"),
        ("RENAME TABLE w TO y, u TO w, y TO u", "11"),
        ("ALTER TABLE t ADD COLUMN z INT DEFAULT 1 FIRST", "11"),
        ("ALTER TABLE t MODIFY v VARCHAR(9)", "11"),
        ("DROP VIEW w; CREATE TABLE w SELECT 1 AS id, 70 AS v", "71"),
        ("DROP TABLE w; CREATE VIEW w AS SELECT id, v FROM t", "11"),
        ("CREATE PROCEDURE p() CREATE OR REPLACE VIEW v_anew.w AS SELECT id, 1 AS v FROM v_anew.t; CALL p()", "2"),
        ("PREPARE q FROM 'CREATE OR REPLACE VIEW w AS SELECT id, 2 AS v FROM t'; EXECUTE q", "3"),
        ("EXECUTE IMMEDIATE 'CREATE OR REPLACE VIEW w AS SELECT id, 3 AS v FROM t'", "4"),
        ("BEGIN NOT ATOMIC CREATE OR REPLACE VIEW w AS SELECT id, 4 AS v FROM t; END", "5"),
        ("CREATE OR REPLACE VIEW v_anew2.x AS SELECT v FROM v_anew.u WHERE id = 1", "3"),
        (
            "SET STATEMENT max_statement_time = 9 FOR CREATE OR REPLACE VIEW v_anew2.x AS SELECT 9 AS v FROM v_anew.u LIMIT 1",
            "9",
        ),
    ];
    let read = "SELECT v FROM v_anew2.x";
    for (step, expected) in steps {
        let old = arena.warm(&mut reader, read);
        // The server refuses one of the steps.
        let response = definer.query(step).unwrap();
        let expected = if response.failure().is_some() { old.as_str() } else { expected };
        assert_eq!(rows_text(&reader.query(read).unwrap()), expected, "`{read}` after `{step}`");
        assert_eq!(arena.server_answer(read), expected);
    }
    definer.must("DROP VIEW v_anew2.x").unwrap();
    (0..3).for_each(|_| arena.miss(&mut reader, read, "error 1146"));
    all(&mut definer, &["CREATE VIEW v_anew2.x AS SELECT v FROM v_anew.w WHERE id = 1"]);
    arena.warm(&mut reader, read);
    definer.must("DROP TABLE t").unwrap();
    (0..3).for_each(|_| arena.miss(&mut reader, read, "error 1356"));
    small_table(&mut definer, "t", "InnoDB");
    assert_eq!(arena.warm(&mut reader, read), arena.server_answer(read));
    definer.must("DROP DATABASE v_anew2").unwrap();
    (0..3).for_each(|_| arena.miss(&mut reader, read, "error 1146"));
}

/// Checks that results of a view are served again after its definition has become cacheable again. Results of another definition in between
/// must not be served.
#[test]
fn a_definition_that_may_be_kept_again_is() {
    let (mut arena, mut definer, mut reader) = with_table("v_again");
    definer.must("CREATE VIEW w AS SELECT v FROM t WHERE id = 1").unwrap();
    for _ in 0..3 {
        arena.warm(&mut reader, "SELECT v FROM w");
        definer.must("CREATE OR REPLACE VIEW w AS SELECT SYSDATE(6) AS v FROM t WHERE id = 1").unwrap();
        let mut seen: Vec<_> = (0..6).map(|_| rows_text(&reader.query("SELECT v FROM w").unwrap())).collect();
        seen.dedup();
        assert_eq!(seen.len(), 6, "a moment was told twice: {seen:?}");
        definer.must("CREATE OR REPLACE VIEW w AS SELECT v FROM t WHERE id = 1").unwrap();
        arena.hits();
        assert_eq!(arena.warm(&mut reader, "SELECT v FROM w"), "10");
    }
}

#[test]
fn the_name_of_a_view_elsewhere_stops_nothing() {
    let (mut arena, mut definer, mut reader) = with_table("v_names");
    all(
        &mut definer,
        &[
            "CREATE DATABASE v_names2",
            "CREATE VIEW v_names2.t AS SELECT SYSDATE(6) AS v, 1 AS id",
            "CREATE VIEW v_names2.other AS SELECT SYSDATE(6) AS v",
            "CREATE VIEW v AS SELECT SYSDATE(6) AS n FROM t",
            "CREATE VIEW id AS SELECT SYSDATE(6) AS n FROM t",
            "CREATE TABLE other SELECT 5 AS v",
        ],
    );
    for read in [
        CONTROL,
        "SELECT v, id FROM t AS v ORDER BY v, id",
        "SELECT v.v FROM t AS v WHERE v.id IN (1, v)",
        "SELECT other.v FROM other",
        "SELECT v_names.t.v, v_names.t.id FROM v_names.t GROUP BY v, id",
        "SELECT (SELECT MAX(v) FROM other) AS v, 'FROM v, id' FROM t",
    ] {
        let expected = arena.server_answer(read);
        assert_eq!(arena.warm(&mut reader, read), expected, "{read}");
    }
    // In this database the same text names the views.
    let mut inside = arena.client_with(&["USE v_names2"]);
    for read in ["SELECT v FROM t WHERE id = 1", "SELECT other.v FROM other"] {
        let read = format!("{read}, v_names.t AS x LIMIT 1").replace(" WHERE id = 1,", ",");
        (0..5).for_each(|_| assert!(!arena.ask(&mut inside, &read).1, "`{read}` was kept"));
    }
    let prepared = inside.prepare("SELECT t.v FROM t, v_names.t AS x LIMIT 1").unwrap().1.unwrap();
    inside.must("USE v_names").unwrap();
    (0..5).for_each(|_| assert!(!arena.ask_prepared(&mut inside, &prepared, &[]).1, "prepared where the view is"));
    definer.must("DROP DATABASE v_names2").unwrap();
}

#[test]
fn every_place_where_a_view_can_be_named_is_seen() {
    let (mut arena, mut definer, mut reader) = with_table("v_places");
    small_table(&mut definer, "u", "InnoDB");
    definer.must("CREATE VIEW w AS SELECT id, v, SYSDATE(6) AS n FROM u").unwrap();
    for read in [
        "SELECT w.n FROM t, w",
        "SELECT w.n FROM t,w",
        "SELECT n FROM t JOIN w USING (id)",
        "SELECT n FROM t NATURAL JOIN w",
        "SELECT n FROM t STRAIGHT_JOIN w",
        "SELECT n FROM t CROSS JOIN w",
        "SELECT n FROM t LEFT OUTER JOIN w ON t.id = w.id",
        "SELECT n FROM t RIGHT JOIN w ON t.id = w.id",
        "SELECT n FROM (t, w)",
        "SELECT n FROM ((t) JOIN (w) ON t.id = w.id)",
        "SELECT n FROM (w)",
        "SELECT n FROM t AS a, u AS b, w AS c",
        "SELECT n FROM t USE INDEX FOR ORDER BY (PRIMARY), w",
        "SELECT n FROM t FORCE INDEX FOR GROUP BY (PRIMARY), w",
        "SELECT n FROM t IGNORE INDEX FOR JOIN (PRIMARY), w",
        "SELECT n FROM t a USE INDEX (PRIMARY), `w`",
        "SELECT n FROM t/**/,/* x */w -- y\n",
        "SELECT n FROM t # , x\n , w",
        "SELECT n FROM v_places.w",
        "SELECT n FROM v_places . w",
        "SELECT n FROM `v_places`.`w`",
        "SELECT n FROM .w",
        "SELECT n FROM t, .`w`",
        "SELECT (SELECT MAX(n) FROM w) FROM t",
        "SELECT 1 FROM t WHERE v < (SELECT MAX(n) FROM w)",
        "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM w WHERE w.id = t.id)",
        "SELECT 1 FROM t HAVING (SELECT MAX(n) FROM w)",
        "SELECT 1 FROM t ORDER BY (SELECT MAX(n) FROM w)",
        "SELECT v FROM t WHERE v UNION SELECT n FROM w",
        "SELECT v FROM t ORDER BY v, id LIMIT 1, 2 UNION ALL (SELECT n FROM w)",
        "(SELECT n FROM w)",
        "SELECT n FROM (SELECT n FROM t, w) AS d",
        "WITH c AS (SELECT n FROM w) SELECT n FROM c",
        "WITH c AS (SELECT v FROM t), d AS (SELECT c.v, n FROM c, w) SELECT n FROM t, d",
        "SELECT a.n FROM t, LATERAL (SELECT n FROM w) AS a",
    ] {
        let response = reader.query(read).unwrap();
        if response.failure().is_some() {
            continue;
        }
        (0..5).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept"));
    }
    // The name of the view's file is another name of the view.
    (0..5).for_each(|_| assert!(!arena.ask(&mut reader, "SELECT n FROM `#mysql50#w`").1));
    arena.warm(&mut reader, CONTROL);
}

#[test]
fn writes_through_views_and_their_checks() {
    let (mut arena, mut writer, mut reader) = with_table("v_writes");
    all(
        &mut writer,
        &[
            "CREATE VIEW w AS SELECT id, v FROM t WHERE v < 100 WITH CASCADED CHECK OPTION",
            "CREATE VIEW ww AS SELECT v AS id, id AS v FROM w WITH LOCAL CHECK OPTION",
        ],
    );
    for (write, expected) in [
        ("UPDATE w SET v = 15 WHERE id = 1", "155,15"),
        ("UPDATE ww SET id = 16 WHERE v = 1", "156,15"),
        ("INSERT INTO w VALUES (6, 1)", "157,21"),
        ("INSERT INTO ww (id, v) VALUES (2, 7)", "159,28"),
        ("DELETE FROM w WHERE id = 7", "157,21"),
        ("REPLACE INTO w VALUES (6, 3)", "159,21"),
        ("INSERT INTO w VALUES (6, 3) ON DUPLICATE KEY UPDATE v = 4", "160,21"),
        ("UPDATE w JOIN t USING (id) SET w.v = 5 WHERE w.id = 6", "161,21"),
    ] {
        let write = || drop(writer.must(write).unwrap());
        arena.check_write_shows(&mut reader, "SELECT SUM(v), SUM(id) FROM w", write, expected);
    }
    // A row of the view is not the table's row with the same number.
    arena.warm(&mut reader, "SELECT v FROM ww WHERE id = 20");
    writer.must("UPDATE t SET v = 21 WHERE id = 2").unwrap();
    arena.miss(&mut reader, "SELECT v FROM ww WHERE id = 20", "");
    assert!(writer.query("UPDATE w SET v = 1000 WHERE id = 1").unwrap().failure().is_some());
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM w WHERE id = 1"), "16");
}

/// Checks that the rows of a view are not taken for those of a table with its name. A view may have the name of its table in another
/// database, and another order of columns.
#[test]
fn rows_of_a_view_are_not_those_of_a_table_of_its_name() {
    let (mut arena, mut writer, mut reader) = with_table("v_rows");
    all(&mut writer, &["CREATE DATABASE v_rows2", "CREATE VIEW v_rows2.t AS SELECT v AS id, id AS v FROM v_rows.t"]);
    reader.must("USE v_rows2").unwrap();
    for read in ["SELECT v FROM t WHERE id = 20", "SELECT v FROM v_rows2.t WHERE id = 20"] {
        writer.must("UPDATE v_rows.t SET v = 20 WHERE id = 2").unwrap();
        arena.warm(&mut reader, read);
        writer.must("UPDATE v_rows.t SET v = 22 WHERE id = 2").unwrap();
        arena.miss(&mut reader, read, "");
    }
    writer.must("DROP DATABASE v_rows2").unwrap();
}

#[test]
fn a_temporary_table_of_a_views_name_and_one_behind_it() {
    let (mut arena, mut writer, mut reader) = with_table("v_temporary");
    writer.must("CREATE VIEW w AS SELECT v FROM t WHERE id = 1").unwrap();
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM w"), "10");
    let mut other = arena.client();
    arena.warm(&mut other, "SELECT v FROM w");
    reader.must("CREATE TEMPORARY TABLE w SELECT 7 AS v").unwrap();
    (0..2).for_each(|_| arena.miss(&mut reader, "SELECT v FROM w", "7"));
    arena.hit(&mut other, "SELECT v FROM w", "10");
    all(&mut reader, &["DROP TEMPORARY TABLE w", "CREATE TEMPORARY TABLE t SELECT 1 AS id, 8 AS v"]);
    let truth = rows_text(&reader.query("SELECT v FROM w").unwrap());
    (0..2).for_each(|_| arena.miss(&mut reader, "SELECT v FROM w", &truth));
    arena.hit(&mut other, "SELECT v FROM w", "10");
    assert!(reader.query("CREATE VIEW x AS SELECT v FROM t").unwrap().failure().is_some());
}

#[test]
fn what_the_definer_and_the_invoker_may_do_is_asked_anew_after_every_change() {
    let (mut arena, mut root, mut reader) = with_table("v_rights");
    arena.warm(&mut reader, CONTROL);
    all(
        &mut root,
        &[
            "CREATE USER vdef@'%' IDENTIFIED BY 'vdef'",
            "CREATE USER vinv@'%' IDENTIFIED BY 'vinv'",
            "CREATE ROLE vrole",
            "GRANT SELECT ON v_rights.t TO vdef@'%'",
            "CREATE DEFINER = vdef@'%' SQL SECURITY DEFINER VIEW d AS SELECT id, v FROM t WHERE id = 1",
            "CREATE SQL SECURITY INVOKER VIEW i AS SELECT id, v FROM t WHERE id = 1",
            "CREATE DEFINER = vrole SQL SECURITY DEFINER VIEW r AS SELECT id, v FROM t WHERE id = 1",
            "CREATE SQL SECURITY INVOKER VIEW di AS SELECT v FROM d",
            "GRANT SELECT ON v_rights.d TO vinv@'%'",
            "GRANT SELECT ON v_rights.i TO vinv@'%'",
            "GRANT SELECT ON v_rights.r TO vinv@'%'",
            "GRANT SELECT ON v_rights.di TO vinv@'%'",
        ],
    );
    let login = account(&arena, "vinv");
    let mut client = arena.client_as(&login);
    let reads = ["d", "i", "r", "di"].map(|view| format!("SELECT v FROM v_rights.{view}"));
    // The answers of the definer's view, the invoker's, the role's, and the definer's view inside of the invoker's.
    let steps: [(&str, [&str; 4]); 15] = [
        ("DO 1", ["10", "error 1356", "error 1356", "10"]),
        ("GRANT SELECT ON v_rights.t TO vinv@'%'", ["10", "10", "error 1356", "10"]),
        ("GRANT SELECT ON v_rights.t TO vrole", ["10", "10", "10", "10"]),
        ("REVOKE SELECT ON v_rights.t FROM vdef@'%'", ["error 1356", "10", "10", "error 1356"]),
        ("GRANT SELECT (id) ON v_rights.t TO vdef@'%'", ["error 1356", "10", "10", "error 1356"]),
        ("GRANT SELECT (v) ON v_rights.t TO vdef@'%'", ["10", "10", "10", "10"]),
        ("REVOKE SELECT ON v_rights.t FROM vinv@'%'", ["10", "error 1356", "10", "10"]),
        ("REVOKE SELECT ON v_rights.t FROM vrole", ["10", "error 1356", "error 1356", "10"]),
        ("REVOKE SELECT ON v_rights.d FROM vinv@'%'", ["error 1142", "error 1356", "error 1356", "error 1356"]),
        ("GRANT SELECT (v) ON v_rights.d TO vinv@'%'", ["10", "error 1356", "error 1356", "10"]),
        ("REVOKE SELECT (v) ON v_rights.d FROM vinv@'%'", ["error 1142", "error 1356", "error 1356", "error 1356"]),
        ("GRANT SELECT ON v_rights.* TO vinv@'%', vdef@'%', vrole", ["10", "10", "10", "10"]),
        ("DROP USER vdef@'%'", ["error", "10", "10", "error"]),
        ("CREATE USER vdef@'%' IDENTIFIED BY 'x'; GRANT SELECT ON v_rights.* TO vdef@'%'", ["10", "10", "10", "10"]),
        ("DROP ROLE vrole", ["10", "10", "error", "10"]),
    ];
    for (step, expected) in steps {
        for read in &reads {
            (0..4).for_each(|_| drop(client.query(read).unwrap()));
        }
        root.must(step).unwrap();
        for (read, expected) in reads.iter().zip(expected) {
            for _ in 0..3 {
                let mut fresh = arena.client_as(&login);
                fresh.must("SET SESSION fqc_type = OFF").unwrap();
                let (truth, answer) = (rows_text(&fresh.query(read).unwrap()), rows_text(&client.query(read).unwrap()));
                assert_eq!(answer, truth, "`{read}` after `{step}`");
                assert!(answer.starts_with(expected), "`{read}` after `{step}`: {answer}, not {expected}");
            }
            if !expected.starts_with("error") {
                arena.warm(&mut client, read);
            }
        }
    }
}

#[test]
fn an_account_that_may_see_less_gets_nothing_that_another_was_told() {
    let (mut arena, mut root, mut reader) = with_table("v_accounts");
    all(
        &mut root,
        &[
            "CREATE SQL SECURITY INVOKER VIEW i AS SELECT id, v FROM t WHERE id = 1",
            "CREATE VIEW d AS SELECT id, v FROM t WHERE id = 1",
            "CREATE USER vlow@'%' IDENTIFIED BY 'vlow'",
            "GRANT SELECT ON v_accounts.i TO vlow@'%'",
            "GRANT SELECT (id) ON v_accounts.d TO vlow@'%'",
        ],
    );
    let login = account(&arena, "vlow");
    for (read, expected) in [
        ("SELECT v FROM v_accounts.i", "error 1356"),
        ("SELECT v FROM v_accounts.d", "error 1143"),
        ("SELECT * FROM v_accounts.d", "error 1142"),
        ("SELECT id FROM v_accounts.d", "1"),
    ] {
        arena.warm(&mut reader, read);
        let mut low = arena.client_as(&login);
        arena.miss(&mut low, read, expected);
    }
    arena.share(&login, "SELECT id FROM v_accounts.d", "1");
}

#[test]
fn views_in_transactions_and_the_rows_that_were_found() {
    let (mut arena, mut writer, mut reader) = with_table("v_transactions");
    all(
        &mut writer,
        &[
            "CREATE VIEW one AS SELECT COUNT(*) AS c FROM t WHERE 1 = 0",
            "CREATE VIEW three AS SELECT v FROM t ORDER BY id LIMIT 3",
            "CREATE TABLE u SELECT 1 AS x",
        ],
    );
    arena.warm(&mut reader, "SELECT x FROM u");
    drop(reader.query("SELECT c FROM one").unwrap());
    // A row that needs no table opens no snapshot. The next read does, and later reads see no newer state.
    for ask in ["SELECT c FROM one", "SELECT c FROM one AS other"] {
        let truth = arena.warm(&mut reader, "SELECT x FROM u");
        reader.must("START TRANSACTION").unwrap();
        reader.must(ask).unwrap();
        assert_eq!(rows_text(&reader.query("SELECT x FROM u").unwrap()), truth);
        writer.must("UPDATE u SET x = x + 1").unwrap();
        assert_eq!(rows_text(&reader.query("SELECT x FROM u").unwrap()), truth, "after `{ask}`");
        reader.must("COMMIT").unwrap();
        assert_ne!(arena.warm(&mut reader, "SELECT x FROM u"), truth);
    }
    arena.warm(&mut reader, "SELECT c FROM one");
    arena.warm(&mut reader, "SELECT v FROM three");
    arena.hit(&mut reader, "SELECT v FROM three", "10;20;30");
    assert_eq!(rows_text(&reader.query("SELECT FOUND_ROWS()").unwrap()), "3");
    reader.must("START TRANSACTION").unwrap();
    let mine = "UPDATE t SET v = 11 WHERE id = 1";
    reader.must(mine).unwrap();
    arena.miss(&mut reader, "SELECT v FROM three", "11;20;30");
    let mut other = arena.client();
    assert_eq!(arena.server_answer("SELECT v FROM three"), "10;20;30");
    assert_eq!(rows_text(&other.query("SELECT v FROM three").unwrap()), "10;20;30");
    reader.must("COMMIT").unwrap();
    arena.miss(&mut other, "SELECT v FROM three", "11;20;30");
}

#[test]
fn the_character_set_that_a_view_was_made_in() {
    let (mut arena, mut definer, mut reader) = with_table("v_charset");
    let mut latin = arena.client_with(&["SET NAMES latin1"]);
    latin.query(b"CREATE VIEW w AS SELECT '\xE4\\'\"' AS a, COLLATION('x') AS c, v FROM t WHERE id = 1").unwrap();
    definer.must("CREATE VIEW u AS SELECT 'ä' AS a, COLLATION('x') AS c FROM t WHERE id = 1").unwrap();
    for client in [&mut latin, &mut reader] {
        for read in ["SELECT HEX(a), c FROM w", "SELECT HEX(a), c FROM u"] {
            let expected = rows_text(&client.query(read).unwrap());
            assert_eq!(arena.warm(client, read), expected);
        }
    }
    assert_eq!(rows_text(&reader.query("SELECT c FROM w").unwrap()), "latin1_swedish_ci");
}

#[test]
fn names_in_any_case_where_the_server_folds_them() {
    let server = Arc::new(start(&["--lower-case-table-names=1"]));
    let mut arena = Arena::on(server, "v_folded");
    let (mut definer, mut reader) = (arena.client(), arena.client());
    small_table(&mut definer, "t", "InnoDB");
    definer.must("CREATE TABLE `tä` SELECT 7 AS v").unwrap();
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM `Tä`"), "7");
    all(
        &mut definer,
        &["CREATE VIEW Good AS SELECT v FROM t WHERE id = 1", "CREATE VIEW Bad AS SELECT SYSDATE(6) AS v FROM t"],
    );
    for read in ["SELECT v FROM good", "SELECT v FROM GOOD", "SELECT v FROM V_Folded.Good"] {
        assert_eq!(arena.warm(&mut reader, read), "10");
    }
    for read in ["SELECT v FROM bad", "SELECT v FROM BAD", "SELECT v FROM `V_FOLDED`.`BaD`"] {
        (0..5).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept"));
    }
    // A letter beyond ASCII may be equal to another one by case folding.
    for read in ["SELECT v FROM `tä`", "SELECT v FROM `Tä`"] {
        (0..5).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept"));
    }
    definer.must("ALTER VIEW gOOD AS SELECT v + 1 AS v FROM t WHERE id = 1").unwrap();
    arena.miss(&mut reader, "SELECT v FROM GOOD", "11");
}

#[test]
fn names_that_differ_in_case_alone_are_different_views() {
    let (mut arena, mut definer, mut reader) = with_table("v_case");
    all(
        &mut definer,
        &[
            "CREATE VIEW Moment AS SELECT SYSDATE(6) AS v FROM t WHERE id = 1",
            "CREATE VIEW moment AS SELECT v FROM t WHERE id = 1",
        ],
    );
    (0..5).for_each(|_| assert!(!arena.ask(&mut reader, "SELECT v FROM Moment").1));
    assert_eq!(arena.warm(&mut reader, "SELECT v FROM moment"), "10");
    (0..5).for_each(|_| assert!(!arena.ask(&mut reader, "SELECT v FROM Moment").1));
}
