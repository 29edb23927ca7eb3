//! Parameters fit their payload to the last byte, or there are none.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Execute, with_types};

fuzz_target!(|input: (u16, &[u8], &[u8])| {
    let (count, types, payload) = input;
    let _ = with_types(payload, types);
    let Some(execute) = Execute::parse(payload) else { return };
    let new_types = execute.new_types(count);
    let Some(params) = execute.params(count, types) else { return };
    assert_eq!(params.iter().count(), usize::from(count));
    assert!(new_types.is_none_or(|types| types == params.types));
});
