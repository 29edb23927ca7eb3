//! By which right a connection is served from memory.

use crate::command::lone_command;
use crate::follow::Follower;
use crate::seat::{Seat, Then};
use crate::ttl;
use std::task::Context;
use wire::{Command, ErrPacket, Outcome};

const NOT_SUPPORTED: u16 = 1235;

pub enum Policy {
    /// The server's: no result is outdated.
    Leases(Box<Seat>),
    /// The operator's.
    Rules(Box<ttl::Session>),
}

impl Policy {
    /// Bytes of the client. `is_heard`: it has got everything that came before.
    pub fn of_client(&mut self, follower: &mut Follower, bytes: &[u8], is_heard: bool) -> Then {
        if is_heard && follower.is_quiet() && lone_command(bytes).is_some_and(attaches) {
            return Then::Answer(refusal());
        }
        match self {
            Policy::Leases(seat) => seat.of_client(follower, bytes, is_heard),
            Policy::Rules(session) => session.of_client(follower, bytes, is_heard),
        }
    }

    /// A command waits, and nothing else of the client may be read.
    pub fn is_holding(&self) -> bool {
        match self {
            Policy::Leases(seat) => seat.is_holding(),
            Policy::Rules(session) => session.is_holding(),
        }
    }

    pub fn take_held(&mut self, context: &mut Context<'_>, follower: &mut Follower) -> Option<Then> {
        match self {
            Policy::Leases(seat) => seat.take_held(follower),
            Policy::Rules(session) => session.take_held(context, follower),
        }
    }

    /// Bytes of an answer that is noted under this number.
    pub fn of_server(&mut self, number: u64, bytes: &[u8], outcome: Option<&Outcome>) {
        match self {
            Policy::Leases(seat) => seat.of_server(number, bytes, outcome),
            Policy::Rules(session) => session.of_server(number, bytes, outcome),
        }
    }

    /// An answer is complete. `is_hidden`: the client does not know of it.
    pub fn of_answer(&mut self, outcome: &Outcome, is_hidden: bool) {
        match self {
            Policy::Leases(seat) if is_hidden => seat.of_hidden(outcome),
            Policy::Leases(seat) => seat.of_answer(outcome),
            Policy::Rules(session) if is_hidden => session.of_hidden(outcome),
            Policy::Rules(session) => session.of_answer(outcome),
        }
    }
}

/// A near cache whose commands are counted here cannot tell which of them the server tells about: some are answered here.
fn attaches(payload: &[u8]) -> bool {
    payload.strip_prefix(&[Command::Query as u8]).is_some_and(feed::attaches)
}

fn refusal() -> Vec<u8> {
    let message =
        "another fqc-near stands before the server; attach to the server itself, or serve by rules or the binary log";
    ErrPacket::build(1, NOT_SUPPORTED, b"42000", message)
}
