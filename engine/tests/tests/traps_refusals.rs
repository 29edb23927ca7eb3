//! Statements that are never answered from the cache, next to reads of the same table that are. Everything is refused by default, for a
//! named reason.

mod traps;

use fqc_tests::client::{Client, command};
use traps::{Arena, all, rows_text, small_table, until};

const CONTROL: &str = "SELECT v FROM t WHERE id = 1";

fn with_table(db: &str) -> (Arena, Client) {
    let arena = Arena::enter(db);
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    (arena, client)
}

fn never_kept(db: &str, reads: &[&str]) {
    let (mut arena, mut client) = with_table(db);
    reads.iter().for_each(|read| arena.check_never_hit(&mut client, read, CONTROL));
}

#[test]
fn functions_of_time_and_chance() {
    never_kept(
        "r_functions",
        &[
            "SELECT NOW() FROM t",
            "SELECT CURRENT_TIMESTAMP FROM t",
            "SELECT SYSDATE() FROM t",
            "SELECT CURDATE(), UTC_TIMESTAMP() FROM t",
            "SELECT UNIX_TIMESTAMP() FROM t",
            "SELECT RAND() FROM t",
            "SELECT UUID(), UUID_SHORT() FROM t",
            "SELECT v FROM t ORDER BY RAND()",
            "SELECT v FROM t WHERE id = 1 AND RAND() < 2",
            "SELECT /*!50000 NOW() */ + 0 FROM t",
            "SELECT v FROM (SELECT v, NOW() AS n FROM t) AS d",
            "SELECT LOCALTIME FROM t",
            // The server completes a TIME with today's date.
            "SELECT CAST(ADDTIME('10:00:00', v) AS DATETIME) FROM t",
            "SELECT TIMESTAMP(SUBTIME('10:00:00', v)) FROM t",
            "SELECT COLUMN_GET(COLUMN_CREATE('a', v), 'a' AS DATETIME) IS NULL FROM t",
        ],
    );
}

#[test]
fn functions_with_side_effects_and_of_the_session() {
    never_kept(
        "r_effects",
        &[
            "SELECT SLEEP(0) FROM t",
            "SELECT BENCHMARK(1, 1) FROM t",
            "SELECT GET_LOCK('r_effects', 0) FROM t WHERE id = 1",
            "SELECT IS_FREE_LOCK('x') FROM t",
            "SELECT RELEASE_LOCK('r_effects') FROM t",
            "SELECT CONNECTION_ID() FROM t",
            "SELECT USER(), CURRENT_USER() FROM t",
            "SELECT LAST_INSERT_ID() FROM t",
            "SELECT FOUND_ROWS() FROM t",
            "SELECT ROW_COUNT() FROM t",
            "SELECT LOAD_FILE('/nowhere') FROM t",
            "SELECT @@sql_mode FROM t",
            "SELECT @a, v FROM t",
            "SELECT @a := id FROM t",
            "SELECT v FROM t WHERE id = @a",
        ],
    );
}

#[test]
fn user_variables_are_always_the_sessions_own() {
    let (mut arena, mut client) = with_table("r_variables");
    let mut other = arena.client();
    arena.warm(&mut client, CONTROL);
    for round in 1..4 {
        client.must(&format!("SET @id = {round}")).unwrap();
        other.must(&format!("SET @id = {}", round + 1)).unwrap();
        let read = "SELECT v FROM t WHERE id = @id";
        arena.miss(&mut client, read, &(round * 10).to_string());
        arena.miss(&mut other, read, &((round + 1) * 10).to_string());
    }
    let next = "SELECT @n := IFNULL(@n, 0) + 1 FROM t WHERE id = 1";
    (1..4).for_each(|count| arena.miss(&mut client, next, &count.to_string()));
}

