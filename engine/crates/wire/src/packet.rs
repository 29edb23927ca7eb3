//! Packets: three bytes of length, one byte of sequence, and the payload. A payload continues in the next packet if the packet is full,
//! with exactly `MAX_PAYLOAD` bytes.

pub const MAX_PAYLOAD: usize = 0xFF_FFFF;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub length: usize,
    pub sequence: u8,
}

impl Header {
    pub const SIZE: usize = 4;

    /// Reads the first four bytes.
    pub fn parse(bytes: &[u8]) -> Option<Header> {
        let &[a, b, c, sequence] = bytes.first_chunk()?;
        Some(Header { length: u32::from_le_bytes([a, b, c, 0]) as usize, sequence })
    }

    /// True if the payload continues in the next packet. The last packet of a payload is the first that is not full.
    pub fn is_continued(self) -> bool {
        self.length == MAX_PAYLOAD
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    pub header: Header,
    pub payload: &'a [u8],
}

impl<'a> Packet<'a> {
    /// The packet at the front; `None` while bytes are missing.
    pub fn parse(bytes: &'a [u8]) -> Option<Packet<'a>> {
        let header = Header::parse(bytes)?;
        let payload = bytes.get(Header::SIZE..Header::SIZE + header.length)?;
        Some(Packet { header, payload })
    }
}

/// The payload of a command, if these bytes are exactly one command in one packet.
pub fn lone_command(bytes: &[u8]) -> Option<&[u8]> {
    first_command(bytes).filter(|payload| payload.len() + Header::SIZE == bytes.len())
}

/// The payload of the command that these bytes begin with. None if it is incomplete, or takes more than one packet.
pub fn first_command(bytes: &[u8]) -> Option<&[u8]> {
    let packet = Packet::parse(bytes).filter(|packet| packet.header.sequence == 0)?;
    (!packet.payload.is_empty() && !packet.header.is_continued()).then_some(packet.payload)
}

/// The packets of a buffer; stops at the first incomplete one, see [`Framed::rest`].
pub fn packets(bytes: &[u8]) -> Framed<'_> {
    Framed { rest: bytes }
}

#[derive(Clone, Copy, Debug)]
pub struct Framed<'a> {
    rest: &'a [u8],
}

impl<'a> Framed<'a> {
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

/// Appends a payload, as several packets if it is too long for one, and advances the sequence number.
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
