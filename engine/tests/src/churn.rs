//! Searches for leaks: creates and removes connections, statements, tables, results and cache sizes, round after round. Between two rounds
//! everything is given back, and the process's memory is measured. Memory that still grows then is leaked.
//!
//! Deliberately absent: whether answers are right; that is what `differential` and `histories` are for.

use std::fmt;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Client, Endpoint, Login, Param, command};
use crate::random::Random;
use crate::server::Server;

/// Arguments for the tested server: its own memory is small, so that all of it is soon in use.
pub const ARGUMENTS: &[&str] =
    &["--innodb-buffer-pool-size=8M", "--table-open-cache=64", "--table-definition-cache=400"];

/// An environment variable for the tested server, name and value, that gives the allocator a single arena. With several, the memory that it
/// keeps would depend on how work is spread over threads.
pub fn environment() -> (String, String) {
    ("MALLOC_ARENA_MAX".into(), "1".into())
}

const THREADS: usize = 4;
/// The number of steps of each thread in a round.
const DEEDS: usize = 60;
/// The statements that empty the cache between rounds. Without the plugin the first one fails, and only the server is measured.
const REST: &[&str] = &["SET GLOBAL fqc_size = 0", "FLUSH STATUS", "FLUSH TABLES"];
const LOOK: Duration = Duration::from_millis(5);
/// The statement that switches the cache on at the start of a round.
const AWAKE: &str = "SET GLOBAL fqc_size = 33554432";

/// The memory that the process held after each round, and how much the workers did.
#[derive(Debug, Default)]
pub struct MemoryCurve {
    /// For each round: the time since the start of the run, and the server's resident bytes.
    pub moments: Vec<(Duration, u64)>,
    /// The number of hits over all rounds.
    pub hits: u64,
    pub statements: u64,
}

impl MemoryCurve {
    /// The growth of the server's memory in bytes a minute, by least squares over the last two thirds of the rounds. The first third is a
    /// warm-up.
    pub fn slope(&self) -> f64 {
        let settled = self.settled();
        let count = settled.len() as f64;
        let points = || settled.iter().map(|(time, bytes)| (time.as_secs_f64() / 60.0, *bytes as f64));
        let (time, bytes) = points().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
        let above: f64 = points().map(|point| (point.0 - time) * (point.1 - bytes)).sum();
        above / points().map(|point| (point.0 - time).powi(2)).sum::<f64>()
    }

    /// The growth of the server's memory in bytes, from the least of the first third of the rounds after the warm-up to the least of the
    /// last third.
    pub fn growth(&self) -> i64 {
        let settled = self.settled();
        let part = (settled.len() / 3).max(1);
        let least = |moments: &[(Duration, u64)]| moments.iter().map(|moment| moment.1 as i64).min().unwrap_or(0);
        least(&settled[settled.len() - part..]) - least(&settled[..part])
    }

    /// The measurements (time and memory) of the rounds after the warm-up.
    fn settled(&self) -> &[(Duration, u64)] {
        &self.moments[self.moments.len() / 3..]
    }
}

impl fmt::Display for MemoryCurve {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        for (time, bytes) in &self.moments {
            writeln!(out, "  {:7.1} s {:9} KiB", time.as_secs_f64(), bytes / 1024)?;
        }
        writeln!(out, "{} rounds, {} statements, {} hits", self.moments.len(), self.statements, self.hits)?;
        writeln!(out, "slope {:.1} KiB a minute, growth {} KiB", self.slope() / 1024.0, self.growth() / 1024)
    }
}

/// Runs rounds until `goes_on`, which gets the number of rounds so far, returns false. Equal seeds give equal statements. The server must
/// be fresh, and needs no plugin.
pub fn run(server: &Server, seed: u64, mut goes_on: impl FnMut(usize) -> bool) -> io::Result<MemoryCurve> {
    let begun = Instant::now();
    let mut admin = server.admin()?;
    admin.must("CREATE DATABASE IF NOT EXISTS churn")?;
    admin.must("CREATE TABLE churn.base (id INT PRIMARY KEY, v INT)")?;
    admin.must("INSERT INTO churn.base SELECT seq, seq FROM churn.seq_1_to_1000")?;
    let mut course = MemoryCurve::default();
    while goes_on(course.moments.len()) {
        let round = course.moments.len();
        admin.query(AWAKE)?;
        course.statements += one_round(server, seed, round)?;
        course.hits += number(&mut admin, "SHOW GLOBAL STATUS LIKE 'Qcache_hits'", 1)?;
        for statement in REST {
            admin.query(statement)?;
        }
        // The server notices the end of a client a little later.
        while number(&mut admin, "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'root'", 0)? > 1 {
            thread::sleep(LOOK);
        }
        course.moments.push((begun.elapsed(), server.resident_bytes()?));
    }
    Ok(course)
}

/// Runs a statement, and returns the number in this column of the first row.
fn number(admin: &mut Client, question: &str, column: usize) -> io::Result<u64> {
    let rows = admin.must(question)?.rows(false);
    let cell = rows.first().and_then(|row| row[column].clone()).unwrap_or_default();
    String::from_utf8_lossy(&cell).parse().map_err(|_| io::Error::other(format!("no number from `{question}`")))
}

/// Runs the workers of one round to their end. Returns the number of their statements.
fn one_round(server: &Server, seed: u64, round: usize) -> io::Result<u64> {
    thread::scope(|scope| {
        let start = |thread| scope.spawn(move || Worker::new(server, seed, round, thread)?.work());
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    })
}

