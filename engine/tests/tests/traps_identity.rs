//! What makes two statements the same: bytes, database, account, protocol, and every setting that can change a result.

mod traps;

use std::sync::Arc;

use fqc_tests::client::{Client, Login, Param, capability};
use traps::{Arena, all, said, said_binary, small_table, start};

/// One text, two settings: neither session ever sees the other's result, and equal settings share theirs.
#[track_caller]
fn facet(arena: &mut Arena, read: &str, one: (&str, &str), other: (&str, &str)) {
    let (mut first, mut second) = (arena.client_with(&[one.0]), arena.client_with(&[other.0]));
    assert_eq!(arena.warm(&mut first, read), one.1, "after `{}`", one.0);
    assert_eq!(arena.warm(&mut second, read), other.1, "after `{}`", other.0);
    arena.hit(&mut first, read, one.1);
    let mut third = arena.client_with(&[one.0]);
    arena.hit(&mut third, read, one.1);
    third.must(other.0).unwrap();
    assert_eq!(arena.warm(&mut third, read), other.1, "after `{}` and `{}`", one.0, other.0);
}

fn texts(arena: &Arena) -> Client {
    let create =
        "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET utf8mb4, n INT, d DATETIME, s TIMESTAMP)";
    let rows = "INSERT INTO t VALUES (1, 'é', 10, '2024-01-01 00:00:00', '2024-01-01 00:00:00'), (2, 'b', 3, '2024-03-03', '2024-03-03')";
    arena.client_with(&["SET time_zone = '+00:00'", create, rows])
}

#[test]
fn character_set_results() {
    let mut arena = Arena::enter("i_results");
    texts(&arena);
    let read = "SELECT HEX(a), a FROM t WHERE id = 1";
    facet(&mut arena, read, ("SET NAMES utf8mb4", "C3A9,é"), ("SET NAMES latin1", "C3A9,\u{fffd}"));
    let one = ("SET character_set_results = utf8mb4", "C3A9,é");
    facet(&mut arena, read, one, ("SET character_set_results = latin1", "C3A9,\u{fffd}"));
}

/// Of one and the same character set: the results' collation can be that of the login, or the default one. Nothing but the
/// column's description tells.
#[test]
fn collation_of_results() {
    let mut arena = Arena::enter("i_collated");
    texts(&arena);
    let read = "SELECT a FROM t WHERE id = 1";
    let asked = "SET sql_mode = CONCAT(@@sql_mode, '')";
    let ways: [&[&str]; 6] = [
        &[],
        &[asked],
        &["SET STATEMENT character_set_results = latin1 FOR SELECT 1"],
        &["SET character_set_results = CONCAT('utf8', 'mb4')"],
        &["SET NAMES utf8mb4 COLLATE utf8mb4_bin", asked],
        &["SET NAMES utf8mb4 COLLATE utf8mb4_bin"],
    ];
    let login = Login { collation: 46, ..arena.login() };
    let session = |arena: &Arena, ways: &[&[&str]]| {
        let mut client = arena.client_as(&login);
        ways.iter().for_each(|way| all(&mut client, way));
        client
    };
    for (before, after) in ways.iter().flat_map(|before| ways.iter().map(move |after| (*before, *after))) {
        let mut first = session(&arena, &[before]);
        arena.warm(&mut first, read);
        all(&mut first, after);
        let truth = session(&arena, &[&["SET SESSION fqc_type = OFF"], before, after]).query(read).unwrap();
        assert!(first.query(read).unwrap() == truth, "{before:?}, {after:?}, in one session");
        let truth = session(&arena, &[&["SET SESSION fqc_type = OFF"], after]).query(read).unwrap();
        assert!(session(&arena, &[after]).query(read).unwrap() == truth, "{before:?}, then another: {after:?}");
    }
}

#[test]
fn character_set_of_literals() {
    let mut arena = Arena::enter("i_literals");
    texts(&arena);
    let read = "SELECT LENGTH('é'), CHAR_LENGTH('é') FROM t WHERE id = 1";
    facet(&mut arena, read, ("SET NAMES utf8mb4", "2,1"), ("SET NAMES latin1", "2,2"));
    let one = ("SET character_set_client = utf8mb4", "2,1");
    facet(&mut arena, read, one, ("SET character_set_client = latin1", "4,2"));
}

#[test]
fn character_set_connection() {
    let mut arena = Arena::enter("i_connection");
    texts(&arena);
    let read = "SELECT HEX('é') FROM t WHERE id = 1";
    let one = ("SET character_set_connection = utf8mb4", "C3A9");
    facet(&mut arena, read, one, ("SET character_set_connection = latin1", "E9"));
}

#[test]
fn set_character_set() {
    let mut arena = Arena::enter("i_charset");
    texts(&arena);
    let read = "SELECT HEX(a), a FROM t WHERE id = 1";
    let mut usual = arena.client();
    assert_eq!(arena.warm(&mut usual, read), "C3A9,é");
    let mut other = arena.client_with(&["SET CHARACTER SET latin1"]);
    assert_eq!(arena.warm(&mut other, read), "C3A9,\u{fffd}");
    arena.hit(&mut usual, read, "C3A9,é");
}

