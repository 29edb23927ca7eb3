//! With leases, executions of prepared statements are answered from memory with the same bytes that the server would send.

use crate::beside::executions::{prepared, row, run, until_here, until_run_here};
use crate::beside::scene::{READ, Scene, ask, hits, until_served};
use crate::beside::{LIMIT, Near, wait_until};
use fqc_tests::client::{Client, Login, Param, Prepared, Response, capability, command, execute_body};
use std::time::Instant;

const BY_KEY: &str = "SELECT v, ? AS given FROM d.t WHERE id = ?";

#[test]
fn an_execution_that_repeats_is_answered_from_memory_byte_for_byte() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let (here, there) = (prepared(&mut client, BY_KEY), prepared(&mut direct, BY_KEY));
    let several = [
        [Param::Int(7), Param::Int(1)],
        [Param::Int(7), Param::Int(2)],
        [Param::Int(7), Param::Int(3)],
        [Param::Null, Param::Int(1)],
        [Param::Text("x".into()), Param::Int(1)],
        [Param::Text("7".into()), Param::Text("1".into())],
        [Param::Double(0.5), Param::Unsigned(1)],
    ];
    for _ in 0..3 {
        for params in &several {
            let expected = run(&mut direct, &there, params).bytes;
            assert_eq!(until_run_here(near, &mut client, &here, params).bytes, expected, "{params:?}");
        }
    }
}

#[test]
fn executions_that_follow_each_other_at_once_are_answered_from_memory() {
    const ROUNDS: u64 = 400;
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let statement = prepared(&mut client, BY_KEY);
    let params = [Param::Null, Param::Int(1)];
    (0..ROUNDS).for_each(|_| drop(run(&mut client, &statement, &params)));
    assert!(hits(near) > ROUNDS / 2, "{} of {ROUNDS}", hits(near));
}

/// Prepares a statement, executes it once and closes it, as many libraries do by default. Returns the response to the execution.
fn run_once(client: &mut Client, statement: &str, params: &[Param]) -> Response {
    let statement = prepared(client, statement);
    let answer = run(client, &statement, params);
    client.close(&statement).expect("it is sent");
    answer
}

#[test]
fn a_statement_that_is_prepared_for_each_execution_is_answered_from_memory_byte_for_byte() {
    const ROUNDS: u64 = 50;
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let several = [[Param::Int(7), Param::Int(1)], [Param::Text("x".into()), Param::Int(2)]];
    for params in &several {
        until_here(near, || run_once(&mut client, BY_KEY, params));
    }
    // On a busy machine the lease may have ended for a while.
    wait_until("nine of ten from memory", || {
        let before = hits(near);
        for round in 0..ROUNDS {
            let params = &several[round as usize % 2];
            assert_eq!(run_once(&mut client, BY_KEY, params).bytes, run_once(&mut direct, BY_KEY, params).bytes);
        }
        hits(near) >= before + ROUNDS * 9 / 10
    });
    direct.must("UPDATE d.t SET v = v + 100").expect("it is written");
    for params in &several {
        assert_eq!(run_once(&mut client, BY_KEY, params).bytes, run_once(&mut direct, BY_KEY, params).bytes);
    }
}

/// A client sends the parameter types with the first execution only. If that was answered from memory, the server has not seen them. Checks
/// that later executions without types get the answers of a direct connection, whatever comes between.
#[test]
fn later_executions_go_by_types_that_the_server_has_not_seen_yet() {
    const ONE: [Param; 2] = [Param::Int(7), Param::Int(1)];
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let lasting = prepared(&mut client, "SELECT v + ? FROM d.t WHERE id = ?");
    let betweens: [fn(&mut Client, &Prepared, &Prepared) -> String; 6] = [
        |_, _, _| String::new(),
        |client, _, _| ask(client, "DO 1"),
        |client, _, _| ask(client, READ),
        |client, _, lasting| row(&run(client, lasting, &ONE)),
        |client, _, _| row(&run_once(client, BY_KEY, &ONE)),
        |client, statement, _| client.long_data(statement, 0, b"7").map(|()| String::new()).expect("it is sent"),
    ];
    let there = prepared(&mut direct, "SELECT v + ? FROM d.t WHERE id = ?");
    for (case, between) in betweens.iter().enumerate() {
        until_served(near, &mut client, READ);
        until_run_here(near, &mut client, &lasting, &ONE);
        let mut statement = prepared(&mut client, BY_KEY);
        until_here(near, || {
            client.close(&statement).expect("it is sent");
            statement = prepared(&mut client, BY_KEY);
            run(&mut client, &statement, &ONE)
        });
        let other = prepared(&mut direct, BY_KEY);
        run(&mut direct, &other, &ONE);
        assert_eq!(between(&mut client, &statement, &lasting), between(&mut direct, &other, &there), "case {case}");
        for (id, value) in [(2, 8), (1, 7), (2, 9), (1, 7)] {
            let params = [Param::Int(value), Param::Int(id)];
            let answers = [(&mut client, &statement), (&mut direct, &other)].map(|(client, statement)| {
                let mut bound = Vec::new();
                execute_body(statement.id, &params, &mut bound);
                let without_types = execute_body(statement.id, &params, &mut bound);
                client.send(command::STMT_EXECUTE, &without_types).expect("it is sent");
                client.read_response().expect("an answer").bytes
            });
            assert_eq!(answers[0], answers[1], "case {case}");
        }
    }
}

