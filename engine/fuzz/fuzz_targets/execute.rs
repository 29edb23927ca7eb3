//! Parameters fit their payload to the last byte, or there are none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::Execute;

fuzz_target!(|input: (u16, &[u8], &[u8])| {
    let (count, types, payload) = input;
    let Some(params) = Execute::parse(payload).and_then(|execute| execute.params(count, types)) else { return };
    assert_eq!(params.iter().count(), usize::from(count));
});
