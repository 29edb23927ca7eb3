//! One connection from the outside: commands in, decisions out, with the server's part played by its own packets.

use session::{Account, Decision, Engine, Facts, Outlet, Reply, Session, ThreadFacts, Verdict};
use wire::{ok_packet, status, surface::text_result};

const AUTOCOMMIT: u16 = status::AUTOCOMMIT;
const IN_TRANS: u16 = status::AUTOCOMMIT | status::IN_TRANS;
const REPEATABLE_READ: i32 = 2;
const READ_COMMITTED: i32 = 1;

#[derive(Default)]
struct Client(Vec<u8>);

impl Outlet for Client {
    fn deliver(&mut self, pieces: &[&[u8]]) {
        self.0 = pieces.concat();
    }
}

fn engine() -> Engine {
    let engine = Engine::new(|| 0);
    engine.cache.resize(1 << 20);
    engine.settings.switch(true);
    engine.settings.set_limit(1 << 20);
    engine.settings.set_defers_begin(true);
    engine.settings.set_tells_case(true);
    let generation = engine.catalogue.generation();
    engine.catalogue.publish(Facts { generation, ..Facts::default() });
    for name in [b"t", b"u"] {
        let table = engine.tables.find(&engine.versions, b"d", name);
        table.settle(table.era(generation), Verdict::Snapshot);
    }
    engine
}

struct Talk<'a> {
    engine: &'a Engine,
    session: Session,
    client: Client,
}

fn connect(engine: &Engine) -> Talk<'_> {
    connect_at(engine, REPEATABLE_READ)
}

fn connect_at(engine: &Engine, isolation: i32) -> Talk<'_> {
    let mut session = Session::accepted(engine.settings.inherited());
    let facts = ThreadFacts {
        isolation,
        in_lock_tables: false,
        database: b"d",
        collation: 45,
        cache_type: 1,
        is_read_only: false,
        is_null_magic: false,
        has_begun: false,
    };
    session.on_connected(engine, Account { user: b"u".to_vec(), host: b"%".to_vec() }, &facts);
    session.on_status(engine, &facts);
    Talk { engine, session, client: Client::default() }
}

fn packet(text: &str) -> Vec<u8> {
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &[b"\x03", text.as_bytes()].concat());
    packet
}

fn rows(value: &str, flags: u16) -> Vec<u8> {
    text_result(&["v"], &[vec![Some(value.to_owned())]], 0, flags)
}

impl Talk<'_> {
    fn ask(&mut self, text: &str) -> Decision {
        self.client.0.clear();
        self.session.on_command(self.engine, &packet(text), &mut self.client)
    }

    fn reply(&mut self, response: &[u8]) -> Reply {
        let reply = self.session.on_response(self.engine, response);
        self.session.after_send(self.engine);
        reply
    }

    /// The server runs a read of table `t`.
    fn read(&mut self, text: &str, value: &str, flags: u16) {
        assert_eq!(self.ask(text), Decision::Forward, "{text}");
        self.session.on_table(self.engine, b"d", b"t", true);
        assert_eq!(self.reply(&rows(value, flags)), Reply::Send);
    }

    fn write(&mut self, text: &str, flags: u16) {
        assert_eq!(self.ask(text), Decision::Forward, "{text}");
        self.session.on_table(self.engine, b"d", b"t", false);
        assert_eq!(self.reply(&ok_packet(1, 1, 0, flags, 0)), Reply::Send);
    }

    fn run(&mut self, text: &str, flags: u16) {
        assert_eq!(self.ask(text), Decision::Forward, "{text}");
        assert_eq!(self.reply(&ok_packet(1, 0, 0, flags, 0)), Reply::Send);
    }

    fn is_served(&mut self, text: &str) -> bool {
        self.ask(text) == Decision::Answered
    }
}

const READ: &str = "SELECT v FROM t WHERE id = 1";

#[test]
fn a_repeated_read_is_served_to_every_session_of_the_account() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ) && b.is_served(READ));
    assert_eq!(b.client.0, rows("one", AUTOCOMMIT));
}

#[test]
fn a_write_makes_the_read_run_again() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    assert!(!a.is_served(READ));
}

#[test]
fn nothing_is_served_while_a_write_is_in_flight() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("UPDATE t SET v = 'two'");
    b.session.on_table(&engine, b"d", b"t", false);
    assert!(!a.is_served(READ));
}

#[test]
fn a_commit_closes_what_its_transaction_has_written() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    b.run("START TRANSACTION READ WRITE", IN_TRANS);
    b.write("UPDATE t SET v = 'two'", IN_TRANS);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ), "nothing has been committed");
    assert!(!b.is_served(READ), "the transaction sees its own write");
    b.reply(&rows("two", IN_TRANS));
    assert_eq!(b.ask("COMMIT"), Decision::Forward);
    assert!(!a.is_served(READ), "the commit is on its way");
    b.reply(&ok_packet(1, 0, 0, AUTOCOMMIT, 0));
    assert!(!a.is_served(READ), "the commit has happened");
}

