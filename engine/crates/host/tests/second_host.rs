//! Tests the engine in a host that knows nothing of a server's process.

mod played;

use flavour::{Flavour, MARIADB, MYSQL};
use host::{Link, Row, catalogue};
use played::{Host, Played, engine_of};
use session::Engine;
use wire::Command;

const READ: &str = "SELECT v FROM t WHERE id = 7";
const ANOTHER_READ: &str = "SELECT v FROM u WHERE id = 7";

const PRODUCTS: [&Flavour; 2] = [&MARIADB, &MYSQL];

#[test]
fn a_read_that_the_server_has_run_is_served_until_its_row_is_written() {
    PRODUCTS.into_iter().for_each(serves_until_its_row_is_written);
}

fn serves_until_its_row_is_written(flavour: &'static Flavour) {
    let engine = engine_of(flavour);
    let mut host = Host::connected(&engine);
    host.server_runs(READ, "one");
    catalogue::look_up_requested(&engine, &mut Played).expect("the table is known");
    assert!(host.serves(READ, "one"));
    host.server_writes("UPDATE t SET v = 'two' WHERE id = 8");
    assert!(host.serves(READ, "one"), "another row was written");
    host.server_writes("UPDATE t SET v = 'two' WHERE id = 7");
    host.server_runs(READ, "two");
    assert!(host.serves(READ, "two"));
}

/// This link begins and ends a change of a global setting right after a table's columns were queried, so before its key column is.
struct Interrupted<'a>(&'a Engine);

impl Link for Interrupted<'_> {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        let rows = Played.query(text);
        if text.starts_with("SELECT COLUMN_NAME") {
            self.0.settings().begin_change();
            self.0.settings().end_change();
        }
        rows
    }
}

/// This link has another client read table `u` during its first query, that is, while table `t` is looked up.
struct ConcurrentReader<'a>(Option<Host<'a>>);

impl Link for ConcurrentReader<'_> {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        if let Some(mut host) = self.0.take() {
            host.ask(ANOTHER_READ);
            host.server_reads().expect("the server runs it");
            host.server_answers_read_of("u", ANOTHER_READ, "one");
        }
        Played.query(text)
    }
}

#[test]
fn a_result_that_comes_while_other_tables_are_looked_up_waits_for_its_own() {
    let engine = engine_of(&MARIADB);
    Host::connected(&engine).server_runs(READ, "one");
    let mut beside = ConcurrentReader(Some(Host::connected(&engine)));
    catalogue::look_up_requested(&engine, &mut beside).expect("the first table is known");
    catalogue::look_up_requested(&engine, &mut Played).expect("the second table is known");
    assert!(Host::connected(&engine).serves(ANOTHER_READ, "one"));
}

#[test]
fn a_table_whose_key_could_not_be_asked_for_is_asked_about_again() {
    let engine = engine_of(&MARIADB);
    Host::connected(&engine).server_runs(READ, "one");
    catalogue::look_up_requested(&engine, &mut Interrupted(&engine)).expect("what was given up is no failure");
    catalogue::look_up_wanted(&engine, &mut Played).expect("the catalogue is known");
    let mut host = Host::connected(&engine);
    host.server_runs(READ, "one");
    catalogue::look_up_requested(&engine, &mut Played).expect("the table is known");
    assert!(host.serves(READ, "one"));
    host.server_writes("UPDATE t SET v = 'two' WHERE id = 8");
    assert!(host.serves(READ, "one"), "another row was written");
}

#[test]
fn connections_share_what_is_stored() {
    PRODUCTS.into_iter().for_each(shares_what_is_stored);
}

fn shares_what_is_stored(flavour: &'static Flavour) {
    let engine = engine_of(flavour);
    let (mut one, mut other) = (Host::connected(&engine), Host::connected(&engine));
    one.server_runs(READ, "one");
    catalogue::look_up_requested(&engine, &mut Played).expect("the table is known");
    assert!(other.serves(READ, "one"));
}

/// Connects a client, and has the server run `READ`, whose result the engine stores.
fn stored(engine: &Engine) -> Host<'_> {
    let mut host = Host::connected(engine);
    host.server_runs(READ, "one");
    catalogue::look_up_requested(engine, &mut Played).expect("the table is known");
    host
}

#[test]
fn executions_with_attributes_agreed_on_are_served() {
    let engine = engine_of(&MYSQL);
    let mut host = stored(&engine);
    host.server_prepares(1, "SELECT v FROM t WHERE id = ?");
    host.server_executes(1, 7, "one");
    assert!(host.serves_execution(1, 7, "one"));
    assert!(!host.serves_execution(1, 8, "one"));
}

#[test]
fn a_statement_with_attributes_runs_on_the_server() {
    let engine = engine_of(&MYSQL);
    let mut host = stored(&engine);
    let attribute = [&[1, 1, 0, 1, 0xfe, 0, 1, b'n', 1, b'v'][..], READ.as_bytes()].concat();
    host.send(Command::Query, &attribute);
    assert_eq!(host.server_reads().as_deref(), Some(READ));
    host.server_answers_read(READ, "two");
    let refused = engine.reasons().list().into_iter().find(|reason| reason.name == "query_attributes");
    assert_eq!(refused.map(|reason| reason.count), Some(1));
    assert!(host.serves(READ, "one"), "what it said is not kept");
}

#[test]
fn the_server_never_sees_what_it_has_lost() {
    let engine = engine_of(&MYSQL);
    let mut host = stored(&engine);
    for text in ["FLUSH QUERY CACHE", "RESET QUERY CACHE"] {
        host.ask(text);
        assert_eq!(host.server_reads().as_deref(), MYSQL.statements.query_cache_test, "{text}");
        host.server_agrees();
    }
    host.ask("SHOW FQC STATUS");
    assert_eq!(host.server_reads().as_deref(), Some(MYSQL.statements.process_test));
    host.server_agrees();
    const HINTED: &str = "SELECT SQL_CACHE v FROM t WHERE id = 7";
    host.ask(HINTED);
    assert_eq!(host.server_reads().as_deref(), Some("SELECT           v FROM t WHERE id = 7"));
    host.server_answers_read("", "one");
    assert!(host.serves(HINTED, "one"));
}

#[test]
fn after_a_reset_the_server_is_asked_before_anything_is_served() {
    let engine = engine_of(&MYSQL);
    let mut host = stored(&engine);
    host.send(Command::ResetConnection, b"");
    assert!(host.server_reads().is_some());
    host.server_agrees();
    host.ask(READ);
    let question = host.server_reads().expect("a question");
    assert!(question.starts_with("SELECT FOUND_ROWS(), @@GLOBAL.init_connect, @@SESSION.sql_mode"), "{question}");
}

#[test]
fn a_result_that_waits_for_its_table_is_outdated_by_a_write() {
    let engine = engine_of(&MARIADB);
    let mut host = Host::connected(&engine);
    host.server_runs(READ, "one");
    host.server_writes("UPDATE t SET v = 'two' WHERE id = 7");
    catalogue::look_up_requested(&engine, &mut Played).expect("the table is known");
    host.server_runs(READ, "two");
    assert!(host.serves(READ, "two"));
}
