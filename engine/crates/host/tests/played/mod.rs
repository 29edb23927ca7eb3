//! A host for tests: one connection over a pair of sockets, with a simulated server. Nothing of a server's process is involved.

#![allow(dead_code, reason = "not every test uses all of it")]

use flavour::{Flavour, MARIADB, MYSQL};
use host::{Connection, Io, Link, Row, catalogue};
use session::{Account, EarlierStatements, Engine, Report, SessionState};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use wire::{Command, Query, capability, ok_packet, status, surface::text_result};

/// Returns the capabilities that client and simulated server agree on.
fn capabilities(flavour: &Flavour) -> u64 {
    let own = if *flavour == MYSQL { capability::MYSQL | capability::QUERY_ATTRIBUTES } else { 0 };
    capability::PROTOCOL_41 | capability::SECURE_CONNECTION | own
}

/// The host's socket to the client. It never blocks, so that tests see when the server gets nothing.
struct Socket(UnixStream);

impl Io for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> isize {
        self.0.read(buffer).map_or(-1, |count| count as isize)
    }

    fn peek(&mut self, _: &mut [u8]) -> isize {
        unreachable!("this host reads ahead")
    }

    fn write(&mut self, bytes: &[u8]) -> isize {
        self.0.write(bytes).map_or(-1, |count| count as isize)
    }

    fn try_write(&mut self, pieces: &[&[u8]]) -> usize {
        self.0.write(&pieces.concat()).unwrap_or(0)
    }

    fn learn_to_wait(&mut self) -> bool {
        false
    }

    fn read_patiently(&mut self, buffer: &mut [u8]) -> isize {
        self.read(buffer)
    }

    fn would_block(&mut self) -> bool {
        false
    }

    fn wait_writable(&mut self, _: i32) -> bool {
        false
    }
}

/// A link to the catalogue of a server with one table, `d.t (id INT PRIMARY KEY, v INT)`. It gives the same answers for any other table.
pub struct Played;

impl Link for Played {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        let [numbers, waits] = if text.contains("gtid_next") { ["AUTOMATIC", "EVENTUAL"] } else { ["0"; 2] };
        let settings = ["STRICT_TRANS_TABLES", "", "enabled=off", "0", "OFF", "1", numbers, waits];
        let answers: [(&str, &[&[&str]]); 8] = [
            ("SELECT @@GLOBAL.sql_mode", &[&settings]),
            ("SELECT @@GLOBAL.default_password_lifetime", &[&["1"]]),
            ("SHOW DATABASES", &[&["d"]]),
            ("SELECT ENGINE, TABLE_TYPE", &[&["InnoDB", "BASE TABLE"]]),
            ("SELECT COLUMN_NAME", &[&["id", "int", "int(11)", "PRI", ""], &["v", "int", "int(11)", "", ""]]),
            ("SELECT User FROM", &[]),
            ("SELECT ", &[]),
            ("SHOW ", &[]),
        ];
        let (_, rows) = answers.iter().find(|(start, _)| text.starts_with(start)).ok_or(text)?;
        Ok(rows.iter().map(|row| row.iter().map(|value| Some(value.as_bytes().to_vec())).collect()).collect())
    }
}

/// Returns an engine for MariaDB that is awake, with 1 MiB for results and `fqc_type` ON.
pub fn engine() -> Engine {
    engine_of(&MARIADB)
}

/// Returns an engine that is awake, with 1 MiB for results and `fqc_type` ON. It knows what new sessions start with, and that there are no
/// views.
pub fn engine_of(flavour: &'static Flavour) -> Engine {
    let engine = Engine::new(flavour, || 0);
    let settings = engine.settings();
    settings.set_size(1 << 20);
    settings.set_limit(1 << 20);
    settings.set_global_type(1);
    settings.set_has_case_sensitive_names(true);
    settings.set_tracks_rows(true);
    settings.switch(true);
    engine.cache().resize(1 << 20);
    EarlierStatements::wake(&engine).end(&engine);
    catalogue::look_up_wanted(&engine, &mut Played).expect("the catalogue is known");
    engine
}

/// The host between one client and a simulated server. `report`, `answer` and the methods named `server_...` play the server, the others
/// the client.
pub struct Host<'a> {
    engine: &'a Engine,
    connection: Connection,
    socket: Socket,
    client: UnixStream,
}

