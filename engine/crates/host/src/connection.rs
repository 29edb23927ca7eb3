//! Passes the bytes of one connection between the server and its client.
//!
//! Reads run ahead of the server by at most one buffer, so that a whole command is seen before the server gets its first byte. A
//! command that is too long to hold is passed on piece by piece, and is only observed.
//!
//! A server with a thread pool polls the socket itself, so nothing may be read ahead there. Commands are peeked at instead, and after a
//! cache hit the server is given a ping to run, which makes it poll the socket again.

use crate::io::Io;
use crate::wait_policy::WaitPolicy;
use flavour::Flavour;
use session::{ClientOutput, Decision, Engine, Reply, Session};
use std::io::ErrorKind;
use wire::Header;

/// Commands of up to this many bytes can be held back and answered from the cache.
const HOLDABLE: usize = 1 << 20;
/// The size in bytes of the input buffer at first. It grows for longer commands.
const BUFFER: usize = 4096;
/// The default of the server's `net_write_timeout`.
const WRITE_TIMEOUT_MS: i32 = 60_000;

/// A client's connection to the server. The host passes every byte through it, by `read` and `write`.
pub struct Connection {
    /// The engine's side of the connection. The server's reports about the connection go here.
    pub session: Session,
    /// Bytes from the client, valid up to `filled`. The server has read those before `given` and may be given those before `granted`.
    input: Vec<u8>,
    filled: usize,
    given: usize,
    granted: usize,
    /// A packet that the engine sends to the server, and how many of its bytes the server has read.
    own: Vec<u8>,
    own_given: usize,
    /// The part received so far of a command that is passed on in pieces; none if there is no such command.
    passing: Option<Vec<u8>>,
    /// True while the server reads the rest of an oversized command.
    is_raw: bool,
    /// True if the last response is complete and the server has not tried to read since.
    has_answered: bool,
    wait_policy: WaitPolicy,
    /// True if the server polls the socket: bytes are then peeked at, never read ahead.
    peeks: bool,
    /// How many bytes of a peeked command the server may still read.
    peeked: usize,
    /// True once the server's first packet was examined.
    has_greeted: bool,
    /// True once the client's reply to the greeting has arrived, inside TLS if there is TLS.
    has_hello: bool,
    /// How many bytes at the start of the server's next write were examined before, but not accepted by the socket.
    ahead: usize,
}

impl Connection {
    /// Starts to follow a connection that the server has just accepted, before any byte. `number` is the value of `Settings::inherited`
    /// from before the accept. `peeks`: the server polls the socket itself, so no byte may be read ahead.
    pub fn accepted(flavour: &'static Flavour, number: u64, peeks: bool) -> Connection {
        Connection {
            session: Session::accepted(flavour, number),
            input: Vec::new(),
            filled: 0,
            given: 0,
            granted: 0,
            own: Vec::new(),
            own_given: 0,
            passing: None,
            is_raw: false,
            has_answered: false,
            wait_policy: WaitPolicy::default(),
            peeks,
            peeked: 0,
            has_greeted: false,
            has_hello: false,
            ahead: 0,
        }
    }

    /// True if this connection can go on without the engine: no byte from the client is buffered here, the server has read every packet of
    /// the engine's own, and it needs no further one to catch up with what the engine has answered.
    pub fn is_clean(&self) -> bool {
        self.buffered() == 0 && self.own_given == self.own.len() && !self.session.owes_server()
    }

    /// True once the client has replied to the server's greeting, in packets that the engine can parse: not compressed, and without an
    /// unknown capability.
    pub fn is_readable(&self) -> bool {
        self.has_hello && !self.session.is_foreign()
    }

    fn buffered(&self) -> usize {
        self.filled - self.given
    }

