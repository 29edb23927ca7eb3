//! A small table of what was found out about texts, so that a text that comes again is not examined again.

use std::hash::{BuildHasher, Hasher};

/// The number of slots, each for one value.
const SLOTS: usize = 512;
/// The longest text, in bytes, that can have one of the slots. All longer texts share the first slot, which limits the memory that
/// the table needs for texts to 1 MiB.
const LONGEST: usize = 2 << 10;

/// Values for texts. A text's hash decides on its slot, and a new value replaces the one that is there.
pub struct Memo<T> {
    hasher: foldhash::fast::RandomState,
    slots: Box<[Option<T>]>,
}

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo { hasher: foldhash::fast::RandomState::default(), slots: (0..SLOTS).map(|_| None).collect() }
    }
}

impl<T> Memo<T> {
    /// Returns the value in the slot of this text if it is the right one. `context` is what a value depends on apart from the text;
    /// it may be empty.
    pub fn find(&self, text: &[u8], context: &[u8], is_right: impl FnOnce(&T) -> bool) -> Option<&T> {
        self.slots[self.slot(text, context)].as_ref().filter(|value| is_right(value))
    }

    /// Puts a value into the slot of this text.
    pub fn put(&mut self, text: &[u8], context: &[u8], value: T) {
        let slot = self.slot(text, context);
        self.slots[slot] = Some(value);
    }

    fn slot(&self, text: &[u8], context: &[u8]) -> usize {
        if text.len() > LONGEST {
            return 0;
        }
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text);
        hasher.write(context);
        1 + hasher.finish() as usize % (SLOTS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_text_and_what_else_it_depends_on_until_it_is_replaced() {
        let mut memo = Memo::default();
        memo.put(b"SELECT 1", b"a", 1);
        assert_eq!(memo.find(b"SELECT 1", b"a", |_| true), Some(&1));
        assert_eq!(memo.find(b"SELECT 1", b"a", |value| *value == 2), None);
        memo.put(b"SELECT 1", b"a", 2);
        assert_eq!(memo.find(b"SELECT 1", b"a", |_| true), Some(&2));
        assert_ne!(memo.slot(b"SELECT 1", b"a"), 0);
    }

    #[test]
    fn long_texts_share_one_slot() {
        let mut memo = Memo::default();
        let texts = [vec![b'a'; LONGEST + 1], vec![b'b'; LONGEST + 1]];
        texts.iter().for_each(|text| memo.put(text, b"", text.clone()));
        assert_eq!(memo.find(&texts[0], b"", |value| *value == texts[0]), None);
        assert_eq!(memo.find(&texts[1], b"", |value| *value == texts[1]), Some(&texts[1]));
    }
}
