//! The diagnostics that a statement leaves behind: after a hit the session reports them as if the server had run the statement.

mod traps;

#[path = "both/found_rows.rs"]
mod found_rows;

use fqc_tests::client::{Client, Login, Part, Response, capability};
use traps::{Arena, Pair, all, rows_text, small_table, until};

const IN_TRANSACTION: u16 = 0x0001;
const AUTOCOMMIT: u16 = 0x0002;
const READ_ONLY: u16 = 0x2000;
const SLOW: u16 = 0x0800;

fn enter(db: &str) -> Arena {
    Arena::enter(db)
}

fn status(response: &Response) -> u16 {
    response.status().unwrap() & (IN_TRANSACTION | AUTOCOMMIT | READ_ONLY)
}

#[test]
fn found_rows_and_row_count_after_a_hit() {
    let mut arena = Arena::enter("g_found");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let reads =
        ["SELECT v FROM t", "SELECT v FROM t WHERE id = 9", "SELECT v FROM t WHERE id = 1", "SELECT v FROM t LIMIT 2"];
    let questions = [
        "SELECT FOUND_ROWS()",
        "SELECT ROW_COUNT()",
        "SELECT FOUND_ROWS(), ROW_COUNT(), LAST_INSERT_ID()",
        "SELECT FOUND_ROWS() + COUNT(*) FROM t",
        "SHOW COUNT(*) WARNINGS",
        "SHOW WARNINGS",
        "SHOW COUNT(*) ERRORS",
        "SELECT @@warning_count, @@error_count",
        "SELECT @@identity, @@last_insert_id",
    ];
    for read in reads {
        arena.warm(&mut pair.served, read);
        for question in questions {
            pair.alike("DO 1");
            pair.hit(&mut arena, read);
            pair.alike(question);
            pair.alike(question);
        }
    }
}

/// Checks FOUND_ROWS() after a failed read. A read that fails after its first rows leaves their number. One that fails before it begins
/// leaves the number of the served read.
#[test]
fn rows_found_by_a_read_that_fails_on_its_way() {
    let mut arena = Arena::enter("g_half");
    let table = "CREATE TABLE t (id INT PRIMARY KEY, v BIGINT UNSIGNED)";
    all(&mut arena.client(), &[table, "INSERT INTO t VALUES (1, 8), (2, 9), (3, 1), (4, 7)"]);
    let failing = [
        "SELECT 1 / (v - 3) FROM t ORDER BY id",
        "SELECT 1 / (v - 3) FROM t WHERE id > 2 ORDER BY id",
        "SELECT 1 / (v - 3) FROM t WHERE id = 3",
        "SELECT 1 / (v - 3) FROM t ORDER BY v DESC",
        "SELECT DISTINCT 1 / (v - 3) FROM t",
        "SELECT id FROM t WHERE v - 3 > 0 ORDER BY id",
        "SELECT nothing FROM t",
        "SELECT v FROM nowhere",
    ];
    let block = "BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SHOW WARNINGS; SELECT FOUND_ROWS(); END";
    for read in ["SELECT v FROM t WHERE id = 9", "SELECT v FROM t", "SELECT v FROM t ORDER BY id LIMIT 5 OFFSET 2"] {
        for failing in failing {
            // After the block the engine knows nothing about the session any more.
            for question in ["SELECT FOUND_ROWS()", block] {
                let mut pair = Pair::new(&arena);
                arena.warm(&mut pair.served, read);
                pair.alike("SELECT 7");
                pair.hit(&mut arena, read);
                assert!(rows_text(&pair.alike(failing)).starts_with("error"), "{failing}");
                pair.alike(question);
            }
        }
    }
}

#[test]
fn many_found_rows() {
    let mut arena = Arena::enter("g_many");
    let mut pair = Pair::new(&arena);
    all(&mut pair.served, &["CREATE TABLE t (a INT)", "INSERT INTO t SELECT seq FROM seq_1_to_20000"]);
    arena.warm(&mut pair.served, "SELECT a FROM t");
    pair.hit(&mut arena, "SELECT a FROM t");
    assert_eq!(rows_text(&pair.alike("SELECT FOUND_ROWS()")), "20000");
    pair.alike("SHOW WARNINGS");
}

/// Checks FOUND_ROWS() after a reset and after a change of user. A reset forgets nearly all of a session, but not the number of rows found.
/// After a failed change of user the session goes on.
#[test]
fn found_rows_after_a_reset_and_a_change_of_user() {
    let mut arena = Arena::enter("g_reset");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let nowhere = Login { database: Some("g_nowhere".into()), ..arena.login() };
    let login = arena.login();
    let reset = |client: &mut Client| client.reset_connection().unwrap();
    let change = |client: &mut Client| client.change_user(&login).unwrap();
    let refused = |client: &mut Client| client.change_user(&nowhere).unwrap();
    let ends: [&dyn Fn(&mut Client) -> Response; 3] = [&reset, &change, &refused];
    let reads = ["SELECT v FROM t", "SELECT v FROM t WHERE id = 9", "SELECT v FROM t LIMIT 1, 1"];
    for read in reads {
        arena.warm(&mut maker, read);
        for (number, end) in ends.into_iter().enumerate() {
            for between in [None, Some("SELECT 1 / 0"), Some("DO 1")] {
                let mut pair = Pair::new(&arena);
                between.into_iter().for_each(|statement| drop(pair.alike(statement)));
                pair.hit(&mut arena, read);
                assert_eq!(end(&mut pair.served), end(&mut pair.plain), "end {number}");
                for question in ["SHOW WARNINGS", "SELECT FOUND_ROWS()", "SELECT DATABASE(), @@autocommit"] {
                    pair.alike(question);
                }
            }
        }
    }
}

