//! A private MariaDB or MySQL server with its own data directory, loopback port and unix socket. It is removed completely when dropped.
//!
//! Invariant: only processes started here are ever signalled.
//! Deliberately absent: any setting that a stock server would need before it may load the plugin.

use std::collections::BTreeMap;
use std::collections::hash_map::{DefaultHasher, RandomState};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hash, Hasher};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::checkout;
use crate::client::{Client, Endpoint};
use crate::random::Random;

/// The longest wait for a server's start or stop: much longer than it takes, even on a busy machine. Only a fault exceeds it.
const START_LIMIT: Duration = Duration::from_secs(1200);
const STOP_LIMIT: Duration = Duration::from_secs(1200);
const PORT_TRIES: usize = 5;
/// Ports for the servers of tests, below the range that Linux uses for outgoing connections. A connection could otherwise take a server's
/// port while it restarts.
const PORTS: std::ops::Range<u16> = 17_000..20_000;
const POLL: Duration = Duration::from_millis(20);

/// Arguments of every server of the tests: small, quick to start, durable enough to be killed.
const SETTINGS: &[&str] = &[
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--innodb-buffer-pool-size=32M",
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-doublewrite=0",
    "--max-connections=1200",
    "--max-allowed-packet=64M",
    "--local-infile=1",
    "--event-scheduler=OFF",
];

/// The argument for MariaDB's redo log size. It is also given when the data directory is created, because a server that finds another size
/// writes a new log at its start.
const MARIADB_LOG: &str = "--innodb-log-file-size=32M";
/// Arguments for MariaDB only. From 11.4 on the server would create a TLS key at each start, which takes minutes in some builds;
/// certificates that a test gives are used all the same. The caches of MyISAM and Aria are small, since a server clears the memory of their
/// indexes at each start.
const MARIADB_SETTINGS: &[&str] =
    &[MARIADB_LOG, "--skip-ssl", "--key-buffer-size=1M", "--aria-pagecache-buffer-size=8M"];
/// Arguments for MySQL only: the classic protocol alone, no folder that the package would have created, and no native I/O, since no server
/// starts with it once many run. Older release lines do not know all of these.
const MYSQL_SETTINGS: &[&str] = &[
    "--loose-innodb-redo-log-capacity=32M",
    "--loose-mysqlx=OFF",
    "--secure-file-priv=NULL",
    "--innodb-use-native-aio=OFF",
];
/// The statements that create the account of TCP clients, `root@127.0.0.1`, since these are not at `localhost`. MariaDB's installer creates
/// it itself.
const MYSQL_ACCOUNTS: &str = "CREATE USER root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n";

/// The statement that switches the cache of a plugin on that was just installed: the cache is off until it gets memory. With adaptation
/// off, every result is stored, even if it is never requested again.
pub const SWITCH_ON: &str = "SET GLOBAL fqc_size = 67108864, GLOBAL fqc_type = ON, GLOBAL fqc_adaptation = OFF";
/// The settings of [`SWITCH_ON`] as arguments, for a server that finds the plugin installed when it starts. A server without the plugin
/// ignores them.
const SWITCHED_ON: &[&str] = &["--loose-fqc-size=67108864", "--loose-fqc-type=ON", "--loose-fqc-adaptation=OFF"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Product {
    #[default]
    MariaDb,
    MySql,
}

/// How a [`Server`] is started. The default is a plain MariaDB server without the plugin.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub product: Product,
    /// The path of the server's program. None: for MariaDB `FQC_MARIADBD`, else the system's; for MySQL `FQC_MYSQLD`, else what
    /// `scripts/fetch-server MySQL tested` has brought.
    pub program: Option<PathBuf>,
    /// The path of the plugin's library. A copy of it becomes the only content of the plugin directory, and is loaded and switched on at
    /// the start. None: a plain server.
    pub plugin: Option<PathBuf>,
    /// Further command-line arguments such as `--thread-handling=pool-of-threads`.
    pub arguments: Vec<String>,
    /// Variables that are added to the server's environment: name and value.
    pub environment: Vec<(String, String)>,
}

/// A running server of one test. Dropping it kills the process and removes its directory.
pub struct Server {
    options: Options,
    directory: PathBuf,
    port: u16,
    child: Option<Child>,
}

impl Product {
    /// The path of the server's program where [`Options::program`] names none. The file may be missing.
    pub fn program(self) -> PathBuf {
        let (name, default) = match self {
            Product::MariaDb => ("FQC_MARIADBD", "/usr/sbin/mariadbd"),
            Product::MySql => ("FQC_MYSQLD", "target/servers/MySQL-9.7/sbin/mysqld"),
        };
        std::env::var_os(name).map_or_else(|| checkout::file(default), PathBuf::from)
    }

