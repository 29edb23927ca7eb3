//! Follows both directions of a connection as their bytes pass, to know which answers the server still owes the client.
//!
//! Following changes no bytes, and keeps only a few bytes for each command that waits for its answer. If a byte sequence is not
//! understood, following ends, but the connection goes on. It is ended only if an answer is pending that the client must not see.

use std::collections::VecDeque;
use wire::{Command, Expect, Header, Outcome, OutcomeKind, Pieces, Progress, ResponseTracker, status};

/// The maximum number of commands that may wait for their answers. Clients are not known to send more than some dozens ahead.
const MOST_AHEAD: usize = 4096;

/// The reason why a connection's bytes are passed on, but no longer followed: nothing is served or stored on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadReason {
    /// Client and server use TLS with each other, so the bytes cannot be read here.
    EndToEndTls,
    /// Client and server compress the protocol.
    Compressed,
    /// The client is a replica: the server sends it its log without end.
    Replication,
    /// A byte sequence was not understood, or too many commands were sent ahead.
    NotUnderstood,
}

impl UnreadReason {
    pub const ALL: [UnreadReason; 4] =
        [UnreadReason::EndToEndTls, UnreadReason::Compressed, UnreadReason::Replication, UnreadReason::NotUnderstood];

    /// Returns the reason's name as a label in metrics.
    pub fn name(self) -> &'static str {
        match self {
            UnreadReason::EndToEndTls => "end_to_end_tls",
            UnreadReason::Compressed => "compressed",
            UnreadReason::Replication => "replication",
            UnreadReason::NotUnderstood => "not_understood",
        }
    }
}

/// The state of one connection's protocol after the login: which answers the server owes, and whether a transaction is open. The
/// caller passes it all bytes of both sides in the order in which they pass, however they are split.
pub struct Follower {
    /// The capabilities that client and server have agreed on.
    capabilities: u64,
    /// Splits the client's bytes into packets.
    client_pieces: Pieces,
    /// Splits the server's bytes into packets.
    server_pieces: Pieces,
    /// The answers that the server has not started to send, in the order of their commands.
    due: VecDeque<DueAnswer>,
    /// The answer that the server has started to send.
    answering: Option<(DueAnswer, ResponseTracker)>,
    /// True while the client sends the content of a file, for LOAD DATA LOCAL.
    is_in_file: bool,
    /// The status flags of the last answer that had any.
    flags: u16,
    /// True if the server may hold warnings that the client can ask for; see [`has_warned`](Self::has_warned).
    has_warned: bool,
    /// The reason why the connection is not followed. None while it is.
    unread: Option<UnreadReason>,
    /// The number of commands that the client has sent since it logged in.
    begun: usize,
    /// The number of these commands that `take_commands` has reported.
    taken: usize,
}

/// An answer that the server owes for a command.
#[derive(Clone, Copy, Debug)]
struct DueAnswer {
    expect: Expect,
    /// True if the client must not see the answer: it did not send the command, or has got its answer from memory.
    is_hidden: bool,
    /// The number that the caller has given to the answer with `number_last_answer`.
    number: Option<u64>,
}

/// Some bytes of one answer of the server.
pub struct AnswerPart<'a> {
    pub bytes: &'a [u8],
    /// True if the client must not receive these bytes.
    pub is_hidden: bool,
    /// The number that [`Follower::number_last_answer`] has given to the answer, if any.
    pub number: Option<u64>,
    /// The outcome of the answer. It comes with the answer's last bytes, and is none before.
    pub outcome: Option<Outcome>,
}

impl Follower {
    /// Follows a connection that has just logged in. `capabilities` are those that client and server have agreed on.
    pub fn new(capabilities: u64) -> Follower {
        Follower {
            capabilities,
            client_pieces: Pieces::default(),
            server_pieces: Pieces::default(),
            due: VecDeque::new(),
            answering: None,
            is_in_file: false,
            flags: 0,
            has_warned: false,
            unread: None,
            begun: 0,
            taken: 0,
        }
    }

    /// Describes a connection that is not followed, for this reason. Bytes that it is passed change nothing.
    pub fn unread(why: UnreadReason) -> Follower {
        Follower { unread: Some(why), ..Follower::new(0) }
    }

    /// Returns the capabilities that client and server have agreed on. Zero if the connection is not followed.
    pub fn capabilities(&self) -> u64 {
        self.capabilities
    }

