//! Fuzzes how `fqc-near` follows both directions of a connection, in pieces of any size and order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use near_core::follow::Follower;

fuzz_target!(|input: (u64, Vec<(bool, Vec<u8>)>)| {
    let (capabilities, pieces) = input;
    let mut follower = Follower::new(capabilities);
    for (is_of_client, bytes) in pieces {
        if is_of_client {
            follower.client_bytes(&bytes)
        } else {
            let mut seen = 0;
            let rest = follower.server_bytes(&bytes, |part| seen += part.bytes.len());
            assert_eq!(seen + rest.len(), bytes.len());
        }
        follower.is_at_rest();
    }
});
