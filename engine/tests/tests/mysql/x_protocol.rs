//! Sessions of the X protocol: nothing is served to them, and the engine follows what they write.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use crate::shared::{ready, start};
use crate::traps::{Arena, PATIENCE, rows_text, small_table};
use fqc_tests::server::Server;

/// Kinds of messages of the X protocol.
const ERROR: u8 = 1;
const AUTHENTICATE: u8 = 4;
const AUTHENTICATED: u8 = 4;
const RESET: u8 = 6;
const RUN: u8 = 12;
const ROW: u8 = 13;
const DONE: u8 = 17;
const DELETE: u8 = 20;
const IS_RESET: u8 = 0;

/// A session of the X protocol, logged in as root.
struct Session(UnixStream);

/// Encodes a field of a message of the X protocol. Its content is a text or another message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 0x4000, "its length has two digits");
    let length = [content.len() as u8 | 0x80, (content.len() >> 7) as u8];
    [&[number << 3 | 2], &length[..], content].concat()
}

impl Session {
    fn open(server: &Server) -> Session {
        let stream = UnixStream::connect(server.socket().with_file_name("data").join("x")).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut session = Session(stream);
        session.send(AUTHENTICATE, &[field(1, b"PLAIN"), field(2, b"\0root\0")].concat());
        session.until(AUTHENTICATED);
        session
    }

    fn send(&mut self, kind: u8, body: &[u8]) {
        let message = [&(body.len() as u32 + 1).to_le_bytes()[..], &[kind], body].concat();
        self.0.write_all(&message).unwrap();
    }

    /// Waits for the server's messages up to one of this kind. Returns them all. Panics at an error message.
    fn until(&mut self, last: u8) -> Vec<(u8, Vec<u8>)> {
        let mut messages = Vec::new();
        while messages.last().is_none_or(|(kind, _)| *kind != last) {
            let mut head = [0; 5];
            self.0.read_exact(&mut head).unwrap();
            let [length @ .., kind] = head;
            let mut body = vec![0; u32::from_le_bytes(length) as usize - 1];
            self.0.read_exact(&mut body).unwrap();
            assert_ne!(kind, ERROR, "{}", String::from_utf8_lossy(&body));
            messages.push((kind, body));
        }
        messages
    }

    /// Runs a statement, and returns the text of each row, which must have one column.
    fn run(&mut self, statement: &str) -> String {
        self.send(RUN, &field(1, statement.as_bytes()));
        let messages = self.until(DONE);
        let rows = messages.iter().filter(|(kind, _)| *kind == ROW);
        // The text is preceded by the field's number and length, and followed by a zero.
        let texts = rows.map(|(_, row)| String::from_utf8_lossy(&row[2..row.len() - 1]).into_owned());
        texts.collect::<Vec<_>>().join(";")
    }

    /// Deletes all rows of a table by a message that contains no statement.
    fn delete_all(&mut self, schema: &str, table: &str) {
        const OF_TABLE: [u8; 2] = [2 << 3, 2];
        let place = [field(1, table.as_bytes()), field(2, schema.as_bytes())].concat();
        self.send(DELETE, &[&field(1, &place)[..], &OF_TABLE].concat());
        self.until(DONE);
    }

    /// Resets the session, and keeps its login.
    fn reset(&mut self) {
        const KEEPS_OPEN: [u8; 2] = [1 << 3, 1];
        self.send(RESET, &KEEPS_OPEN);
        self.until(IS_RESET);
    }
}

#[test]
fn what_a_session_of_the_x_protocol_writes_is_seen_at_once() {
    const SUM: &str = "SELECT CONCAT(COUNT(*), '/', SUM(v)) FROM xs.t";
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let arguments =
        ["--mysqlx=ON", "--mysqlx-socket=x", "--mysqlx-bind-address=127.0.0.1", &format!("--mysqlx-port={port}")];
    let mut arena = Arena::on(Arc::new(ready(start(&arguments))), "xs");
    let (mut writer, mut reader) = (arena.client(), arena.client());
    small_table(&mut writer, "t", "InnoDB");
    let mut session = Session::open(&arena.server);
    for (write, expected) in [
        ("UPDATE xs.t SET v = v + 1 WHERE id = 1", "5/151"),
        ("INSERT INTO xs.t VALUES (6, 60)", "6/211"),
        ("DELETE FROM xs.t WHERE id = 6", "5/151"),
        ("ALTER TABLE xs.t MODIFY v BIGINT", "5/151"),
    ] {
        arena.check_write_shows(&mut reader, SUM, || _ = session.run(write), expected);
    }
    // A transaction's changes count when it ends, in whatever way.
    let begin = |session: &mut Session| {
        session.run("START TRANSACTION");
        session.run("UPDATE xs.t SET v = v + 1 WHERE id = 1");
    };
    for (end, expected) in [("COMMIT", "5/152"), ("ROLLBACK", "5/152")] {
        let before = arena.warm(&mut reader, SUM);
        begin(&mut session);
        (0..4).for_each(|_| assert_eq!(rows_text(&reader.must(SUM).unwrap()), before));
        session.run(end);
        assert_eq!(rows_text(&reader.must(SUM).unwrap()), expected, "{end}");
        assert_eq!(arena.warm(&mut reader, SUM), expected, "{end}");
    }
    begin(&mut session);
    session.reset();
    assert_eq!(arena.warm(&mut reader, SUM), "5/152");
    // This session sees what others write. Only the server answers it.
    for round in 153..156 {
        writer.must("UPDATE t SET v = v + 1 WHERE id = 1").unwrap();
        let (seen, hits) = arena.counted(|| [session.run(SUM), session.run(SUM)]);
        assert_eq!((seen, hits), ([format!("5/{round}"), format!("5/{round}")], 0));
    }
    arena.warm(&mut reader, SUM);
    session.delete_all("xs", "t");
    assert_eq!(rows_text(&reader.must(SUM).unwrap()), "NULL");
    assert_eq!(arena.server_answer(SUM), "NULL");
}
