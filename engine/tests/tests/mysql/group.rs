//! Members of a replication group: each answers from its cache only what it would answer itself at that moment.
//!
//! A group is three servers of one test on one machine. A lock that a session takes on a table of one member holds that member's appliers
//! back, so that a test can look at a member that lags behind for as long as it needs.

use crate::shared::hits;
use crate::traps::{PATIENCE, all, plugin, rows_text, until};
use fqc_tests::client::Client;
use fqc_tests::group::{self, JOIN, LEAVE, Setup};
use fqc_tests::server::{SWITCH_ON, Server};
use std::thread::JoinHandle;

const T: &str = "SELECT v FROM g.t WHERE id = 1";
const U: &str = "SELECT v FROM g.u WHERE id = 1";
/// The number of the member that is elected if the first one fails.
const NEXT: usize = 1;
const WOULD_WAIT: &str = "SET SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'";
const HELD: &str = "Executing hook on transaction begin.";
const ANSWERED: &str = "a read was answered that the server would hold back";
/// Writes in a loop that looks for stale answers.
const WRITES: u64 = 40;

struct Group {
    members: Vec<Server>,
}

impl Group {
    /// Starts a group of three members with the plugin, with the tables `g.t` and `g.u` of one row each. None if this server comes without
    /// Group Replication.
    fn start(is_single_primary: bool) -> Option<Group> {
        Self::start_with(is_single_primary, &[])
    }

    /// Starts a group of three members with the plugin, with the tables `g.t` and `g.u` of one row each, and with these
    /// variables in the environment of its servers. None if this server comes without Group Replication.
    fn start_with(is_single_primary: bool, environment: &[(&str, &str)]) -> Option<Group> {
        let environment = environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let setup = Setup { is_single_primary, plugin: Some(plugin::path()), environment, ..Setup::default() };
        let Some(members) = group::start(&setup).unwrap() else {
            assert!(std::env::var_os("FQC_MYSQLD").is_some(), "the fetched server comes with Group Replication");
            return None;
        };
        let group = Group { members };
        let mut first = group.client(0);
        all(&mut first, &["CREATE DATABASE g"]);
        for table in ["t", "u"] {
            all(&mut first, &[&format!("CREATE TABLE g.{table} (id INT PRIMARY KEY, v INT)")]);
            all(&mut first, &[&format!("INSERT INTO g.{table} VALUES (1, 0)")]);
        }
        (0..3).for_each(|number| group.await_online(number, 3));
        Some(group)
    }

    fn client(&self, number: usize) -> Client {
        let mut client = self.members[number].admin().unwrap();
        client.set_timeout(Some(PATIENCE)).unwrap();
        client
    }

    /// A session whose reads never come from the cache.
    fn plain(&self, number: usize) -> Client {
        let mut plain = self.client(number);
        all(&mut plain, &["SET SESSION fqc_type = OFF"]);
        plain
    }

    /// Waits until this member is ONLINE in a group of so many members, has all rows, and may serve.
    fn await_online(&self, number: usize, members: usize) {
        group::await_online(&self.members[number], members).unwrap();
        let mut plain = self.plain(number);
        until("the rows", || rows_text(&plain.query("SELECT COUNT(*) FROM g.u").unwrap()) == "1");
    }

    /// Sends a read on this member until it is a hit, and returns the answer.
    fn warm(&self, number: usize, reader: &mut Client, read: &str) -> String {
        let mut counters = self.plain(number);
        let mut answer = String::new();
        until("a hit", || {
            let before = hits(&mut counters);
            answer = rows_text(&reader.must(read).unwrap());
            hits(&mut counters) > before
        });
        answer
    }

