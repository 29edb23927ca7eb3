//! Packets: three bytes of length, one byte of sequence, and the payload. A payload continues in the next packet if the packet is full,
//! with exactly `MAX_PAYLOAD` bytes.

/// The maximum length of the payload in one packet, in bytes. A longer payload takes several packets.
pub const MAX_PAYLOAD: usize = 0xFF_FFFF;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The length of the payload in this packet, in bytes.
    pub length: usize,
    /// The sequence number: 0 for a command, and one more for each further packet of the command and its response.
    pub sequence: u8,
}

impl Header {
    /// The length of a header in bytes.
    pub const SIZE: usize = 4;

    /// Reads a header from the first four bytes; `None` if there are fewer.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let &[a, b, c, sequence] = bytes.first_chunk()?;
        Some(Header { length: u32::from_le_bytes([a, b, c, 0]) as usize, sequence })
    }

    /// True if this packet is full, so that its payload continues in the next packet. The last packet of a payload is the first that is not
    /// full.
    pub fn is_continued(self) -> bool {
        self.length == MAX_PAYLOAD
    }
}

/// One packet. Its payload may continue in the next packet, see [`Header::is_continued`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    pub header: Header,
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Returns the packet that these bytes begin with; `None` while bytes of it are missing. More bytes may follow.
    pub fn parse(bytes: &'a [u8]) -> Option<Packet<'a>> {
        let header = Header::parse(bytes)?;
        let payload = bytes.get(Header::SIZE..Header::SIZE + header.length)?;
        Some(Packet { header, payload })
    }
}

/// Returns the payload of the command that these bytes consist of. None unless they are exactly one complete command in one packet.
pub fn lone_command(bytes: &[u8]) -> Option<&[u8]> {
    first_command(bytes).filter(|payload| payload.len() + Header::SIZE == bytes.len())
}

/// Returns the payload of the command that these bytes begin with. None if the command is incomplete, has an empty payload or takes more
/// than one packet, or if the bytes begin with another packet (sequence number not 0).
pub fn first_command(bytes: &[u8]) -> Option<&[u8]> {
    let packet = Packet::parse(bytes).filter(|packet| packet.header.sequence == 0)?;
    (!packet.payload.is_empty() && !packet.header.is_continued()).then_some(packet.payload)
}

/// Iterates over the packets of a buffer, and stops before the first incomplete one; [`Framed::rest`] returns the bytes from there.
pub fn packets(bytes: &[u8]) -> Framed<'_> {
    Framed { rest: bytes }
}

/// An iterator over the complete packets of a buffer, see [`packets`].
#[derive(Clone, Copy, Debug)]
pub struct Framed<'a> {
    rest: &'a [u8],
}

impl<'a> Framed<'a> {
    /// Returns the bytes after the packets that were iterated over.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Framed<'a> {
    type Item = Packet<'a>;

    fn next(&mut self) -> Option<Packet<'a>> {
        let packet = Packet::parse(self.rest)?;
        self.rest = &self.rest[Header::SIZE + packet.payload.len()..];
        Some(packet)
    }
}

/// Appends a payload with its header, as several packets if it is too long for one. `sequence` is the number of the first packet;
/// afterwards it is the number for the next one.
pub fn push_packet(out: &mut Vec<u8>, sequence: &mut u8, payload: &[u8]) {
    let mut rest = payload;
    loop {
        let (part, tail) = rest.split_at(rest.len().min(MAX_PAYLOAD));
        out.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
        out.push(*sequence);
        out.extend_from_slice(part);
        *sequence = sequence.wrapping_add(1);
        rest = tail;
        if part.len() < MAX_PAYLOAD {
            return;
        }
    }
}
