//! Near caches that follow the server's log answer executions of prepared statements from memory, as they do reads by text.

use crate::beside::executions::{ELSEWHERE, Twins, prepared, row, run, until_here, until_run_here};
use crate::beside::followed::{self, LONG, direct, kinds, until_heard, with_stores};
use crate::beside::scene::{ask, hits, until_served};
use crate::beside::{LIMIT, Near};
use fqc_tests::client::{Client, Param, Prepared, command};
use std::time::Instant;

const BY_KEY: &str = "SELECT v, id FROM d.t WHERE id = ?";
const ONE: [Param; 1] = [Param::Int(1)];
const TWO: [Param; 1] = [Param::Int(2)];

/// Executes a statement. Returns the answer as text, and true if it came from memory. No other client may be served in the meantime.
fn served(near: &Near, client: &mut Client, statement: &Prepared, params: &[Param]) -> (String, bool) {
    let before = hits(near);
    let said = row(&run(client, statement, params));
    (said, hits(near) > before)
}

/// Repeats an execution until its answer contains the expected text.
fn until_run_says(near: &Near, client: &mut Client, statement: &Prepared, params: &[Param], expected: &str) {
    let begun = Instant::now();
    while !row(&run(client, statement, params)).contains(expected) {
        assert!(begun.elapsed() < LIMIT, "it never says {expected}; {}", near.log());
    }
}

#[test]
fn an_execution_that_repeats_is_answered_byte_for_byte() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut there) = (near.client(), direct(&server));
        let (statement, plain) = (prepared(&mut client, BY_KEY), prepared(&mut there, BY_KEY));
        for params in [&ONE, &TWO, &[Param::Int(3)]] {
            let expected = run(&mut there, &plain, params).bytes;
            assert_eq!(until_run_here(&near, &mut client, &statement, params).bytes, expected);
        }
        // A read by text has an answer of its own, in the text format.
        let text = "SELECT v, id FROM d.t WHERE id = 1";
        until_served(&near, &mut client, text);
        assert_eq!(ask(&mut client, text), "1,1");
        assert!(served(&near, &mut client, &statement, &ONE).1);
        // Another connection is served after its first execution has sent the parameter types to the server.
        let mut other = near.client();
        let statement = prepared(&mut other, BY_KEY);
        until_run_here(&near, &mut other, &statement, &ONE);
    }
}

#[test]
fn an_execution_hangs_on_the_rows_that_it_is_bound_to() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        let statement = prepared(&mut client, BY_KEY);
        // Results of reads that do not name rows by integer keys depend on all rows of the table.
        let by_value = prepared(&mut client, "SELECT v, id FROM d.t WHERE id + 0 = ?");
        let by_text = prepared(&mut client, BY_KEY);
        let mut others = vec![(by_value, ONE)];
        // With this type, MySQL 8.0 reports changed columns at each execution, and such results are not kept.
        if kind.name != "MySQL 8.0" {
            others.push((by_text, [Param::Text("1".into())]));
        }
        for value in 10..16 {
            until_run_here(&near, &mut client, &statement, &TWO);
            for (other, params) in &others {
                until_run_here(&near, &mut client, other, params);
            }
            until_run_here(&near, &mut client, &statement, &ONE);
            followed::run(&mut writer, &[&format!("UPDATE d.t SET v = {value} WHERE id = 2")]);
            until_heard(&near);
            for (other, params) in &others {
                assert!(!served(&near, &mut client, other, params).1, "{}", kind.name);
            }
            let (said, is_here) = served(&near, &mut client, &statement, &TWO);
            assert!(said.contains(&format!("{:?}", value.to_string().into_bytes())) && !is_here, "{said}");
            assert!(served(&near, &mut client, &statement, &ONE).1, "{}", kind.name);
        }
    }
}

