//! The state that an execution of a prepared statement leaves on the server, of either product, if the cache has answered the execution:
//! the types of its parameters, an open cursor, the number of its columns.

use crate::traps::{Arena, binary_rows_text, rows_text, until};
use crate::with_table;
use fqc_tests::client::{Client, Param, Prepared, command, execute_body};
use fqc_tests::random::Random;

const READ: &str = "SELECT v FROM t WHERE id = 1";

pub const NUMBER: &[u8] = &[3, 0];
const TEXT: &[u8] = &[0xfd, 0];

/// The body of an execution that binds these types for its one parameter, with its encoded value. If `types` is empty, the server uses
/// those of the execution before.
pub fn execution(prepared: &Prepared, types: &[u8], value: &[u8]) -> Vec<u8> {
    let head = [&prepared.id.to_le_bytes()[..], &[0, 1, 0, 0, 0, 0, u8::from(!types.is_empty())]].concat();
    [&head[..], types, value].concat()
}

/// Sends the body of an execution. Returns the rows as text.
pub fn run(client: &mut Client, body: &[u8]) -> String {
    client.send(command::STMT_EXECUTE, body).unwrap();
    binary_rows_text(&client.read_response().unwrap())
}

/// Checks executions that contain no parameter types. A client sends the types once and then executes often. The execution that contains
/// them may be answered from the cache, so the server may not have seen them.
#[test]
fn types_that_are_bound_once() {
    let (mut arena, _, mut other) = with_table("p_once");
    let count = "SELECT COUNT(*), SUM(v) FROM t WHERE id < ? LIMIT 1";
    for read in ["SELECT v FROM t WHERE id = ?", count] {
        let bodies = [(NUMBER, &[2, 0, 0, 0][..]), (TEXT, b"\x011")];
        let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
        for (types, value) in bodies {
            let stored = other.prepare(read).unwrap().1.unwrap();
            let body = execution(&stored, types, value);
            until("a hit", || arena.counted(|| run(&mut other, &body)).1 > 0);
        }
        let mut client = arena.client();
        arena.warm(&mut client, READ);
        for (types, value) in bodies {
            let [prepared, of_plain] = [&mut client, &mut plain].map(|one| one.prepare(read).unwrap().1.unwrap());
            let mut truth = |types, value| run(&mut plain, &execution(&of_plain, types, value));
            let (answer, hits) = arena.counted(|| run(&mut client, &execution(&prepared, types, value)));
            assert_eq!((answer, hits), (truth(types, value), 1));
            let next = if types == NUMBER { &[3, 0, 0, 0][..] } else { b"\x014" };
            assert_eq!(run(&mut client, &execution(&prepared, b"", next)), truth(types, next), "{read}");
        }
        // If the server must run a served execution after all, to know the number of rows found, it is run with the types and values that
        // were bound.
        let [prepared, of_plain] = [&mut client, &mut plain].map(|one| one.prepare(read).unwrap().1.unwrap());
        let mut truth = |types, value| run(&mut plain, &execution(&of_plain, types, value));
        assert_eq!(run(&mut client, &execution(&prepared, NUMBER, &[2, 0, 0, 0])), truth(NUMBER, &[2, 0, 0, 0]));
        assert_eq!(rows_text(&client.query("SELECT FOUND_ROWS()").unwrap()), "1");
        assert_eq!(run(&mut client, &execution(&prepared, b"", &[5, 0, 0, 0])), truth(b"", &[5, 0, 0, 0]));
    }
}

