//! Reading of protocol integers, strings and values from a payload.

use std::ops::Range;

/// A cursor over one payload. What is missing at the end reads as zero or empty, since the input may be anything; no method fails.
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    /// Takes the next `count` bytes, or as many as there are.
    pub fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Takes an unsigned little-endian integer of `width` bytes, at most 8.
    pub fn int(&mut self, width: usize) -> u64 {
        let mut wide = [0; 8];
        let taken = self.bytes(width);
        wide[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(wide)
    }

    /// Takes a length-encoded integer. None is the NULL of a text row.
    pub fn length(&mut self) -> Option<u64> {
        match self.int(1) {
            0xfb => None,
            0xfc => Some(self.int(2)),
            0xfd => Some(self.int(3)),
            0xfe => Some(self.int(8)),
            small => Some(small),
        }
    }

    /// Takes a string that a length-encoded integer precedes. None is the NULL of a text row.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        Some(self.bytes(length as usize))
    }

    /// Takes the bytes up to the next zero byte, which is taken as well but not returned.
    pub fn zero_ended(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| byte == 0).unwrap_or(self.rest.len());
        let taken = self.bytes(end);
        self.bytes(1);
        taken
    }

    /// Returns all bytes that have not been read yet, and counts them as read.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}

/// The parts of a column definition that are needed to read rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: Vec<u8>,
    /// The column's type, by its number in the protocol.
    pub kind: u8,
    pub is_unsigned: bool,
}

/// Decodes a column definition packet. `extended`: MariaDB's extended metadata was agreed on, so the packet has one more field.
pub fn column(payload: &[u8], extended: bool) -> Column {
    let mut cursor = Cursor::new(payload);
    for _ in 0..4 {
        cursor.text();
    }
    let name = cursor.text().unwrap_or_default().to_vec();
    cursor.text();
    if extended {
        cursor.text();
    }
    cursor.bytes(1 + 2 + 4);
    let kind = cursor.int(1) as u8;
    let flags = cursor.int(2);
    Column { name, kind, is_unsigned: flags & 0x20 != 0 }
}

/// The parts of a column definition packet that tell where the column comes from: the name of its table, and its own name there. Each
/// range includes the length byte.
pub fn origin(payload: &[u8]) -> [Range<usize>; 2] {
    let mut cursor = Cursor::new(payload);
    // The catalogue, the schema, the alias of the table, its name, the alias of the column, its name.
    let mut ends = [0; 6];
    for end in &mut ends {
        cursor.text();
        *end = payload.len() - cursor.rest.len();
    }
    [ends[2]..ends[3], ends[4]..ends[5]]
}

/// One row of a result: a value for each column, as its text. None is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// Decodes a row of the text protocol with this many columns.
pub fn text_row(payload: &[u8], columns: usize) -> Row {
    let mut cursor = Cursor::new(payload);
    (0..columns).map(|_| cursor.text().map(<[u8]>::to_vec)).collect()
}

/// Decodes a row of the binary protocol. Numbers become text; temporal values become the hexadecimal form of their bytes.
pub fn binary_row(payload: &[u8], columns: &[Column]) -> Row {
    let mut cursor = Cursor::new(payload);
    cursor.bytes(1);
    let nulls = cursor.bytes((columns.len() + 9) / 8);
    let is_null = |index: usize| nulls.get((index + 2) / 8).is_some_and(|byte| byte >> ((index + 2) % 8) & 1 == 1);
    let value = |(index, column)| {
        if is_null(index) { None } else { Some(binary_value(&mut cursor, column)) }
    };
    columns.iter().enumerate().map(value).collect()
}

fn binary_value(cursor: &mut Cursor, column: &Column) -> Vec<u8> {
    match column.kind {
        1 => integer(cursor, 1, column.is_unsigned),
        2 | 13 => integer(cursor, 2, column.is_unsigned),
        3 | 9 => integer(cursor, 4, column.is_unsigned),
        8 => integer(cursor, 8, column.is_unsigned),
        4 => f32::from_bits(cursor.int(4) as u32).to_string().into(),
        5 => f64::from_bits(cursor.int(8)).to_string().into(),
        7 | 10 | 11 | 12 => {
            let length = cursor.int(1) as usize;
            format!("{:02x?}", cursor.bytes(length)).into()
        }
        _ => cursor.text().unwrap_or_default().to_vec(),
    }
}

fn integer(cursor: &mut Cursor, width: usize, is_unsigned: bool) -> Vec<u8> {
    let value = cursor.int(width);
    let spare = 64 - 8 * width as u32;
    let signed = (value << spare) as i64 >> spare;
    if is_unsigned { value.to_string().into() } else { signed.to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_signed_integer_keeps_its_sign() {
        assert_eq!(integer(&mut Cursor::new(&[0xff]), 1, false), b"-1");
        assert_eq!(integer(&mut Cursor::new(&[0xff]), 1, true), b"255");
    }

    #[test]
    fn a_text_row_tells_null_from_empty() {
        assert_eq!(text_row(&[0xfb, 0, 1, b'a'], 3), vec![None, Some(vec![]), Some(b"a".to_vec())]);
    }
}
