//! Applications read a near cache's results in their own process. With the binary log, they never get a result that has been stale for
//! longer than the bound.

use crate::beside::applications::{End, in_this_process, reads_of_the_past, twins, until_served_here};
use crate::beside::executions::ELSEWHERE;
use crate::beside::followed::{self, LONG, direct, kinds};
use crate::beside::scene::{READ, ask};
use std::time::Duration;

#[test]
fn whatever_a_connection_does_it_gets_what_it_would_get_directly() {
    in_this_process("in_process::whatever_a_connection_does_it_gets_what_it_would_get_directly", |share| {
        for kind in kinds() {
            let [server, plain] = [(); 2].map(|()| kind.logging());
            let further = ["ALTER TABLE d.t MODIFY v VARCHAR(30)", "GRANT SELECT ON e.* TO follower@'%'"];
            for server in [&server, &plain] {
                followed::run(&mut direct(server), &[&ELSEWHERE[..], &further].concat());
            }
            let near = kind.following_with(&server, LONG, &["--share", share]);
            twins(&near, || direct(&plain), kind.name);
        }
    });
}

#[test]
fn what_is_written_through_the_near_cache_is_read_at_once() {
    in_this_process("in_process::what_is_written_through_the_near_cache_is_read_at_once", |share| {
        for kind in kinds() {
            let server = kind.logging();
            let near = kind.following_with(&server, LONG, &["--share", share]);
            let (mut reader, mut writer) = (near.client(), near.client());
            for round in 0..30 {
                until_served_here(&near, &mut reader, READ);
                for value in [2 * round, 2 * round + 1].map(|value| value.to_string()) {
                    writer.must(&format!("UPDATE d.t SET v = {value} WHERE id = 1")).expect("it writes");
                    assert_eq!(ask(&mut reader, READ), value, "{}", kind.name);
                }
            }
        }
    });
}

#[test]
fn no_read_in_a_process_is_older_than_the_bound_though_the_near_cache_is_stopped_or_killed() {
    const NAME: &str =
        "in_process::no_read_in_a_process_is_older_than_the_bound_though_the_near_cache_is_stopped_or_killed";
    const BOUND_MS: &str = "1000";
    in_this_process(NAME, |share| {
        for kind in kinds() {
            let server = kind.logging();
            for end in [End::Stopped, End::Killed] {
                let near = kind.following_with(&server, BOUND_MS, &["--share", share]);
                let write = || followed::run(&mut direct(&server), &["UPDATE d.t SET v = v + 1 WHERE id = 1"]);
                let now = ask(&mut direct(&server), READ).parse::<i64>().expect("a number") + 1;
                let what = (READ, now.to_string());
                let bound = Duration::from_secs(1);
                let old = reads_of_the_past(&near, near.client(), (what.0, &what.1), (end, bound), write);
                println!("{}, {end:?}: {old} reads of the past within the bound", kind.name);
                assert!(old > 0, "nothing was answered in this process");
            }
        }
    });
}