#[test]
fn types_that_are_bound_once_before_an_execution_in_pieces() {
    let (mut arena, _, mut client) = with_table("p_once_pieces");
    let prepare = |client: &mut Client| client.prepare("SELECT v FROM t WHERE id = ?").unwrap().1.unwrap();
    let stored = prepare(&mut client);
    let number = |prepared: &Prepared| execution(prepared, NUMBER, &[1, 0, 0, 0]);
    until("a hit", || arena.counted(|| run(&mut client, &number(&stored))).1 > 0);
    let cuts = [1, 4, 6, 12];
    for (cut, v) in cuts.into_iter().zip(["20", "30", "40", "50"]) {
        for knows_text in [false, true] {
            let prepared = prepare(&mut client);
            if knows_text {
                assert_eq!(run(&mut client, &execution(&prepared, TEXT, b"\x019")), "");
            }
            assert_eq!(run(&mut client, &number(&prepared)), "10");
            let id = v.as_bytes()[0] - b'0';
            let body = execution(&prepared, b"", &[id, 0, 0, 0]);
            let mut bytes = vec![1, 0, 0, 0, command::PING, body.len() as u8 + 1, 0, 0, 0, command::STMT_EXECUTE];
            bytes.extend(body);
            // The bytes in the same piece as a ping have arrived before the rest is sent.
            client.send_raw(&bytes[..5 + cut]).unwrap();
            client.read_response().unwrap();
            client.send_raw(&bytes[5 + cut..]).unwrap();
            assert_eq!(binary_rows_text(&client.read_response().unwrap()), v, "cut after {cut}");
        }
    }
}

/// Checks that a value from COM_STMT_SEND_LONG_DATA is used by the next execution, even if that one contains no parameter types and the
/// execution with the types was served.
#[test]
fn types_that_are_bound_once_before_long_data() {
    let (mut arena, _, mut client) = with_table("p_once_long");
    let read = "SELECT v FROM t WHERE id = ?";
    let prepared = client.prepare(read).unwrap().1.unwrap();
    let body = execution(&prepared, TEXT, b"\x011");
    until("a hit", || arena.counted(|| run(&mut client, &body)).1 > 0);
    let again = client.prepare(read).unwrap().1.unwrap();
    assert_eq!(arena.counted(|| run(&mut client, &execution(&again, TEXT, b"\x011"))), ("10".into(), 1));
    client.long_data(&again, 0, b"3").unwrap();
    assert_eq!(run(&mut client, &execution(&again, b"", b"")), "30");
}

/// Checks that nothing is served when the server would refuse. After long data for a parameter that does not exist, it refuses each further
/// execution until the statement is reset.
#[test]
fn pieces_for_a_parameter_that_is_not_there() {
    const STMT_RESET: u8 = 0x1A;
    let (mut arena, _, mut client) = with_table("p_astray");
    let prepared = client.prepare("SELECT v FROM t WHERE id = ?").unwrap().1.unwrap();
    let body = execution(&prepared, NUMBER, &[1, 0, 0, 0]);
    until("a hit", || arena.counted(|| run(&mut client, &body)).1 > 0);
    client.long_data(&prepared, 7, b"3").unwrap();
    (0..3).for_each(|_| assert_eq!(run(&mut client, &body), "error 1210"));
    client.send(STMT_RESET, &prepared.id.to_le_bytes()).unwrap();
    client.read_response().unwrap();
    // After a failed execution the next one goes to the server.
    assert_eq!(run(&mut client, &body), "10");
    assert_eq!(arena.counted(|| run(&mut client, &body)), ("10".into(), 1));
}

/// Checks that a served execution closes a cursor that the previous execution has left open, as any execution does.
#[test]
fn a_cursor_ends_with_the_next_execution() {
    let (mut arena, _, mut client) = with_table("p_cursor");
    let prepared = client.prepare("SELECT v FROM t WHERE id < ?").unwrap().1.unwrap();
    let rows = execution(&prepared, NUMBER, &[3, 0, 0, 0]);
    until("a hit", || arena.counted(|| run(&mut client, &rows)).1 > 0);
    let mut with_cursor = rows.clone();
    with_cursor[4] = 1;
    client.send(command::STMT_EXECUTE, &with_cursor).unwrap();
    client.read_response().unwrap();
    assert_eq!(run(&mut client, &rows), "10;20");
    client.send(command::STMT_FETCH, &[&prepared.id.to_le_bytes()[..], &[9, 0, 0, 0]].concat()).unwrap();
    const NO_OPEN_CURSOR: u16 = 1421;
    assert_eq!(client.read_response().unwrap().failure().map(|failure| failure.code), Some(NO_OPEN_CURSOR));
    assert_eq!(arena.counted(|| run(&mut client, &rows)), ("10;20".into(), 1));
}

