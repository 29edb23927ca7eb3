//! Fuzzes the reports of processes on the reads that they have answered themselves, and the hash of the greeting that names a connection.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::hit_report::{HitReport, LeadingReport};
use wire::{Header, lone_command};

fuzz_target!(|bytes: &[u8]| {
    let _ = feed::check_of(bytes);
    let _ = lone_command(bytes).map(wire::execution);
    let LeadingReport::Complete(report, rest) = LeadingReport::parse(bytes) else { return };
    assert!(bytes.ends_with(rest) && Header::parse(bytes).is_some());
    let HitReport { hits, rows, packet } = report;
    assert_eq!(LeadingReport::parse(&HitReport { hits, rows, packet }.write()), LeadingReport::Complete(report, &[]));
});