#[test]
fn locking_reads_and_other_forms() {
    never_kept(
        "r_forms",
        &[
            "SELECT v FROM t WHERE id = 1 FOR UPDATE",
            "SELECT v FROM t WHERE id = 1 LOCK IN SHARE MODE",
            "SELECT SQL_NO_CACHE v FROM t",
            "SELECT v FROM t LIMIT 1 INTO @x",
            "SELECT v FROM t PROCEDURE ANALYSE()",
            "SHOW TABLES",
            "EXPLAIN SELECT v FROM t",
            "DESCRIBE t",
            "SELECT 1",
            "SELECT 1 FROM DUAL",
            "VALUES (1), (2)",
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'r_forms'",
            "SELECT user FROM mysql.user",
            "SELECT COUNT(*) FROM performance_schema.threads",
            "SELECT v, (SELECT COUNT(*) FROM mysql.user) FROM t",
            "SELECT * FROM seq_1_to_3",
            "SELECT v FROM t JOIN seq_1_to_3 ON seq = id",
            "CHECKSUM TABLE t",
        ],
    );
}

#[test]
fn what_qualifies_is_kept() {
    let (mut arena, mut client) = with_table("r_kept");
    small_table(&mut client, "u", "Aria");
    let reads = [
        "SELECT * FROM t",
        "SELECT SQL_CACHE v FROM t",
        "(SELECT v FROM t WHERE id = 1) UNION (SELECT v FROM u WHERE id = 2)",
        "WITH c AS (SELECT v FROM t) SELECT SUM(v) FROM c",
        "SELECT t.v FROM t JOIN u USING (id) WHERE u.v > 20 ORDER BY 1 DESC LIMIT 2",
        "SELECT v FROM t WHERE id IN (SELECT id FROM u WHERE v > 30)",
        "SELECT UPPER(CONCAT('a', v)), ROW_NUMBER() OVER (ORDER BY id) FROM t",
        "SELECT v FROM t WHERE id = 99",
        "SELECT COUNT(*) FROM t GROUP BY v HAVING v > 100",
        "SELECT 'NOW()', `v` FROM t /* RAND() */ WHERE id = 1 -- @x",
        "SELECT DISTINCT v DIV 20 FROM t",
        "SELECT NULL, TRUE, 1.5, DATE '2024-01-01' FROM t",
        "TABLE t",
    ];
    for read in reads {
        if rows_text(&client.query(read).unwrap()).starts_with("error") {
            continue;
        }
        arena.warm(&mut client, read);
        let kept = client.query(read).unwrap();
        let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
        assert_eq!(kept, plain.query(read).unwrap(), "`{read}`");
    }
}

#[test]
fn errors_are_never_kept() {
    let (mut arena, mut client) = with_table("r_errors");
    arena.warm(&mut client, CONTROL);
    arena.miss(&mut client, "SELECT x FROM t", "error 1054");
    client.must("ALTER TABLE t ADD COLUMN x INT DEFAULT 7").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT x FROM t WHERE id = 1"), "7");
    let late = "SELECT (SELECT v FROM t WHERE id <= u.id) FROM t AS u ORDER BY id";
    (0..3).for_each(|_| arena.miss(&mut client, late, "error 1242"));
}

#[test]
fn temporary_tables_shadow() {
    let (mut arena, mut client) = with_table("r_shadow");
    let mut other = arena.client();
    assert_eq!(arena.warm(&mut client, CONTROL), "10");
    client.must("CREATE TEMPORARY TABLE t (id INT, v INT)").unwrap();
    arena.miss(&mut client, CONTROL, "");
    client.must("INSERT INTO t VALUES (1, 77)").unwrap();
    (0..3).for_each(|_| arena.miss(&mut client, CONTROL, "77"));
    arena.hit(&mut other, CONTROL, "10");
    client.must("DROP TEMPORARY TABLE t").unwrap();
    assert_eq!(rows_text(&client.query(CONTROL).unwrap()), "10");
    arena.hit(&mut other, CONTROL, "10");
}

