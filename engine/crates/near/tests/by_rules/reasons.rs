//! If reads may be answered from memory, each read that the server answers instead is counted with a reason.

use crate::beside::followed::{LONG, direct, kinds, mariadb, run, show};
use crate::beside::scene::{READ, ask, furnish, until_served};
use crate::beside::{Folder, LIMIT, Near, near, server, wait_until};
use fqc_tests::client::{Client, Param};
use std::collections::BTreeMap;
use std::time::Instant;

/// How often reads went to the server for each reason, by the reason's name.
type Counted = BTreeMap<String, u64>;

/// Returns how often reads went to the server for each reason since the near cache started.
fn counted(near: &Near) -> Counted {
    let metrics = near.get("/metrics");
    let lines = metrics.lines().filter_map(|line| line.strip_prefix("fqc_near_reasons_total{reason=\""));
    let counted = lines.filter_map(|line| line.split_once("\"} "));
    counted.map(|(name, count)| (name.into(), count.parse().expect("a number"))).collect()
}

/// Returns the reasons whose count has grown since `before`, and by how much, sorted by name.
fn since(near: &Near, before: &Counted) -> Vec<(String, u64)> {
    let counts = counted(near).into_iter().map(|(name, count)| (count - before.get(&name).unwrap_or(&0), name));
    counts.filter(|(count, _)| *count > 0).map(|(count, name)| (name, count)).collect()
}

/// Calls `read`, which sends one read, again and again, until three calls in a row are each counted with this reason and with no other one.
fn comes_to(near: &Near, reason: &str, mut read: impl FnMut()) {
    const TIMES: u64 = 3;
    let begun = Instant::now();
    loop {
        let before = counted(near);
        (0..TIMES).for_each(|_| read());
        let since = since(near, &before);
        if since == [(reason.into(), TIMES)] {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "{since:?}, and not {reason}; {}", near.log());
    }
}

/// Sends one read, and returns the names of the reasons that were counted for it. Empty if it was answered from memory.
fn at_once(near: &Near, client: &mut Client, read: &str) -> Vec<String> {
    let before = counted(near);
    ask(client, read);
    since(near, &before).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn with_the_log_each_read_that_goes_to_the_server_has_a_reason() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        let statements = [
            "USE d",
            "CREATE FUNCTION d.f() RETURNS INT READS SQL DATA RETURN (SELECT MAX(v) FROM d.t)",
            &format!("CREATE VIEW d.lengthy AS SELECT v FROM d.t WHERE v NOT IN (0{})", ", 77".repeat(6000)),
            "CREATE VIEW d.calling AS SELECT d.f() AS v FROM d.t",
            "CREATE VIEW d.around AS SELECT v FROM d.calling",
            "CREATE VIEW d.system_ AS SELECT TABLE_NAME FROM information_schema.TABLES",
            "CREATE DATABASE half",
            "CREATE VIEW half.w AS SELECT * FROM d.t",
            "GRANT SELECT ON half.* TO follower@'%'",
            "CREATE TABLE d.`par\u{e9}nt` (id INT PRIMARY KEY)",
            "CREATE TABLE d.child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.`par\u{e9}nt` (id) ON DELETE CASCADE)",
            &format!("CREATE TABLE d.plain (id INT) ENGINE = {}", kind.other_engine),
            "CREATE TABLE d.times (id INT PRIMARY KEY, t TIME)",
            "CREATE TABLE d.long_ (id INT PRIMARY KEY, t LONGTEXT)",
            "INSERT INTO d.long_ VALUES (1, REPEAT('x', 1100000))",
            "CREATE DATABASE unseen",
            "CREATE TABLE unseen.t (id INT PRIMARY KEY)",
        ];
        run(&mut admin, &statements);
        show(&mut admin, &["d.lengthy", "d.calling", "d.around", "d.system_"]);
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        until_served(&near, &mut client, READ);
        let long = format!("SELECT v FROM d.t WHERE id IN (1{})", ", 1".repeat(6000));
        let reads = [
            ("SELECT v FROM d.lengthy", "view"),
            ("SELECT v FROM d.calling", "view_function"),
            ("SELECT v FROM d.around", "view_function"),
            ("SELECT COUNT(*) FROM d.system_", "view_system_schema"),
            ("SELECT v FROM half.w", "view_hidden"),
            ("SELECT * FROM d.child", "cascades"),
            ("SELECT * FROM d.plain", "table_engine"),
            ("SELECT * FROM d.times", "time_column"),
            ("SELECT * FROM unseen.t", "table_hidden"),
            ("SELECT * FROM d.`\u{e9}`", "table_name"),
            ("SELECT d.f() FROM d.t", "unknown_function"),
            ("SELECT NOW() FROM d.t", "nondeterministic"),
            ("SELECT SQL_NO_CACHE v FROM d.t", "sql_no_cache"),
            ("SELECT COUNT(*) FROM mysql.user", "system_schema"),
            ("SELECT 1", "no_table"),
            (&long, "too_long"),
        ];
        for (read, reason) in reads {
            comes_to(&near, reason, || drop(ask(&mut client, read)));
        }
        run(&mut client, &["BEGIN"]);
        comes_to(&near, "transaction", || drop(ask(&mut client, READ)));
        run(&mut client, &["COMMIT"]);
        let (_, statement) = client.prepare("SELECT v FROM d.t WHERE id = ?").expect("it is prepared");
        until_served(&near, &mut client, READ);
        let (statement, before) = (statement.expect("a statement"), counted(&near));
        client.execute(&statement, &[Param::Int(1)]).expect("an answer");
        assert_eq!(since(&near, &before), [("parameter_types".into(), 1)]);
        let before = counted(&near);
        client.execute(&statement, &[Param::Time(1, 0, 0)]).expect("an answer");
        assert_eq!(since(&near, &before), [("current_date".into(), 1)]);
        until_served(&near, &mut client, "SELECT COUNT(*) FROM d.t");
        assert_eq!(at_once(&near, &mut client, "SELECT SUM(v) FROM d.t"), ["absent"]);
        assert_eq!(at_once(&near, &mut near.client(), "SELECT v FROM d.t"), ["first_read"]);
        until_served(&near, &mut client, "SELECT COUNT(*) FROM d.long_");
        assert_eq!(at_once(&near, &mut client, "SELECT t FROM d.long_"), ["absent", "too_large"]);
        assert_eq!(at_once(&near, &mut client, "SELECT v / 0 FROM d.t"), ["absent", "warnings"]);
        let mut other = near.client();
        wait_until("a read while a write is awaited", || {
            until_served(&near, &mut other, READ);
            run(&mut client, &["UPDATE d.t SET v = v + 1 WHERE id = 1"]);
            at_once(&near, &mut other, READ) == ["write_awaited"]
        });
        run(&mut client, &["LOCK TABLES d.t READ"]);
        comes_to(&near, "session_settings", || drop(ask(&mut client, READ)));
        run(&mut admin, &["ALTER USER follower@'%' ACCOUNT LOCK"]);
        let threads = "SELECT id FROM information_schema.processlist WHERE user = 'follower'";
        while let Some(thread) = admin.scalar(threads).expect("an answer") {
            // The connection may have ended already.
            let _ = admin.query(format!("KILL {thread}"));
        }
        near.wait_for_metric("serving", |serving| serving == 0);
        comes_to(&near, "log_not_followed", || drop(ask(&mut other, "SELECT SUM(id) FROM d.t")));
    }
}

