//! Executions of prepared statements, and two connections that send the same commands: one through a near cache, one directly. Both must
//! receive the same bytes.

use super::scene::{LOOK_EVERY, hits};
use super::{LIMIT, Near};
use fqc_tests::client::{Client, Param, Prepared, Response, command, execute_body};
use fqc_tests::random::Random;
use std::thread::sleep;
use std::time::Instant;

/// The statements that make what [`Twins::walk`] needs in addition to the table `d.t`.
pub const ELSEWHERE: [&str; 5] = [
    "CREATE DATABASE e",
    "CREATE TABLE e.t (id INT, v VARCHAR(9)) ENGINE = InnoDB",
    "INSERT INTO e.t VALUES (1, 'elsewhere')",
    "CREATE VIEW d.w AS SELECT v, id FROM d.t",
    "CREATE VIEW d.none AS SELECT MAX(id) AS id FROM d.t WHERE id > 7",
];

/// The number of random commands of [`Twins::walk`].
const STEPS: usize = 1500;
/// The statements that are prepared and executed. The first parameter may be anything; the last is an id.
const STATEMENTS: [&str; 8] = [
    "SELECT v, ? FROM d.t WHERE id = ?",
    "SELECT * FROM t WHERE id = ?",
    "SELECT v, ? FROM d.w WHERE id = ?",
    "SELECT id FROM d.none",
    "SELECT 1 / (id + 2), LENGTH('\\n') FROM d.t ORDER BY id",
    "UPDATE d.t SET v = CONCAT('v', ?) WHERE id = ?",
    "SELECT NOW() > 0, v FROM d.t",
    "SELECT FOUND_ROWS()",
];
/// The statements that are sent as text. The first six are sent more often than the others.
const TEXTS: [&str; 12] = [
    "SELECT v FROM d.t WHERE id = 1",
    "SELECT * FROM t ORDER BY id",
    "SELECT * FROM d.w ORDER BY id",
    "SELECT id FROM d.none",
    "SELECT FOUND_ROWS()",
    "SHOW WARNINGS",
    "USE d",
    "USE e",
    "SET SESSION div_precision_increment = 1",
    "SET SESSION div_precision_increment = 4",
    "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES'",
    "UPDATE d.t SET v = 'text' WHERE id = 2",
];

/// Prepares a statement. Panics if it is refused.
pub fn prepared(client: &mut Client, statement: &str) -> Prepared {
    client.prepare(statement).expect("an answer").1.unwrap_or_else(|| panic!("`{statement}` is not prepared"))
}

/// Executes a prepared statement, and returns the response, which may be an error.
pub fn run(client: &mut Client, statement: &Prepared, params: &[Param]) -> Response {
    client.execute(statement, params).expect("an answer")
}

/// Returns the response to an execution as text: its rows for a comparison, or `error` and the error's code.
pub fn row(response: &Response) -> String {
    match response.failure() {
        Some(failure) => format!("error {}", failure.code),
        None => format!("{:?}", response.rows(true)),
    }
}

/// Repeats `once`, which executes a read, until the near cache answers it from memory, and returns that answer. No other client may be
/// served in the meantime.
pub fn until_here(near: &Near, mut once: impl FnMut() -> Response) -> Response {
    let begun = Instant::now();
    loop {
        let before = hits(near);
        let answer = once();
        if hits(near) > before {
            return answer;
        }
        assert!(begun.elapsed() < LIMIT, "never answered from memory: {}; {}", row(&answer), near.log());
        sleep(LOOK_EVERY);
    }
}

/// Executes a prepared read again and again until the near cache answers it from memory, and returns that answer.
pub fn until_run_here(near: &Near, client: &mut Client, statement: &Prepared, params: &[Param]) -> Response {
    until_here(near, || run(client, statement, params))
}

/// Two connections that send the same commands and must get the same bytes: `here` through a near cache, `there` directly to a server,
/// which may be another one with the same data.
pub struct Twins {
    here: Client,
    there: Client,
    /// The open prepared statements: their id on both connections, their text, and the types of the parameters that were sent last.
    statements: Vec<(Prepared, &'static str, Vec<u8>)>,
}

impl Twins {
    pub fn new(here: Client, there: Client) -> Twins {
        Twins { here, there, statements: Vec::new() }
    }