#[test]
fn temporary_tables_made_out_of_sight() {
    let (mut arena, mut client) = with_table("r_hidden");
    let shadow = "CREATE TEMPORARY TABLE t SELECT 1 AS id, 88 AS v";
    client.must(&format!("CREATE PROCEDURE hide() BEGIN {shadow}; END")).unwrap();
    client.must("CREATE PROCEDURE deeper() BEGIN CALL hide(); END").unwrap();
    let ways = [
        "CALL hide()".into(),
        "CALL deeper()".into(),
        format!("EXECUTE IMMEDIATE '{shadow}'"),
        format!("DO 1; {shadow}; DO 2"),
        format!("PREPARE p FROM '{shadow}'; EXECUTE p"),
        format!("BEGIN NOT ATOMIC {shadow}; END"),
        format!("/*!50000 {shadow} */"),
        "SET @s = CONCAT('CREATE TEMPO', 'RARY TABLE t SELECT 1 AS id, 88 AS v'); PREPARE p FROM @s; EXECUTE p".into(),
        "CREATE OR REPLACE TEMPORARY TABLE t AS SELECT 1 AS id, 88 AS v".into(),
        "CREATE /* */ TEMPORARY TABLE IF NOT EXISTS t SELECT 1 AS id, 88 AS v".into(),
    ];
    for way in ways {
        let mut session = arena.client();
        assert_eq!(arena.warm(&mut session, CONTROL), "10");
        session.must(&way).unwrap();
        (0..3).for_each(|_| arena.miss(&mut session, CONTROL, "88"));
    }
    let mut session = arena.client();
    let prepared = session.prepare(shadow).unwrap().1.unwrap();
    assert_eq!(arena.warm(&mut session, CONTROL), "10");
    session.execute(&prepared, &[]).unwrap();
    arena.miss(&mut session, CONTROL, "88");
}

/// Checks temporary tables that a statement prepared in a routine creates. No log contains such a statement, and a result of a temporary
/// table joined with another table looks like any other.
#[test]
fn temporary_tables_made_by_what_a_routine_prepares() {
    let (mut arena, mut client) = with_table("r_prepared");
    small_table(&mut client, "u", "InnoDB");
    let read = "SELECT SUM(t.v) FROM t JOIN u ON u.id = 1";
    let shadow = "CREATE TEMPORARY TABLE t SELECT 1 AS id, 88 AS v";
    let (one, other) = shadow.split_at(12);
    let ways = [
        format!("PREPARE p FROM '{shadow}'; EXECUTE p;"),
        format!("SET @s = CONCAT('{one}', '{other}'); PREPARE p FROM @s; EXECUTE p;"),
        "PREPARE p FROM x; EXECUTE p;".into(),
        format!("PREPARE p FROM CONCAT('{one}', '{other}'); EXECUTE p;"),
        format!("EXECUTE IMMEDIATE CONCAT('{one}', '{other}');"),
        format!("EXECUTE IMMEDIATE '{}';", shadow.replace("RARY", "R\\ARY")),
        "EXECUTE IMMEDIATE x;".into(),
    ];
    for way in ways {
        client.must(&format!("CREATE OR REPLACE PROCEDURE hide(x TEXT) BEGIN {way} END")).unwrap();
        for call in [
            format!("CALL hide(CONCAT('{one}', '{other}'))"),
            format!("BEGIN NOT ATOMIC DECLARE x TEXT DEFAULT CONCAT('{one}', '{other}'); {way} END"),
        ] {
            let mut session = arena.client();
            assert_eq!(arena.warm(&mut session, read), "150");
            session.must(&call).unwrap();
            (0..3).for_each(|_| arena.miss(&mut session, read, "88"));
            session.must("INSERT INTO t VALUES (2, 1)").unwrap();
            arena.miss(&mut session, read, "89");
        }
    }
}

#[test]
fn a_session_without_its_temporary_tables_is_served_again() {
    let (mut arena, mut client) = with_table("r_again");
    arena.warm(&mut client, CONTROL);
    client.must("CREATE TEMPORARY TABLE t (id INT, v INT)").unwrap();
    arena.miss(&mut client, CONTROL, "");
    assert!(client.reset_connection().unwrap().failure().is_none());
    assert_eq!(arena.warm(&mut client, CONTROL), "10");
}

