//! A real store, as a process.

use super::{Folder, wait_until};
use std::fs::{self, DirEntry};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Memcached,
    Valkey,
}

pub struct Store {
    kind: Kind,
    folder: Folder,
    child: Child,
}

impl Kind {
    pub const ALL: [Kind; 2] = [Kind::Memcached, Kind::Valkey];

    /// The option that names its servers.
    pub fn option(self) -> &'static str {
        match self {
            Kind::Memcached => "--memcached",
            Kind::Valkey => "--valkey",
        }
    }

    /// Without any, a test says so and passes.
    pub fn program(self) -> Option<PathBuf> {
        let fetched = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/servers/memcached/bin/memcached");
        // Debian's tools bring the server under another name.
        let (variable, known) = match self {
            Kind::Memcached => ("FQC_MEMCACHED", vec![fetched, "/usr/bin/memcached"]),
            Kind::Valkey => {
                ("FQC_VALKEY", vec!["/usr/bin/valkey-server", "/usr/bin/redis-server", "/usr/bin/redis-check-rdb"])
            }
        };
        let named = std::env::var_os(variable).map(PathBuf::from);
        let found = named.or_else(|| known.into_iter().map(PathBuf::from).find(|path| path.exists()));
        if found.is_none() {
            eprintln!("SKIPPED: NO {self:?} IS HERE");
        }
        found
    }

    fn command(self, program: &Path, folder: &Folder) -> Command {
        let mut command = Command::new(program);
        match self {
            // Root has to name an account; others may, in vain.
            Kind::Memcached => command.args(["-u", "root", "-m", "64", "-s", &folder.file("socket")]),
            Kind::Valkey => command
                .arg0("redis-server")
                .args(["--port", "0", "--save", "", "--maxmemory", "64mb", "--dir", &folder.file("")])
                .args(["--unixsocket", &folder.file("socket")]),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Store {
    pub fn start(kind: Kind) -> Option<Store> {
        let (program, folder) = (kind.program()?, Folder::fresh());
        let child = run(kind, &program, &folder);
        Some(Store { kind, folder, child })
    }

    /// The option that names it.
    pub fn option(&self) -> &'static str {
        self.kind.option()
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.folder.file("socket")
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is this test's own and has not been waited for.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    /// A signal does not stop all threads at once: the others may still answer.
    pub fn stop(&self) {
        self.signal(libc::SIGSTOP);
        wait_until("the store stands still", || {
            let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
            let is_stopped =
                |task: DirEntry| fs::read_to_string(task.path().join("stat")).is_ok_and(|stat| stat.contains(") T "));
            tasks.flatten().all(is_stopped)
        });
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }

    /// At the same place, with nothing in it.
    pub fn start_again(&mut self) {
        self.kill();
        self.child = run(self.kind, &self.kind.program().expect("it was here"), &self.folder);
    }
}

fn run(kind: Kind, program: &Path, folder: &Folder) -> Child {
    let socket = folder.file("socket");
    let _ = std::fs::remove_file(&socket);
    let child = kind.command(program, folder).spawn().expect("it starts");
    wait_until("the store", || UnixStream::connect(&socket).is_ok());
    child
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
