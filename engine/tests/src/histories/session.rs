//! One session of a worker. It uses the text or the binary protocol at random, and reconnects when it was cut off.

use std::collections::HashMap;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::stage::Stage;
use crate::client::{Client, Failure, Login, Part, Prepared, Response, Row, capability, command};
use crate::random::Random;

/// The longest wait for an answer, longer than any lock timeout of the run. A session that exceeds it hangs.
const ANSWER_LIMIT: Duration = Duration::from_secs(120);
/// The number of prepared statements above which a session closes all of them.
const MOST_PREPARED: usize = 200;
const POLL: Duration = Duration::from_millis(5);

/// The reason why a statement has no result. None of them is a violation by itself: chaos kills and cuts. Pass it to [`Session::recover`].
#[derive(Debug)]
pub enum NoResult {
    /// The server answered with an error.
    Refused(Failure),
    /// An UPDATE was killed while it was planned, and reported success without looking for a row. MariaDB 11.8 does that without the
    /// plugin, too.
    MatchedNoRow,
    /// The connection broke, or no answer came in time. It is unknown whether the statement ran.
    Lost,
}

pub type Outcome<T> = Result<T, NoResult>;

/// A connection with its random choices. After an error call [`Self::recover`] before anything else.
pub struct Session<'a> {
    stage: &'a Stage,
    client: Client,
    /// The number of times that the server had been killed when this connection was made.
    life: u64,
    prepared: HashMap<String, Prepared>,
    pub random: Random,
    role: &'static str,
    /// The member of a group that it connects to. 0 outside of groups.
    pub member: usize,
}

impl<'a> Session<'a> {
    /// Connects to this member of a group, or outside of groups to member 0. `role` is the name of the count of this session's statements.
    pub fn new(stage: &'a Stage, member: usize, role: &'static str, seed: u64) -> io::Result<Self> {
        let (client, life) = connect(stage, member)?;
        Ok(Self { stage, client, life, prepared: HashMap::new(), random: Random::new(seed), role, member })
    }

    /// Returns the number of the server's start, as [`Stage::life`] counts them, after which this connection was made.
    /// None if the server was killed since.
    pub fn present_life(&self) -> Option<u64> {
        Some(self.life).filter(|life| *life == self.stage.life())
    }

    /// Cuts the old connection, without waiting for its end on the server, and makes a new one. Returns the old one's thread id, or None if
    /// the server was killed since it was made.
    pub fn reconnect(&mut self) -> io::Result<Option<u32>> {
        self.prepared.clear();
        let (fresh, life) = connect(self.stage, self.member)?;
        let has_died = life != std::mem::replace(&mut self.life, life);
        let old = std::mem::replace(&mut self.client, fresh);
        self.stage.victims.lock().unwrap().retain(|victim| *victim != (self.member, old.thread_id));
        let thread = old.thread_id;
        old.abort();
        self.stage.count("reconnects");
        Ok((!has_died).then_some(thread))
    }

    /// The thread id of the connection on the server.
    pub fn thread(&self) -> u32 {
        self.client.thread_id
    }

    /// Runs a statement, and drops its rows.
    pub fn run(&mut self, statement: &str) -> Outcome<()> {
        self.rows(statement).map(drop)
    }

    /// Runs all statements in order. Stops at the first that fails.
    pub fn all(&mut self, statements: &[&str]) -> Outcome<()> {
        statements.iter().try_for_each(|statement| self.run(statement))
    }

    /// Runs a statement, or several, in the text protocol, because some statements cannot be prepared. Returns the rows of all results.
    pub fn text(&mut self, statement: &str) -> Outcome<Vec<Row>> {
        let response = self.client.query(statement);
        self.judged(statement, response, false)
    }

    /// Runs one statement in the text protocol, or as a prepared statement if it can be one, at random. Returns its rows.
    pub fn rows(&mut self, statement: &str) -> Outcome<Vec<Row>> {
        const VERBS: [&str; 9] =
            ["SELECT", "UPDATE", "INSERT", "DELETE", "CALL", "COMMIT", "ROLLBACK", "BEGIN", "SET autocommit"];
        let can_prepare = VERBS.iter().any(|verb| statement.starts_with(verb));
        if !can_prepare || self.random.percent(60) {
            return self.text(statement);
        }
        let response = self.execute(statement);
        self.judged(statement, response, true)
    }

    /// Runs one statement, and returns every row as whole numbers.
    pub fn numbers(&mut self, statement: &str) -> Outcome<Vec<Vec<i64>>> {
        self.rows(statement).map(whole_numbers)
    }

    /// Executes a statement in the binary protocol. It is prepared first if the session has not done so yet.
    fn execute(&mut self, statement: &str) -> io::Result<Response> {
        if self.prepared.len() > MOST_PREPARED {
            for (_, known) in self.prepared.drain() {
                self.client.close(&known)?;
            }
        }
        if !self.prepared.contains_key(statement) {
            let (response, known) = self.client.prepare(statement)?;
            let Some(known) = known else { return Ok(response) };
            self.prepared.insert(statement.into(), known);
        }
        self.client.execute(&self.prepared[statement], &[])
    }

