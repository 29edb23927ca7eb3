//! Fuzzes the reports of processes on the reads that they have answered themselves, and the hash of the greeting that names a connection.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::note::{Begins, Note};
use wire::{Header, lone_command};

fuzz_target!(|bytes: &[u8]| {
    let _ = feed::check_of(bytes);
    let _ = lone_command(bytes).map(wire::execution);
    let Begins::Note(note, rest) = Begins::with(bytes) else { return };
    assert!(bytes.ends_with(rest) && Header::parse(bytes).is_some());
    let Note { hits, rows, packet } = note;
    assert_eq!(Begins::with(&Note { hits, rows, packet }.write()), Begins::Note(note, &[]));
});
