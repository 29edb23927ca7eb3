//! One connection of the application: how many bytes it has sent and received, and the rest of an answer that it has not read yet.

use crate::login::{Login, Unfollowable};
use crate::prepared::ServedStatements;
use mapped::{ConnectionSlot, MissReason, Outcome, ProcessCounts, Reader};
use std::sync::Arc;
use wire::hit_report::HitReport;
use wire::{Command, Header, lone_command};

/// The maximum length of a command that is answered here, in bytes. The near cache does not store results of longer ones.
const LONGEST: usize = 16 << 10;

/// Memory that a near cache writes.
pub trait ResultMemory: AsRef<[mapped::AtomicU64]> {}
impl<M: AsRef<[mapped::AtomicU64]>> ResultMemory for M {}

/// The part of the conversation that the connection is in.
enum Phase<M> {
    /// The login is not over.
    Login(Login),
    /// The login is over. `token` identifies the connection in the near cache's memory, `reader` reads that memory, or is the reason why
    /// there is none, and `slot` is where the memory describes the connection.
    Commands {
        token: u64,
        reader: Result<Reader<M>, Outcome>,
        slot: Option<ConnectionSlot>,
        prepared: ServedStatements,
    },
}

/// The parts of a process's attachment to a near cache that one connection needs.
pub struct Attached<M> {
    /// A reader of the near cache's memory, or the reason why there is none.
    pub reader: Result<Reader<M>, Outcome>,
    /// What counts the connection's reads.
    pub counter: Counter,
}

/// Counts reads of one connection in the counters of the process. Without those, it counts nothing.
#[derive(Clone, Default)]
pub struct Counter(Option<(Arc<ProcessCounts>, usize)>);

impl Counter {
    /// Makes a counter for one more connection of a process with these counters.
    pub fn new(counts: &Arc<ProcessCounts>) -> Counter {
        Counter(Some((counts.clone(), counts.next_group())))
    }

    pub fn count(&self, outcome: Outcome) {
        if let Some((counts, group)) = &self.0 {
            counts.count(*group, outcome);
        }
    }
}

/// A connection of the application to a server or to a near cache. It takes all bytes that pass, and answers reads from the near cache's
/// memory.
pub struct Connection<M> {
    phase: Phase<M>,
    /// The number of bytes that were sent since the login, including hit reports to the near cache.
    sent: u64,
    /// The number of bytes that were received from the socket since the login.
    received: u64,
    /// The number of calls that are giving bytes to the socket at the moment. Until they return, it is not known how many bytes it takes.
    sending: u32,
    /// The answer that was given here last.
    answer: Vec<u8>,
    /// The number of its bytes that the client has read.
    taken: usize,
    /// The number of reads that were answered here since the last hit report to the near cache.
    hits: u64,
    /// The number of rows in the last of them.
    rows: u64,
    /// The command of the last of them, with its packet header.
    packet: Vec<u8>,
    counter: Counter,
    /// True if the client waits for the connection's bytes by epoll.
    is_in_epoll: bool,
}