/// One session of a round, which runs random statements.
struct Worker {
    endpoint: Endpoint,
    client: Client,
    random: Random,
    /// Unique among all workers of all rounds.
    name: String,
    statements: u64,
}

impl Worker {
    fn new(server: &Server, seed: u64, round: usize, thread: usize) -> io::Result<Self> {
        let endpoint = if thread.is_multiple_of(2) { server.endpoint() } else { server.unix_endpoint() };
        let random = Random::new(seed ^ (round * THREADS + thread) as u64);
        let name = format!("n{seed}_{round}_{thread}");
        Ok(Self { client: connect(&endpoint)?, endpoint, random, name, statements: 0 })
    }

    fn work(mut self) -> io::Result<u64> {
        for commands in 0..DEEDS {
            match self.random.below(9) {
                0 => self.connections()?,
                1 => self.prepared(commands)?,
                2 => self.tables(commands)?,
                3 => self.fill()?,
                4 => self.settings()?,
                5 => self.shapes(commands)?,
                6 => self.transactions()?,
                7 => self.switches()?,
                _ => (0..20).try_for_each(|_| self.ask("SELECT v FROM base WHERE id = 7"))?,
            }
        }
        self.client.send(command::QUIT, &[])?;
        Ok(self.statements)
    }

    fn ask(&mut self, statement: &str) -> io::Result<()> {
        self.statements += 1;
        self.client.query(statement).map(drop)
    }

    fn connections(&mut self) -> io::Result<()> {
        for _ in 0..8 {
            let mut client = connect(&self.endpoint)?;
            for id in 1..4 {
                client.query(format!("SELECT v FROM base WHERE id = {id}"))?;
            }
            match self.random.below(4) {
                0 => client.abort(),
                1 => drop(client.reset_connection()?),
                2 => drop(client.change_user(&login())?),
                _ => client.send(command::QUIT, &[])?,
            }
        }
        Ok(())
    }

    fn prepared(&mut self, commands: usize) -> io::Result<()> {
        let mut all = Vec::new();
        for n in 0..20 {
            let text = format!("SELECT v AS {}_{commands}_{n} FROM base WHERE id = ?", self.name);
            let statement = self.client.prepare(&text)?.1.ok_or_else(|| io::Error::other(text))?;
            for _ in 0..2 {
                self.client.execute(&statement, &[Param::Int(n)])?;
            }
            all.push(statement);
        }
        all.iter().try_for_each(|statement| self.client.close(statement))
    }

    fn tables(&mut self, commands: usize) -> io::Result<()> {
        for n in 0..3 {
            let table = format!("{}_{commands}_{n}", self.name);
            self.ask(&format!("CREATE TABLE {table} (id INT PRIMARY KEY, v INT) ENGINE = Aria TRANSACTIONAL = 0"))?;
            self.ask(&format!("INSERT INTO {table} VALUES (1, 1), (2, 2)"))?;
            (0..4).try_for_each(|_| self.ask(&format!("SELECT v FROM {table} WHERE id = 1")))?;
            self.ask(&format!("UPDATE {table} SET v = 3 WHERE id = 1"))?;
            self.ask(&format!("DROP TABLE {table}"))?;
        }
        Ok(())
    }

    /// Stores more results than the cache has room for.
    fn fill(&mut self) -> io::Result<()> {
        for _ in 0..60 {
            let (id, length) = (1 + self.random.below(1000), self.random.below(40_000));
            self.ask(&format!("SELECT id, REPEAT('c', {length}) FROM base WHERE id = {id}"))?;
        }
        Ok(())
    }

    fn settings(&mut self) -> io::Result<()> {
        for _ in 0..10 {
            let value = 100 + self.random.below(500);
            self.ask(&format!("SET group_concat_max_len = {value}"))?;
            self.ask("SELECT v FROM base WHERE id = 8")?;
        }
        self.ask("SET group_concat_max_len = DEFAULT")
    }

    fn shapes(&mut self, commands: usize) -> io::Result<()> {
        for n in 0..20 {
            let read = format!("SELECT v AS {}_{commands}_{n} FROM base WHERE id = 9", self.name);
            (0..2).try_for_each(|_| self.ask(&read))?;
        }
        Ok(())
    }

    fn transactions(&mut self) -> io::Result<()> {
        for _ in 0..5 {
            let id = 10 + self.random.below(900);
            self.ask("BEGIN")?;
            self.ask(&format!("SELECT v FROM base WHERE id = {id}"))?;
            self.ask(&format!("UPDATE base SET v = v + 1 WHERE id = {id}"))?;
            let end = self.random.word(&["COMMIT", "ROLLBACK"]);
            self.ask(end)?;
        }
        Ok(())
    }

    fn switches(&mut self) -> io::Result<()> {
        let switch = self.random.word(&[
            "SET GLOBAL fqc_size = 8388608",
            "SET GLOBAL fqc_size = 33554432",
            "SET GLOBAL fqc_size = 67108864",
            "RESET QUERY CACHE",
            "FLUSH QUERY CACHE",
            "FLUSH TABLES",
        ]);
        self.ask(switch)
    }
}

fn login() -> Login {
    Login { database: Some("churn".into()), ..Login::default() }
}

fn connect(endpoint: &Endpoint) -> io::Result<Client> {
    Client::connect(endpoint, &login())
}
