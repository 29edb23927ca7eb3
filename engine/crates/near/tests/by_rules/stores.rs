//! The shared store in memcached or Valkey: which sessions find which results, how old those may be, and how reads do while the store does
//! not answer.

use crate::beside::cluster::{self, Cluster};
use crate::beside::scene::{READ, ask, furnish, said};
use crate::beside::store::{Kind, Store};
use crate::beside::{Folder, Near, near, wait_until};
use fqc_tests::client::{Client, Param, command};
use fqc_tests::server::{Options, Server};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A rule for all tables of `d` with a time to live that is longer than a test takes.
const LONG: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 3600\n";
/// Another read that the rules match. After it, the near cache knows the session context of the client.
const OTHER: &str = "SELECT v FROM d.u";

/// A database server, and one or more servers of one kind of store.
struct Scene {
    kind: Kind,
    server: Server,
    stores: Vec<Store>,
}

/// Returns a scene for each kind of store that is installed, with this number of store servers.
fn scenes(stores: usize) -> impl Iterator<Item = Scene> {
    Kind::ALL.into_iter().filter_map(move |kind| Scene::of(kind, stores))
}

impl Scene {
    /// Starts a database server and the store servers. None if this kind of store is not installed.
    fn of(kind: Kind, stores: usize) -> Option<Scene> {
        let stores: Option<Vec<_>> = (0..stores).map(|_| Store::start(kind)).collect();
        let stores = stores?;
        let server = Server::start(Options::default()).expect("a server");
        furnish(&server);
        let grant = "GRANT SELECT ON d.u TO other@'127.0.0.1'";
        server.admin().expect("a connection").must(grant).expect(grant);
        Some(Scene { kind, server, stores })
    }

    /// Starts a near cache that uses the scene's stores. `rules`: the text of its file with rules. The timeout for the store is long, since
    /// the machine may be busy.
    fn near(&self, rules: &str) -> Near {
        self.near_with(rules, &["--store-timeout-ms", "1000"])
    }

    /// Starts a near cache that uses the scene's stores, with these arguments and the default timeout for the store.
    /// `rules`: the text of its file with rules.
    fn near_with(&self, rules: &str, arguments: &[&str]) -> Near {
        let folder = Folder::fresh();
        let addresses: Vec<_> = self.stores.iter().map(Store::address).collect();
        let rules = folder.write("rules.toml", rules);
        let all = ["--rules", &rules, self.kind.option(), &addresses.join(",")];
        near(&self.server, &[&all, arguments].concat())
    }

    /// Changes the row 1 of `d.t` on the server itself, so that near caches do not see the write.
    fn write(&self, value: &str) {
        let mut direct = Client::root(&self.server.endpoint()).expect("a connection");
        direct.must(&format!("UPDATE d.t SET v = '{value}' WHERE id = 1")).expect("it is written");
    }
}

/// Connects a client and lets it read once. After that, the near cache knows the session's account, database and settings, which decide
/// what it may serve to it.
fn known(near: &Near, user: &str) -> Client {
    let mut client = near.login(user, "").expect("a connection");
    ask(&mut client, OTHER);
    client
}

/// Sends a read. Returns the answer, and the tier that gave it: `server`, `memory` or `store`. No other client may be served in the
/// meantime.
fn found(near: &Near, client: &mut Client, read: &str) -> (String, &'static str) {
    let before = ["hits_total", "store_hits_total"].map(|name| near.metric(name));
    let answer = ask(client, read);
    let [hits, of_store] = ["hits_total", "store_hits_total"].map(|name| near.metric(name));
    let tier = match (hits > before[0], of_store > before[1]) {
        (true, true) => "store",
        (true, false) => "memory",
        (false, _) => "server",
    };
    (answer, tier)
}

/// Waits until the store has accepted at least this number of results from the near cache, counted since the near cache started.
fn wait_for_inserts(near: &Near, inserts: u64) {
    near.wait_for_metric("store_inserts_total", |count| count >= inserts);
}