/// Checks that no setting of a session disturbs the statement that gives the server the number of rows found.
#[test]
fn found_rows_whatever_is_set() {
    let mut arena = Arena::enter("g_set");
    let mut pair = Pair::new(&arena);
    all(&mut pair.served, &["CREATE TABLE t (a INT)", "INSERT INTO t SELECT seq FROM seq_1_to_600"]);
    arena.server.admin().unwrap().must("SET GLOBAL max_allowed_packet = 1024").unwrap();
    let settings = [
        "SET max_join_size = 1000, sql_big_selects = OFF",
        "SET sql_select_limit = 7",
        "SET character_set_connection = utf16",
        "SET character_set_connection = ucs2, character_set_results = utf32",
        "SET character_set_connection = binary, character_set_results = binary",
        "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,IGNORE_SPACE'",
        "SET optimizer_switch = 'derived_merge=off', join_cache_level = 0",
    ];
    for setting in settings {
        for read in ["SELECT a FROM t", "SELECT a FROM t WHERE a = 3", "SELECT a FROM t WHERE a < 0"] {
            // In these sessions the server does not know the number of rows found, because another session has stored the result.
            let (mut pair, mut storing) = (Pair::new(&arena), arena.client_with(&[setting]));
            pair.alike(setting);
            arena.warm(&mut storing, read);
            pair.alike("SELECT 1 / 0 FROM t LIMIT 1");
            pair.hit(&mut arena, read);
            pair.alike("SHOW WARNINGS");
            pair.alike("SELECT FOUND_ROWS()");
            pair.alike("SELECT @@sql_big_selects, @@max_join_size, @@sql_mode");
        }
    }
    arena.server.admin().unwrap().must("SET GLOBAL max_allowed_packet = 67108864").unwrap();
}

#[test]
fn found_rows_by_every_way_of_asking() {
    let mut arena = Arena::enter("g_ways");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let define =
        ["CREATE FUNCTION found() RETURNS INT RETURN FOUND_ROWS()", "CREATE PROCEDURE tell() SELECT FOUND_ROWS()"];
    all(&mut pair.served, &define);
    arena.warm(&mut pair.served, "SELECT v FROM t");
    let ways = [
        "CALL tell()",
        "SELECT found()",
        "SET @n = FOUND_ROWS()",
        "EXECUTE IMMEDIATE 'SELECT FOUND_ROWS()'",
        "DO 1; SELECT FOUND_ROWS()",
        "/* a hint */ SELECT /*!50000 FOUND_ROWS() */",
        "DO SLEEP(FOUND_ROWS() * 0)",
    ];
    for way in ways {
        pair.alike("DO 1");
        arena.warm(&mut pair.served, "SELECT v FROM t WHERE id < 4");
        pair.hit(&mut arena, "SELECT v FROM t WHERE id < 4");
        pair.alike(way);
        pair.alike("SELECT @n");
    }
    pair.hit(&mut arena, "SELECT v FROM t WHERE id < 4");
    pair.served.must("INSERT INTO t VALUES (FOUND_ROWS() + 100, 1)").unwrap();
    assert_eq!(arena.server_answer("SELECT id FROM t WHERE id > 100"), "103");
}

/// Checks the warnings of a statement after a hit. The server must get the number of rows that the hit found before a statement that
/// changes it, but not between a statement and the question for its warnings.
#[test]
fn warnings_of_a_statement_after_a_hit() {
    let mut arena = Arena::enter("g_after");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    arena.warm(&mut pair.served, "SELECT v FROM t");
    let questions = [
        "SHOW COUNT(*) WARNINGS",
        "SHOW WARNINGS",
        "SHOW COUNT(*) ERRORS",
        "SHOW ERRORS",
        "GET DIAGNOSTICS @n = NUMBER",
    ];
    for question in questions {
        for between in
            ["SELECT wrong FROM t", "SET @n = CAST('x' AS INT)", "UPDATE t SET v = 1 WHERE id = CAST('77x' AS INT)"]
        {
            arena.warm(&mut pair.served, "SELECT v FROM t");
            pair.hit(&mut arena, "SELECT v FROM t");
            pair.alike(between);
            pair.alike(question);
            pair.alike("SELECT FOUND_ROWS(), @n");
        }
    }
}

