//! Footprints that hold for every text of one shape: which of its numbers are the keys of the rows that it writes.
//!
//! A shape is itself a text, with `?` in place of each number. It is analysed twice. Each `?` is bound to a number that only identifies
//! its position: the numbers rise in one analysis and fall in the other. If each key is found at the same positions both times, the
//! positions alone decide which numbers are the keys.

use super::{Text, WrittenRows, digits, written};
use crate::numbers::{MOST, Numbers};
use crate::{LexMode, TableName};
use footprint::{KeyColumn, Keys};

/// The rows that a write touches, in a form that holds for every text of one shape: which of a text's numbers are the keys. It is valid for
/// one key column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPositions {
    pub table: TableName,
    rows: Rows,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rows {
    /// The numbers of the text with these indices, from 0, are the keys.
    Keys(Vec<usize>),
    Generated,
}

/// Determines which numbers in the texts of a shape are the keys of the rows that they write. `shape` has to be given without its first
/// byte. None if the positions of the numbers do not decide that: then analyse each text with [`written`].
pub fn key_positions(shape: &[u8], mode: LexMode, column: &KeyColumn) -> Option<KeyPositions> {
    let all = MOST as i128;
    let rising: Vec<_> = (1..=all).map(Some).collect();
    let falling: Vec<_> = (1..=all).rev().map(Some).collect();
    let (table, first) = written(Text { text: shape, mode, bound: &rising }, column)?;
    let (_, second) = written(Text { text: shape, mode, bound: &falling }, column)?;
    let rows = match (first, second) {
        (WrittenRows::Generated, WrittenRows::Generated) => Rows::Generated,
        (WrittenRows::Keys(Keys::Points(first)), WrittenRows::Keys(Keys::Points(second))) => {
            let is_same = first.iter().map(|key| key - 1).eq(second.iter().map(|key| all - key));
            let places = first.iter().map(|key| usize::try_from(key - 1).ok()).collect::<Option<Vec<_>>>()?;
            (is_same && !places.is_empty()).then_some(Rows::Keys(places))?
        }
        _ => return None,
    };
    Some(KeyPositions { table, rows })
}

impl KeyPositions {
    /// Returns the rows that this text of the shape can touch. `numbers` are the positions of the text's numbers, `column` is the key
    /// column that was given to [`key_positions`]. None if the rows also depend on the values of the numbers: then analyse the text with
    /// [`written`].
    pub fn written(&self, text: &[u8], numbers: &Numbers, column: &KeyColumn) -> Option<WrittenRows> {
        let key = |place: &usize| {
            let key = digits(numbers.of(text, *place)?)?;
            // For 0 the server may generate a key.
            (column.holds(key) && !(key == 0 && column.is_generated)).then_some(key)
        };
        match &self.rows {
            Rows::Generated => Some(WrittenRows::Generated),
            Rows::Keys(places) => {
                places.iter().map(key).collect::<Option<_>>().map(|keys| WrittenRows::Keys(Keys::Points(keys)))
            }
        }
    }
}