#[test]
fn a_statement_that_was_prepared_before_a_setting_or_a_database_is_run_as_the_server_runs_it() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    for statement in ["CREATE DATABASE e", "CREATE TABLE e.t SELECT 2 AS id, 77 AS v"] {
        admin.must(statement).expect(statement);
    }
    const DIVIDED: &str = "SELECT 1 / v FROM t WHERE id = ?";
    let changes =
        ["SET SESSION div_precision_increment = 1", "USE e", "SET SESSION div_precision_increment = 2", "USE d"];
    let (mut client, mut direct) = (near.client(), scene.direct());
    [&mut client, &mut direct].into_iter().for_each(|client| drop(ask(client, "USE d")));
    let params = [Param::Int(2)];
    for change in changes {
        until_here(near, || run_once(&mut client, DIVIDED, &params));
        let old = [&mut client, &mut direct].map(|client| prepared(client, DIVIDED));
        [&mut client, &mut direct].into_iter().for_each(|client| drop(ask(client, change)));
        let mut both = |statement: [&Prepared; 2]| {
            let here = run(&mut client, statement[0], &params).bytes;
            assert_eq!(here, run(&mut direct, statement[1], &params).bytes, "{change}");
        };
        (0..2).for_each(|_| both([&old[0], &old[1]]));
        // Now the same text has a result under the new settings.
        until_here(near, || run_once(&mut client, DIVIDED, &params));
        let here = run(&mut client, &old[0], &params).bytes;
        assert_eq!(here, run(&mut direct, &old[1], &params).bytes, "{change}");
    }
}

/// After it has loaded a routine of another database, the server looks up the privileges on the current database again. Checks that a
/// client then gets the server's answers, and no result that it may no longer read.
#[test]
fn a_preparation_that_makes_the_server_look_up_privileges_is_followed_by_what_the_server_says() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    let statements = [
        "CREATE DATABASE e",
        "CREATE FUNCTION e.one() RETURNS INT DETERMINISTIC RETURN 1",
        "CREATE USER u@'%' IDENTIFIED BY 'pw'",
        "GRANT SELECT ON d.* TO u@'%'",
        "GRANT EXECUTE ON e.* TO u@'%'",
    ];
    statements.iter().for_each(|one| drop(admin.must(one).expect(one)));
    let mut clients = [near.tcp(), scene.server.endpoint()]
        .map(|endpoint| Client::connect(&endpoint, &Login::user("u", "pw")).expect("a connection"));
    clients.iter_mut().for_each(|client| drop(ask(client, "USE d")));
    let params = [Param::Null, Param::Int(1)];
    until_here(near, || run_once(&mut clients[0], BY_KEY, &params));
    admin.must("REVOKE SELECT ON d.* FROM u@'%'").expect("it is revoked");
    let both = |client: &mut Client| {
        let (refused, statement) = client.prepare(BY_KEY).expect("an answer");
        let execution = statement.map_or(refused, |statement| run(client, &statement, &params));
        [row(&execution), ask(client, READ)]
    };
    let [here, there] = clients.each_mut().map(|client| {
        let mut said: Vec<_> = (0..4).flat_map(|_| both(client)).collect();
        client.prepare("SELECT e.one()").expect("an answer").1.expect("it is prepared");
        said.extend((0..4).flat_map(|_| both(client)));
        said
    });
    assert_eq!(here, there);
    assert!(there[0] != there[8] && there[1] != there[9], "it has not looked them up: {there:?}");
}