#[test]
fn collation_connection() {
    let mut arena = Arena::enter("i_collation");
    texts(&arena);
    let read = "SELECT 'a' = 'A' FROM t WHERE id = 1";
    let one = ("SET collation_connection = utf8mb4_bin", "0");
    facet(&mut arena, read, one, ("SET collation_connection = utf8mb4_general_ci", "1"));
    let named = ("SET NAMES utf8mb4 COLLATE utf8mb4_bin", "0");
    facet(&mut arena, read, named, ("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "1"));
}

#[test]
fn collation_of_the_handshake() {
    let mut arena = Arena::enter("i_handshake");
    texts(&arena);
    let read = "SELECT a, 'a' = 'A' FROM t WHERE id = 1";
    let mut folding = arena.client();
    let mut binary = arena.client_as(&Login { collation: 46, ..arena.login() });
    let mut latin = arena.client_as(&Login { collation: 8, ..arena.login() });
    assert_eq!(arena.warm(&mut folding, read), "é,1");
    assert_eq!(arena.warm(&mut binary, read), "é,0");
    assert_eq!(arena.warm(&mut latin, read), "\u{fffd},1");
    arena.hit(&mut folding, read, "é,1");
}

#[test]
fn sql_mode() {
    let mut arena = Arena::enter("i_mode");
    texts(&arena);
    let read = "SELECT \"a\" FROM t WHERE id = 2";
    facet(&mut arena, read, ("SET sql_mode = ''", "a"), ("SET sql_mode = 'ANSI_QUOTES'", "b"));
    let read = "SELECT '1' || n FROM t WHERE id = 2";
    facet(&mut arena, read, ("SET sql_mode = 'PIPES_AS_CONCAT'", "13"), ("SET SESSION sql_mode = ''", "1"));
    let read = "SELECT '\\\\' FROM t WHERE id = 2";
    let one = ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "\\\\");
    facet(&mut arena, read, one, ("SET @@sql_mode = ''", "\\"));
}

#[test]
fn sql_mode_by_an_expression() {
    let mut arena = Arena::enter("i_expression");
    texts(&arena);
    let read = "SELECT \"a\" FROM t WHERE id = 2";
    let one = ("SET sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", "a");
    facet(&mut arena, read, one, ("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')", "b"));
    facet(&mut arena, read, ("SET sql_mode = DEFAULT", "a"), ("SET sql_mode = (SELECT 'ANSI_QUOTES')", "b"));
    facet(&mut arena, read, ("SET @mode = 'ANSI', sql_mode = DEFAULT", "a"), ("SET sql_mode = 4", "b"));
}

#[test]
fn time_zone() {
    let mut arena = Arena::enter("i_zone");
    texts(&arena);
    let read = "SELECT s FROM t WHERE id = 1";
    let one = ("SET time_zone = '+00:00'", "2024-01-01 00:00:00");
    facet(&mut arena, read, one, ("SET time_zone = '+02:00'", "2024-01-01 02:00:00"));
    let one = ("SET time_zone = CONCAT('+00', ':00')", "2024-01-01 00:00:00");
    facet(&mut arena, read, one, ("SET time_zone = CONCAT('-01', ':00')", "2023-12-31 23:00:00"));
}

#[test]
fn sql_select_limit() {
    let mut arena = Arena::enter("i_limit");
    texts(&arena);
    let read = "SELECT id FROM t ORDER BY id";
    let one = ("SET sql_select_limit = 1", "1");
    facet(&mut arena, read, one, ("SET sql_select_limit = DEFAULT", "1;2"));
}

#[test]
fn group_concat_max_len() {
    let mut arena = Arena::enter("i_concat");
    texts(&arena);
    let read = "SELECT GROUP_CONCAT(id ORDER BY id) FROM t";
    let mut wide = arena.client();
    assert_eq!(arena.warm(&mut wide, read), "1,2");
    // What is cut raises a warning, and is never kept.
    let mut narrow = arena.client();
    all(&mut narrow, &["CREATE TABLE long_ones (a INT)", "INSERT INTO long_ones SELECT seq FROM seq_1000_to_1004"]);
    let read = "SELECT GROUP_CONCAT(a ORDER BY a) FROM long_ones";
    assert_eq!(arena.warm(&mut wide, read), "1000,1001,1002,1003,1004");
    narrow.must("SET group_concat_max_len = 9").unwrap();
    (0..3).for_each(|_| arena.miss(&mut narrow, read, "1000,1001"));
    arena.hit(&mut wide, read, "1000,1001,1002,1003,1004");
}

#[test]
fn div_precision_increment() {
    let mut arena = Arena::enter("i_division");
    texts(&arena);
    let read = "SELECT n / 4 FROM t WHERE id = 1";
    facet(&mut arena, read, ("SET div_precision_increment = 4", "2.5000"), ("SET div_precision_increment = 1", "2.5"));
}

#[test]
fn lc_time_names() {
    let mut arena = Arena::enter("i_names");
    texts(&arena);
    let read = "SELECT DAYNAME(d), MONTHNAME(d) FROM t WHERE id = 1";
    let one = ("SET lc_time_names = 'en_US'", "Monday,January");
    facet(&mut arena, read, one, ("SET lc_time_names = 'de_DE'", "Montag,Januar"));
}

#[test]
fn default_week_format() {
    let mut arena = Arena::enter("i_week");
    texts(&arena);
    let read = "SELECT WEEK(d) FROM t WHERE id = 2";
    facet(&mut arena, read, ("SET default_week_format = 0", "9"), ("SET default_week_format = 3", "9"));
    let read = "SELECT WEEK(d) FROM t WHERE id = 1";
    facet(&mut arena, read, ("SET default_week_format = 0", "0"), ("SET default_week_format = 3", "1"));
}

#[test]
fn max_sort_length_and_old_mode() {
    let mut arena = Arena::enter("i_sort");
    let mut maker = arena.client();
    all(&mut maker, &["CREATE TABLE t (a VARCHAR(200))", "INSERT INTO t VALUES (REPEAT('x', 100)), (REPEAT('y', 99))"]);
    let read = "SELECT LENGTH(a) FROM t ORDER BY a DESC";
    facet(&mut arena, read, ("SET max_sort_length = 1024", "99;100"), ("SET max_sort_length = 1000", "99;100"));
    let read = "SELECT LENGTH(a), CAST(_utf8 'x' AS CHAR) FROM t ORDER BY a";
    facet(&mut arena, read, ("SET old_mode = 'UTF8_IS_UTF8MB3'", "100,x;99,x"), ("SET old_mode = ''", "100,x;99,x"));
}

#[test]
fn the_timestamp_of_a_session() {
    let mut arena = Arena::enter("i_clock");
    texts(&arena);
    let read = "SELECT FROM_UNIXTIME(n) FROM t WHERE id = 1";
    let zone = "SET time_zone = '+00:00'";
    assert_eq!(arena.warm(&mut arena.client_with(&[zone]), read), "1970-01-01 00:00:10");
    let mut still = arena.client_with(&["SET timestamp = 1700000000", zone]);
    arena.never(&mut still, "SELECT NOW() FROM t WHERE id = 1", "SELECT n FROM t WHERE id = 1");
    arena.never(&mut still, "SELECT UNIX_TIMESTAMP() FROM t WHERE id = 1", "SELECT n FROM t WHERE id = 1");
}

#[test]
fn a_setting_for_one_statement() {
    let mut arena = Arena::enter("i_statement");
    texts(&arena);
    let mut client = arena.client();
    let read = "SELECT id FROM t ORDER BY id";
    assert_eq!(arena.warm(&mut client, read), "1;2");
    let limited = format!("SET STATEMENT sql_select_limit = 1 FOR {read}");
    (0..3).for_each(|_| assert_eq!(said(&client.query(&limited).unwrap()), "1"));
    arena.hit(&mut client, read, "1;2");
}

#[test]
fn settings_made_where_no_text_shows_them() {
    let mut arena = Arena::enter("i_hidden");
    let mut maker = texts(&arena);
    let limits = "CREATE PROCEDURE limits() SET sql_select_limit = 1";
    let zones = "CREATE PROCEDURE zones() BEGIN SET @@time_zone = '+05:00'; END";
    let names = "CREATE FUNCTION names() RETURNS INT BEGIN SET lc_time_names = 'de_DE'; RETURN 1; END";
    all(&mut maker, &[limits, zones, names]);
    let reads =
        ["SELECT id FROM t ORDER BY id", "SELECT s FROM t WHERE id = 1", "SELECT DAYNAME(d) FROM t WHERE id = 1"];
    let hidden = [
        "CALL limits()",
        "CALL zones()",
        "SELECT names()",
        "EXECUTE IMMEDIATE 'SET sql_select_limit = 1'",
        "SET @a = 1, sql_select_limit = 1, @b = 2",
        "DO 1; SET sql_select_limit = 1; DO 2",
        "PREPARE p FROM 'SET time_zone = \'+03:00\''; EXECUTE p",
        "BEGIN NOT ATOMIC SET sql_select_limit = 1; END",
        "SET STATEMENT max_statement_time = 5 FOR CALL zones()",
    ];
    let mut usual = arena.client();
    let before = reads.map(|read| arena.warm(&mut usual, read));
    let mut changes = 0;
    for hidden in hidden {
        let (mut client, mut plain) = (arena.client(), arena.client_with(&["SET SESSION fqc_type = OFF"]));
        reads.iter().for_each(|read| drop(client.query(read).unwrap()));
        [&mut client, &mut plain].iter_mut().for_each(|one| drop(one.query(hidden).unwrap()));
        for (read, before) in reads.iter().zip(&before) {
            let truth = said(&plain.query(read).unwrap());
            (0..3).for_each(|_| assert_eq!(said(&client.query(read).unwrap()), truth, "`{read}` after `{hidden}`"));
            changes += usize::from(truth != *before);
        }
    }
    assert!(changes >= 5, "only {changes} of these settings changed a result");
}

#[test]
fn settings_made_by_a_prepared_statement() {
    let mut arena = Arena::enter("i_prepared");
    let mut client = texts(&arena);
    let read = "SELECT id FROM t ORDER BY id";
    assert_eq!(arena.warm(&mut client, read), "1;2");
    let prepared = client.prepare("SET sql_select_limit = ?").unwrap().1.unwrap();
    client.execute(&prepared, &[Param::Int(1)]).unwrap();
    (0..3).for_each(|_| assert_eq!(said(&client.query(read).unwrap()), "1"));
    client.execute(&prepared, &[Param::Int(9)]).unwrap();
    (0..3).for_each(|_| assert_eq!(said(&client.query(read).unwrap()), "1;2"));
}

#[test]
fn globals_that_new_sessions_inherit() {
    let mut arena = Arena::enter("i_globals");
    texts(&arena);
    let read = "SELECT n / 4 FROM t WHERE id = 1";
    let mut old = arena.client();
    assert_eq!(arena.warm(&mut old, read), "2.5000");
    old.must("SET GLOBAL div_precision_increment = 1").unwrap();
    let mut new = arena.client();
    assert_eq!(arena.warm(&mut new, read), "2.5");
    assert_eq!(arena.warm(&mut old, read), "2.5000");
    new.must("SET GLOBAL div_precision_increment = DEFAULT").unwrap();
    let mut last = arena.client();
    assert_eq!(arena.warm(&mut last, read), "2.5000");
    new.must("SET SESSION div_precision_increment = DEFAULT").unwrap();
    assert_eq!(arena.warm(&mut new, read), "2.5000");
}

#[test]
fn the_current_database() {
    let mut arena = Arena::enter("i_database");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let other = ["CREATE DATABASE i_other", "CREATE TABLE i_other.t (v INT)", "INSERT INTO i_other.t VALUES (77)"];
    all(&mut maker, &other);
    // What is granted in a database counts from when it is chosen: nothing is defined from here on.
    let mut client = arena.client();
    let read = "SELECT MIN(v), DATABASE() FROM t";
    assert_eq!(arena.warm(&mut client, read), "10,i_database");
    client.must("USE i_other").unwrap();
    assert_eq!(arena.warm(&mut client, read), "77,i_other");
    assert!(client.init_db("i_database").unwrap().failure().is_none());
    arena.hit(&mut client, read, "10,i_database");
    assert!(client.init_db("nowhere").unwrap().failure().is_some());
    arena.hit(&mut client, read, "10,i_database");
    assert_eq!(client.query("USE nowhere").unwrap().failure().unwrap().code, 1049);
    arena.hit(&mut client, read, "10,i_database");
    client.must("USE i_other; USE i_database; USE i_other").unwrap();
    assert_eq!(arena.warm(&mut client, read), "77,i_other");
}

#[test]
fn a_database_that_is_dropped_under_a_session() {
    let mut arena = Arena::enter("i_dropped");
    let mut client = arena.client();
    let make = ["CREATE DATABASE i_gone", "CREATE TABLE i_gone.t (v INT)", "INSERT INTO i_gone.t VALUES (1)"];
    all(&mut client, &make);
    client.must("USE i_gone").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT v FROM t"), "1");
    let mut other = arena.client();
    other.must("DROP DATABASE i_gone").unwrap();
    arena.miss(&mut client, "SELECT v FROM t", "error 1146");
    all(&mut other, &make);
    other.must("UPDATE i_gone.t SET v = 2").unwrap();
    assert_eq!(arena.warm(&mut client, "SELECT v FROM t"), "2");
    client.must("DROP DATABASE i_gone").unwrap();
    arena.miss(&mut client, "SELECT v FROM t", "error 1046");
}

#[test]
fn the_bytes_of_a_statement() {
    let mut arena = Arena::enter("i_bytes");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let alike = [
        "SELECT v FROM t WHERE id = 1",
        "select v from t where id = 1",
        "SELECT v  FROM t WHERE id = 1",
        "SELECT v FROM t WHERE id = 1 -- x",
        "/* a */ SELECT v FROM t WHERE id = 1",
        "SELECT v FROM t WHERE id = 1;",
    ];
    alike.iter().for_each(|read| assert_eq!(arena.warm(&mut client, read), "10"));
    // Names of columns come from the text.
    let (lower, upper) = ("SELECT v+id FROM t WHERE id = 1", "SELECT V+ID FROM t WHERE id = 1");
    for read in [lower, upper, lower, upper] {
        arena.warm(&mut client, read);
        let response = client.query(read).unwrap();
        let title = &read.as_bytes()[7..11];
        assert!(response.bytes.windows(4).any(|part| part == title), "`{read}` has another's column name");
    }
}

#[test]
fn accounts() {
    let mut arena = Arena::enter("i_accounts");
    let mut root = arena.client();
    small_table(&mut root, "t", "InnoDB");
    let reader = "CREATE USER reader@'127.0.0.1' IDENTIFIED BY 'r'";
    let stranger = "CREATE USER stranger@'127.0.0.1' IDENTIFIED BY 's'";
    all(&mut root, &[reader, stranger, "GRANT SELECT ON i_accounts.* TO reader@'127.0.0.1'"]);
    let read = "SELECT v FROM i_accounts.t WHERE id = 1";
    assert_eq!(arena.warm(&mut root, read), "10");
    let mut stranger = arena.client_as(&Login { database: None, ..Login::user("stranger", "s") });
    (0..3).for_each(|_| arena.miss(&mut stranger, read, "error 1142"));
    let login = Login { database: Some(arena.db.clone()), ..Login::user("reader", "r") };
    let mut reader = arena.client_as(&login);
    assert_eq!(arena.warm(&mut reader, read), "10");
    assert!(reader.change_user(&Login { database: None, ..Login::user("stranger", "s") }).unwrap().failure().is_none());
    (0..3).for_each(|_| arena.miss(&mut reader, read, "error 1142"));
    assert!(reader.change_user(&login).unwrap().failure().is_none());
    arena.hit(&mut reader, read, "10");
}

#[test]
fn a_changed_user_and_a_reset_connection_lose_their_settings() {
    let mut arena = Arena::enter("i_reset");
    texts(&arena);
    let read = "SELECT id FROM t ORDER BY id";
    let login = arena.login();
    let mut fresh = arena.client();
    assert_eq!(arena.warm(&mut fresh, read), "1;2");
    let mut client = arena.client_with(&["SET sql_select_limit = 1"]);
    assert_eq!(arena.warm(&mut client, read), "1");
    assert!(client.change_user(&login).unwrap().failure().is_none());
    arena.hit(&mut client, read, "1;2");
    client.must("SET sql_select_limit = 1").unwrap();
    arena.hit(&mut client, read, "1");
    assert!(client.reset_connection().unwrap().failure().is_none());
    arena.hit(&mut client, read, "1;2");
    client.must("SET NAMES latin1").unwrap();
    client.must("CREATE TEMPORARY TABLE x (a INT)").unwrap();
    assert!(client.reset_connection().unwrap().failure().is_none());
    arena.hit(&mut client, read, "1;2");
}

#[test]
fn protocol_capabilities() {
    let mut arena = Arena::enter("i_capabilities");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT id, v FROM t ORDER BY id";
    let prepared_read = "SELECT id, v FROM t WHERE id < ? ORDER BY id";
    for optional in [0, capability::DEPRECATE_EOF, capability::EXTENDED_METADATA, capability::FOUND_ROWS] {
        let login = Login { capabilities: capability::BASE | optional, ..arena.login() };
        let (mut client, mut plain) = (arena.client_as(&login), arena.client_as(&login));
        plain.must("SET SESSION fqc_type = OFF").unwrap();
        arena.warm(&mut client, read);
        assert_eq!(client.query(read).unwrap(), plain.query(read).unwrap(), "text with {optional:#x}");
        let (of_client, of_plain) = (client.prepare(prepared_read).unwrap().1, plain.prepare(prepared_read).unwrap().1);
        let kept = arena.warm_prepared(&mut client, &of_client.unwrap(), &[Param::Int(4)]);
        let truth = plain.execute(&of_plain.unwrap(), &[Param::Int(4)]).unwrap();
        assert_eq!(kept, truth, "binary with {optional:#x}");
    }
}

/// One that the server does not know is its own at first; after a reset, that of a session before on the same thread.
#[test]
fn an_unknown_collation_of_the_handshake_after_a_reset() {
    const UNKNOWN: u8 = 255;
    let arena = Arena::enter("i_unknown");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let read = "SELECT COLLATION('a') FROM t WHERE id = 1";
    // utf8mb3, utf8mb4, binary, latin1
    for before in [33, 45, 63, 8].into_iter().cycle().take(24) {
        let known = Login { collation: before, ..arena.login() };
        (0..8).map(|_| arena.client_as(&known)).for_each(|mut client| drop(client.ping().unwrap()));
        let mut client = arena.client_as(&Login { collation: UNKNOWN, ..arena.login() });
        for _ in 0..2 {
            let truth = said(&client.query("SELECT COLLATION('a')").unwrap());
            (0..4).for_each(|_| assert_eq!(said(&client.query(read).unwrap()), truth, "after {before}"));
            assert!(client.reset_connection().unwrap().failure().is_none());
        }
    }
}

/// A client may ask the server to leave out the database that a name is qualified by.
#[test]
fn names_without_their_database() {
    let mut arena = Arena::enter("i_schema");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    all(
        &mut maker,
        &["CREATE DATABASE i_named", "CREATE TABLE i_named.t (v INT)", "INSERT INTO i_named.t VALUES (77)"],
    );
    let mut with = arena.client();
    let login = arena.login();
    let mut without = arena.client_as(&Login { capabilities: login.capabilities | capability::NO_SCHEMA, ..login });
    let read = "SELECT MIN(v) FROM i_named.t";
    assert_eq!(arena.warm(&mut with, read), "77");
    assert_eq!(arena.warm(&mut without, read), "10");
    without.must("UPDATE i_named.t SET v = 5 WHERE id = 1").unwrap();
    assert_eq!(arena.warm(&mut without, read), "5");
    arena.hit(&mut with, read, "77");
    without.must("TRUNCATE i_named.t").unwrap();
    assert_eq!(arena.warm(&mut without, read), "NULL");
    assert_eq!(said(&with.query(read).unwrap()), "77");
}

#[test]
fn text_and_binary_protocol() {
    let mut arena = Arena::enter("i_protocol");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT id, v, NULL FROM t WHERE id = 2";
    let text = arena.warm(&mut client, read);
    let (_, prepared) = client.prepare(read).unwrap();
    let prepared = prepared.unwrap();
    let binary = arena.warm_prepared(&mut client, &prepared, &[]);
    assert_eq!(said_binary(&binary), text);
    arena.hit(&mut client, read, &text);
    client.must("UPDATE t SET v = 21 WHERE id = 2").unwrap();
    let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[]);
    assert_eq!((said_binary(&response).as_str(), is_hit), ("2,21,NULL", false));
}

