//! The layout of the memory, which is an array of words of 64 bits.
//!
//! It begins with a head. Then come the slots of connections, one word for each cell, the index in buckets of [`WAYS`] words, and the
//! ring with the results. A word of the index holds a tag and the position of a result in the ring. Positions only grow, so a reader can
//! tell from a position alone whether the writer has overwritten the result since.

use std::ops::Range;

/// The first word of the memory, which identifies this layout. Any other layout has another word.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"FQCmap02");

/// The index of the word [`MAGIC`], which is written last when the memory is prepared. This and the following ones are the words of the
/// head.
pub(crate) const MAGIC_AT: usize = 0;
/// The index of the word with the sizes of the memory's parts, packed by [`Layout::packed`].
pub(crate) const SIZES_AT: usize = 1;
/// The index of the word with the seed of all hashes, which keeps clients from constructing collisions.
pub(crate) const SEED_AT: usize = 2;
/// The index of the word with the generation, which is the number of the writer's attachment: only results that were written in it are
/// found. Zero: nothing is found.
pub(crate) const GENERATION_AT: usize = 3;
/// The index of the word with the end of the lease: the first moment at which nothing may be served, in nanoseconds of a clock that also
/// runs while the machine sleeps.
pub(crate) const LEASE_END_AT: usize = 4;
/// The index of the word with the ring position up to which the writer has written or is writing.
pub(crate) const RESERVED_AT: usize = 5;
/// The index of the word that counts how often the writer has ended changes of several cells in one step. It is odd while such a step is
/// under way.
pub(crate) const OPENINGS_AT: usize = 6;
/// The length of the head in words.
const HEAD: usize = 8;

/// The number of slots in a bucket of the index. A reader looks at all of them; they share a line of the processor's cache.
pub(crate) const WAYS: usize = 8;
const POSITION_BITS: u32 = 48;
/// The number of words for one connection.
pub(crate) const SLOT_WORDS: usize = 16;

/// The sizes of the memory's parts: cells, index, ring and connections. Each is a power of two, given by its exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    cells: u8,
    buckets: u8,
    ring: u8,
    /// The exponent for the number of groups of eight connections. None: there is no room for connections.
    connection_groups: Option<u8>,
}

impl Layout {
    /// Creates a layout without room for connections. The arguments are exponents of two: of the number of cells, of
    /// the number of buckets with eight results each, and of the size of the ring in words.
    pub const fn new(cells: u8, buckets: u8, ring: u8) -> Layout {
        Layout { cells, buckets, ring, connection_groups: None }
    }

    /// Adds room for connections. `exponent` counts groups of eight connections: there are two to the power of it.
    pub const fn with_connections(self, exponent: u8) -> Layout {
        Layout { connection_groups: Some(exponent), ..self }
    }

    /// Returns a layout for this many bytes of results at most, with a bucket for each 4 KiB, and with room for connections. There is a
    /// word for each cell that a server can have, since memory that is never touched takes no room.
    pub fn for_results(bytes: u64) -> Layout {
        const CELLS: u8 = 24;
        const CONNECTIONS: u8 = 9;
        let ring = (bytes / 8).max(1 << 13).ilog2().min(36) as u8;
        Layout::new(CELLS, ring - 9, ring).with_connections(CONNECTIONS)
    }

    /// Returns the size of the memory in words of 64 bits.
    pub fn words(self) -> usize {
        self.ring_begins() + (1 << self.ring)
    }

    /// Encodes the sizes in one word, for [`unpacked`](Self::unpacked).
    pub(crate) fn packed(self) -> u64 {
        let connection_groups = self.connection_groups.map_or(0, |connection_groups| connection_groups + 1);
        u64::from_le_bytes([self.cells, self.buckets, self.ring, connection_groups, 0, 0, 0, 0])
    }

    /// Decodes what [`packed`](Self::packed) encoded. None if a memory of this many words cannot have these sizes.
    pub(crate) fn unpacked(sizes: u64, words: usize) -> Option<Layout> {
        let [cells, buckets, ring, connection_groups, ..] = sizes.to_le_bytes();
        let is_small = cells <= 32 && buckets <= 40 && ring <= 40 && connection_groups <= 32;
        Some(Layout { cells, buckets, ring, connection_groups: connection_groups.checked_sub(1) })
            .filter(|layout| is_small && layout.words() <= words)
    }

