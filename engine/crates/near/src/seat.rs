//! One connection's part in serving from memory: what it may be served, what it notes of answers, and what the server has not seen.
//!
//! Invariants:
//! - a connection is served only what it would get from the server at a moment after its read has arrived: the context under which it
//!   is looked for was told of its last command, or what came since is known to change nothing;
//! - in a transaction it is served only what the transaction's snapshot shows. The server sends the snapshot's stamp on the feed, and sends
//!   none for a transaction that may have written something;
//! - before anything else of the client reaches the server, the last read that it has not seen does, so that FOUND_ROWS(), the
//!   warnings and their like are what they would be. What asks for FOUND_ROWS() waits until it is known that the read has as many
//!   rows as it had here, and is refused where the server's number is another one.

use crate::clock;
use crate::command::{LONGEST, first_command, is_harmless, lone_command};
use crate::follow::Follower;
use crate::inquiry::Inquiry;
use crate::memory::Memory;
use crate::own::{Own, lock};
use crate::own_flags::Places;
use crate::prepared::says_found_rows;
use crate::report::{self, Asked, Asker, Right};
use crate::unseen::{Held, Unseen, found, has_changed, is_found, may_leave_found};
use crate::uses::Use;
use feed::Protocol;
use flavour::MARIADB;
use locks::Mutex;
use sql::Aggregates;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::{Command, Expect, Header, Outcome};

/// A connection that is served all the time would look idle to the server, which ends such ones: in this time it gets one command.
pub const SEEN_EVERY_NS: u64 = 10_000_000_000;

/// What becomes of bytes of a client.
pub enum Then {
    /// They go to the server.
    Pass,
    /// These go to the server in their place.
    Instead(Vec<u8>),
    /// The same, and nothing more of the client is read until the server has answered.
    Hold(Vec<u8>),
    /// The client gets these.
    Answer(Vec<u8>),
}

/// Which number of rows found a command leaves if it sends rows.
#[derive(Default)]
enum Leaves {
    #[default]
    Unknown,
    Own,
    /// Its own, and the read before is not sent because of it.
    InPlace,
    /// The same two of one that aggregates: with a row of nothing it leaves those of the read before.
    Aggregate {
        in_place: bool,
    },
}

impl Leaves {
    fn of(payload: Option<&[u8]>, takes_place: bool, aggregates: impl FnOnce(&[u8]) -> Aggregates) -> Leaves {
        let Some(payload) = payload.filter(|payload| takes_place || !looks_back(payload)) else {
            return Leaves::Unknown;
        };
        match aggregates(payload) {
            Aggregates::No if takes_place => Leaves::InPlace,
            Aggregates::No => Leaves::Own,
            _ => Leaves::Aggregate { in_place: takes_place },
        }
    }

    /// The server's number is not that of the last read that the client knows of: none if it is as it was.
    fn leads_astray(self, outcome: &Outcome) -> Option<bool> {
        let aggregated = found(outcome);
        match self {
            Leaves::Aggregate { .. } if aggregated.is_some() => aggregated.filter(|rows| *rows > 1).map(|_| false),
            // One that fails on its way has counted, too.
            Leaves::Own | Leaves::InPlace if outcome.has_columns => Some(false),
            Leaves::InPlace | Leaves::Aggregate { in_place: true } => Some(true),
            _ => None,
        }
    }
}

/// SHOW WARNINGS, for example, has rows and leaves the number of those found.
fn looks_back(payload: &[u8]) -> bool {
    const SHOW: &[u8] = b"show";
    let text = payload[1..].trim_ascii_start();
    payload[0] == Command::Query as u8 && text.get(..SHOW.len()).is_some_and(|word| word.eq_ignore_ascii_case(SHOW))
}

pub struct Seat {
    memory: Arc<Memory>,
    number: u32,
    own: Arc<Mutex<Own>>,
    unseen: Option<Unseen>,
    held: Option<Held>,
    inquiry: Option<Box<Inquiry>>,
    /// The reads whose answers the client does not get: their commands' numbers, and the rows that they had here.
    hidden: VecDeque<(u64, Option<u64>)>,
    /// Of the first command that the server has not answered.
    leaves: Leaves,
    /// The server's FOUND_ROWS() is not that of the last read that the client knows of.
    is_astray: bool,
    /// When it last got a command.
    seen_ns: u64,
    hits: u64,
    /// What is asked of the cache is asked of this one.
    reports: bool,
}

