//! A hash of several parts. The same bytes that are split differently have another hash.

use ring::digest::{Context, SHA256};

/// Returns a SHA-256 over these parts and their lengths.
pub fn of<'a>(parts: impl Iterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hash = Context::new(&SHA256);
    for part in parts {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut digest = [0; 32];
    digest.copy_from_slice(hash.finish().as_ref());
    digest
}
