//! Changes that are in the server's binary log under another name, or not at all, are not missed by a near cache that follows the log.

use crate::beside::Near;
use crate::beside::followed::{Kind, LONG, direct, is_said, kinds, run, until_heard};
use crate::beside::scene::{ask, hits, until_served};
use fqc_tests::client::Client;

/// Checks that these reads are never answered from memory, even after the near cache has looked up their tables several times. Another read
/// is served then, so that the near cache does answer reads.
fn are_never_served(near: &Near, client: &mut Client, reads: &[&str]) {
    for _ in 0..4 {
        for read in reads {
            let before = hits(near);
            (0..3).for_each(|_| drop(ask(client, read)));
            assert_eq!(hits(near), before, "{read}");
        }
        until_heard(near);
    }
    until_served(near, client, "SELECT COUNT(*) FROM d.u");
}

/// The actions of a foreign key that let a change of the parent table change the child table, each with a statement on the parent table
/// that triggers it.
const RULES: [(&str, &str); 4] = [
    ("ON DELETE CASCADE", "DELETE FROM d.parent WHERE id = 1"),
    ("ON DELETE SET NULL", "DELETE FROM d.parent WHERE id = 1"),
    ("ON UPDATE CASCADE", "UPDATE d.parent SET id = 5 WHERE id = 1"),
    ("ON UPDATE SET NULL", "UPDATE d.parent SET id = 5 WHERE id = 1"),
];

/// The rows of the parent table and of the child table.
const FILL: [&str; 2] = ["INSERT INTO d.parent VALUES (1), (2)", "INSERT INTO d.child VALUES (1, 1), (2, 2)"];

#[test]
fn rows_that_a_parent_changes_are_not_outdated() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        for (rule, statement) in RULES {
            let child = format!(
                "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.parent (id) {rule})"
            );
            run(&mut admin, &["CREATE TABLE d.parent (id INT PRIMARY KEY)", &child]);
            run(&mut admin, &FILL);
            let read = "SELECT SUM(id), COUNT(p), SUM(p) FROM d.child";
            until_served(&near, &mut client, read);
            run(&mut admin, &[statement]);
            let expected = ask(&mut admin, read);
            is_said(&near, &mut client, read, &expected);
            until_served(&near, &mut client, read);
            run(&mut admin, &["DROP TABLE d.child, d.parent"]);
        }
    }
}

#[test]
fn rows_that_change_along_a_chain_of_tables_are_not_outdated() {
    let read = "SELECT COUNT(*) FROM d.last";
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        let of = |name: &str, parent: &str| {
            let key = format!("FOREIGN KEY (p) REFERENCES d.{parent} (id) ON DELETE CASCADE");
            format!("CREATE TABLE d.{name} (id INT PRIMARY KEY, p INT, {key})")
        };
        // The first table is its own parent.
        let tables = [of("first", "first"), of("middle", "first"), of("last", "middle")];
        tables.iter().for_each(|table| run(&mut admin, &[table]));
        run(
            &mut admin,
            &[
                "INSERT INTO d.first VALUES (1, NULL), (2, NULL), (3, NULL)",
                "INSERT INTO d.middle VALUES (1, 1), (2, 2), (3, 3)",
                "INSERT INTO d.last VALUES (1, 1), (2, 2), (3, 3)",
            ],
        );
        assert_eq!(until_served(&near, &mut client, read), "3");
        run(&mut admin, &["DELETE FROM d.first WHERE id = 1"]);
        is_said(&near, &mut client, read, "2");
        until_served(&near, &mut client, read);
        // The table in the middle now gets another parent, too.
        run(
            &mut admin,
            &[
                "CREATE TABLE d.later (id INT PRIMARY KEY)",
                "INSERT INTO d.later VALUES (1), (2), (3)",
                "ALTER TABLE d.middle ADD FOREIGN KEY (id) REFERENCES d.later (id) ON DELETE CASCADE",
            ],
        );
        until_served(&near, &mut client, read);
        run(&mut admin, &["DELETE FROM d.later WHERE id = 2"]);
        is_said(&near, &mut client, read, "1");
    }
}

