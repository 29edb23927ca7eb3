//! A near cache that loses its network, in both directions or in one, stops answering before any client can see a write.
//!
//! The server and the near cache run in network namespaces of their own. Making these takes root and the program `ip`; without them the
//! test passes with a loud message that nothing was tested. A route that drops all packets interrupts one direction.

use crate::beside::scene::{READ, ask, caching_with, hits, prepare, said, until_served};
use crate::beside::{Folder, LIMIT, Near, near_with};
use fqc_tests::client::{Client, command};
use fqc_tests::server::Server;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The address of the database server, in its network namespace.
const OF_SERVER: &str = "10.77.36.1";
/// The address of the near cache, in its network namespace.
const OF_NEAR: &str = "10.77.36.2";
/// How long the network is interrupted. This is longer than a lease.
const CUT_OFF_FOR: Duration = Duration::from_millis(400);
/// How often each kind of interruption is tried.
const ROUNDS: usize = 3;

/// One direction of the network that can be interrupted. `from`: the id of a thread in whose network namespace the sender runs; `to`: the
/// address that the sender can no longer reach.
#[derive(Clone, Copy, Debug)]
struct Cut {
    from: i32,
    to: &'static str,
}

impl Cut {
    /// Interrupts this direction, until [`end`](Self::end).
    fn begin(self) {
        self.route("add");
    }

    fn end(self) {
        self.route("del");
    }

    /// Adds or deletes the route that drops all packets.
    fn route(self, change: &str) {
        inside(self.from, &["ip", "route", change, "blackhole", &format!("{}/32", self.to)]);
    }
}

/// Runs a command in the network namespace of a thread, given by its id. Panics if the command fails.
fn inside(thread: i32, command: &[&str]) {
    let place = format!("--net=/proc/{thread}/ns/net");
    let output = Command::new("nsenter").arg(place).args(command).output().expect("nsenter");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the id of the calling thread.
fn this_thread() -> i32 {
    // SAFETY: gettid has no preconditions.
    unsafe { libc::gettid() }
}

/// Moves the calling thread, and every process and thread that it starts from now on, into a new network namespace. An error without root.
fn part() -> std::io::Result<()> {
    // SAFETY: unshare only affects the calling thread.
    match unsafe { libc::unshare(libc::CLONE_NEWNET) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Gives a network device in the namespace of a thread this address, and switches the device on.
fn address(thread: i32, device: &str, address: &str) {
    inside(thread, &["ip", "link", "set", "lo", "up"]);
    inside(thread, &["ip", "address", "add", &format!("{address}/24"), "dev", device]);
    inside(thread, &["ip", "link", "set", device, "up"]);
}

#[test]
fn whoever_is_cut_off_answers_nothing_that_was_written_since() {
    if let Err(error) = Command::new("ip").arg("-Version").output().and_then(|_| part()) {
        eprintln!("NOT TESTED: NEAR CACHES THAT ARE CUT OFF, SINCE NO NETWORK COULD BE MADE FOR THEM: {error}");
        return;
    }
    let here = this_thread();
    inside(here, &["ip", "link", "set", "lo", "up"]);
    let server = caching_with(&["--bind-address=0.0.0.0"]);
    prepare(&server);
    thread::scope(|scope| {
        scope.spawn(|| {
            part().expect("a second namespace");
            let there = this_thread();
            inside(
                here,
                &["ip", "link", "add", "fqc-a", "type", "veth", "peer", "name", "fqc-b", "netns", &there.to_string()],
            );
            address(here, "fqc-a", OF_SERVER);
            address(there, "fqc-b", OF_NEAR);
            let (to, from) = (Cut { from: there, to: OF_SERVER }, Cut { from: here, to: OF_NEAR });
            judge(&server, &[&[to, from], &[to], &[from]]);
        });
    });
}

/// Starts a near cache in the calling thread's namespace. Interrupts the network in each of these ways several times, and checks that no
/// read is answered with an old value. `cuts`: the directions that are interrupted together, for each way.
fn judge(server: &Server, cuts: &[&[Cut]]) {
    let folder = Folder::fresh();
    let password = folder.write("password", "secret\n");
    let address = format!("{OF_SERVER}:{}", server.port());
    let near = near_with(&["--server", &address, "--feed-user", "feed", "--feed-password-file", &password]);
    let mut direct = server.admin().expect("a connection");
    for statement in ["CREATE USER reader@'%'", "GRANT SELECT ON d.* TO reader@'%'"] {
        direct.must(statement).expect(statement);
    }
    let mut client = near.login("reader", "").expect("a connection");
    for (value, cuts) in (10..).zip(cuts.iter().cycle().take(ROUNDS * cuts.len())) {
        near.wait_for_metric("serving", |serving| serving == 1);
        until_served(&near, &mut client, READ);
        cuts.iter().for_each(|cut| cut.begin());
        direct.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it is written");
        is_not_answered(&near, &mut client, cuts);
        cuts.iter().for_each(|cut| cut.end());
        client.set_timeout(Some(LIMIT)).expect("a limit");
        assert_eq!(said(&client.read_response().expect("an answer")), value.to_string(), "{cuts:?}");
        assert_eq!(ask(&mut client, READ), value.to_string(), "{cuts:?}");
    }
}

/// Sends `READ`, and checks that it gets no answer while the network is interrupted. The answer stays to be read.
fn is_not_answered(near: &Near, client: &mut Client, cuts: &[Cut]) {
    let before = hits(near);
    client.send(command::QUERY, READ.as_bytes()).expect("it is sent");
    client.set_timeout(Some(CUT_OFF_FOR)).expect("a limit");
    let answer = client.read_response().map(|response| said(&response));
    assert!(answer.is_err(), "{cuts:?}: it says {answer:?}");
    assert_eq!(hits(near), before, "{cuts:?}");
}