    /// Warms both reads on this member for a new session with these settings. The writes of an applier that are still in progress would
    /// keep the cache from answering, so a write on `writer` comes first.
    fn reader(&self, number: usize, writer: &mut Client, settings: &[&str]) -> Client {
        for table in ["t", "u"] {
            let write = format!("UPDATE g.{table} SET v = v + 1");
            // A write is refused if another member's write of the same row has not been applied here.
            until("a write that succeeds", || writer.query(&write).unwrap().failure().is_none());
        }
        let expected = [T, U].map(|read| rows_text(&writer.must(read).unwrap()));
        let mut plain = self.plain(number);
        for (read, expected) in [T, U].iter().zip(&expected) {
            until("the row", || rows_text(&plain.must(read).unwrap()) == *expected);
        }
        let mut reader = self.client(number);
        all(&mut reader, settings);
        [T, U].into_iter().for_each(|read| _ = self.warm(number, &mut reader, read));
        reader
    }

    /// Holds back what this member's appliers write to a table, until the returned session ends.
    /// It must not send a statement to unlock the table, which the group may hold back.
    fn hold_back(&self, number: usize, table: &str) -> Client {
        let mut holder = self.plain_eventual(number);
        all(&mut holder, &[&format!("LOCK TABLES g.{table} READ")]);
        holder
    }
}

fn obstacle(client: &mut Client) -> String {
    rows_text(&client.must("SHOW GLOBAL STATUS LIKE 'Fqc_obstacle'").unwrap()).replace("Fqc_obstacle,", "")
}

fn number(client: &mut Client, read: &str) -> u64 {
    rows_text(&client.must(read).unwrap()).parse().unwrap()
}

/// A read that runs on another thread, because the server holds it back.
struct Waiting {
    thread: u64,
    read: JoinHandle<(String, Client)>,
}

/// The session's number in the process list. It is read before anything is held back: after a read that the cache has answered, the next
/// statement may have to wait, too.
fn id(client: &mut Client) -> u64 {
    number(client, "SELECT CONNECTION_ID()")
}

/// Sends a read on a thread of its own, for the session with this number in the process list.
fn send(thread: u64, mut reader: Client, read: &'static str) -> Waiting {
    Waiting { thread, read: std::thread::spawn(move || (rows_text(&reader.query(read).unwrap()), reader)) }
}

impl Waiting {
    /// Waits until the server holds the read back. Panics if it is answered instead.
    fn await_held(&self, observer: &mut Client) {
        let state =
            format!("SELECT PROCESSLIST_STATE FROM performance_schema.threads WHERE PROCESSLIST_ID = {}", self.thread);
        until("the read to be held back", || {
            let state = rows_text(&observer.must(&state).unwrap());
            if self.read.is_finished() {
                panic!("{ANSWERED}");
            }
            state == HELD
        });
    }

    fn answer(self) -> (String, Client) {
        self.read.join().unwrap()
    }
}

/// Writes on one member and reads on another, first without the cache and then with it: the second answer must be at least as new as the
/// first. Returns the number of hits.
fn never_behind(group: &Group, writes_on: usize, reads_on: usize) -> u64 {
    let (mut writer, mut plain, mut counters) = (group.client(writes_on), group.plain(reads_on), group.plain(reads_on));
    let mut reader = group.reader(reads_on, &mut writer, &[]);
    let before = hits(&mut counters);
    let mut observer = group.plain(writes_on);
    for _ in 0..WRITES {
        all(&mut writer, &["UPDATE g.t SET v = v + 1 WHERE id = 1"]);
        let written = number(&mut observer, T);
        until("the row", || {
            let shown = number(&mut plain, T);
            let answers = [number(&mut reader, T), number(&mut reader, T)];
            assert!(answers.iter().all(|answer| *answer >= shown), "{answers:?} after the server had shown {shown}");
            shown == written
        });
    }
    hits(&mut counters) - before
}