#[test]
fn parameters_of_prepared_statements() {
    let mut arena = Arena::enter("i_parameters");
    let mut client = arena.client();
    all(&mut client, &["CREATE TABLE t (a VARCHAR(10))", "INSERT INTO t VALUES ('1'), ('01'), ('x')"]);
    let (_, prepared) = client.prepare("SELECT a FROM t WHERE a = ? ORDER BY a").unwrap();
    let prepared = prepared.unwrap();
    let text = arena.warm_prepared(&mut client, &prepared, &[Param::Text("1".into())]);
    assert_eq!(said_binary(&text), "1");
    // A number meets both spellings, with a warning for the third: never kept, never mixed up.
    let number = client.execute(&prepared, &[Param::Int(1)]).unwrap();
    assert_eq!(said_binary(&number), "01;1");
    let text = arena.warm_prepared(&mut client, &prepared, &[Param::Text("01".into())]);
    assert_eq!(said_binary(&text), "01");
    let none = arena.warm_prepared(&mut client, &prepared, &[Param::Null]);
    assert_eq!(said_binary(&none), "");
    let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[Param::Text("1".into())]);
    assert_eq!((said_binary(&response).as_str(), is_hit), ("1", true));
}

#[test]
fn prepared_statements_are_shared_between_sessions() {
    let mut arena = Arena::enter("i_shared");
    let (mut one, mut other) = (arena.client(), arena.client());
    small_table(&mut one, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = ?";
    let of_one = one.prepare(read).unwrap().1.unwrap();
    other.prepare("SELECT 1").unwrap();
    let of_other = other.prepare(read).unwrap().1.unwrap();
    arena.warm_prepared(&mut one, &of_one, &[Param::Int(3)]);
    let (response, is_hit) = arena.ask_prepared(&mut other, &of_other, &[Param::Int(3)]);
    assert_eq!((said_binary(&response).as_str(), is_hit), ("30", true));
    let (response, is_hit) = arena.ask_prepared(&mut other, &of_other, &[Param::Int(4)]);
    assert_eq!((said_binary(&response).as_str(), is_hit), ("40", false));
}

#[test]
fn settings_between_prepare_and_execute() {
    let mut arena = Arena::enter("i_between");
    texts(&arena);
    let mut client = arena.client();
    let prepared = client.prepare("SELECT n / 4, 'a' = 'A' FROM t WHERE id = 1").unwrap().1.unwrap();
    assert_eq!(said_binary(&arena.warm_prepared(&mut client, &prepared, &[])), "2.5000,1");
    client.must("SET div_precision_increment = 1, collation_connection = utf8mb4_bin").unwrap();
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let of_plain = plain.prepare("SELECT n / 4, 'a' = 'A' FROM t WHERE id = 1").unwrap().1.unwrap();
    plain.must("SET div_precision_increment = 1, collation_connection = utf8mb4_bin").unwrap();
    for _ in 0..4 {
        let truth = plain.execute(&of_plain, &[]).unwrap();
        assert_eq!(client.execute(&prepared, &[]).unwrap(), truth);
    }
}

#[test]
fn long_data_and_cursors_pass() {
    let mut arena = Arena::enter("i_pieces");
    let mut client = arena.client();
    all(&mut client, &["CREATE TABLE t (id INT, a LONGTEXT)", "INSERT INTO t VALUES (1, 'ab'), (2, 'cd')"]);
    let prepared = client.prepare("SELECT id FROM t WHERE a = ?").unwrap().1.unwrap();
    let whole = arena.warm_prepared(&mut client, &prepared, &[Param::Text("ab".into())]);
    assert_eq!(said_binary(&whole), "1");
    for (piece, expected) in [("cd", "2"), ("ab", "1"), ("cd", "2")] {
        client.long_data(&prepared, 0, piece.as_bytes()).unwrap();
        let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[Param::Text(String::new())]);
        assert_eq!((said_binary(&response).as_str(), is_hit), (expected, false));
        client.reset(&prepared).unwrap();
    }
    let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[Param::Text("ab".into())]);
    assert_eq!((said_binary(&response).as_str(), is_hit), ("1", true));
}