#[test]
fn stored_functions() {
    let (mut arena, mut client) = with_table("r_routines");
    all(
        &mut client,
        &[
            "CREATE FUNCTION first_v() RETURNS INT READS SQL DATA RETURN (SELECT v FROM t WHERE id = 1)",
            "CREATE FUNCTION moment() RETURNS DOUBLE NOT DETERMINISTIC RETURN SYSDATE(6) + 0",
            "CREATE FUNCTION writer() RETURNS INT BEGIN UPDATE t SET v = v + 1 WHERE id = 2; RETURN 1; END",
        ],
    );
    arena.warm(&mut client, CONTROL);
    for read in ["SELECT first_v()", "SELECT first_v(), v FROM t WHERE id = 1", "SELECT moment() FROM t WHERE id = 1"] {
        (0..3).for_each(|_| assert!(!arena.ask(&mut client, read).1, "`{read}` was kept"));
    }
    client.must("UPDATE t SET v = 12 WHERE id = 1").unwrap();
    arena.miss(&mut client, "SELECT first_v()", "12");
    let second = "SELECT v FROM t WHERE id = 2";
    assert_eq!(arena.warm(&mut client, second), "20");
    client.must("SELECT writer()").unwrap();
    arena.miss(&mut client, second, "21");
    let prepared = client.prepare("SELECT writer() FROM DUAL").unwrap().1.unwrap();
    assert_eq!(arena.warm(&mut client, second), "21");
    client.execute(&prepared, &[]).unwrap();
    arena.miss(&mut client, second, "22");
    let named_like_ours = "CREATE FUNCTION mid(a INT) RETURNS INT RETURN 1";
    assert_eq!(rows_text(&client.query(named_like_ours).unwrap()), "error 1064");
}

#[test]
fn query_cache_type_of_a_session_and_hints() {
    let (mut arena, mut client) = with_table("r_type");
    let (plain, asked) = ("SELECT v FROM t WHERE id = 2", "SELECT SQL_CACHE v FROM t WHERE id = 2");
    arena.warm(&mut client, plain);
    client.must("SET SESSION query_cache_type = OFF").unwrap();
    (0..3).for_each(|_| arena.miss(&mut client, plain, "20"));
    client.must("SET SESSION query_cache_type = DEMAND").unwrap();
    (0..3).for_each(|_| arena.miss(&mut client, plain, "20"));
    assert_eq!(arena.warm(&mut client, asked), "20");
    client.must("SET query_cache_type = 1").unwrap();
    arena.hit(&mut client, plain, "20");
    arena.check_never_hit(&mut client, "SELECT SQL_NO_CACHE v FROM t WHERE id = 2", plain);
    let for_one = client.query("SET STATEMENT query_cache_type = OFF FOR SELECT v FROM t WHERE id = 2").unwrap();
    assert_eq!(rows_text(&for_one), "error 1971");
    arena.hit(&mut client, plain, "20");
}

#[test]
fn the_type_that_new_sessions_get() {
    let (mut arena, mut client) = with_table("r_default");
    client.must("SET GLOBAL query_cache_type = DEMAND").unwrap();
    let mut new = arena.client();
    (0..3).for_each(|_| arena.miss(&mut new, CONTROL, "10"));
    assert_eq!(arena.warm(&mut new, "SELECT SQL_CACHE v FROM t WHERE id = 1"), "10");
    new.must("SET GLOBAL query_cache_type = OFF").unwrap();
    let mut off = arena.client();
    (0..3).for_each(|_| arena.miss(&mut off, "SELECT SQL_CACHE v FROM t WHERE id = 1", "10"));
    new.must("SET GLOBAL query_cache_type = ON").unwrap();
    let mut on = arena.client();
    assert_eq!(arena.warm(&mut on, CONTROL), "10");
}

#[test]
fn results_beyond_the_limit() {
    let (mut arena, mut client) = with_table("r_limit");
    let wide = |length: u32| format!("SELECT id, REPEAT('x', {length}) FROM t WHERE id = 1");
    client.must("SET GLOBAL query_cache_limit = 10000").unwrap();
    arena.warm(&mut client, &wide(9000));
    arena.check_never_hit(&mut client, &wide(10000), CONTROL);
    client.must("SET GLOBAL query_cache_limit = 1048576").unwrap();
    arena.warm(&mut client, &wide(1_000_000));
    arena.check_never_hit(&mut client, &wide(1_048_577), CONTROL);
}