/// Checks that a member that lags behind does not answer sessions from the cache that want to wait until it does not. A session without that
/// wish is answered, as it is without the cache: that shows that the test would find a stale answer.
fn whoever_wants_to_wait_waits(group: &Group, lagging: usize) {
    let mut writer = group.client(0);
    let mut global = group.plain(lagging);
    let set = "SET SESSION group_replication_consistency";
    for (settings, level) in [
        (format!("{set} = 'BEFORE'"), "EVENTUAL"),
        (format!("{set} = BEFORE_AND_AFTER"), "BEFORE_ON_PRIMARY_FAILOVER"),
        ("DO 1".into(), "BEFORE"),
    ] {
        all(&mut global, &["SET GLOBAL group_replication_consistency = 'EVENTUAL'"]);
        let mut eventual = group.reader(lagging, &mut writer, &[]);
        let mut waits = group.client(lagging);
        all(&mut global, &[&format!("SET GLOBAL group_replication_consistency = '{level}'")]);
        if level == "BEFORE" {
            // A session that begins, and one that is reset, take the global value.
            waits = group.client(lagging);
            all(&mut waits, &["SET SESSION group_replication_consistency = 'EVENTUAL'"]);
            waits.reset_connection().unwrap();
        }
        all(&mut waits, &[&settings]);
        let thread = id(&mut waits);
        let holder = group.hold_back(lagging, "t");
        let old = number(&mut eventual, T);
        all(&mut writer, &["UPDATE g.t SET v = v + 1 WHERE id = 1"]);
        assert_eq!(group.warm(lagging, &mut eventual, T), old.to_string(), "the control");
        let waiting = send(thread, waits, T);
        waiting.await_held(&mut group.plain_eventual(lagging));
        drop(holder);
        assert_eq!(waiting.answer().0, (old + 1).to_string(), "{settings}, global {level}");
    }
    all(&mut global, &["SET GLOBAL group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"]);
}

impl Group {
    /// Opens a session whose reads never come from the cache and never wait for other members, whatever the global
    /// level of consistency is.
    fn plain_eventual(&self, number: usize) -> Client {
        let mut plain = self.plain(number);
        all(&mut plain, &["SET SESSION group_replication_consistency = 'EVENTUAL'"]);
        plain
    }
}

/// Checks that no session is answered from the cache while a transaction with the level AFTER is prepared on its member. A client that knows
/// of that transaction could otherwise read the state before an earlier one, which the member applies at the same time and has not written
/// yet.
fn nothing_is_served_while_a_transaction_is_prepared(group: &Group, lagging: usize) {
    let [mut earlier, mut later] = [group.client(0), group.client(0)];
    let mut reader = group.reader(lagging, &mut earlier, &["SET SESSION group_replication_consistency = 'EVENTUAL'"]);
    let thread = id(&mut reader);
    let old = number(&mut earlier, U);
    let holder = group.hold_back(lagging, "u");
    all(&mut earlier, &["UPDATE g.u SET v = v + 1 WHERE id = 1"]);
    all(&mut later, &["SET SESSION group_replication_consistency = 'AFTER'", "UPDATE g.t SET v = v + 1 WHERE id = 1"]);
    let waiting = send(thread, reader, U);
    waiting.await_held(&mut group.plain_eventual(lagging));
    drop(holder);
    let (answer, mut reader) = waiting.answer();
    assert_eq!(answer, (old + 1).to_string());
    // Reads are served again once it has been committed.
    group.warm(lagging, &mut reader, U);
}

#[test]
fn every_member_of_a_group_with_one_primary_serves_and_never_the_past() {
    let Some(mut group) = Group::start(true) else { return };
    for number in 0..3 {
        assert!(never_behind(&group, 0, number) > 0, "member {number} served nothing");
    }
    whoever_wants_to_wait_waits(&group, 1);
    no_near_cache_may_attach(&group);
    nothing_is_served_while_a_transaction_is_prepared(&group, 1);
    a_member_that_leaves_serves_nothing_until_it_is_back(&group, 2);
    a_secondary_that_starts_serves_although_its_self_test_cannot_write(&mut group, 2);
    an_old_primary_that_must_end_its_transactions_serves_nothing(&group);
    a_new_primary_serves_nothing_before_it_has_applied_what_the_old_one_left(&mut group);
}