/// The server hears of the BEGIN before it gets the statement, and the statement is looked at twice.
#[test]
fn long_data_is_not_forgotten_over_a_begin() {
    let mut arena = Arena::enter("i_long_begin");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    arena.warm(&mut client, "SELECT v FROM t WHERE id = 1");
    let (_, prepared) = client.prepare("SELECT ? AS v FROM t WHERE id = 1").unwrap();
    let prepared = prepared.unwrap();
    for piece in ["one", "two", "three", "four"] {
        client.must("BEGIN").unwrap();
        client.long_data(&prepared, 0, piece.as_bytes()).unwrap();
        let response = client.execute(&prepared, &[Param::Text("".into())]).unwrap();
        assert_eq!(response.rows(true)[0][0].as_deref(), Some(piece.as_bytes()));
        client.must("COMMIT").unwrap();
    }
    let response = client.execute(&prepared, &[Param::Text("".into())]).unwrap();
    assert_eq!(response.rows(true)[0][0].as_deref(), Some(&b""[..]));
}

/// SET STATEMENT may be around any statement.
#[test]
fn what_set_statement_runs_is_not_overlooked() {
    let mut arena = Arena::enter("i_set_statement");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v / 4 FROM t WHERE id = 1";
    assert_eq!(arena.warm(&mut client, read), "2.5000");
    client.must("SET STATEMENT max_statement_time = 0 FOR SET SESSION div_precision_increment = 1").unwrap();
    (0..3).for_each(|_| assert_eq!(said(&client.query(read).unwrap()), "2.5"));
    let mut other = arena.client();
    assert_eq!(arena.warm(&mut other, read), "2.5000");
    other.must("SET STATEMENT max_statement_time = 0 FOR CREATE TEMPORARY TABLE t (id INT, v INT)").unwrap();
    (0..3).for_each(|_| assert_eq!(said(&other.query(read).unwrap()), ""));
}