/// Checks ROW_COUNT() and other diagnostics after a served statement that was closed. ROW_COUNT() used to be that of the statement before
/// the served read, as the differential tester has found.
#[test]
fn row_count_after_a_served_statement_that_is_closed() {
    let mut arena = Arena::enter("g_closed");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id < 4";
    for question in ["SELECT ROW_COUNT()", "SELECT FOUND_ROWS()", "SHOW WARNINGS"] {
        let [served, plain] = [&mut pair.served, &mut pair.plain].map(|one| one.prepare(read).unwrap().1.unwrap());
        arena.warm_prepared(&mut pair.served, &served, &[]);
        pair.alike("DO 1");
        assert!(arena.ask_prepared(&mut pair.served, &served, &[]).1);
        pair.plain.execute(&plain, &[]).unwrap();
        pair.served.close(&served).unwrap();
        pair.plain.close(&plain).unwrap();
        pair.alike(question);
    }
}

/// Checks FOUND_ROWS() after statements that search rows but return none. The number that such a statement had set used to be replaced by
/// that of an earlier hit, as the differential tester has found.
#[test]
fn found_rows_of_statements_that_search_without_a_result() {
    let mut arena = Arena::enter("g_search");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let define = [
        "CREATE TABLE u (id INT PRIMARY KEY, v INT)",
        "CREATE VIEW both_tables AS SELECT u.id, u.v FROM u JOIN t ON u.id = t.id + 2",
        "CREATE PROCEDURE search() SET @n = (SELECT COUNT(*) FROM t)",
    ];
    all(&mut pair.served, &define);
    let statements = [
        "INSERT IGNORE INTO u SELECT id, 1 FROM t LIMIT 2",
        "REPLACE INTO u SELECT id, 2 FROM t WHERE id < 3",
        "INSERT INTO u VALUES (7, (SELECT COUNT(*) FROM t)) ON DUPLICATE KEY UPDATE v = (SELECT MAX(v) FROM t)",
        "UPDATE u, t SET u.v = 3 WHERE u.id = t.id AND t.id < 2",
        "UPDATE (SELECT 1 AS id) AS one JOIN u USING (id) SET u.v = 4",
        "UPDATE both_tables SET v = 9",
        "UPDATE u SET v = (SELECT MAX(v) FROM t)",
        "UPDATE u SET v = 5",
        "DELETE u FROM u, t WHERE u.id = t.id AND t.id = 77",
        "DELETE FROM u USING u JOIN t WHERE u.id = t.id AND t.id = 77",
        "DELETE FROM u WHERE id IN (SELECT id FROM t WHERE id = 1)",
        "DELETE FROM u WHERE id = 9",
        "SET @n = (SELECT COUNT(*) FROM t)",
        "SET @n = 1",
        "DO (SELECT COUNT(*) FROM t)",
        "CALL search()",
        "SET STATEMENT group_concat_max_len = 8 FOR SELECT COUNT(*) FROM t",
    ];
    for statement in statements {
        for between in ["SELECT v FROM t", "UPDATE u SET v = 6 WHERE id = 6"] {
            let found = |arena: &mut Arena, session: &mut Client| {
                session.must("BEGIN").unwrap();
                let is_hit = arena.ask(session, "SELECT v FROM t").1;
                all(session, &[between, statement]);
                let found = rows_text(&session.query("SELECT FOUND_ROWS()").unwrap());
                session.must("ROLLBACK").unwrap();
                (is_hit, found)
            };
            let plain = found(&mut arena, &mut pair.plain).1;
            // The read is cached only now, because the write of the other session may have invalidated it. Until the engine knows the new
            // tables, any write to them invalidates all of their results.
            arena.warm(&mut pair.served, "SELECT v FROM t");
            assert_eq!(found(&mut arena, &mut pair.served), (true, plain), "after `{between}` and `{statement}`");
        }
    }
}

#[test]
fn warnings_of_an_earlier_statement_are_gone_after_a_hit() {
    let mut arena = Arena::enter("g_warnings");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    arena.warm(&mut pair.served, "SELECT v FROM t");
    for question in ["SHOW WARNINGS", "SELECT @@warning_count", "SHOW COUNT(*) WARNINGS", "GET DIAGNOSTICS @n = NUMBER"]
    {
        assert_eq!(pair.alike("SELECT CAST('x' AS INT)").parts.len(), 1);
        pair.hit(&mut arena, "SELECT v FROM t");
        pair.alike(question);
        pair.alike("SELECT @n");
    }
    pair.alike("SELECT wrong FROM t");
    pair.hit(&mut arena, "SELECT v FROM t");
    pair.alike("SHOW ERRORS");
}

#[test]
fn reads_with_warnings_are_never_kept() {
    let mut arena = Arena::enter("g_warned");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let warned = "SELECT v + 'x' FROM t WHERE id = 1";
    arena.check_never_hit(&mut pair.served, warned, "SELECT v FROM t");
    for _ in 0..2 {
        pair.alike(warned);
        pair.alike("SHOW WARNINGS");
    }
    // With `sql_notes` off there is no warning. The next session gets its own warnings again.
    let noted = "SELECT v FROM t WHERE id = 1 AND v > '1x'";
    (0..3).for_each(|_| drop(pair.alike(noted)));
    pair.alike("SHOW WARNINGS");
}

