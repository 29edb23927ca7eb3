//! The digest of a statement's shape: a hash of 128 bits, the same on every server and after every restart.

use crate::shape::{shape_id, without_comments};

/// The shape of a statement for users: a hash that identifies it, and its text.
#[derive(Debug)]
pub struct Digest {
    /// The hash, see [`shape_id`].
    pub id: u128,
    /// The statement with `?` in place of its literals, without comments.
    pub text: Box<[u8]>,
}

impl Digest {
    /// Computes the digest of a shape, given without its first byte.
    pub fn new(shape: &[u8]) -> Digest {
        Digest { id: shape_id(shape), text: without_quotes(&without_comments(shape)) }
    }
}

/// Replaces each `'?'`, the sign for a string literal in a shape, by `?`.
fn without_quotes(shape: &[u8]) -> Box<[u8]> {
    let mut text = Vec::with_capacity(shape.len());
    let mut rest = shape;
    while let Some(byte) = rest.first() {
        let length = if rest.starts_with(b"'?'") { 3 } else { 1 };
        text.push(if length == 3 { b'?' } else { *byte });
        rest = &rest[length..];
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_names_that_last() {
        let digest = Digest::new(b"SELECT a FROM t WHERE b = '?' AND c = ?");
        assert_eq!(&*digest.text, b"SELECT a FROM t WHERE b = ? AND c = ?");
        assert_ne!(digest.id, Digest::new(b"SELECT a FROM t WHERE b = '?' AND d = ?").id);
        let commented = Digest::new(b"/**/ SELECT /**/a FROM t WHERE b = '?' AND c = ? /**/");
        assert_eq!((commented.id, commented.text), (digest.id, digest.text));
        assert_eq!(format!("{:032x}", Digest::new(b"SELECT 1").id), "d8d70ad96e05c15fac17324bc7c12440");
    }
}
