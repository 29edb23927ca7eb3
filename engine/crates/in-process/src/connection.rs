//! One connection of the application: how many bytes it has sent and received, and the rest of an answer that it has not read yet.

use crate::login::{Login, Unfollowable};
use crate::prepared::ServedStatements;
use mapped::{ConnectionSlot, Reader};
use wire::note::Note;
use wire::{Command, lone_command};

/// The maximum length of a command that is answered here, in bytes. The near cache does not store results of longer ones.
const LONGEST: usize = 16 << 10;

/// Memory that a near cache writes.
pub trait ResultMemory: AsRef<[mapped::AtomicU64]> {}
impl<M: AsRef<[mapped::AtomicU64]>> ResultMemory for M {}

/// The part of the conversation that the connection is in.
enum Phase<M> {
    /// The login is not over.
    Login(Login),
    /// The login is over. `token` identifies the connection in the near cache's memory, `reader` reads that memory, and `slot` is where
    /// it describes the connection.
    Commands { token: u64, reader: Option<Reader<M>>, slot: Option<ConnectionSlot>, prepared: ServedStatements },
}

/// A connection of the application to a server or to a near cache. It takes all bytes that pass, and answers reads from the near cache's
/// memory.
pub struct Connection<M> {
    phase: Phase<M>,
    /// The number of bytes that were sent since the login, including notes to the near cache.
    sent: u64,
    /// The number of bytes that were received from the socket since the login.
    received: u64,
    /// The number of calls that are giving bytes to the socket at the moment. Until they return, it is not known how many bytes it takes.
    sending: u32,
    /// The answer that was given here last.
    answer: Vec<u8>,
    /// The number of its bytes that the client has read.
    taken: usize,
    /// The number of reads that were answered here since the last note to the near cache.
    hits: u64,
    /// The number of rows in the last of them.
    rows: u64,
    /// The command of the last of them, with its packet header.
    packet: Vec<u8>,
}

impl<M: ResultMemory> Connection<M> {
    /// Starts with a connection that has not received its greeting.
    pub fn new() -> Connection<M> {
        Connection {
            phase: Phase::Login(Login::default()),
            sent: 0,
            received: 0,
            sending: 0,
            answer: Vec::new(),
            taken: 0,
            hits: 0,
            rows: 0,
            packet: Vec::new(),
        }
    }

    /// Returns true if these bytes, which the client wants to send, are a read that is answered here. They must then not be sent, and the
    /// answer is [`pending`](Self::pending). `clock` returns the time as [`mapped::Reader::find`] expects it.
    pub fn try_answer(&mut self, bytes: &[u8], clock: impl FnOnce() -> u64) -> bool {
        let is_settled = self.sending == 0 && self.pending().is_empty();
        let counted = [self.sent, self.received];
        let Phase::Commands { token, reader: Some(reader), slot, prepared } = &mut self.phase else { return false };
        let Some(payload) = lone_read(bytes).filter(|_| is_settled) else { return false };
        let Some(at) = slot.clone().or_else(|| reader.connection_slot(*token)) else { return false };
        let known = reader.connection(&at, *token);
        *slot = Some(at);
        let Some(known) = known.filter(|known| [known.received, known.shown] == counted) else { return false };
        prepared.learn(&known);
        let found = match payload[0] == Command::Query as u8 {
            true => Some((known.text, [payload, b""])),
            false => prepared.find(payload, &known),
        };
        let Some((context, parts)) = found else { return false };
        self.answer.clear();
        self.taken = 0;
        let Ok(found) = reader.find_for(&known, &context, parts, clock, &mut self.answer) else { return false };
        self.hits += 1;
        self.rows = found.rows;
        if self.packet != bytes {
            self.packet = bytes.to_vec();
        }
        true
    }

    /// Returns a packet that must be sent to the near cache before the client's next command: it reports the reads that were answered
    /// here. None if there were none since the last note.
    pub fn take_note(&mut self) -> Option<Vec<u8>> {
        let hits = std::mem::take(&mut self.hits);
        (hits > 0).then(|| Note { hits, rows: self.rows, packet: &self.packet }.write())
    }