#[test]
fn handler_and_lock_tables() {
    let (mut arena, mut client) = with_table("r_locks");
    small_table(&mut client, "u", "InnoDB");
    let mut other = arena.client();
    arena.warm(&mut other, CONTROL);
    all(&mut client, &["HANDLER t OPEN"]);
    for _ in 0..2 {
        arena.miss(&mut client, "HANDLER t READ `PRIMARY` = (1)", "1,10");
    }
    other.must("UPDATE t SET v = 11 WHERE id = 1").unwrap();
    client.must("HANDLER t READ `PRIMARY` = (2)").unwrap();
    arena.miss(&mut client, "HANDLER t READ `PRIMARY` = (1)", "1,11");
    client.must("HANDLER t CLOSE").unwrap();
    assert_eq!(arena.warm(&mut other, CONTROL), "11");
    // Under LOCK TABLES only the locked tables may be read, under the names of the lock.
    arena.warm(&mut client, "SELECT v FROM u WHERE id = 1");
    client.must("LOCK TABLES t READ").unwrap();
    arena.miss(&mut client, "SELECT v FROM u WHERE id = 1", "error 1100");
    assert_eq!(rows_text(&client.query(CONTROL).unwrap()), "11");
    all(&mut client, &["UNLOCK TABLES", "LOCK TABLES t WRITE", "UPDATE t SET v = 12 WHERE id = 1"]);
    assert_eq!(rows_text(&client.query(CONTROL).unwrap()), "12");
    client.must("UNLOCK TABLES").unwrap();
    assert_eq!(rows_text(&other.query(CONTROL).unwrap()), "12");
    assert_eq!(arena.warm(&mut other, CONTROL), "12");
}

#[test]
fn a_table_locked_for_writing_is_not_read_from_memory() {
    let (mut arena, mut client) = with_table("r_wlock");
    let mut other = arena.client();
    arena.warm(&mut other, CONTROL);
    all(&mut client, &["LOCK TABLES t WRITE", "UPDATE t SET v = 13 WHERE id = 1"]);
    other.must("SET lock_wait_timeout = 0").unwrap();
    arena.miss(&mut other, CONTROL, "error 1205");
    client.must("UNLOCK TABLES").unwrap();
    arena.miss(&mut other, CONTROL, "13");
    assert_eq!(arena.warm(&mut other, CONTROL), "13");
}

#[test]
fn sequences_history_and_columns_that_change_by_themselves() {
    let (mut arena, mut client) = with_table("r_others");
    all(
        &mut client,
        &[
            "CREATE SEQUENCE s",
            "CREATE TABLE h (id INT, v INT) WITH SYSTEM VERSIONING",
            "INSERT INTO h VALUES (1, 1)",
            "CREATE TABLE m (id INT, d TIME)",
            "INSERT INTO m VALUES (1, '10:00:00')",
            "CREATE TABLE p (id INT NOT NULL) ENGINE = CSV",
            "INSERT INTO p VALUES (1)",
        ],
    );
    for read in ["SELECT NEXTVAL(s)", "SELECT NEXT VALUE FOR s, v FROM t WHERE id = 1", "SELECT LASTVAL(s)"] {
        (0..3).for_each(|_| assert!(!arena.ask(&mut client, read).1, "`{read}` was kept"));
    }
    arena.check_never_hit(&mut client, "SELECT TIMESTAMP(d) > '2000-01-01' FROM m", CONTROL);
    arena.check_never_hit(&mut client, "SELECT id FROM p", CONTROL);
    let mut reader = arena.client();
    arena.check_write_shows(&mut reader, "SELECT v FROM h", || drop(client.must("UPDATE h SET v = 2").unwrap()), "2");
}

/// The number of results that were not stored for this reason.
fn count(arena: &Arena, reason: &str) -> u64 {
    let rows = rows_text(&arena.server.admin().unwrap().must("SHOW FQC REASONS").unwrap());
    let told =
        rows.split(';').find_map(|row| row.strip_prefix(reason)?.strip_prefix(',')?.split(',').next()?.parse().ok());
    told.unwrap_or(0)
}

#[test]
fn sequences_and_columns_of_times_have_reasons_of_their_own() {
    let (mut arena, mut client) = with_table("r_why");
    all(&mut client, &["CREATE SEQUENCE s", "CREATE TABLE m (id INT, d TIME)", "INSERT INTO m VALUES (1, '10:00:00')"]);
    for (read, reason) in [("SELECT next_not_cached_value FROM s", "sequence"), ("SELECT d FROM m", "time_column")] {
        let before = count(&arena, reason);
        until(reason, || {
            assert!(!arena.ask(&mut client, read).1, "`{read}` was kept");
            count(&arena, reason) > before
        });
    }
}