#[test]
fn a_rule_that_comes_later_or_reaches_further_counts_too() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        // The chain passes through a table whose parent is in a schema that the near cache's account cannot see.
        let statements = [
            "CREATE DATABASE unseen",
            "CREATE TABLE unseen.parent (id INT PRIMARY KEY)",
            "INSERT INTO unseen.parent VALUES (1), (2)",
            "CREATE TABLE d.`between $-` (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES unseen.parent (id) ON DELETE CASCADE)",
            "CREATE TABLE d.`a$ child-` (p INT PRIMARY KEY, FOREIGN KEY (p) REFERENCES d.`between $-` (id) ON DELETE CASCADE)",
            "INSERT INTO d.`between $-` VALUES (1), (2)",
            "INSERT INTO d.`a$ child-` VALUES (1), (2)",
        ];
        run(&mut admin, &statements);
        let reads = ["SELECT SUM(id) FROM d.`between $-`", "SELECT SUM(p) FROM d.`a$ child-`"];
        are_never_served(&near, &mut client, &reads);
        run(&mut admin, &["DELETE FROM unseen.parent WHERE id = 1"]);
        reads.iter().for_each(|read| assert_eq!(ask(&mut client, read), "2"));
        // The foreign key is added when reads of the child are served already, and its parent is created last.
        let read = "SELECT SUM(p) FROM d.child";
        let statements = ["CREATE TABLE d.child (p INT PRIMARY KEY)", "INSERT INTO d.child VALUES (1), (2)"];
        run(&mut admin, &statements);
        assert_eq!(until_served(&near, &mut client, read), "3");
        let statements = [
            "SET SESSION foreign_key_checks = 0",
            "ALTER TABLE d.child ADD FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE",
            "SET SESSION foreign_key_checks = 1",
            "CREATE TABLE d.parent (id INT PRIMARY KEY)",
            "INSERT INTO d.parent VALUES (1), (2)",
        ];
        run(&mut admin, &statements);
        until_heard(&near);
        (0..5).for_each(|_| drop(ask(&mut client, read)));
        run(&mut admin, &["DELETE FROM d.parent WHERE id = 1"]);
        // Some old servers do not connect the foreign key to a parent that is created later, so the expected value is read.
        let expected = ask(&mut admin, read);
        is_said(&near, &mut client, read, &expected);
    }
}

/// Checks that a table with a foreign key without an action such as ON DELETE CASCADE is served, and so is its parent table: a change of
/// the parent changes no rows of the child.
#[test]
fn a_child_that_its_parent_cannot_change_is_served() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        run(&mut admin, &["CREATE TABLE d.parent (id INT PRIMARY KEY)"]);
        run(
            &mut admin,
            &["CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.parent (id))"],
        );
        run(&mut admin, &FILL);
        for read in ["SELECT SUM(p) FROM d.child", "SELECT SUM(id) FROM d.parent"] {
            assert_eq!(until_served(&near, &mut client, read), "3");
        }
        run(&mut admin, &["DELETE FROM d.child WHERE id = 1", "DELETE FROM d.parent WHERE id = 1"]);
        for read in ["SELECT SUM(p) FROM d.child", "SELECT SUM(id) FROM d.parent"] {
            is_said(&near, &mut client, read, "2");
            until_served(&near, &mut client, read);
        }
    }
}

/// Checks that the near cache looks up a table's name as the catalogue has it, however the statement spells it. Otherwise it would miss a
/// foreign key.
#[test]
fn a_child_is_known_by_any_spelling() {
    for kind in kinds().filter(|kind| !kind.is_mysql()) {
        let server = kind.with(&["--lower-case-table-names=1"]);
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        run(&mut admin, &["CREATE TABLE d.parent (id INT PRIMARY KEY)"]);
        run(
            &mut admin,
            &["CREATE TABLE d.child (p INT PRIMARY KEY, FOREIGN KEY (p) REFERENCES d.parent (id) ON DELETE CASCADE)"],
        );
        run(&mut admin, &["INSERT INTO d.parent VALUES (1), (2)", "INSERT INTO d.child VALUES (1), (2)"]);
        let read = "SELECT SUM(p) FROM D.Child";
        assert_eq!(until_served(&near, &mut client, read), "3");
        run(&mut admin, &["DELETE FROM d.parent WHERE id = 1"]);
        is_said(&near, &mut client, read, "2");
        assert_eq!(until_served(&near, &mut client, "SELECT V FROM D.T WHERE ID = 1"), "1");
        run(&mut admin, &["UPDATE d.t SET v = 5 WHERE id = 1"]);
        is_said(&near, &mut client, "SELECT V FROM D.T WHERE ID = 1", "5");
    }
}

/// MariaDB opens a table also by the name of its file (`#mysql50#t`), but logs changes under the table's name. Checks that a read by the
/// file's name is never answered from memory.
#[test]
fn the_name_of_a_file_is_not_taken_for_that_of_a_table() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut admin) = (near.client(), direct(&server));
        let read = "SELECT v FROM d.`#mysql50#t` WHERE id = 1";
        println!("{}", ask(&mut admin, read));
        are_never_served(&near, &mut client, &[read]);
        run(&mut admin, &["UPDATE d.t SET v = 7 WHERE id = 1"]);
        let expected = ask(&mut admin, read);
        assert_eq!(ask(&mut client, read), expected);
    }
}

/// A read of the value that a statement of [`update`] writes.
const VALUE: &str = "SELECT v FROM d.t WHERE id = 1";

/// Returns the statement that writes this value into the row with the id 1.
fn update(value: u64) -> String {
    format!("UPDATE d.t SET v = {value} WHERE id = 1")
}

/// Waits until the near cache has received the server's log up to now. Then asserts that the read `VALUE` through it returns `value`, and
/// waits until that answer comes from the near cache's memory.
fn is_seen(near: &Near, client: &mut Client, value: &str) {
    until_heard(near);
    assert_eq!(ask(client, VALUE), value, "{}", near.log());
    assert_eq!(until_served(near, client, VALUE), value);
}

/// A server UUID that no server of the test has.
const SOURCE: &str = "11111111-2222-3333-4444-555555555555";

