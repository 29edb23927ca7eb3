//! Tests a MariaDB source and its replica, both with the plugin. A result that either serves is neither older nor newer than its own
//! answers just before and just after.
//!
//! Values only grow, so any answer in between is right. The tables `a` and `b` hold the same values in every committed state.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Client, Login};
use crate::random::Random;
use crate::replication::{catch_up, follow, replica};
use crate::server::Server;

const KEYS: usize = 24;
const WRITERS: usize = 3;
const READERS: usize = 3;
const TABLES: [(&str, &str); 6] =
    [("r", "InnoDB"), ("s", "InnoDB"), ("a", "InnoDB"), ("b", "InnoDB"), ("x", "InnoDB"), ("m", "MyISAM")];

/// How to run the test: its seed, its length, the plugin, and further arguments of both servers.
pub struct Plan {
    pub seed: u64,
    /// How long sessions read and write.
    pub time: Duration,
    /// The path of the plugin's library, for both servers.
    pub plugin: PathBuf,
    /// Further arguments of the source.
    pub of_source: Vec<String>,
    /// Further arguments of the replica.
    pub of_replica: Vec<String>,
}

/// The findings of a run, which has proved something only if both servers had hits.
#[derive(Debug)]
pub struct Report {
    /// Wrong answers, as texts. The run ends at the first one, though others may be found at the same time.
    pub violations: Vec<String>,
    pub writes: u64,
    pub reads: u64,
    /// The number of hits on the source, and on the replica.
    pub hits: [u64; 2],
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self { reads, writes, hits: [source, replica], violations } = self;
        write!(out, "{reads} reads, {writes} writes, hits: {source} on the source, {replica} on the replica, ")?;
        write!(out, "{} violations", violations.len())?;
        violations.iter().try_for_each(|violation| write!(out, "\nVIOLATION {violation}"))
    }
}

/// The state that all sessions of a run share.
struct Stage {
    end: Instant,
    /// The next value to write.
    next: AtomicI64,
    writes: AtomicU64,
    reads: AtomicU64,
    violations: Mutex<Vec<String>>,
}

impl Stage {
    fn goes_on(&self) -> bool {
        Instant::now() < self.end && self.violations.lock().unwrap().is_empty()
    }

    /// Notes a violation, with the text of `what`, unless `holds`.
    fn expect(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violations.lock().unwrap().push(what());
        }
    }
}

/// Runs the plan on two fresh servers. `Err` is a fault of the environment, or a server's error; wrong answers are in the report.
pub fn run(plan: &Plan) -> io::Result<Report> {
    let (source, replica) = start(plan)?;
    let stage = Stage {
        end: Instant::now() + plan.time,
        next: AtomicI64::new(1),
        writes: AtomicU64::new(0),
        reads: AtomicU64::new(0),
        violations: Mutex::default(),
    };
    let outcomes: Vec<io::Result<()>> = thread::scope(|scope| {
        let (stage, source, replica) = (&stage, &source, &replica);
        let random = |index: usize| Random::new(plan.seed * 1000 + index as u64);
        let writers = (0..WRITERS).map(|own| scope.spawn(move || write(stage, source, own, random(own))));
        let writers: Vec<_> = writers.collect();
        let readers: Vec<_> = (0..2 * READERS)
            .map(|index| {
                let server = if index % 2 == 0 { source } else { replica };
                scope.spawn(move || read(stage, server, random(100 + index)))
            })
            .collect();
        let stops = scope.spawn(move || stop_and_start(stage, replica, random(999)));
        let all = writers.into_iter().chain(readers).chain([stops]);
        all.map(|worker| worker.join().expect("a worker panicked")).collect()
    });
    outcomes.into_iter().collect::<io::Result<()>>()?;
    catch_up(&replica, &source)?;
    compare_at_the_end(&stage, &source, &replica)?;
    Ok(Report {
        violations: stage.violations.into_inner().unwrap(),
        writes: stage.writes.into_inner(),
        reads: stage.reads.into_inner(),
        hits: [hits(&source)?, hits(&replica)?],
    })
}

