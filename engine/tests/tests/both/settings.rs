//! Reads of a single setting, on a server of either product. They are served to sessions with the same value of the setting.

use crate::traps::{Arena, Pair, all, rows_text, small_table, until};
use crate::{FLAVOUR, enter, start};
use fqc_tests::client::{Login, Param, capability};
use std::sync::Arc;

const MODE: &str = "SELECT @@SESSION.sql_mode";
const READ: &str = "SELECT v FROM t WHERE id = 1";

/// Creates a table, and waits until its reads are served. A session opened before the engine was ready would never be served.
fn with_table(arena: &mut Arena) {
    small_table(&mut arena.client(), "t", "InnoDB");
    let login = arena.login();
    arena.share(&login, READ, "10");
}

#[test]
fn a_setting_is_shown_from_memory_to_sessions_that_have_it_so() {
    let mut arena = enter("settings_shown");
    with_table(&mut arena);
    for name in FLAVOUR.variables.askable {
        for read in [format!("SELECT @@{name}"), format!("SELECT @@session.{name} AS x")] {
            let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
            let expected = rows_text(&plain.query(&read).unwrap());
            let mut one = arena.client();
            assert_eq!(arena.warm(&mut one, &read), expected);
            let login = arena.login();
            arena.share(&login, &read, &expected);
        }
    }
}

#[test]
fn a_setting_that_was_set_is_shown_however_it_was_set() {
    let mut arena = enter("settings_set");
    with_table(&mut arena);
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let mut set = arena.client();
    let mut usual = arena.client();
    let expected = arena.warm(&mut usual, MODE);
    for setting in [
        "SET sql_mode = 'ANSI_QUOTES'",
        "SET sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES')",
        "SET sql_mode = DEFAULT",
        "SET @@SESSION.sql_mode = ''",
        "SET sql_mode = 4",
    ] {
        all(&mut plain, &[setting]);
        all(&mut set, &[setting]);
        let truth = rows_text(&plain.query(MODE).unwrap());
        for _ in 0..3 {
            assert_eq!(rows_text(&set.query(MODE).unwrap()), truth, "{setting}");
        }
        arena.hit(&mut usual, MODE, &expected);
    }
}

#[test]
fn a_session_that_begins_after_a_global_setting_is_shown_that_one() {
    let mut arena = Arena::on(Arc::new(start(&[])), "settings_global");
    with_table(&mut arena);
    let mut earlier = arena.client();
    let expected = arena.warm(&mut earlier, MODE);
    all(&mut earlier, &["SET GLOBAL sql_mode = 'ANSI_QUOTES'"]);
    (0..3).for_each(|_| assert_eq!(rows_text(&arena.client().query(MODE).unwrap()), "ANSI_QUOTES"));
    (0..3).for_each(|_| assert_eq!(rows_text(&earlier.query(MODE).unwrap()), expected));
}

#[test]
fn a_setting_set_by_a_stored_routine_is_shown() {
    let mut arena = enter("settings_routine");
    with_table(&mut arena);
    let mut client = arena.client_with(&["CREATE PROCEDURE zone() SET time_zone = '+03:00'"]);
    let read = "SELECT @@time_zone";
    let expected = arena.warm(&mut client, read);
    let login = arena.login();
    arena.share(&login, read, &expected);
    all(&mut client, &["CALL zone()"]);
    (0..3).for_each(|_| assert_eq!(rows_text(&client.query(read).unwrap()), "+03:00"));
}

#[test]
fn a_setting_shown_in_a_transaction_opens_no_snapshot() {
    let mut arena = enter("settings_snapshot");
    with_table(&mut arena);
    let (mut client, mut writer) = (arena.client(), arena.client());
    arena.warm(&mut client, READ);
    arena.warm(&mut client, MODE);
    for (round, begin) in ["BEGIN", "SET autocommit = 0", "START TRANSACTION READ ONLY"].iter().enumerate() {
        all(&mut client, &[begin]);
        let (_, is_hit) = arena.ask(&mut client, MODE);
        assert!(!is_hit, "{begin}");
        all(&mut writer, &[&format!("UPDATE t SET v = {round} WHERE id = 1")]);
        assert_eq!(rows_text(&client.query(READ).unwrap()), round.to_string(), "{begin}");
        all(&mut client, &["COMMIT", "SET autocommit = 1"]);
    }
}

#[test]
fn a_setting_that_was_shown_leaves_warnings_and_rows_found_as_the_server_would() {
    let mut arena = enter("settings_left");
    with_table(&mut arena);
    let mut pair = Pair::new(&arena);
    let read = "SELECT v FROM t";
    for text in [MODE, read] {
        arena.warm(&mut pair.served, text);
    }
    let questions =
        ["SHOW WARNINGS", "SELECT FOUND_ROWS()", "SELECT ROW_COUNT()", "SELECT @@warning_count, @@error_count"];
    for before in ["DO 1", "SELECT CAST('12x' AS SIGNED)", "SELECT 1 / 0, v FROM t", "SELECT nothing", read] {
        for question in questions {
            for statement in
                [before, MODE, question, question, before, MODE, MODE, question, before, MODE, read, question]
            {
                pair.alike(statement);
            }
        }
    }
    for question in questions.repeat(3) {
        ["UPDATE t SET v = v", MODE, question].iter().for_each(|statement| drop(pair.alike(statement)));
    }
}

#[test]
fn a_setting_asked_for_by_a_prepared_statement_is_the_one_in_force() {
    let arena = enter("settings_prepared");
    let mut client = arena.client();
    let prepared = client.prepare(MODE).unwrap().1.unwrap();
    for mode in ["ANSI_QUOTES", "", "ANSI_QUOTES"] {
        all(&mut client, &[&format!("SET sql_mode = '{mode}'")]);
        for _ in 0..3 {
            let shown = client.execute(&prepared, &[] as &[Param]).unwrap();
            assert_eq!(crate::traps::binary_rows_text(&shown), mode);
        }
    }
}

/// Checks that a session that tracks system variables shares results with other sessions, and gets the same notifications as without the
/// cache. MariaDB's connector for Java sets such tracking on each connection.
#[test]
fn a_session_that_asks_to_be_told_of_its_variables_shares_results() {
    let mut arena = enter("settings_tracked");
    with_table(&mut arena);
    let tracking = "SET session_track_system_variables = \
        CONCAT(@@global.session_track_system_variables, ',auto_increment_increment')";
    for setup in [&[tracking][..], &[]] {
        until("the first read of a session to be a hit", || {
            let mut client = arena.client_with(setup);
            arena.ask(&mut client, READ).1
        });
    }
    let login = Login { capabilities: arena.login().capabilities | capability::SESSION_TRACK, ..arena.login() };
    let mut pair = Pair { served: arena.client_as(&login), plain: arena.client_as(&login) };
    all(&mut pair.plain, &["SET SESSION fqc_type = OFF"]);
    let tracked = "SET session_track_system_variables = 'time_zone,sql_mode,autocommit'";
    let statements =
        [tracked, "SET time_zone = '+00:00'", READ, "SET autocommit = 1", READ, MODE, "SELECT FOUND_ROWS()"];
    for statement in statements.iter().chain(&["DO 1", READ, "SET sql_mode = DEFAULT", READ, MODE, "SHOW WARNINGS"]) {
        pair.alike(statement);
    }
}
