//! One stored result: a header, then the key, the cells and the value. None of them is aligned.
//!
//! The key comes first, at a fixed distance, so that the processor can fetch it while it still waits for the header. It consists
//! of the first part, the second part and, if there is a second one, its length.
//!
//! An entry is written once, before any reader can find it, and does not change afterwards, so readers need no synchronisation. The one
//! exception is its flags: a reader may set one more. Everything else that changes (its use count, its queue) is kept in its slot of
//! the index.

use std::marker::PhantomData;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::hash::Hash;
use crate::versions::VERSION_MAX;
use crate::{CellId, Key, Meta, Pin, Stamp, Versions};

/// The alignment of entries in memory, in bytes: two bits of their addresses are always zero and can hold something else.
pub(crate) const ALIGN: usize = 4;

const CELLS_BITS: u32 = 16;
const OWNER_BITS: u32 = 16;
/// The largest context of a key and the largest stamp that the header of an entry can hold.
const NUMBER_MAX: u64 = VERSION_MAX;
const _: () = assert!(NUMBER_MAX == u64::MAX >> CELLS_BITS && NUMBER_MAX == u64::MAX >> OWNER_BITS);

/// A `u64` that is aligned to [`ALIGN`], as entries are.
#[derive(Clone, Copy)]
#[repr(C, packed(4))]
struct Word(u64);

/// The start of an entry. The key, the cells and the value follow it.
#[repr(C)]
struct Header {
    /// `stamp << 16 | number of cells`
    stamp_and_cells: Word,
    /// `context << 16 | owner`
    context_and_owner: Word,
    place: u32,
    key: KeySize,
    value_bytes: u32,
    rows: u32,
    flags: AtomicU32,
    cost: u16,
    // The key begins here, in what would be padding.
}

const FLAGS_AT: usize = offset_of!(Header, flags);
const FLAGS_END: usize = FLAGS_AT + size_of::<AtomicU32>();
const KEY_AT: usize = offset_of!(Header, cost) + size_of::<u16>();
const _: () = assert!(align_of::<Header>() == ALIGN && size_of::<Header>() == KEY_AT.next_multiple_of(ALIGN));

/// The size of a key in the header of an entry: `bytes of both parts << 1 | 1 if there is a second part`.
#[derive(Clone, Copy, PartialEq, Eq)]
struct KeySize(u32);

impl KeySize {
    /// Returns the size of a key with these parts; `None` if it is too large for the header of an entry.
    fn of(parts: [&[u8]; 2]) -> Option<Self> {
        let bytes = parts[0].len().checked_add(parts[1].len()).filter(|&bytes| bytes < 1 << 31)?;
        Some(KeySize((bytes as u32) << 1 | u32::from(!parts[1].is_empty())))
    }

    /// The number of bytes of both parts of the key together.
    fn part_bytes(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn has_second(self) -> bool {
        self.0 & 1 != 0
    }

    /// The bytes of the key in an entry: both parts, and the length of the second one if there is one.
    fn stored_bytes(self) -> usize {
        self.part_bytes() + if self.has_second() { size_of::<u32>() } else { 0 }
    }
}

/// The bytes of a key in an entry, including the length of its second part if it has one.
fn stored_bytes(parts: [&[u8]; 2]) -> usize {
    let told = if parts[1].is_empty() { 0 } else { size_of::<u32>() };
    parts[0].len() + parts[1].len() + told
}

/// The offsets of an entry's cells and value from its start, and the size of the entry, in bytes.
struct Layout {
    cells_at: usize,
    value_at: usize,
    size: usize,
}

impl Layout {
    fn new(key_bytes: usize, cells: usize, value_bytes: usize) -> Self {
        const { assert!(align_of::<CellId>() == 1) };
        let cells_at = KEY_AT + key_bytes;
        let value_at = cells_at + cells * size_of::<CellId>();
        Layout { cells_at, value_at, size: (value_at + value_bytes).next_multiple_of(ALIGN) }
    }
}

/// Returns the bytes that an entry with this key, this number of cells and a value of this size takes, without its share of the index.
pub fn entry_bytes(key: &Key, cells: usize, value_bytes: usize) -> usize {
    Layout::new(stored_bytes(key.parts), cells, value_bytes).size
}

/// A result to insert. Its sizes and numbers are known to fit into the header of an entry.
pub(crate) struct Draft<'a> {
    pub hash: Hash,
    pub key: &'a Key<'a>,
    meta: Meta,
    cells: &'a [CellId],
    value: &'a [u8],
    key_size: KeySize,
    layout: Layout,
}

