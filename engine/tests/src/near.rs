//! `fqc-near`, the near cache, as a process next to a server of the tests: it sits between clients and the server, and answers repeated
//! reads from its own memory. It can be started, stopped, killed and replaced.
//!
//! Invariant: only processes started here are ever signalled.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::client::{Client, Endpoint};
use crate::server::{Product, Server};

/// The account that near caches attach to the plugin with, as SHOW PROCESSLIST shows it. See [`prepare`].
pub const USER: &str = "near";

const START_LIMIT: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(5);
/// The interval between two looks at something that takes milliseconds.
const LOOK: Duration = Duration::from_micros(500);
/// The longest wait until a near cache serves reads: much longer than it takes. Only a fault exceeds it.
const SERVING_LIMIT: Duration = Duration::from_secs(120);
/// The staleness bound, in milliseconds, of near caches that follow the binary log. It is longer than any test, so that results are current
/// because the near cache follows the log, and not because old ones expire.
const LONG: &str = "3600000";

/// A running `fqc-near`. Dropping it kills the process.
pub struct Near {
    program: PathBuf,
    arguments: Vec<String>,
    socket: PathBuf,
    child: Child,
}

/// Creates the account [`USER`], with which near caches receive invalidations from the plugin, on this server. May be repeated.
pub fn prepare(server: &Server) -> io::Result<()> {
    let mut admin = server.admin()?;
    admin.must(&format!("CREATE USER IF NOT EXISTS {USER}@'%'"))?;
    admin.must(&format!("GRANT {} ON *.* TO {USER}@'%'", privilege(server.product()))).map(drop)
}

/// The privilege that a near cache's account needs to receive invalidations from the plugin.
pub fn privilege(product: Product) -> &'static str {
    match product {
        Product::MariaDb => "REPLICATION MASTER ADMIN",
        Product::MySql => "REPLICATION SLAVE",
    }
}

/// The arguments with which a server writes a binary log that a near cache can follow.
pub fn logging(product: Product) -> &'static [&'static str] {
    match product {
        Product::MariaDb => &["--log-bin=log", "--binlog-format=ROW", "--server-id=1", "--log-slave-updates"],
        Product::MySql => &["--log-bin=log", "--server-id=1", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"],
    }
}

/// Waits until a near cache that follows the log serves reads, having read all that was written through it. `client` is a connection to the
/// near cache. Fails after two minutes, with the reason that the near cache gives.
pub fn wait_until_served(client: &mut Client) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let rows = client.must("SHOW FQC STATUS")?.rows(false);
        let told = |name: &str| rows.iter().find(|row| row[0].as_deref() == Some(name.as_bytes()))?[1].as_deref();
        if told("Answers may be old by microseconds").is_some() {
            return Ok(());
        }
        if begun.elapsed() > SERVING_LIMIT {
            let why = told("Cache").map(String::from_utf8_lossy).unwrap_or_default().into_owned();
            return Err(io::Error::other(format!("fqc-near serves nothing: {why}")));
        }
        thread::sleep(LOOK);
    }
}

impl Near {
    /// Starts a near cache that the server's plugin informs of changes. `port` is the server's, or that of a forwarder to it; `user` is the
    /// account to attach with; `name` becomes the file name of its socket in the server's scratch directory.
    pub fn start(program: PathBuf, server: &Server, port: u16, user: &str, name: &str) -> io::Result<Near> {
        Self::sharing(program, server, port, user, name, None)
    }

    /// Starts a near cache as [`Self::start`] does. With `share`, the path of another socket, it also hands its results to processes of
    /// this machine through that socket.
    pub fn sharing(
        program: PathBuf,
        server: &Server,
        port: u16,
        user: &str,
        name: &str,
        share: Option<&Path>,
    ) -> io::Result<Near> {
        let address = format!("127.0.0.1:{port}");
        let share = share.map(Path::to_string_lossy);
        let mut arguments = vec!["--server", &address, "--feed-user", user];
        arguments.extend(share.iter().flat_map(|share| ["--share", share]));
        Self::start_with(program, &arguments, server.scratch().join(name))
    }

    /// Starts a near cache that follows the binary log of this server, which must run with the arguments of [`logging`]. It needs no plugin
    /// there.
    pub fn following(program: PathBuf, server: &Server) -> io::Result<Near> {
        let address = format!("127.0.0.1:{}", server.port());
        let arguments = ["--server", &address, "--binlog-user", "root", "--max-staleness-ms", LONG];
        Self::start_with(program, &arguments, server.scratch().join("near"))
    }