/// While SET STATEMENT is in force, the server's flags are those of its settings.
#[test]
fn flags_of_set_statement_do_not_outlive_it() {
    let mut arena = Arena::enter("i_set_flags");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT v, 'it\\'s' FROM t WHERE id = 1";
    arena.warm(&mut client, read);
    for mode in ["NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"] {
        client.must(&format!("SET STATEMENT sql_mode = '{mode}' FOR SELECT id FROM t")).unwrap();
        let response = client.query("START TRANSACTION").unwrap();
        assert!(format!("{:?}", response.parts).contains("status: 3,"), "{:?}", response.parts);
        assert_eq!(said(&client.query(read).unwrap()), "10,it's");
        client.must("COMMIT").unwrap();
        arena.hit(&mut client, read, "10,it's");
    }
}

/// The server tells of `SET` inside a routine, but garbles a text into which it puts the routine's variables.
#[test]
fn a_routine_may_set_what_results_depend_on() {
    let mut arena = Arena::enter("i_routine_sets");
    let mut other = arena.client();
    small_table(&mut other, "t", "InnoDB");
    let read = "SELECT AVG(id) FROM t";
    other.must("CREATE PROCEDURE sets(x INT) SET SESSION div_precision_increment = x").unwrap();
    for increment in [6, 2, 7] {
        let mut client = arena.client();
        client.must(&format!("CALL sets({increment})")).unwrap();
        assert_eq!(arena.warm(&mut other, read), "3.0000");
        let expected = format!("3.{}", "0".repeat(increment));
        (0..3).for_each(|_| assert_eq!(said(&client.query(read).unwrap()), expected));
    }
}