/// Checks executions of a statement whose table has got other columns since the preparation. The server reports new columns once to each
/// session that has prepared the statement before.
#[test]
fn columns_that_have_changed_since_a_statement_was_prepared() {
    let (mut arena, mut writer, mut reader) = with_table("p_columns");
    let read = "SELECT * FROM t WHERE id = 1";
    let prepare = |client: &mut Client| client.prepare(read).unwrap().1.unwrap();
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let (prepared, of_plain) = (prepare(&mut reader), prepare(&mut plain));
    arena.warm_prepared(&mut reader, &prepared, &[]);
    for definition in ["ADD COLUMN w INT", "MODIFY v BIGINT", "DROP COLUMN w"] {
        writer.must(&format!("ALTER TABLE t {definition}")).unwrap();
        let mut other = arena.client();
        let of_other = prepare(&mut other);
        arena.warm_prepared(&mut other, &of_other, &[]);
        for _ in 0..2 {
            let answer = reader.execute(&prepared, &[]).unwrap();
            assert_eq!(answer, plain.execute(&of_plain, &[]).unwrap(), "{definition}");
        }
        arena.warm_prepared(&mut reader, &prepared, &[]);
    }
}

/// Checks that ROW_COUNT() and other answers stay right when statements are closed after a served execution. If the server must run that
/// execution after all, to learn the number of rows found, it runs it before its statement is closed. Closing another statement has no such
/// effect.
#[test]
fn a_close_of_another_statement() {
    let (mut arena, _, mut client) = with_table("p_close");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let [mut sums, mut others] = [Vec::new(), Vec::new()];
    for one in [&mut client, &mut plain] {
        sums.push(one.prepare("SELECT SUM(v) FROM t LIMIT 1").unwrap().1.unwrap());
        others.push(one.prepare("SELECT v FROM t WHERE id = 1").unwrap().1.unwrap());
    }
    arena.warm_prepared(&mut client, &sums[0], &[]);
    let mut answers = Vec::new();
    for (at, one) in [&mut client, &mut plain].into_iter().enumerate() {
        one.execute(&sums[at], &[]).unwrap();
        one.must("ROLLBACK").unwrap();
        one.close(&others[at]).unwrap();
        answers.push(rows_text(&one.query("SELECT ROW_COUNT()").unwrap()));
        one.execute(&sums[at], &[]).unwrap();
        one.close(&sums[at]).unwrap();
        answers.push(rows_text(&one.query("SELECT FOUND_ROWS()").unwrap()));
    }
    assert_eq!(answers[..2], answers[2..]);
}

/// Checks a statement whose table gets other columns before an execution that fails. The server also accepts the new columns in such an
/// execution.
#[test]
fn columns_that_have_changed_in_an_execution_that_failed() {
    let (mut arena, mut writer, mut reader) = with_table("p_columns_failed");
    writer.must("CREATE TABLE one (k INT) ENGINE = InnoDB").unwrap();
    writer.must("INSERT INTO one VALUES (1)").unwrap();
    let read = "SELECT * FROM t WHERE id = (SELECT k FROM one)";
    let prepare = |client: &mut Client| client.prepare(read).unwrap().1.unwrap();
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let (prepared, of_plain) = (prepare(&mut reader), prepare(&mut plain));
    for sql in ["ALTER TABLE t ADD COLUMN w INT", "INSERT INTO one VALUES (2)"] {
        writer.must(sql).unwrap();
    }
    let failed = reader.execute(&prepared, &[]).unwrap();
    assert_eq!(failed.failure().map(|failure| failure.code), Some(1242));
    assert_eq!(failed, plain.execute(&of_plain, &[]).unwrap());
    for sql in ["DELETE FROM one WHERE k = 2", "ALTER TABLE t DROP COLUMN w"] {
        writer.must(sql).unwrap();
    }
    let mut other = arena.client();
    let of_other = prepare(&mut other);
    arena.warm_prepared(&mut other, &of_other, &[]);
    for _ in 0..2 {
        assert_eq!(reader.execute(&prepared, &[]).unwrap(), plain.execute(&of_plain, &[]).unwrap());
    }
}