#[test]
fn last_insert_id_survives_hits() {
    let mut arena = Arena::enter("g_insert");
    let mut pair = Pair::new(&arena);
    let create = "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s INT)";
    pair.served.must(create).unwrap();
    pair.served.must("CREATE TABLE u (a INT)").unwrap();
    arena.warm(&mut pair.served, "SELECT a FROM u");
    pair.served.must("INSERT INTO t (s) VALUES (1), (2)").unwrap();
    arena.warm(&mut pair.served, "SELECT a FROM u");
    assert_eq!(rows_text(&pair.served.query("SELECT LAST_INSERT_ID()").unwrap()), "1");
    pair.served.must("INSERT INTO t (s) VALUES (3)").unwrap();
    let own = "SELECT s FROM t WHERE id = LAST_INSERT_ID()";
    assert_eq!(rows_text(&pair.served.query(own).unwrap()), "3");
    pair.served.must("INSERT INTO t (s) VALUES (4)").unwrap();
    for _ in 0..3 {
        assert_eq!(rows_text(&pair.served.query(own).unwrap()), "4");
    }
    let mut other = arena.client_with(&["INSERT INTO t (s) VALUES (5)"]);
    assert_eq!(rows_text(&other.query(own).unwrap()), "5");
    assert_eq!(rows_text(&pair.served.query(own).unwrap()), "4");
}

#[test]
fn status_flags_are_the_sessions_own() {
    let mut arena = Arena::enter("g_flags");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut maker, read);
    let mut pair = Pair::new(&arena);
    assert_eq!(status(&pair.hit(&mut arena, read)), AUTOCOMMIT);
    pair.alike("BEGIN");
    assert_eq!(status(&pair.hit(&mut arena, read)), AUTOCOMMIT | IN_TRANSACTION);
    assert_eq!(status(&pair.hit(&mut arena, read)), AUTOCOMMIT | IN_TRANSACTION);
    pair.alike("COMMIT");
    assert_eq!(status(&pair.hit(&mut arena, read)), AUTOCOMMIT);
    pair.alike("START TRANSACTION READ ONLY");
    pair.alike(read);
    assert_eq!(status(&pair.alike(read)), AUTOCOMMIT | IN_TRANSACTION | READ_ONLY);
    pair.alike("COMMIT");
    pair.alike("SET autocommit = 0");
    assert_eq!(status(&pair.hit(&mut arena, read)), IN_TRANSACTION);
    assert_eq!(status(&pair.hit(&mut arena, read)), IN_TRANSACTION);
    pair.alike("COMMIT");
    pair.alike("SET autocommit = 1");
    assert_eq!(status(&pair.hit(&mut arena, read)), AUTOCOMMIT);
}

/// Checks a transaction that a served read begins with autocommit off. The client must not see that the engine has started it.
#[test]
fn a_transaction_that_a_served_read_begins_is_like_any() {
    let mut arena = Arena::enter("g_implicit");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    let ends = [
        "COMMIT",
        "ROLLBACK AND CHAIN",
        "BEGIN",
        "START TRANSACTION READ ONLY",
        "SET autocommit = 1",
        "LOCK TABLES t READ",
        "ANALYZE TABLE t",
        "SET TRANSACTION READ ONLY",
        "XA START 'a'",
        "SAVEPOINT s",
        "UPDATE t SET v = v WHERE id = 9",
        "SHOW WARNINGS",
        "DO 1/0",
    ];
    let kinds = [
        ("ISOLATION LEVEL REPEATABLE READ", IN_TRANSACTION),
        ("ISOLATION LEVEL READ COMMITTED", IN_TRANSACTION),
        ("READ ONLY", IN_TRANSACTION | READ_ONLY),
    ];
    for (kind, flags) in kinds {
        for end in ends {
            let mut pair = Pair::new(&arena);
            pair.alike(&format!("SET SESSION TRANSACTION {kind}"));
            pair.alike("SET autocommit = 0");
            for before in ["SELECT @@in_transaction", "SELECT 1/0"] {
                pair.alike(before);
                arena.warm(&mut maker, read);
                assert_eq!(status(&pair.hit(&mut arena, read)), flags);
                pair.alike("SELECT FOUND_ROWS(), @@in_transaction, @@warning_count");
                pair.alike(end);
                for after in ["SELECT @@in_transaction", read, "UNLOCK TABLES", "COMMIT", "ROLLBACK"] {
                    pair.alike(after);
                }
                pair.alike("SET autocommit = 0");
            }
        }
    }
}

#[test]
fn a_transaction_is_begun_for_no_read_that_would_not_begin_it_so() {
    let mut arena = Arena::enter("g_not_begun");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    small_table(&mut maker, "m", "MyISAM");
    let setups: [&[&str]; 3] = [
        &["SET TRANSACTION READ ONLY"],
        &["SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE"],
        &["SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED"],
    ];
    for setup in setups {
        for table in ["t", "m"] {
            let read = format!("SELECT v FROM {table} WHERE id = 1");
            arena.warm(&mut maker, &read);
            let mut pair = Pair::new(&arena);
            for statement in ["SET autocommit = 0"].iter().chain(setup) {
                pair.alike(statement);
            }
            pair.alike(&read);
            pair.alike("SELECT @@in_transaction");
            pair.alike("UPDATE t SET v = v WHERE id = 9");
            pair.alike("ROLLBACK");
        }
    }
}

