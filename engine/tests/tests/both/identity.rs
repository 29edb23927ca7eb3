//! What distinguishes two statements on either product: their bytes, the database, the protocol, and every setting that can change a
//! result.

use crate::traps::{Arena, all, binary_rows_text, check_separates_results, rows_text, small_table};
use crate::{FLAVOUR, HIDDEN, enter};
use fqc_tests::client::{Client, Login, Param, capability};

/// Creates the table `t` of texts, numbers and times that the tests read. Returns the session that has done so.
pub fn texts(arena: &Arena) -> Client {
    let create =
        "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20) CHARACTER SET utf8mb4, n INT, d DATETIME, s TIMESTAMP)";
    let rows = "INSERT INTO t VALUES (1, 'é', 10, '2024-01-01 00:00:00', '2024-01-01 00:00:00'), (2, 'b', 3, '2024-03-03', '2024-03-03')";
    arena.client_with(&["SET time_zone = '+00:00'", create, rows])
}

#[test]
fn character_set_results() {
    let mut arena = enter("i_results");
    texts(&arena);
    let read = "SELECT HEX(a), a FROM t WHERE id = 1";
    check_separates_results(&mut arena, read, ("SET NAMES utf8mb4", "C3A9,é"), ("SET NAMES latin1", "C3A9,\u{fffd}"));
    let one = ("SET character_set_results = utf8mb4", "C3A9,é");
    check_separates_results(&mut arena, read, one, ("SET character_set_results = latin1", "C3A9,\u{fffd}"));
}

#[test]
fn character_set_of_literals() {
    let mut arena = enter("i_literals");
    texts(&arena);
    let read = "SELECT LENGTH('é'), CHAR_LENGTH('é') FROM t WHERE id = 1";
    check_separates_results(&mut arena, read, ("SET NAMES utf8mb4", "2,1"), ("SET NAMES latin1", "2,2"));
    let one = ("SET character_set_client = utf8mb4", "2,1");
    check_separates_results(&mut arena, read, one, ("SET character_set_client = latin1", "4,2"));
}

#[test]
fn character_set_connection() {
    let mut arena = enter("i_connection");
    texts(&arena);
    let read = "SELECT HEX('é') FROM t WHERE id = 1";
    let one = ("SET character_set_connection = utf8mb4", "C3A9");
    check_separates_results(&mut arena, read, one, ("SET character_set_connection = latin1", "E9"));
}