    /// Must be called before bytes are given to the socket. Nothing is answered until [`end_sending`](Self::end_sending) or
    /// [`end_note`](Self::end_note) is called.
    pub fn begin_sending(&mut self) {
        self.sending += 1;
    }

    /// Must be called when the socket has taken these bytes of the client, which may be none. `attach` is called for a reader of the near
    /// cache's memory, once the login is over and as long as there is no lease; it returns none if there is no near cache. After an error
    /// the connection must no longer be followed.
    pub fn end_sending(
        &mut self,
        bytes: &[u8],
        clock: impl FnOnce() -> u64,
        attach: impl FnOnce() -> Option<Reader<M>>,
    ) -> Result<(), Unfollowable> {
        self.sending -= 1;
        if let Phase::Login(login) = &mut self.phase
            && !bytes.is_empty()
            && let Some(token) = login.client_bytes(bytes)?
        {
            self.phase = Phase::Commands { token, reader: None, slot: None, prepared: ServedStatements::default() };
        }
        if let Phase::Commands { reader, slot, prepared, .. } = &mut self.phase {
            self.sent += bytes.len() as u64;
            prepared.forward(bytes);
            if reader.as_ref().is_none_or(|reader| clock() >= reader.lease_ends()) {
                (*reader, *slot) = (attach(), None);
            }
        }
        Ok(())
    }

    /// Must be called when the socket has taken this part of a note, which may be empty.
    pub fn end_note(&mut self, part: &[u8]) {
        self.sending -= 1;
        self.sent += part.len() as u64;
    }

    /// Must be called when the client has received these bytes from the socket. After an error the connection must no longer be followed.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), Unfollowable> {
        match &mut self.phase {
            Phase::Login(login) => login.server_bytes(bytes)?,
            Phase::Commands { .. } => self.received += bytes.len() as u64,
        }
        Ok(())
    }

    /// Returns the part of the last answer given here that the client has not read.
    pub fn pending(&self) -> &[u8] {
        &self.answer[self.taken..]
    }

    /// Copies what is [`pending`](Self::pending) into `into`, and returns the number of bytes. They are then no longer pending, unless
    /// `peeks` is true.
    pub fn take(&mut self, into: &mut [u8], peeks: bool) -> usize {
        let count = into.len().min(self.pending().len());
        into[..count].copy_from_slice(&self.pending()[..count]);
        self.taken += if peeks { 0 } else { count };
        count
    }
}