impl Seat {
    /// Of a connection that has just logged in. `number` and `greeting`: of the server's greeting, see [`feed::Connection::greeted`].
    /// `capabilities`: those in force. `reports`: what is asked of the cache is asked of this one.
    pub fn new(memory: &Arc<Memory>, number: u32, greeting: u64, capabilities: u64, reports: bool) -> Seat {
        let own = Arc::new(Mutex::new(Own::new(number, greeting, capabilities)));
        memory.enter(number, &own);
        Seat {
            memory: memory.clone(),
            number,
            own,
            unseen: None,
            held: None,
            inquiry: None,
            hidden: VecDeque::new(),
            leaves: Leaves::Unknown,
            is_astray: false,
            seen_ns: 0,
            hits: 0,
            reports,
        }
    }

    /// Bytes of the client. `is_heard`: it has got everything that came before.
    pub fn of_client(&mut self, follower: &mut Follower, bytes: &[u8], is_heard: bool) -> Then {
        let is_alone = follower.is_between() && lone_command(bytes).is_some();
        let unseen = self.unseen.as_ref().filter(|_| is_alone);
        let Some(completed) = unseen.and_then(|unseen| unseen.completed(bytes, follower.capabilities())) else {
            return self.decide(follower, bytes, is_heard);
        };
        match self.decide(follower, &completed, is_heard) {
            Then::Pass => Then::Instead(completed),
            then => then,
        }
    }

    fn decide(&mut self, follower: &mut Follower, bytes: &[u8], is_heard: bool) -> Then {
        let capabilities = follower.capabilities();
        let alone = follower.is_between().then(|| lone_command(bytes)).flatten();
        let short = alone.filter(|payload| payload.len() <= LONGEST);
        let may_be_served = is_heard && (follower.is_autonomous() || follower.is_in_transaction());
        if let Some(payload) = short.filter(|_| may_be_served)
            && let Some((answer, unseen)) = self.serve(bytes, payload, follower)
        {
            self.unseen = Some(unseen);
            return Then::Answer(answer);
        }
        let asks_here = is_heard && self.reports && follower.is_quiet();
        if let Some(asked) = short.filter(|_| asks_here).and_then(report::asked) {
            return if asked.is_open() { self.report(follower, &asked) } else { self.inquire(follower, asked) };
        }
        if self.is_astray
            && self.unseen.is_none()
            && is_heard
            && follower.is_quiet()
            && alone.is_some_and(|payload| self.asks_for_found_rows(payload))
        {
            return Then::Answer(has_changed());
        }
        let stays = |unseen: &Unseen| alone.is_some_and(|payload| unseen.may_follow(payload, follower));
        let unseen = self.unseen.take_if(|unseen| !stays(unseen));
        let aggregates = |payload: &[u8]| lock(&self.own).statements.aggregates(payload);
        // An aggregate over nothing would leave the rows found as they were before that.
        let is_replaced = |unseen: &Unseen| {
            alone.is_some_and(|payload| {
                let replaces = unseen.is_replaced_by(payload, capabilities) && aggregates(payload) == Aggregates::No;
                unseen.is_same(payload) || replaces
            })
        };
        let takes_place = unseen.as_ref().is_some_and(is_replaced);
        if follower.is_quiet() {
            let may_be_astray = self.is_astray || unseen.is_some();
            self.leaves = if may_be_astray { Leaves::of(alone, takes_place, aggregates) } else { Leaves::Unknown };
        }
        let Some(unseen) = (if takes_place { unseen.and_then(Unseen::earlier) } else { unseen }) else {
            self.forward(follower, bytes);
            return Then::Pass;
        };
        let asks = alone.is_some_and(|payload| self.asks_for_found_rows(payload));
        self.held = asks.then(|| Held::new(bytes.to_vec(), &unseen));
        let packet = self.forward_unseen(follower, unseen);
        if asks {
            return Then::Hold(packet);
        }
        self.forward(follower, bytes);
        Then::Instead([&packet, bytes].concat())
    }