impl Host<'_> {
    /// Connects a client to a simulated server, and logs it in.
    pub fn connected(engine: &Engine) -> Host<'_> {
        let (client, socket) = UnixStream::pair().expect("two sockets");
        [&client, &socket].into_iter().for_each(|one| one.set_nonblocking(true).expect("neither waits"));
        let connection = Connection::accepted(engine.flavour(), engine.settings().inherited(), false);
        let mut host = Host { engine, connection, socket: Socket(socket), client };
        host.answer(&packet(0, &greeting(engine.flavour())));
        host.received();
        host.client.write_all(&packet(1, &hello(engine.flavour()))).expect("the host takes it");
        assert!(host.server_reads().is_some());
        let account = Account { user: b"u".to_vec(), host: b"%".to_vec(), address: b"10.0.0.1".to_vec() };
        host.report(Report::Connected { account, state: state() });
        host.report(Report::Ended { state: state(), executed: b"" });
        host.answer(&ok_packet(2, 0, 0, status::AUTOCOMMIT, 0));
        host.received();
        host
    }

    /// Sends a query from the client. The host handles it only when the server reads (`server_reads`).
    pub fn ask(&mut self, text: &str) {
        self.send_packet(&Query::packet(text.as_bytes(), self.capabilities()));
    }

    fn capabilities(&self) -> u64 {
        capabilities(self.engine.flavour())
    }

    /// Sends any command from the client: the command's byte, and what follows it. The host handles it only when the server reads.
    pub fn send(&mut self, command: Command, body: &[u8]) {
        self.send_packet(&packet(0, &[&[command as u8], body].concat()));
    }

    fn send_packet(&mut self, packet: &[u8]) {
        self.client.write_all(packet).expect("the host takes it");
    }

    /// Has the server read a command. Returns its text if it is a query, or else what follows the command's byte. None if nothing reaches
    /// the server, as when the client's command was answered from the cache.
    pub fn server_reads(&mut self) -> Option<String> {
        let mut bytes = vec![0; 4096];
        let mut filled = 0;
        loop {
            let count = self.connection.read(self.engine, &mut self.socket, &mut bytes[filled..]);
            filled += usize::try_from(count).ok()?;
            if let Some(packet) = wire::Packet::parse(&bytes[..filled]) {
                let body = &packet.payload[1..];
                let query =
                    Query::parse(body, self.capabilities()).filter(|_| packet.payload[0] == Command::Query as u8);
                return Some(String::from_utf8_lossy(query.map_or(body, |query| query.text)).into_owned());
            }
        }
    }

    /// Passes a report of the server to the session. From another thread, because a server may use any thread for that.
    pub fn report(&mut self, report: Report) {
        let (session, engine) = (&mut self.connection.session, self.engine);
        thread::scope(|scope| scope.spawn(move || session.report(engine, report)).join().expect("it was taken"));
    }

    /// Has the server send a response. The whole of it must be taken by the host, which may hide it from the client.
    pub fn answer(&mut self, response: &[u8]) {
        let count = self.connection.write(self.engine, &mut self.socket, response);
        assert_eq!(usize::try_from(count), Ok(response.len()));
    }

    /// Returns the bytes that have reached the client since the last call; empty if there are none.
    pub fn received(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        let count = self.client.read(&mut bytes).unwrap_or(0);
        bytes.truncate(count);
        bytes
    }

    /// Has the client send a read of table `t`, and the server run it. The result is one row with this value.
    pub fn server_runs(&mut self, text: &str, value: &str) {
        self.ask(text);
        assert_eq!(self.server_reads().as_deref(), Some(text));
        self.server_answers_read(text, value);
    }

    /// Has the server report that the read `text`, which it has received, locks table `t` and has ended, and respond with one row with this
    /// value.
    pub fn server_answers_read(&mut self, text: &str, value: &str) {
        self.server_answers_read_of("t", text, value);
    }

    /// Has the server report that the read `text`, which it has received, locks `table` of schema `d` and has ended,
    /// and respond with one row with this value.
    pub fn server_answers_read_of(&mut self, table: &str, text: &str, value: &str) {
        self.report(Report::Locked { db: b"d", name: table.as_bytes(), is_read_only: true });
        self.report(Report::Ended { state: state(), executed: text.as_bytes() });
        let response = rows(value);
        self.answer(&response);
        assert_eq!(self.received(), response);
    }

    /// Has the server report the end of the command that it has received, and respond with an OK packet.
    pub fn server_agrees(&mut self) {
        self.report(Report::Ended { state: state(), executed: b"" });
        self.answer(&ok_packet(1, 0, 0, status::AUTOCOMMIT, 0));
        self.received();
    }

    /// Has the client send a write to table `t`, and the server run it.
    pub fn server_writes(&mut self, text: &str) {
        self.ask(text);
        assert_eq!(self.server_reads().as_deref(), Some(text));
        self.report(Report::Locked { db: b"d", name: b"t", is_read_only: false });
        self.report(Report::Ended { state: state(), executed: text.as_bytes() });
        self.answer(&ok_packet(1, 1, 0, status::AUTOCOMMIT, 0));
        self.received();
    }

    /// Has the client prepare a statement, which the server gives the id `id`. The statement must have one parameter and one column.
    pub fn server_prepares(&mut self, id: u32, text: &str) {
        self.send(Command::StmtPrepare, text.as_bytes());
        assert_eq!(self.server_reads().as_deref(), Some(text));
        self.report(Report::Ended { state: state(), executed: b"" });
        let [_, column, end] = columns();
        let ok = [&[0][..], &id.to_le_bytes(), &[1, 0, 1, 0, 0, 0, 0]].concat();
        self.answer(&packets(&[&ok, &column, &end, &column, &end]));
        self.received();
    }

    /// Has the client execute the prepared statement `id`, and the server run it on table `t`. The result is one row with this value.
    pub fn server_executes(&mut self, id: u32, parameter: i64, value: &str) {
        self.execute(id, parameter);
        assert!(self.server_reads().is_some());
        self.report(Report::Locked { db: b"d", name: b"t", is_read_only: true });
        self.report(Report::Ended { state: state(), executed: b"" });
        self.answer(&binary_rows(value));
        self.received();
    }

    /// Sends the execution of a prepared statement with one parameter from the client.
    fn execute(&mut self, id: u32, parameter: i64) {
        let has_attributes = self.capabilities() & capability::QUERY_ATTRIBUTES != 0;
        let bound: &[u8] = if has_attributes { &[1, 0, 1, 8, 0, 0] } else { &[0, 1, 8, 0] };
        let start = [&id.to_le_bytes()[..], &[0, 1, 0, 0, 0], bound].concat();
        self.send(Command::StmtExecute, &[&start[..], &parameter.to_le_bytes()].concat());
    }

    /// Sends an execution from the client. True if the client then gets one row with this value, without the server.
    pub fn serves_execution(&mut self, id: u32, parameter: i64, value: &str) -> bool {
        self.execute(id, parameter);
        self.server_reads().is_none() && self.received() == binary_rows(value)
    }

    /// Sends a query from the client. True if the client then gets one row with this value, without the server.
    pub fn serves(&mut self, text: &str, value: &str) -> bool {
        self.ask(text);
        self.server_reads().is_none() && self.received() == rows(value)
    }
}

