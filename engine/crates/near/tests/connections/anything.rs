//! A client, a server and a feed send random bytes, in any order and cut at any place. Nothing may panic, memory stays limited, and answers
//! from memory are whole packets.

use feed::{CommandReport, Frame, ToNear, command_check};
use fqc_tests::random::Random;
use near::pump::server_bytes;
use near_core::follow::Follower;
use near_core::leases::ByLeases;
use near_core::login_facts::LoginFacts;
use near_core::memory::Memory;
use near_core::session::{Route, Session};
use std::sync::Arc;
use std::task::{Context, Waker};
use wire::{ErrPacket, Header, capability, ok_packet, push_packet, status};

/// The number that the simulated connection has on the server.
const CONNECTION: u32 = 7;
/// The hash of the server's greeting. Reports on the feed must have been made with the same one to match the connection.
const GREETING: u64 = 9;
/// The size of the memory for results, in bytes.
const SIZE: u64 = 4 << 20;

/// Returns a packet with this payload.
fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    push_packet(&mut out, &mut { sequence }, payload);
    out
}

/// Returns a random packet, most of the time a command that a client could send.
fn command(random: &mut Random) -> Vec<u8> {
    let id = [random.below(3) as u8, 0, 0, 0];
    let payload = match random.below(10) {
        0 => b"\x16SELECT ?".to_vec(),
        1..=3 => {
            let types: &[u8] = if random.percent(50) { &[1, 8, 0] } else { &[0] };
            [&[23][..], &id, &[u8::from(random.percent(5)), 1, 0, 0, 0, 0], types, &[random.below(2) as u8; 8]].concat()
        }
        4 => [&[random.below(32) as u8][..], &id, b"\0\0a"].concat(),
        5 => b"\x03SHOW FQC STATUS".to_vec(),
        6 => b"\x03SELECT FOUND_ROWS()".to_vec(),
        7 => (0..random.below(40)).map(|_| random.below(256) as u8).collect(),
        _ => b"\x03SELECT 1".to_vec(),
    };
    packet(if random.percent(97) { 0 } else { 3 }, &payload)
}

/// Returns random packets of a server, most of the time such that they could answer the command in the packet `to`; without it, of any
/// kind.
fn answer(random: &mut Random, to: Option<&Vec<u8>>) -> Vec<u8> {
    let flags = if random.percent(95) { status::AUTOCOMMIT } else { random.below(1 << 16) as u16 };
    let fitting = match to.and_then(|packet| packet.get(Header::SIZE)) {
        Some(22) => 2,
        Some(3 | 23) => 5,
        _ => 0,
    };
    match if to.is_some() { fitting } else { random.below(6) } {
        0 => ok_packet(1, 0, 0, flags, 0),
        1 => ErrPacket::build(1, 1064, b"42000", "no"),
        // The answer to PREPARE, for a statement with one parameter and one column.
        2 => {
            let definition = [0; 8];
            let head = [&[0, random.below(3) as u8, 0, 0, 0][..], &[1, 0, 1, 0, 0, 0, 0]].concat();
            [packet(1, &head), packet(2, &definition), packet(3, &definition)].concat()
        }
        3 => (0..random.below(60)).map(|_| random.below(256) as u8).collect(),
        _ => wire::surface::text_result(&["a"], &[vec![Some("1".into())]], capability::DEPRECATE_EOF, flags),
    }
}

