//! Finds the packets of a stream whose bytes arrive cut anywhere.

use crate::packet::Header;

/// Where the stream of one direction stands between its packets.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    /// The next packet's header, and how much of it has arrived.
    header: [u8; Header::SIZE],
    arrived: usize,
    /// How many bytes of the present packet are still to come.
    left: usize,
    /// Is set while a header has arrived and no byte of its payload has.
    begins: Option<Header>,
    /// The next packet continues the payload of the last one.
    continues: bool,
}

/// Bytes of one payload, all in the same packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Is set for the first piece of a payload. Such a piece is empty only if the payload is.
    pub begins: Option<Header>,
    pub bytes: &'a [u8],
    /// The payload is complete.
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
