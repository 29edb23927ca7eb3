//! Framing, numbers and the small packets.

use wire::lenenc::{Reader, push_int, push_string};
use wire::{
    ErrPacket, Expect, Header, MAX_PAYLOAD, OkPacket, Packet, Pieces, Progress, ResponseTracker, capability, ok_packet,
    packets, patch_status, push_packet, status,
};

#[test]
fn integers_survive_the_way_there_and_back() {
    for value in [0, 1, 250, 251, 252, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
        let mut bytes = Vec::new();
        push_int(&mut bytes, value);
        let mut reader = Reader::new(&bytes);
        assert_eq!((reader.int(), reader.is_empty()), (Some(value), true));
        for length in 0..bytes.len() {
            let mut cut = Reader::new(&bytes[..length]);
            assert_eq!((cut.int(), cut.rest().len()), (None, length), "nothing is consumed");
        }
    }
    assert_eq!(Reader::new(&[0xFB]).int(), None);
    assert_eq!(Reader::new(&[0xFF]).int(), None);
}

#[test]
fn strings_and_nulls_are_told_apart() {
    let mut bytes = Vec::new();
    push_string(&mut bytes, &[b'x'; 300]);
    bytes.extend_from_slice(&[0xFB, 0, b'a', 0]);
    let mut reader = Reader::new(&bytes);
    assert_eq!(reader.text_value(), Some(Some(&[b'x'; 300][..])));
    assert_eq!(reader.text_value(), Some(None));
    assert_eq!(reader.text_value(), Some(Some(&b""[..])));
    assert_eq!(reader.nul_terminated(), Some(&b"a"[..]));
    assert_eq!(reader.text_value(), None);
    assert_eq!(Reader::new(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255]).string(), None);
}

#[test]
fn long_payloads_are_split() {
    for length in [0, 1, MAX_PAYLOAD - 1, MAX_PAYLOAD, MAX_PAYLOAD + 1, 2 * MAX_PAYLOAD] {
        let (mut bytes, mut sequence) = (Vec::new(), 254);
        push_packet(&mut bytes, &mut sequence, &vec![7; length]);
        let mut framed = packets(&bytes);
        let parts: Vec<Packet> = framed.by_ref().collect();
        assert!(framed.rest().is_empty());
        assert_eq!(parts.iter().map(|part| part.payload.len()).sum::<usize>(), length);
        assert_eq!(parts.len(), length / MAX_PAYLOAD + 1);
        assert!(parts.iter().rev().skip(1).all(|part| part.header.is_continued()));
        assert_eq!(sequence, 254u8.wrapping_add(parts.len() as u8));
    }
}

#[test]
fn incomplete_packets_are_left() {
    let bytes = [2, 0, 0, 9, 1, 2, 5, 0, 0, 10, 1];
    let mut framed = packets(&bytes);
    let first = framed.next().expect("a whole packet");
    assert_eq!((first.header, first.payload), (Header { length: 2, sequence: 9 }, &[1, 2][..]));
    assert_eq!((framed.next(), framed.rest()), (None, &bytes[6..]));
}

#[test]
fn ok_packets_are_built_read_and_patched() {
    let mut bytes = ok_packet(3, 300, 70_000, status::AUTOCOMMIT, 1);
    let Progress::Done(outcome) = ResponseTracker::new(Expect::Ok, 0).feed(&ok_packet(1, 0, 0, 2, 0)) else {
        panic!("not an end");
    };
    assert_eq!(outcome.status_offsets.as_slice(), [7]);
    let payload = &bytes.clone()[4..];
    let ok = OkPacket::parse(payload, 0).expect("an OK packet");
    assert_eq!((ok.affected_rows, ok.last_insert_id, ok.status, ok.warnings), (300, 70_000, 2, 1));
    let mut plain = ok_packet(1, 0, 0, status::AUTOCOMMIT | status::NO_INDEX, 0);
    patch_status(&mut plain, &outcome.status_offsets, status::AUTOCOMMIT | status::IN_TRANS, status::IN_TRANS);
    assert_eq!(OkPacket::parse(&plain[4..], 0).map(|ok| ok.status), Some(status::IN_TRANS | status::NO_INDEX));
    bytes.truncate(5);
    assert_eq!(patch_status(&mut bytes, &outcome.status_offsets, 1, 1), None, "the offset lies beyond the end");
}

#[test]
fn session_tracking_is_separated_from_the_message() {
    let payload = [&[0, 0, 0, 2, 0x40, 0, 0, 2][..], b"hi", &[3, 1, 1, 0]].concat();
    let ok = OkPacket::parse(&payload, capability::SESSION_TRACK).expect("an OK packet");
    assert_eq!((ok.info, ok.session_state), (&b"hi"[..], &[1, 1, 0][..]));
    assert_eq!(OkPacket::parse(&payload, 0).map(|ok| ok.info.len()), Some(7));
}

#[test]
fn errors_are_built_and_read() {
    let bytes = ErrPacket::build(1, 1227, b"42000", "Access denied");
    let error = ErrPacket::parse(&bytes[4..]).expect("an ERR packet");
    assert_eq!((error.code, error.sqlstate, error.message), (1227, Some(&b"42000"[..]), &b"Access denied"[..]));
    let early = ErrPacket::parse(b"\xff\x10\x04Too many connections").expect("an ERR packet");
    assert_eq!((early.sqlstate, early.message), (None, &b"Too many connections"[..]));
    assert_eq!(ErrPacket::parse(&[0, 1, 2]), None);
}

#[test]
fn packets_are_the_same_however_their_bytes_are_cut() {
    let mut bytes = Vec::new();
    let payloads = [&b"\x03SELECT 1"[..], b"", &vec![b'x'; 300], &vec![b'y'; MAX_PAYLOAD], b"z"];
    payloads.iter().for_each(|payload| push_packet(&mut bytes, &mut 0, payload));
    for cut in [1, 3, 7, 4096, bytes.len()] {
        let (mut pieces, mut seen, mut payload) = (Pieces::default(), Vec::new(), Vec::new());
        for mut part in bytes.chunks(cut) {
            while let Some(piece) = pieces.next(&mut part) {
                assert_eq!(piece.begins.is_some(), payload.is_empty() && (!piece.bytes.is_empty() || piece.ends));
                payload.extend_from_slice(piece.bytes);
                if piece.ends {
                    seen.push(std::mem::take(&mut payload));
                }
                assert_eq!(pieces.is_between(), piece.ends);
            }
        }
        assert!(seen.iter().zip(payloads).all(|(one, other)| one == other) && seen.len() == payloads.len(), "{cut}");
        assert!(pieces.is_between());
    }
}
