//! Temporary tables, of which no event tells: whether the session may have any.

use sql::{Kind, LexMode};

use crate::text::kinds::may_be_anything;

#[derive(Default)]
pub struct TemporaryTables {
    may_exist: bool,
    /// A statement prepared in SQL may make some when it is executed.
    are_prepared: bool,
}

impl TemporaryTables {
    pub fn may_exist(&self) -> bool {
        self.may_exist
    }

    pub fn note_created(&mut self) {
        self.may_exist = true;
    }

    /// Those made in one of several statements, or by EXECUTE.
    pub fn note(&mut self, kind: &Kind, text: &[u8], mode: LexMode) {
        let may_make = || sql::may_make_temporary(text, mode);
        match kind {
            Kind::Prepare(_) => self.are_prepared |= may_make(),
            Kind::Execute(_) => self.may_exist |= self.are_prepared,
            kind if may_be_anything(kind) => self.may_exist |= self.are_prepared || may_make(),
            _ => {}
        }
    }
}