    /// Receives bytes from the client in place of the server's `recv`: the host calls it each time the server wants bytes, and returns its
    /// result to the server. The result is the number of bytes put into `buffer`, 0 at the end of the stream, or a negative value with the
    /// error in errno. Commands that are answered from the cache do not reach the server, and commands of the engine's own may be added.
    pub fn read(&mut self, engine: &Engine, io: &mut dyn Io, buffer: &mut [u8]) -> isize {
        if buffer.is_empty() {
            return io.read(buffer);
        }
        if let Some(count) = self.read_unwatched(engine, io, buffer) {
            return count;
        }
        loop {
            if let Some(count) = self.give(buffer) {
                return count;
            }
            if let Some(count) = self.awaits_unreported(engine, io) {
                return count;
            }
            if let Some(count) = self.read_raw(engine, io, buffer) {
                return count;
            }
            if self.peeks {
                match self.peek(engine, io) {
                    Some(count) => return count,
                    None => continue,
                }
            }
            match self.next_command() {
                Next::Command(end) => self.command(engine, io, end),
                Next::Pieces => self.pass(engine, false),
                Next::Oversized => self.pass(engine, true),
                next @ (Next::Nothing | Next::More) => {
                    let is_first_look = matches!(next, Next::Nothing) && std::mem::take(&mut self.has_answered);
                    let count =
                        if is_first_look { self.await_command(engine, io) } else { self.fill(|room| io.read(room)) };
                    if count <= 0 {
                        return count;
                    }
                }
            }
        }
    }

    /// A short path for a session whose commands are only searched for names of the cache's settings, because the engine is suspended or in
    /// light mode. Does for common commands what the loop in `read` would do. Returns none if that loop has to continue, possibly with
    /// bytes that were read here.
    #[inline]
    fn read_unwatched(&mut self, engine: &Engine, io: &mut dyn Io, buffer: &mut [u8]) -> Option<isize> {
        let is_usual = self.session.is_unwatched() && self.own_given == self.own.len() && self.input.len() >= BUFFER;
        if !is_usual || self.peeks || self.is_raw || self.passing.is_some() {
            return None;
        }
        if self.given == self.filled {
            if std::mem::take(&mut self.has_answered) {
                return Some(self.await_command(engine, io)).filter(|count| *count <= 0);
            }
            let count = self.fill(|room| io.read(room));
            if count <= 0 {
                return Some(count);
            }
            if let Next::Command(end) = self.next_command() {
                self.command(engine, io, end);
            }
        }
        self.give(buffer)
    }

    /// Copies bytes that the server may have into `buffer`: first the engine's own packet, then commands of the client. Returns the count,
    /// none if there are no such bytes.
    fn give(&mut self, buffer: &mut [u8]) -> Option<isize> {
        if self.own_given < self.own.len() {
            let count = copy(buffer, &self.own[self.own_given..]);
            self.own_given += count;
            return Some(count as isize);
        }
        if self.given < self.granted {
            let count = copy(buffer, &self.input[self.given..self.granted]);
            self.given += count;
            self.tidy();
            return Some(count as isize);
        }
        None
    }

    /// Handles a command that arrives before the server has reported the login. Login packets continue the server's packet numbers, while
    /// every command starts at 0, so such a command starts the session without the report. Returns the result of the read if nothing has
    /// arrived, none if the read goes on.
    fn awaits_unreported(&mut self, engine: &Engine, io: &mut dyn Io) -> Option<isize> {
        let is_between = self.has_hello && self.own.is_empty() && !self.session.is_in_commands();
        if !is_between || self.session.is_foreign() {
            return None;
        }
        let mut start = [0; Header::SIZE];
        let count = io.peek(&mut start);
        if count <= 0 {
            return Some(count);
        }
        if Header::parse(&start[..count as usize]).is_some_and(|header| header.sequence == 0) {
            self.session.begin_unreported(engine);
        }
        None
    }