#[test]
fn status_flags_of_entries_stored_inside_transactions() {
    let mut arena = Arena::enter("g_stored");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    arena.warm(&mut maker, "SELECT 1 FROM t");
    let read = "SELECT v FROM t WHERE id = 2";
    all(&mut maker, &["SET autocommit = 0", "COMMIT"]);
    arena.warm(&mut maker, read);
    let mut pair = Pair::new(&arena);
    assert_eq!(status(&pair.hit(&mut arena, read)), AUTOCOMMIT);
}

#[test]
fn status_flags_while_a_begin_waits() {
    let arena = Arena::enter("g_waits");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let prepared = |client: &mut Client| client.prepare("SELECT v FROM t").unwrap().1.unwrap();
    let (served, plain) = (prepared(&mut pair.served), prepared(&mut pair.plain));
    for begin in ["BEGIN", "START TRANSACTION", "BEGIN WORK", "START TRANSACTION READ ONLY"] {
        pair.alike(begin);
        assert_eq!(pair.served.ping().unwrap(), pair.plain.ping().unwrap());
        pair.alike("ROLLBACK");
        pair.alike(begin);
        assert_eq!(pair.served.init_db(&arena.db).unwrap(), pair.plain.init_db(&arena.db).unwrap());
        pair.alike("SELECT @@in_transaction");
        pair.alike("COMMIT");
        pair.alike(begin);
        assert_eq!(pair.served.reset(&served).unwrap(), pair.plain.reset(&plain).unwrap());
        assert_eq!(pair.served.execute(&served, &[]).unwrap(), pair.plain.execute(&plain, &[]).unwrap());
        pair.alike("COMMIT");
        pair.alike(begin);
        pair.alike(begin);
        pair.alike("SET @a = 1");
        pair.alike("SELECT @@in_transaction");
        pair.alike("ROLLBACK");
    }
}

#[test]
fn sql_modes_in_the_status_flags() {
    let mut arena = Arena::enter("g_modes");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    for mode in ["''", "'NO_BACKSLASH_ESCAPES'", "'ANSI_QUOTES'", "'NO_BACKSLASH_ESCAPES,ANSI'", "DEFAULT"] {
        pair.alike(&format!("SET sql_mode = {mode}"));
        arena.warm(&mut pair.served, "SELECT v FROM t");
        pair.hit(&mut arena, "SELECT v FROM t");
        pair.alike("BEGIN");
        pair.alike("SELECT v FROM t");
        pair.alike("COMMIT");
    }
}

#[test]
fn a_read_among_several_statements() {
    let mut arena = Arena::enter("g_several");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut pair.served, read);
    let several = format!("{read}; {read}; SELECT FOUND_ROWS()");
    for _ in 0..3 {
        let response = pair.alike(&several);
        assert_eq!(response.parts.len(), 3);
        assert!(response.parts.iter().all(|part| matches!(part, Part::Rows(_))));
    }
    arena.warm(&mut pair.served, read);
    pair.hit(&mut arena, read);
    pair.served.must("UPDATE t SET v = 11 WHERE id = 1; SELECT v FROM t WHERE id = 1").unwrap();
    (0..3).for_each(|_| assert_eq!(rows_text(&pair.alike(read)), "11"));
}

#[test]
fn reads_that_are_profiled_are_run() {
    let mut arena = Arena::enter("g_profiles");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut client, read);
    client.must("SET SESSION profiling = 1").unwrap();
    (0..2).for_each(|_| arena.miss(&mut client, read, "10"));
    let profiles = rows_text(&client.must("SHOW PROFILES").unwrap());
    assert_eq!(profiles.matches(read).count(), 2, "{profiles}");
    client.must("SET SESSION profiling = 0").unwrap();
    arena.hit(&mut client, read, "10");
}

/// Checks FOUND_ROWS() when the server runs a served read again, to learn the number of rows found, and that read is killed. The kill ends
/// the statement that asks, and the client may send it again.
#[test]
fn rows_found_by_a_read_that_is_killed_when_it_is_run_again() {
    let mut arena = Arena::enter("g_killed");
    let mut client = arena.client_with(&["CREATE TABLE t (v INT)", "INSERT INTO t SELECT seq FROM seq_1_to_3000"]);
    let read = "SELECT a.v FROM t AS a JOIN t AS b ON a.v = b.v + 0 GROUP BY a.v LIMIT 3, 1";
    arena.warm(&mut client, read);
    let (mut killer, id) = (arena.client(), client.thread_id);
    client.send(3, b"SELECT FOUND_ROWS()").unwrap();
    let is_running = format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = {id} AND COMMAND = 'Query' AND INFO LIKE '%GROUP BY%'"
    );
    until("the read runs again", || rows_text(&killer.must(&is_running).unwrap()) == "1");
    killer.must(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(rows_text(&client.read_response().unwrap()), "error 1317");
    assert_eq!(rows_text(&client.must("SHOW WARNINGS").unwrap()), "Error,1317,Query execution was interrupted");
    assert_eq!(rows_text(&client.must("SELECT FOUND_ROWS()").unwrap()), "4");
    arena.hit(&mut client, read, "4");
}