#[test]
fn columns_that_have_changed_before_a_served_read_is_run_after_all() {
    let (mut arena, mut writer, mut reader) = with_table("p_columns_later");
    let read = "SELECT * FROM t WHERE id = 1";
    let prepare = |client: &mut Client| client.prepare(read).unwrap().1.unwrap();
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let (prepared, of_plain) = (prepare(&mut reader), prepare(&mut plain));
    arena.warm_prepared(&mut reader, &prepared, &[]);
    let hit = arena.counted(|| reader.execute(&prepared, &[]).unwrap()).1;
    assert_eq!(hit, 1);
    plain.execute(&of_plain, &[]).unwrap();
    writer.must("ALTER TABLE t ADD COLUMN w INT").unwrap();
    for client in [&mut reader, &mut plain] {
        assert_eq!(rows_text(&client.query("SELECT FOUND_ROWS()").unwrap()), "1");
    }
    for _ in 0..2 {
        assert_eq!(reader.execute(&prepared, &[]).unwrap(), plain.execute(&of_plain, &[]).unwrap());
    }
}

/// Checks that the server runs a read only once after the same read was served: the error must have the words of a first execution. From
/// the second execution on, the server words the error differently if the definer of a view may no longer read its table.
#[test]
fn a_read_after_the_same_was_served_runs_once() {
    let (mut arena, mut maker, _) = with_table("p_same");
    let view = "CREATE DEFINER = owner@localhost VIEW w AS SELECT id, FROM_UNIXTIME(id) AS e FROM t";
    for statement in ["CREATE USER owner@localhost", "GRANT SELECT ON p_same.* TO owner@localhost", view] {
        maker.must(statement).unwrap();
    }
    let read = "SELECT a.id, b.* FROM w AS a JOIN w AS b ON a.id = b.id WHERE a.id = ? OR a.id = 3 LIMIT 0, 1";
    let (mut client, mut plain) = (arena.client(), arena.client_with(&["SET SESSION fqc_type = OFF"]));
    let prepared = client.prepare(read).unwrap().1.unwrap();
    let of_plain = plain.prepare(read).unwrap().1.unwrap();
    let one = [Param::Int(1)];
    arena.warm_prepared(&mut client, &prepared, &one);
    plain.execute(&of_plain, &one).unwrap();
    maker.must("REVOKE SELECT ON p_same.* FROM owner@localhost").unwrap();
    for _ in 0..2 {
        assert_eq!(client.execute(&prepared, &one).unwrap(), plain.execute(&of_plain, &one).unwrap());
    }
    maker.must("DROP USER owner@localhost").unwrap();
}

/// Checks that served executions depend on earlier values in the same way as the server's. MySQL remembers the types that a parameter has
/// had. After a number it compares text as a number, and it reports a NULL with the type before it.
#[test]
fn what_a_parameter_was_given_before() {
    const TEXTS: [&str; 5] = [
        "SELECT ?, v FROM t WHERE id = 1",
        "SELECT COALESCE(?, ?) FROM t WHERE id = 1",
        "SELECT id FROM words WHERE c = ?",
        "SELECT id FROM words WHERE c IN (?, ?)",
        "SELECT id FROM words WHERE c + ? = 2",
    ];
    let (mut arena, mut writer, mut client) = with_table("p_given");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    writer.must("CREATE TABLE words (id INT PRIMARY KEY, c VARCHAR(9)) ENGINE = InnoDB").unwrap();
    writer.must("INSERT INTO words VALUES (1, '1'), (2, '01'), (3, '1abc'), (4, '2'), (5, '1.0')").unwrap();
    let values = [
        Param::Int(1),
        Param::Null,
        Param::Unsigned(1),
        Param::Double(1.0),
        Param::Text("1".into()),
        Param::Text("1abc".into()),
        Param::Blob(b"1".into()),
    ];
    let cases: Vec<_> = TEXTS.iter().map(|text| (*text, values.to_vec())).collect();
    let hits = answers_hang_on_nothing_else(&mut arena, [&mut client, &mut plain], &cases, |_| ());
    assert!(hits > 200, "{hits}");
}

