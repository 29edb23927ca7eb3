//! Splits a stream into packets, and shows the first bytes of each one as soon as it is complete.

use crate::packet::Header;

/// The number of bytes of a packet's payload that are kept if the packet arrives in pieces. It suffices for all that is read of OK, ERR,
/// EOF, column counts and prepared statements.
const WINDOW: usize = 32;

/// Splits a response into packets, and keeps the first bytes of a packet that arrives in pieces.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The header and the first bytes of a packet that arrives in pieces.
    partial: [u8; Header::SIZE + WINDOW],
    /// The number of bytes of that packet that have arrived, including those that are not kept.
    arrived: usize,
    /// The offset within the response at which the next packet begins.
    position: u64,
    /// The sequence number of the next packet, once one was seen. A response continues the numbers of its command.
    sequence: Option<u8>,
    /// True if the next packet continues the payload of the last one.
    continues: bool,
    /// True if a packet had a wrong sequence number.
    is_broken: bool,
}

/// A complete packet of a response. Only the first bytes of its payload are certain to be available.
#[derive(Clone, Copy)]
pub(super) struct PacketPrefix<'a> {
    /// The first bytes of the payload: all of it, or at least [`WINDOW`] bytes.
    pub start: &'a [u8],
    /// The length of the packet's payload. `start` may be shorter.
    pub length: usize,
    /// The offset within the response at which the payload begins.
    pub offset: u64,
    /// True if the packet continues the payload of the packet before.
    pub is_continuation: bool,
}

impl PacketPrefix<'_> {
    /// The offset within the response at which the packet ends.
    pub fn end(&self) -> u64 {
        self.offset + self.length as u64
    }
}

impl Default for Window {
    fn default() -> Self {
        let partial = [0; Header::SIZE + WINDOW];
        Window { partial, arrived: 0, position: 0, sequence: None, continues: false, is_broken: false }
    }
}

impl Window {
    /// Consumes bytes of `rest` up to the end of a packet, and returns the packet. `None` if all bytes were consumed and the packet is not
    /// complete, or if its sequence number is wrong (see [`is_broken`](Self::is_broken)).
    #[inline]
    pub fn next_packet<'w, 'r: 'w>(&'w mut self, rest: &mut &'r [u8]) -> Option<PacketPrefix<'w>> {
        if self.arrived == 0
            && let Some(header) = Header::parse(rest)
            && let Some((whole, tail)) = rest.split_at_checked(Header::SIZE + header.length)
        {
            *rest = tail;
            return self.admit(header, &whole[Header::SIZE..]);
        }
        let header = self.gather(rest)?;
        let partial = self.partial;
        self.arrived = 0;
        let prefix = self.admit(header, &partial[Header::SIZE..][..header.length.min(WINDOW)])?;
        let (length, offset, is_continuation) = (prefix.length, prefix.offset, prefix.is_continuation);
        let start = &self.partial[Header::SIZE..][..header.length.min(WINDOW)];
        Some(PacketPrefix { start, length, offset, is_continuation })
    }

    /// Forgets the sequence number of the next packet, so that any is accepted. For a packet of the client in between, which advances it.
    pub fn forget_sequence(&mut self) {
        self.sequence = None;
    }

    /// True if a packet had a wrong sequence number, so that the bytes cannot be trusted any more.
    pub fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Consumes bytes of a packet that arrives in pieces. Returns its header once that is complete, and None before.
    fn gather(&mut self, rest: &mut &[u8]) -> Option<Header> {
        self.absorb(Header::SIZE, rest);
        if self.arrived < Header::SIZE {
            return None;
        }
        let header = Header::parse(&self.partial)?;
        let whole = Header::SIZE + header.length;
        self.absorb(whole, rest);
        (self.arrived == whole).then_some(header)
    }

    /// Consumes bytes of `rest` until `goal` bytes of the packet have arrived, and keeps those that fit.
    fn absorb(&mut self, goal: usize, rest: &mut &[u8]) {
        let (taken, tail) = rest.split_at(rest.len().min(goal.saturating_sub(self.arrived)));
        let room = self.partial.get_mut(self.arrived..).unwrap_or_default();
        let kept = room.len().min(taken.len());
        room[..kept].copy_from_slice(&taken[..kept]);
        self.arrived += taken.len();
        *rest = tail;
    }

    #[inline]
    fn admit<'p>(&mut self, header: Header, start: &'p [u8]) -> Option<PacketPrefix<'p>> {
        self.is_broken |= self.sequence.is_some_and(|expected| expected != header.sequence);
        if self.is_broken {
            return None;
        }
        self.sequence = Some(header.sequence.wrapping_add(1));
        let offset = self.position + Header::SIZE as u64;
        let is_continuation = std::mem::replace(&mut self.continues, header.is_continued());
        self.position = offset + header.length as u64;
        Some(PacketPrefix { start, length: header.length, offset, is_continuation })
    }
}