#[test]
fn a_write_is_seen_by_the_next_execution() {
    let scene = Scene::of(2);
    let mut direct = scene.direct();
    let mut readers: Vec<_> = scene.nears.iter().map(Near::client).collect();
    let statements: Vec<_> = readers.iter_mut().map(|reader| prepared(reader, BY_KEY)).collect();
    let params = [Param::Null, Param::Int(1)];
    for value in 10..40 {
        for ((reader, statement), near) in readers.iter_mut().zip(&statements).zip(&scene.nears) {
            until_run_here(near, reader, statement, &params);
        }
        direct.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
        for (reader, statement) in readers.iter_mut().zip(&statements) {
            let seen = run(reader, statement, &params).rows(true)[0][0].clone();
            assert_eq!(seen, Some(value.to_string().into_bytes()));
        }
    }
}

#[test]
fn types_that_were_sent_once_hold_until_others_are() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let (here, there) = (prepared(&mut client, BY_KEY), prepared(&mut direct, BY_KEY));
    let mut bound = [Vec::new(), Vec::new()];
    let kinds: [fn(i64) -> Param; 3] =
        [Param::Int, |value| Param::Text(value.to_string()), |value| Param::Double(value as f64)];
    for group in 0..6 {
        let (before, begun) = (hits(near), Instant::now());
        for round in 0.. {
            if round >= 10 && hits(near) > before {
                break;
            }
            assert!(begun.elapsed() < LIMIT, "group {group}: none was answered from memory");
            let params = [kinds[group % 3](7), Param::Int(1 + round % 2)];
            let expected = {
                let body = execute_body(there.id, &params, &mut bound[0]);
                direct.send(command::STMT_EXECUTE, &body).expect("it is sent");
                direct.read_response().expect("an answer").bytes
            };
            let body = execute_body(here.id, &params, &mut bound[1]);
            client.send(command::STMT_EXECUTE, &body).expect("it is sent");
            assert_eq!(client.read_response().expect("an answer").bytes, expected, "group {group}, round {round}");
            // The server does not see executions that are answered from memory. A statement by text in between must not change the types.
            if round % 7 == 0 {
                ask(&mut client, "DO 1");
            }
        }
    }
}

#[test]
fn a_statement_means_what_it_meant_where_it_was_prepared() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    for statement in ["CREATE DATABASE e", "CREATE TABLE e.t SELECT 1 AS id, 77 AS v"] {
        admin.must(statement).expect(statement);
    }
    const SHORT: &str = "SELECT v FROM t WHERE id = 1";
    let (mut one, mut other) = (near.client(), near.client());
    let [in_d, in_e] = [(&mut one, "USE d"), (&mut other, "USE e")].map(|(client, choice)| {
        ask(client, choice);
        prepared(client, SHORT)
    });
    let first = row(&until_run_here(near, &mut one, &in_d, &[]));
    let second = row(&until_run_here(near, &mut other, &in_e, &[]));
    assert_ne!(first, second);
    // Each session is now in the other's database, where a different result is kept for the same text.
    ask(&mut one, "USE e");
    ask(&mut other, "USE d");
    for _ in 0..4 {
        until_served(near, &mut one, READ);
        assert_eq!(row(&run(&mut one, &in_d, &[])), first);
        until_served(near, &mut other, READ);
        assert_eq!(row(&run(&mut other, &in_e, &[])), second);
    }
    // On another connection, the same statement id stands for another text.
    let (mut third, text) = (near.client(), "SELECT v + 1 FROM d.t WHERE id = 1");
    let same = prepared(&mut third, text);
    assert_eq!(same.id, in_d.id);
    assert_ne!(row(&until_run_here(near, &mut third, &same, &[])), first);
}

#[test]
fn what_is_not_a_plain_execution_is_passed_on() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let statement = prepared(&mut client, BY_KEY);
    let params = [Param::Text("a".into()), Param::Int(1)];
    let kept = row(&until_run_here(near, &mut client, &statement, &params));
    // An execution with a cursor.
    let mut body = execute_body(statement.id, &params, &mut Vec::new());
    body[4] = 1;
    let before = hits(near);
    for _ in 0..5 {
        client.send(command::STMT_EXECUTE, &body).expect("it is sent");
        assert_eq!(client.read_response().expect("an answer").rows(true).len(), 0, "rows come when they are fetched");
    }
    assert_eq!(hits(near), before);
    assert_eq!(row(&until_run_here(near, &mut client, &statement, &params)), kept);
    // An execution with a value that was sent before, in pieces.
    let before = hits(near);
    for value in ["b", "c", "d"] {
        client.long_data(&statement, 0, value.as_bytes()).expect("it is sent");
        let mut body = execute_body(statement.id, &params, &mut Vec::new());
        let piece = body.len() - 10..body.len() - 8;
        body.drain(piece);
        client.send(command::STMT_EXECUTE, &body).expect("it is sent");
        let given = client.read_response().expect("an answer").rows(true)[0][1].clone();
        assert_eq!(given, Some(value.as_bytes().to_vec()));
    }
    assert_eq!(row(&run(&mut client, &statement, &params)), kept);
    assert_eq!(hits(near), before);
}