#[test]
fn set_character_set() {
    let mut arena = enter("i_charset");
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
    let mut arena = enter("i_collation");
    texts(&arena);
    let read = "SELECT 'a' = 'A' FROM t WHERE id = 1";
    let one = ("SET collation_connection = utf8mb4_bin", "0");
    check_separates_results(&mut arena, read, one, ("SET collation_connection = utf8mb4_general_ci", "1"));
    let named = ("SET NAMES utf8mb4 COLLATE utf8mb4_bin", "0");
    check_separates_results(&mut arena, read, named, ("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "1"));
}

#[test]
fn collation_of_the_handshake() {
    let mut arena = enter("i_handshake");
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
    let mut arena = enter("i_mode");
    texts(&arena);
    let read = "SELECT \"a\" FROM t WHERE id = 2";
    check_separates_results(&mut arena, read, ("SET sql_mode = ''", "a"), ("SET sql_mode = 'ANSI_QUOTES'", "b"));
    let read = "SELECT '\\\\' FROM t WHERE id = 2";
    let one = ("SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "\\\\");
    check_separates_results(&mut arena, read, one, ("SET @@sql_mode = ''", "\\"));
}

#[test]
fn sql_mode_by_an_expression() {
    let mut arena = enter("i_expression");
    texts(&arena);
    let read = "SELECT \"a\" FROM t WHERE id = 2";
    let one = ("SET sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", "a");
    check_separates_results(&mut arena, read, one, ("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')", "b"));
    check_separates_results(
        &mut arena,
        read,
        ("SET sql_mode = DEFAULT", "a"),
        ("SET sql_mode = (SELECT 'ANSI_QUOTES')", "b"),
    );
    check_separates_results(
        &mut arena,
        read,
        ("SET @mode = 'ANSI', sql_mode = DEFAULT", "a"),
        ("SET sql_mode = 4", "b"),
    );
}

#[test]
fn time_zone() {
    let mut arena = enter("i_zone");
    texts(&arena);
    let read = "SELECT s FROM t WHERE id = 1";
    let one = ("SET time_zone = '+00:00'", "2024-01-01 00:00:00");
    check_separates_results(&mut arena, read, one, ("SET time_zone = '+02:00'", "2024-01-01 02:00:00"));
    let one = ("SET time_zone = CONCAT('+00', ':00')", "2024-01-01 00:00:00");
    check_separates_results(&mut arena, read, one, ("SET time_zone = CONCAT('-01', ':00')", "2023-12-31 23:00:00"));
}

#[test]
fn sql_select_limit() {
    let mut arena = enter("i_limit");
    texts(&arena);
    let read = "SELECT id FROM t ORDER BY id";
    let one = ("SET sql_select_limit = 1", "1");
    check_separates_results(&mut arena, read, one, ("SET sql_select_limit = DEFAULT", "1;2"));
}

#[test]
fn group_concat_max_len() {
    let mut arena = enter("i_concat");
    texts(&arena);
    let read = "SELECT GROUP_CONCAT(id ORDER BY id) FROM t";
    let mut wide = arena.client();
    assert_eq!(arena.warm(&mut wide, read), "1,2");
    // A result that was truncated raises a warning and is never stored.
    let mut narrow = arena.client();
    all(
        &mut narrow,
        &["CREATE TABLE long_ones (a INT)", "INSERT INTO long_ones VALUES (1000), (1001), (1002), (1003), (1004)"],
    );
    let read = "SELECT GROUP_CONCAT(a ORDER BY a) FROM long_ones";
    assert_eq!(arena.warm(&mut wide, read), "1000,1001,1002,1003,1004");
    narrow.must("SET group_concat_max_len = 9").unwrap();
    (0..3).for_each(|_| arena.miss(&mut narrow, read, "1000,1001"));
    arena.hit(&mut wide, read, "1000,1001,1002,1003,1004");
}

#[test]
fn div_precision_increment() {
    let mut arena = enter("i_division");
    texts(&arena);
    let read = "SELECT n / 4 FROM t WHERE id = 1";
    check_separates_results(
        &mut arena,
        read,
        ("SET div_precision_increment = 4", "2.5000"),
        ("SET div_precision_increment = 1", "2.5"),
    );
}

#[test]
fn lc_time_names() {
    let mut arena = enter("i_names");
    texts(&arena);
    let read = "SELECT DAYNAME(d), MONTHNAME(d) FROM t WHERE id = 1";
    let one = ("SET lc_time_names = 'en_US'", "Monday,January");
    check_separates_results(&mut arena, read, one, ("SET lc_time_names = 'de_DE'", "Montag,Januar"));
}

#[test]
fn default_week_format() {
    let mut arena = enter("i_week");
    texts(&arena);
    let read = "SELECT WEEK(d) FROM t WHERE id = 2";
    check_separates_results(
        &mut arena,
        read,
        ("SET default_week_format = 0", "9"),
        ("SET default_week_format = 3", "9"),
    );
    let read = "SELECT WEEK(d) FROM t WHERE id = 1";
    check_separates_results(
        &mut arena,
        read,
        ("SET default_week_format = 0", "0"),
        ("SET default_week_format = 3", "1"),
    );
}

#[test]
fn the_timestamp_of_a_session() {
    let mut arena = enter("i_clock");
    texts(&arena);
    let read = "SELECT FROM_UNIXTIME(n) FROM t WHERE id = 1";
    let zone = "SET time_zone = '+00:00'";
    let mut usual = arena.client_with(&[zone]);
    assert_eq!(arena.warm(&mut usual, read), "1970-01-01 00:00:10");
    let mut still = arena.client_with(&["SET timestamp = 1700000000", zone]);
    arena.check_never_hit(&mut still, "SELECT NOW() FROM t WHERE id = 1", "SELECT n FROM t WHERE id = 1");
    arena.check_never_hit(&mut still, "SELECT UNIX_TIMESTAMP() FROM t WHERE id = 1", "SELECT n FROM t WHERE id = 1");
}

#[test]
fn settings_made_where_no_text_shows_them() {
    let mut arena = enter("i_hidden");
    let mut maker = texts(&arena);
    let limits = "CREATE PROCEDURE limits() SET sql_select_limit = 1";
    let zones = "CREATE PROCEDURE zones() BEGIN SET @@time_zone = '+05:00'; END";
    let speaks = "CREATE FUNCTION speaks() RETURNS INT BEGIN SET lc_time_names = 'de_DE'; RETURN 1; END";
    all(&mut maker, &[limits, zones, speaks]);
    let reads =
        ["SELECT id FROM t ORDER BY id", "SELECT s FROM t WHERE id = 1", "SELECT DAYNAME(d) FROM t WHERE id = 1"];
    let hidden = [
        "CALL limits()",
        "CALL zones()",
        "SELECT speaks()",
        "SET @a = 1, sql_select_limit = 1, @b = 2",
        "DO 1; SET sql_select_limit = 1; DO 2",
        "PREPARE p FROM 'SET time_zone = ''+03:00'''; EXECUTE p",
    ];
    let mut usual = arena.client();
    let before = reads.map(|read| arena.warm(&mut usual, read));
    let mut changes = 0;
    for hidden in hidden.iter().chain(HIDDEN) {
        let (mut client, mut plain) = (arena.client(), arena.client_with(&["SET SESSION fqc_type = OFF"]));
        reads.iter().for_each(|read| drop(client.query(read).unwrap()));
        [&mut client, &mut plain].iter_mut().for_each(|one| drop(one.query(hidden).unwrap()));
        for (read, before) in reads.iter().zip(&before) {
            let truth = rows_text(&plain.query(read).unwrap());
            (0..3)
                .for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), truth, "`{read}` after `{hidden}`"));
            changes += usize::from(truth != *before);
        }
    }
    assert!(changes >= 5, "only {changes} of these settings changed a result");
}

