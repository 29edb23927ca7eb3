//! Finds the rows that an event changes, by the value of one column before and after the change.
//!
//! Invariants: no panic on any bytes; there is no result unless every byte of the event is understood.

use footprint::KeyColumn;
use wire::lenenc::Reader;

/// The column of a table that identifies its rows in the cache, with its index and the number of columns of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowKey {
    pub column: KeyColumn,
    /// The index of the column, from 0.
    pub index: usize,
    /// The number of columns of the table.
    pub columns: usize,
}

/// A table map: the id that rows events use for the table until the transaction ends, and its column types as the event contains
/// them. Empty `columns` mean that the rows cannot be decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableMap<'a> {
    pub id: u64,
    pub columns: &'a [u8],
}

/// The rows of one event, not decoded yet. `id` refers to a table map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows<'a> {
    pub id: u64,
    pub images: Images,
    pub bytes: &'a [u8],
}

/// The row images that an event contains for each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Images {
    /// One image: the row after an insert, or before a delete.
    One,
    /// Two images: the row before an update, and the changed columns.
    Two,
}

/// The length of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// All values have this many bytes.
    Fixed(usize),
    /// A length of this many bytes precedes each value.
    Counted(usize),
}

/// The lengths of all columns of a table, with which its rows are decoded.
#[derive(Debug, PartialEq, Eq)]
pub struct RowLayout(Vec<Width>);

impl RowLayout {
    /// Returns the layout of the table that a table map describes. None if the columns do not match this key, as after an ALTER
    /// TABLE, or if a type is not known; the rows cannot be decoded then.
    pub fn of(table_map: &TableMap, key: &RowKey) -> Option<RowLayout> {
        let mut reader = Reader::new(table_map.columns);
        let types = string(&mut reader)?;
        let mut details = Reader::new(string(&mut reader)?);
        let widths: Option<Vec<_>> = types.iter().map(|kind| width(*kind, &mut details)).collect();
        let widths = widths.filter(|widths| details.is_empty() && widths.len() == key.columns)?;
        let KeyColumn { least, most, .. } = key.column;
        let is_like = |bytes: &usize| (most - least) >> (8 * bytes - 1) == 1;
        let integer = types.get(key.index).and_then(|kind| integer(*kind));
        integer.filter(is_like).map(|_| RowLayout(widths))
    }

    /// Returns the keys of all changed rows, before and after the change. None if the event is not understood, or a key is NULL
    /// or missing: any row may have changed then.
    pub fn keys(&self, rows: &Rows, key: &RowKey) -> Option<Vec<i128>> {
        let mut reader = Reader::new(rows.bytes);
        if reader.int()? != self.0.len() as u64 {
            return None;
        }
        let first = Columns::read(&mut reader, self.0.len())?;
        let second = if rows.images == Images::Two { Some(Columns::read(&mut reader, self.0.len())?) } else { None };
        let mut keys = Vec::new();
        while !reader.is_empty() {
            keys.push(self.image(&mut reader, &first, key)??);
            if let Some(second) = &second {
                // The image after an update may lack columns that have not changed.
                keys.extend(self.image(&mut reader, second, key)?);
            }
        }
        Some(keys)
    }

    /// Returns the key in one row image. `Some(None)` means that the image lacks the key column, and none that the image is not
    /// understood or the key is NULL.
    fn image(&self, reader: &mut Reader, present: &Columns, key: &RowKey) -> Option<Option<i128>> {
        let nulls = Columns::read(reader, present.count())?;
        let (mut found, mut number) = (None, 0);
        for (index, width) in self.0.iter().enumerate().filter(|(index, _)| present.has(*index)) {
            let is_null = nulls.has(number);
            number += 1;
            let length = if is_null { 0 } else { width.read(reader)? };
            let value = reader.take(length)?;
            if index == key.index {
                found = Some(read(&key.column, value).filter(|_| !is_null)?);
            }
        }
        Some(found)
    }
}

impl Width {
    /// Returns the length of the next value in bytes, and skips the bytes that contain the length, if there are any. None if
    /// bytes are missing.
    fn read(self, reader: &mut Reader) -> Option<usize> {
        match self {
            Width::Fixed(bytes) => Some(bytes),
            Width::Counted(bytes) => Some(reader.uint(bytes)? as usize),
        }
    }
}

/// A bit map with one bit for each column, and the number of columns.
struct Columns<'a>(&'a [u8], usize);

impl<'a> Columns<'a> {
    fn read(reader: &mut Reader<'a>, count: usize) -> Option<Columns<'a>> {
        Some(Columns(reader.take(count.div_ceil(8))?, count))
    }

    fn has(&self, index: usize) -> bool {
        self.0[index / 8] >> (index % 8) & 1 == 1
    }

    /// Returns the number of columns whose bit is set.
    fn count(&self) -> usize {
        (0..self.1).filter(|index| self.has(*index)).count()
    }
}

/// Reads bytes that follow their length. None if bytes are missing.
fn string<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(reader.int()?).ok()?;
    reader.take(length)
}