/// Returns a random frame of the feed, most of the time a report on one of the commands that were sent. The frame with the number 1 begins
/// the attachment and grants a lease.
fn frame(random: &mut Random, number: u64, commands: &[Vec<u8>]) -> Frame {
    let told = |random: &mut Random| {
        let command = if random.percent(70) { commands.len() } else { 1 + random.below(commands.len() + 1) };
        let payload =
            commands.get(command.wrapping_sub(1)).and_then(|packet| packet.get(Header::SIZE..)).unwrap_or_default();
        CommandReport {
            connection: CONNECTION,
            command: command as u64,
            check: command_check(GREETING, payload),
            context: u64::from(random.percent(10)),
            stamp: 5,
            holds_over_preparations: random.percent(50),
            is_for_transactions: random.percent(80),
            snapshot: random.percent(20).then_some(random.below(8) as u64),
            is_of_session: random.percent(20),
            cells: vec![(1 + random.below(2) as u32, random.below(6) as u64)],
        }
    };
    let message = match random.below(20) {
        0 => ToNear::Closed { cells: vec![random.below(3) as u32] },
        1 => ToNear::Opened { cells: vec![(random.below(3) as u32, random.below(8) as u64)] },
        2 if random.percent(10) => ToNear::Attached { version: 1, attachment: [1, 2], lease_ns: u64::MAX },
        _ => ToNear::Report(told(random)),
    };
    let begin = ToNear::Attached { version: 1, attachment: [1, 2], lease_ns: u64::MAX / 2 };
    let granted = ToNear::Granted { sent: u64::MAX / 2 };
    let messages = if number == 1 { vec![begin, granted] } else { vec![message] };
    Frame { number, messages }
}

#[test]
fn nothing_that_anybody_sends_does_more_than_end_its_connection() {
    const ROUNDS: usize = 4000;
    let mut random = Random::new(3);
    let (mut answered, mut unread) = (0, 0);
    for round in 0..ROUNDS {
        let memory = Arc::new(Memory::new(SIZE));
        let capabilities = if random.percent(90) { capability::DEPRECATE_EOF } else { random.draw() };
        let mut follower = Follower::new(capabilities);
        let version = random.word(&["10.11.19-MariaDB", "9.7.4"]).into();
        let login_facts =
            LoginFacts { number: CONNECTION, greeting: GREETING, version, capabilities, ..LoginFacts::default() };
        let leases = ByLeases::new(&memory, &login_facts, true);
        let mut session = Some(Session::new(&memory, leases));
        let (mut sent, mut number) = (Vec::new(), 1);
        let mut is_due = false;
        for step in 0..60 {
            // Mostly in turns: a command, its answer, and the feed's report on it.
            match if random.percent(99) { step % 3 } else { random.below(3) } {
                0 => {
                    let Some(session) = &mut session else { continue };
                    let mut bytes = command(&mut random);
                    let is_whole = random.percent(99);
                    bytes.truncate(if is_whole { bytes.len() } else { random.below(bytes.len() + 1) });
                    let route = match session.is_holding() {
                        true => session.take_held(&mut Context::from_waker(Waker::noop()), &mut follower),
                        false => Some(session.client_bytes(&mut follower, &bytes, true)),
                    };
                    match route {
                        Some(Route::Answer(answer) | Route::ReplaceAndAnswer { answer, .. }) => {
                            let whole: usize = wire::packets(&answer).map(|one| one.payload.len() + Header::SIZE).sum();
                            assert_eq!(whole, answer.len(), "round {round}");
                        }
                        Some(Route::Pass) => {
                            is_due = ![Some(&24), Some(&25), Some(&1)].contains(&bytes.get(Header::SIZE));
                            sent.push(bytes);
                        }
                        Some(Route::Replace(bytes) | Route::Hold(bytes)) => {
                            is_due = true;
                            sent.push(bytes);
                        }
                        None => {}
                    }
                }
                1 => {
                    if !std::mem::take(&mut is_due) && random.percent(99) {
                        continue;
                    }
                    let to = sent.last().filter(|_| random.percent(99));
                    server_bytes(&mut follower, &mut session, &answer(&mut random, to));
                }
                _ => {
                    let is_heard = memory.receive(frame(&mut random, number, &sent)).is_ok();
                    number = if is_heard { number + 1 } else { 1 };
                    if !is_heard {
                        memory.detach();
                    }
                }
            }
            if follower.why_unread().is_some() {
                session = None;
            }
        }
        let counted = memory.results.counted();
        assert!(counted.bytes <= SIZE);
        answered += counted.hits as usize;
        unread += usize::from(session.is_none());
    }
    println!("{answered} reads were answered from memory, {unread} of {ROUNDS} connections were not understood");
    assert!(answered > ROUNDS / 4, "only {answered} were answered here");
    assert!((1..ROUNDS).contains(&unread), "{unread} of {ROUNDS} were not understood");
}
