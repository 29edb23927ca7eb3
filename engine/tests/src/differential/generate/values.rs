//! Values in statements: literals, or bound parameters instead of them. Each method returns the text to put into the statement.

use super::Generator;
use super::model::{Type, type_of};
use crate::client::Param;

/// Few words, so that conditions match and unique keys clash.
const WORDS: &[&str] =
    &["a", "A", "b", "ab", "AB ", "zebra", "straße", "strasse", "ÄÖ", "x''y", "", "0", "12abc", "%", "null"];

/// The highest key that most statements name.
pub const KEYS: i64 = 40;

impl Generator {
    /// A value for the key `id`.
    pub(super) fn key(&mut self) -> String {
        let key = self.random.between(1, KEYS);
        self.bind(Param::Int(key), key.to_string())
    }

    /// A small whole number, perhaps negative.
    pub(super) fn small(&mut self) -> String {
        let value = self.random.between(-3, 12);
        self.bind(Param::Int(value), value.to_string())
    }

    /// A value for this column, of its type.
    pub(super) fn value_of(&mut self, column: &str) -> String {
        match type_of(column) {
            _ if self.random.percent(6) => self.bind(Param::Null, "NULL".into()),
            Type::Int if column == "id" => self.key(),
            Type::Int => self.small(),
            Type::Unsigned => {
                let value = self.random.draw() % 50 + if self.random.percent(4) { 1 << 63 } else { 0 };
                self.bind(Param::Unsigned(value), value.to_string())
            }
            Type::Decimal => {
                let value = format!("{}.{:03}", self.random.between(-99, 99), self.random.below(1000));
                self.bind(Param::Text(value.clone()), value)
            }
            Type::DateTime => self.moment(),
            Type::Json => {
                let value = format!("{{\"k\": {}, \"w\": \"{}\"}}", self.random.below(9), self.random.below(3));
                self.bind(Param::Text(value.clone()), format!("'{value}'"))
            }
            Type::Text => self.word(),
            Type::LongText | Type::Blob => self.long_word(),
        }
    }

    /// A date and time in 2024.
    fn moment(&mut self) -> String {
        let (month, day) = (self.random.between(1, 12) as u8, self.random.between(1, 28) as u8);
        let hour = self.random.below(24) as u8;
        self.bind(Param::DateTime(2024, month, day, hour, 30, 0), format!("'2024-{month:02}-{day:02} {hour:02}:30:00'"))
    }

    /// A short random text.
    pub(super) fn word(&mut self) -> String {
        let word = self.random.word(WORDS);
        self.bind(Param::Text(word.replace("''", "'")), format!("'{word}'"))
    }

    /// A short text, or one of up to 3000 bytes.
    fn long_word(&mut self) -> String {
        if self.random.percent(80) {
            return self.word();
        }
        let (length, letter) = (self.random.below(3000), self.random.below(26) as u8 + b'a');
        match &mut self.bound {
            Some(params) => {
                params.push(Param::Blob(vec![letter; length]));
                "?".into()
            }
            None => format!("REPEAT('{}', {length})", letter as char),
        }
    }

    /// Returns a placeholder, and binds the value, if the statement is to be prepared, and else the literal. Parameters are bound in the
    /// order of the calls, so calls must be in the order of the text.
    pub(super) fn bind(&mut self, param: Param, literal: String) -> String {
        if self.bound.is_none() {
            return literal;
        }
        let param = if self.random.percent(4) { self.retyped(&param) } else { param };
        self.bound.get_or_insert_default().push(param);
        "?".into()
    }
}