    /// Passes on bytes that are not held back: those before the first command, those of an exchange such as LOAD DATA LOCAL, those of
    /// unreadable sessions and those of commands in pieces. Returns the result of the read, none if the next bytes are none of these.
    fn read_raw(&mut self, engine: &Engine, io: &mut dyn Io, buffer: &mut [u8]) -> Option<isize> {
        let is_hello = !self.session.is_in_commands() && !self.session.is_foreign();
        if self.peeked > 0 {
            let room = buffer.len().min(self.peeked);
            let count = io.read(&mut buffer[..room]);
            self.peeked -= count.max(0) as usize;
            return Some(count);
        }
        let is_raw = self.is_raw || is_hello || self.session.is_foreign() || self.session.is_in_exchange();
        if !is_raw && self.passing.is_none() {
            return None;
        }
        let count = match self.buffered() {
            0 => io.read(buffer),
            _ => {
                let count = copy(buffer, &self.input[self.given..self.filled]);
                self.given += count;
                self.granted = self.granted.max(self.given);
                self.tidy();
                count as isize
            }
        };
        if count > 0 && !self.is_raw {
            let bytes = &buffer[..count as usize];
            if self.passing.is_some() {
                self.observe_piece(engine, bytes);
            } else if is_hello {
                self.observe_login(engine, bytes);
            }
        }
        Some(count)
    }

    /// Peeks at the socket, and handles the command that is there. Returns the result of the read if nothing has arrived, none if a command
    /// was handled.
    fn peek(&mut self, engine: &Engine, io: &mut dyn Io) -> Option<isize> {
        self.input.resize(self.input.len().max(4 * BUFFER), 0);
        let count = io.peek(&mut self.input);
        if count <= 0 {
            return Some(count);
        }
        self.filled = count as usize;
        let next = self.next_command();
        (self.given, self.granted, self.filled) = (0, 0, 0);
        match next {
            Next::Command(end) => self.peeked_command(engine, io, end),
            next => self.pass(engine, matches!(next, Next::Oversized)),
        }
        None
    }

    /// Handles a whole command of `end` bytes that was peeked at. The socket still holds all of its bytes.
    fn peeked_command(&mut self, engine: &Engine, io: &mut dyn Io, end: usize) {
        if self.session.passes_unread(engine, &self.input[Header::SIZE..end]) {
            self.peeked = end;
            return;
        }
        let mut output = ToSocket { io, rest: Vec::new() };
        let decision = self.session.on_command(engine, &self.input[..end], &mut output);
        let rest = output.rest;
        write_all(io, &rest);
        match decision {
            Decision::Forward => self.peeked = end,
            Decision::Inject(packet) => self.lend(packet),
            Decision::Replace(packet) => {
                self.consume(io, end);
                self.lend(packet);
            }
            Decision::Answered => {
                self.consume(io, end);
                let ping = self.session.idle(engine);
                self.lend(ping);
            }
        }
    }

    /// Reads and drops `count` bytes, which were peeked at before, so they are certain to be there.
    fn consume(&mut self, io: &mut dyn Io, mut count: usize) {
        while count > 0 {
            let read = io.read(&mut self.input[..count]);
            if read <= 0 {
                return;
            }
            count -= read as usize;
        }
    }

    /// Starts passing on a command that cannot be held back. If the server must execute a packet of the engine first, only sends that; the
    /// caller calls again.
    fn pass(&mut self, engine: &Engine, is_oversized: bool) {
        if let Some(packet) = self.session.before_pieces(engine) {
            self.lend(packet);
        } else if is_oversized {
            self.session.on_oversized(engine);
            self.is_raw = true;
        } else {
            self.passing = Some(Vec::new());
        }
    }

    /// Collects a command that passes in pieces, and observes it once it is whole.
    fn observe_piece(&mut self, engine: &Engine, bytes: &[u8]) {
        let Some(collected) = &mut self.passing else { return };
        collected.extend_from_slice(bytes);
        let Some(header) = Header::parse(collected) else { return };
        if header.is_continued() {
            self.passing = None;
            self.session.on_oversized(engine);
            self.is_raw = true;
        } else if collected.len() >= Header::SIZE + header.length {
            let packet = std::mem::take(collected);
            self.passing = None;
            self.session.on_observed(engine, &packet);
        }
    }

