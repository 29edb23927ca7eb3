//! Measures what it costs a near cache to follow a server's log. `following --near ../target/release/fqc-near` prints the processor time
//! for changed rows of a table whose results are kept by row, in one transaction and in many.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use fqc_tests::arguments::Arguments;
use fqc_tests::client::Client;
use fqc_tests::near::{self, Near};
use fqc_tests::server::{Options, Product, Server};

const USAGE: &str = "following [--near PATH_OF_FQC_NEAR] [--rows N] [--transactions N] [--rounds N] \
    [--product mariadb|mysql] [--mariadbd PATH]";

/// The interval at which the near cache is asked how far it has read the log. Asking takes processor time, too: about as much as the near
/// cache otherwise takes while nothing is written.
const POLL: Duration = Duration::from_millis(100);
/// The longest wait for the near cache.
const LIMIT: Duration = Duration::from_secs(600);
/// How long the near cache is observed while nothing is written.
const IDLE: Duration = Duration::from_secs(5);
/// The number of results that are kept, each of one row.
const KEPT: u64 = 100;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run() -> io::Result<()> {
    let arguments = Arguments::read(USAGE)?;
    let program = arguments.path("near").ok_or_else(|| io::Error::other("--near is missing"))?;
    let (rows, transactions) = (arguments.number("rows", 1_000_000)?, arguments.number("transactions", 5_000)?);
    let mut scene = Scene::start(program, arguments.product()?, arguments.path("mariadbd"))?;
    let all = insert(&format!(
        "WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) SELECT i FROM n"
    ));
    for _ in 0..arguments.number("rounds", 3)? {
        scene.keep()?;
        let idle = scene.idle()?;
        println!("nothing is written: {:.2} ms of processor time a second", idle * 1e3);
        let told = |what: &str, (taken, elapsed): (f64, Duration), count| {
            let each = 1e6 * taken / count as f64;
            println!("{what}: {each:.2} ms for 1000 of {count} rows, heard after {:.1} s", elapsed.as_secs_f64());
        };
        told("one transaction", scene.measure(idle, |writer| writer.must(&all).map(drop))?, rows);
        let each = |writer: &mut Client| {
            let update = |id| writer.must(&format!("UPDATE d.kept SET v = v + 1 WHERE id = {id}")).map(drop);
            (KEPT + 1..=KEPT + transactions).try_for_each(update)
        };
        told("transactions of one row", scene.measure(idle, each)?, transactions);
        scene.must_still_be_kept()?;
    }
    Ok(())
}

/// The statement that inserts a row for each number i of this subquery, with 120 bytes of log each and a key above those of the kept
/// results.
fn insert(numbers: &str) -> String {
    format!("INSERT INTO d.kept SELECT i + {KEPT}, i, REPEAT('x', 100) FROM ({numbers}) numbers")
}

/// A server, a near cache that follows its log, and a connection to each.
struct Scene {
    server: Server,
    near: Near,
    reader: Client,
    writer: Client,
}

impl Scene {
    fn start(program: PathBuf, product: Product, mariadbd: Option<PathBuf>) -> io::Result<Scene> {
        let arguments = near::logging(product).iter().chain(&["--innodb-buffer-pool-size=512M"]);
        let arguments = arguments.map(|one| one.to_string()).collect();
        let server = Server::start(Options { product, program: mariadbd, arguments, ..Options::default() })?;
        let mut writer = server.admin()?;
        for statement in [
            "CREATE DATABASE d",
            "CREATE USER follower@'%'",
            match product {
                Product::MariaDb => "GRANT REPLICATION SLAVE, BINLOG MONITOR, PROCESS ON *.* TO follower@'%'",
                Product::MySql => "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO follower@'%'",
            },
            "GRANT SELECT ON d.* TO follower@'%'",
        ] {
            writer.must(statement)?;
        }
        // Each product knows only one of these variables.
        for limit in ["max_recursive_iterations", "cte_max_recursion_depth"] {
            let _ = writer.query(format!("SET SESSION {limit} = 4294967295"));
        }
        let address = format!("127.0.0.1:{}", server.port());
        let arguments = ["--server", address.as_str(), "--binlog-user", "follower"];
        let near = Near::start_with(program, &arguments, server.scratch().join("near"))?;
        let reader = Client::root(&near.endpoint())?;
        Ok(Scene { server, near, reader, writer })
    }