#[test]
fn every_member_of_a_group_with_many_primaries_serves_and_never_the_past() {
    let Some(mut group) = Group::start(false) else { return };
    for (writes_on, reads_on) in [(0, 1), (1, 2), (2, 0), (1, 1)] {
        assert!(never_behind(&group, writes_on, reads_on) > 0, "member {reads_on} served nothing");
    }
    nothing_is_served_while_a_transaction_is_prepared(&group, 2);
    a_plugin_that_comes_back_to_a_member_serves_again(&group, 1);
    a_member_without_a_majority_shows_its_own_data_and_then_serves_nothing(&mut group);
}

/// Checks that members keep near caches out: those would go on serving while the group holds reads back.
fn no_near_cache_may_attach(group: &Group) {
    for number in 0..3 {
        let mut feed = group.client(number);
        let answer = feed.query("ATTACH FQC NEAR 'shop' PROTOCOL 5");
        let attached = rows_text(&group.client(number).must("SHOW FQC NEAR").unwrap());
        assert_eq!(attached, "", "member {number} has answered {answer:?}");
    }
}

/// Unloads the plugin of a member, which restores the table of the group's library, and loads it again. The plugin for events stays: the
/// connections between the members use it.
fn a_plugin_that_comes_back_to_a_member_serves_again(group: &Group, number: usize) {
    let mut admin = group.plain(number);
    all(&mut admin, &["UNINSTALL PLUGIN query", "UNINSTALL PLUGIN fqc"]);
    all(&mut admin, &["INSTALL PLUGIN fqc SONAME 'fqc.so'", "INSTALL PLUGIN query SONAME 'fqc.so'", SWITCH_ON]);
    group.await_online(number, 3);
    assert!(never_behind(group, 0, number) > 0);
    nothing_is_served_while_a_transaction_is_prepared(group, number);
}

/// Checks that the tests above would find an answer that the server would hold back: the plugin of these servers does not take notice when
/// the group holds reads back.
#[test]
fn a_plugin_that_ignores_what_a_group_holds_back_is_found_out() {
    let Some(mut group) = Group::start_with(true, &[("FQC_FAULT", "group:deaf")]) else { return };
    let is_found = |check: &mut dyn FnMut()| {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check));
        outcome.is_err_and(|words| words.downcast_ref::<String>().is_some_and(|words| words == ANSWERED))
    };
    // After an applier's thread has started, its first transaction keeps everything from being served. So the first try may find nothing.
    assert!((0..10).any(|_| is_found(&mut || nothing_is_served_while_a_transaction_is_prepared(&group, 2))));
    assert!(is_found(&mut || a_new_primary_serves_too_early(&mut group)));
}

fn a_member_that_leaves_serves_nothing_until_it_is_back(group: &Group, number: usize) {
    let mut writer = group.client(0);
    let mut reader = group.reader(number, &mut writer, &[]);
    let (mut admin, mut plain) = (group.plain(number), group.plain(number));
    all(&mut admin, &[LEAVE]);
    until("the obstacle", || obstacle(&mut admin).contains("member of a replication group"));
    let before = hits(&mut admin);
    all(&mut writer, &["UPDATE g.t SET v = v + 1 WHERE id = 1"]);
    (0..20).for_each(|_| assert_eq!(rows_text(&reader.must(T).unwrap()), rows_text(&plain.must(T).unwrap())));
    assert_eq!(hits(&mut admin), before);
    let written = rows_text(&group.plain(0).must(T).unwrap());
    all(&mut admin, &[JOIN]);
    let mut shown = String::new();
    until("the row", || {
        shown = rows_text(&plain.must(T).unwrap());
        let served = rows_text(&reader.must(T).unwrap());
        assert!(shown != written || served == written, "{served} was answered after {written}");
        shown == written
    });
    group.await_online(number, 3);
    group.reader(number, &mut writer, &[]);
}

