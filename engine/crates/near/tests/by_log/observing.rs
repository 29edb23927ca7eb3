//! A near cache that only observes, with the binary log, drops results that have changed. So none of its answers would have been stale.

use crate::beside::followed::{LONG, direct, kinds, mariadb, run, until_heard};
use crate::beside::scene::{READ, ask};
use crate::beside::wait_until;
use std::time::{Duration, Instant};

#[test]
fn what_was_heard_to_change_would_not_have_been_answered() {
    for kind in kinds() {
        let server = kind.logging();
        let near = kind.started_with(server.port(), LONG, &["--observe", "yes"]);
        let (mut client, mut admin) = (near.client(), direct(&server));
        for round in 1..4 {
            run(&mut admin, &[&format!("UPDATE d.t SET v = {round} WHERE id = 1")]);
            until_heard(&near);
            let before = near.metric("observed_hits_total");
            wait_until("memory would answer", || {
                assert_eq!(ask(&mut client, READ), round.to_string());
                near.metric("observed_hits_total") > before
            });
        }
        assert_eq!(["hits_total", "observed_different_total"].map(|name| near.metric(name)), [0, 0], "{}", near.log());
    }
}

/// Checks that a connection to the log that breaks again and again is soon followed by another one each time, although nothing is answered
/// from memory. If each attempt were taken for a failed one, the pauses before the attempts would add up to more than twenty seconds.
#[test]
fn a_log_that_breaks_is_followed_again_soon_while_it_only_observes() {
    let kind = mariadb();
    let server = kind.logging();
    let near = kind.started_with(server.port(), LONG, &["--observe", "yes"]);
    let mut admin = direct(&server);
    let count = || near.log().matches("following the log of").count();
    let begun = Instant::now();
    for round in 1..9 {
        wait_until("the log", || count() == round);
        let dump = "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Binlog Dump'";
        wait_until("the connection", || !ask(&mut admin, dump).is_empty());
        let id = ask(&mut admin, dump);
        ask(&mut admin, &format!("KILL {id}"));
    }
    wait_until("the log", || count() == 9);
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}: {}", begun.elapsed(), near.log());
}