#[test]
fn what_one_near_cache_has_read_another_one_finds() {
    for scene in scenes(2) {
        let (first, second) = (scene.near(LONG), scene.near(LONG));
        let expected = Client::root(&scene.server.endpoint()).unwrap().query(READ).expect("an answer").bytes;
        let mut client = known(&first, "root");
        assert_eq!(found(&first, &mut client, READ), ("one".into(), "server"));
        wait_for_inserts(&first, 1);
        scene.write("later");
        let mut other = known(&second, "root");
        assert_eq!(found(&second, &mut other, READ), ("one".into(), "store"), "{}", second.log());
        assert_eq!(found(&second, &mut other, READ), ("one".into(), "memory"));
        assert_eq!(other.query(READ).expect("an answer").bytes, expected);
        assert_eq!(ask(&mut other, "SELECT FOUND_ROWS()"), "1");
        // Results of prepared statements are shared, too.
        let (prepared, mut other) = ("SELECT v FROM d.t WHERE id = 2", known(&second, "root"));
        for (near, client, tier) in [(&first, &mut client, "server"), (&second, &mut other, "store")] {
            let statement = client.prepare(prepared).expect("an answer").1.expect("a statement");
            let before = near.metric("store_hits_total");
            let answer = client.execute(&statement, &[] as &[Param]).expect("an answer");
            assert_eq!(answer.rows(true)[0][0].as_deref(), Some(&b"two"[..]));
            assert_eq!(near.metric("store_hits_total") > before, tier == "store", "{tier}: {}", near.log());
            if tier == "server" {
                wait_for_inserts(near, 2);
            }
        }
    }
}

#[test]
fn nobody_finds_what_was_read_for_others_under_other_settings_or_names() {
    for scene in scenes(1) {
        let (first, second) = (scene.near(LONG), scene.near(LONG));
        let elsewhere = scene.near_with(LONG, &["--store-name", "elsewhere"]);
        let longer = scene.near(&LONG.replace("3600", "7200"));
        assert_eq!(found(&first, &mut known(&first, "root"), READ), ("one".into(), "server"));
        wait_for_inserts(&first, 1);
        scene.write("later");
        let mut nobody = known(&second, "other");
        assert_eq!(ask(&mut nobody, READ), "error 1142");
        assert_eq!(found(&second, &mut known(&second, "app"), READ), ("later".into(), "server"));
        let mut other_settings = second.client();
        ask(&mut other_settings, "SET SESSION div_precision_increment = 1");
        ask(&mut other_settings, OTHER);
        assert_eq!(found(&second, &mut other_settings, READ), ("later".into(), "server"));
        for near in [&elsewhere, &longer] {
            assert_eq!(found(near, &mut known(near, "root"), READ), ("later".into(), "server"));
        }
        assert_eq!(found(&second, &mut known(&second, "root"), READ), ("one".into(), "store"));
    }
}

#[test]
fn a_connection_sees_its_own_writes_whatever_others_have_shared() {
    for scene in scenes(1) {
        let (first, second) = (scene.near(LONG), scene.near(LONG));
        let (mut client, mut other) = (known(&first, "root"), known(&second, "root"));
        assert_eq!(found(&first, &mut client, READ), ("one".into(), "server"));
        wait_for_inserts(&first, 1);
        ask(&mut other, "UPDATE d.t SET v = 'own' WHERE id = 1");
        ask(&mut other, OTHER);
        assert_eq!(found(&second, &mut other, READ), ("own".into(), "server"));
        assert_eq!(found(&second, &mut other, READ), ("own".into(), "memory"));
        let late = "SELECT v FROM d.t WHERE id = 1 ORDER BY id";
        assert_eq!(found(&first, &mut client, late), ("own".into(), "server"));
        wait_for_inserts(&first, 2);
        assert_eq!(ask(&mut other, late), "own");
        assert_eq!(found(&second, &mut known(&second, "root"), late).0, "own");
    }
}

/// Sets the flag, which makes all threads end, when this is dropped, also by a panic.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A rule for all tables of `d` with the time to live `TTL`.
const SHORT: &str = "[[rule]]\ntable = 'd.%'\ncache = 'always'\nttl = 5\n";
const TTL: Duration = Duration::from_secs(5);

