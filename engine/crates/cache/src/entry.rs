//! One stored result: a header and, behind it without gaps, the cells, both key parts and the value.
//!
//! Written once before anyone can find it, never changed afterwards, so that readers need no synchronisation beyond finding
//! it. Everything that does change (how often it is used, where it lives) is kept in its slot of the index.

use std::marker::PhantomData;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::slice;

use crate::hash::Hash;
use crate::versions::VERSION_MAX;
use crate::{CellId, Key, Meta, Pin, Stamp};

/// Entries start at multiples of this, which leaves their addresses three free bits.
pub(crate) const ALIGN: usize = 8;

const CELLS_BITS: u32 = 16;

#[repr(C)]
struct Header {
    /// `stamp << 16 | number of cells`
    stamp_and_cells: u64,
    context: u64,
    place: u32,
    part_bytes: [u32; 2],
    value_bytes: u32,
    rows: u32,
    cost_us: u32,
    flags: u32,
    // The cells begin here, in what would be padding.
}

const CELLS_AT: usize = offset_of!(Header, flags) + size_of::<u32>();
const _: () = assert!(CELLS_AT.is_multiple_of(align_of::<CellId>()) && align_of::<Header>() == ALIGN);

/// What an insertion brings along, checked to be representable.
pub(crate) struct Draft<'a> {
    pub hash: Hash,
    pub key: &'a Key<'a>,
    meta: Meta,
    cells: &'a [CellId],
    value: &'a [u8],
    size: usize,
}

impl<'a> Draft<'a> {
    /// `None`: a length that the header cannot hold.
    pub fn new(hash: Hash, key: &'a Key<'a>, meta: Meta, cells: &'a [CellId], value: &'a [u8]) -> Option<Self> {
        let lengths = [key.parts[0].len(), key.parts[1].len(), value.len()];
        let representable = lengths.iter().all(|&length| u32::try_from(length).is_ok());
        if !representable || cells.len() >= 1 << CELLS_BITS {
            return None;
        }
        let size = size_of_entry(cells.len(), lengths.iter().sum());
        Some(Draft { hash, key, meta, cells, value, size })
    }

    /// Bytes of the whole entry, a multiple of [`ALIGN`].
    pub fn size(&self) -> usize {
        self.size
    }

    /// # Safety
    /// `at` is aligned to [`ALIGN`] and has [`size`](Self::size) writable bytes that nobody else can see.
    pub unsafe fn write(&self, at: NonNull<u8>) -> RawEntry {
        let parts = self.key.parts;
        let header = Header {
            stamp_and_cells: self.meta.stamp.0.min(VERSION_MAX) << CELLS_BITS | self.cells.len() as u64,
            context: self.key.context,
            place: self.hash.place(),
            part_bytes: parts.map(|part| part.len() as u32),
            value_bytes: self.value.len() as u32,
            rows: saturate(self.meta.rows),
            cost_us: saturate(self.meta.cost_ns / 1000),
            flags: self.meta.flags,
        };
        let entry = RawEntry(at.cast());
        // SAFETY: `size` covers the header, rounded up, and all that is copied behind it.
        unsafe {
            entry.0.write(header);
            let mut to = at.add(CELLS_AT);
            let cells = slice::from_raw_parts(self.cells.as_ptr().cast(), size_of_val(self.cells));
            for bytes in [cells, parts[0], parts[1], self.value] {
                to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
                to = to.add(bytes.len());
            }
        }
        entry
    }
}

fn size_of_entry(cells: usize, bytes: usize) -> usize {
    (CELLS_AT + size_of::<CellId>() * cells + bytes).next_multiple_of(ALIGN)
}

fn saturate(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The address of an entry, without a promise that it still exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawEntry(NonNull<Header>);

impl RawEntry {
    pub fn at(start: NonNull<u8>) -> Self {
        RawEntry(start.cast())
    }

    pub fn start(self) -> NonNull<u8> {
        self.0.cast()
    }

    /// # Safety
    /// The entry is written, and its memory stays mapped for `'a`.
    unsafe fn header<'a>(self) -> &'a Header {
        // SAFETY: written by `Draft::write`, never changed since.
        unsafe { self.0.as_ref() }
    }

    /// The entry as readers see it.
    ///
    /// # Safety
    /// The entry is written, and its memory stays mapped for `'a`.
    pub unsafe fn view<'a>(self) -> Entry<'a> {
        Entry { raw: self, mapped: PhantomData }
    }
}

/// A stored result, readable as long as the [`Pin`] it was found under.
#[derive(Clone, Copy)]
pub struct Entry<'g> {
    raw: RawEntry,
    mapped: PhantomData<&'g Pin>,
}

impl<'g> Entry<'g> {
    fn header(&self) -> &'g Header {
        // SAFETY: `RawEntry::view` was promised exactly this.
        unsafe { self.raw.header() }
    }

    /// The bytes from `from`, counted from the first cell.
    fn bytes(&self, from: usize, len: usize) -> &'g [u8] {
        // SAFETY: all callers stay within the lengths in the header, which `Draft::write` filled.
        unsafe { slice::from_raw_parts(self.raw.start().add(CELLS_AT + from).as_ptr(), len) }
    }

    fn cells_bytes(&self) -> usize {
        self.cells_len() * size_of::<CellId>()
    }

    fn cells_len(&self) -> usize {
        (self.header().stamp_and_cells & ((1 << CELLS_BITS) - 1)) as usize
    }

    fn part_bytes(&self) -> [usize; 2] {
        self.header().part_bytes.map(|bytes| bytes as usize)
    }

    pub(crate) fn matches(&self, key: &Key) -> bool {
        let [first, second] = self.part_bytes();
        self.header().context == key.context
            && [first, second] == key.parts.map(<[u8]>::len)
            && self.bytes(self.cells_bytes(), first) == key.parts[0]
            && self.bytes(self.cells_bytes() + first, second) == key.parts[1]
    }

    pub(crate) fn size(&self) -> usize {
        let [first, second] = self.part_bytes();
        size_of_entry(self.cells_len(), first + second + self.header().value_bytes as usize)
    }

    /// See [`Hash::place`].
    pub(crate) fn place(&self) -> u32 {
        self.header().place
    }

    pub fn value(&self) -> &'g [u8] {
        let [first, second] = self.part_bytes();
        let from = self.cells_bytes() + first + second;
        self.bytes(from, self.header().value_bytes as usize)
    }

    pub fn cells(&self) -> &'g [CellId] {
        let bytes = self.bytes(0, self.cells_bytes());
        // SAFETY: `Draft::write` copied whole cells here, and `CELLS_AT` is aligned for them.
        unsafe { slice::from_raw_parts(bytes.as_ptr().cast(), self.cells_len()) }
    }

    pub fn stamp(&self) -> Stamp {
        Stamp(self.header().stamp_and_cells >> CELLS_BITS)
    }

    pub fn rows(&self) -> u64 {
        self.header().rows.into()
    }

    /// In whole microseconds.
    pub fn cost_ns(&self) -> u64 {
        u64::from(self.header().cost_us) * 1000
    }

    pub fn flags(&self) -> u32 {
        self.header().flags
    }
}