/// Decodes the value of a key column, least significant byte first. None if it has more than eight bytes.
fn read(column: &KeyColumn, value: &[u8]) -> Option<i128> {
    let mut bytes = [0; 8];
    bytes.get_mut(..value.len())?.copy_from_slice(value);
    Some(column.read(bytes))
}

mod kind {
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const LONG_LONG: u8 = 8;
    pub const MEDIUM: u8 = 9;
    pub const DATE: u8 = 10;
    pub const YEAR: u8 = 13;
    pub const NEW_DATE: u8 = 14;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const TIMESTAMP: u8 = 17;
    pub const DATETIME: u8 = 18;
    pub const JSON: u8 = 245;
    pub const DECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const BLOB: u8 = 252;
    pub const STRING: u8 = 254;
}

/// Returns the length of an integer type in bytes; none for other types.
fn integer(kind: u8) -> Option<usize> {
    Some(match kind {
        kind::TINY => 1,
        kind::SHORT => 2,
        kind::MEDIUM => 3,
        kind::LONG => 4,
        kind::LONG_LONG => 8,
        _ => return None,
    })
}

/// Returns the width of a column of this type. `details` contains the type metadata of this column and those after it, and is
/// moved past that of this column. None if the type is not known or the metadata is malformed: the rows cannot be decoded then.
fn width(kind: u8, details: &mut Reader) -> Option<Width> {
    if let Some(bytes) = integer(kind) {
        return Some(Width::Fixed(bytes));
    }
    Some(match kind {
        kind::YEAR => Width::Fixed(1),
        kind::DATE | kind::NEW_DATE => Width::Fixed(3),
        kind::FLOAT | kind::DOUBLE => Width::Fixed(usize::from(details.u8().filter(|bytes| matches!(bytes, 4 | 8))?)),
        kind::TIMESTAMP => Width::Fixed(4 + fraction(details.u8()?)?),
        kind::DATETIME => Width::Fixed(5 + fraction(details.u8()?)?),
        kind::VARCHAR => counted(details.u16()?.into()),
        kind::BLOB | kind::JSON => Width::Counted(details.u8().filter(|bytes| matches!(bytes, 1..=4))?.into()),
        kind::BIT => {
            let (bits, bytes) = (details.u8()?, details.u8()?);
            Width::Fixed(usize::from(bytes) + usize::from(bits > 0))
        }
        kind::DECIMAL => decimal(details.u8()?.into(), details.u8()?.into())?,
        kind::STRING => of_text(details.u8()?, details.u8()?)?,
        _ => return None,
    })
}

/// Returns the number of bytes for this many digits after the decimal point of a second. None if there are more than six.
fn fraction(digits: u8) -> Option<usize> {
    (digits <= 6).then(|| usize::from(digits).div_ceil(2))
}

/// Returns the width of values that have at most this many bytes, and begin with their own length.
fn counted(most: usize) -> Width {
    Width::Counted(if most > 255 { 2 } else { 1 })
}

/// Decodes the metadata of a string type: two bits of the length are stored inverted among the bits of the type. None if the
/// type is not known.
fn of_text(first: u8, second: u8) -> Option<Width> {
    const LENGTH: u8 = 0x30;
    match first | LENGTH {
        kind::ENUM | kind::SET => (first & LENGTH == LENGTH && second <= 8).then(|| Width::Fixed(second.into())),
        kind::STRING => Some(counted(usize::from(first & LENGTH ^ LENGTH) << 4 | usize::from(second))),
        _ => None,
    }
}

/// Returns the length of a DECIMAL. Nine digits take four bytes. The remaining digits before and after the point take as many
/// bytes as they need. None if there are fewer digits than digits after the point.
fn decimal(digits: usize, after_point: usize) -> Option<Width> {
    const BYTES: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    let bytes = |digits: usize| digits / 9 * 4 + BYTES[digits % 9];
    Some(Width::Fixed(bytes(digits.checked_sub(after_point)?) + bytes(after_point)))
}

#[cfg(test)]
mod tests {
    use super::super::event::{self, Event, HEADER};
    use super::*;
    use fqc_tests::random::Random;

    /// Returns a key that is an INT column with this index, in a table with this many columns.
    fn key(index: usize, columns: usize) -> RowKey {
        let column = KeyColumn::new(b"id".to_vec(), i32::MIN.into(), i32::MAX.into());
        RowKey { column, index, columns }
    }

    /// The table map of VARCHAR(20), INT and DECIMAL(5,2).
    const TYPES: &[u8] = &[3, kind::VARCHAR, kind::LONG, kind::DECIMAL, 4, 20, 0, 5, 2, 0];

    fn layout() -> RowLayout {
        RowLayout::of(&TableMap { id: 1, columns: TYPES }, &key(1, 3)).expect("it is known")
    }

    /// Returns the keys in these rows of the table of [`TYPES`], whose key is the second column.
    fn keys(images: Images, bytes: &[u8]) -> Option<Vec<i128>> {
        layout().keys(&Rows { id: 1, images, bytes }, &key(1, 3))
    }