impl<'a> Draft<'a> {
    /// Prepares a result for [`write`](Self::write). Returns `None` if a size, the number of cells or the key's context
    /// does not fit into the header of an entry.
    pub fn new(hash: Hash, key: &'a Key<'a>, meta: Meta, cells: &'a [CellId], value: &'a [u8]) -> Option<Self> {
        let key_size = KeySize::of(key.parts)?;
        let representable = u32::try_from(value.len()).is_ok() && key.context <= NUMBER_MAX;
        if !representable || cells.len() >= 1 << CELLS_BITS {
            return None;
        }
        let layout = Layout::new(key_size.stored_bytes(), cells.len(), value.len());
        Some(Draft { hash, key, meta, cells, value, key_size, layout })
    }

    /// The bytes of the whole entry, a multiple of [`ALIGN`].
    pub fn size(&self) -> usize {
        self.layout.size
    }

    /// Writes the entry to `at` and returns its address.
    ///
    /// # Safety
    /// `at` is aligned to [`ALIGN`] and has [`size`](Self::size) writable bytes that no other thread can see.
    pub unsafe fn write(&self, at: NonNull<u8>) -> RawEntry {
        let parts = self.key.parts;
        let header = Header {
            stamp_and_cells: Word(self.meta.stamp.0.min(NUMBER_MAX) << CELLS_BITS | self.cells.len() as u64),
            context_and_owner: Word(self.key.context << OWNER_BITS | u64::from(self.meta.owner)),
            place: self.hash.place(),
            key: self.key_size,
            value_bytes: self.value.len() as u32,
            rows: saturate(self.meta.rows),
            flags: AtomicU32::new(self.meta.flags),
            cost: pack(self.meta.cost_ns / 1000),
        };
        let entry = RawEntry(at.cast());
        // SAFETY: `CellId` is a packed `u32`, whose bytes can be read.
        let cells = unsafe { slice::from_raw_parts(self.cells.as_ptr().cast(), size_of_val(self.cells)) };
        let second_at = KEY_AT + parts[0].len();
        let second_bytes = (parts[1].len() as u32).to_le_bytes();
        let told = if self.key_size.has_second() { &second_bytes[..] } else { &[] };
        let behind = [
            (KEY_AT, parts[0]),
            (second_at, parts[1]),
            (second_at + parts[1].len(), told),
            (self.layout.cells_at, cells),
            (self.layout.value_at, self.value),
        ];
        // SAFETY: the layout has space for the header, rounded up, and for each of these at its offset.
        unsafe {
            entry.0.write(header);
            for (offset, bytes) in behind {
                at.add(offset).copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            }
        }
        entry
    }
}

fn saturate(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Packs a number into 16 bits, rounded down to its 11 leading bits; the other 5 hold how far they are shifted. [`unpack`] reverses it.
fn pack(n: u64) -> u16 {
    let shift = (u64::BITS - n.leading_zeros()).saturating_sub(11);
    if shift < 32 { (shift as u16) << 11 | (n >> shift) as u16 } else { u16::MAX }
}

fn unpack(packed: u16) -> u64 {
    u64::from(packed & 0x7ff) << (packed >> 11)
}

/// The address of an entry, without a guarantee that the entry still exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawEntry(NonNull<Header>);

impl RawEntry {
    pub fn at(start: NonNull<u8>) -> Self {
        RawEntry(start.cast())
    }

    pub fn start(self) -> NonNull<u8> {
        self.0.cast()
    }

    /// Returns the header of the entry.
    ///
    /// # Safety
    /// The entry is written, and its memory stays mapped for `'a`.
    unsafe fn header<'a>(self) -> &'a Header {
        // SAFETY: written by `Draft::write`, never changed since.
        unsafe { self.0.as_ref() }
    }

    /// Copies the whole entry to `at`. Readers may use it and set flags at the same time; a flag that is set during the copy may be missing
    /// in it.
    ///
    /// # Safety
    /// The entry is written and mapped, `bytes` is its size, and `at` is aligned to [`ALIGN`] and has as many writable bytes
    /// that no other thread can see.
    pub unsafe fn copy_to(self, at: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's guarantee; the two pieces and the flags between them make up the entry.
        unsafe {
            at.copy_from_nonoverlapping(self.start(), FLAGS_AT);
            at.add(FLAGS_END).copy_from_nonoverlapping(self.start().add(FLAGS_END), bytes - FLAGS_END);
            let flags = self.header().flags.load(Ordering::Relaxed);
            at.add(FLAGS_AT).cast().write(AtomicU32::new(flags));
        }
    }

    /// Returns the entry for reading.
    ///
    /// # Safety
    /// The entry is written, and its memory stays mapped for `'a`.
    pub unsafe fn view<'a>(self) -> Entry<'a> {
        Entry { raw: self, mapped: PhantomData }
    }
}

/// A stored result, possibly a stale one. It can be read as long as the [`Pin`] with which it was found lives.
#[derive(Clone, Copy)]
pub struct Entry<'g> {
    raw: RawEntry,
    mapped: PhantomData<&'g Pin>,
}