fn a_secondary_that_starts_serves_although_its_self_test_cannot_write(group: &mut Group, number: usize) {
    let server = &mut group.members[number];
    server.add_argument("--super-read-only=ON");
    server.restart().unwrap();
    let mut admin = group.client(number);
    assert_eq!(rows_text(&admin.must("SELECT @@GLOBAL.super_read_only").unwrap()), "1");
    group::configure(&mut admin, &group.members, number).unwrap();
    all(&mut admin, &[JOIN]);
    group.await_online(number, 3);
    assert!(never_behind(group, 0, number) > 0);
    assert!(group.members[number].error_log().contains("the self-test has passed"));
}

/// Has another member become the primary, while a transaction is open on the old one, which has a time limit to end it.
fn an_old_primary_that_must_end_its_transactions_serves_nothing(group: &Group) {
    let mut open = group.client(0);
    let mut reader = group.reader(0, &mut open, &[]);
    all(&mut open, &["BEGIN", "UPDATE g.t SET v = v + 1"]);
    let change = |to: usize| {
        let uuid = rows_text(&group.plain_eventual(to).must("SELECT @@server_uuid").unwrap());
        let mut admin = group.plain_eventual(0);
        std::thread::spawn(move || {
            rows_text(&admin.query(format!("SELECT group_replication_set_as_primary('{uuid}', 100)")).unwrap())
        })
    };
    let changing = change(2);
    let mut plain = group.plain(0);
    until("the refusal of a read", || plain.query(U).unwrap().failure().is_some());
    (0..20).for_each(|_| assert!(reader.query(U).unwrap().failure().is_some(), "a read was answered"));
    all(&mut open, &["ROLLBACK"]);
    let outcome = changing.join().unwrap();
    assert!(group.members[0].error_log().contains("the change of the primary is over"));
    assert!(!outcome.contains("error"), "{outcome}");
    group.await_online(0, 3);
    assert!(never_behind(group, 2, 0) > 0);
    assert!(never_behind(group, 2, 2) > 0);
    let outcome = change(0).join().unwrap();
    assert!(!outcome.contains("error"), "{outcome}");
    assert!(never_behind(group, 0, 1) > 0);
}

/// A new primary that has not applied all transactions of the old one yet.
struct Elected {
    /// Holds one of these transactions back.
    holder: Client,
    /// A session that would be held back, with its number in the process list, and for which both reads are stored.
    reader: Client,
    thread: u64,
    /// A session that is not held back before it changes its level, with its number in the process list.
    changing: Client,
    changing_thread: u64,
    /// A session that is not held back, and is never served.
    eventual: Client,
    /// The value in `g.t` without the transaction that is held back.
    old: u64,
}

impl Elected {
    /// Kills the primary while one of its transactions is held back on the next one, and waits for the election.
    fn new(group: &mut Group) -> Elected {
        let mut writer = group.client(0);
        let mut reader = group.reader(NEXT, &mut writer, &[]);
        let thread = id(&mut reader);
        let mut changing = group.reader(NEXT, &mut writer, &["SET SESSION group_replication_consistency = 'EVENTUAL'"]);
        let changing_thread = id(&mut changing);
        let mut eventual = group.plain_eventual(NEXT);
        let old = number(&mut eventual, T);
        let holder = group.hold_back(NEXT, "t");
        all(&mut writer, &["UPDATE g.t SET v = v + 1 WHERE id = 1"]);
        group.members[0].kill9().unwrap();
        let role =
            "SELECT MEMBER_ROLE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid";
        until("the election", || rows_text(&eventual.must(role).unwrap()) == "PRIMARY");
        Elected { holder, reader, thread, changing, changing_thread, eventual, old }
    }
}