/// Checks that the server runs reads while the optimizer trace is on. Only the server can report what the optimizer did for a read.
#[test]
fn reads_that_are_traced_are_run() {
    let mut arena = Arena::enter("g_traces");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    maker.must("CREATE PROCEDURE tracing() SET optimizer_trace = 'enabled=on'").unwrap();
    let reads = ["SELECT v FROM t WHERE id = 1", "SELECT id FROM t WHERE id = 1"];
    let trace = "SELECT QUERY FROM information_schema.OPTIMIZER_TRACE";
    let off = "SET SESSION optimizer_trace = 'enabled=off'";
    let ways = [
        "SET SESSION optimizer_trace = 'enabled=on'",
        "SET @@optimizer_trace = CONCAT('enabled', '=on')",
        "CALL tracing()",
        "EXECUTE IMMEDIATE 'SET optimizer_trace = ''enabled=on'''",
        "PREPARE tracing FROM 'SET optimizer_trace = ''enabled=on'''; EXECUTE tracing",
        "SET GLOBAL optimizer_trace = 'enabled=on'",
    ];
    for way in ways {
        let mut client = arena.client();
        reads.iter().for_each(|read| drop(arena.warm(&mut client, read)));
        drop(client.query(way).unwrap());
        if way.contains("GLOBAL") {
            client = arena.client();
        }
        for read in reads.repeat(3) {
            client.must(read).unwrap();
            assert_eq!(rows_text(&client.must(trace).unwrap()), read, "after `{way}`");
        }
        client.must(off).unwrap();
        drop(client.query(reads[0]).unwrap());
        assert_eq!(rows_text(&client.must(trace).unwrap()), reads[1], "after `{way}` and `{off}`");
        if way.starts_with("SET") {
            arena.warm(&mut client, reads[0]);
        }
    }
    maker.must("SET GLOBAL optimizer_trace = 'enabled=off'").unwrap();
}

/// Checks that the flag for a slow read is not repeated when the result comes from the cache.
#[test]
fn a_served_read_does_not_say_that_it_was_slow() {
    let mut arena = Arena::enter("g_slow");
    let mut maker = arena.client_with(&["SET SESSION long_query_time = 0"]);
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    let slow = |response: &Response| response.status().unwrap() & SLOW;
    assert_eq!(slow(&maker.must(read).unwrap()), SLOW, "the server does not call it slow");
    arena.warm(&mut maker, read);
    let mut pair = Pair::new(&arena);
    assert_eq!(slow(&pair.hit(&mut arena, read)), 0);
}

/// Tests settings for session tracking that sessions inherit, in the presence of the engine's own statements.
#[test]
fn inherited_session_tracking_is_left_alone() {
    let mut arena = Arena::enter("g_tracked");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut maker, read);
    let mut login = arena.login();
    login.capabilities |= capability::SESSION_TRACK;
    let transaction: &[&str] = &["BEGIN", read, read, "COMMIT", read];
    let asked: &[&str] = &[read, "SELECT FOUND_ROWS()", "SET autocommit = 1", read, "DO 1", "SET time_zone = '+00:00'"];
    for (tracked, usual, statements) in [
        ("session_track_transaction_info = 'STATE'", "session_track_transaction_info = 'OFF'", transaction),
        ("session_track_system_variables = '*'", "session_track_system_variables = DEFAULT", asked),
    ] {
        maker.must(&format!("SET GLOBAL {tracked}")).unwrap();
        let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        for statement in statements.repeat(9) {
            let (served, plain) = (served.query(statement).unwrap(), plain.query(statement).unwrap());
            assert_eq!(served, plain, "`{statement}` with {tracked}");
        }
        maker.must(&format!("SET GLOBAL {usual}")).unwrap();
    }
}

/// Checks session tracking while the engine does not know the initial settings of sessions yet. It asks the server for them, and in a
/// transaction, a client with session tracking would see that question.
#[test]
fn tracking_is_left_alone_before_it_is_known_how_sessions_begin() {
    let mut arena = Arena::enter("g_unmet");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut maker, read);
    let mut login = arena.login();
    login.capabilities |= capability::SESSION_TRACK;
    // While this table is locked, the engine cannot look up the initial settings of sessions.
    let mut holder = arena.client_with(&["LOCK TABLES mysql.global_priv WRITE"]);
    all(
        &mut maker,
        &[
            "SET GLOBAL session_track_transaction_info = 'STATE'",
            "SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON",
        ],
    );
    let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    for statement in ["BEGIN", read, read, "COMMIT", read, "SET time_zone = DEFAULT", "BEGIN", read, "COMMIT", read] {
        assert_eq!(served.query(statement).unwrap(), plain.query(statement).unwrap(), "`{statement}`");
    }
    let asked = "SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE 'SELECT FOUND\\_ROWS(), %'";
    assert_eq!(rows_text(&maker.query(asked).unwrap()), "1", "outside of a transaction it is asked, and once");
    let defaults = "SET GLOBAL session_track_transaction_info = DEFAULT, GLOBAL general_log = DEFAULT, GLOBAL log_output = DEFAULT";
    all(&mut maker, &[defaults, "TRUNCATE mysql.general_log"]);
    all(&mut holder, &["UNLOCK TABLES"]);
}