#[test]
fn a_result_is_not_stored_if_its_table_changed_meanwhile() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    assert_eq!(a.ask(READ), Decision::Forward);
    a.session.on_table(&engine, b"d", b"t", true);
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    a.reply(&rows("one", AUTOCOMMIT));
    assert!(!a.is_served(READ));
}

#[test]
fn a_deferred_begin_opens_the_snapshot_at_the_first_served_read() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served("BEGIN"));
    assert_eq!(a.client.0, ok_packet(1, 0, 0, IN_TRANS, 0));
    let Decision::Inject(first) = a.ask(READ) else { panic!("the server must open its snapshot") };
    assert_eq!(first, packet("START TRANSACTION WITH CONSISTENT SNAPSHOT"));
    assert_eq!(a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0)), Reply::Swallow);
    assert!(a.is_served(READ));
    assert_eq!(a.client.0, rows("one", IN_TRANS), "the flags are this session's own");
    b.write("UPDATE t SET v = 'two'", AUTOCOMMIT);
    b.read(READ, "two", AUTOCOMMIT);
    assert!(!a.is_served(READ), "newer than the snapshot");
    assert!(b.is_served(READ));
}

#[test]
fn a_deferred_begin_reaches_the_server_before_a_write() {
    let engine = engine();
    let mut a = connect(&engine);
    assert!(a.is_served("BEGIN"));
    assert_eq!(a.ask("UPDATE t SET v = 'two'"), Decision::Inject(packet("BEGIN")));
    assert_eq!(a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0)), Reply::Swallow);
    a.write("UPDATE t SET v = 'two'", IN_TRANS);
}

#[test]
fn read_committed_is_served_in_transactions_but_for_own_writes() {
    let engine = engine();
    let mut a = connect_at(&engine, READ_COMMITTED);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served("BEGIN") && a.is_served(READ));
    assert!(matches!(a.ask("UPDATE t SET v = 'two'"), Decision::Inject(_)));
    a.reply(&ok_packet(1, 0, 0, IN_TRANS, 0));
    a.write("UPDATE t SET v = 'two'", IN_TRANS);
    assert!(!a.is_served(READ));
}

#[test]
fn settings_that_change_results_divide_sessions() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.run("SET time_zone = '+03:00'", AUTOCOMMIT);
    assert!(!b.is_served(READ));
    b.session.on_table(&engine, b"d", b"t", true);
    b.reply(&rows("three", AUTOCOMMIT));
    assert!(b.is_served(READ) && a.is_served(READ));
    a.run("SET time_zone = '+03:00'", AUTOCOMMIT);
    assert!(a.is_served(READ));
    assert_eq!(a.client.0, rows("three", AUTOCOMMIT), "the same settings share");
}

#[test]
fn found_rows_after_a_served_read_are_told_to_the_server_first() {
    let engine = engine();
    let mut a = connect(&engine);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ));
    assert!(matches!(a.ask("SELECT FOUND_ROWS()"), Decision::Inject(_)));
    assert_eq!(a.reply(&rows("1", AUTOCOMMIT)), Reply::Swallow);
    assert_eq!(a.ask("SELECT FOUND_ROWS()"), Decision::Forward);
}

#[test]
fn a_statement_that_is_not_understood_closes_everything() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("FROBNICATE t");
    assert!(!a.is_served(READ));
}

#[test]
fn a_statement_refused_for_its_syntax_leaves_the_cache_alone() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    a.read(READ, "one", AUTOCOMMIT);
    b.ask("FROBNICATE t");
    b.reply(&wire::ErrPacket::build(1, 1064, b"42000", "You have an error in your SQL syntax"));
    assert!(a.is_served(READ));
}

#[test]
fn a_connection_that_ends_in_mid_commit_lets_go_of_its_tables() {
    let engine = engine();
    let (mut a, mut b) = (connect(&engine), connect(&engine));
    b.run("START TRANSACTION READ WRITE", IN_TRANS);
    b.write("UPDATE t SET v = 'two'", IN_TRANS);
    b.ask("COMMIT");
    b.session.on_close(&engine);
    a.read(READ, "two", AUTOCOMMIT);
    assert!(a.is_served(READ));
}

#[test]
fn results_with_warnings_and_of_views_are_not_stored() {
    let engine = engine();
    let mut a = connect(&engine);
    assert_eq!(a.ask(READ), Decision::Forward);
    a.session.on_table(&engine, b"d", b"t", true);
    let mut response = rows("one", AUTOCOMMIT);
    let warnings_at = response.len() - 4;
    response[warnings_at] = 1;
    a.reply(&response);
    assert!(!a.is_served(READ));
    let views = [b"v".to_vec()].into_iter().collect();
    engine.catalogue.publish(Facts { generation: engine.catalogue.generation(), views });
    a.reply(&rows("one", AUTOCOMMIT));
    assert!(!a.is_served(READ), "its column has the name of a view");
}

#[test]
fn a_read_under_set_transaction_runs_on_the_server() {
    let engine = engine();
    let mut a = connect(&engine);
    a.read(READ, "one", AUTOCOMMIT);
    a.run("SET TRANSACTION READ ONLY", AUTOCOMMIT);
    a.read(READ, "one", AUTOCOMMIT);
    assert!(a.is_served(READ), "the read has used it up");
}