    /// Turns a response into rows or the reason why there are none, and counts it.
    fn judged(&mut self, statement: &str, response: io::Result<Response>, is_binary: bool) -> Outcome<Vec<Row>> {
        let response = response.map_err(|error| self.lost(statement, &error))?;
        self.stage.count(self.role);
        match response.failure() {
            Some(failure) => {
                self.stage.count("errors");
                Err(NoResult::Refused(failure.clone()))
            }
            None if matched_no_row(statement, &response.parts) => {
                self.stage.count("updates in vain");
                Err(NoResult::MatchedNoRow)
            }
            None => Ok(response.rows(is_binary)),
        }
    }

    /// Returns the outcome of a statement whose connection failed, which is always [`NoResult::Lost`]. Notes a violation if no answer came
    /// in time.
    fn lost(&self, statement: &str, error: &io::Error) -> NoResult {
        if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            // KILL QUERY between two statements of one text ends both. The second answer, which the first one has announced, never comes,
            // also on a server without the plugin.
            if statement.contains("; ") {
                self.stage.count("second answers in vain");
                return NoResult::Lost;
            }
            self.stage.violation(format!("{}: no answer within {ANSWER_LIMIT:?} to `{statement}`", self.role));
        }
        NoResult::Lost
    }

    /// Sends a statement, cuts the connection before any answer, so that the outcome is unknown, and reconnects.
    pub fn send_and_die(&mut self, statement: &str) -> io::Result<()> {
        self.client.send(command::QUERY, statement.as_bytes())?;
        self.reconnect().map(drop)
    }

    /// Ends what a failed step may have left: rolls back and unlocks, or reconnects if the connection is lost.
    pub fn recover(&mut self, failure: &NoResult) -> io::Result<()> {
        let is_lost = matches!(failure, NoResult::Lost)
            || self.all(&["ROLLBACK", "SET autocommit = 1", "UNLOCK TABLES"]).is_err();
        if !is_lost {
            return Ok(());
        }
        let thread = self.reconnect()?.filter(|_| self.stage.plan.beside.is_some());
        thread.map_or(Ok(()), |thread| self.await_end_of(thread))
    }

    /// Waits until this thread has ended on the server. The server may still be about to run a statement that a near cache passed on before
    /// it was killed.
    fn await_end_of(&mut self, thread: u32) -> io::Result<()> {
        let begun = Instant::now();
        let running = format!("SELECT COUNT(*) FROM information_schema.processlist WHERE id = {thread}");
        while begun.elapsed() < ANSWER_LIMIT {
            match self.text(&running).map(whole_numbers) {
                Ok(rows) if rows == [[0]] => return Ok(()),
                Err(NoResult::Lost) if self.reconnect()?.is_none() => return Ok(()),
                _ => {}
            }
        }
        Err(io::Error::other(format!("thread {thread} still runs after {ANSWER_LIMIT:?}")))
    }
}

/// True if an UPDATE (or EXECUTE) succeeded without matching a row. Every UPDATE here has a row to find, and the server reports how many
/// rows it matched.
fn matched_no_row(statement: &str, parts: &[Part]) -> bool {
    let is_update = |one: &str| one.starts_with("UPDATE") || one.starts_with("EXECUTE");
    statement.split("; ").zip(parts).any(|(one, part)| match part {
        Part::Ok(finish) if is_update(one) => {
            let told = String::from_utf8_lossy(&finish.info);
            !told.contains("Rows matched: ") || told.contains("Rows matched: 0 ")
        }
        _ => false,
    })
}

/// Connects, again and again where near caches are subject to faults. Returns the connection, and the number of the
/// server's start (see [`Stage::life`]) after which it was made.
fn connect(stage: &Stage, member: usize) -> io::Result<(Client, u64)> {
    let capabilities = capability::BASE | capability::MULTI_STATEMENTS | capability::DEPRECATE_EOF;
    let login = Login { capabilities, database: Some("h".into()), ..Login::default() };
    let begun = Instant::now();
    let (mut client, life) = loop {
        let life = stage.life();
        match Client::connect(stage.endpoint(member), &login) {
            // A near cache, or the server, may be unavailable for a while.
            Err(_) if stage.plan.beside.is_some() && begun.elapsed() < ANSWER_LIMIT => thread::sleep(POLL),
            outcome => {
                let client = outcome?;
                if life == stage.life() {
                    break (client, life);
                }
            }
        }
    };
    client.set_timeout(Some(ANSWER_LIMIT))?;
    stage.victims.lock().unwrap().push((member, client.thread_id));
    Ok((client, life))
}

/// Converts every value to a whole number. NULL and other texts become `i64::MIN`.
pub fn whole_numbers(rows: Vec<Row>) -> Vec<Vec<i64>> {
    let number =
        |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).parse().unwrap_or(i64::MIN);
    rows.into_iter().map(|row| row.into_iter().map(number).collect()).collect()
}
