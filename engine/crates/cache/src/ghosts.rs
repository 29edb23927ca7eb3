//! Fingerprints of entries that were evicted before they were used twice. If such an entry is inserted again soon, it has shown that it is
//! reused, and goes straight to the main queue.
//!
//! Each bucket holds eight 16-bit fingerprints in order of arrival; a ninth pushes out the oldest. Forgetting one, or confusing two (8 in
//! 32768), does no harm: an entry enters the wrong queue.

pub(crate) const BUCKET: usize = 8;
pub(crate) type Bucket = [u16; BUCKET];

/// Returns the fingerprint of an evicted entry, which remembers that the entry was there, from the entry's tag
/// ([`Hash::tag`](crate::hash::Hash::tag), 15 bits): the tag shifted and made odd, so that an empty place (zero)
/// matches none.
fn fingerprint(tag: u16) -> u16 {
    tag << 1 | 1
}

/// Adds the fingerprint of an evicted entry with this tag to the bucket, and drops the oldest one.
pub(crate) fn remember(bucket: &mut Bucket, tag: u16) {
    bucket.rotate_right(1);
    bucket[0] = fingerprint(tag);
}

pub(crate) fn contains(bucket: &Bucket, tag: u16) -> bool {
    bucket.contains(&fingerprint(tag))
}

/// Removes the fingerprint of an entry with this tag from the bucket. Returns true if it was there.
pub(crate) fn recall(bucket: &mut Bucket, tag: u16) -> bool {
    let found = bucket.iter().position(|&ghost| ghost == fingerprint(tag));
    if let Some(at) = found {
        bucket[at..].rotate_left(1);
        bucket[BUCKET - 1] = 0;
    }
    found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_ghost_is_forgotten_first_and_a_recalled_one_at_once() {
        let mut bucket = Bucket::default();
        assert!(!recall(&mut bucket, 0));
        (0..9).for_each(|n| remember(&mut bucket, n));
        assert!(!recall(&mut bucket, 0), "the ninth pushed it out");
        assert!(recall(&mut bucket, 1));
        assert!(!recall(&mut bucket, 1));
        remember(&mut bucket, 100);
        assert!(recall(&mut bucket, 2), "the recalled one had left a place");
    }
}