#[test]
fn settings_made_by_a_prepared_statement() {
    let mut arena = enter("i_prepared");
    let mut client = texts(&arena);
    let read = "SELECT id FROM t ORDER BY id";
    assert_eq!(arena.warm(&mut client, read), "1;2");
    let prepared = client.prepare("SET sql_select_limit = ?").unwrap().1.unwrap();
    client.execute(&prepared, &[Param::Int(1)]).unwrap();
    (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), "1"));
    client.execute(&prepared, &[Param::Int(9)]).unwrap();
    (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), "1;2"));
}

#[test]
fn globals_that_new_sessions_inherit() {
    let mut arena = enter("i_globals");
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

/// Checks that setting a global limit, timeout or log, which does not affect results, leaves the stored results valid.
#[test]
fn a_setting_of_the_server_on_which_no_result_depends_leaves_the_cache_as_it_is() {
    let mut arena = enter("harmless_globals");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = 1";
    arena.warm(&mut reader, read);
    let mut accepted = 0;
    for name in FLAVOUR.variables.harmless_globals() {
        // An older server of the product does not have all of them.
        let response = writer.query(format!("SET GLOBAL {name} = @@GLOBAL.{name}").as_str()).unwrap();
        accepted += u32::from(response.failure().is_none());
        arena.hit(&mut reader, read, "10");
    }
    assert!(accepted > 30, "the server knows only {accepted} of them");
    for others in ["sql_mode = @@GLOBAL.sql_mode", "max_connections = 100, GLOBAL max_allowed_packet = 16777216"] {
        all(&mut writer, &[&format!("SET GLOBAL {others}")]);
        arena.miss(&mut reader, read, "10");
        arena.warm(&mut reader, read);
    }
    all(&mut writer, &["SET GLOBAL max_connections = DEFAULT, GLOBAL max_allowed_packet = DEFAULT"]);
}

#[test]
fn the_current_database() {
    let mut arena = enter("i_database");
    let mut maker = arena.client();
    small_table(&mut maker, "t", "InnoDB");
    let other = ["CREATE DATABASE i_other", "CREATE TABLE i_other.t (v INT)", "INSERT INTO i_other.t VALUES (77)"];
    all(&mut maker, &other);
    // Privileges on a database take effect when a session chooses it. So nothing is defined from here on.
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
fn the_bytes_of_a_statement() {
    let mut arena = enter("i_bytes");
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
    // The names of the result's columns come from the text.
    let (lower, upper) = ("SELECT v+id FROM t WHERE id = 1", "SELECT V+ID FROM t WHERE id = 1");
    for read in [lower, upper, lower, upper] {
        arena.warm(&mut client, read);
        let response = client.query(read).unwrap();
        let title = &read.as_bytes()[7..11];
        assert!(response.bytes.windows(4).any(|part| part == title), "`{read}` has another's column name");
    }
}

#[test]
fn a_changed_user_and_a_reset_connection_lose_their_settings() {
    let mut arena = enter("i_reset");
    texts(&arena);
    let read = "SELECT id FROM t ORDER BY id";
    let login = arena.login();
    let mut fresh = arena.client();
    assert_eq!(arena.warm(&mut fresh, read), "1;2");
    let mut client = arena.client_with(&["SET sql_select_limit = 1"]);
    assert_eq!(arena.warm(&mut client, read), "1");
    assert!(client.change_user(&login).unwrap().failure().is_none());
    assert_eq!(arena.warm(&mut client, read), "1;2");
    client.must("SET sql_select_limit = 1").unwrap();
    assert_eq!(arena.warm(&mut client, read), "1");
    assert!(client.reset_connection().unwrap().failure().is_none());
    assert_eq!(arena.warm(&mut client, read), "1;2");
    client.must("SET NAMES latin1").unwrap();
    client.must("CREATE TEMPORARY TABLE x (a INT)").unwrap();
    assert!(client.reset_connection().unwrap().failure().is_none());
    assert_eq!(arena.warm(&mut client, read), "1;2");
}

#[test]
fn protocol_capabilities() {
    let mut arena = enter("i_capabilities");
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

#[test]
fn text_and_binary_protocol() {
    let mut arena = enter("i_protocol");
    let mut client = arena.client();
    small_table(&mut client, "t", "InnoDB");
    let read = "SELECT id, v, NULL FROM t WHERE id = 2";
    let text = arena.warm(&mut client, read);
    let (_, prepared) = client.prepare(read).unwrap();
    let prepared = prepared.unwrap();
    let binary = arena.warm_prepared(&mut client, &prepared, &[]);
    assert_eq!(binary_rows_text(&binary), text);
    arena.hit(&mut client, read, &text);
    client.must("UPDATE t SET v = 21 WHERE id = 2").unwrap();
    let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[]);
    assert_eq!((binary_rows_text(&response).as_str(), is_hit), ("2,21,NULL", false));
}

#[test]
fn prepared_statements_are_shared_between_sessions() {
    let mut arena = enter("i_shared");
    let (mut one, mut other) = (arena.client(), arena.client());
    small_table(&mut one, "t", "InnoDB");
    let read = "SELECT v FROM t WHERE id = ?";
    let of_one = one.prepare(read).unwrap().1.unwrap();
    other.prepare("SELECT 1").unwrap();
    let of_other = other.prepare(read).unwrap().1.unwrap();
    arena.warm_prepared(&mut one, &of_one, &[Param::Int(3)]);
    let (response, is_hit) = arena.ask_prepared(&mut other, &of_other, &[Param::Int(3)]);
    assert_eq!((binary_rows_text(&response).as_str(), is_hit), ("30", true));
    let (response, is_hit) = arena.ask_prepared(&mut other, &of_other, &[Param::Int(4)]);
    assert_eq!((binary_rows_text(&response).as_str(), is_hit), ("40", false));
}

#[test]
fn settings_between_prepare_and_execute() {
    let mut arena = enter("i_between");
    texts(&arena);
    let mut client = arena.client();
    let prepared = client.prepare("SELECT n / 4, 'a' = 'A' FROM t WHERE id = 1").unwrap().1.unwrap();
    assert_eq!(binary_rows_text(&arena.warm_prepared(&mut client, &prepared, &[])), "2.5000,1");
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
    let mut arena = enter("i_pieces");
    let mut client = arena.client();
    all(&mut client, &["CREATE TABLE t (id INT, a VARCHAR(99))", "INSERT INTO t VALUES (1, 'ab'), (2, 'cd')"]);
    let prepared = client.prepare("SELECT id FROM t WHERE a = ?").unwrap().1.unwrap();
    let whole = arena.warm_prepared(&mut client, &prepared, &[Param::Text("ab".into())]);
    assert_eq!(binary_rows_text(&whole), "1");
    for (piece, expected) in [("cd", "2"), ("ab", "1"), ("cd", "2")] {
        client.long_data(&prepared, 0, piece.as_bytes()).unwrap();
        let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[Param::Text(String::new())]);
        assert_eq!((binary_rows_text(&response).as_str(), is_hit), (expected, false));
        client.reset(&prepared).unwrap();
    }
    let (response, is_hit) = arena.ask_prepared(&mut client, &prepared, &[Param::Text("ab".into())]);
    assert_eq!((binary_rows_text(&response).as_str(), is_hit), ("1", true));
}

/// Checks that an execution in a new transaction still uses the values that were sent with COM_STMT_SEND_LONG_DATA. The server gets the
/// deferred BEGIN before the execution, so the engine examines the execution twice.
#[test]
fn long_data_is_not_forgotten_over_a_begin() {
    let mut arena = enter("i_long_begin");
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

/// Checks that a session whose settings were changed by a routine gets results for these settings. The server reports a `SET` inside a
/// routine, but with a wrong text if the routine's variables are substituted into it.
#[test]
fn a_routine_may_set_what_results_depend_on() {
    let mut arena = enter("i_routine_sets");
    let mut other = arena.client();
    small_table(&mut other, "t", "InnoDB");
    let read = "SELECT AVG(id) FROM t";
    other.must("CREATE PROCEDURE sets(x INT) SET SESSION div_precision_increment = x").unwrap();
    for increment in [6, 2, 7] {
        let mut client = arena.client();
        client.must(&format!("CALL sets({increment})")).unwrap();
        assert_eq!(arena.warm(&mut other, read), "3.0000");
        let expected = format!("3.{}", "0".repeat(increment));
        (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), expected));
    }
}

#[test]
fn switches_of_the_optimizer_add_up() {
    let mut arena = enter("i_switches");
    texts(&arena);
    let read = "SELECT n FROM t WHERE id = 1";
    let last = "SET optimizer_switch = 'mrr_cost_based=off'";
    let (mut one, mut both) =
        (arena.client_with(&[last]), arena.client_with(&["SET optimizer_switch = 'index_merge=off'", last]));
    arena.warm(&mut one, read);
    arena.miss(&mut both, read, "10");
}