impl<'g> Entry<'g> {
    fn header(&self) -> &'g Header {
        // SAFETY: the caller of `RawEntry::view` guaranteed exactly this.
        unsafe { self.raw.header() }
    }

    fn layout(&self) -> Layout {
        Layout::new(self.header().key.stored_bytes(), self.cells_len(), self.header().value_bytes as usize)
    }

    /// Returns `len` bytes from the offset `at`, which must lie within the entry.
    fn bytes(&self, at: usize, len: usize) -> &'g [u8] {
        // SAFETY: all callers stay within the sizes in the header, and `Draft::write` filled all of these bytes.
        unsafe { slice::from_raw_parts(self.raw.start().add(at).as_ptr(), len) }
    }

    fn cells_len(&self) -> usize {
        (self.header().stamp_and_cells.0 & ((1 << CELLS_BITS) - 1)) as usize
    }

    /// True if the entry is stored under exactly this key.
    #[inline]
    pub(crate) fn matches(&self, key: &Key) -> bool {
        let [first, second] = key.parts;
        // A key that is too large for a header matches no entry. Equal sizes bound what is read through `first` and `second`.
        self.header().context_and_owner.0 >> OWNER_BITS == key.context
            && Some(self.header().key) == KeySize::of(key.parts)
            && self.bytes(KEY_AT, first.len()) == first
            && (second.is_empty() || self.second() == second)
    }

    /// Returns the second part of the key. The caller must know that the key has one.
    fn second(&self) -> &'g [u8] {
        let end = KEY_AT + self.header().key.part_bytes();
        let mut told = [0; size_of::<u32>()];
        told.copy_from_slice(self.bytes(end, size_of::<u32>()));
        let bytes = u32::from_le_bytes(told) as usize;
        self.bytes(end - bytes, bytes)
    }

    /// The bytes of memory that the whole entry takes, without its slot in the index.
    pub fn size(&self) -> usize {
        self.layout().size
    }

    /// Returns [`Hash::place`] of the entry's key: where the search for it starts in the index.
    pub(crate) fn place(&self) -> u32 {
        self.header().place
    }

    /// Returns the stored result, byte for byte as it was given to [`Cache::insert`](crate::Cache::insert).
    pub fn value(&self) -> &'g [u8] {
        self.bytes(self.layout().value_at, self.header().value_bytes as usize)
    }

    /// Returns the cells that the result depends on, without [`Versions::EVERYTHING`], a dependency of every result.
    pub fn cells(&self) -> &'g [CellId] {
        let at = self.layout().cells_at;
        // SAFETY: `Draft::write` copied this many cells here; they need no alignment.
        unsafe { slice::from_raw_parts(self.raw.start().add(at).cast().as_ptr(), self.cells_len()) }
    }

    /// Returns [`Meta::stamp`] of the result: the result contains all changes up to it.
    pub fn stamp(&self) -> Stamp {
        Stamp(self.header().stamp_and_cells.0 >> CELLS_BITS)
    }

    /// True if nothing that the result depends on has changed since its stamp or is being changed. `versions` must be the one that the
    /// cells and the stamp are from.
    #[inline]
    pub fn is_fresh(&self, versions: &Versions) -> bool {
        versions.is_fresh(self.cells(), self.stamp())
    }

    /// The number of rows of the result, at most `u32::MAX`.
    pub fn rows(&self) -> u64 {
        self.header().rows.into()
    }

    /// How long the server took to compute the result, in nanoseconds. Stored in whole microseconds with an error of up to one part in a
    /// thousand.
    pub fn cost_ns(&self) -> u64 {
        unpack(self.header().cost) * 1000
    }

    /// Returns [`Meta::owner`] of the entry.
    pub fn owner(&self) -> u16 {
        self.header().context_and_owner.0 as u16
    }

    /// Returns [`Meta::flags`] of the entry, with those that [`mark`](Self::mark) has added.
    pub fn flags(&self) -> u32 {
        // Relaxed, here and in `mark`: a flag orders nothing.
        self.header().flags.load(Ordering::Relaxed)
    }

    /// Sets a flag and returns true if it was not set. The flag may be lost if the cache is moving the entry at the same time.
    pub fn mark(&self, flag: u32) -> bool {
        let flags = &self.header().flags;
        flags.load(Ordering::Relaxed) & flag == 0 && flags.fetch_or(flag, Ordering::Relaxed) & flag == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_number_comes_back_to_one_part_in_a_thousand() {
        for n in [0, 1, 2047, 2048, 1_000_001, u64::from(u32::MAX), 1 << 41] {
            let back = unpack(pack(n));
            assert!(back <= n && n - back <= n / 1000, "{n} became {back}");
        }
        assert_eq!(unpack(pack(u64::MAX)), 2047 << 31);
    }
}
