//! Fuzzes the messages of both ends of a feed, the connection over which the plugin informs a near cache. A message that can be read is
//! written with the same bytes. A near cache that refuses a frame is detached and has no lease.
#![no_main]

use feed::{Frame, FromNear, NearEnd};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|payloads: Vec<&[u8]>| {
    let mut near = NearEnd::default();
    for payload in payloads {
        if let Ok(messages) = FromNear::decode_all(payload) {
            assert_eq!(FromNear::encode_all(&messages), payload);
        }
        let Ok(frame) = Frame::decode(payload) else { continue };
        assert_eq!(frame.encode(), payload);
        if near.receive(frame).is_err() {
            assert!(near.attachment().is_none() && !near.has_lease(0));
        }
    }
});
