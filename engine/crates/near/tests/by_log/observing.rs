//! A near cache that only observes, with the binary log, drops results that have changed. So none of its answers would have been stale.

use crate::beside::followed::{LONG, direct, kinds, run, until_heard};
use crate::beside::scene::{READ, ask};
use crate::beside::wait_until;

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