    fn asks_for_found_rows(&self, payload: &[u8]) -> bool {
        says_found_rows(payload) || lock(&self.own).statements.asks_for_found_rows(payload) == Some(true)
    }

    /// A command waits, and nothing else of the client may be read.
    pub fn is_holding(&self) -> bool {
        self.held.is_some() || self.inquiry.is_some()
    }

    /// What becomes of the command that waited, once the server has run what it had not seen.
    pub fn take_held(&mut self, follower: &mut Follower) -> Option<Then> {
        if let Some(inquiry) = self.inquiry.take_if(|inquiry| inquiry.is_over()) {
            return Some(match inquiry.ended() {
                Ok(asked) => self.report(follower, &asked),
                Err(error) => Then::Answer(error),
            });
        }
        match self.held.take_if(|held| held.is_counted())?.released() {
            Ok(command) => {
                self.forward(follower, &command);
                Some(Then::Instead(command))
            }
            Err(error) => Some(Then::Answer(error)),
        }
    }

    /// The server has answered what the client does not know of.
    pub fn of_hidden(&mut self, outcome: &Outcome) {
        if let Some((number, rows)) = self.hidden.pop_front() {
            lock(&self.own).statements.answered(number, outcome);
            self.is_astray |= !is_found(rows, outcome);
        }
        self.held.iter_mut().for_each(|held| held.count(outcome));
        self.inquiry.iter_mut().for_each(|inquiry| inquiry.hear(outcome));
    }

    /// The client gets the end of an answer.
    pub fn of_answer(&mut self, outcome: &Outcome) {
        self.is_astray = std::mem::take(&mut self.leaves).leads_astray(outcome).unwrap_or(self.is_astray);
    }

    /// The answer to the command of this packet, if it may be served.
    fn serve(&mut self, packet: &[u8], payload: &[u8], follower: &Follower) -> Option<(Vec<u8>, Unseen)> {
        let (capabilities, is_inside) = (follower.capabilities(), follower.is_in_transaction());
        let is_seen = clock::now().saturating_sub(self.seen_ns) < SEEN_EVERY_NS;
        let may_be_seen = self.unseen.as_ref().is_none_or(|unseen| unseen.may_be_forgotten_for(payload, capabilities));
        let own = (is_seen && may_be_seen).then(|| lock(&self.own))?;
        let read = own.read(payload)?;
        let with = |entry: &cache::Entry| {
            let mut answer = entry.value().to_vec();
            let places = Places::from_bits(entry.flags()).filter(|_| is_inside);
            places.into_iter().for_each(|places| places.give(&mut answer, follower.flags()));
            (answer, entry.rows(), Use::of(entry))
        };
        let ((answer, rows, one), under) = own.serve(&self.memory.kept, &read, is_inside, with)?;
        self.memory.kept.hits.fetch_add(1, Ordering::Relaxed);
        self.memory.kept.hits_inside.fetch_add(u64::from(is_inside), Ordering::Relaxed);
        self.memory.kept.uses.served(one);
        self.hits += 1;
        let is_binary = read.protocol() == Protocol::Binary;
        let may_leave = || rows <= 1 && may_leave_found(read.aggregates(), &answer, capabilities, is_binary);
        let earlier = self.unseen.take().filter(|_| may_leave());
        let rows = (earlier.is_some() || !self.is_astray || !may_leave()).then_some(rows);
        let (packet, first_types) = (packet.to_vec(), read.first_types());
        let unseen = Unseen { packet, rows, under: Some(under), first_types, before: Vec::new() };
        Some((answer, earlier.into_iter().fold(unseen, Unseen::after)))
    }

    fn report(&self, follower: &Follower, asked: &Asked) -> Then {
        Then::Answer(report::answer(&self.memory, &Right::Leases, asked, &Asker::of(follower, self.hits)))
    }

