//! A near cache that follows the binary log also answers FOUND_ROWS(), reads of settings, and the first read of a connection from memory.

use crate::beside::executions;
use crate::beside::followed::{LONG, direct, kinds, run, until_heard};
use crate::beside::scene::{READ, ask, hits, until_served};
use crate::beside::{Near, wait_until};
use fqc_tests::client::Client;

/// A read that returns one row, and lets FOUND_ROWS() return the number of all rows.
const COUNTING: &str = "SELECT SQL_CALC_FOUND_ROWS v FROM d.t ORDER BY id LIMIT 1";
const FOUND: &str = "SELECT FOUND_ROWS()";

/// Runs the statements one after the other, and returns how many of them were answered from memory.
fn hits_of(near: &Near, client: &mut Client, statements: &[&str]) -> u64 {
    let before = hits(near);
    statements.iter().for_each(|statement| drop(ask(client, statement)));
    hits(near) - before
}

#[test]
fn a_read_that_counts_all_rows_is_served_with_their_number() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        wait_until("both are answered from memory", || hits_of(&near, &mut client, &[COUNTING, FOUND]) == 2);
        // The warnings and the number of rows found are the same as on a direct connection.
        for further in [&["SHOW WARNINGS", FOUND][..], &[FOUND, "SHOW WARNINGS"], &["SELECT FOUND_ROWS() + 0"]] {
            let [told, truth] = [&mut client, &mut admin].map(|client| {
                let statements = [&[COUNTING, FOUND], further, &[COUNTING], further].concat();
                let answer = |statement: &&str| client.query(statement).expect("an answer").bytes;
                let mut answers: Vec<_> = statements.iter().map(answer).collect();
                answers.push(client.ping().expect("an answer").bytes);
                answers
            });
            assert_eq!(told, truth, "{further:?}");
        }
        run(&mut admin, &["INSERT INTO d.t VALUES (3, 3)"]);
        until_heard(&near);
        for _ in 0..5 {
            assert_eq!([COUNTING, FOUND].map(|statement| ask(&mut client, statement)), ["1", "3"]);
        }
        assert_eq!(hits_of(&near, &mut client, &[COUNTING, FOUND]), 2, "{}", near.log());
    }
}

#[test]
fn the_number_of_rows_found_is_that_of_the_read_that_was_served() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        let one = "SELECT v FROM d.t WHERE id = 1";
        wait_until("all are answered from memory", || {
            hits_of(&near, &mut client, &[READ, FOUND, one, FOUND, COUNTING, FOUND, FOUND]) == 7
        });
        for (read, expected) in [(READ, "1"), ("SELECT v FROM d.t", "2"), (COUNTING, "2"), (one, "1")] {
            ask(&mut client, read);
            assert_eq!(ask(&mut client, FOUND), expected, "{read}");
            assert_eq!(ask(&mut client, FOUND), "1");
        }
        // After an aggregate over an empty range, MariaDB keeps the number of the read before.
        let nothing = "SELECT MIN(v) FROM d.t WHERE id BETWEEN 6 AND 5";
        let mut admin = direct(&server);
        until_served(&near, &mut client, nothing);
        let [told, truth] = [&mut client, &mut admin]
            .map(|client| ["SELECT v FROM d.t", nothing, FOUND].map(|statement| ask(client, statement)));
        assert_eq!(told, truth);
    }
}

/// The differential tester has found that FOUND_ROWS() was the number of rows in the result, without those that LIMIT skips.
#[test]
fn rows_that_a_served_read_skips_are_found_too() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut there) = (near.client(), direct(&server));
        run(&mut there, &["INSERT INTO d.t VALUES (3, 3), (4, 4)"]);
        until_heard(&near);
        for limit in ["LIMIT 1, 2", "LIMIT 2 OFFSET 1", "LIMIT 2 OFFSET 9", "LIMIT 2"] {
            let read = format!("SELECT v FROM d.t ORDER BY id {limit}");
            let prepared = [&mut client, &mut there].map(|client| executions::prepared(client, &read));
            until_served(&near, &mut client, &read);
            executions::until_run_here(&near, &mut client, &prepared[0], &[]);
            let [by_text, expected] = [&mut client, &mut there].map(|client| {
                ask(client, &read);
                ask(client, FOUND)
            });
            assert_eq!(by_text, expected, "{read}");
            let [by_execution, expected] =
                [(&mut client, &prepared[0]), (&mut there, &prepared[1])].map(|(client, statement)| {
                    executions::run(client, statement, &[]);
                    ask(client, FOUND)
                });
            assert_eq!(by_execution, expected, "{read}");
        }
    }
}

