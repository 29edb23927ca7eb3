//! Finds the packets of a stream whose bytes arrive in pieces of any size.

use crate::packet::Header;

/// The state of one direction of a stream: how much of the next header has arrived, and how much of the payload is still to come.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The next packet's header, as far as it has arrived. `arrived` counts its bytes.
    header: [u8; Header::SIZE],
    arrived: usize,
    /// The number of bytes of the current packet that are still to come.
    left: usize,
    /// The header, if it has arrived completely and no byte of its payload has.
    begins: Option<Header>,
    /// The next packet continues the payload of the last one.
    continues: bool,
}

/// Bytes of one payload, all in the same packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The header, for the first piece of a payload. Such a piece is empty only if the payload is.
    pub begins: Option<Header>,
    pub bytes: &'a [u8],
    /// This piece completes the payload.
    pub ends: bool,
}

impl Pieces {
    /// True if the next byte begins a payload.
    pub fn is_between(&self) -> bool {
        self.arrived == 0 && self.left == 0 && !self.continues
    }

    /// Takes the bytes up to the end of a packet, or all. None if all bytes were taken and the last ones belong to a header.
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

    /// Takes bytes of a header. Returns none while the header is not complete.
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
