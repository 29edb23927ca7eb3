//! With the server's log, reads of views are answered from memory until a table that the view reads, or the view's definition, changes.

use crate::beside::Near;
use crate::beside::executions::{prepared, run as execute, until_run_here};
use crate::beside::followed::{LONG, direct, is_said, kinds, run, show, until_heard, with_stores};
use crate::beside::scene::{ask, hits, until_served};
use fqc_tests::client::{Client, Param};

/// The statements that make views of `d.t`, of another view, of two tables with aliases, and with literals whose meaning depends on
/// `sql_mode`.
const VIEWS: [&str; 7] = [
    "CREATE DATABASE e",
    "CREATE VIEW d.w AS SELECT id, v FROM d.t",
    "CREATE VIEW e.outer_ AS SELECT v FROM d.w WHERE id = 1",
    "CREATE VIEW d.joined AS SELECT x.v, y.v AS other FROM d.t x LEFT JOIN d.u y ON (x.id = y.id) WHERE x.id = 1",
    "CREATE SQL SECURITY INVOKER VIEW d.invoked AS SELECT MAX(v) AS v FROM d.t WHERE id = 1",
    "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'",
    "CREATE VIEW d.quoted AS SELECT 'a\\' AS \"a\", '\\'' from `x`, `y` where ' AS b, v FROM \"d\".\"t\" WHERE id = 1",
];
/// The privilege that lets the near cache's account see the definitions of views in `e`.
const GRANT: &str = "GRANT SELECT, SHOW VIEW ON e.* TO follower@'%'";
/// Reads of these views. Each has the text that comes before and after the value of row 1 in its answer.
const READS: [(&str, &str, &str); 5] = [
    ("SELECT v FROM d.w WHERE id = 1", "", ""),
    ("SELECT v FROM e.outer_", "", ""),
    ("SELECT v, other FROM d.joined", "", ",NULL"),
    ("SELECT v FROM d.invoked", "", ""),
    ("SELECT a, v, b FROM d.quoted", "a\\,", ",\\' from `x`, `y` where "),
];

#[test]
fn a_read_of_a_view_is_answered_from_memory_until_what_it_reads_changes() {
    for kind in kinds() {
        let server = kind.logging();
        let (mut writer, mut admin) = (direct(&server), direct(&server));
        run(&mut admin, &VIEWS);
        run(&mut admin, &[GRANT]);
        show(&mut admin, &["d.w", "e.outer_", "d.joined", "d.invoked", "d.quoted"]);
        let near = kind.following(&server, LONG);
        let (mut client, mut other) = (near.client(), near.client());
        for value in 10..20 {
            let update = format!("UPDATE d.t SET v = {value} WHERE id = 1");
            let said = |before: &str, after: &str| format!("{before}{value}{after}");
            if value % 2 == 0 {
                run(&mut writer, &[&update]);
                for (read, before, after) in READS {
                    is_said(&near, &mut client, read, &said(before, after));
                }
            } else {
                READS.iter().for_each(|(read, ..)| drop(until_served(&near, &mut client, read)));
                // Some writes also go through a view.
                run(&mut other, &[if value % 3 == 0 { update } else { update.replace("d.t", "d.w") }.as_str()]);
            }
            for (read, before, after) in READS {
                assert_eq!(ask(&mut client, read), said(before, after), "{read}");
                assert_eq!(until_served(&near, &mut client, read), said(before, after), "{read}");
            }
        }
        let joined = READS[2].0;
        run(&mut writer, &["INSERT INTO d.u VALUES (1, 5)"]);
        until_heard(&near);
        assert_eq!(ask(&mut client, joined), "19,5");
        // The same holds for prepared statements.
        let by_key = prepared(&mut client, "SELECT v FROM d.w WHERE id = ?");
        let one = [Param::Int(1)];
        until_run_here(&near, &mut client, &by_key, &one);
        run(&mut other, &["UPDATE d.t SET v = 77 WHERE id = 1"]);
        let there = prepared(&mut writer, "SELECT v FROM d.w WHERE id = ?");
        let expected = execute(&mut writer, &there, &one).bytes;
        assert_eq!(execute(&mut client, &by_key, &one).bytes, expected);
    }
}