    /// The path of the stock client `mysql` that belongs to MySQL's program. None for MariaDB, or if there is no such file.
    pub fn client(self) -> Option<PathBuf> {
        let program = self.program();
        let beside = [program.with_file_name("mysql"), base_directory(&program).join("bin/mysql")];
        beside.into_iter().find(|path| self == Product::MySql && path.is_file())
    }

    fn settings(self) -> &'static [&'static str] {
        match self {
            Product::MariaDb => MARIADB_SETTINGS,
            Product::MySql => MYSQL_SETTINGS,
        }
    }

    /// The statements that load the plugin, in their order. They do not switch its cache on: see [`SWITCH_ON`].
    pub fn installing(self) -> &'static [&'static str] {
        match self {
            Product::MariaDb => &["INSTALL SONAME 'fqc'"],
            Product::MySql => &[
                "INSTALL PLUGIN fqc SONAME 'fqc.so'",
                "INSTALL PLUGIN fqc_events SONAME 'fqc.so'",
                "INSTALL PLUGIN query SONAME 'fqc.so'",
            ],
        }
    }

    /// The statements that unload the plugin, in their order. MySQL unloads it only once the sessions that it has observed have ended.
    pub fn uninstalling(self) -> &'static [&'static str] {
        match self {
            Product::MariaDb => &["UNINSTALL SONAME 'fqc'"],
            Product::MySql => &["UNINSTALL PLUGIN query", "UNINSTALL PLUGIN fqc", "UNINSTALL PLUGIN fqc_events"],
        }
    }
}

impl Server {
    /// Starts a server on a data directory and a port of its own, and waits until it accepts connections. If a plugin is given, installs it
    /// the way a user would, and switches its cache on.
    pub fn start(options: Options) -> io::Result<Self> {
        let directory = fresh_directory()?;
        let mut server = Self { options, directory, port: 0, child: None };
        // Files stay sparse, as they are in the template.
        copy_tree(&template(&server.options, &server.program())?, &server.data(), "auto")?;
        // A MySQL server creates an identity (UUID) if it finds none. No two servers may have the same.
        let _ = fs::remove_file(server.data().join("auto.cnf"));
        fs::create_dir(server.plugins())?;
        fs::create_dir(server.scratch())?;
        if let Some(plugin) = &server.options.plugin {
            fs::copy(plugin, server.plugins().join("fqc.so"))
                .map_err(|error| io::Error::other(format!("cannot copy the plugin {}: {error}", plugin.display())))?;
        }
        server.launch_on_a_free_port()?;
        if server.options.plugin.is_some() {
            server.install_plugin()?;
        }
        Ok(server)
    }

    /// Starts the server on a free port. Tries several, because another process may take a port between its choice and the server's start.
    /// Err if none of [`PORT_TRIES`] ports was free, or the server does not start for another reason.
    fn launch_on_a_free_port(&mut self) -> io::Result<()> {
        for _ in 0..PORT_TRIES {
            self.port = free_port()?;
            match self.launch() {
                Err(_) if self.error_log().contains("Address already in use") => {}
                outcome => return outcome.map(drop),
            }
        }
        Err(io::Error::other(format!("no free port in {PORT_TRIES} tries\n{}", self.error_log())))
    }

    /// Loads the plugin, whose library must already be in the plugin directory, into the running server, and switches its cache on.
    pub fn install_plugin(&self) -> io::Result<()> {
        let begun = Instant::now();
        for statement in self.options.product.installing() {
            let mut installed = self.admin()?.must(statement);
            // A node of a cluster accepts connections before it accepts statements.
            while installed.as_ref().is_err_and(|error| error.to_string().contains("WSREP has not yet prepared"))
                && begun.elapsed() < STOP_LIMIT
            {
                thread::sleep(POLL);
                installed = self.admin()?.must(statement);
            }
            installed.map_err(|error| io::Error::other(format!("{error}\n{}", self.error_log())))?;
        }
        self.admin()?.must(SWITCH_ON).map(drop)
    }

    /// The reasons why results were not stored, as the plugin counts them: a line ` COUNT REASON` for each. Empty without the plugin, or if
    /// the server does not answer.
    pub fn reasons(&self) -> String {
        let listed = self.admin().and_then(|mut admin| admin.must("SHOW FQC REASONS"));
        let rows = listed.map(|response| response.rows(false)).unwrap_or_default();
        let word = |value: &Option<Vec<u8>>| String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned();
        rows.iter().map(|row| format!("  {} {}\n", word(&row[1]), word(&row[0]))).collect()
    }

