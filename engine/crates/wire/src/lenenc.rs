//! Length-encoded integers and strings, and fixed-width fields, read from the front of a slice.

/// Reads fields of the protocol from the front of a slice and consumes them. Every method returns `None`, and consumes nothing, if there
/// are too few bytes.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// Returns the bytes that were not consumed, without consuming them.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Consumes exactly this many bytes and returns them. None, and nothing is consumed, if there are fewer.
    pub fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(length)?;
        self.rest = tail;
        Some(head)
    }

    /// Reads a little-endian number of `width` bytes. None if `width` is more than 8.
    pub fn uint(&mut self, width: usize) -> Option<u64> {
        let mut wide = [0; 8];
        wide.get_mut(..width)?.copy_from_slice(self.take(width)?);
        Some(u64::from_le_bytes(wide))
    }

    pub fn u8(&mut self) -> Option<u8> {
        Some(self.uint(1)? as u8)
    }

    pub fn u16(&mut self) -> Option<u16> {
        Some(self.uint(2)? as u16)
    }

    pub fn u32(&mut self) -> Option<u32> {
        Some(self.uint(4)? as u32)
    }

    /// Reads a length-encoded integer. None, and nothing is consumed, also for the first bytes 0xFB (NULL) and 0xFF (an error).
    pub fn int(&mut self) -> Option<u64> {
        let mut ahead = *self;
        let value = match ahead.u8()? {
            short @ 0..=0xFA => u64::from(short),
            0xFC => ahead.uint(2)?,
            0xFD => ahead.uint(3)?,
            0xFE => ahead.uint(8)?,
            0xFB | 0xFF => return None,
        };
        *self = ahead;
        Some(value)
    }

    /// Reads a length-encoded string and returns it without its length. None, and nothing is consumed, also for NULL.
    pub fn string(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let length = usize::try_from(ahead.int()?).ok()?;
        let string = ahead.take(length)?;
        *self = ahead;
        Some(string)
    }

    /// Reads one value of a row of a text result. `Some(None)` is NULL; `None` means that the value is not complete.
    pub fn text_value(&mut self) -> Option<Option<&'a [u8]>> {
        if self.rest.first() == Some(&0xFB) {
            self.take(1)?;
            return Some(None);
        }
        self.string().map(Some)
    }

    /// Reads up to a zero byte, and consumes that, too. Returns the bytes before it; None if there is no zero byte.
    pub fn nul_terminated(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|byte| *byte == 0)?;
        let string = self.take(end)?;
        self.take(1)?;
        Some(string)
    }

    /// Reads up to a zero byte, and consumes that, too, or to the end if there is none: some senders leave out the zero byte after the last
    /// field.
    pub fn until_nul_or_end(&mut self) -> Option<&'a [u8]> {
        self.nul_terminated().or_else(|| self.take(self.rest.len()))
    }
}

/// Appends a length-encoded integer.
pub fn push_int(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=0xFA => out.push(value as u8),
        0xFB..=0xFFFF => push_marked(out, 0xFC, &bytes[..2]),
        0x1_0000..=0xFF_FFFF => push_marked(out, 0xFD, &bytes[..3]),
        _ => push_marked(out, 0xFE, &bytes),
    }
}

/// Appends a length-encoded string.
pub fn push_string(out: &mut Vec<u8>, string: &[u8]) {
    push_int(out, string.len() as u64);
    out.extend_from_slice(string);
}

fn push_marked(out: &mut Vec<u8>, marker: u8, bytes: &[u8]) {
    out.push(marker);
    out.extend_from_slice(bytes);
}
