//! A server connection for tests, without a server: the tests send commands, and play the server by reports and prepared
//! responses. Tables `t` and `u` of database `d` have a key column `id`.

#![allow(dead_code, reason = "not every test uses all of it")]

use flavour::{Flavour, MARIADB};
use footprint::KeyColumn;
use session::{
    Account, ClientOutput, Decision, EarlierStatements, Engine, InitialState, Reply, Report, Session, SessionState,
    Verdict, Views,
};
use std::sync::atomic::{AtomicU32, Ordering};
use wire::{ok_packet, status, surface::text_result};

/// Status flags of a response outside of transactions.
pub const AUTOCOMMIT: u16 = status::AUTOCOMMIT;
/// Status flags of a response in an open transaction.
pub const IN_TRANS: u16 = status::AUTOCOMMIT | status::IN_TRANS;
pub const REPEATABLE_READ: i32 = 2;
pub const READ_COMMITTED: i32 = 1;

/// The client's end of the connection: the last answer that the engine has sent itself. Empty if there was none.
#[derive(Default)]
pub struct Client(pub Vec<u8>);

impl ClientOutput for Client {
    fn deliver(&mut self, pieces: &[&[u8]]) {
        self.0 = pieces.concat();
    }
}

/// The key column of the tables of the tests: `id INT AUTO_INCREMENT PRIMARY KEY`, their first column.
pub fn key() -> KeyColumn {
    let plain = KeyColumn::new(b"id".to_vec(), i32::MIN.into(), i32::MAX.into());
    KeyColumn { position: Some(0), is_generated: true, is_sole: true, ..plain }
}

/// An engine for MariaDB that is awake, has memory and knows tables `t` and `u`. Its clock stands still.
pub fn engine() -> Engine {
    engine_at(|| 0)
}

/// An engine for MariaDB that is awake, has memory and knows tables `t` and `u`. `clock` returns its time in
/// nanoseconds.
pub fn engine_at(clock: fn() -> u64) -> Engine {
    engine_of(&MARIADB, clock)
}

/// An engine for this product that is awake, has memory and knows tables `t` and `u`. `clock` returns its time in
/// nanoseconds.
pub fn engine_of(flavour: &'static Flavour, clock: fn() -> u64) -> Engine {
    let engine = Engine::new(flavour, clock);
    engine.cache().resize(1 << 20);
    engine.settings().set_size(1 << 20);
    engine.settings().switch(true);
    EarlierStatements::wake(&engine).end(&engine);
    engine.settings().set_limit(1 << 20);
    engine.settings().set_defers_begin(true);
    engine.settings().set_has_case_sensitive_names(true);
    engine.settings().set_tracks_rows(true);
    let generation = engine.catalogue().generation();
    engine.catalogue().publish(Views::new(generation, false, []));
    for name in [b"t", b"u"] {
        let table = engine.tables().find(engine.versions(), b"d", name);
        table.set_verdict(table.era(generation), Verdict::Snapshot);
        table.set_key(table.era(generation), Some(key()));
    }
    engine
}

/// A connection to the engine, with the client's and the server's end.
pub struct Talk<'a> {
    pub engine: &'a Engine,
    pub session: Session,
    pub client: Client,
    /// The connection id that the server has given.
    pub number: u32,
}

/// The connection id of the next connection.
static GREETED: AtomicU32 = AtomicU32::new(1);

/// The packet of the server's greeting for the connection with this id.
pub fn greeting(number: u32) -> Vec<u8> {
    let start = [&b"\x0a10.11.0\0"[..], &number.to_le_bytes(), b"12345678\0", &[0; 2], &[45], &2_u16.to_le_bytes()];
    let payload = [&start.concat()[..], &[0; 2], &[21], &[0; 10], b"123456789012\0"].concat();
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &payload);
    packet
}

/// The report that a statement locks this table of database `d`.
pub fn locked(name: &[u8], is_read_only: bool) -> Report<'_> {
    Report::Locked { db: b"d", name, is_read_only }
}

/// The report that a statement has ended, and left the session in this state.
pub fn ended(state: SessionState<'_>) -> Report<'_> {
    Report::Ended { state, executed: b"" }
}

/// The state of a session outside of transactions, as it is reported at the end of a statement. The cache is on for it.
pub fn state() -> SessionState<'static> {
    SessionState {
        isolation: REPEATABLE_READ,
        in_lock_tables: false,
        database: Some(b"d"),
        collation: 45,
        cache_type: 1,
        is_trial: false,
        is_read_only: false,
        must_run: false,
        has_begun: false,
        autocommit: true,
    }
}