/// The differential tester has found that FOUND_ROWS() was the number of the near cache's own query for the session's settings: a SHOW
/// that was not recognized was taken for a read that sets the number.
#[test]
fn rows_found_stay_unknown_after_a_prepared_show() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        run(&mut client, &["PREPARE s FROM \"SHOW STATUS LIKE 'Threads_c%'\""]);
        assert_eq!(ask(&mut client, "SELECT nothing FROM d.t"), "error 1054");
        assert!(!ask(&mut client, "EXECUTE s").starts_with("error"));
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS() + 0"), "error 1020");
        assert_eq!(ask(&mut client, "SELECT v FROM d.t ORDER BY id"), "1;2");
        assert_eq!(ask(&mut client, FOUND), "2");
        let mut client = near.client();
        let show = executions::prepared(&mut client, "SHOW STATUS LIKE 'Threads_c%'");
        assert_eq!(ask(&mut client, "SELECT nothing FROM d.t"), "error 1054");
        assert!(executions::run(&mut client, &show, &[]).rows(true).len() > 1);
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS() + 0"), "error 1020");
    }
}

/// Checks FOUND_ROWS() after the first read of a connection, which the near cache's own query comes before, if that read fails after it has
/// sent columns. MariaDB then counts the rows until the failure, and MySQL keeps the older number, which is that of the query.
#[test]
fn rows_found_by_a_first_read_that_fails_on_its_way_are_its_own_or_refused() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let statements =
            ["CREATE TABLE d.b (id INT PRIMARY KEY, v BIGINT UNSIGNED)", "INSERT INTO d.b VALUES (1, 8), (2, 1)"];
        run(&mut direct(&server), &statements);
        let mut client = near.client();
        assert_eq!(ask(&mut client, "SELECT 1 / (v - 3) FROM d.b ORDER BY id"), "error 1690");
        let expected = if kind.is_mysql() { "error 1020" } else { "1" };
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS() + 0"), expected);
    }
}

#[test]
fn a_read_that_counts_all_rows_is_not_kept_without_their_number() {
    let kind = crate::beside::followed::mariadb();
    let server = kind.logging();
    let near = kind.following(&server, LONG);
    let mut client = near.client();
    until_served(&near, &mut client, READ);
    assert_eq!(hits_of(&near, &mut client, &[COUNTING; 4]), 0);
    // A statement in between sets the number of rows found.
    for between in ["SELECT 1", "DO 1", READ] {
        let hits = hits_of(&near, &mut client, &[COUNTING, between, FOUND]);
        assert!(hits <= u64::from(between == READ) * 2, "{between}");
        assert_eq!(hits_of(&near, &mut client, &[COUNTING]), 0, "{between}");
    }
}

#[test]
fn the_first_read_of_a_connection_is_answered_from_memory() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        until_served(&near, &mut near.client(), READ);
        for set in [&[][..], &["SET NAMES utf8mb4"], &["SET sql_mode = ''", "USE d"]] {
            wait_until("the first read is served", || {
                let mut client = near.client();
                set.iter().for_each(|statement| drop(ask(&mut client, statement)));
                hits_of(&near, &mut client, &[READ]) == 1
            });
        }
        // The first read of a session with other settings is not served from memory.
        let mut client = near.client();
        ask(&mut client, "SET sql_mode = 'ANSI_QUOTES'");
        assert_eq!(hits_of(&near, &mut client, &[READ]), 0);
        // The near cache's own query, which the read waited for, must not leave a trace in the session.
        let [told, truth] = [near.client(), direct(&server)].map(|mut client| {
            [READ, "SELECT ROW_COUNT()", READ, "SHOW WARNINGS", "SELECT 1", READ, "SELECT FOUND_ROWS() + 0"]
                .map(|statement| ask(&mut client, statement))
        });
        assert_eq!(told, truth);
    }
}

#[test]
fn a_setting_is_shown_from_memory_where_the_session_is_known() {
    const MODE: &str = "SELECT @@SESSION.sql_mode";
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        for mode in ["", "ANSI_QUOTES", ""] {
            for client in [&mut client, &mut admin] {
                ask(client, &format!("SET sql_mode = '{mode}'"));
                assert_eq!(ask(client, MODE), mode);
            }
            wait_until("both are answered from memory", || hits_of(&near, &mut client, &[READ, MODE]) == 2);
            for before in ["SELECT CAST('x' AS SIGNED)", READ, "DO 1"] {
                let statements = [before, MODE, "SHOW WARNINGS", before, READ, MODE, "SHOW WARNINGS", FOUND];
                let [told, truth] = [&mut client, &mut admin]
                    .map(|client| statements.map(|statement| client.query(statement).expect("an answer").bytes));
                assert_eq!(told, truth, "{before}");
            }
        }
    }
}