/// Lets one thread write growing numbers while others note the numbers that they read, until enough reads were answered from the store.
/// Panics if a number was read later than `TTL` after the next one was written, or if no stale result was served at all. `trouble` is
/// called repeatedly while the threads run. The rules of `nears` must be `SHORT`.
fn nothing_is_older_than_its_rule_says(server: &Server, nears: &[Near; 2], mut trouble: impl FnMut()) {
    const TEXTS: usize = 40;
    const WANTED: u64 = 10;
    const PAUSE: Duration = Duration::from_millis(2);
    let (begun, is_over) = (Instant::now(), AtomicBool::new(false));
    let (written, seen) = thread::scope(|scope| {
        let ending = Ending(&is_over);
        let writer = scope.spawn(|| {
            // The time after which each number was certainly written, by number.
            let mut written = vec![Instant::now()];
            let mut direct = Client::root(&server.endpoint()).expect("a connection");
            while !is_over.load(Ordering::Relaxed) {
                let value = written.len();
                direct.must(&format!("UPDATE d.t SET v = '{value}' WHERE id = 1")).expect("it is written");
                written.push(Instant::now());
                thread::sleep(Duration::from_millis(20));
            }
            written
        });
        let readers: Vec<_> = (0..4)
            .map(|index| {
                let (near, is_over) = (&nears[index % 2], &is_over);
                scope.spawn(move || {
                    let mut client = known(near, "root");
                    let mut seen = Vec::new();
                    for number in (0..TEXTS).cycle().skip(index * TEXTS / 4) {
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let asked = Instant::now();
                        let value = ask(&mut client, &format!("{READ} /* {number} */")).parse().unwrap_or(0);
                        seen.push((asked, value));
                        // With this pause each statement is still read often within its time to live. More reads would only take processor
                        // time.
                        thread::sleep(PAUSE);
                    }
                    seen
                })
            })
            .collect();
        wait_until("what is found in the store, again and again", || {
            trouble();
            let hits: u64 = nears.iter().map(|near| near.metric("store_hits_total")).sum();
            hits >= WANTED && begun.elapsed() > 3 * TTL
        });
        drop(ending);
        let seen: Vec<_> = readers.into_iter().flat_map(|reader| reader.join().expect("it reads")).collect();
        (writer.join().expect("it writes"), seen)
    });
    let mut oldest = Duration::ZERO;
    for (asked, value) in seen {
        // The number became stale when the next one was written.
        let outdated: Option<&Instant> = written.get(value + 1_usize);
        let age = outdated.map_or(Duration::ZERO, |since| asked.saturating_duration_since(*since));
        assert!(age < TTL, "{value} was outdated for {age:?}");
        oldest = oldest.max(age);
    }
    // If no result was served that old, the test has shown nothing.
    assert!(oldest > TTL / 2, "{oldest:?}");
}

#[test]
fn nothing_is_found_that_is_older_than_its_rule_says() {
    for scene in scenes(1) {
        let nears = [scene.near(SHORT), scene.near(SHORT)];
        nothing_is_older_than_its_rule_says(&scene.server, &nears, || {});
    }
}

#[test]
fn a_store_that_does_not_answer_costs_nothing_but_its_hits() {
    for mut scene in scenes(1) {
        let near = scene.near_with(LONG, &["--store-timeout-ms", "50"]);
        let mut client = known(&near, "root");
        // On a busy machine the store may be late now and then, so this tries until a result is shared.
        let share = |client: &mut Client, after: &str| {
            let (mut number, before) = (0, near.metric("store_inserts_total"));
            wait_until("what is shared", || {
                number += 1;
                ask(client, &format!("{READ} /* after {after} {number} */"));
                near.metric("store_inserts_total") > before
            });
        };
        share(&mut client, "nothing");
        let reads_of = |client: &mut Client, round: &str| {
            (0..200).for_each(|number| assert_eq!(ask(client, &format!("{READ} /* {round} {number} */")), "one"));
        };
        for round in ["stopped", "gone"] {
            if round == "stopped" {
                scene.stores[0].stop()
            } else {
                scene.stores[0].kill()
            }
            let (begun, before) = (Instant::now(), near.metric("store_selects_total"));
            reads_of(&mut client, round);
            let tried = near.metric("store_selects_total") - before;
            assert!(tried <= 2 + begun.elapsed().as_secs(), "{tried} in {:?}", begun.elapsed());
            let server = format!("{{server=\"{}\"}}", scene.stores[0].address());
            assert!(near.metric(&format!("store_failures_total{server}")) > 0);
            assert_eq!(near.metric(&format!("store_answers{server}")), 0);
            if round == "stopped" {
                assert!(near.log().contains(": nothing comes from it within store-timeout-ms"), "{}", near.log());
            }
            if round == "stopped" {
                scene.stores[0].signal(libc::SIGCONT);
            } else {
                scene.stores[0].start_again();
            }
            near.wait_for_metric(&format!("store_answers{server}"), |answers| answers == 1);
            // The store is used again.
            share(&mut client, round);
        }
    }
}

