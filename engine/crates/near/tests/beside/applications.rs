//! Applications that read a near cache's results in their own process: other programs, and the test itself.

use super::executions::Twins;
use super::scene::{READ, ask};
use super::{Folder, Near, wait_until};
use fqc_tests::checkout;
use fqc_tests::client::Client;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Returns the path of the built library that answers reads in the application's process. Panics if it is not built.
fn library() -> PathBuf {
    let library = checkout::program("libfqc_in_process.so");
    assert!(library.exists(), "no {}", library.display());
    library
}

/// Runs the test called `name` again in a new process that has the library preloaded, and fails if it fails there. In that process, calls
/// `test` with the path where the near cache is to share its memory; in the calling process, `test` is not called.
pub fn in_this_process(name: &str, test: impl FnOnce(&str)) {
    if let Ok(share) = std::env::var("FQC_SHARE") {
        return test(&share);
    }
    let folder = Folder::fresh();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", name, "--nocapture"]);
    let output = command.env("LD_PRELOAD", library()).env("FQC_SHARE", folder.file("share")).output();
    let output = output.expect("it starts");
    let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success() && told[0].contains("1 passed"), "{}{}", told[0], told[1]);
    print!("{}", told[0]);
}

/// A client in a process of its own. It reads one statement a line, and writes each answer as one line.
pub struct Program {
    child: Child,
    statements: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a client with the library preloaded. `share`: the path where the near cache shares its memory. The program finds the near
    /// cache's port in `FQC_PORT`.
    pub fn start(mut command: Command, share: &str, near: &Near) -> Program {
        let command = command.env("FQC_PORT", near.port().to_string()).env("FQC_SHARE", share);
        let command = command.env("LD_PRELOAD", library()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a client");
        let (statements, answers) = (child.stdin.take().expect("its input"), child.stdout.take().expect("its output"));
        Program { child, statements, answers: BufReader::new(answers) }
    }

    /// Returns the id of the client's process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the client's process.
    pub fn signal(&self, signal: i32) {
        // SAFETY: the process is this one's own and has not been waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    /// Sends a statement, and does not wait for the answer.
    pub fn send(&mut self, statement: &str) {
        writeln!(self.statements, "{statement}").expect("it reads");
    }

    /// Waits for the next answer, and returns it.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("it writes");
        line.trim_end().to_owned()
    }

    /// Sends a statement and returns the answer. No earlier answer may be outstanding.
    pub fn ask(&mut self, statement: &str) -> String {
        self.send(statement);
        self.hear()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Repeats a read until the near cache has counted hits of the library in this process.
pub fn until_served_here(near: &Near, client: &mut Client, read: &str) {
    wait_until("answers in this process", || {
        let before = near.metric("application_hits_total");
        (0..50).for_each(|_| drop(ask(client, read)));
        // The library sends its note about the answered reads before this statement.
        ask(client, "SELECT 2 FROM d.t");
        near.metric("application_hits_total") > before
    });
}

/// Sends the same random commands through the near cache and to connections that `there` opens, and panics if answers differ, or if too few
/// come from the library in this process. `line`: a name for the test's output.
pub fn twins(near: &Near, there: impl Fn() -> Client, line: &str) {
    until_served_here(near, &mut near.client(), READ);
    // Both pairs are connected before one is used: on a later connection, a server may go on with the statement ids of an earlier one, and
    // the ids of a pair must be equal.
    let [walking, binding] = [(); 2].map(|()| Twins::new(near.client(), there()));
    let counted = || ["application_hits_total", "hits_total"].map(|name| near.metric(name));
    let before = counted();
    walking.walk(near, line);
    binding.bind_anything(near, line);
    let [answered, hits] = [0, 1].map(|at| counted()[at] - before[at]);
    println!("{line}: {answered} of {hits} hits in this process");
    assert!(answered > 100, "{line}: {answered}");
}

/// How a near cache stops working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Stopped,
    Killed,
}

/// Stops or kills the near cache while `client` repeats `read` in this process, and calls `write`, which changes the result of `read` to
/// `value`. Panics if a read that begins later than `bound` after the write gets the old value. Returns how many earlier reads got it.
pub fn reads_of_the_past(
    near: &Near,
    mut client: Client,
    (read, value): (&str, &str),
    (end, bound): (End, Duration),
    write: impl FnOnce(),
) -> usize {
    until_served_here(near, &mut client, read);
    // The near cache is then the last to have served this connection.
    (0..3).for_each(|_| drop(ask(&mut client, read)));
    let read = read.to_owned();
    near.signal(if end == End::Stopped { libc::SIGSTOP } else { libc::SIGKILL });
    write();
    let written = Instant::now();
    let reader = thread::spawn(move || {
        let mut reads = Vec::new();
        while written.elapsed() < 3 * bound {
            let begun = Instant::now();
            let Ok(response) = client.query(&read) else { break };
            reads.push((begun, super::scene::said(&response)));
        }
        reads
    });
    // Only reads after the bound can be wrong.
    thread::sleep(2 * bound);
    if end == End::Stopped {
        near.signal(libc::SIGCONT);
    }
    let reads = reader.join().expect("it reads");
    let late: Vec<_> = reads.iter().filter(|(begun, said)| *begun > written + bound && said != value).collect();
    assert!(late.is_empty(), "{end:?}: {} reads are older than {bound:?}, such as {:?}", late.len(), late[0]);
    reads.iter().filter(|(_, said)| said != value).count()
}