    /// Starts a near cache with these command-line arguments, and waits until a client can log in through it. It listens at `socket`, and
    /// logs to the same path with the extension `log`.
    pub fn start_with(program: PathBuf, arguments: &[&str], socket: PathBuf) -> io::Result<Near> {
        let arguments: Vec<_> = arguments.iter().map(|one| one.to_string()).collect();
        let child = spawn(&program, &arguments, &socket)?;
        let near = Near { program, arguments, socket, child };
        near.wait_until_ready()?;
        Ok(near)
    }

    /// The near cache's socket, at which clients connect as they would to the server.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.socket.clone())
    }

    /// Sends a signal, such as `libc::SIGSTOP`, to the process.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is this one's own and has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    /// Kills the process, starts another one with the same arguments and socket, and waits until a client can log in. Its memory and its
    /// counters start empty.
    pub fn replace(&mut self) -> io::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        self.child = spawn(&self.program, &self.arguments, &self.socket)?;
        self.wait_until_ready()
    }

    /// True if the process has not ended.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The number of reads that this process has answered from memory since its start. None if it does not answer.
    pub fn hits(&self) -> Option<u64> {
        self.told("Hits")
    }

    /// Why reads went to the server, and how often each. Empty if the near cache does not answer.
    pub fn reasons(&self) -> Vec<(String, u64)> {
        let told = Client::root(&self.endpoint()).and_then(|mut client| client.query("SHOW FQC REASONS"));
        let word = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
        let rows = told.map(|response| response.rows(false)).unwrap_or_default();
        rows.iter().map(|row| (word(&row[0]), word(&row[1]).parse().unwrap_or(0))).collect()
    }

    /// The number in the line `name` of the near cache's SHOW FQC STATUS. None if the near cache does not answer, or has no such line or no
    /// number in it.
    pub fn told(&self, name: &str) -> Option<u64> {
        let rows = Client::root(&self.endpoint()).ok()?.query("SHOW FQC STATUS").ok()?.rows(false);
        let row = rows.iter().find(|row| row[0].as_deref() == Some(name.as_bytes()))?;
        String::from_utf8_lossy(row[1].as_deref()?).parse().ok()
    }

    /// The processor time that all threads of the process have used. Fails if the process has ended.
    pub fn processor_time(&self) -> io::Result<Duration> {
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let told = fs::read_to_string(thread?.path().join("schedstat"))?;
            let taken = told.split(' ').next().and_then(|number| number.parse::<u64>().ok());
            nanoseconds += taken.ok_or_else(|| io::Error::other(format!("no number in `{told}`")))?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// Everything that near caches at this socket have logged. Empty if the log cannot be read.
    pub fn log(&self) -> String {
        fs::read_to_string(self.socket.with_extension("log")).unwrap_or_default()
    }

    fn wait_until_ready(&self) -> io::Result<()> {
        let begun = Instant::now();
        while Client::root(&self.endpoint()).is_err() {
            if begun.elapsed() > START_LIMIT {
                return Err(io::Error::other(format!("fqc-near was not ready within {START_LIMIT:?}\n{}", self.log())));
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The sum of the hits of the near caches that are attached to the server's plugin now, as the server reports them. Those of killed ones
/// are lost.
pub fn hits(server: &Server) -> io::Result<u64> {
    let rows = server.admin()?.must("SHOW FQC NEAR")?.rows(false);
    let number = |row: &Vec<Option<Vec<u8>>>| String::from_utf8_lossy(row[8].as_deref()?).parse::<u64>().ok();
    Ok(rows.iter().filter_map(number).sum())
}

fn spawn(program: &PathBuf, arguments: &[String], socket: &PathBuf) -> io::Result<Child> {
    let log = File::options().create(true).append(true).open(socket.with_extension("log"))?;
    let mut command = Command::new(program);
    // The test itself may run with the library for applications, which must not be loaded here.
    command.env_remove("LD_PRELOAD");
    command.args(arguments).args(["--metrics", "off", "--listen"]).arg(socket);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()
}

/// The counts of hits as text for a report: first those of the server, then those of near caches. None was not counted, and is left out.
pub fn hits_told(in_server: Option<u64>, beside: Option<u64>) -> String {
    let counted = |hits: Option<u64>, place: &str| hits.map(|hits| format!("{hits} {place}"));
    let told: Vec<_> = counted(in_server, "in the server").into_iter().chain(counted(beside, "beside it")).collect();
    if told.is_empty() { "hits: not counted".into() } else { format!("hits: {}", told.join(", ")) }
}