#[test]
fn history_is_kept_where_the_text_tells_its_moment() {
    let (mut arena, mut client) = with_table("r_history");
    let mut reader = arena.client();
    all(
        &mut client,
        &[
            "SET @@timestamp = 1600000000",
            "CREATE TABLE h (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING",
            "INSERT INTO h VALUES (1, 1)",
            "SET @@timestamp = 1600000100",
            "UPDATE h SET v = 2",
            "CREATE VIEW w AS SELECT v FROM h FOR SYSTEM_TIME AS OF TIMESTAMP'2001-01-01 00:00:00'",
            "CREATE TABLE tx (v INT, a BIGINT UNSIGNED GENERATED ALWAYS AS ROW START INVISIBLE, \
             b BIGINT UNSIGNED GENERATED ALWAYS AS ROW END INVISIBLE, PERIOD FOR SYSTEM_TIME (a, b)) \
             ENGINE = InnoDB WITH SYSTEM VERSIONING",
            "INSERT INTO tx VALUES (1)",
        ],
    );
    let at = |moment: &str| format!("SELECT v FROM h FOR SYSTEM_TIME AS OF TIMESTAMP{moment} ORDER BY v");
    let past =
        arena.client_with(&["SET @@timestamp = 1600000050"]).query("SELECT TIMESTAMP(NOW())").map(|r| rows_text(&r));
    let past = at(&format!("'{}'", past.unwrap()));
    assert_eq!(arena.warm(&mut reader, &past), "1");
    assert_eq!(arena.warm(&mut reader, &at(" '2001-01-01 00:00:00'")), "");
    client.must("SET @@timestamp = DEFAULT").unwrap();
    let all_of_it = "SELECT v FROM h FOR SYSTEM_TIME ALL ORDER BY v";
    let future = at("'2037-01-01 00:00:00'");
    arena.warm(&mut reader, &future);
    arena.check_write_shows(&mut reader, all_of_it, || drop(client.must("UPDATE h SET v = 3").unwrap()), "1;2;3");
    arena.miss(&mut reader, &future, "3");
    arena.check_write_shows(&mut reader, &past, || drop(client.must("DELETE HISTORY FROM h").unwrap()), "");
    arena.check_write_shows(&mut reader, &future, || drop(client.must("DELETE FROM h").unwrap()), "");
    arena.check_write_shows(
        &mut reader,
        all_of_it,
        || drop(client.must("INSERT INTO h VALUES (5, 5)").unwrap()),
        "3;5",
    );
    // The literal is interpreted in the session's time zone.
    reader.must("SET time_zone = '+12:00'").unwrap();
    let here = arena.warm(&mut reader, &past);
    assert_eq!(here, arena.server_answer(&past));
    for read in [
        "SELECT v FROM h FOR SYSTEM_TIME AS OF '2020-01-01'",
        "SELECT v FROM h FOR SYSTEM_TIME AS OF NOW()",
        "SELECT v FROM h FOR SYSTEM_TIME AS OF TIMESTAMP(NOW())",
        "SELECT v FROM h FOR SYSTEM_TIME BETWEEN TIMESTAMP'2020-01-01 00:00:00' AND NOW()",
        "SELECT v FROM h FOR SYSTEM_TIME FROM TIMESTAMP'2020-01-01 00:00:00' TO TIMESTAMP'2021-01-01 00:00:00'",
        "SELECT v FROM tx FOR SYSTEM_TIME AS OF TIMESTAMP'2037-01-01 00:00:00'",
        "SELECT v FROM tx FOR SYSTEM_TIME AS OF TRANSACTION 1",
    ] {
        (0..4).for_each(|_| assert!(!arena.ask(&mut reader, read).1, "`{read}` was kept"));
    }
}

