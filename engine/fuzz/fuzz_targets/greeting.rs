//! Fuzzes a server's greeting, as it is changed for a client and as it is read for the account of a feed. Also the request for counters
//! over HTTP.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Challenge, ErrPacket, Greeting, capability};

fuzz_target!(|payload: &[u8]| {
    let mut changed = payload.to_vec();
    let before = Greeting::parse(payload);
    let _ = Greeting::offer_tls(&mut changed, before.as_ref().is_some_and(|_| payload.len().is_multiple_of(2)));
    if let (Some(()), Some(before)) = (Greeting::withhold(&mut changed, capability::MARIADB_CACHE_METADATA), before) {
        let after = Greeting::parse(&changed).expect("it was one");
        let changed = (before.capabilities ^ after.capabilities) & !capability::SSL;
        assert_eq!(changed, capability::MARIADB_CACHE_METADATA);
    }
    let _ = (Challenge::of_greeting(payload), Challenge::of_switch(payload), ErrPacket::parse(payload));
    let _ = near::http::path(payload);
});
