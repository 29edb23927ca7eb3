//! Fuzzes the tracking of responses: however a response is cut, its end and its outcome are the same; results can be rewritten or are left
//! alone.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{Expect, Progress, ResponseTracker, surface};

const EXPECTED: [Expect; 8] = [
    Expect::Query,
    Expect::Prepare,
    Expect::Execute,
    Expect::FieldList,
    Expect::Ok,
    Expect::Text,
    Expect::ChangeUser,
    Expect::Fetch,
];

fuzz_target!(|input: (u8, u64, u8, &[u8])| {
    let (expect, capabilities, cut, bytes) = input;
    let expect = EXPECTED[usize::from(expect) % EXPECTED.len()];
    let whole = ResponseTracker::new(expect, capabilities).feed(bytes);
    let mut pieces = ResponseTracker::new(expect, capabilities);
    let mut last = Progress::More;
    for piece in bytes.chunks(usize::from(cut).max(1)) {
        last = pieces.feed(piece);
    }
    if let Progress::Done(_) = whole {
        assert_eq!(last, whole);
    }
    surface::rename_columns(bytes, capabilities, &[(b"a", b"bc")]);
    if let Some(replaced) = surface::replace_values(bytes, capabilities, &[("a", "b")]) {
        let again = ResponseTracker::new(Expect::Query, capabilities).feed(&replaced);
        assert!(matches!(again, Progress::Done(_)), "{again:?}");
    }
});