#[test]
fn a_statement_that_is_gone_is_not_answered() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let params = [Param::Null, Param::Int(1)];
    let (first, second) = (prepared(&mut client, BY_KEY), prepared(&mut client, BY_KEY));
    until_run_here(near, &mut client, &first, &params);
    client.reset(&first).expect("an answer");
    until_run_here(near, &mut client, &second, &params);
    client.close(&second).expect("it is sent");
    assert_eq!(row(&run(&mut client, &second, &params)), "error 1243");
    client.reset_connection().expect("an answer");
    let first = prepared(&mut client, BY_KEY);
    until_run_here(near, &mut client, &first, &params);
    client.reset_connection().expect("an answer");
    assert_eq!(row(&run(&mut client, &first, &params)), "error 1243");
    let again = prepared(&mut client, BY_KEY);
    until_run_here(near, &mut client, &again, &params);
    client.change_user(&Login::default()).expect("an answer");
    assert_eq!(row(&run(&mut client, &again, &params)), "error 1243");
}

#[test]
fn columns_that_a_definition_changes_are_told_as_the_server_tells_them() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut admin = scene.direct();
    let mut clients = [near.client(), near.client(), scene.direct()];
    const ALL: &str = "SELECT * FROM d.t WHERE id = 1";
    let statements: Vec<_> = clients.iter_mut().map(|client| prepared(client, ALL)).collect();
    let definitions = [
        "ALTER TABLE d.t ADD COLUMN w INT DEFAULT 5",
        "ALTER TABLE d.t MODIFY COLUMN w VARCHAR(10)",
        "ALTER TABLE d.t DROP COLUMN w",
        "ALTER TABLE d.t MODIFY COLUMN v BIGINT",
    ];
    for definition in definitions {
        let [one, other, direct] = &mut clients;
        until_run_here(near, one, &statements[0], &[]);
        until_run_here(near, other, &statements[1], &[]);
        run(direct, &statements[2], &[]);
        admin.must(definition).expect(definition);
        // The first client that runs it again fills the memory. The other client must still be informed of the change.
        let (expected, later) = (run(direct, &statements[2], &[]), run(direct, &statements[2], &[]));
        assert_eq!(run(one, &statements[0], &[]).bytes, expected.bytes, "{definition}");
        assert_eq!(until_run_here(near, one, &statements[0], &[]).bytes, later.bytes, "{definition}");
        assert_eq!(run(other, &statements[1], &[]).bytes, expected.bytes, "{definition}");
    }
}

#[test]
fn what_an_execution_leaves_behind_is_there_for_the_next_statement() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let both = prepared(&mut client, "SELECT v FROM d.t ORDER BY id");
    let found = prepared(&mut client, "SELECT FOUND_ROWS()");
    for _ in 0..3 {
        until_run_here(near, &mut client, &both, &[]);
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
        until_run_here(near, &mut client, &both, &[]);
        assert_eq!(run(&mut client, &found, &[]).rows(true)[0][0], Some(b"2".to_vec()));
        let other = prepared(&mut client, "DO 1");
        until_run_here(near, &mut client, &both, &[]);
        client.close(&other).expect("it is sent");
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "2");
    }
    until_run_here(near, &mut client, &both, &[]);
    scene.direct().must("INSERT INTO d.t VALUES (3, 3)").expect("it is written");
    assert_eq!(row(&run(&mut client, &found, &[])), "error 1020", "they would be those of a later state");
}

/// Checks FOUND_ROWS() after an aggregate over an empty range. It is that of the execution before, which must therefore still be run on the
/// server.
#[test]
fn rows_found_before_an_execution_that_aggregates_nothing() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let range = prepared(&mut client, "SELECT COUNT(*) FROM d.t WHERE id BETWEEN ? AND ?");
    for high in 1..9 {
        until_run_here(near, &mut client, &range, &[Param::Int(1), Param::Int(2)]);
        assert_eq!(ask(&mut client, "SELECT 1 UNION SELECT 2 UNION SELECT 3"), "1;2;3");
        until_run_here(near, &mut client, &range, &[Param::Int(1), Param::Int(2)]);
        run(&mut client, &range, &[Param::Int(9), Param::Int(high)]);
        assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "1");
    }
}