    /// Returns the reason why the connection is not followed. None while it is.
    pub fn why_unread(&self) -> Option<UnreadReason> {
        self.unread
    }

    /// Returns the number of commands that the client has sent to the server since the last call.
    pub fn take_commands(&mut self) -> usize {
        self.begun - std::mem::replace(&mut self.taken, self.begun)
    }

    /// Returns the number of commands that the client has sent to the server since it logged in. A command counts from its first
    /// packet on.
    pub fn commands_begun(&self) -> usize {
        self.begun
    }

    /// Returns true if the connection could end here without a loss: no command is pending, and no transaction is open. False if
    /// it is not followed.
    pub fn is_at_rest(&self) -> bool {
        self.is_quiet() && self.flags & status::IN_TRANS == 0
    }

    /// Returns true if the server owes no answer, and the client has sent no part of a command. False if the connection is not
    /// followed.
    pub fn is_quiet(&self) -> bool {
        self.is_between_commands() && self.due.is_empty() && self.answering.is_none()
    }

    /// Returns the status flags of the last answer that had any (`SERVER_STATUS_...`); zero before the first one.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// Returns true if the server may hold warnings that the client can ask for: an answer had warnings or was an error, and
    /// since then no hidden command was answered without warnings.
    pub fn has_warned(&self) -> bool {
        self.has_warned
    }

    /// Returns true if the client's next byte starts a packet that belongs to no earlier command.
    pub fn is_between_commands(&self) -> bool {
        self.unread.is_none() && self.client_pieces.is_between() && !self.is_in_file
    }

    /// Returns true while the client sends the content of a file for LOAD DATA LOCAL.
    pub fn is_in_file(&self) -> bool {
        self.is_in_file
    }

    /// Sets the status flags to those of the answer to the login. To be called before the first command.
    pub fn set_login_flags(&mut self, flags: u16) {
        self.flags = flags;
    }

    /// Returns true if no command is pending, no transaction is open, and autocommit is on: a read would be a transaction of its
    /// own.
    pub fn is_autonomous(&self) -> bool {
        self.is_at_rest() && self.flags & status::AUTOCOMMIT != 0
    }

    /// Returns true if the server owes no answer and a transaction is open, so that a read would be part of it.
    pub fn is_in_transaction(&self) -> bool {
        self.is_quiet() && self.flags & status::IN_TRANS != 0
    }

    /// Notes that the server now gets a command that the client did not send, or whose answer it has got from memory. The client
    /// must not see the answer. `expect` is the kind of answer that such a command has.
    pub fn expect_hidden(&mut self, expect: Expect) {
        self.due.push_back(DueAnswer { expect, is_hidden: true, number: None });
    }

    /// Gives a number to the answer to the last command that was sent. It comes back in [`AnswerPart::number`]. Without an outstanding
    /// answer, nothing happens.
    pub fn number_last_answer(&mut self, number: u64) {
        self.due.back_mut().into_iter().for_each(|due| due.number = Some(number));
    }

    /// Takes bytes of the client that are sent to the server, before the server gets them.
    pub fn client_bytes(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while self.unread.is_none()
            && let Some(piece) = self.client_pieces.next(&mut rest)
        {
            piece.begins.into_iter().for_each(|header| self.packet_of_client(header, piece.bytes.first().copied()));
        }
    }

    fn packet_of_client(&mut self, header: Header, first: Option<u8>) {
        if self.is_in_file {
            self.is_in_file = header.length > 0;
            return;
        }
        // A packet that continues an exchange, such as a login, is not a command.
        if header.sequence != 0 {
            return;
        }
        self.begun += 1;
        match first.and_then(Command::from_byte) {
            Some(Command::BinlogDump | Command::BinlogDumpGtid) => self.give_up(UnreadReason::Replication),
            command => match Expect::of(command) {
                Expect::Nothing => {}
                _ if self.due.len() == MOST_AHEAD => self.give_up(UnreadReason::NotUnderstood),
                expect => self.due.push_back(DueAnswer { expect, is_hidden: false, number: None }),
            },
        }
    }

