//! What must be known about a table's key column before the rows of a statement can be told from its text.

use crate::UniqueKey;

/// The one column of an integer primary key, in a table whose rows change by no other way than the statements that name it:
/// no triggers, no cascades into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// As defined; the server compares such names without case.
    pub name: Vec<u8>,
    /// The least and the greatest value that the column's type can hold.
    pub least: i128,
    pub most: i128,
    /// The place of its value in an INSERT without a list of columns, from 0; none if that is not certain.
    pub position: Option<usize>,
    /// Without a value, or with 0, the server makes one up.
    pub is_generated: bool,
    /// No other key of the table is unique: a new row can be in the way of one with the same key alone.
    pub is_sole: bool,
    /// Unique keys besides this one. A read can name a single row by each of them.
    pub unique_keys: Vec<UniqueKey>,
    /// Other columns are computed from what a row holds whenever the row is read, which can give warnings or fail.
    pub computes: bool,
}

impl KeyColumn {
    /// Nothing is certain of it, but which values it can hold.
    pub fn new(name: Vec<u8>, least: i128, most: i128) -> KeyColumn {
        KeyColumn {
            name,
            least,
            most,
            position: None,
            is_generated: false,
            is_sole: false,
            unique_keys: Vec::new(),
            computes: false,
        }
    }

    /// A literal outside of the type is not always what it says: the server may bring it into bounds.
    pub fn holds(&self, key: i128) -> bool {
        (self.least..=self.most).contains(&key)
    }

    /// The value that these bytes begin with, as servers keep it: its least significant byte first.
    pub fn read(&self, bytes: [u8; 8]) -> i128 {
        let span = self.most - self.least;
        let value = i128::from(u64::from_le_bytes(bytes)) & span;
        if value > self.most { value - span - 1 } else { value }
    }

    /// The value as results show it: in digits, or in the binary protocol its bytes and perhaps some of what follows.
    pub fn shown(&self, value: &[u8], is_binary: bool) -> Option<i128> {
        if !is_binary {
            return std::str::from_utf8(value).ok()?.parse().ok().filter(|key| self.holds(*key));
        }
        let mut bytes = [0; 8];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(self.read(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_from_the_bytes_of_its_type_alone() {
        for bits in [8, 16, 24, 32, 64] {
            let half = 1i128 << (bits - 1);
            for (least, most) in [(-half, half - 1), (0, 2 * half - 1)] {
                let column = KeyColumn::new(b"id".to_vec(), least, most);
                for value in [least, least + 1, 0, 1, most / 2, most - 1, most] {
                    let mut bytes = [0xa5; 8];
                    let length = bits as usize / 8;
                    bytes[..length].copy_from_slice(&value.to_le_bytes()[..length]);
                    assert_eq!(column.read(bytes), value, "{bits} bits from {least}");
                }
            }
        }
    }
}