#[test]
fn another_definition_ends_what_was_read_by_the_one_before() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let statements = [
            "INSERT INTO d.u VALUES (1, 100)",
            "CREATE VIEW d.w AS SELECT v FROM d.t WHERE id = 1",
            "CREATE VIEW d.outer_ AS SELECT v FROM d.w",
        ];
        run(&mut admin, &statements);
        show(&mut admin, &["d.w", "d.outer_"]);
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        let reads = ["SELECT v FROM d.w", "SELECT v FROM d.outer_"];
        let definitions = [
            "ALTER VIEW d.w AS SELECT v FROM d.u WHERE id = 1",
            "CREATE OR REPLACE VIEW d.w AS SELECT v FROM d.t WHERE id = 1",
            "CREATE OR REPLACE VIEW d.w AS SELECT v + 1000 AS v FROM d.u",
            "ALTER SQL SECURITY INVOKER VIEW d.w AS SELECT v FROM d.t WHERE id = 1",
        ];
        for (round, definition) in definitions.into_iter().cycle().take(8).enumerate() {
            reads.iter().for_each(|read| drop(until_served(&near, &mut client, read)));
            run(&mut admin, &[definition]);
            let expected = ask(&mut admin, reads[0]);
            for read in reads {
                is_said(&near, &mut client, read, &expected);
                assert_eq!(until_served(&near, &mut client, read), expected, "{read} after {definition}");
            }
            // The result now depends on the tables that the new definition reads.
            let table = if definition.contains("d.u") { "d.u" } else { "d.t" };
            run(&mut writer, &[&format!("UPDATE {table} SET v = {round} + 200 WHERE id = 1")]);
            let expected = ask(&mut admin, reads[0]);
            until_heard(&near);
            reads.iter().for_each(|read| assert_eq!(ask(&mut client, read), expected, "{read} after {definition}"));
        }
        reads.iter().for_each(|read| drop(until_served(&near, &mut client, read)));
        run(&mut admin, &["DROP VIEW d.w"]);
        is_said(&near, &mut client, reads[0], "error 1146");
        is_said(&near, &mut client, reads[1], "error 1356");
        run(
            &mut admin,
            &[
                "RENAME TABLE d.outer_ TO d.renamed",
                "CREATE VIEW d.w AS SELECT v FROM d.u",
                "CREATE VIEW d.outer_ AS SELECT 5 AS v FROM d.u",
            ],
        );
        is_said(&near, &mut client, reads[1], "5");
    }
}

#[test]
fn rights_that_are_taken_away_count_those_of_the_definer_too() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let statements = [
            "CREATE DATABASE e",
            "CREATE USER definer@'%'",
            "CREATE USER app@'%'",
            "GRANT SELECT ON d.* TO definer@'%'",
            "CREATE DEFINER = definer@'%' VIEW e.w AS SELECT v FROM d.t WHERE id = 1",
            "CREATE SQL SECURITY INVOKER VIEW e.invoked AS SELECT v FROM d.t WHERE id = 1",
            "GRANT SELECT ON e.* TO app@'%'",
            "GRANT SELECT ON d.t TO app@'%'",
            GRANT,
        ];
        run(&mut admin, &statements);
        show(&mut admin, &["e.w", "e.invoked"]);
        let near = kind.following(&server, LONG);
        let mut app = near.login("app", "").expect("a connection");
        let (read, invoked) = ("SELECT v FROM e.w", "SELECT v FROM e.invoked");
        until_served(&near, &mut app, read);
        until_served(&near, &mut app, invoked);
        run(&mut admin, &["REVOKE SELECT ON d.t FROM app@'%'"]);
        is_said(&near, &mut app, invoked, "error 1356");
        assert_eq!(until_served(&near, &mut app, read), "1");
        // Another account without the privilege gets nothing, although the result is in memory.
        run(&mut admin, &["CREATE USER nobody@'%'"]);
        assert_eq!(ask(&mut near.login("nobody", "").expect("a connection"), read), "error 1142");
        run(&mut admin, &["REVOKE SELECT ON d.* FROM definer@'%'"]);
        is_said(&near, &mut app, read, "error 1356");
        run(&mut admin, &["GRANT SELECT ON d.* TO definer@'%'"]);
        is_said(&near, &mut app, read, "1");
        until_served(&near, &mut app, read);
        run(&mut admin, &["REVOKE SELECT ON e.* FROM app@'%'"]);
        is_said(&near, &mut app, read, "error 1142");
    }
}

/// Checks that these reads are not answered from memory, even once the near cache has looked up what they read.
fn is_never_served(near: &Near, client: &mut Client, reads: &[&str]) {
    reads.iter().for_each(|read| drop(ask(client, read)));
    // The near cache looks up tables in order: when this read is served, it knows those of the reads above.
    until_served(near, client, "SELECT MAX(v) FROM d.t");
    let before = hits(near);
    for read in reads {
        (0..5).for_each(|_| drop(ask(client, read)));
        assert_eq!(hits(near), before, "{read}");
    }
}