#[test]
fn a_temporary_table_made_by_the_function_of_a_view() {
    let mut arena = Arena::enter("r_view_makes");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    small_table(&mut maker, "other", "InnoDB");
    let function = "CREATE FUNCTION make() RETURNS INT BEGIN CREATE TEMPORARY TABLE IF NOT EXISTS t (v INT); \
                    REPLACE INTO t VALUES (7); RETURN 1; END";
    all(&mut maker, &[function, "CREATE VIEW calls AS SELECT make() AS made FROM other LIMIT 1"]);
    for call in [
        "SELECT made FROM calls",
        "SELECT NOW() IS NOT NULL AS made, make() FROM other LIMIT 1",
        "SHOW TABLES WHERE make()",
    ] {
        let mut client = arena.client();
        assert_eq!(arena.warm(&mut client, "SELECT MIN(v) FROM t"), "10");
        client.must(call).unwrap();
        arena.miss(&mut client, "SELECT MIN(v) FROM t", "7");
    }
}

#[test]
fn a_time_that_is_bound_is_completed_with_todays_date() {
    let (mut arena, mut client) = with_table("r_time");
    all(&mut client, &["CREATE TABLE d (a DATETIME)", "INSERT INTO d VALUES ('2020-01-01 10:00:00')"]);
    let prepared = client.prepare("SELECT a FROM d WHERE a < ?").unwrap().1.unwrap();
    // Eight bytes: no sign, no days, ten hours.
    const TIME: [u8; 9] = [8, 0, 0, 0, 0, 0, 10, 0, 0];
    const TEXT: [u8; 11] = *b"\x0a2100-01-01";
    let mut ask = |kind: u8, value: &[u8]| {
        let body = [&prepared.id.to_le_bytes()[..], &[0, 1, 0, 0, 0, 0, 1, kind, 0], value].concat();
        let ask = || {
            client.send(command::STMT_EXECUTE, &body).unwrap();
            client.read_response().unwrap()
        };
        let (response, hits) = arena.counted(ask);
        assert!(response.failure().is_none(), "{:?}", response.failure());
        hits > 0
    };
    until("a hit with a text", || ask(0xfd, &TEXT));
    for _ in 0..4 {
        assert!(!ask(0x0b, &TIME), "a result of today was kept");
    }
}

/// Checks that results of the server's own tables are not stored, also if they are named without their database. The server reads and
/// writes these tables along with any statement, so the engine ignores its reports about them.
#[test]
fn tables_of_the_servers_own_that_are_named_without_their_database() {
    let (mut arena, mut writer) = with_table("r_own");
    let mut reader = arena.client_with(&["USE mysql"]);
    let read = "SELECT v, (SELECT COUNT(*) FROM gtid_slave_pos) FROM r_own.t WHERE id = 1";
    let prepared = reader.prepare(read).unwrap().1.unwrap();
    let mut others = arena.client();
    arena.warm(&mut others, "SELECT v FROM t WHERE id = 1");
    for (write, expected) in
        [("INSERT INTO mysql.gtid_slave_pos VALUES (7, 1, 1, 1)", "10,1"), ("DELETE FROM mysql.gtid_slave_pos", "10,0")]
    {
        for _ in 0..3 {
            assert!(!arena.ask(&mut reader, read).1, "a table of the server's own was kept");
            assert!(!arena.ask_prepared(&mut reader, &prepared, &[]).1, "a table of the server's own was kept");
        }
        writer.must(write).unwrap();
        arena.miss(&mut reader, read, expected);
    }
}

#[test]
fn names_that_views_of_system_schemas_have_too() {
    let (mut arena, mut client) = with_table("r_names");
    all(&mut client, &["CREATE TABLE events (version INT, views INT)", "INSERT INTO events VALUES (1, 2)"]);
    assert_eq!(arena.warm(&mut client, "SELECT version, views FROM events"), "1,2");
    for (schema, view) in [("sys", "version"), ("information_schema", "events"), ("performance_schema", "threads")] {
        let mut inside = arena.client_with(&[&format!("USE {schema}")]);
        arena.check_never_hit(&mut client, &format!("SELECT COUNT(*) > 9 FROM t, {schema}.{view}"), CONTROL);
        for _ in 0..4 {
            let read = format!("SELECT COUNT(*) > 9 FROM r_names.t, {view}");
            assert!(!arena.ask(&mut inside, &read).1, "`{read}` was kept in {schema}");
        }
    }
}
