//! The knowledge about a table's key column that is needed to determine from a statement's text which rows the statement touches.

use crate::UniqueKey;

/// The single column of an integer primary key. The table's rows change only by statements that name the table: there are no triggers,
/// and no cascades into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column's name as defined. The server compares column names without case.
    pub name: Vec<u8>,
    /// The least and the greatest value that the column's type can hold.
    pub least: i128,
    pub most: i128,
    /// The index of the column's value in an INSERT without a list of columns, from 0. None if it is not certain.
    pub position: Option<usize>,
    /// AUTO_INCREMENT: if an INSERT gives no value, or 0, the server generates one.
    pub is_generated: bool,
    /// No other key of the table is unique, so a new row can only conflict with a row that has the same value here.
    pub is_sole: bool,
    /// Unique keys besides this one. A read can name a single row by each of them.
    pub unique_keys: Vec<UniqueKey>,
    /// The table has virtual columns. They are computed from a row whenever it is read, which can raise warnings or fail.
    pub computes: bool,
}

impl KeyColumn {
    /// A column with this range of values. Everything else about it is unknown.
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

    /// Whether the column's type can hold the value. The server may change a literal outside of the range to the nearest bound.
    pub fn holds(&self, key: i128) -> bool {
        (self.least..=self.most).contains(&key)
    }

    /// The value at the front of these bytes, in the format of servers: the least significant byte first. Bytes beyond the type's width
    /// are ignored.
    pub fn read(&self, bytes: [u8; 8]) -> i128 {
        let span = self.most - self.least;
        let value = i128::from(u64::from_le_bytes(bytes)) & span;
        if value > self.most { value - span - 1 } else { value }
    }

    /// The value as a result shows it: in digits, or in the binary protocol as bytes that may be followed by bytes of other values. None
    /// if it is not in the column's range, or longer than eight bytes.
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