/// If an execution goes to the server, an earlier one of the same statement that was answered from memory is never run there. Checks that
/// FOUND_ROWS() gets an error if the execution then fails.
#[test]
fn rows_found_are_not_told_after_an_execution_that_fails_in_the_place_of_one_that_was_answered_here() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut direct) = (near.client(), scene.direct());
    let from = prepared(&mut client, "SELECT v FROM d.t WHERE id >= ? ORDER BY id");
    until_run_here(near, &mut client, &from, &[Param::Int(1)]);
    until_here(near, || {
        run(&mut client, &from, &[Param::Int(2)]);
        run(&mut client, &from, &[Param::Int(1)])
    });
    direct.must("ALTER TABLE d.t CHANGE v w INT").expect("it is altered");
    assert_eq!(row(&run(&mut client, &from, &[Param::Int(9)])), "error 1054");
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "error 1020");
    direct.must("ALTER TABLE d.t CHANGE w v INT").expect("it is altered");
    assert_eq!(run(&mut client, &from, &[Param::Int(2)]).rows(true).len(), 1);
    assert_eq!(ask(&mut client, "SELECT FOUND_ROWS()"), "1");
}

#[test]
fn queries_and_executions_in_turns_are_both_answered_from_memory() {
    let scene = Scene::of(1);
    let near = scene.near();
    let mut client = near.client();
    let statement = prepared(&mut client, BY_KEY);
    let params = [Param::Null, Param::Int(1)];
    until_here(near, || {
        let before = hits(near);
        assert_eq!(ask(&mut client, READ), "1");
        let is_served = hits(near) > before;
        let answer = run(&mut client, &statement, &params);
        if !is_served { Response::default() } else { answer }
    });
    let before = hits(near);
    for _ in 0..20 {
        assert_eq!(ask(&mut client, READ), "1");
        run(&mut client, &statement, &params);
    }
    assert!(hits(near) >= before + 30, "{} of 40", hits(near) - before);
}

#[test]
fn a_statement_that_was_prepared_under_other_settings_is_not_answered_under_these() {
    let scene = Scene::of(1);
    let near = scene.near();
    let (mut client, mut plain) = (near.client(), near.client());
    const DIVIDED: &str = "SELECT 1 / v FROM d.t WHERE id = 2";
    const SETTING: &str = "SET SESSION div_precision_increment = 1";
    ask(&mut client, SETTING);
    let other = prepared(&mut client, DIVIDED);
    until_run_here(near, &mut client, &other, &[]);
    let mut direct = scene.direct();
    let expected = {
        let usual = prepared(&mut direct, DIVIDED);
        run(&mut direct, &usual, &[]);
        ask(&mut direct, SETTING);
        run(&mut direct, &usual, &[]).bytes
    };
    let usual = prepared(&mut plain, DIVIDED);
    until_run_here(near, &mut plain, &usual, &[]);
    ask(&mut plain, SETTING);
    for _ in 0..4 {
        assert_eq!(run(&mut plain, &usual, &[]).bytes, expected);
    }
}

#[test]
fn a_client_that_would_keep_column_metadata_itself_is_served_like_others() {
    let scene = Scene::of(1);
    let near = scene.near();
    let capabilities = Login::default().capabilities | capability::CACHE_METADATA;
    let login = Login { capabilities, ..Login::default() };
    let (mut keeping, mut plain) = (Client::connect(&near.tcp(), &login).expect("a connection"), near.client());
    let params = [Param::Null, Param::Int(1)];
    let expected = {
        let statement = prepared(&mut plain, BY_KEY);
        run(&mut plain, &statement, &params).bytes
    };
    let statement = prepared(&mut keeping, BY_KEY);
    for _ in 0..3 {
        assert_eq!(until_run_here(near, &mut keeping, &statement, &params).bytes, expected);
    }
    // Some clients use the capability although it was not offered to them. The server, which has offered it, then accepts it.
    let insisting = Login { insists_on: capability::CACHE_METADATA, ..Login::default() };
    let mut insisting = Client::connect(&near.tcp(), &insisting).expect("a connection");
    let statement = prepared(&mut insisting, BY_KEY);
    let before = hits(near);
    insisting.capabilities |= capability::CACHE_METADATA;
    for _ in 0..5 {
        assert_eq!(run(&mut insisting, &statement, &params).rows(true).len(), 1);
    }
    assert_eq!(hits(near), before);
}
