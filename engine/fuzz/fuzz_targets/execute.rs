//! Fuzzes executions of prepared statements: their parameters are parsed to the last byte of the payload, or not at all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Execute, capability, with_types};

fuzz_target!(|input: (u16, bool, &[u8], &[u8])| {
    let (count, has_attributes, types, payload) = input;
    let capabilities = if has_attributes { capability::QUERY_ATTRIBUTES } else { 0 };
    let _ = with_types(payload, types, capabilities);
    let Some(execute) = Execute::parse(payload, capabilities) else { return };
    let new_types = execute.new_types(count);
    let Some(params) = execute.params(count, types) else { return };
    assert_eq!(params.iter().count(), usize::from(count));
    assert!(new_types.is_none_or(|types| types == params.types));
});