#[test]
fn another_server_takes_the_place_of_one_that_is_gone() {
    for mut scene in scenes(3) {
        let (first, second) = (scene.near(LONG), scene.near(LONG));
        let (mut client, mut other) = (known(&first, "root"), known(&second, "root"));
        let reads: Vec<_> = (0..30).map(|number| format!("{READ} /* {number} */")).collect();
        reads.iter().for_each(|read| assert_eq!(found(&first, &mut client, read), ("one".into(), "server")));
        wait_for_inserts(&first, 30);
        scene.stores[1].kill();
        let tiers: Vec<_> = reads.iter().map(|read| found(&second, &mut other, read).1).collect();
        let of_store = tiers.iter().filter(|tier| **tier == "store").count();
        assert!((1..30).contains(&of_store), "{of_store} of 30");
        // The servers that are left take new results in place of the lost one.
        let inserts = second.metric("store_inserts_total");
        let reads: Vec<_> = (30..60).map(|number| format!("{READ} /* {number} */")).collect();
        for read in &reads {
            ask(&mut other, read);
        }
        second.wait_for_metric("store_inserts_total", |count| count >= inserts + 20);
        let tiers: Vec<_> = reads.iter().map(|read| found(&first, &mut client, read).1).collect();
        assert!(tiers.iter().filter(|tier| **tier == "store").count() >= 20, "{tiers:?}");
    }
}

/// A restarted memcached gives out the same versions again. Checks that a result that waits for an entry of the old process does not go
/// into an entry of the new one.
#[test]
fn an_answer_is_not_put_into_the_place_of_a_store_that_has_started_again() {
    for mut scene in scenes(1) {
        let (first, second) = (scene.near(LONG), scene.near(LONG));
        let (mut client, mut other) = (known(&first, "root"), known(&second, "root"));
        let mut further = known(&first, "root");
        let mut locker = Client::root(&scene.server.endpoint()).expect("a connection");
        let wait_for_select =
            |near: &Near, selects| near.wait_for_metric("store_selects_total", |count| count >= selects);
        let blocked = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT v FROM d.t%'";
        let mut admin = Client::root(&scene.server.endpoint()).expect("a connection");
        locker.must("LOCK TABLES d.t WRITE").expect("a lock");
        for (near, client, count) in [(&first, &mut client, "1"), (&second, &mut other, "2")] {
            if count == "2" {
                scene.stores[0].start_again();
            }
            let selects = near.metric("store_selects_total");
            client.send(command::QUERY, READ.as_bytes()).expect("it is sent");
            wait_for_select(near, selects + 1);
            wait_until("the read at the server", || ask(&mut admin, blocked) == count);
        }
        // Waits until the first near cache has connected to the store again.
        let mut number = 0;
        wait_until("what is shared", || {
            number += 1;
            ask(&mut further, &format!("{OTHER} /* {number} */"));
            first.metric("store_inserts_total") > 0
        });
        // The second near cache is stopped, so that the first one's result comes to the store first, if it is sent at all.
        second.signal(libc::SIGSTOP);
        locker.must("UNLOCK TABLES").expect("it is free");
        assert_eq!(said(&client.read_response().expect("an answer")), "one");
        ask(&mut further, &format!("{OTHER} /* last */"));
        second.signal(libc::SIGCONT);
        assert_eq!(said(&other.read_response().expect("an answer")), "one");
        // The store would refuse this result if the first near cache had filled the entry.
        wait_for_inserts(&second, 1);
    }
}

#[test]
fn the_report_tells_of_each_tier() {
    for scene in scenes(1) {
        let (first, second) = (scene.near(LONG), scene.near(LONG));
        ask(&mut known(&first, "root"), READ);
        wait_for_inserts(&first, 1);
        let mut client = known(&second, "root");
        (0..3).for_each(|_| drop(ask(&mut client, READ)));
        let address = scene.stores[0].address();
        let entries = format!("SHOW FQC STATUS LIKE 'Store {address} entries'");
        wait_until("what the store counts", || ask(&mut client, &entries).ends_with(",1"));
        let report = ask(&mut client, "SHOW FQC STATUS");
        for row in [
            "Cache,ON, beside the application, by rules",
            "Memory selects,4",
            "Memory hits,2",
            "Memory hit ratio in percent,50",
            "Store selects,1",
            "Store hits,1",
            "Store hit ratio in percent,100",
            "Store inserts,0",
            &format!("Store {address},answers"),
            &format!("Store {address} size in bytes,{}", 64 << 20),
        ] {
            assert!(report.split(';').any(|one| one == row), "{row}: {report}");
        }
    }
}