#[test]
fn an_execution_by_another_unique_key_is_outdated_by_changes_of_its_row_alone() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let (mut client, mut writer) = (near.client(), direct(&server));
        let table = "CREATE TABLE d.p (id INT PRIMARY KEY, v INT, k INT NOT NULL UNIQUE) ENGINE = InnoDB";
        followed::run(&mut writer, &[table, "INSERT INTO d.p VALUES (1, 1, 10), (2, 2, 20)"]);
        let statement = prepared(&mut client, "SELECT v, id FROM d.p WHERE k = ?");
        let params = [Param::Int(10)];
        for (id, is_kept) in [(2, true), (1, false)] {
            until_run_here(&near, &mut client, &statement, &params);
            followed::run(&mut writer, &[&format!("UPDATE d.p SET v = v + 5 WHERE id = {id}")]);
            until_heard(&near);
            assert_eq!(served(&near, &mut client, &statement, &params).1, is_kept, "row {id} on {}", kind.name);
        }
    }
}

/// Checks that executions are answered from memory if the client sends the close of the last statement together with the next PREPARE, as
/// libraries do that prepare a statement for each execution.
#[test]
fn what_is_prepared_in_one_write_with_a_close_is_answered_too() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        let text = "SELECT v, id FROM d.t";
        let mut last = prepared(&mut client, text);
        let answer = until_here(&near, || {
            let id = last.id.to_le_bytes();
            client
                .send_together(&[(command::STMT_CLOSE, &id), (command::STMT_PREPARE, text.as_bytes())])
                .expect("it is sent");
            last = client.read_prepared().expect("an answer").1.expect("a statement");
            (0..2).map(|_| run(&mut client, &last, &[])).last().expect("an answer")
        });
        assert_eq!(answer.rows(true).len(), 2);
    }
}

#[test]
fn whatever_changes_a_result_ends_it_for_executions_too() {
    for kind in kinds() {
        let server = kind.logging();
        let mut admin = direct(&server);
        followed::run(&mut admin, &["CREATE USER app@'%'", "GRANT SELECT, UPDATE ON d.* TO app@'%'"]);
        let near = kind.following(&server, LONG);
        let [mut client, mut other] = [(); 2].map(|()| near.login("app", "").expect("a connection"));
        let (statement, same) = (prepared(&mut client, BY_KEY), prepared(&mut other, BY_KEY));
        let update = prepared(&mut client, "UPDATE d.t SET v = ? WHERE id = 1");
        let bytes = |value: i64| format!("{:?}", value.to_string().into_bytes());
        for value in 10..20 {
            until_run_here(&near, &mut client, &statement, &ONE);
            until_run_here(&near, &mut other, &same, &ONE);
            if value % 2 == 0 {
                // A write through the near cache is seen at once, also by other connections.
                run(&mut client, &update, &[Param::Int(value)]);
                assert!(row(&run(&mut other, &same, &ONE)).contains(&bytes(value)));
                assert!(row(&run(&mut client, &statement, &ONE)).contains(&bytes(value)));
            } else {
                followed::run(&mut admin, &[&format!("UPDATE d.t SET v = {value} WHERE id = 1")]);
                until_run_says(&near, &mut other, &same, &ONE, &bytes(value));
            }
        }
        // After ALTER TABLE, `SELECT *` has other columns, and the client receives them.
        let all = prepared(&mut client, "SELECT * FROM d.t WHERE id = ?");
        until_run_here(&near, &mut client, &all, &ONE);
        followed::run(&mut admin, &["ALTER TABLE d.t ADD COLUMN w INT DEFAULT 77"]);
        until_run_says(&near, &mut client, &all, &ONE, &bytes(77));
        until_run_here(&near, &mut client, &all, &ONE);
        followed::run(&mut admin, &["REVOKE SELECT ON d.* FROM app@'%'"]);
        until_run_says(&near, &mut client, &statement, &ONE, "error 1142");
        until_run_says(&near, &mut other, &same, &ONE, "error 1142");
    }
}