    /// Takes bytes of the server, before the client gets them. `on_part` receives them in parts, each of one answer. Returns the
    /// bytes that are not understood; there are none while the connection is followed. They are the client's too, unless
    /// [`hides_something`](Self::hides_something) is true.
    pub fn server_bytes<'a>(&mut self, bytes: &'a [u8], mut on_part: impl FnMut(AnswerPart<'a>)) -> &'a [u8] {
        let mut rest = bytes;
        while self.unread.is_none() && !rest.is_empty() {
            // Answers to commands that were sent ahead may arrive together. So a tracker gets no byte beyond a packet.
            let before = rest;
            self.server_pieces.next(&mut rest);
            match self.piece_of_server(&before[..before.len() - rest.len()]) {
                Some(part) => on_part(part),
                None => return before,
            }
        }
        rest
    }

    /// Takes bytes of one packet of an answer. Returns none if they are not understood; the connection is then no longer
    /// followed.
    fn piece_of_server<'a>(&mut self, bytes: &'a [u8]) -> Option<AnswerPart<'a>> {
        if self.answering.is_none() {
            let Some(due) = self.due.pop_front() else {
                self.give_up(UnreadReason::NotUnderstood);
                return None;
            };
            self.answering = Some((due, ResponseTracker::new(due.expect, self.capabilities)));
        }
        let (due, tracker) = self.answering.as_mut()?;
        let mut part = AnswerPart { bytes, is_hidden: due.is_hidden, number: due.number, outcome: None };
        match tracker.feed(bytes) {
            Progress::Done(outcome) => {
                self.answering = None;
                self.flags = outcome.status.unwrap_or(self.flags);
                let warns = outcome.warnings > 0 || matches!(outcome.kind, OutcomeKind::Err { .. });
                self.has_warned = warns || self.has_warned && !part.is_hidden;
                part.outcome = Some(outcome);
            }
            Progress::LocalInfile => self.is_in_file = true,
            Progress::More => {}
            Progress::Confused => {
                self.give_up(UnreadReason::NotUnderstood);
                return None;
            }
        }
        Some(part)
    }

    /// Returns true if a pending answer must not reach the client. If the connection is no longer followed at that time, none of
    /// the server's further bytes may reach the client, so the connection has to be ended.
    pub fn hides_something(&self) -> bool {
        self.answering.iter().map(|(due, _)| due).chain(&self.due).any(|due| due.is_hidden)
    }

    /// Ends following. The outstanding answers stay known, for [`hides_something`](Self::hides_something).
    fn give_up(&mut self, why: UnreadReason) {
        let (due, answering) = (std::mem::take(&mut self.due), self.answering.take());
        *self = Follower { begun: self.begun, taken: self.taken, due, answering, ..Follower::unread(why) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fqc_tests::random::Random;
    use wire::capability::PROTOCOL_41;
    use wire::{ErrPacket, ok_packet, push_packet};

    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        push_packet(&mut out, &mut { sequence }, payload);
        out
    }

    fn ok(flags: u16) -> Vec<u8> {
        ok_packet(1, 0, 0, flags, 0)
    }

    const QUERY: &[u8] = b"\x03SELECT 1";

    #[test]
    fn a_connection_is_at_rest_once_its_answer_is_complete() {
        let mut follower = Follower::new(PROTOCOL_41);
        assert!(follower.is_at_rest());
        for (index, byte) in packet(0, QUERY).iter().enumerate() {
            follower.client_bytes(&[*byte]);
            assert!(!follower.is_at_rest(), "{index}");
        }
        let answer = ok(0);
        for byte in &answer[..answer.len() - 1] {
            follower.server_bytes(&[*byte], |_| {});
            assert!(!follower.is_at_rest());
        }
        follower.server_bytes(&answer[answer.len() - 1..], |_| {});
        assert!(follower.is_at_rest());
        assert_eq!(follower.take_commands(), 1);
    }

    #[test]
    fn a_connection_in_a_transaction_is_not_at_rest() {
        let mut follower = Follower::new(PROTOCOL_41);
        for (flags, is_at_rest) in [(status::IN_TRANS, false), (0, true)] {
            follower.client_bytes(&packet(0, QUERY));
            follower.server_bytes(&ok(flags), |_| {});
            assert_eq!(follower.is_at_rest(), is_at_rest);
        }
    }

    #[test]
    fn commands_that_were_sent_ahead_are_answered_together() {
        let mut follower = Follower::new(PROTOCOL_41);
        follower.client_bytes(&[packet(0, QUERY), packet(0, b"\x0e"), packet(0, b"\x19\x01\0\0\0")].concat());
        let answers = [ErrPacket::build(1, 1064, b"42000", "no"), ok(0)].concat();
        follower.server_bytes(&answers[..answers.len() - 1], |_| {});
        assert!(!follower.is_at_rest());
        follower.server_bytes(&answers[answers.len() - 1..], |_| {});
        assert!(follower.is_at_rest());
        assert_eq!(follower.take_commands(), 3);
    }

    #[test]
    fn the_content_of_a_file_is_no_command() {
        let mut follower = Follower::new(PROTOCOL_41);
        follower.client_bytes(&packet(0, b"\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE t"));
        follower.server_bytes(&packet(1, b"\xfbf"), |_| {});
        // Sequence numbers wrap after 256 packets, so this packet has the number of a command.
        for sequence in 2..=u8::MAX {
            follower.client_bytes(&packet(sequence, b"\x01row"));
        }
        follower.client_bytes(&packet(0, b"\x01row"));
        follower.client_bytes(&packet(1, b""));
        assert!(!follower.is_at_rest());
        follower.server_bytes(&ok_packet(2, 1, 0, 0, 0), |_| {});
        assert!(follower.is_at_rest());
        assert_eq!(follower.take_commands(), 1);
    }

    #[test]
    fn a_command_of_several_packets_is_one() {
        let mut follower = Follower::new(PROTOCOL_41);
        let mut payload = vec![b' '; wire::MAX_PAYLOAD];
        payload[0] = 3;
        let long = packet(0, &payload);
        follower.client_bytes(&long[..long.len() - 1]);
        assert!(!follower.is_at_rest());
        follower.client_bytes(&long[long.len() - 1..]);
        follower.server_bytes(&ok(0), |_| {});
        assert!(follower.is_at_rest());
        assert_eq!(follower.take_commands(), 1);
    }

    /// Builds up to three packets of the client or of the server. Sometimes a byte of them is changed.
    fn anything(random: &mut Random, is_of_client: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..random.below(4) {
            let payload: Vec<u8> = match (random.below(3), is_of_client) {
                (0, _) => (0..random.below(40)).map(|_| random.below(256) as u8).collect(),
                (1, true) => [&[random.below(32) as u8][..], b"SELECT 1"].concat(),
                (1, false) => ok(random.below(8) as u16)[Header::SIZE..].to_vec(),
                (_, true) => QUERY.to_vec(),
                (_, false) => b"\xffx\x04#42000no".to_vec(),
            };
            bytes.extend(packet(if is_of_client { 0 } else { 1 }, &payload));
        }
        if !bytes.is_empty() && random.percent(20) {
            let index = random.below(bytes.len());
            bytes[index] = random.below(256) as u8;
        }
        bytes
    }

    #[test]
    fn it_does_not_matter_how_the_bytes_are_cut() {
        let mut random = Random::new(1);
        let mut unread = 0;
        for round in 0..20_000 {
            let capabilities = random.draw();
            let (mut whole, mut cut) = (Follower::new(capabilities), Follower::new(capabilities));
            for step in 0..6 {
                let is_of_client = step % 2 == 0;
                let bytes = anything(&mut random, is_of_client);
                let feed = |follower: &mut Follower, bytes: &[u8]| match is_of_client {
                    true => follower.client_bytes(bytes),
                    false => _ = follower.server_bytes(bytes, |_| {}),
                };
                feed(&mut whole, &bytes);
                let mut rest = &bytes[..];
                while !rest.is_empty() {
                    let (piece, others) = rest.split_at(1 + random.below(rest.len().min(9)));
                    feed(&mut cut, piece);
                    rest = others;
                }
                let state = |follower: &Follower| (follower.is_at_rest(), follower.why_unread(), follower.begun);
                assert_eq!(state(&whole), state(&cut), "round {round}, step {step}: {bytes:?}");
            }
            unread += usize::from(whole.why_unread().is_some());
        }
        assert!((1000..19_000).contains(&unread), "{unread} of them are not followed");
    }

    #[test]
    fn what_is_not_understood_is_not_followed() {
        let mut follower = Follower::new(PROTOCOL_41);
        follower.server_bytes(&ErrPacket::build(0, 1927, b"70100", "Connection was killed"), |_| {});
        assert_eq!(follower.why_unread(), Some(UnreadReason::NotUnderstood));
        let mut follower = Follower::new(PROTOCOL_41);
        follower.client_bytes(&packet(0, b"\x12\x04\0\0\0\0\0\x01\0\0\0"));
        assert_eq!(follower.why_unread(), Some(UnreadReason::Replication));
    }
}