fn state() -> SessionState<'static> {
    SessionState {
        isolation: 2,
        database: Some(b"d"),
        collation: 45,
        cache_type: 1,
        autocommit: true,
        ..SessionState::default()
    }
}

fn rows(value: &str) -> Vec<u8> {
    text_result(&["v"], &[vec![Some(value.to_owned())]], 0, status::AUTOCOMMIT)
}

/// Returns the payloads of the column count, the one column, and the end of the columns.
fn columns() -> [Vec<u8>; 3] {
    let empty = text_result(&["v"], &[], 0, status::AUTOCOMMIT);
    let mut payloads = wire::packets(&empty).map(|packet| packet.payload.to_vec());
    std::array::from_fn(|_| payloads.next().expect("three packets"))
}

fn binary_rows(value: &str) -> Vec<u8> {
    let [count, column, end] = columns();
    let row = [&[0, 0, value.len() as u8][..], value.as_bytes()].concat();
    packets(&[&count, &column, &end, &row, &end])
}

/// Builds a response from the payloads of its packets.
fn packets(payloads: &[&[u8]]) -> Vec<u8> {
    let (mut packets, mut sequence) = (Vec::new(), 1);
    payloads.iter().for_each(|payload| wire::push_packet(&mut packets, &mut sequence, payload));
    packets
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    wire::push_packet(&mut packet, &mut { sequence }, payload);
    packet
}

fn greeting(flavour: &Flavour) -> Vec<u8> {
    let offered = capabilities(flavour);
    let [low, high] = [offered as u16, (offered >> 16) as u16].map(u16::to_le_bytes);
    let start = [&b"\x0a10.11.0\0"[..], &7_u32.to_le_bytes(), b"12345678\0", &low, &[45], &2_u16.to_le_bytes(), &high];
    [&start.concat()[..], &[21], &[0; 10], b"123456789012\0"].concat()
}

fn hello(flavour: &Flavour) -> Vec<u8> {
    let wanted = capabilities(flavour) as u32;
    [&wanted.to_le_bytes()[..], &(1_u32 << 24).to_le_bytes(), &[45], &[0; 23], b"u\0", &[0]].concat()
}
