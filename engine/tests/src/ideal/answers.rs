//! The few packets that the ideal cache sends.

const VERSION: &[u8] = b"5.5.5-10.11.0-ideal\0";
const PLUGIN: &[u8] = b"mysql_native_password\0";
/// LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x0008_a209;
const AUTOCOMMIT: [u8; 2] = [2, 0];
const LATIN1: u8 = 8;
const CHAR: u8 = 0xfe;
/// The length of the values in the column `c` of sysbench's tables.
const VALUE_BYTES: usize = 119;

/// The server's first packet, with a constant scramble, since any password is accepted.
pub fn greeting() -> Vec<u8> {
    let [low, high] = [CAPABILITIES & 0xffff, CAPABILITIES >> 16].map(|half| (half as u16).to_le_bytes());
    let salt = *b"12345678901234567890";
    let head = [&[10], VERSION, &[1, 0, 0, 0], &salt[..8], &[0], &low, &[LATIN1], &AUTOCOMMIT, &high, &[21]].concat();
    packet(0, &[&head[..], &[0; 10], &salt[8..], &[0], PLUGIN].concat())
}

/// An OK packet with this sequence number.
pub fn ok(sequence: u8) -> Vec<u8> {
    packet(sequence, &[0, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1], 0, 0])
}

/// The response to every read: one row with one value, as a point select of sysbench gets it.
pub fn row() -> Vec<u8> {
    let names = [&b"def"[..], b"sbtest", b"sbtest1", b"sbtest1", b"c", b"c"].map(text).concat();
    let column = [&names[..], &[12, LATIN1, 0, 120, 0, 0, 0, CHAR, 1, 0, 0, 0, 0]].concat();
    let end = [0xfe, 0, 0, AUTOCOMMIT[0], AUTOCOMMIT[1]];
    let payloads = [&[1][..], &column, &end, &text(&[b'x'; VALUE_BYTES]), &end];
    payloads.iter().zip(1..).flat_map(|(payload, sequence)| packet(sequence, payload)).collect()
}

fn text(bytes: &[u8]) -> Vec<u8> {
    [&[bytes.len() as u8], bytes].concat()
}

fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}