    /// Collects a packet of the login, which the server has already read. The first packet holds the client's capabilities.
    fn observe_login(&mut self, engine: &Engine, bytes: &[u8]) {
        self.own.extend_from_slice(bytes);
        self.own_given = self.own.len();
        let start = if self.has_hello { Some(0) } else { wire::proxy::header_length(&self.own) };
        let Some(packet) = start.and_then(|start| self.own.get(start..)).and_then(wire::Packet::parse) else { return };
        if !self.has_hello {
            let begins_tls = self.session.on_hello(engine, packet.payload);
            self.has_hello = !begins_tls;
        }
        self.own = Vec::new();
        self.own_given = 0;
    }

    /// Returns what the unread input starts with.
    fn next_command(&self) -> Next {
        let waiting = &self.input[self.given..self.filled];
        if waiting.is_empty() {
            return Next::Nothing;
        }
        match Header::parse(waiting) {
            Some(header) if header.is_continued() => Next::Oversized,
            Some(header) if waiting.len() >= Header::SIZE + header.length && header.length > 0 => {
                Next::Command(self.given + Header::SIZE + header.length)
            }
            Some(header) if header.length > 0 && header.length < HOLDABLE && self.is_full() => Next::More,
            _ => Next::Pieces,
        }
    }

    /// True if the last read filled the buffer.
    fn is_full(&self) -> bool {
        self.filled == self.input.len()
    }

    /// Handles the whole command at the start of the unread input. The command ends at the offset `end` of the input.
    fn command(&mut self, engine: &Engine, io: &mut dyn Io, end: usize) {
        if self.session.passes_unread(engine, &self.input[self.given + Header::SIZE..end]) {
            self.granted = end;
            return;
        }
        let mut output = ToSocket { io, rest: Vec::new() };
        let decision = self.session.on_command(engine, &self.input[self.given..end], &mut output);
        let rest = output.rest;
        if !rest.is_empty() {
            write_all(io, &rest);
        }
        match decision {
            Decision::Forward => self.granted = end,
            Decision::Answered => {
                self.given = end;
                self.granted = end;
                self.tidy();
                self.has_answered = true;
            }
            Decision::Inject(packet) => self.lend(packet),
            Decision::Replace(packet) => {
                self.lend(packet);
                self.given = end;
                self.granted = end;
                self.tidy();
            }
        }
    }

    /// Sets a packet of the engine as the next bytes that the server reads, in place of the previous one, which the server has read.
    fn lend(&mut self, packet: Vec<u8>) {
        self.own = packet;
        self.own_given = 0;
    }

    /// Reads the next command right after a response. The client cannot have sent it yet, so waiting briefly may pay off. Returns what
    /// `recv` would return.
    fn await_command(&mut self, engine: &Engine, io: &mut dyn Io) -> isize {
        if engine.mode().is_awake() && self.wait_policy.is_due(io) {
            let count = self.fill(|room| io.read_patiently(room));
            self.wait_policy.note(count > 0);
            return count;
        }
        if io.would_block() { -1 } else { self.fill(|room| io.read(room)) }
    }

    /// Reads more bytes into the input buffer, which grows if it is full. Returns the result of `read`, which is like that of `recv`.
    fn fill(&mut self, read: impl FnOnce(&mut [u8]) -> isize) -> isize {
        if self.given == self.filled {
            self.given = 0;
            self.granted = 0;
            self.filled = 0;
        }
        if self.is_full() {
            self.input.resize((2 * self.input.len()).max(BUFFER), 0);
        }
        let count = read(&mut self.input[self.filled..]);
        self.filled += count.max(0) as usize;
        count
    }

