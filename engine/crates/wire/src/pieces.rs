//! Finds the packets of a stream whose bytes arrive in pieces of any size.

use crate::packet::Header;

/// Finds the payloads in one direction of a stream whose bytes arrive in pieces of any size. It keeps no payload.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The next packet's header, as far as it has arrived. `arrived` counts its bytes.
    header: [u8; Header::SIZE],
    arrived: usize,
    /// The number of bytes of the current packet that are still to come.
    left: usize,
    /// The header of a packet that begins a payload, until the payload's first piece is returned.
    begins: Option<Header>,
    /// True if the next packet continues the payload of the last one.
    continues: bool,
}

/// Some bytes of one payload, all from the same packet, see [`Pieces::next`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The header of the payload's first packet if this is the first piece of a payload. Such a piece is empty only if the payload is.
    pub begins: Option<Header>,
    pub bytes: &'a [u8],
    /// True if this piece completes the payload, which may take several packets.
    pub ends: bool,
}

impl Pieces {
    /// True if the next byte begins a new payload: nothing of a header or payload is outstanding.
    pub fn is_between(&self) -> bool {
        self.arrived == 0 && self.left == 0 && !self.continues
    }

    /// Consumes bytes of `rest` up to the end of a packet, or all, and returns those that belong to its payload. Call it until it returns
    /// None: then all bytes are consumed, and the next ones that arrive continue the stream.
    #[inline]
    pub fn next<'a>(&mut self, rest: &mut &'a [u8]) -> Option<Piece<'a>> {
        if self.left == 0 {
            self.begin(rest)?;
        }
        let (bytes, tail) = rest.split_at(self.left.min(rest.len()));
        if bytes.is_empty() && self.left > 0 {
            return None;
        }
        *rest = tail;
        self.left -= bytes.len();
        Some(Piece { begins: self.begins.take(), bytes, ends: self.left == 0 && !self.continues })
    }

    /// Consumes bytes of the next packet's header. Returns none while the header is not complete.
    fn begin(&mut self, rest: &mut &[u8]) -> Option<()> {
        let (taken, tail) = rest.split_at(rest.len().min(Header::SIZE - self.arrived));
        self.header[self.arrived..][..taken.len()].copy_from_slice(taken);
        self.arrived += taken.len();
        *rest = tail;
        if self.arrived < Header::SIZE {
            return None;
        }
        let header = Header::parse(&self.header)?;
        (self.arrived, self.left) = (0, header.length);
        let is_first = !std::mem::replace(&mut self.continues, header.is_continued());
        self.begins = is_first.then_some(header);
        Some(())
    }
}