impl<M: ResultMemory> Connection<M> {
    /// Creates the state of a connection that has not received its greeting.
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
            counter: Counter::default(),
            is_in_epoll: false,
        }
    }

    /// Returns true if these bytes, which the client wants to send, are a read that is answered here. They must then not be sent, and the
    /// answer is [`pending`](Self::pending). `clock` returns the time as [`mapped::Reader::find`] expects it.
    pub fn try_answer(&mut self, bytes: &[u8], clock: impl FnOnce() -> u64) -> bool {
        let outcome = self.outcome(bytes, clock);
        if let Some(outcome) = outcome {
            self.counter.count(outcome);
        }
        outcome == Some(Outcome::Answered)
    }

    /// Looks up the answer to the read that these bytes are, and makes it pending if there is one. Returns the outcome:
    /// that the read is answered here, or the reason why not. None if the bytes are not a read.
    fn outcome(&mut self, bytes: &[u8], clock: impl FnOnce() -> u64) -> Option<Outcome> {
        let is_settled = self.sending == 0 && self.pending().is_empty();
        let counted = [self.sent, self.received];
        let Phase::Commands { token, reader, slot, prepared } = &mut self.phase else { return None };
        let Some(payload) = lone_read(bytes).filter(|_| is_settled) else {
            return may_be_read(bytes).then_some(Outcome::Form);
        };
        let reader = match reader {
            Ok(reader) => reader,
            Err(outcome) => return Some(*outcome),
        };
        let Some(at) = slot.clone().or_else(|| reader.connection_slot(*token)) else { return Some(Outcome::Elsewhere) };
        let known = reader.connection(&at, *token);
        *slot = Some(at);
        let Some(known) = known.filter(|known| [known.received, known.shown] == counted) else {
            return Some(if prepared.is_new(payload) { Outcome::NewStatement } else { Outcome::NotLast });
        };
        prepared.learn(&known);
        let found = match payload[0] == Command::Query as u8 {
            true => Some((known.text, [payload, b""])),
            false => prepared.find(payload, &known),
        };
        let Some((context, parts)) = found else { return Some(Outcome::NewStatement) };
        self.answer.clear();
        self.taken = 0;
        let found = match reader.find_for(&known, &context, parts, clock, &mut self.answer) {
            Ok(found) => found,
            Err(MissReason::NoLease) => return Some(Outcome::NoLease),
            Err(MissReason::Absent) => return Some(Outcome::Absent),
            Err(MissReason::Stale) => return Some(Outcome::Outdated),
        };
        self.hits += 1;
        self.rows = found.rows;
        if self.packet != bytes {
            self.packet = bytes.to_vec();
        }
        Some(Outcome::Answered)
    }

    /// Returns a packet that must be sent to the near cache before the client's next command: it reports the reads that were answered
    /// here. None if there were none since the last hit report.
    pub fn take_hit_report(&mut self) -> Option<Vec<u8>> {
        let hits = std::mem::take(&mut self.hits);
        (hits > 0).then(|| HitReport { hits, rows: self.rows, packet: &self.packet }.write())
    }

    /// Notes that bytes are about to be given to the socket. Must be called before that; nothing is answered here until
    /// [`end_sending`](Self::end_sending) or [`end_hit_report`](Self::end_hit_report) is called.
    pub fn begin_sending(&mut self) {
        self.sending += 1;
    }

    /// Follows bytes of the client that the socket has taken; must be called then, even if it took none. Once the login
    /// is over, calls `attach` whenever there is no lease by `clock`, to get access to the near cache's memory. After
    /// an error the connection must no longer be followed.
    pub fn end_sending(
        &mut self,
        bytes: &[u8],
        clock: impl FnOnce() -> u64,
        attach: impl FnOnce() -> Attached<M>,
    ) -> Result<(), Unfollowable> {
        self.sending -= 1;
        if let Phase::Login(login) = &mut self.phase
            && !bytes.is_empty()
            && let Some(token) = login.client_bytes(bytes)?
        {
            let (reader, prepared) = (Err(Outcome::NoMemory), ServedStatements::default());
            self.phase = Phase::Commands { token, reader, slot: None, prepared };
        }
        if let Phase::Commands { reader, slot, prepared, .. } = &mut self.phase {
            self.sent += bytes.len() as u64;
            prepared.forward(bytes);
            if reader.as_ref().map_or(true, |reader| clock() >= reader.lease_ends()) {
                let attached = attach();
                (*reader, *slot, self.counter) = (attached.reader, None, attached.counter);
            }
        }
        Ok(())
    }

    /// Counts the bytes of a hit report that the socket has taken; must be called then, even if it took none.
    pub fn end_hit_report(&mut self, part: &[u8]) {
        self.sending -= 1;
        self.sent += part.len() as u64;
    }

    /// Follows bytes that the client has received from the socket; must be called for all of them, in order. After an
    /// error the connection must no longer be followed.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), Unfollowable> {
        match &mut self.phase {
            Phase::Login(login) => login.server_bytes(bytes)?,
            Phase::Commands { .. } => self.received += bytes.len() as u64,
        }
        if self.is_in_epoll && self.is_greeted() {
            return Err(Unfollowable::NotServed(Outcome::Epoll));
        }
        Ok(())
    }

    /// Notes that the client waits for the connection's bytes by epoll, for which answers cannot be given here. Returns
    /// an error, after which the connection must no longer be followed. Before the server's greeting it returns none,
    /// since this may be a connection to something else: then `receive` returns the error once the greeting has come.
    pub fn enter_epoll(&mut self) -> Result<(), Unfollowable> {
        self.is_in_epoll = true;
        if self.is_greeted() { Err(Unfollowable::NotServed(Outcome::Epoll)) } else { Ok(()) }
    }

    /// Returns true if a server or a near cache has greeted the client on this connection.
    pub fn is_greeted(&self) -> bool {
        match &self.phase {
            Phase::Login(login) => login.is_greeted(),
            Phase::Commands { .. } => true,
        }
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

/// Returns the payload if these bytes are exactly one query as text, or one execution of a prepared statement. None if they are anything
/// else, are not exactly one packet, or are longer than [`LONGEST`].
fn lone_read(bytes: &[u8]) -> Option<&[u8]> {
    let is_read = |payload: &&[u8]| [Command::Query as u8, Command::StmtExecute as u8].contains(&payload[0]);
    lone_command(bytes).filter(|payload| payload.len() <= LONGEST).filter(is_read)
}

/// Returns true if these bytes may be a read in a form that is not answered here: the beginning of one, several at once, one that is too
/// long, or a header without the rest.
fn may_be_read(bytes: &[u8]) -> bool {
    let is_first = Header::parse(bytes).is_some_and(|header| header.sequence == 0 && header.length > 0);
    let is_read = |code: &u8| [Command::Query as u8, Command::StmtExecute as u8].contains(code);
    is_first && bytes.get(Header::SIZE).is_none_or(is_read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapped::{AtomicU64, ForeignCounts, Key, Layout, Record, Writer};

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
        counts: Arc<ProcessCounts>,
        /// What has been counted so far, as others read it.
        counted: ForeignCounts,
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
            let (counts, file) = ProcessCounts::create().expect("memory");
            let (counts, counted) = (Arc::new(counts), ForeignCounts::new(file).expect("counters"));
            let mut line = TestConnection { writer, slot, connection: Connection::new(), counts, counted };
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
            let counter = Counter::new(&self.counts);
            let attach = || Attached { reader: Reader::new(memory).ok_or(Outcome::OtherVersion), counter };
            assert_eq!(self.connection.end_sending(bytes, || 0, attach), Ok(()));
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
        let report = line.connection.take_hit_report().expect("a hit report");
        assert!(report.ends_with(READ));
        assert_eq!(line.connection.take_hit_report(), None);
        assert!(!line.connection.try_answer(READ, || 9), "the server has to see a command");
        line.connection.begin_sending();
        line.connection.end_hit_report(&report);
        assert!(!line.connection.try_answer(READ, || 8), "the near cache counts the report, too");
        line.serve([counts[0] + report.len() as u64, counts[1]]);
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

    #[test]
    fn each_read_is_counted_once_with_what_became_of_it() {
        let counts = [READ.len() as u64, 0];
        type Change = fn(&mut TestConnection);
        const EXECUTION: &[u8] = b"\x0b\0\0\0\x17\x07\0\0\0\0\x01\0\0\0\0";
        let absent: &[u8] = b"\x09\0\0\0\x03SELECT 2";
        let cases: [(Change, &[u8], Option<Outcome>); 13] = [
            (|_| {}, READ, Some(Outcome::Answered)),
            (|_| {}, absent, Some(Outcome::Absent)),
            (|line| assert!(line.writer.close(1)), READ, Some(Outcome::Outdated)),
            (|line| line.writer.revoke_lease(), READ, Some(Outcome::NoLease)),
            (|line| line.writer.attach(), READ, Some(Outcome::NoLease)),
            (|line| line.serve([0, 0]), READ, Some(Outcome::NotLast)),
            (|line| line.serve([0, 0]), EXECUTION, Some(Outcome::NewStatement)),
            (|_| {}, EXECUTION, Some(Outcome::NewStatement)),
            (|_| {}, &READ[..9], Some(Outcome::Form)),
            (|_| {}, &READ[..4], Some(Outcome::Form)),
            (|line| line.connection.begin_sending(), READ, Some(Outcome::Form)),
            (|_| {}, b"\x01\0\0\0\x0e", None),
            (|_| {}, b"\x09\0\0\x01\x03SELECT 1", None),
        ];
        for (change, bytes, expected) in cases {
            let mut line = TestConnection::new();
            line.serve(counts);
            change(&mut line);
            assert_eq!(line.connection.try_answer(bytes, || 8), expected == Some(Outcome::Answered));
            let counted = Outcome::ALL.into_iter().find(|outcome| line.counted.read().of(*outcome) > 0);
            assert_eq!((counted, line.counted.read().reads()), (expected, u64::from(expected.is_some())), "{bytes:?}");
        }
        let mut line = TestConnection::new();
        line.writer.free_slot(line.slot.clone());
        assert!(!line.connection.try_answer(READ, || 8));
        assert_eq!(line.counted.read().of(Outcome::Elsewhere), 1);
        let nothing = Words(Arc::default());
        line.writer.revoke_lease();
        line.connection.begin_sending();
        let attach =
            || Attached { reader: Reader::new(nothing).ok_or(Outcome::OtherVersion), counter: Counter::default() };
        assert_eq!(line.connection.end_sending(READ, || 8, attach), Ok(()));
        line.connection.counter = Counter::new(&line.counts);
        assert!(!line.connection.try_answer(READ, || 8));
        assert_eq!(line.counted.read().of(Outcome::OtherVersion), 1);
    }

    #[test]
    fn a_client_that_waits_by_epoll_is_counted_once_a_server_has_greeted_it() {
        let mut early = Connection::<Words>::new();
        assert_eq!(early.enter_epoll(), Ok(()), "it may be a connection to anything");
        assert_eq!(early.receive(GREETING), Err(Unfollowable::NotServed(Outcome::Epoll)));
        let mut late = TestConnection::new().connection;
        assert_eq!(late.enter_epoll(), Err(Unfollowable::NotServed(Outcome::Epoll)));
        let mut other = Connection::<Words>::new();
        assert_eq!(other.enter_epoll(), Ok(()));
        assert_eq!(other.receive(b"HTTP/1.1 200 OK\r\n"), Err(Unfollowable::Uncounted));
    }
}
