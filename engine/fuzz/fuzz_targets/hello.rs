//! Fuzzes the parsers of everything that is read once per connection, and of the small packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{ChangeUser, ClientHello, ErrPacket, Greeting, OkPacket};

fuzz_target!(|input: (u64, &[u8])| {
    let (capabilities, payload) = input;
    ClientHello::parse(payload);
    ClientHello::tls_request(payload);
    ClientHello::ask_tls(&mut payload.to_vec(), true);
    Greeting::offer_tls(&mut payload.to_vec(), true);
    ChangeUser::parse(payload, capabilities);
    Greeting::parse(payload);
    OkPacket::parse(payload, capabilities);
    ErrPacket::parse(payload);
    wire::proxy::header_length(payload);
});