    /// First the server says whether this account may see that.
    fn inquire(&mut self, follower: &mut Follower, asked: Asked) -> Then {
        let unseen = self.unseen.take();
        self.inquiry = Some(Box::new(Inquiry::new(asked, unseen.iter().map(Unseen::count).sum())));
        let mut packets = unseen.map(|unseen| self.forward_unseen(follower, unseen)).unwrap_or_default();
        let packet = Inquiry::packet(&MARIADB, follower.capabilities());
        follower.expect_hidden(Expect::Query);
        lock(&self.own).connection.forward(&packet[Header::SIZE..]);
        self.seen_ns = clock::now();
        packets.extend(packet);
        Then::Hold(packets)
    }

    /// The server gets the last read that it has not seen, after those that matter for it.
    fn forward_unseen(&mut self, follower: &mut Follower, mut unseen: Unseen) -> Vec<u8> {
        self.is_astray = false;
        let before = std::mem::take(&mut unseen.before);
        let mut packets = Vec::new();
        for one in before.into_iter().chain([unseen]) {
            follower.expect_hidden(one.expect());
            let Unseen { packet, rows, under, .. } = one;
            let number = lock(&self.own).forward_served(&self.memory.kept, &packet[Header::SIZE..], under);
            self.hidden.push_back((number, rows));
            packets.extend(packet);
        }
        packets
    }

    /// Bytes that the server gets.
    fn forward(&mut self, follower: &mut Follower, bytes: &[u8]) {
        self.seen_ns = clock::now();
        let mut rest = bytes;
        while let Some(packet) = follower.is_between().then(|| first_command(rest)).flatten() {
            let (command, others) = rest.split_at(Header::SIZE + packet.len());
            self.forward_piece(follower, command, packet, true);
            rest = others;
        }
        if !rest.is_empty() {
            let begins = follower.is_between() && Header::parse(rest).is_some_and(|header| header.sequence == 0);
            let payload = if begins { &rest[Header::SIZE..] } else { &[] };
            self.forward_piece(follower, rest, payload, false);
        }
    }

    /// `payload`: of one whole command, or what there is of the first.
    fn forward_piece(&mut self, follower: &mut Follower, bytes: &[u8], payload: &[u8], is_whole: bool) {
        let before = follower.commands_begun();
        follower.from_client(bytes);
        let begun = follower.commands_begun() - before;
        let mut own = lock(&self.own);
        if is_whole && begun == 1 && is_harmless(payload) {
            own.connection.forward_harmless();
            own.statements.forward(0, payload, true);
            return;
        }
        // Of what is not one whole command nothing needs to be told.
        let told = if is_whole { payload } else { &[] };
        let number = (0..begun).map(|_| own.connection.forward(told)).last();
        let Some(number) = number else { return };
        let is_kept = is_whole && payload.len() <= LONGEST && self.memory.is_attached();
        let read = if is_kept { own.read(payload) } else { None };
        let mut is_noted = own.forward(&self.memory.kept, number, if begun == 1 { payload } else { &[] }, is_whole);
        if let Some(read) = read {
            own.note(&self.memory.kept, number, read);
            is_noted = true;
        }
        if is_noted {
            follower.note_last(number);
        }
    }