#[test]
fn a_view_that_is_not_the_same_for_all_at_all_times_is_not_kept() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let statements = [
            "CREATE FUNCTION d.f() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM d.u)",
            "CREATE VIEW d.now_ AS SELECT NOW() AS n, v FROM d.t",
            "CREATE VIEW d.own AS SELECT v FROM d.t WHERE CURRENT_USER() LIKE 'root@%'",
            "CREATE VIEW d.calling AS SELECT d.f() AS v FROM d.t",
            "CREATE VIEW d.around AS SELECT v FROM d.calling",
            "CREATE VIEW d.constant AS SELECT 1 AS v",
            "CREATE TABLE d.times (id INT PRIMARY KEY, t TIME)",
            "CREATE VIEW d.of_times AS SELECT id FROM d.times",
        ];
        run(&mut admin, &statements);
        let near = kind.following(&server, LONG);
        let reads = [
            "SELECT n FROM d.now_",
            "SELECT v FROM d.own",
            "SELECT v FROM d.calling",
            "SELECT v FROM d.around",
            "SELECT v FROM d.constant",
            "SELECT COUNT(*) FROM d.of_times",
            "SELECT t.v FROM d.t, d.around",
        ];
        is_never_served(&near, &mut near.client(), &reads);
        // A view whose definition the near cache's account may no longer see is not served.
        run(&mut admin, &["CREATE VIEW d.w AS SELECT v FROM d.t WHERE id = 1"]);
        show(&mut admin, &["d.w"]);
        let mut client = near.client();
        until_served(&near, &mut client, "SELECT v FROM d.w");
        let hide = ["d.*", "d.w"].map(|views| format!("REVOKE SHOW VIEW ON {views} FROM follower@'%'"));
        run(&mut admin, &[hide[0].as_str(), &hide[1], "UPDATE d.t SET v = 9"]);
        is_said(&near, &mut client, "SELECT v FROM d.w", "9");
        is_never_served(&near, &mut client, &["SELECT v FROM d.w"]);
    }
}

/// The near cache reads definitions with a connection of its own. An answer on it may be longer than any packet of a login.
#[test]
fn a_view_with_a_long_definition_does_not_end_the_following_of_the_log() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let long = "x".repeat(200_000);
        run(&mut admin, &[&format!("CREATE VIEW d.w AS SELECT v FROM d.t WHERE id = 1 AND '{long}' <> 'y'")]);
        show(&mut admin, &["d.w"]);
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        let (view, table) = ("SELECT v FROM d.w", "SELECT v FROM d.t WHERE id = 2");
        until_served(&near, &mut client, table);
        assert_eq!(ask(&mut client, view), "1");
        until_heard(&near);
        let before = hits(&near);
        ask(&mut client, table);
        assert_eq!(hits(&near), before + 1, "{}", near.log());
    }
}

#[test]
fn what_another_near_cache_has_read_of_a_view_is_found_until_it_is_outdated() {
    for (kind, store) in with_stores() {
        let server = kind.logging();
        let mut writer = direct(&server);
        run(&mut writer, &["CREATE VIEW d.w AS SELECT v FROM d.t WHERE id = 1"]);
        show(&mut writer, &["d.w"]);
        let [first, second] = [(); 2].map(|()| kind.sharing(&server, LONG, &store));
        let (mut client, mut other) = (first.client(), second.client());
        let read = "SELECT v FROM d.w";
        // The second near cache learns about the view and its table by another read.
        until_served(&second, &mut other, "SELECT MAX(v) FROM d.w");
        let inserts = first.metric("store_inserts_total");
        until_served(&first, &mut client, read);
        first.wait_for_metric("store_inserts_total", |now| now > inserts);
        let before = second.metric("store_hits_total");
        assert_eq!(ask(&mut other, read), "1");
        assert_eq!(second.metric("store_hits_total"), before + 1, "{}", second.log());
        run(&mut writer, &["UPDATE d.t SET v = 8 WHERE id = 1"]);
        is_said(&second, &mut other, read, "8");
        run(&mut writer, &["ALTER VIEW d.w AS SELECT v FROM d.t WHERE id = 2"]);
        is_said(&second, &mut other, read, "2");
        assert_eq!(until_served(&second, &mut other, read), "2");
    }
}