/// A server may change the type of a parameter after a value: because of the value's bytes, or because it had to open tables again.
#[test]
fn what_the_bytes_of_a_value_are_taken_for() {
    let text = |text: &str| Param::Text(text.into());
    let (day, moment) = (text("2026-01-01"), text("2026-01-01 10:00:00"));
    let cases = [
        ("SELECT ? + 1 FROM words", vec![text("1"), text("80.196"), text("12abc"), text("-1"), Param::Null]),
        ("SELECT ? + 1.5 FROM words", vec![Param::Int(1), Param::Decimal("1.5".into()), text("1"), text("1e2")]),
        ("SELECT f * ?, COALESCE(f, ?) FROM words", vec![Param::Int(1), Param::Double(1.5), text("1")]),
        ("SELECT id FROM words WHERE u = ? LIMIT 1", vec![Param::Int(1), Param::Unsigned(1), text("1"), text("-1")]),
        ("SELECT COALESCE(day, ?) FROM words", vec![day.clone(), moment.clone(), Param::Date(2026, 1, 1), text("?")]),
        ("SELECT COALESCE(day, ?) FROM words", vec![Param::Int(20_260_101), Param::Int(20_260_101_100_000)]),
        ("SELECT COALESCE(moment, ?) FROM words", vec![day, moment, Param::DateTime(2026, 1, 1, 10, 0, 0)]),
        ("SELECT COALESCE(b, ?), COALESCE(c, ?) FROM words", vec![text("a"), Param::Blob(b"a".into())]),
    ];
    let (mut arena, mut writer, mut client) = with_table("p_bytes");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let columns = "c VARCHAR(9), u INT UNSIGNED, f DOUBLE, day DATE, moment DATETIME, b BLOB";
    writer.must(&format!("CREATE TABLE words (id INT PRIMARY KEY, {columns}) ENGINE = InnoDB")).unwrap();
    writer.must("INSERT INTO words VALUES (1, '1', 1, 1, '2026-01-01', '2026-01-01 10:00:00', '1')").unwrap();
    let hits = answers_hang_on_nothing_else(&mut arena, [&mut client, &mut plain], &cases, |random| {
        if random.below(6) == 0 {
            writer.must("FLUSH TABLES").unwrap();
        }
    });
    assert!(hits > 100, "{hits}");
}

/// Executes each text with random values, in a session that is served and in one that is not, and compares the answers. Half of the values
/// are the first one of the case. `between` is called before each execution. Returns the number of hits.
fn answers_hang_on_nothing_else(
    arena: &mut Arena,
    [client, plain]: [&mut Client; 2],
    cases: &[(&str, Vec<Param>)],
    mut between: impl FnMut(&mut Random),
) -> u64 {
    let mut random = Random::new(11);
    let mut hits = 0;
    for round in 0..150 {
        let (text, values) = &cases[round % cases.len()];
        let twins = [&mut *client, &mut *plain].map(|one| one.prepare(text).unwrap().1.unwrap());
        let mut bound = [Vec::new(), Vec::new()];
        let mut history = Vec::new();
        for _ in 0..6 {
            let mut draw = || values[random.below(2 * values.len()).saturating_sub(values.len())].clone();
            let params = &[draw(), draw()][..twins[0].params as usize];
            history.push(params.to_vec());
            for _ in 0..3 {
                between(&mut random);
                let mut ask = |one: &mut Client, at: usize| {
                    let body = execute_body(twins[at].id, params, &mut bound[at]);
                    one.send(command::STMT_EXECUTE, &body).unwrap();
                    one.read_response().unwrap().bytes
                };
                let (answer, hit) = arena.counted(|| ask(client, 0));
                hits += hit;
                assert_eq!(answer, ask(plain, 1), "{text}, {history:?}");
            }
        }
        [&mut *client, &mut *plain].into_iter().zip(&twins).for_each(|(one, twin)| one.close(twin).unwrap());
    }
    println!("{hits} hits");
    hits
}