/// A database server, and a cluster of Valkey that near caches share.
struct Clustered {
    server: Server,
    cluster: Cluster,
}

impl Clustered {
    /// Starts both; the arguments are those of [`Cluster::start`]. None if Valkey is not installed.
    fn of(primaries: usize, behind: &[u32]) -> Option<Clustered> {
        let cluster = Cluster::start(primaries, behind)?;
        let server = Server::start(Options::default()).expect("a server");
        furnish(&server);
        Some(Clustered { server, cluster })
    }

    /// Starts a near cache that is given one member of the cluster, and waits until it has found all primaries. `rules`: the text of its
    /// file with rules.
    fn near(&self, rules: &str) -> Near {
        let folder = Folder::fresh();
        let (rules, password) = (folder.write("rules.toml", rules), folder.write("password", cluster::PASSWORD));
        let named = self.cluster.primaries.last().expect("a node").address();
        let store = ["--valkey", &named, "--valkey-password-file", &password, "--store-timeout-ms", "1000"];
        let near = near(&self.server, &[&["--rules", &rules][..], &store].concat());
        self.cluster.primaries.iter().for_each(|node| node.wait_until_found(&near));
        near
    }

    /// Returns how often connections of the near cache to primaries have failed.
    fn failures(&self, near: &Near) -> u64 {
        self.cluster.primaries.iter().map(|node| near.metric(&node.metric("failures_total"))).sum()
    }
}

/// Returns a read for each number. The reads differ in a comment, so that each has a result of its own.
fn numbered(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| format!("{READ} /* {number} */")).collect()
}

/// Sends the reads, and returns the tier that answered each: `server`, `memory` or `store`. Panics if an answer is not `one`.
fn tiers(near: &Near, client: &mut Client, reads: &[String]) -> Vec<&'static str> {
    let found = reads.iter().map(|read| found(near, client, read));
    found.inspect(|(answer, _)| assert_eq!(answer, "one")).map(|(_, tier)| tier).collect()
}

/// Returns how often a tier has answered.
fn count(tiers: &[&str], tier: &str) -> usize {
    tiers.iter().filter(|one| **one == tier).count()
}

#[test]
fn the_members_of_a_cluster_are_found_and_share_what_is_read() {
    let Some(scene) = Clustered::of(3, &[]) else { return };
    let (first, second) = (scene.near(LONG), scene.near(LONG));
    let (mut client, mut other) = (known(&first, "root"), known(&second, "root"));
    let reads = numbered(0..60);
    let before = first.metric("store_inserts_total");
    assert_eq!(count(&tiers(&first, &mut client, &reads), "server"), 60);
    wait_for_inserts(&first, before + 60);
    assert_eq!(count(&tiers(&second, &mut other, &reads), "store"), 60, "{}", second.log());
    for node in &scene.cluster.primaries {
        assert!(node.keys() >= 5, "{}", node.keys());
        let entries = format!("SHOW FQC STATUS LIKE 'Store {} entries'", node.address());
        wait_until("what a member counts", || {
            ask(&mut other, &entries) == format!("Store {} entries,{}", node.address(), node.keys())
        });
    }
    assert_eq!(scene.failures(&first) + scene.failures(&second), 0);
}