#[test]
fn session_tracking_is_left_alone() {
    let mut arena = Arena::enter("g_tracking");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    arena.warm(&mut maker, "SELECT v FROM t");
    let mut login = arena.login();
    login.capabilities |= capability::SESSION_TRACK;
    let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    let statements = [
        "SELECT v FROM t",
        "SET SESSION session_track_transaction_info = 'CHARACTERISTICS'",
        "BEGIN",
        "SELECT v FROM t",
        "SELECT v FROM t",
        "COMMIT",
        "USE mysql",
        "USE g_tracking",
        "SET session_track_state_change = 1",
        "SELECT v FROM t",
        "SET NAMES latin1",
        "SELECT v FROM t",
    ];
    for statement in statements {
        assert_eq!(served.query(statement).unwrap(), plain.query(statement).unwrap(), "`{statement}`");
    }
}

/// Checks a prepared BEGIN that is executed in another database than it was prepared in. The server changes to that database and back, and
/// notifies a client that tracks its database.
#[test]
fn a_begin_that_was_prepared_in_another_database_is_left_to_the_server() {
    let mut arena = Arena::enter("g_elsewhere");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    arena.warm(&mut maker, "SELECT v FROM t");
    let mut login = arena.login();
    login.capabilities |= capability::SESSION_TRACK;
    let (mut served, mut plain) = (arena.client_as(&login), arena.client_as(&login));
    plain.must("SET SESSION fqc_type = OFF").unwrap();
    let mut begins = [&mut served, &mut plain].map(|client| client.prepare("BEGIN").unwrap().1.unwrap());
    for database in ["g_elsewhere", "mysql", "g_elsewhere"] {
        let answers = [&mut served, &mut plain].into_iter().zip(&mut begins).map(|(client, begin)| {
            client.init_db(database).unwrap();
            let answer = client.execute(begin, &[]).unwrap();
            client.must("COMMIT").unwrap();
            answer
        });
        let [served, plain] = answers.collect::<Vec<_>>().try_into().unwrap();
        assert_eq!(served, plain, "in `{database}`");
    }
}

/// Checks reads with `sql_auto_is_null`. With this setting `IS NULL` finds the row just inserted, once.
#[test]
fn the_last_insert_id_under_another_name() {
    let mut arena = Arena::enter("g_null");
    let mut pair = Pair::new(&arena);
    pair.served.must("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, s INT)").unwrap();
    arena.warm(&mut pair.served, "SELECT s FROM t");
    let read = "SELECT s FROM t WHERE id IS NULL";
    for value in 1..4 {
        for client in [&mut pair.served, &mut pair.plain] {
            client.must("SET sql_auto_is_null = 1").unwrap();
            client.must(&format!("INSERT INTO t (s) VALUES ({value})")).unwrap();
            assert_eq!(rows_text(&client.query(read).unwrap()), value.to_string());
            (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), ""));
        }
    }
}

/// Checks a BEGIN after a failed definition inside a read-only transaction. The definition has already ended the transaction, but the
/// client only gets an error.
#[test]
fn a_begin_after_a_read_only_transaction_that_an_error_ended() {
    let arena = Arena::enter("g_read_only");
    let mut setter = arena.client();
    small_table(&mut setter, "t", "InnoDB");
    let mut pair = Pair::new(&arena);
    for statement in [
        "START TRANSACTION READ ONLY",
        "SELECT v FROM t WHERE id = 1",
        "CREATE TRIGGER g AFTER DELETE ON nowhere FOR EACH ROW SET @u = 1",
        "BEGIN",
        "SELECT v FROM t WHERE id = 1",
        "COMMIT",
    ] {
        pair.alike(statement);
    }
}

#[test]
fn a_combined_read_served_right_after_a_begin() {
    let mut arena = Arena::enter("g_begin");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    let read = "SELECT COUNT(*) FROM t WHERE id = 1 OR id = 2";
    for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
        pair.alike(&format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}"));
        arena.warm(&mut pair.served, read);
        for statement in ["BEGIN", read, "SELECT ROW_COUNT(), FOUND_ROWS()", "COMMIT"] {
            pair.alike(statement);
        }
    }
}

/// Checks that warnings from before a served read are gone afterwards. The server keeps them until a statement uses a table, and it has not
/// seen the served read.
#[test]
fn warnings_from_before_a_served_read_are_gone() {
    let mut arena = Arena::enter("g_gone");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let (read, warner) = ("SELECT v FROM t WHERE id = 1", "SELECT CAST('12x' AS SIGNED), COUNT(*) FROM t");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    arena.warm(&mut client, read);
    for (before, after) in ["SELECT 1", "DO 1", "SELECT @@sql_mode"].iter().flat_map(|one| {
        ["SELECT 1", "SELECT 1 FROM DUAL", "SET @x = 1", "DO 1", "SELECT v FROM t WHERE id = 2"]
            .map(|other| (*one, other))
    }) {
        for statement in [warner, before, read, after] {
            drop((client.query(statement).unwrap(), plain.query(statement).unwrap()));
        }
        let [told, truth] = [&mut client, &mut plain].map(|one| rows_text(&one.query("SHOW WARNINGS").unwrap()));
        assert_eq!(told, truth, "{before}, a hit, {after}");
    }
    arena.hit(&mut client, read, "10");
}