/// Starts both servers, and waits until the replica has the tables.
fn start(plan: &Plan) -> io::Result<(Server, Server)> {
    let start = |id, arguments: &[String]| {
        replica(plan.plugin.clone(), id, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let (source, replica) = (start(1, &plan.of_source)?, start(2, &plan.of_replica)?);
    set_up(&source)?;
    follow(&replica, &source, "")?;
    catch_up(&replica, &source)?;
    Ok((source, replica))
}

/// A session in the tests' database, with a time limit of two minutes for an answer. Not `is_cached`: the plugin serves it nothing.
fn client(server: &Server, is_cached: bool) -> io::Result<Client> {
    let mut client = Client::connect(&server.endpoint(), &Login::default())?;
    client.set_timeout(Some(Duration::from_secs(120)))?;
    client.must("USE h")?;
    if !is_cached {
        client.must("SET SESSION fqc_type = OFF")?;
    }
    Ok(client)
}

fn set_up(source: &Server) -> io::Result<()> {
    let mut admin = source.admin()?;
    admin.must("CREATE DATABASE h")?;
    let rows = (0..KEYS).map(|key| format!("({key}, 0)")).collect::<Vec<_>>().join(", ");
    for (name, engine) in TABLES {
        admin.must(&format!("CREATE TABLE h.{name} (k INT PRIMARY KEY, v BIGINT) ENGINE = {engine}"))?;
        admin.must(&format!("INSERT INTO h.{name} VALUES {rows}"))?;
    }
    Ok(())
}

/// The number of reads that this server's plugin has served.
fn hits(server: &Server) -> io::Result<u64> {
    let rows = server.admin()?.must("SHOW GLOBAL STATUS LIKE 'Fqc_hits'")?.rows(false);
    let number = rows.first().and_then(|row| String::from_utf8_lossy(row[1].as_deref()?).parse().ok());
    number.ok_or_else(|| io::Error::other("the plugin tells no hits"))
}

/// Writes until the run ends. Each of the writers has keys of its own (`own`: its number), so that values grow in the order of commits.
fn write(stage: &Stage, source: &Server, own: usize, mut random: Random) -> io::Result<()> {
    let mut client = client(source, false)?;
    while stage.goes_on() {
        let key = random.below(KEYS / WRITERS) * WRITERS + own;
        let value = stage.next.fetch_add(1, Ordering::SeqCst);
        let update = |table: &str| format!("UPDATE {table} SET v = {value} WHERE k = {key}");
        let unreal = format!("UPDATE r SET v = 1000000000000 WHERE k = {key}");
        let xa = format!("'{own}-{value}'");
        let statements: Vec<String> = match random.below(100) {
            0..=29 => vec![update("r")],
            30..=39 => vec![format!("UPDATE s SET v = GREATEST(v, {value}) WHERE k % {WRITERS} = {own}")],
            40..=54 => vec!["BEGIN".into(), update("r"), update("s"), "COMMIT".into()],
            55..=74 => vec!["BEGIN".into(), update("a"), update("b"), "COMMIT".into()],
            75..=79 => vec!["BEGIN".into(), unreal, update("m"), "ROLLBACK".into()],
            80..=84 => {
                vec!["BEGIN".into(), update("s"), "SAVEPOINT p".into(), unreal, "ROLLBACK TO p".into(), "COMMIT".into()]
            }
            85..=94 => vec![update("m")],
            95..=96 => vec![
                format!("XA START {xa}"),
                update("x"),
                format!("XA END {xa}"),
                format!("XA PREPARE {xa}"),
                format!("XA COMMIT {xa}"),
            ],
            97 => vec![format!("ALTER TABLE s COMMENT = '{value}'")],
            98 => vec![format!("CREATE OR REPLACE VIEW v{own} AS SELECT k, v FROM r WHERE k = {key}")],
            _ => vec![
                format!("CREATE OR REPLACE TABLE own{own} (k INT PRIMARY KEY) SELECT k FROM r"),
                format!("DROP TABLE own{own}"),
            ],
        };
        for statement in &statements {
            client.must(statement)?;
        }
        stage.writes.fetch_add(1, Ordering::Relaxed);
        // The pause lets the replica keep up on a small machine, too.
        thread::sleep(Duration::from_millis(random.below(20) as u64));
    }
    Ok(())
}

/// Reads until the run ends: each read without the cache, with it, and without it again.
fn read(stage: &Stage, server: &Server, mut random: Random) -> io::Result<()> {
    let (mut plain, mut cached) = (client(server, false)?, client(server, true)?);
    while stage.goes_on() {
        if random.percent(20) {
            read_pair(stage, &mut cached, &mut random)?;
            continue;
        }
        let (table, key) = (random.word(&["r", "s", "a", "b", "x", "m"]), random.below(KEYS));
        let condition = match random.below(4) {
            0 => String::new(),
            1 => format!(" WHERE k BETWEEN {} AND {key}", key / 2),
            _ => format!(" WHERE k = {key}"),
        };
        let statement = format!("SELECT k, v FROM {table}{condition}");
        let before = values(&mut plain, &statement)?;
        let served = values(&mut cached, &statement)?;
        let after = values(&mut plain, &statement)?;
        stage.reads.fetch_add(1, Ordering::Relaxed);
        let is_between = served.len() == before.len()
            && served.iter().all(|(key, value)| before[key] <= *value && *value <= after[key]);
        stage.expect(is_between, || format!("`{statement}`: {before:?}, then {served:?}, then {after:?}"));
    }
    Ok(())
}

/// Checks that one snapshot holds equal values in the tables `a` and `b`.
fn read_pair(stage: &Stage, cached: &mut Client, random: &mut Random) -> io::Result<()> {
    let key = random.below(KEYS);
    cached.must("BEGIN")?;
    let [a, b] = ["a", "b"].map(|table| values(cached, &format!("SELECT k, v FROM {table} WHERE k = {key}")));
    cached.must("COMMIT")?;
    let (a, b) = (a?, b?);
    stage.reads.fetch_add(2, Ordering::Relaxed);
    stage.expect(a == b, || format!("one snapshot holds {a:?} in a and {b:?} in b"));
    Ok(())
}

/// Runs a read of keys and values, and returns the value of each key.
fn values(client: &mut Client, statement: &str) -> io::Result<BTreeMap<i64, i64>> {
    let number = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref()?).parse().ok();
    let rows = client.must(statement)?.rows(false);
    let rows: Option<BTreeMap<_, _>> = rows.iter().map(|row| Some((number(&row[0])?, number(&row[1])?))).collect();
    rows.ok_or_else(|| io::Error::other(format!("`{statement}` did not answer numbers")))
}

/// Stops and starts replication at random until the run ends.
fn stop_and_start(stage: &Stage, replica: &Server, mut random: Random) -> io::Result<()> {
    let mut admin = client(replica, false)?;
    while stage.goes_on() {
        thread::sleep(Duration::from_millis(500 + random.below(3000) as u64));
        admin.must("STOP SLAVE")?;
        admin.must("START SLAVE")?;
    }
    Ok(())
}

/// Checks that both servers, with and without the cache, hold the same rows after the last write.
fn compare_at_the_end(stage: &Stage, source: &Server, replica: &Server) -> io::Result<()> {
    let mut clients = [client(source, false)?, client(source, true)?, client(replica, false)?, client(replica, true)?];
    for (table, _) in TABLES {
        let statement = format!("SELECT k, v FROM {table}");
        let found = clients.iter_mut().map(|client| values(client, &statement)).collect::<io::Result<Vec<_>>>()?;
        stage.expect(found.windows(2).all(|two| two[0] == two[1]), || format!("at the end `{statement}`: {found:?}"));
    }
    Ok(())
}

/// Returns two shares, from 0 to 1, of reads that a replica serves while it applies `rows_per_second` changed rows: of a table that these
/// do not change, and of other rows in the table that they change. Each is measured for half of the plan's time.
pub fn share_served(plan: &Plan, rows_per_second: u64) -> io::Result<[f64; 2]> {
    let (source, replica) = start(plan)?;
    let end = Instant::now() + plan.time;
    thread::scope(|scope| {
        let writer = scope.spawn(|| write_steadily(&source, rows_per_second, end));
        let shares = ["s", "r"].map(|table| served(&replica, table, end - plan.time / 2 * u32::from(table == "s")));
        let written = writer.join().expect("the writer panicked")?;
        println!("{written} rows written in {:?}", plan.time);
        catch_up(&replica, &source)?;
        let [table, rows] = shares;
        Ok([table?, rows?])
    })
}

/// Changes this many rows a second until `end`: transactions of one row each, on half of the keys of the table `r`. Returns the number of
/// changed rows.
fn write_steadily(source: &Server, rows_per_second: u64, end: Instant) -> io::Result<u64> {
    let mut client = client(source, false)?;
    let begun = Instant::now();
    let mut written = 0;
    while Instant::now() < end {
        let due = begun.elapsed().as_millis() as u64 * rows_per_second / 1000;
        for number in written..due {
            client.must(&format!("UPDATE r SET v = v + 1 WHERE k = {}", number % (KEYS as u64 / 2)))?;
        }
        written = written.max(due);
        thread::sleep(Duration::from_millis(1));
    }
    Ok(written)
}

/// Reads the keys of a table that `write_steadily` leaves alone until `end`. Returns the share of hits.
fn served(replica: &Server, table: &str, end: Instant) -> io::Result<f64> {
    let mut client = client(replica, true)?;
    let keys = KEYS / 2..KEYS;
    let (mut reads, before) = (0u64, hits(replica)?);
    while Instant::now() < end {
        for key in keys.clone() {
            client.must(&format!("SELECT v FROM {table} WHERE k = {key}"))?;
            reads += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok((hits(replica)? - before) as f64 / reads as f64)
}