#[test]
fn a_slot_that_moves_to_another_member_costs_hits_and_no_error() {
    let Some(scene) = Clustered::of(3, &[]) else { return };
    let (first, second) = (scene.near(LONG), scene.near(LONG));
    let (mut client, mut other) = (known(&first, "root"), known(&second, "root"));
    let reads = numbered(0..30);
    let before = first.metric("store_inserts_total");
    tiers(&first, &mut client, &reads);
    wait_for_inserts(&first, before + 30);
    let [source, target, _] = &scene.cluster.primaries[..] else { panic!("three of them") };
    let key = source.ask("RANDOMKEY");
    let slot = source.ask(&format!("CLUSTER KEYSLOT {key}")).trim_start_matches(':').to_owned();
    target.must(&format!("CLUSTER SETSLOT {slot} IMPORTING {}", source.id()));
    source.must(&format!("CLUSTER SETSLOT {slot} MIGRATING {}", target.id()));
    let (host, port) =
        target.address().split_once(':').map(|(host, port)| (host.to_owned(), port.to_owned())).expect("a port");
    source.must(&format!("MIGRATE {host} {port} {key} 0 5000 AUTH {}", cluster::PASSWORD));
    // The key is at the other member already, but near caches still ask the first one.
    let while_it_moves = tiers(&second, &mut other, &reads);
    assert_eq!((count(&while_it_moves, "server"), count(&while_it_moves, "store")), (1, 29));
    for node in [target, source] {
        node.must(&format!("CLUSTER SETSLOT {slot} NODE {}", target.id()));
    }
    let third = scene.near(LONG);
    let mut further = known(&third, "root");
    let moved = tiers(&third, &mut further, &reads);
    assert_eq!(count(&moved, "server"), 1, "what the other member did not make does not count");
    // A near cache that had the old slots soon has the new ones, and stores results where other near caches find them.
    let (mut number, mut inserts) = (30, first.metric("store_inserts_total"));
    wait_until("what is put where the slot is now", || {
        let reads = numbered(number..number + 30);
        number += 30;
        tiers(&first, &mut client, &reads);
        let before = std::mem::replace(&mut inserts, first.metric("store_inserts_total"));
        inserts >= before + 30
    });
    assert_eq!(scene.failures(&first) + scene.failures(&second) + scene.failures(&third), 0);
}

#[test]
fn a_primary_that_is_killed_costs_its_hits_until_its_replica_takes_over() {
    let Some(mut scene) = Clustered::of(3, &[0]) else { return };
    let (first, second) = (scene.near(LONG), scene.near(LONG));
    let (mut client, mut other) = (known(&first, "root"), known(&second, "root"));
    let reads = numbered(0..30);
    let before = first.metric("store_inserts_total");
    tiers(&first, &mut client, &reads);
    wait_for_inserts(&first, before + 30);
    scene.cluster.primaries[0].wait_for_replica();
    let lost = scene.cluster.primaries[0].keys() as usize;
    scene.cluster.primaries[0].kill();
    let meanwhile = tiers(&second, &mut other, &reads);
    assert!(count(&meanwhile, "store") <= 31 - lost, "{meanwhile:?}");
    let replica = &scene.cluster.replicas[0];
    let mut number = 30;
    wait_until("what the replica has", || {
        let reads = numbered(number..number + 30);
        number += 30;
        tiers(&first, &mut client, &reads);
        let before = replica.hits();
        tiers(&second, &mut other, &reads);
        replica.is_primary() && replica.hits() > before
    });
    replica.wait_until_found(&first);
    let of_lost = format!("\"{}\"", scene.cluster.primaries[0].address());
    assert!(!first.get("/metrics").contains(&of_lost), "it is no member with slots any more");
}

/// Checks the age of results while a primary and its replica, whose clock is three seconds behind, take over from each other. A primary
/// sends the absolute expiry time of an entry to its replica, by its own clock. So entries live longer on the replica.
#[test]
fn nothing_is_older_than_its_rule_says_where_replicas_whose_clocks_are_behind_take_over() {
    const BEHIND: u32 = 3;
    let Some(scene) = Clustered::of(1, &[BEHIND]) else { return };
    let nears = [scene.near(SHORT), scene.near(SHORT)];
    let nodes = [&scene.cluster.primaries[0], &scene.cluster.replicas[0]];
    let (mut since, mut turns) = (Instant::now(), 0);
    nothing_is_older_than_its_rule_says(&scene.server, &nears, || {
        if since.elapsed() > TTL / 2 {
            let [replica, primary] = [turns + 1, turns].map(|turn| nodes[turn % 2]);
            wait_until("the replica", || primary.is_primary() && !replica.is_primary());
            replica.must("CLUSTER FAILOVER");
            wait_until("another primary", || replica.is_primary());
            (since, turns) = (Instant::now(), turns + 1);
        }
    });
    assert!(turns > 3, "{turns}");
}