/// A new connection whose login is done, outside of transactions.
pub fn connect(engine: &Engine) -> Talk<'_> {
    connect_at(engine, REPEATABLE_READ)
}

/// A new connection whose login is done, outside of transactions, with this isolation level in the server's numbering.
pub fn connect_at(engine: &Engine, isolation: i32) -> Talk<'_> {
    begin(engine, isolation, b"10.0.0.1")
}

/// A new connection from this client address whose login is done, outside of transactions.
pub fn connect_from<'a>(engine: &'a Engine, address: &[u8]) -> Talk<'a> {
    begin(engine, REPEATABLE_READ, address)
}

/// A new connection whose login is done. Does not note the initial settings of new sessions: unless an earlier
/// connection did, the engine queries the server for them.
pub fn connect_unmet(engine: &Engine) -> Talk<'_> {
    enter(engine, REPEATABLE_READ, b"10.0.0.1")
}

/// Notes the usual initial settings of new sessions in the engine, and connects.
fn begin<'a>(engine: &'a Engine, isolation: i32, address: &[u8]) -> Talk<'a> {
    engine.settings().note_initial_state(
        engine.settings().inherited(),
        InitialState { parses_as_usual: true, ..InitialState::default() },
    );
    enter(engine, isolation, address)
}

fn enter<'a>(engine: &'a Engine, isolation: i32, address: &[u8]) -> Talk<'a> {
    let mut session = Session::accepted(engine.flavour(), engine.settings().inherited());
    let number = GREETED.fetch_add(1, Ordering::Relaxed);
    session.on_greeting(engine, &greeting(number));
    let state = SessionState { isolation, ..state() };
    let account = Account { user: b"u".to_vec(), host: b"%".to_vec(), address: address.to_vec() };
    session.report(engine, Report::Connected { account, state });
    session.report(engine, ended(state));
    Talk { engine, session, client: Client::default(), number }
}

/// The packet of a query with this text.
pub fn packet(text: &str) -> Vec<u8> {
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut 0, &[b"\x03", text.as_bytes()].concat());
    packet
}

/// A response with one column and one row, which has this value, and with these status flags.
pub fn rows(value: &str, flags: u16) -> Vec<u8> {
    text_result(&["v"], &[vec![Some(value.to_owned())]], 0, flags)
}

impl Talk<'_> {
    /// Sends a query, and returns the engine's decision. An answer from the cache is then in `client`.
    pub fn ask(&mut self, text: &str) -> Decision {
        self.client.0.clear();
        self.session.on_command(self.engine, &packet(text), &mut self.client)
    }

    /// Sends bytes of the server's response, and returns what the client gets of them. Then calls `after_send`, so that a
    /// result is stored.
    pub fn reply(&mut self, response: &[u8]) -> Reply {
        let reply = self.session.on_response(self.engine, response);
        self.session.after_send(self.engine);
        reply
    }

    /// Runs a read of table `t` on the server, which answers with this value and these status flags. Panics if the engine does
    /// not forward it.
    pub fn read(&mut self, text: &str, value: &str, flags: u16) {
        assert_eq!(self.ask(text), Decision::Forward, "{text}");
        self.session.report(self.engine, locked(b"t", true));
        assert_eq!(self.reply(&rows(value, flags)), Reply::Send);
    }

    /// Runs a write of table `t` on the server, which answers that one row has changed, with these status flags. Panics if the
    /// engine does not forward it.
    pub fn write(&mut self, text: &str, flags: u16) {
        assert_eq!(self.ask(text), Decision::Forward, "{text}");
        self.session.report(self.engine, locked(b"t", false));
        assert_eq!(self.reply(&ok_packet(1, 1, 0, flags, 0)), Reply::Send);
    }

    /// Runs a statement on the server that locks no table, and is answered with these status flags. Panics if the engine does
    /// not forward it.
    pub fn run(&mut self, text: &str, flags: u16) {
        assert_eq!(self.ask(text), Decision::Forward, "{text}");
        assert_eq!(self.reply(&ok_packet(1, 0, 0, flags, 0)), Reply::Send);
    }

    /// Sends a query. True if it was answered from the cache; otherwise it has been forwarded and its response is awaited.
    pub fn is_served(&mut self, text: &str) -> bool {
        self.ask(text) == Decision::Answered
    }
}
