//! Runs `fqc-near` as a process in front of a real server.

#![allow(dead_code, reason = "not every test uses all of it")]

pub mod applications;
pub mod cluster;
pub mod executions;
pub mod followed;
pub mod scene;
pub mod store;

use fqc_tests::checkout;
use fqc_tests::client::{Client, Endpoint, Login};
use fqc_tests::server::{Options, Server};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a test waits for something before it fails. Only a fault takes this long.
pub const LIMIT: Duration = Duration::from_secs(120);

/// Returns the path of the built program `fqc-near`.
pub fn program() -> PathBuf {
    checkout::program("fqc-near")
}

/// Returns the path of the plugin for the server: the value of the environment variable `FQC_PLUGIN`, or `dist/fqc.so`. The file may not
/// exist.
pub fn plugin() -> PathBuf {
    let built = || checkout::file("dist/fqc.so");
    std::env::var_os("FQC_PLUGIN").map_or_else(built, PathBuf::from)
}

/// A temporary folder that is removed with everything in it when this is dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Makes an empty folder that no other test uses.
    pub fn fresh() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("near-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a folder");
        Folder(path)
    }

    /// Returns the path of a file in this folder, whether it exists or not.
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").into()
    }

    /// Writes a file in this folder, and returns its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).expect("a file");
        self.file(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Builds a library that changes the wall clock of a process that loads it. `how`: options of the compiler that say how the clock changes,
/// such as `-DBEHIND=5`. Returns the name and the value of the environment variable that loads the library. The library is in `folder`,
/// which must live until the process has started.
pub fn stepping(folder: &Folder, how: &[&str]) -> (String, String) {
    let source = checkout::name("crates/near/tests/data/steps.c");
    let library = folder.file("steps.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Werror", "-o", &library, &source]).args(how);
    assert!(compiler.status().expect("a compiler").success());
    ("LD_PRELOAD".to_owned(), library)
}

/// A running `fqc-near`. It is killed when this is dropped.
pub struct Near {
    child: Child,
    /// The folder with the unix socket, the log and the socket for notifications.
    folder: Folder,
    /// Receives what the process sends to its service manager.
    states: UnixDatagram,
}

/// Starts `fqc-near` with these arguments, and with those that let the test find its ports and socket. Returns once it accepts clients;
/// reads may not be answered from memory yet.
pub fn near_with(arguments: &[&str]) -> Near {
    near_in(&[], arguments)
}

/// Starts `fqc-near` with these additional environment variables, by name and value, and with these arguments and those that let the test
/// find its ports and socket. Returns once it accepts clients; reads may not be answered from memory yet.
pub fn near_in(environment: &[(String, String)], arguments: &[&str]) -> Near {
    let folder = Folder::fresh();
    let states = UnixDatagram::bind(folder.0.join("notify")).expect("a socket");
    states.set_read_timeout(Some(LIMIT)).expect("a limit");
    let log = fs::File::create(folder.0.join("log")).expect("a log");
    let listen = format!("127.0.0.1:0,{}", folder.file("socket"));
    let child = Command::new(program())
        .args(["--listen", &listen, "--metrics", "127.0.0.1:0"])
        .args(arguments)
        // The test may itself run with the applications' library preloaded, which must not be loaded here.
        .env_remove("LD_PRELOAD")
        .env("NOTIFY_SOCKET", folder.file("notify"))
        .envs(environment.iter().cloned())
        .stdin(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("it starts");
    let near = Near { child, folder, states };
    assert_eq!(near.state(), "READY=1", "{}", near.log());
    near
}

/// Starts `fqc-near` in front of this server, with these additional arguments. Returns once it accepts clients; reads may not be answered
/// from memory yet.
pub fn near(server: &Server, arguments: &[&str]) -> Near {
    let address = format!("127.0.0.1:{}", server.port());
    near_with(&[&["--server", &address], arguments].concat())
}

impl Near {
    /// Waits for the next state that `fqc-near` sends to the service manager, and returns it, such as `STOPPING=1`. `READY=1` has been
    /// received already. Panics after [`LIMIT`].
    pub fn state(&self) -> String {
        let mut bytes = [0; 64];
        let count = self.states.recv(&mut bytes).unwrap_or_else(|error| panic!("{error}: {}", self.log()));
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    /// Returns everything that the process has logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.0.join("log")).unwrap_or_default()
    }

    /// Returns the port that `fqc-near` has logged right after these words. Panics if it has not.
    fn port_after(&self, words: &str) -> u16 {
        let log = self.log();
        let (_, rest) = log.split_once(words).unwrap_or_else(|| panic!("no `{words}` in {log}"));
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().expect("a port")
    }

    /// Returns the TCP port that clients connect to.
    pub fn port(&self) -> u16 {
        self.port_after("may connect to 127.0.0.1:")
    }

    /// Returns the TCP address that clients connect to.
    pub fn tcp(&self) -> Endpoint {
        Endpoint::Tcp(self.port())
    }

    /// Returns the path of the unix socket that clients connect to.
    pub fn socket(&self) -> PathBuf {
        self.folder.0.join("socket")
    }

    /// Returns the unix socket that clients connect to.
    pub fn unix(&self) -> Endpoint {
        Endpoint::Unix(self.socket())
    }

    /// Connects through the near cache as root, by TCP.
    pub fn client(&self) -> Client {
        Client::root(&self.tcp()).expect("a connection")
    }

    /// Connects through the near cache by TCP with this account. An error if the login is refused.
    pub fn login(&self, user: &str, password: &str) -> std::io::Result<Client> {
        Client::connect(&self.tcp(), &Login::user(user, password))
    }

    /// Sends a GET request to the HTTP server of the near cache, and returns the whole response with its headers.
    pub fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port_after("http://127.0.0.1:"))).expect("it answers");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: near\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it writes");
        answer
    }

    /// Returns a value of `/metrics`. `name`: the metric's name without the prefix `fqc_near_`, with its labels. Panics if there is no such
    /// metric.
    pub fn metric(&self, name: &str) -> u64 {
        let metrics = self.get("/metrics");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("fqc_near_{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {metrics}")).parse().expect("a number")
    }

    /// Waits until a metric has a value that is enough. `name`: as for [`metric`](Self::metric), and the metric must exist from the
    /// beginning. Panics after [`LIMIT`].
    pub fn wait_for_metric(&self, name: &str, is_enough: impl Fn(u64) -> bool) {
        let begun = Instant::now();
        while !is_enough(self.metric(name)) {
            assert!(begun.elapsed() < LIMIT, "waited in vain for {name}: {}", self.log());
            sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is this test's own and has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits until the process has ended by itself or by a signal, and returns its exit status. Panics after [`LIMIT`].
    pub fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the end of the process", || {
            status = self.child.try_wait().expect("it can be waited for");
            status.is_some()
        });
        status.expect("it has ended")
    }

    /// Returns the process's resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }
}

