//! Positions in the server's binary log.

/// A position in the server's binary log, between two events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number at the end of the file's name.
    pub file: u32,
    /// The offset in the file, in bytes.
    pub at: u64,
}

/// A position in a form that all followers of this server's log understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absolute {
    pub place: Place,
    /// The creation time of the file, in seconds since 1970 by the server's clock. After RESET, another file may have the same
    /// number.
    pub created: u32,
}

impl Absolute {
    /// The length of an encoded position in bytes.
    pub const SIZE: usize = 16;

    /// Encodes the position, for [`read`](Self::read).
    pub fn bytes(self) -> [u8; Self::SIZE] {
        let Absolute { place: Place { file, at }, created } = self;
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&file.to_le_bytes());
        bytes[4..8].copy_from_slice(&created.to_le_bytes());
        bytes[8..].copy_from_slice(&at.to_le_bytes());
        bytes
    }

    /// Decodes what [`bytes`](Self::bytes) encoded, and returns it with the bytes that follow. None if there are too few bytes.
    pub fn read(bytes: &[u8]) -> Option<(Absolute, &[u8])> {
        let (file, bytes) = bytes.split_first_chunk()?;
        let (created, bytes) = bytes.split_first_chunk()?;
        let (at, rest) = bytes.split_first_chunk()?;
        let place = Place { file: u32::from_le_bytes(*file), at: u64::from_le_bytes(*at) };
        Some((Absolute { place, created: u32::from_le_bytes(*created) }, rest))
    }
}

impl Place {
    /// Returns the position `at` in the file with this name. None if the name is not that of a binary log: it must end with a dot
    /// and a number.
    pub fn of(name: &[u8], at: u64) -> Option<Place> {
        let (_, number) = std::str::from_utf8(name).ok()?.rsplit_once('.')?;
        Some(Place { file: number.parse().ok()?, at })
    }

    /// Returns the end position of an event that begins here or later in the same file. `lower` is what the event contains of it,
    /// the lower 32 bits. None if the position would go back.
    pub fn end(self, lower: u32) -> Option<Place> {
        const HALF: u64 = 1 << 31;
        const WHOLE: u64 = 1 << 32;
        let near = self.at & !(WHOLE - 1) | u64::from(lower);
        let at = if near + HALF < self.at { near + WHOLE } else { near };
        (at >= self.at).then_some(Place { at, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_order_of_their_numbers() {
        let place = |name: &str, at| Place::of(name.as_bytes(), at);
        assert!(place("log.999999", 900) < place("log.1000000", 4));
        assert!(place("log.000002", 4) > place("log.000001", 900));
        for name in ["log", "log.", "log.x1", ""] {
            assert_eq!(place(name, 4), None, "{name}");
        }
    }

    #[test]
    fn what_is_absolute_is_read_as_it_was_written() {
        let absolute = Absolute { place: Place { file: 7, at: 1 << 40 }, created: 9 };
        let bytes = [&absolute.bytes()[..], b"rest"].concat();
        assert_eq!(Absolute::read(&bytes), Some((absolute, &b"rest"[..])));
        assert_eq!(Absolute::read(&bytes[..Absolute::SIZE - 1]), None);
    }

    #[test]
    fn a_file_may_be_longer_than_an_event_can_tell() {
        let place = Place { file: 1, at: 0xFFFF_FF00 };
        assert_eq!(place.end(0xFFFF_FF80).map(|end| end.at), Some(0xFFFF_FF80));
        assert_eq!(place.end(0x80).map(|end| end.at), Some(0x1_0000_0080));
        assert_eq!(Place { at: 0x1_0000_0080, ..place }.end(0x90).map(|end| end.at), Some(0x1_0000_0090));
        assert_eq!(Place { at: 900, ..place }.end(800), None, "back");
    }
}