/// Returns the payload if these bytes are exactly one query as text, or one execution of a prepared statement.
fn lone_read(bytes: &[u8]) -> Option<&[u8]> {
    let is_read = |payload: &&[u8]| [Command::Query as u8, Command::StmtExecute as u8].contains(&payload[0]);
    lone_command(bytes).filter(|payload| payload.len() <= LONGEST).filter(is_read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapped::{AtomicU64, Key, Layout, Record, Writer};
    use std::sync::Arc;
    use wire::Header;

    const READ: &[u8] = b"\x09\0\0\0\x03SELECT 1";
    const GREETING: &[u8] = b"\x05\0\0\0\x0a11.4";
    const HELLO: &[u8] = b"\x05\0\0\x01\0\x02\0\0u";
    const OK: &[u8] = b"\x07\0\0\x02\0\0\0\x02\0\0\0";
    const ANSWER: &[u8] = b"an answer";

    /// Memory that a writer and a reader share.
    #[derive(Clone)]
    struct Words(Arc<Vec<AtomicU64>>);

    impl AsRef<[AtomicU64]> for Words {
        fn as_ref(&self) -> &[AtomicU64] {
            &self.0
        }
    }

    /// A client's connection to a near cache, with the near cache's memory.
    struct TestConnection {
        writer: Writer<Words>,
        slot: ConnectionSlot,
        connection: Connection<Words>,
    }

    impl TestConnection {
        /// Returns a connection that has logged in and sent [`READ`] once, which the near cache stores a result for.
        fn new() -> TestConnection {
            let layout = Layout::new(3, 2, 9).with_connections(0);
            let memory = Words(Arc::new((0..layout.words()).map(|_| AtomicU64::new(0)).collect()));
            let mut writer = Writer::new(memory.clone(), layout, 1).expect("it is large enough");
            writer.attach();
            writer.grant_lease(u64::MAX);
            let record = Record { stamp: 1, until: u64::MAX, rows: 1, flags: 0, cells: &[1], value: ANSWER };
            assert!(writer.put(&Key { context: 4, parts: [&READ[Header::SIZE..], b""] }, &record));
            let slot = writer.reserve_slot(feed::check_of(&GREETING[Header::SIZE..])).expect("a place");
            let mut line = TestConnection { writer, slot, connection: Connection::new() };
            assert_eq!(line.connection.receive(GREETING), Ok(()));
            line.send(HELLO, memory.clone());
            assert_eq!(line.connection.receive(OK), Ok(()));
            line.send(READ, memory);
            line
        }

        /// Sends these bytes to the near cache. They must not be answered here.
        fn send(&mut self, bytes: &[u8], memory: Words) {
            assert!(!self.connection.try_answer(bytes, || 0));
            self.connection.begin_sending();
            assert_eq!(self.connection.end_sending(bytes, || 0, || Reader::new(memory)), Ok(()));
        }

        /// Lets the near cache note that it has served the connection when the client had sent and received these numbers of bytes.
        fn serve(&mut self, [received, shown]: [u64; 2]) {
            let token = feed::check_of(&GREETING[Header::SIZE..]);
            let served = mapped::ConnectionState {
                token,
                received,
                shown,
                text: mapped::Context { number: 4, stamp: 1 },
                until: 9,
                ..Default::default()
            };
            self.writer.set_connection(&self.slot, &served);
        }
    }

    #[test]
    fn a_read_is_answered_once_the_near_cache_has_seen_all_that_was_sent_and_the_client_all_that_was_answered() {
        let counts = [READ.len() as u64, 7];
        let mut line = TestConnection::new();
        line.serve(counts);
        assert!(!line.connection.try_answer(READ, || 0), "the client has not read the answer");
        assert_eq!(line.connection.receive(b"answer "), Ok(()));
        assert!(line.connection.try_answer(READ, || 8));
        assert!(!line.connection.try_answer(READ, || 8), "this answer has not been read, either");
        let mut read = [0; 20];
        assert_eq!([line.connection.take(&mut read, true), line.connection.take(&mut read[..2], false)], [9, 2]);
        assert_eq!(line.connection.take(&mut read[2..], false), ANSWER.len() - 2);
        assert_eq!(&read[..ANSWER.len()], ANSWER);
        let note = line.connection.take_note().expect("a note");
        assert!(note.ends_with(READ));
        assert_eq!(line.connection.take_note(), None);
        assert!(!line.connection.try_answer(READ, || 9), "the server has to see a command");
        line.connection.begin_sending();
        line.connection.end_note(&note);
        assert!(!line.connection.try_answer(READ, || 8), "the near cache counts the note, too");
        line.serve([counts[0] + note.len() as u64, counts[1]]);
        assert!(line.connection.try_answer(READ, || 8) && line.connection.take(&mut [0; 20], false) > 0);
        for other in [
            &READ[..8],
            b"\x09\0\0\x01\x03SELECT 1",
            b"\x09\0\0\0\x16SELECT 1",
            b"\x09\0\0\0\x03SELECT 1\x01\0\0\0\x01",
        ] {
            assert!(!line.connection.try_answer(other, || 0));
        }
    }

    #[test]
    fn nothing_is_answered_after_anything_else_was_sent_or_is_being_sent_or_the_near_cache_has_gone() {
        let counts = [READ.len() as u64, 0];
        type Change = fn(&mut TestConnection);
        let changes: [Change; 5] = [
            |line| line.connection.begin_sending(),
            |line| line.connection.receive(b"x").expect("it is followed"),
            |line| line.serve([READ.len() as u64 + 1, 0]),
            |line| line.writer.attach(),
            |line| line.writer.free_slot(line.slot.clone()),
        ];
        for change in changes {
            let mut line = TestConnection::new();
            line.serve(counts);
            change(&mut line);
            assert!(!line.connection.try_answer(READ, || 0));
        }
        let mut line = TestConnection::new();
        line.serve(counts);
        assert!(line.writer.close(1));
        assert!(!line.connection.try_answer(READ, || 0));
        assert!(line.writer.open(1, 1));
        assert!(line.connection.try_answer(READ, || 0));
    }
}