    /// Creates the table again, and waits until the near cache serves results of its first rows.
    fn keep(&mut self) -> io::Result<()> {
        self.writer.must("DROP TABLE IF EXISTS d.kept")?;
        self.writer.must("CREATE TABLE d.kept (id INT PRIMARY KEY, v INT, note VARCHAR(100)) ENGINE = InnoDB")?;
        let ids = (1..=KEPT).map(|id| format!("SELECT {id} - {KEPT} i")).collect::<Vec<_>>().join(" UNION ALL ");
        self.writer.must(&insert(&ids))?;
        self.reader = Client::root(&self.near.endpoint())?;
        let begun = Instant::now();
        while self.served()? < KEPT {
            if begun.elapsed() > LIMIT {
                return Err(io::Error::other(format!("nothing is served after {LIMIT:?}\n{}", self.near.log())));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Reads each kept row by its key, and returns how many of these reads were hits.
    fn served(&mut self) -> io::Result<u64> {
        let before = self.near.told("Hits");
        for id in 1..=KEPT {
            self.reader.must(&format!("SELECT v FROM d.kept WHERE id = {id}"))?;
        }
        let served = self.near.told("Hits").zip(before).map(|(after, before)| after - before);
        served.ok_or_else(|| io::Error::other("it does not tell its hits"))
    }

    /// Fails unless more than a tenth of the results are still served. A write also invalidates results of other rows that share its
    /// version cell. If nearly all were gone, the near cache would not have distinguished rows, and the measurement would mean nothing.
    fn must_still_be_kept(&mut self) -> io::Result<()> {
        let is_kept = self.served()? > KEPT / 10;
        if is_kept { Ok(()) } else { Err(io::Error::other("what was kept is gone: this has measured nothing")) }
    }

    /// Processor seconds that the near cache takes per second while nothing is written.
    fn idle(&mut self) -> io::Result<f64> {
        let wait = |_: &mut Client| {
            thread::sleep(IDLE);
            Ok(())
        };
        let (taken, elapsed) = self.measure(0.0, wait)?;
        Ok(taken / elapsed.as_secs_f64())
    }

    /// Does the work, and waits until the near cache has read the log to its end. Returns the processor seconds that this took beyond
    /// `idle` (seconds per second), and the time that has passed.
    fn measure(&mut self, idle: f64, work: impl FnOnce(&mut Client) -> io::Result<()>) -> io::Result<(f64, Duration)> {
        let (begun, before) = (Instant::now(), self.near.processor_time()?);
        work(&mut self.writer)?;
        let logged = self.logged()?;
        while self.near.told("Log heard in file").zip(self.near.told("Log heard to byte")) < Some(logged) {
            if begun.elapsed() > LIMIT {
                return Err(io::Error::other(format!("the log is not heard after {LIMIT:?}\n{}", self.near.log())));
            }
            thread::sleep(POLL);
        }
        let (taken, elapsed) = (self.near.processor_time()? - before, begun.elapsed());
        Ok((taken.as_secs_f64() - idle * elapsed.as_secs_f64(), elapsed))
    }

    /// The end of the log: the number of its file, and the offset in bytes.
    fn logged(&mut self) -> io::Result<(u64, u64)> {
        let question = match self.server.product() {
            Product::MariaDb => "SHOW MASTER STATUS",
            Product::MySql => "SHOW BINARY LOG STATUS",
        };
        let rows = self.writer.must(question)?.rows(false);
        let number = |column: usize| {
            let text = String::from_utf8_lossy(rows.first()?.get(column)?.as_deref()?).into_owned();
            text.rsplit('.').next()?.parse().ok()
        };
        number(0).zip(number(1)).ok_or_else(|| io::Error::other("the server does not tell its log"))
    }
}
