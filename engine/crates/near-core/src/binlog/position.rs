//! Positions in the server's binary log.

/// A position in the server's binary log, between two events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The number at the end of the file's name.
    pub file: u32,
    /// The offset in the file, in bytes.
    pub at: u64,
}

/// A position in a form that all followers of this server's log understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsolutePosition {
    pub position: Position,
    /// The creation time of the file, in seconds since 1970 by the server's clock. After RESET, another file may have the same
    /// number.
    pub created: u32,
}

impl AbsolutePosition {
    /// The length of an encoded position in bytes.
    pub const SIZE: usize = 16;

    /// Returns the position as bytes to store with a result; [`read`](Self::read) decodes them.
    pub fn bytes(self) -> [u8; Self::SIZE] {
        let AbsolutePosition { position: Position { file, at }, created } = self;
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&file.to_le_bytes());
        bytes[4..8].copy_from_slice(&created.to_le_bytes());
        bytes[8..].copy_from_slice(&at.to_le_bytes());
        bytes
    }

    /// Decodes what [`bytes`](Self::bytes) encoded, and returns it with the bytes that follow. None if there are too few bytes.
    pub fn read(bytes: &[u8]) -> Option<(AbsolutePosition, &[u8])> {
        let (file, bytes) = bytes.split_first_chunk()?;
        let (created, bytes) = bytes.split_first_chunk()?;
        let (at, rest) = bytes.split_first_chunk()?;
        let position = Position { file: u32::from_le_bytes(*file), at: u64::from_le_bytes(*at) };
        Some((AbsolutePosition { position, created: u32::from_le_bytes(*created) }, rest))
    }
}

impl Position {
    /// Returns the position `at` in the file with this name. None if the name is not that of a binary log: it must end with a dot
    /// and a number.
    pub fn of(name: &[u8], at: u64) -> Option<Position> {
        let (_, number) = std::str::from_utf8(name).ok()?.rsplit_once('.')?;
        Some(Position { file: number.parse().ok()?, at })
    }

    /// Returns the position of an event's end, in full. The event begins at this position or later in the same file, and contains only
    /// the lower 32 bits of its end's offset, `lower`. None if the end would lie before this position.
    pub fn end(self, lower: u32) -> Option<Position> {
        const HALF: u64 = 1 << 31;
        const WHOLE: u64 = 1 << 32;
        let near = self.at & !(WHOLE - 1) | u64::from(lower);
        let at = if near + HALF < self.at { near + WHOLE } else { near };
        (at >= self.at).then_some(Position { at, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_order_of_their_numbers() {
        let position = |name: &str, at| Position::of(name.as_bytes(), at);
        assert!(position("log.999999", 900) < position("log.1000000", 4));
        assert!(position("log.000002", 4) > position("log.000001", 900));
        for name in ["log", "log.", "log.x1", ""] {
            assert_eq!(position(name, 4), None, "{name}");
        }
    }

    #[test]
    fn what_is_absolute_is_read_as_it_was_written() {
        let absolute = AbsolutePosition { position: Position { file: 7, at: 1 << 40 }, created: 9 };
        let bytes = [&absolute.bytes()[..], b"rest"].concat();
        assert_eq!(AbsolutePosition::read(&bytes), Some((absolute, &b"rest"[..])));
        assert_eq!(AbsolutePosition::read(&bytes[..AbsolutePosition::SIZE - 1]), None);
    }

    #[test]
    fn a_file_may_be_longer_than_an_event_can_tell() {
        let position = Position { file: 1, at: 0xFFFF_FF00 };
        assert_eq!(position.end(0xFFFF_FF80).map(|end| end.at), Some(0xFFFF_FF80));
        assert_eq!(position.end(0x80).map(|end| end.at), Some(0x1_0000_0080));
        assert_eq!(Position { at: 0x1_0000_0080, ..position }.end(0x90).map(|end| end.at), Some(0x1_0000_0090));
        assert_eq!(Position { at: 900, ..position }.end(800), None, "back");
    }
}