#[test]
fn a_mode_that_new_sessions_inherit() {
    let server = Arc::new(start(&[]));
    let mut arena = Arena::on(server.clone(), "i_mode");
    small_table(&mut arena.client(), "t", "InnoDB");
    let mut admin = server.admin().unwrap();
    all(&mut admin, &["CREATE USER u IDENTIFIED BY 'pw'", "GRANT ALL ON i_mode.* TO u"]);
    let login = Login { database: Some("i_mode".into()), ..Login::user("u", "pw") };
    let read = "SELECT v FROM t WHERE id = 1";
    for mode in ["SET GLOBAL sql_mode = 'ORACLE'", "SET GLOBAL init_connect = 'SET sql_mode = ORACLE'"] {
        admin.must(mode).unwrap();
        let mut session = arena.client_as(&login);
        for _ in 0..4 {
            arena.miss(&mut session, read, "10");
            // Only there it is a function.
            let (response, is_hit) = arena.ask(&mut session, "SELECT SYSDATE, v FROM t WHERE id = 1");
            assert!(response.failure().is_none() && !is_hit, "{mode}: {}", said(&response));
        }
        admin.must("SET GLOBAL sql_mode = DEFAULT").unwrap();
    }
    // What leaves it alone costs nothing.
    admin.must("SET GLOBAL init_connect = 'SET NAMES utf8mb4'").unwrap();
    arena.share(&login, read, "10");
    // A session that is reset has nothing of it any more.
    admin.must("SET GLOBAL init_connect = 'SET NAMES latin1'").unwrap();
    let length = "CHAR_LENGTH('\u{e4}'), v FROM t WHERE id = 1";
    let (mut begun, mut reset) = (arena.client_as(&login), arena.client_as(&login));
    reset.reset_connection().unwrap();
    reset.must("USE i_mode").unwrap();
    let read = format!("SELECT {length}");
    assert_eq!(arena.warm(&mut begun, &read), "2,10");
    assert_eq!(said(&reset.query(format!("SELECT SQL_NO_CACHE {length}")).unwrap()), "1,10");
    assert_eq!(said(&reset.query(&read).unwrap()), "1,10");
}