#[test]
fn what_a_statement_after_a_served_read_told_is_kept_when_the_rows_found_are_put_right() {
    let mut arena = Arena::enter("g_kept");
    small_table(&mut arena.client(), "t", "InnoDB");
    for read in ["SELECT v FROM t WHERE id = 9", "SELECT v FROM t WHERE id = 1", "SELECT * FROM t"] {
        for failing in ["INSERT INTO t VALUES (1, 1)", "SET SESSION autocommit = 7"] {
            for after in ["DO 1", "UNLOCK TABLES", "FLUSH STATUS", "SAVEPOINT s", "EXECUTE IMMEDIATE 'SHOW WARNINGS'"] {
                let mut pair = Pair::new(&arena);
                arena.warm(&mut pair.served, read);
                pair.hit(&mut arena, read);
                for statement in ["SET @x = 1", failing, after, "GET DIAGNOSTICS @errors = NUMBER", "SHOW WARNINGS"] {
                    pair.alike(statement);
                }
                pair.alike("SELECT FOUND_ROWS()");
                assert_eq!(rows_text(&pair.alike("SELECT @errors")), "1", "{read}, {failing}, {after}");
            }
        }
    }
}

#[test]
fn warnings_from_before_a_served_read_are_gone_in_a_transaction_that_waits() {
    let mut arena = Arena::enter("g_cleared");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    for read in ["SELECT v FROM t WHERE id = 1", "SELECT MIN(v) FROM t"] {
        arena.warm(&mut pair.served, read);
        for warner in ["SELECT nothing FROM t", "SELECT 1 / 0 FROM t"] {
            for question in ["SHOW WARNINGS", "SHOW ERRORS", "SELECT @@warning_count, @@error_count"] {
                pair.alike(warner);
                pair.hit(&mut arena, read);
                pair.alike("BEGIN");
                pair.alike(question);
                pair.alike("COMMIT");
            }
        }
    }
}

/// Checks that the errors of a preparation remain although the engine may ask the server for settings before it. Diagnostics that the
/// question overwrites are restored before the preparation, not after it.
#[test]
fn errors_of_a_prepare_outlive_a_question_about_settings() {
    let arena = Arena::enter("g_prepare");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.plain, "t", "InnoDB");
    for statement in ["SELECT id FROM t WHERE id < 4", "SET SESSION sql_mode = CONCAT(@@sql_mode, '')"] {
        pair.alike(statement);
    }
    for client in [&mut pair.served, &mut pair.plain] {
        let prepared = client.prepare("SELECT * FROM nowhere WHERE id = ?").unwrap().0;
        assert_eq!(rows_text(&prepared), "error 1146");
    }
    let shown = pair.alike("SHOW ERRORS");
    assert!(rows_text(&shown).contains("1146"), "{}", rows_text(&shown));
    pair.alike("SELECT FOUND_ROWS()");
}

/// Checks that the errors of a preparation remain when the server runs a served read after all, to learn its number of rows found. It runs
/// the read before a new transaction would change what the read sees, but not between an error and the question about it.
#[test]
fn errors_of_a_prepare_outlive_a_served_read_that_is_run_after_all() {
    let mut arena = Arena::enter("g_run_after_all");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.plain, "t", "InnoDB");
    let read = "SELECT * FROM (SELECT id, COUNT(*) n FROM t WHERE id = 2 GROUP BY id) q ORDER BY id";
    arena.warm(&mut pair.served, read);
    pair.hit(&mut arena, read);
    for client in [&mut pair.served, &mut pair.plain] {
        assert_eq!(rows_text(&client.prepare("SELECT * FROM nowhere WHERE id = ?").unwrap().0), "error 1146");
        let (_, commit) = client.prepare("COMMIT AND CHAIN").unwrap();
        client.execute(&commit.unwrap(), &[]).unwrap();
    }
    pair.alike("GET DIAGNOSTICS @errors = NUMBER");
    assert_eq!(rows_text(&pair.alike("SELECT @errors")), "1");
    pair.alike("SELECT FOUND_ROWS()");
}

#[test]
fn an_error_and_the_rows_found_outlive_values_after_a_served_read() {
    let mut arena = Arena::enter("g_values");
    let mut pair = Pair::new(&arena);
    small_table(&mut pair.served, "t", "InnoDB");
    for read in ["SELECT v FROM t", "SELECT v FROM t ORDER BY id LIMIT 5 OFFSET 1"] {
        arena.warm(&mut pair.served, read);
        for question in ["SELECT @@warning_count, @@error_count", "SHOW WARNINGS", "SELECT FOUND_ROWS()"] {
            pair.hit(&mut arena, read);
            pair.alike("SELECT v FROM nowhere");
            pair.alike("VALUES (1), (2)");
            pair.alike(question);
            pair.hit(&mut arena, read);
            pair.alike("VALUES (1), (2), (3), (4)");
            pair.alike(question);
        }
    }
}