    #[test]
    fn rows_are_told_by_their_keys_before_and_after() {
        let inserted = [&[3, 0b111, 0, 1, b'a', 7, 0, 0, 0, 1, 2, 3][..], &[0b101, 255, 255, 255, 255]].concat();
        assert_eq!(keys(Images::One, &inserted), Some(vec![7, -1]));
        let whole = [&[3, 0b111, 0b111, 0b101, 7, 0, 0, 0][..], &[0b001, 8, 0, 0, 0, 1, 2, 3]].concat();
        assert_eq!(keys(Images::Two, &whole), Some(vec![7, 8]));
        // The image before the update has only the key, and the image after it has only another column.
        assert_eq!(keys(Images::Two, &[3, 0b010, 0b001, 0, 7, 0, 0, 0, 0, 1, b'a']), Some(vec![7]));
        assert_eq!(keys(Images::One, &[3, 0b111]), Some(vec![]));
    }

    #[test]
    fn what_does_not_tell_the_key_or_is_cut_has_no_answer() {
        assert_eq!(keys(Images::One, &[3, 0b001, 0, 1, b'a']), None, "without the key");
        assert_eq!(keys(Images::One, &[3, 0b010, 1]), None, "NULL");
        assert_eq!(
            keys(Images::Two, &[3, 0b001, 0b010, 0, 1, b'a', 0, 7, 0, 0, 0]),
            None,
            "it is not told what it was"
        );
        assert_eq!(keys(Images::One, &[2, 0b011, 0, 1, b'a', 7, 0, 0, 0]), None, "of another table");
        for length in 0..11 {
            let bytes = &[3, 0b111, 0, 1, b'a', 7, 0, 0, 0, 1, 2, 3][..length];
            assert_eq!(keys(Images::One, bytes), if length == 2 { Some(vec![]) } else { None }, "{length}");
        }
    }

    #[test]
    fn a_table_that_is_not_as_the_catalogue_told_has_no_layout() {
        let of = |columns: &[u8], key: RowKey| RowLayout::of(&TableMap { id: 1, columns }, &key);
        assert!(of(TYPES, key(1, 3)).is_some());
        assert_eq!((of(TYPES, key(1, 4)), of(TYPES, key(0, 3)), of(&TYPES[..8], key(1, 3))), (None, None, None));
        let wider = KeyColumn::new(b"id".to_vec(), i64::MIN.into(), i64::MAX.into());
        assert_eq!(of(TYPES, RowKey { column: wider, ..key(1, 3) }), None);
        for unknown in [7, 11, 12, 19, 140, 141, 242, 255] {
            assert_eq!(of(&[2, kind::LONG, unknown, 1, 0, 0], key(0, 2)), None, "{unknown}");
        }
    }

    #[test]
    fn lengths_of_texts_and_decimals_are_read_as_they_are_packed() {
        assert_eq!(of_text(kind::STRING, 3), Some(Width::Counted(1)));
        assert_eq!(of_text(kind::STRING ^ 0x30, 252), Some(Width::Counted(2)));
        assert_eq!(of_text(kind::ENUM, 2), Some(Width::Fixed(2)));
        assert_eq!((decimal(20, 7), decimal(65, 30)), (Some(Width::Fixed(10)), Some(Width::Fixed(30))));
        assert_eq!(decimal(5, 6), None);
    }

    #[test]
    fn any_bytes_have_an_answer() {
        const LOGS: [&[u8]; 2] = [
            include_bytes!("../../tests/data/mariadb-10.11.binlog"),
            include_bytes!("../../tests/data/mysql-9.7.binlog"),
        ];
        let (mut random, mut layouts, mut understood) = (Random::new(1), Vec::new(), 0);
        for log in LOGS {
            let mut rest = &log[4..];
            while let Some(header) = rest.get(..HEADER) {
                let length = u32::from_le_bytes([header[9], header[10], header[11], header[12]]) as usize;
                match event::read(&rest[..length], true, true).expect("an event").event {
                    Event::Table { table_map, .. } => layouts.push(table_map),
                    Event::Rows(Some(rows)) => {
                        for table_map in &layouts {
                            understood += try_changed(&mut random, table_map, &rows);
                        }
                    }
                    _ => {}
                }
                rest = &rest[length..];
            }
        }
        assert!(understood > 1000, "{understood} were understood");
    }

    /// Decodes rows with changed bytes many times. Returns how often they were understood.
    fn try_changed(random: &mut Random, table_map: &TableMap, rows: &Rows) -> usize {
        let mut understood = 0;
        for round in 0..300 {
            let [mut columns, mut bytes] = [table_map.columns, rows.bytes].map(<[u8]>::to_vec);
            for _ in 0..random.below(4).min(round) {
                for bytes in [&mut columns, &mut bytes] {
                    let index = random.below(bytes.len());
                    bytes[index] = random.below(256) as u8;
                }
            }
            bytes.truncate(if random.percent(50) { bytes.len() } else { random.below(bytes.len() + 1) });
            let key = key(random.below(3), usize::from(table_map.columns[0]));
            let layout = RowLayout::of(&TableMap { id: 1, columns: &columns }, &key);
            understood +=
                usize::from(layout.is_some_and(|layout| layout.keys(&Rows { bytes: &bytes, ..*rows }, &key).is_some()));
        }
        understood
    }
}