/// What a value means hangs on what was set before it: the same settings in another order are others.
#[test]
fn the_order_of_settings() {
    let mut arena = Arena::enter("i_order");
    texts(&arena);
    let modern = "SET old_mode = ''; SET NAMES utf8; SET old_mode = 'UTF8_IS_UTF8MB3'";
    // The collation that SET NAMES chooses is a setting of newer servers.
    let named = said(&arena.client_with(&["SET NAMES utf8mb4"]).query("SELECT COLLATION('x')").unwrap());
    for (read, one, other) in [
        (
            "SELECT COLLATION('x') FROM t WHERE id = 1",
            ("SET collation_connection = latin1_bin, character_set_connection = utf8mb4", "utf8mb4_general_ci"),
            ("SET character_set_connection = utf8mb4, collation_connection = latin1_bin", "latin1_bin"),
        ),
        (
            "SELECT COLLATION('x') FROM t WHERE id = 2",
            (modern, &*named),
            ("SET old_mode = 'UTF8_IS_UTF8MB3'; SET NAMES utf8", &named.replace("utf8mb4", "utf8mb3")),
        ),
    ] {
        let session = |arena: &Arena, way: &str| arena.client_with(&way.split("; ").collect::<Vec<_>>());
        let mut first = session(&arena, one.0);
        assert_eq!(arena.warm(&mut first, read), one.1, "after `{}`", one.0);
        let mut second = session(&arena, other.0);
        assert_eq!(arena.warm(&mut second, read), other.1, "after `{}`", other.0);
        let mut third = session(&arena, one.0);
        arena.hit(&mut third, read, one.1);
    }
}

