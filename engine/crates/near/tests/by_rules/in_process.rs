//! Applications read a near cache's results in their own process. With rules, they never get a result that is older than its rule allows.

use crate::beside::applications::{End, in_this_process, reads_of_the_past, twins, until_served_here};
use crate::beside::executions::ELSEWHERE;
use crate::beside::scene::{READ, ask};
use crate::beside::{Folder, Near, near};
use crate::rules::{servers, write};
use fqc_tests::client::Client;
use fqc_tests::server::Server;
use std::time::Duration;

/// The time to live of the rules whose bound is checked.
const TTL: Duration = Duration::from_millis(1500);

/// Starts a near cache with one rule for all reads, which shares its memory with other processes at the path `share`. `ttl`: the rule's
/// time to live in seconds.
fn ruled(server: &Server, ttl: &str, share: &str) -> Near {
    let rules = format!("[[rule]]\ntext = '.'\ncache = 'always'\nttl = {ttl}\n");
    near(server, &["--rules", &Folder::fresh().write("rules.toml", &rules), "--share", share])
}

#[test]
fn whatever_a_connection_does_it_gets_what_it_would_get_directly() {
    in_this_process("in_process::whatever_a_connection_does_it_gets_what_it_would_get_directly", |share| {
        for ((line, server), (_, plain)) in servers().zip(servers()) {
            for server in [&server, &plain] {
                let mut admin = Client::root(&server.endpoint()).expect("a connection");
                ELSEWHERE.iter().for_each(|one| drop(admin.must(one).expect(one)));
            }
            let near = ruled(&server, "3600", share);
            twins(&near, || Client::root(&plain.endpoint()).expect("a connection"), line);
        }
    });
}

#[test]
fn a_session_reads_nothing_that_was_read_before_its_own_last_write() {
    in_this_process("in_process::a_session_reads_nothing_that_was_read_before_its_own_last_write", |share| {
        for (line, server) in servers() {
            let near = ruled(&server, "3600", share);
            let mut client = near.client();
            for value in 0..30 {
                until_served_here(&near, &mut client, READ);
                ask(&mut client, &format!("UPDATE d.t SET v = '{value}' WHERE id = 1"));
                assert_eq!(ask(&mut client, READ), value.to_string(), "{line}");
            }
        }
    });
}

#[test]
fn no_read_in_a_process_is_older_than_its_rule_allows_though_the_near_cache_is_stopped_or_killed() {
    const NAME: &str =
        "in_process::no_read_in_a_process_is_older_than_its_rule_allows_though_the_near_cache_is_stopped_or_killed";
    in_this_process(NAME, |share| {
        for (line, server) in servers() {
            for end in [End::Stopped, End::Killed] {
                let near = ruled(&server, "1.5", share);
                let value = format!("{end:?}");
                let old =
                    reads_of_the_past(&near, near.client(), (READ, &value), (end, TTL), || write(&server, &value));
                println!("{line}, {end:?}: {old} reads of the past within the bound");
                assert!(old > 0, "nothing was answered in this process");
            }
        }
    });
}

#[test]
fn rules_that_are_taken_back_end_what_was_answered_by_them() {
    in_this_process("in_process::rules_that_are_taken_back_end_what_was_answered_by_them", |share| {
        for (line, server) in servers() {
            let folder = Folder::fresh();
            let rules = |ttl: u32| {
                folder.write("rules.toml", &format!("[[rule]]\ntext = '.'\ncache = 'always'\nttl = {ttl}\n"))
            };
            let near = near(&server, &["--rules", &rules(3600), "--share", share]);
            let mut client = near.client();
            until_served_here(&near, &mut client, READ);
            write(&server, "new");
            assert_ne!(ask(&mut client, READ), "new", "{line}");
            folder.write("rules.toml", "[[rule]]\ntext = '.'\ncache = 'never'\n");
            near.signal(libc::SIGHUP);
            crate::beside::wait_until("the new rules", || ask(&mut client, READ) == "new");
        }
    });
}