    /// Bytes of an answer that is noted under this number.
    pub fn of_server(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>) {
        lock(&self.own).take(&self.memory.kept, number, bytes, outcome);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.memory.leave(self.number, &self.own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use feed::{Frame, ToNear, Told, command_check};
    use std::cell::Cell;
    use std::rc::Rc;
    use wire::{Packet, capability, push_packet, status, surface::text_result};

    const GREETING: u64 = 9;
    const CAPABILITIES: u64 = capability::DEPRECATE_EOF;

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_packet(&mut out, &mut { sequence }, payload);
        out
    }

    fn hear(memory: &Memory, number: u64, messages: Vec<ToNear>) {
        assert!(memory.hear(Frame { number, messages }).is_ok());
    }

    /// What is told of an execution often comes when the next one is under way already.
    #[test]
    fn an_execution_is_served_though_the_one_before_was_sent_when_nothing_was_told_yet() {
        let memory = Arc::new(Memory::new(4 << 20));
        let begin = ToNear::Attached { version: 1, attachment: [1, 2], lease_ns: u64::MAX / 2 };
        hear(&memory, 1, vec![begin, ToNear::Granted { sent: u64::MAX / 2 }]);
        let mut seat = Seat::new(&memory, 7, GREETING, CAPABILITIES, false);
        let mut follower = Follower::new(CAPABILITIES);
        let execution = packet(0, &[23, 1, 0, 0, 0, 0, 1, 0, 0, 0]);
        let prepared = packet(1, &[0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        let rows = text_result(&["a"], &[vec![Some("1".into())]], CAPABILITIES, status::AUTOCOMMIT);
        let answers = [[prepared, packet(2, &[0; 8])].concat(), rows.clone(), rows];
        for (command, answer) in [packet(0, b"\x16SELECT 1"), execution.clone(), execution.clone()].iter().zip(&answers)
        {
            assert!(matches!(seat.of_client(&mut follower, command, true), Then::Pass));
            let mut shown = Vec::new();
            follower.from_server(answer, |part| {
                shown.extend(part.noted.map(|one| (one, part.bytes.to_vec(), part.outcome)))
            });
            shown.iter().for_each(|(number, bytes, outcome)| seat.of_server(*number, bytes, outcome.as_ref()));
        }
        let check = command_check(GREETING, Packet::parse(&execution).expect("a packet").payload);
        let told =
            Told { connection: 7, command: 2, check, context: 3, stamp: 5, cells: vec![(1, 1)], ..Told::default() };
        hear(&memory, 2, vec![ToNear::Told(told)]);
        assert!(matches!(seat.of_client(&mut follower, &execution, true), Then::Answer(_)));
    }

    const READ: &[u8] = b"\x03SELECT v FROM t";
    const OTHER: &[u8] = b"\x03SELECT v FROM u";
    const INSIDE: u16 = status::IN_TRANS | status::IN_TRANS_READONLY;

    /// One connection of a near cache that has been granted a lease. Reads depend on cell 1.
    struct Line {
        number: u32,
        memory: Arc<Memory>,
        seat: Seat,
        follower: Follower,
        frames: Rc<Cell<u64>>,
    }

    impl Line {
        fn new() -> Line {
            let line = Line::of(7, &Arc::new(Memory::new(4 << 20)), Rc::default());
            let begin = ToNear::Attached { version: 3, attachment: [1, 2], lease_ns: u64::MAX / 2 };
            line.hear(vec![begin, ToNear::Granted { sent: u64::MAX / 2 }]);
            line
        }

        fn of(number: u32, memory: &Arc<Memory>, frames: Rc<Cell<u64>>) -> Line {
            let seat = Seat::new(memory, number, GREETING, CAPABILITIES, false);
            Line { number, memory: memory.clone(), seat, follower: Follower::new(CAPABILITIES), frames }
        }

        /// Another connection of this near cache.
        fn another(&self) -> Line {
            Line::of(self.number + 1, &self.memory, self.frames.clone())
        }

        fn hear(&self, messages: Vec<ToNear>) {
            self.frames.set(self.frames.get() + 1);
            hear(&self.memory, self.frames.get(), messages);
        }

        /// Sends a command; the answer, if the near cache gives one itself.
        fn served(&mut self, payload: &[u8]) -> Option<Vec<u8>> {
            match self.seat.of_client(&mut self.follower, &packet(0, payload), true) {
                Then::Answer(answer) => Some(answer),
                _ => None,
            }
        }

        /// The server answers all that it was sent so.
        fn answer(&mut self, answer: &[u8]) {
            let mut shown = Vec::new();
            self.follower.from_server(answer, |part| {
                shown.extend(part.noted.map(|one| (one, part.bytes.to_vec(), part.outcome)))
            });
            shown.iter().for_each(|(number, bytes, outcome)| self.seat.of_server(*number, bytes, outcome.as_ref()));
        }

        fn run(&mut self, payload: &[u8], flags: u16) {
            assert!(self.served(payload).is_none());
            self.answer(&wire::ok_packet(1, 0, 0, flags, 0));
        }

        /// The server runs this read and reports it on the feed. `told.command` is the number of the read on this connection.
        fn read(&mut self, payload: &[u8], flags: u16, told: Told) {
            assert!(self.served(payload).is_none());
            self.answer(&one_row(flags));
            let check = command_check(GREETING, payload);
            self.hear(vec![ToNear::Told(Told { connection: self.number, check, context: 3, ..told })]);
        }
    }

    fn one_row(flags: u16) -> Vec<u8> {
        text_result(&["v"], &[vec![Some("1".into())]], CAPABILITIES, flags)
    }

    fn inside(command: u64, snapshot: Option<u64>) -> Told {
        Told { command, snapshot, is_for_transactions: true, stamp: 5, cells: vec![(1, 4)], ..Told::default() }
    }

    #[test]
    fn a_transaction_is_served_what_has_not_changed_since_its_snapshot() {
        for (snapshot, is_served) in [(Some(5), true), (Some(4), true), (Some(3), false), (None, false)] {
            let mut line = Line::new();
            line.run(b"\x03BEGIN", INSIDE);
            line.read(READ, INSIDE, inside(2, snapshot));
            assert_eq!(line.served(READ), is_served.then(|| one_row(INSIDE)), "{snapshot:?}");
        }
    }

    #[test]
    fn sessions_inside_and_outside_of_transactions_share_results_and_get_flags_of_their_own() {
        let mut line = Line::new();
        line.read(READ, status::AUTOCOMMIT, inside(1, None));
        assert_eq!(line.served(READ), Some(one_row(status::AUTOCOMMIT)));
        line.run(b"\x03SET autocommit = 0", 0);
        line.answer(&wire::ok_packet(1, 0, 0, 0, 0));
        line.read(OTHER, status::IN_TRANS, inside(4, Some(5)));
        assert_eq!(line.served(READ), Some(one_row(status::IN_TRANS)));
        assert_eq!(line.served(OTHER), Some(one_row(status::IN_TRANS)));
    }

    #[test]
    fn what_is_not_told_to_be_for_transactions_is_served_outside_of_them() {
        let told = |command, snapshot| Told { is_for_transactions: false, ..inside(command, snapshot) };
        let mut line = Line::new();
        line.read(READ, status::AUTOCOMMIT, told(1, None));
        assert!(line.served(READ).is_some());
        let mut line = Line::new();
        line.run(b"\x03BEGIN", INSIDE);
        line.read(READ, INSIDE, told(2, Some(5)));
        assert!(line.served(READ).is_none());
    }

    #[test]
    fn nothing_is_served_where_the_server_s_flags_and_what_it_told_differ() {
        let mut line = Line::new();
        line.read(READ, INSIDE, inside(1, None));
        assert!(line.served(READ).is_none());
        let mut line = Line::new();
        line.read(READ, status::AUTOCOMMIT, inside(1, Some(5)));
        assert!(line.served(READ).is_none());
    }

    #[test]
    fn after_anything_but_a_read_of_its_memory_a_transaction_is_unknown() {
        for other in [&b"\x03COMMIT"[..], b"\x03SAVEPOINT s", b"\x03SELECT 1 INTO @a", b"\x03UPDATE u SET v = 1"] {
            let mut line = Line::new();
            line.run(b"\x03BEGIN", INSIDE);
            line.read(READ, INSIDE, inside(2, Some(5)));
            line.run(other, INSIDE);
            assert!(line.served(READ).is_none());
        }
    }

    #[test]
    fn what_others_have_read_since_it_changed_is_not_served_in_an_earlier_snapshot() {
        let mut line = Line::new();
        line.run(b"\x03BEGIN", INSIDE);
        line.read(READ, INSIDE, inside(2, Some(5)));
        line.hear(vec![ToNear::Closed { cells: vec![1] }, ToNear::Opened { cells: vec![(1, 6)] }]);
        let mut other = line.another();
        other.read(READ, status::AUTOCOMMIT, Told { stamp: 7, cells: vec![(1, 6)], ..inside(1, None) });
        assert!(other.served(READ).is_some());
        assert!(line.served(READ).is_none());
    }
}
