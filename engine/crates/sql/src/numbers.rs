//! Where the numbers of a text are, as far as its shape was made from them.

/// Further numbers of a text are not noted.
pub(crate) const MOST: usize = 16;

/// The places of a text's first numbers, in order. In the text's shape each of them is a `?`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Start and length.
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

    /// The number with this index, as it is written in `text`, the one that was noted.
    pub(crate) fn of<'a>(&self, text: &'a [u8], index: usize) -> Option<&'a [u8]> {
        let (start, length) = self.at[..usize::from(self.count)].get(index)?;
        text.get(*start as usize..)?.get(..*length as usize)
    }
}