#[test]
fn what_cannot_be_told_from_the_text_passes() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        until_served(&near, &mut client, "SELECT COUNT(*) FROM d.t");
        let passes = [
            "SELECT NOW(), v FROM d.t WHERE id = ?",
            "SELECT @a, v FROM d.t WHERE id = ?",
            "SELECT v FROM d.t WHERE id = ? FOR UPDATE",
        ];
        for text in passes {
            let statement = prepared(&mut client, text);
            (0..5).for_each(|_| assert!(!served(&near, &mut client, &statement, &ONE).1, "{text}"));
        }
        // A statement's names mean what they meant in the database it was prepared in.
        followed::run(
            &mut direct(&server),
            &["CREATE DATABASE e", "CREATE TABLE e.t LIKE d.t", "GRANT SELECT ON e.* TO follower@'%'"],
        );
        ask(&mut client, "USE d");
        let short = prepared(&mut client, "SELECT v FROM t WHERE id = ?");
        let here = row(&until_run_here(&near, &mut client, &short, &ONE));
        ask(&mut client, "USE e");
        // The near cache now knows the other table, too, which must not change anything.
        until_served(&near, &mut client, "SELECT COUNT(*) FROM t");
        (0..5).for_each(|_| assert_eq!(served(&near, &mut client, &short, &ONE), (here.clone(), false)));
        let there = prepared(&mut client, "SELECT v FROM t WHERE id = ?");
        assert_ne!(row(&until_run_here(&near, &mut client, &there, &ONE)), here);
        let before = hits(&near);
        ask(&mut client, "BEGIN");
        (0..3).for_each(|_| drop(run(&mut client, &there, &ONE)));
        ask(&mut client, "COMMIT");
        assert_eq!(hits(&near), before);
    }
}

/// Checks that an execution with a parameter of the type TIME is never answered from memory: the server completes a TIME with today's date
/// where it is compared with a date.
#[test]
fn an_execution_that_binds_a_time_goes_to_the_server_since_its_answer_depends_on_the_day() {
    for kind in kinds() {
        let server = kind.logging();
        followed::run(
            &mut direct(&server),
            &["CREATE TABLE d.moments (id INT PRIMARY KEY, at DATETIME)", "INSERT INTO d.moments VALUES (1, NOW())"],
        );
        let near = kind.following(&server, LONG);
        let mut client = near.client();
        until_served(&near, &mut client, "SELECT COUNT(*) FROM d.moments");
        let statement = prepared(&mut client, "SELECT id FROM d.moments WHERE at >= ?");
        let midnight = [Param::Time(0, 0, 0)];
        (0..5).for_each(|_| assert!(!served(&near, &mut client, &statement, &midnight).1, "{}", kind.name));
    }
}

#[test]
fn whatever_one_connection_does_it_gets_what_it_would_get_directly() {
    for kind in kinds() {
        let [server, plain] = [(); 2].map(|()| kind.logging());
        let further = ["ALTER TABLE d.t MODIFY v VARCHAR(30)", "GRANT SELECT ON e.* TO follower@'%'"];
        for server in [&server, &plain] {
            followed::run(&mut direct(server), &[&ELSEWHERE[..], &further].concat());
        }
        let near = kind.following(&server, LONG);
        Twins::new(near.client(), direct(&plain)).walk(&near, kind.name);
    }
}

#[test]
fn a_parameter_is_told_with_the_type_that_the_server_would_tell() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.following(&server, LONG);
        Twins::new(near.client(), direct(&server)).bind_anything(&near, kind.name);
    }
}

/// Checks that a near cache finds results of executions that another one has put into the store, each for its bound values.
#[test]
fn an_execution_is_found_where_another_near_cache_has_run_it() {
    for (kind, store) in with_stores() {
        let server = kind.logging();
        let [first, second] = [(); 2].map(|()| kind.sharing(&server, LONG, &store));
        let (mut client, mut other) = (first.client(), second.client());
        let [here, there] = [&mut client, &mut other].map(|client| prepared(client, BY_KEY));
        // The second near cache learns about the table, and the server receives the parameter types.
        until_run_here(&second, &mut other, &there, &[Param::Int(3)]);
        let inserts = first.metric("store_inserts_total");
        for params in [&ONE, &TWO] {
            until_run_here(&first, &mut client, &here, params);
        }
        first.wait_for_metric("store_inserts_total", |now| now >= inserts + 2);
        for params in [&ONE, &TWO] {
            let before = second.metric("store_hits_total");
            let expected = run(&mut client, &here, params).bytes;
            assert_eq!(run(&mut other, &there, params).bytes, expected);
            assert_eq!(second.metric("store_hits_total"), before + 1, "{}", second.log());
        }
    }
}