impl Drop for Near {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls `is_so` every ten milliseconds until it returns true. Panics with `what` after [`LIMIT`].
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LIMIT, "waited in vain for {what}");
        sleep(Duration::from_millis(10));
    }
}

/// Starts a MariaDB server without the plugin.
pub fn server() -> Server {
    server_with(&[])
}

/// Starts a MariaDB server without the plugin, with these additional arguments. Panics if it does not start.
pub fn server_with(arguments: &[&str]) -> Server {
    let arguments = arguments.iter().map(|one| one.to_string()).collect();
    Server::start(Options { arguments, ..Options::default() }).expect("a server")
}

/// A certificate authority of the test's own.
pub struct Authority {
    pem: String,
    issuer: rcgen::Issuer<'static, rcgen::KeyPair>,
}

impl Authority {
    pub fn new() -> Authority {
        use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
        let key = KeyPair::generate().expect("a key");
        let mut authority = CertificateParams::new(Vec::new()).expect("parameters");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.distinguished_name.push(rcgen::DnType::CommonName, "authority");
        let pem = authority.self_signed(&key).expect("an authority").pem();
        Authority { pem, issuer: Issuer::new(authority, key) }
    }

    /// Returns the authority's own certificate as if it were a server's. It names no host, and no client should accept it.
    pub fn itself(&self) -> Certificates {
        let folder = Folder::fresh();
        ["ca.pem", "cert.pem"].iter().for_each(|name| drop(folder.write(name, &self.pem)));
        folder.write("key.pem", &self.issuer.key().serialize_pem());
        Certificates { folder }
    }

    /// Makes a certificate of this authority for a host name or IP address, valid until the end of `year`.
    pub fn certificates(&self, name: &str, year: i32) -> Certificates {
        let folder = Folder::fresh();
        let own = rcgen::KeyPair::generate().expect("a key");
        let mut leaf = rcgen::CertificateParams::new(vec![name.to_owned()]).expect("parameters");
        leaf.distinguished_name.push(rcgen::DnType::CommonName, name);
        leaf.not_after = rcgen::date_time_ymd(year, 12, 31);
        let leaf = leaf.signed_by(&own, &self.issuer).expect("a certificate");
        folder.write("ca.pem", &self.pem);
        folder.write("cert.pem", &leaf.pem());
        folder.write("key.pem", &own.serialize_pem());
        Certificates { folder }
    }
}

/// The files of a certificate: `ca.pem` with the authority, `cert.pem` with the certificate, and `key.pem` with its key. They are removed
/// when this is dropped.
pub struct Certificates {
    pub folder: Folder,
}

impl Certificates {
    /// Makes a new authority and a certificate of it for a host name or IP address, which does not expire.
    pub fn of(name: &str) -> Certificates {
        const LATE: i32 = 4000;
        Authority::new().certificates(name, LATE)
    }

    /// Returns the path of one of the files, such as `ca.pem`.
    pub fn file(&self, name: &str) -> String {
        self.folder.file(name)
    }

    /// Returns the arguments of a database server that make it use the certificate.
    pub fn of_server(&self) -> Vec<String> {
        [("ssl-ca", "ca.pem"), ("ssl-cert", "cert.pem"), ("ssl-key", "key.pem")]
            .map(|(name, file)| format!("--{name}={}", self.file(file)))
            .to_vec()
    }
}

/// Runs statements in a stock command-line client of MySQL or MariaDB. `program`: its path or name; `arguments`: such as the port and the
/// account. Returns the rows as text without headings, or what the client wrote to standard error if it failed.
pub fn stock_client(program: &Path, arguments: &[&str], statements: &str) -> Result<String, String> {
    let output = Command::new(program)
        .args(["--no-defaults", "--batch", "--skip-column-names", "--protocol=tcp", "--host=127.0.0.1"])
        .args(arguments)
        .arg("--execute")
        .arg(statements)
        .output()
        .expect("the client runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Runs statements in the command-line client `mariadb`. `arguments`: such as the port and the account. Returns the rows as text without
/// headings, or what the client wrote to standard error if it failed.
pub fn mariadb(arguments: &[&str], statements: &str) -> Result<String, String> {
    stock_client(Path::new("mariadb"), arguments, statements)
}
