//! A real store (memcached, Valkey or Redis) as a process.

use super::{Certificates, Folder, wait_until};
use fqc_tests::checkout;
use fqc_tests::server::free_port;
use std::fs::{self, DirEntry};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A kind of server for the store that near caches share. `Valkey` may also be Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memcached,
    Valkey,
}

/// A running store. It is killed when this is dropped.
pub struct Store {
    pub kind: Kind,
    folder: Folder,
    endpoint: Endpoint,
    child: Child,
}

/// The address that the store listens on.
enum Endpoint {
    Socket(String),
    Port(u16),
}

impl Endpoint {
    /// Returns true if a store accepts connections at this address.
    fn is_open(&self) -> bool {
        match self {
            Endpoint::Socket(socket) => UnixStream::connect(socket).is_ok(),
            Endpoint::Port(port) => TcpStream::connect(("127.0.0.1", *port)).is_ok(),
        }
    }
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Memcached, Kind::Valkey];

    /// Returns the option of `fqc-near` that names servers of this kind.
    pub fn option(self) -> &'static str {
        match self {
            Kind::Memcached => "--memcached",
            Kind::Valkey => "--valkey",
        }
    }

    /// Returns the path of the server's program. None if it is not installed: then a message says that the test is skipped, and the caller
    /// should return.
    pub fn program(self) -> Option<PathBuf> {
        // Debian's package of Redis tools contains the server under the name redis-check-rdb.
        let (variable, known) = match self {
            Kind::Memcached => ("FQC_MEMCACHED", vec!["target/servers/memcached/bin/memcached", "/usr/bin/memcached"]),
            Kind::Valkey => {
                ("FQC_VALKEY", vec!["/usr/bin/valkey-server", "/usr/bin/redis-server", "/usr/bin/redis-check-rdb"])
            }
        };
        let named = std::env::var_os(variable).map(PathBuf::from);
        let found = named.or_else(|| known.into_iter().map(checkout::file).find(|path| path.exists()));
        if found.is_none() {
            eprintln!("SKIPPED: NO {self:?} IS HERE");
        }
        found
    }

    /// Returns the command that starts `program` as a store of this kind. `folder`: for its files; `endpoint`: where it listens.
    fn command(self, program: &Path, folder: &Folder, endpoint: &Endpoint) -> Command {
        let mut command = Command::new(program);
        match self {
            // Memcached demands an account if it runs as root, and ignores it otherwise.
            Kind::Memcached => command.args(["-u", "root", "-m", "64"]),
            Kind::Valkey => command
                .arg0("redis-server")
                .args(["--save", "", "--maxmemory", "64mb", "--dir", &folder.file("")])
                .args(["--bind", "127.0.0.1", "--unixsocket", &folder.file("socket")]),
        };
        match (self, endpoint) {
            (Kind::Memcached, Endpoint::Socket(socket)) => command.args(["-s", socket]),
            (Kind::Memcached, Endpoint::Port(port)) => command.args(["-l", "127.0.0.1", "-p", &port.to_string()]),
            (Kind::Valkey, Endpoint::Socket(_)) => command.args(["--port", "0"]),
            (Kind::Valkey, Endpoint::Port(port)) => command.args(["--port", &port.to_string()]),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Returns the arguments of the store that make it use TLS with these certificates. Without `tls-auth-clients no`, Valkey would demand
    /// certificates of its clients.
    pub fn of_tls(self, certificates: &Certificates) -> Vec<String> {
        let [authority, certificate, key] = ["ca.pem", "cert.pem", "key.pem"].map(|name| certificates.file(name));
        match self {
            Kind::Memcached => vec!["-Z".into(), "-o".into(), format!("ssl_chain_cert={certificate},ssl_key={key}")],
            Kind::Valkey => [
                ["--tls-ca-cert-file", &authority],
                ["--tls-cert-file", &certificate],
                ["--tls-key-file", &key],
                ["--tls-auth-clients", "no"],
            ]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        }
    }
}

impl Store {
    /// Starts a store on a unix socket, and waits until it accepts connections. Returns none if the program is not installed.
    pub fn start(kind: Kind) -> Option<Store> {
        let (program, folder) = (kind.program()?, Folder::fresh());
        let endpoint = Endpoint::Socket(folder.file("socket"));
        let child = run(&mut kind.command(&program, &folder, &endpoint), &endpoint).expect("a store");
        Some(Store { kind, folder, endpoint, child })
    }

    /// Starts a store at a free port, with TLS if there are certificates, and waits until it accepts connections. Returns none if the
    /// program is not installed. `arguments`: additional ones.
    pub fn at_port(kind: Kind, certificates: Option<&Certificates>, arguments: &[&str]) -> Option<Store> {
        const TRIES: usize = 5;
        let program = kind.program()?;
        for _ in 0..TRIES {
            let (folder, port) = (Folder::fresh(), free_port().expect("a port"));
            let endpoint = Endpoint::Port(port);
            let mut command = kind.command(&program, &folder, &endpoint);
            if let Some(certificates) = certificates {
                command.args(kind.of_tls(certificates));
                if kind == Kind::Valkey {
                    command.args(["--port", "0", "--tls-port", &port.to_string()]);
                }
            }
            if let Some(child) = run(command.args(arguments), &endpoint) {
                return Some(Store { kind, folder, endpoint, child });
            }
        }
        panic!("no {kind:?} starts with {arguments:?}");
    }

    /// Returns the option of `fqc-near` that names this kind of store.
    pub fn option(&self) -> &'static str {
        self.kind.option()
    }

    /// Returns the path of the unix socket, or the host and port, where the store listens.
    pub fn address(&self) -> String {
        match &self.endpoint {
            Endpoint::Socket(socket) => socket.clone(),
            Endpoint::Port(port) => format!("127.0.0.1:{port}"),
        }
    }

    /// Sends a command to Valkey on its unix socket, and returns everything that it answers, in its protocol. Not for memcached.
    pub fn ask(&self, command: &str) -> String {
        let mut stream = UnixStream::connect(self.folder.file("socket")).expect("a connection");
        stream.write_all(format!("{command}\r\nQUIT\r\n").as_bytes()).expect("it is sent");
        let mut said = String::new();
        stream.read_to_string(&mut said).expect("an answer");
        said
    }

    /// Sends a signal to the store's process.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is this test's own and has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// Stops the process, and waits until all its threads stand still: a signal does not stop them at once, and the others could still
    /// answer.
    pub fn stop(&self) {
        self.signal(libc::SIGSTOP);
        wait_until("the store stands still", || {
            let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
            let is_stopped =
                |task: DirEntry| fs::read_to_string(task.path().join("stat")).is_ok_and(|stat| stat.contains(") T "));
            tasks.flatten().all(is_stopped)
        });
    }

    /// Kills the store, and waits until its process has ended.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// Kills the store and starts it again at the same unix socket, without the entries that it had.
    pub fn start_again(&mut self) {
        self.kill();
        let _ = fs::remove_file(self.folder.file("socket"));
        let mut command = self.kind.command(&self.kind.program().expect("it was here"), &self.folder, &self.endpoint);
        self.child = run(&mut command, &self.endpoint).expect("a store");
    }
}

/// Starts a store, and waits until it accepts connections. Returns none if the process has ended instead, for example because the port is
/// in use.
fn run(command: &mut Command, endpoint: &Endpoint) -> Option<Child> {
    let mut child = command.spawn().expect("it starts");
    let mut is_running = true;
    wait_until("the store", || {
        is_running = child.try_wait().expect("a state").is_none();
        !is_running || endpoint.is_open()
    });
    is_running.then_some(child)
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