/// Checks FOUND_ROWS() after an aggregate over no rows: it stays that of the read before. The cache may have served both.
#[test]
fn the_rows_found_before_an_aggregate_over_nothing() {
    let (mut arena, mut client, mut other) = with_table("p_nothing");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let none: Vec<_> = (0..12).map(|id| format!("SELECT BIT_XOR(id) + {id} FROM t WHERE id BETWEEN 6 AND 5")).collect();
    let range = "SELECT COUNT(*) FROM t WHERE id BETWEEN ? AND ?";
    let [here, there, truth] = [&mut client, &mut other, &mut plain].map(|one| one.prepare(range).unwrap().1.unwrap());
    let bounds = |low, high| [Param::Int(low), Param::Int(high)];
    let one = READ;
    none.iter().map(String::as_str).chain([one]).for_each(|read| drop(arena.warm(&mut other, read)));
    [bounds(2, 4), bounds(6, 5)].iter().for_each(|bounds| drop(arena.warm_prepared(&mut other, &there, bounds)));
    let found = "SELECT FOUND_ROWS()";
    for others in [1, 2, none.len()] {
        for in_transaction in [false, true] {
            let mut steps = vec!["SELECT v FROM t ORDER BY id LIMIT 2", one];
            steps.extend(none[..others].iter().map(String::as_str));
            steps.extend(none[..1].iter().map(String::as_str));
            if in_transaction {
                steps.insert(1, "BEGIN");
                steps.push("COMMIT");
            }
            steps.push(found);
            let (_, hits) = arena.counted(|| {
                for step in &steps {
                    let [answer, expected] = [&mut client, &mut plain].map(|one| rows_text(&one.query(step).unwrap()));
                    assert_eq!(answer, expected, "{step}, {others} others");
                }
            });
            assert!(hits > others as u64 / 2, "{hits}");
        }
    }
    for last in [bounds(6, 5), bounds(2, 4)] {
        for step in ["SELECT v FROM t ORDER BY id LIMIT 2", one] {
            [&mut client, &mut plain].into_iter().for_each(|one| drop(one.query(step).unwrap()));
        }
        for bounds in [bounds(2, 4), last] {
            assert!(arena.ask_prepared(&mut client, &here, &bounds).1);
            plain.execute(&truth, &bounds).unwrap();
        }
        let [answer, expected] = [&mut client, &mut plain].map(|one| rows_text(&one.query(found).unwrap()));
        assert_eq!(answer, expected);
    }
}

/// The column name begins with a space. Only the preparation of the statement warns of that.
const WARNED_OF: &str = "SELECT v AS ' v' FROM t WHERE id = ?";

/// Checks that the warnings of a preparation are no longer counted after a served execution. Some answers end with the number of warnings
/// of the statement before. The differential tester has found this defect.
#[test]
fn warnings_of_a_preparation_are_gone_after_an_execution() {
    let (mut arena, _, mut client) = with_table("p_warned");
    let mut plain = arena.client_with(&["SET SESSION fqc_type = OFF"]);
    let one = [Param::Int(1)];
    let stored = client.prepare(WARNED_OF).unwrap().1.unwrap();
    arena.warm_prepared(&mut client, &stored, &one);
    // The last one sets a session that is never served to the same settings as any other.
    let questions: [(u8, &[u8]); 10] = [
        (command::PING, b""),
        (command::INIT_DB, b"p_warned"),
        (command::INIT_DB, b"nowhere"),
        (command::SET_OPTION, &[0, 0]),
        (command::DEBUG, b""),
        (command::QUERY, b"SHOW WARNINGS"),
        (command::QUERY, b"SHOW COUNT(*) WARNINGS"),
        (command::QUERY, b"SELECT @@warning_count"),
        (command::QUERY, b"COMMIT"),
        (command::RESET_CONNECTION, b""),
    ];
    type Between = fn(&mut Client, &Prepared);
    let nothing: Between = |_, _| ();
    let close: Between = |client, prepared| client.close(prepared).unwrap();
    let reset: Between = |client, prepared| _ = client.reset(prepared).unwrap();
    let prepare: Between = |client, _| _ = client.prepare(WARNED_OF).unwrap();
    let ways = [("a close", close), ("a reset", reset), ("a prepare", prepare), ("nothing", nothing)];
    for (kind, question) in questions {
        let ways = if kind == command::RESET_CONNECTION { &ways[3..] } else { &ways };
        for (way, between) in ways {
            let hits = arena.hits();
            let answers = [&mut client, &mut plain].map(|client| {
                let prepared = client.prepare(WARNED_OF).unwrap().1.unwrap();
                client.execute(&prepared, &one).unwrap();
                between(client, &prepared);
                [(kind, question), (command::PING, b"")].map(|(kind, body)| {
                    client.send(kind, body).unwrap();
                    client.read_response().unwrap()
                })
            });
            assert_eq!(answers[0], answers[1], "{way}, then {kind} {}", String::from_utf8_lossy(question));
            assert_eq!(arena.hits() - hits, 1);
        }
    }
}