/// Checks that changes are received from transactions whose GTIDs are set by hand: numbers are left out, and some are lower than earlier
/// ones.
#[test]
fn transactions_that_were_numbered_by_hand_count() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        for (value, number) in (10..).zip([5u64, 7, 100, 6, 1, 99, 1 << 40]) {
            until_served(&near, &mut client, VALUE);
            let (before, after) = if kind.is_mysql() {
                (format!("SET gtid_next = '{SOURCE}:{number}'"), "SET gtid_next = AUTOMATIC")
            } else {
                (format!("SET gtid_domain_id = {}, server_id = 77, gtid_seq_no = {number}", value % 3), "DO 1")
            };
            run(&mut writer, &[before.as_str(), &update(value), after]);
            is_seen(&near, &mut client, &value.to_string());
        }
    }
}

/// Lets the server execute transactions that are in no log, and add their GTIDs. Checks that this invalidates everything, since it is
/// unknown what they have changed.
#[test]
fn numbers_that_the_log_never_tells_end_what_was_kept() {
    for kind in kinds().filter(Kind::is_mysql) {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        let number = format!("SET gtid_next = '{SOURCE}:1'");
        let purged = format!("SET GLOBAL gtid_purged = '+{SOURCE}:2-9'");
        let by_hand =
            [number.as_str(), "BEGIN", "UPDATE d.t SET v = 10 WHERE id = 1", "COMMIT", "SET gtid_next = AUTOMATIC"];
        // A dump that is loaded adds GTIDs like this.
        let by_dump = ["UPDATE d.t SET v = 11 WHERE id = 1", &purged];
        for (value, hidden) in [("10", &by_hand[..]), ("11", &by_dump)] {
            until_served(&near, &mut client, VALUE);
            run(&mut writer, &["SET SESSION sql_log_bin = 0"]);
            run(&mut writer, hidden);
            run(&mut writer, &["SET SESSION sql_log_bin = 1"]);
            is_seen(&near, &mut client, value);
        }
    }
}

#[test]
fn transactions_without_numbers_end_it_until_all_have_one() {
    for kind in kinds().filter(Kind::is_mysql) {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        until_served(&near, &mut client, VALUE);
        run(&mut writer, &["SET GLOBAL gtid_mode = ON_PERMISSIVE", "SET gtid_next = ANONYMOUS", &update(5)]);
        near.wait_for_metric("serving", |serving| serving == 0);
        assert_eq!(ask(&mut client, VALUE), "5");
        for value in 6..9 {
            run(&mut writer, &[&update(value)]);
            assert_eq!(ask(&mut client, VALUE), value.to_string());
        }
        run(&mut writer, &["SET gtid_next = AUTOMATIC", "SET GLOBAL gtid_mode = ON"]);
        near.wait_for_metric("serving", |serving| serving == 1);
        assert_eq!(until_served(&near, &mut client, VALUE), "8");
        run(&mut writer, &[&update(9)]);
        is_said(&near, &mut client, VALUE, "9");
    }
}

/// Suspends the near cache while the log goes on, is purged or reset, and grows past the position that was received. Checks that it then
/// serves no result from before.
#[test]
fn a_log_that_is_not_what_it_was_when_it_goes_on_ends_what_was_kept() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        let threads =
            "SELECT id FROM information_schema.processlist WHERE user = 'follower' AND command LIKE 'Binlog%'";
        let purge = "PURGE BINARY LOGS BEFORE NOW() + INTERVAL 1 DAY";
        for value in 10..24 {
            until_served(&near, &mut client, VALUE);
            near.signal(libc::SIGSTOP);
            if value % 7 == 0 {
                for thread in ask(&mut writer, threads).split(';').filter(|thread| !thread.is_empty()) {
                    // The connection may have ended already.
                    let _ = writer.query(format!("KILL {thread}"));
                }
            }
            match value % 6 {
                0 | 1 => run(&mut writer, &[update(value).as_str(), "FLUSH BINARY LOGS", "FLUSH BINARY LOGS", purge]),
                2..5 => run(&mut writer, &[update(value).as_str(), kind.reset]),
                _ => run(&mut writer, &[kind.reset, &update(value), "FLUSH BINARY LOGS", purge]),
            }
            // The log becomes longer than before, or stays shorter.
            for other in 0..if value % 4 == 0 { 3 } else { 20 * (value - 8) } {
                run(&mut writer, &[&format!("REPLACE INTO d.u VALUES ({other}, {value})")]);
            }
            near.signal(libc::SIGCONT);
            is_seen(&near, &mut client, &value.to_string());
        }
    }
}

#[test]
fn a_log_that_goes_on_in_the_next_file_is_followed_without_a_break() {
    for kind in kinds() {
        let server = kind.with(&["--max-binlog-size=4096"]);
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        for value in 10..40 {
            run(&mut writer, &[&update(value), if value % 5 == 0 { "FLUSH BINARY LOGS" } else { "DO 1" }]);
            is_seen(&near, &mut client, &value.to_string());
        }
        assert!(near.metric("log_file") > 3);
        assert_eq!(near.log().matches("following the log").count(), 1, "{}", near.log());
    }
}
