//! The knowledge about a table's key column that is needed to determine from a statement's text which rows the statement touches.

use crate::UniqueKey;

/// The single column of a table's integer primary key, which identifies the rows. To derive the touched rows from a statement's text, the
/// table must have no triggers and no foreign keys with cascades; this type does not say so, the caller checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column's name as the table defines it. The server compares column names without case.
    pub name: Vec<u8>,
    /// The least value that the column's type can hold.
    pub least: i128,
    /// The greatest value that the column's type can hold.
    pub most: i128,
    /// The index of the column's value, from 0, in the list of values of an INSERT that names no columns. None if it is not certain.
    pub position: Option<usize>,
    /// True if the column is AUTO_INCREMENT: if an INSERT gives no value, or 0, the server generates one.
    pub is_generated: bool,
    /// True if the table is known to have no other unique key, so that a new row can conflict only with a row of the same primary key.
    pub is_sole: bool,
    /// The usable unique keys besides the primary key: a read that compares all columns of one with constants finds at most one row. Keys
    /// whose comparisons are not certain are left out, so this may be empty although `is_sole` is false.
    pub unique_keys: Vec<UniqueKey>,
    /// True if the table has virtual columns. They are computed from a row whenever it is read, which can raise warnings or fail.
    pub computes: bool,
}

impl KeyColumn {
    /// Returns a column with this name and this least and greatest value. The other fields say that nothing is known: `None`, false or
    /// empty.
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

    /// True if the column's type can hold the value. The server may change a literal outside of the range to the nearest bound.
    pub fn holds(&self, key: i128) -> bool {
        (self.least..=self.most).contains(&key)
    }

    /// Returns the column's value from bytes in the server's format, least significant byte first. The value is as wide as the column's
    /// type; the bytes after it are ignored.
    pub fn read(&self, bytes: [u8; 8]) -> i128 {
        let span = self.most - self.least;
        let value = i128::from(u64::from_le_bytes(bytes)) & span;
        if value > self.most { value - span - 1 } else { value }
    }

    /// Parses the column's value as a result set shows it: in digits, or, if `is_binary`, in the binary protocol, least significant byte
    /// first; the bytes after the column's width are ignored. None if the digits are no number in the column's range, or the bytes are more
    /// than eight.
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
