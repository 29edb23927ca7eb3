//! A near cache that only observes answers nothing, and counts what it would have answered.

use crate::beside::executions::{prepared, run};
use crate::beside::scene::{READ, ask};
use crate::beside::{Folder, Near, near, wait_until};
use crate::rules::{LONG, servers, write};
use fqc_tests::client::{Client, Param};

/// The index of the column with the number of observed requests in the rows of `SHOW FQC QUERIES`.
const OBSERVED_REQUESTS: usize = 16;
/// The index of the column with the number of observed hits in the rows of `SHOW FQC QUERIES`.
const OBSERVED_HITS: usize = 17;

const COUNTS: [&str; 4] = ["hits_total", "misses_total", "observed_hits_total", "observed_different_total"];

/// Returns the metrics that `COUNTS` names, in its order.
fn counted(near: &Near) -> [u64; 4] {
    COUNTS.map(|name| near.metric(name))
}

/// Returns the value of an item of `SHOW FQC STATUS`; empty if there is no such item.
fn said(client: &mut Client, item: &str) -> String {
    let row = ask(client, &format!("SHOW FQC STATUS WHERE Item = '{item}'"));
    row.strip_prefix(item).and_then(|rest| rest.strip_prefix(',')).unwrap_or_default().to_owned()
}

#[test]
fn reads_that_memory_would_have_answered_are_counted_and_compared_with_the_server_s_answers() {
    const INSIDE: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\nin_transactions = true\n";
    for (line, server) in servers() {
        let folder = Folder::fresh();
        let near = near(&server, &["--rules", &folder.write("rules.toml", INSIDE), "--observe", "yes"]);
        let mut client = near.client();
        write(&server, "one");
        (0..4).for_each(|_| assert_eq!(ask(&mut client, READ), "one"));
        assert_eq!(counted(&near), [0, 1, 3, 0], "{line}: {}", near.log());

        let statement = prepared(&mut client, "SELECT v FROM d.t WHERE id = ?");
        for _ in 0..3 {
            run(&mut client, &statement, &[Param::Int(1)]);
        }
        assert_eq!(counted(&near), [0, 2, 5, 0], "{line}: {}", near.log());

        for statement in ["BEGIN", READ, READ, "COMMIT"] {
            client.query(statement).expect("an answer");
        }
        assert_eq!(counted(&near), [0, 2, 7, 0], "{line}: {}", near.log());

        write(&server, "two");
        assert_eq!(ask(&mut client, READ), "two");
        assert_eq!(counted(&near), [0, 2, 8, 1], "{line}: {}", near.log());

        assert_eq!(near.metric("serving"), 0);
        assert!(near.get("/metrics").contains("fqc_near_obstacle{reason=\"it only observes\"} 1"));
        assert_eq!(said(&mut client, "Cache"), "OFF, but observed");
        let items = ["Observed requests", "Observed hits", "Observed hits that the server answered otherwise"];
        assert_eq!(items.map(|item| said(&mut client, item)), ["10", "8", "1"]);
        let shapes = "SHOW FQC QUERIES WHERE Observed_hits > 0";
        let told = client.query(shapes).expect("an answer").rows(false);
        let number = |value: &Option<Vec<u8>>| -> u64 {
            String::from_utf8_lossy(value.as_deref().expect("a value")).parse().expect("a number")
        };
        let sum = |column: usize| told.iter().map(|row| number(&row[column])).sum::<u64>();
        assert_eq!([OBSERVED_REQUESTS, OBSERVED_HITS].map(sum), [10, 8], "{line}: {told:?}");
    }
}

#[test]
fn a_reload_begins_to_answer() {
    let (_, server) = servers().next().expect("MariaDB");
    let folder = Folder::fresh();
    folder.write("rules.toml", LONG);
    let config = |observe: bool| format!("rules = '{}'\nobserve = {observe}\n", folder.file("rules.toml"));
    let near = near(&server, &["--config", &folder.write("near.toml", &config(true))]);
    let mut client = near.client();
    (0..2).for_each(|_| drop(ask(&mut client, READ)));
    assert_eq!(counted(&near), [0, 1, 1, 0], "{}", near.log());
    folder.write("near.toml", &config(false));
    near.signal(libc::SIGHUP);
    wait_until("it answers from memory", || {
        ask(&mut client, READ);
        near.metric("hits_total") > 0
    });
    assert_eq!(near.metric("serving"), 1);
}