    /// Returns the index of the word for the cell with this number. None if there is no such cell.
    pub(crate) fn cell(self, number: u32) -> Option<usize> {
        (u64::from(number) < 1 << self.cells).then(|| self.cells_begin() + number as usize)
    }

    /// Returns the indexes of the first words of all slots that a connection with this token may have.
    pub(crate) fn connection_slots(self, token: u64) -> impl Iterator<Item = usize> {
        let group = self.connection_groups.map(|connection_groups| token as usize & ((1 << connection_groups) - 1));
        group.into_iter().flat_map(|group| (0..WAYS).map(move |way| HEAD + (group * WAYS + way) * SLOT_WORDS))
    }

    fn cells_begin(self) -> usize {
        HEAD + self.connection_groups.map_or(0, |connection_groups| (WAYS * SLOT_WORDS) << connection_groups)
    }

    /// Returns the indexes of the slots that a result with this hash may have.
    pub(crate) fn bucket(self, hash: u64) -> Range<usize> {
        let first = self.cells_begin() + (1 << self.cells) + (hash as usize & ((1 << self.buckets) - 1)) * WAYS;
        first..first + WAYS
    }

    fn ring_begins(self) -> usize {
        self.cells_begin() + (1 << self.cells) + (WAYS << self.buckets)
    }

    /// Returns the size of the ring in words.
    pub(crate) fn ring(self) -> u64 {
        1 << self.ring
    }

    /// Returns the indexes of the words of a record at this position of the ring. None if no record of this length can be there, since it
    /// would go beyond the ring's end.
    pub(crate) fn words_at(self, position: u64, length: u64) -> Option<Range<usize>> {
        let offset = position & (self.ring() - 1);
        let begin = self.ring_begins() + offset as usize;
        (length <= self.ring() - offset).then(|| begin..begin + length as usize)
    }
}

/// A word of the index: bits of a result's hash, and its position in the ring. Zero means no result, because the ring's first position is
/// never used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexSlot(pub u64);

impl IndexSlot {
    /// Returns the slot for a result with this hash at this position of the ring.
    pub fn of(hash: u64, position: u64) -> IndexSlot {
        IndexSlot(tag(hash) << POSITION_BITS | position)
    }

    /// Returns true if the slot may be that of a result with this hash.
    pub fn is_for(self, hash: u64) -> bool {
        self.0 != 0 && self.0 >> POSITION_BITS == tag(hash)
    }

    /// Returns the position of the result in the ring.
    pub fn position(self) -> u64 {
        self.0 & ((1 << POSITION_BITS) - 1)
    }
}

/// Returns the bits of a hash that its bucket does not determine.
fn tag(hash: u64) -> u64 {
    hash >> POSITION_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_read_as_it_was_written_and_never_larger_than_its_memory() {
        for layout in [Layout::new(1, 1, 6), Layout::for_results(0), Layout::for_results(64 << 20)] {
            assert_eq!(Layout::unpacked(layout.packed(), layout.words()), Some(layout));
            assert_eq!(Layout::unpacked(layout.packed(), layout.words() - 1), None);
        }
        for nonsense in [u64::MAX, 0xff, 0xff00, 0xff_0000, 0xff00_0000] {
            assert_eq!(Layout::unpacked(nonsense, usize::MAX), None);
        }
    }

    #[test]
    fn nothing_stands_beyond_the_memory() {
        let layout = Layout::new(2, 2, 6);
        assert_eq!(layout.connection_slots(7).count(), 0);
        let roomy = layout.with_connections(2);
        for token in [0, 3, 4, u64::MAX] {
            assert!(roomy.connection_slots(token).all(|at| at >= HEAD && at + SLOT_WORDS <= roomy.cells_begin()));
        }
        for hash in [0, 3, u64::MAX] {
            assert!(layout.bucket(hash).end <= layout.ring_begins());
        }
        assert_eq!(layout.cell(3), Some(HEAD + 3));
        assert_eq!(layout.cell(4), None);
        for position in [0, 1, 63, 64, u64::MAX >> 16] {
            for length in [1, 2, 63, 64, 65, u64::MAX] {
                assert!(layout.words_at(position, length).is_none_or(|words| words.end <= layout.words()));
            }
        }
    }

    #[test]
    fn a_slot_says_for_which_hash_it_is_and_where() {
        let slot = IndexSlot::of(7 << 50 | 9, 1234);
        assert!(slot.is_for(7 << 50) && !slot.is_for(6 << 50) && !IndexSlot(0).is_for(0));
        assert_eq!(slot.position(), 1234);
    }
}