    /// Resets the input buffer once the server has read all of it, and frees a large one.
    fn tidy(&mut self) {
        if self.given < self.filled {
            return;
        }
        self.given = 0;
        self.granted = 0;
        self.filled = 0;
        if self.input.len() > 4 * BUFFER {
            self.input = Vec::new();
        }
    }

    /// Takes bytes for the client in place of the server's `send`: the host calls it each time the server has bytes to send, and returns
    /// its result to the server. The result is how many of `bytes` were taken, or a negative value with the error in errno. Taken bytes may
    /// be held back, hidden from the client or replaced.
    pub fn write(&mut self, engine: &Engine, io: &mut dyn Io, bytes: &[u8]) -> isize {
        self.is_raw = false;
        if self.session.is_unwatched() {
            self.ahead = 0;
            self.has_answered = true;
            return io.write(bytes);
        }
        if self.ahead > 0 {
            let count = io.write(bytes);
            self.ahead -= self.ahead.min(count.max(0) as usize);
            return count;
        }
        if self.session.consumes_abandoned_response(bytes) {
            return bytes.len() as isize;
        }
        if !self.session.is_in_commands() {
            self.greet(engine, bytes);
            return io.write(bytes);
        }
        match self.session.on_response(engine, bytes) {
            Reply::Send => {
                let count = io.write(bytes);
                self.ahead = bytes.len() - count.max(0) as usize;
                self.session.after_send(engine);
                self.has_answered = self.session.is_at_rest();
                count
            }
            Reply::Swallow => bytes.len() as isize,
            Reply::Replace(response) => {
                write_all(io, &response);
                self.session.after_send(engine);
                bytes.len() as isize
            }
        }
    }

    /// Parses the server's greeting, its first packet. If that fails, the session is not followed, and all of its bytes pass unchanged.
    fn greet(&mut self, engine: &Engine, bytes: &[u8]) {
        if !self.has_greeted && !self.session.is_foreign() {
            self.has_greeted = true;
            if !self.session.on_greeting(engine, bytes) {
                self.session.abandon(engine);
            }
        }
    }
}

/// The start of a connection's unread input, by what must be done with it.
enum Next {
    /// A whole packet, which ends at this offset of the input.
    Command(usize),
    /// The packet is incomplete, but its rest has probably arrived.
    More,
    /// A command that is too long to hold back, or whose rest has not arrived. It is passed on in pieces.
    Pieces,
    /// A command of several packets, that is, of 16 MiB or more.
    Oversized,
    Nothing,
}

/// Copies as many bytes as fit, and returns their count.
fn copy(to: &mut [u8], from: &[u8]) -> usize {
    let count = to.len().min(from.len());
    to[..count].copy_from_slice(&from[..count]);
    count
}

/// Sends what the socket takes at once and copies what is left to `rest`, because the cache entry must not be held while a slow client
/// reads.
struct ToSocket<'a> {
    io: &'a mut dyn Io,
    rest: Vec<u8>,
}

impl ClientOutput for ToSocket<'_> {
    fn deliver(&mut self, pieces: &[&[u8]]) {
        let mut sent = self.io.try_write(pieces);
        for piece in pieces {
            let skipped = sent.min(piece.len());
            sent -= skipped;
            self.rest.extend_from_slice(&piece[skipped..]);
        }
    }
}

/// Blocks until everything is sent. If the client takes nothing for a minute, or the socket is broken, gives up without an error; the
/// server's next read then fails.
fn write_all(io: &mut dyn Io, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        let count = io.write(bytes);
        if count > 0 {
            bytes = &bytes[count as usize..];
        } else if is_broken(count) || !io.wait_writable(WRITE_TIMEOUT_MS) {
            return;
        }
    }
}

/// True if a write that returned `count` has failed for good, and not because the socket would block or a signal arrived.
fn is_broken(count: isize) -> bool {
    let error = std::io::Error::last_os_error();
    let may_go_on = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted);
    count == 0 || !may_go_on && error.raw_os_error() != Some(0)
}