    /// The server's TCP port on the loopback address. It stays the same after a restart.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::Tcp(self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn unix_endpoint(&self) -> Endpoint {
        Endpoint::Unix(self.socket())
    }

    /// Opens a new connection as root through the unix socket.
    pub fn admin(&self) -> io::Result<Client> {
        Client::root(&self.unix_endpoint())
    }

    pub fn product(&self) -> Product {
        self.options.product
    }

    /// True if the server was started with the plugin, even if the test has unloaded it since.
    pub fn has_plugin(&self) -> bool {
        self.options.plugin.is_some()
    }

    /// True if the process was started and has not ended. It may not accept connections yet.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// The process id. None after [`Self::wait_for_exit`], [`Self::shutdown`] or [`Self::kill9`], until the next start.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Asks the server to shut down, and waits until the process has ended. Fails if the server does not answer, or ends with an error
    /// status.
    pub fn shutdown(&mut self) -> io::Result<()> {
        let mut admin = self.admin()?;
        admin.must("SHUTDOWN")?;
        self.wait_for_exit()
    }

    /// Waits until the process has ended. Fails with the error log if it ends with an error status, or does not end within `STOP_LIMIT`.
    /// Succeeds at once if no process was started.
    pub fn wait_for_exit(&mut self) -> io::Result<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        let begun = Instant::now();
        while begun.elapsed() < STOP_LIMIT {
            if let Some(status) = child.try_wait()? {
                return if status.success() { Ok(()) } else { Err(io::Error::other(self.death(&status.to_string()))) };
            }
            thread::sleep(POLL);
        }
        self.child = Some(child);
        Err(io::Error::other(format!("the server did not end within {STOP_LIMIT:?}\n{}", self.error_log())))
    }

    /// Kills the process with SIGKILL, and waits for its end. Does nothing if there is none.
    pub fn kill9(&mut self) -> io::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }

    /// Shuts the server down if a process was started, starts it again on the same data and port, and waits until it accepts connections. A
    /// plugin that was installed is loaded again.
    pub fn restart(&mut self) -> io::Result<()> {
        if self.child.is_some() {
            self.shutdown()?;
        }
        self.launch().map(drop)
    }

    /// Restarts the running server with these arguments instead of those in [`Options::arguments`], also for later restarts. Returns its
    /// first connection.
    pub fn restart_with(&mut self, arguments: &[&str]) -> io::Result<Client> {
        self.options.arguments = arguments.iter().map(|one| one.to_string()).collect();
        self.shutdown()?;
        self.launch()
    }

    /// Adds a command-line argument, which applies from the server's next start on.
    pub fn add_argument(&mut self, argument: &str) {
        self.options.arguments.push(argument.into());
    }

    /// The server's error log since its first start. Empty if it cannot be read.
    pub fn error_log(&self) -> String {
        let bytes = fs::read(self.directory.join("error.log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The bytes of the server process that are in RAM now. Fails if no process runs.
    pub fn resident_bytes(&self) -> io::Result<u64> {
        let statm = self.proc("statm")?;
        let pages: u64 = field(&statm, 1)?;
        Ok(pages * system_value(libc::_SC_PAGESIZE))
    }

    /// User and system time that the server process has used since its start. Fails if no process runs.
    pub fn cpu_time(&self) -> io::Result<Duration> {
        let stat = self.proc("stat")?;
        let after_name = stat.rsplit(") ").next().unwrap_or("");
        let ticks: u64 = field::<u64>(after_name, 11)? + field::<u64>(after_name, 12)?;
        Ok(Duration::from_secs_f64(ticks as f64 / system_value(libc::_SC_CLK_TCK) as f64))
    }

    fn proc(&self, name: &str) -> io::Result<String> {
        let pid = self.pid().ok_or_else(|| io::Error::other("the server does not run"))?;
        fs::read_to_string(format!("/proc/{pid}/{name}"))
    }

    /// Starts the process, and waits until it accepts connections. Returns the first one, as root.
    fn launch(&mut self) -> io::Result<Client> {
        let (product, program) = (self.options.product, self.program());
        let mut command = Command::new(&program);
        command.args(common_arguments(product, &program)).args(SETTINGS).args(product.settings());
        if self.options.plugin.is_some() {
            command.args(SWITCHED_ON);
        }
        command.arg(path_argument("datadir", &self.data()));
        command.arg(path_argument("socket", &self.socket()));
        // A server that starts removes all temporary tables in this directory, so it must not be shared.
        command.arg(path_argument("tmpdir", &self.scratch()));
        command.arg(path_argument("plugin-dir", &self.plugins()));
        command.arg(path_argument("pid-file", &self.directory.join("pid")));
        command.arg(path_argument("log-error", &self.directory.join("error.log")));
        command.arg(format!("--port={}", self.port)).args(&self.options.arguments);
        if self.judges_another_line() {
            command.arg("--loose-fqc-allow-untested-server=ON");
        }
        // The test itself may run with the library for applications, which must not be loaded here.
        command.env_remove("LD_PRELOAD");
        command.envs(self.options.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.child = Some(command.spawn()?);
        self.wait_until_ready()
    }

    /// Connects as root again and again. Fails with the error log if the process ends, or is not ready within `START_LIMIT`.
    fn wait_until_ready(&mut self) -> io::Result<Client> {
        let begun = Instant::now();
        while begun.elapsed() < START_LIMIT {
            if !self.is_running() {
                self.child = None;
                return Err(io::Error::other(self.death("at start")));
            }
            if let Ok(first) = self.admin() {
                return Ok(first);
            }
            thread::sleep(POLL);
        }
        Err(io::Error::other(format!("the server was not ready within {START_LIMIT:?}\n{}", self.error_log())))
    }

    /// The message for a process that has ended, with the error log.
    fn death(&self, status: &str) -> String {
        format!("the server died ({status}); its error log:\n{}", self.error_log())
    }

    /// True if `FQC_MYSQLD` names the MySQL server. It may then be of a release line that the plugin was not tested with and would refuse
    /// to serve on.
    fn judges_another_line(&self) -> bool {
        let is_named = self.options.program.is_none() && std::env::var_os("FQC_MYSQLD").is_some();
        self.options.product == Product::MySql && is_named
    }

    /// The path of the program that this server runs.
    pub fn program(&self) -> PathBuf {
        self.options.program.clone().unwrap_or_else(|| self.options.product.program())
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// The server's directory for temporary files. Near caches of the tests put their sockets and logs there, too.
    pub fn scratch(&self) -> PathBuf {
        self.directory.join("tmp")
    }

    /// The server's plugin directory, which is the test's own.
    pub fn plugins(&self) -> PathBuf {
        self.directory.join("plugins")
    }

    /// Copies a library that comes with the server into its plugin directory. Returns false if this server has none of that name.
    pub fn bring(&self, library: &str) -> bool {
        let root = self.program().canonicalize().unwrap();
        let folders = ["root/usr/lib/mysql/plugin", "lib/mysql/plugin", "lib/plugin", "lib64/mysql/plugin"];
        let known =
            root.ancestors().take(3).flat_map(|folder| folders.map(|plugins| folder.join(plugins).join(library)));
        let found = known.into_iter().find(|path| path.is_file());
        found.map(|path| fs::copy(path, self.plugins().join(library)).unwrap()).is_some()
    }

    /// The path of the server's unix socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.kill9();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn path_argument(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

/// Arguments that the server and the installer of its data directory share.
fn common_arguments(product: Product, program: &Path) -> Vec<String> {
    let mut arguments = vec!["--no-defaults".into()];
    // MySQL's program finds its own files.
    if product == Product::MariaDb {
        let base = base_directory(program);
        arguments.push(path_argument("basedir", &base));
        let messages = ["share/mysql", "share/mariadb", "share"].map(|part| base.join(part));
        if let Some(messages) = messages.iter().find(|path| path.join("english").is_dir()) {
            arguments.push(path_argument("lc-messages-dir", messages));
        }
    }
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } == 0 {
        arguments.push("--user=root".into());
    }
    arguments
}

/// The directory of the installation that a program belongs to: its file's grandparent.
fn base_directory(program: &Path) -> PathBuf {
    program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr")).to_path_buf()
}

/// Returns the given arguments that MySQL must get already when the data directory is created, because they cannot be changed later. Empty
/// for MariaDB.
fn lasting(options: &Options) -> Vec<&String> {
    let is_lasting = |one: &&String| options.product == Product::MySql && one.starts_with("--lower-case-table-names");
    options.arguments.iter().filter(is_lasting).collect()
}

/// The path of a data directory as the installer leaves it; servers get copies. It is created once for each version of a server and kept:
/// in `FQC_CACHE`, which all checkouts of a user can share, or else in the system's temporary directory.
fn template(options: &Options, program: &Path) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (version(program)?, "sparse", MARIADB_LOG, MYSQL_SETTINGS, lasting(options)).hash(&mut hasher);
    let place = std::env::var_os("FQC_CACHE").map_or_else(std::env::temp_dir, PathBuf::from);
    fs::create_dir_all(&place)?;
    let template = place.join(format!("fqc-tests-template-{:016x}", hasher.finish()));
    if template.is_dir() {
        return Ok(template);
    }
    // Only one thread or program at a time creates it.
    let turn = File::create(template.with_extension("lock"))?;
    turn.lock()?;
    if !template.is_dir() {
        let draft = template.with_extension("draft");
        let _ = fs::remove_dir_all(&draft);
        fs::create_dir(&draft)?;
        install(options, program, &draft)?;
        // Most of what an installer writes are zeros, which each start would copy otherwise.
        copy_tree(&draft.join("data"), &draft.join("sparse"), "always")?;
        fs::rename(draft.join("sparse"), &template)?;
        fs::remove_dir_all(&draft)?;
    }
    Ok(template)
}

/// The output of the program's `--version`. The program is run once in each process, since that costs a tenth of what a server's start
/// costs.
fn version(program: &Path) -> io::Result<Vec<u8>> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if !known.contains_key(program) {
        let rows_text = Command::new(program).args(["--no-defaults", "--version"]).output();
        let rows_text = rows_text.map_err(|error| io::Error::other(format!("{}: {error}", program.display())))?.stdout;
        known.insert(program.into(), rows_text);
    }
    Ok(known[program].clone())
}

/// Creates a data directory at `data` below `draft`, a directory that exists and is empty.
fn install(options: &Options, program: &Path, draft: &Path) -> io::Result<()> {
    let product = options.product;
    let log = File::create(draft.join("log"))?;
    let mut command = match product {
        Product::MariaDb => mariadb_installer(program)?,
        Product::MySql => Command::new(program),
    };
    command.args(common_arguments(product, program)).arg(path_argument("datadir", &draft.join("data")));
    command.arg(path_argument("tmpdir", draft));
    match product {
        Product::MariaDb => {
            command.args(["--auth-root-authentication-method=normal", "--skip-test-db", "--force", MARIADB_LOG])
        }
        Product::MySql => {
            fs::write(draft.join("accounts.sql"), MYSQL_ACCOUNTS)?;
            command.arg("--initialize-insecure").args(MYSQL_SETTINGS).args(lasting(options));
            command.arg(path_argument("init-file", &draft.join("accounts.sql")))
        }
    };
    let status = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).status()?;
    match status.success() {
        true => Ok(()),
        false => {
            let log = fs::read_to_string(draft.join("log"))?;
            Err(io::Error::other(format!("no data directory could be made with {}: {log}", program.display())))
        }
    }
}

/// The command `mariadb-install-db` of the installation that this server's program belongs to.
fn mariadb_installer(mariadbd: &Path) -> io::Result<Command> {
    let base = base_directory(mariadbd);
    let places = ["bin", "scripts", "sbin"].map(|place| base.join(place).join("mariadb-install-db"));
    let installer = places.iter().find(|path| path.is_file());
    installer
        .map(Command::new)
        .ok_or_else(|| io::Error::other(format!("no mariadb-install-db below {}", base.display())))
}

/// Creates an empty directory below the system's temporary one, with a name that no other live process uses.
fn fresh_directory() -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("fqc-tests-{}-{number}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir(&directory)?;
    Ok(directory)
}

/// Copies a directory with its content to a path that must not exist yet. `sparse` says when copied files have holes: see `cp --sparse`.
fn copy_tree(from: &Path, to: &Path, sparse: &str) -> io::Result<()> {
    let sparse = format!("--sparse={sparse}");
    let copied = Command::new("cp").args(["-r", &sparse, "--"]).args([from, to]).stdin(Stdio::null()).output()?;
    match copied.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(String::from_utf8_lossy(&copied.stderr).into_owned())),
    }
}

/// Returns a port of the loopback address at which no process listens at present. It is not reserved: another process may take it later.
pub fn free_port() -> io::Result<u16> {
    let mut random = Random::new(RandomState::new().hash_one(std::process::id()));
    let mut ports = (0..1000).map(|_| PORTS.start + random.below(PORTS.len()) as u16);
    let free = ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.ok_or_else(|| io::Error::other(format!("no free port among {PORTS:?}")))
}

/// The word at this index, from 0, of a line that is split at white space, as a number.
fn field<T: std::str::FromStr>(line: &str, index: usize) -> io::Result<T> {
    let value = line.split_whitespace().nth(index).and_then(|word| word.parse().ok());
    value.ok_or_else(|| io::Error::other(format!("no number in field {index} of `{line}`")))
}

fn system_value(name: libc::c_int) -> u64 {
    // SAFETY: sysconf only reads its argument.
    unsafe { libc::sysconf(name) as u64 }
}