    /// Sends a statement on both connections. Panics if the answers differ.
    fn ask(&mut self, text: &str) {
        let [here, there] = [&mut self.here, &mut self.there].map(|one| one.query(text).expect("an answer").bytes);
        assert_eq!(here, there, "{text}");
    }

    /// Prepares a statement on both connections, which must give it the same id.
    fn prepare(&mut self, text: &'static str) {
        let [here, there] = [&mut self.here, &mut self.there].map(|one| prepared(one, text));
        assert_eq!(here.id, there.id);
        self.statements.push((here, text, Vec::new()));
    }

    /// Executes a statement on both connections. Panics if the answers differ. The types of the parameters are sent only if they have
    /// changed since the last execution. Of `params`, as many are used as the statement has.
    fn run(&mut self, index: usize, params: &[Param]) {
        let (statement, text, bound) = &mut self.statements[index];
        let params = &params[..statement.params as usize];
        let body = execute_body(statement.id, params, bound);
        let [here, there] = [&mut self.here, &mut self.there].map(|one| {
            one.send(command::STMT_EXECUTE, &body).expect("it is sent");
            one.read_response().expect("an answer").bytes
        });
        assert_eq!(here, there, "{text}, {params:?}");
    }

    /// Closes a statement on both connections.
    fn close(&mut self, index: usize) {
        let (statement, ..) = self.statements.swap_remove(index);
        [&mut self.here, &mut self.there].into_iter().for_each(|one| one.close(&statement).expect("it is sent"));
    }

    /// Resets both connections (COM_RESET_CONNECTION), which closes their statements.
    fn reset(&mut self) {
        [&mut self.here, &mut self.there].into_iter().for_each(|one| drop(one.reset_connection().expect("an answer")));
        self.statements.clear();
    }

    /// Sends random commands, many of them repeatedly, and panics if answers differ or too few come from memory. `line`: a name for the
    /// test's output. Needs `d.t` and what [`ELSEWHERE`] makes.
    pub fn walk(mut self, near: &Near, line: &str) {
        let mut random = Random::new(7);
        let before = hits(near);
        self.ask("USE d");
        for _ in 0..STEPS {
            let count = self.statements.len();
            match random.below(100) {
                0 => {
                    self.reset();
                    self.ask("USE d");
                }
                1..10 => self.ask(TEXTS[random.below(TEXTS.len())]),
                10..30 => self.ask(TEXTS[random.below(6)]),
                30..38 if count < 12 => self.prepare(STATEMENTS[random.below(STATEMENTS.len())]),
                38..41 if count > 0 => self.close(random.below(count)),
                _ if count > 0 => {
                    let index = random.below(count);
                    let first =
                        [Param::Int(1), Param::Text("1".into()), Param::Null][random.below(10).min(2) % 3].clone();
                    let id = Param::Int(1 + random.below(2) as i64);
                    let times = 1 + random.below(3);
                    (0..times).for_each(|_| self.run(index, &[first.clone(), id.clone()]));
                }
                _ => {}
            }
        }
        let hits = hits(near) - before;
        println!("{line}: {hits} hits in {STEPS} steps");
        // On a busy machine the binary log arrives later after each write, so there are fewer hits.
        assert!(hits > STEPS as u64 / 20, "{line}: {hits}");
    }

    /// Executes reads with parameters of all types in random order, and panics if answers differ or too few come from memory. `line`: a
    /// name for the test's output. Needs `d.t`.
    pub fn bind_anything(mut self, near: &Near, line: &str) {
        let mut random = Random::new(11);
        let values = [
            Param::Null,
            Param::Int(1),
            Param::Unsigned(1),
            Param::Double(1.0),
            Param::Text("1".into()),
            Param::Blob(b"1".into()),
        ];
        let before = hits(near);
        for _ in 0..40 {
            let texts = ["SELECT ? FROM d.t", "SELECT COALESCE(?, ?) FROM d.t"];
            (0..6).for_each(|index| self.prepare(texts[index % 2]));
            for _ in 0..60 {
                let mut draw = || values[random.below(2 * values.len()).saturating_sub(values.len())].clone();
                let params = [draw(), draw()];
                let index = random.below(6);
                (0..2).for_each(|_| self.run(index, &params));
            }
            (0..6).for_each(|_| self.close(0));
        }
        let hits = hits(near) - before;
        println!("{line}: {hits} hits");
        assert!(hits > 100, "{line}: {hits}");
    }
}