/// Checks that sessions that would wait on a new primary are not served before it has applied all transactions of the old one. Sessions that
/// would not wait go on, with what the member has applied.
fn a_new_primary_serves_nothing_before_it_has_applied_what_the_old_one_left(group: &mut Group) {
    let Elected { holder, reader, thread, mut changing, changing_thread, mut eventual, old } = Elected::new(group);
    let before = hits(&mut eventual);
    assert_eq!(number(&mut eventual, T), old);
    (0..20).for_each(|_| assert!(number(&mut changing, U) > 0));
    all(&mut changing, &[WOULD_WAIT]);
    let changed = send(changing_thread, changing, U);
    changed.await_held(&mut eventual);
    let waiting = send(thread, reader, U);
    waiting.await_held(&mut eventual);
    assert_eq!(hits(&mut eventual), before);
    drop(holder);
    changed.answer();
    let (_, mut reader) = waiting.answer();
    // The view change of the group may keep reads from being served as well, so the log shows that the election did.
    let says = |words: &str| group.members[NEXT].error_log().contains(words);
    assert!(says("this member was elected as the primary: nothing is served"));
    until("the end of the election", || says("this member has applied what an old primary left"));
    until("the row", || number(&mut eventual, T) == old + 1);
    assert_eq!(number(&mut reader, T), old + 1);
    group.await_online(NEXT, 2);
    let mut writer = group.client(NEXT);
    until("writes", || writer.query("UPDATE g.t SET v = v + 1").unwrap().failure().is_none());
    assert!(never_behind(group, NEXT, 2) > 0);
    assert!(never_behind(group, NEXT, NEXT) > 0);
}

/// Has a new primary serve a read that the server would hold back, where the plugin takes no notice of the election. The result is stored
/// by a session that is not held back, and then this session changes its level.
fn a_new_primary_serves_too_early(group: &mut Group) {
    let Elected { holder: _holder, mut changing, changing_thread, mut eventual, .. } = Elected::new(group);
    let before = hits(&mut eventual);
    until("a hit", || number(&mut changing, U) > 0 && hits(&mut eventual) > before);
    all(&mut changing, &[WOULD_WAIT]);
    send(changing_thread, changing, U).await_held(&mut eventual);
}

/// Kills two of three members. The last one answers with its own data, cached or not, until the plugin notices that there is no majority. A
/// session that wants to wait for the others waits.
fn a_member_without_a_majority_shows_its_own_data_and_then_serves_nothing(group: &mut Group) {
    const LAST: usize = 1;
    let mut writer = group.client(0);
    let mut reader = group.reader(LAST, &mut writer, &[]);
    let mut waits = group.client(LAST);
    let thread = id(&mut waits);
    let mut plain = group.plain_eventual(LAST);
    let old = number(&mut plain, T);
    all(&mut waits, &["SET SESSION group_replication_consistency = 'BEFORE'"]);
    for lost in [0, 2] {
        group.members[lost].kill9().unwrap();
    }
    let waiting = send(thread, waits, T);
    let lost = "SELECT COUNT(*) FROM performance_schema.replication_group_members WHERE MEMBER_STATE = 'UNREACHABLE'";
    until("the loss of the majority", || {
        assert_eq!(number(&mut reader, T), old);
        number(&mut plain, lost) == 2
    });
    until("the obstacle", || {
        assert_eq!(number(&mut reader, T), old);
        obstacle(&mut plain).contains("not ONLINE among a majority")
    });
    waiting.await_held(&mut plain);
    let before = hits(&mut plain);
    (0..20).for_each(|_| assert_eq!(number(&mut reader, T), number(&mut plain, T)));
    assert_eq!(hits(&mut plain), before);
    // The administrator declares that the last member is the group.
    let address = format!("127.0.0.1:{}", group.members[LAST].port());
    all(&mut plain, &[&format!("SET GLOBAL group_replication_force_members = '{address}'")]);
    group.await_online(LAST, 1);
    assert_eq!(waiting.answer().0, old.to_string());
    assert!(never_behind(group, LAST, LAST) > 0);
}
