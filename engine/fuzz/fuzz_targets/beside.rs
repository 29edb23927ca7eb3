//! Fuzzes one client's connection through a near cache: any bytes from client, server and feed, in any order and cut anywhere. Bytes that
//! pass are the bytes that were sent, and what the near cache sends instead consists of whole packets.
#![no_main]

use feed::Frame;
use libfuzzer_sys::fuzz_target;
use near_core::follow::Follower;
use near_core::login_facts::LoginFacts;
use near_core::leases::ByLeases;
use near_core::memory::Memory;
use near::pump::server_bytes;
use near_core::session::{Session, Route};
use std::sync::Arc;
use std::task::{Context, Waker};

const CONNECTION: u32 = 7;
const GREETING: u64 = 9;

fuzz_target!(|input: (u64, Vec<(u8, Vec<u8>)>)| {
    let (capabilities, steps) = input;
    let memory = Arc::new(Memory::new(4 << 20));
    let mut follower = Follower::new(capabilities);
    let login_facts =
        LoginFacts { number: CONNECTION, greeting: GREETING, version: b"9.7.4".into(), capabilities, ..LoginFacts::default() };
    let leases = ByLeases::new(&memory, &login_facts, true);
    let mut session = Some(Session::new(&memory, leases));
    for (kind, bytes) in steps {
        match kind % 3 {
            0 => {
                let Some(session) = &mut session else { continue };
                let route = match session.is_holding() {
                    true => session.take_held(&mut Context::from_waker(Waker::noop()), &mut follower),
                    false => Some(session.client_bytes(&mut follower, &bytes, kind < 128)),
                };
                if let Some(Route::Answer(answer)) = route {
                    let all: usize = wire::packets(&answer).map(|packet| packet.payload.len() + 4).sum();
                    assert_eq!(all, answer.len());
                }
            }
            1 => {
                server_bytes(&mut follower, &mut session, &bytes);
            }
            _ => match Frame::decode(&bytes) {
                Ok(frame) => {
                    if memory.receive(frame).is_err() {
                        memory.detach();
                    }
                }
                Err(_) => memory.detach(),
            },
        }
        if follower.why_unread().is_some() {
            session = None;
        }
    }
});
