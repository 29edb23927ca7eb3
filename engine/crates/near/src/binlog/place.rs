//! Places in the server's binary log.

/// Where an event ends, and the next one begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number that the file's name ends with.
    pub file: u32,
    pub at: u64,
}

impl Place {
    /// None if the name is not that of a binary log.
    pub fn of(name: &[u8], at: u64) -> Option<Place> {
        let (_, number) = std::str::from_utf8(name).ok()?.rsplit_once('.')?;
        Some(Place { file: number.parse().ok()?, at })
    }

    /// Where an event ends that begins here or later in the same file: it tells the lower half of the number. None if it cannot be.
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
    fn a_file_may_be_longer_than_an_event_can_tell() {
        let place = Place { file: 1, at: 0xFFFF_FF00 };
        assert_eq!(place.end(0xFFFF_FF80).map(|end| end.at), Some(0xFFFF_FF80));
        assert_eq!(place.end(0x80).map(|end| end.at), Some(0x1_0000_0080));
        assert_eq!(Place { at: 0x1_0000_0080, ..place }.end(0x90).map(|end| end.at), Some(0x1_0000_0090));
        assert_eq!(Place { at: 900, ..place }.end(800), None, "back");
    }
}