#[test]
fn the_zone_in_which_a_moment_of_history_was_named() {
    let mut arena = Arena::enter("i_history");
    let mut client = arena.client_with(&[
        "SET time_zone = '+00:00'",
        "CREATE TABLE h (v INT) WITH SYSTEM VERSIONING",
        "SET timestamp = 1000000000",
        "INSERT INTO h VALUES (1)",
        "SET timestamp = 1000003600",
        "UPDATE h SET v = 2",
    ]);
    let (read, moment) = ("SELECT v FROM h", "SET system_versioning_asof = '2001-09-09 02:00:00'");
    assert_eq!(arena.warm(&mut client, read), "2");
    for zone in ["SET time_zone = '+05:00'", "SET time_zone = CONCAT('+05', ':00')"] {
        let mut later = arena.client_with(&["SET time_zone = '+00:00'", moment, zone]);
        assert_eq!(arena.warm(&mut later, read), "1", "{zone}");
        let mut sooner = arena.client_with(&[zone, moment]);
        assert_eq!(arena.warm(&mut sooner, read), "", "{zone}");
    }
}

#[test]
fn notes_that_a_session_does_not_want() {
    let mut arena = Arena::enter("i_notes");
    let mut loud = arena.client_with(&["CREATE TABLE t (a VARCHAR(9))", "INSERT INTO t VALUES ('12 ')"]);
    let mut quiet = arena.client_with(&["SET sql_notes = 0"]);
    let read = "SELECT a + 0 FROM t";
    arena.warm(&mut quiet, read);
    arena.miss(&mut loud, read, "12");
    assert_eq!(said(&loud.query("SHOW COUNT(*) WARNINGS").unwrap()), "1");
}

#[test]
fn switches_of_the_optimizer_add_up() {
    let mut arena = Arena::enter("i_switches");
    texts(&arena);
    let read = "SELECT n FROM t WHERE id = 1";
    let last = "SET optimizer_switch = 'mrr_cost_based=off'";
    let (mut one, mut both) =
        (arena.client_with(&[last]), arena.client_with(&["SET optimizer_switch = 'mrr=on'", last]));
    arena.warm(&mut one, read);
    arena.miss(&mut both, read, "10");
}

/// A setting that says nothing of how texts are read leaves the next definition understood.
#[test]
fn a_definition_after_a_setting_by_an_expression() {
    let mut arena = Arena::enter("i_defined");
    let mut maker = arena.client();
    for (number, engine) in ["MyISAM", "Aria", "MEMORY", "InnoDB"].into_iter().enumerate() {
        small_table(&mut maker, &format!("t{number}"), engine);
        for set in ["SET optimizer_switch = 'mrr=on'", "SET time_zone = DEFAULT", "SET sql_select_limit = 50 + 50"] {
            let mut client = arena.client_with(&[set, "CREATE OR REPLACE TABLE u (a INT)"]);
            arena.warm(&mut client, &format!("SELECT v FROM t{number} WHERE id = 1"));
        }
    }
}
