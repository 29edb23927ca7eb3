//! The positions of a text's numbers, for those that its shape replaces.

/// The maximum number of positions that are noted. Further numbers of a text are ignored.
pub(crate) const MOST: usize = 16;

/// The positions of the first 16 numbers of a text, in order, from [`shape_and_numbers`](crate::shape_and_numbers). In the text's shape
/// each number is a `?`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// The start and the length of each number, in bytes.
    at: [(u32, u32); MOST],
    count: u8,
}

impl Numbers {
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    #[inline]
    pub(crate) fn note(&mut self, start: usize, length: usize) {
        if let Some(place) = self.at.get_mut(usize::from(self.count)) {
            *place = (start as u32, length as u32);
            self.count += 1;
        }
    }

    /// Returns the number with this index, from 0, as it is written in `text`, which must be the text that the positions are from. None if
    /// no such number was noted.
    pub(crate) fn of<'a>(&self, text: &'a [u8], index: usize) -> Option<&'a [u8]> {
        let (start, length) = self.at[..usize::from(self.count)].get(index)?;
        text.get(*start as usize..)?.get(..*length as usize)
    }
}