#[test]
fn a_table_that_was_changed_with_one_of_another_engine_is_named_as_the_reason() {
    let kind = mariadb();
    let server = kind.logging();
    let near = kind.following(&server, LONG);
    let (mut client, mut admin) = (near.client(), direct(&server));
    until_served(&near, &mut client, READ);
    run(&mut admin, &["CREATE TABLE d.aria (id INT) ENGINE = Aria"]);
    run(&mut admin, &["BEGIN", "UPDATE d.t SET v = 3", "INSERT INTO d.aria VALUES (1)", "COMMIT"]);
    comes_to(&near, "mixed_engines", || drop(ask(&mut client, READ)));
}

#[test]
fn by_rules_each_read_that_goes_to_the_server_has_a_reason() {
    let server = server();
    furnish(&server);
    let folder = Folder::fresh();
    let rules = folder.write("rules", "[[rule]]\ntable = 'd.t'\ncache = 'always'\nttl = 3600\n");
    let near = near(&server, &["--rules", &rules]);
    let mut client = near.client();
    assert_eq!(at_once(&near, &mut client, READ), ["first_read"]);
    until_served(&near, &mut client, READ);
    assert_eq!(at_once(&near, &mut client, READ), [""; 0]);
    assert_eq!(at_once(&near, &mut client, "SELECT COUNT(*) FROM d.t"), ["absent"]);
    comes_to(&near, "no_rule", || drop(ask(&mut client, "SELECT v FROM d.u")));
    let (_, statement) = client.prepare("SELECT v FROM d.t WHERE id = ?").expect("it is prepared");
    let statement = statement.expect("a statement");
    let before = counted(&near);
    client.execute(&statement, &[Param::Int(1)]).expect("an answer");
    assert_eq!(since(&near, &before), [("parameter_types".into(), 1)]);
    comes_to(&near, "nondeterministic", || drop(ask(&mut client, "SELECT RAND() FROM d.t")));
    run(&mut client, &["LOCK TABLES d.t READ"]);
    comes_to(&near, "session_settings", || drop(ask(&mut client, READ)));
}
