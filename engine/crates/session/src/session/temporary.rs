//! Temporary tables, of which no event tells: whether the session may have any.
//!
//! The tables that the session's own statements create are counted, not named, since a rename gives them other names. The
//! count is never lower than the number of these tables.

use sql::{Kind, LexMode};

use crate::text::kinds::may_be_anything;

#[derive(Default)]
pub struct TemporaryTables {
    created: u32,
    /// Some may have been made where no statement of the session says so. They last until a reset.
    may_be_hidden: bool,
    /// A statement prepared in SQL may make some when it is executed.
    are_prepared: bool,
}

impl TemporaryTables {
    pub fn may_exist(&self) -> bool {
        self.created > 0 || self.may_be_hidden
    }

    /// A statement has ended that creates one; it may have failed.
    pub fn note_created(&mut self) {
        self.created = self.created.saturating_add(1);
    }

    /// A statement has dropped at least one.
    pub fn note_dropped(&mut self) {
        self.created = self.created.saturating_sub(1);
    }

    pub fn note_hidden(&mut self) {
        self.may_be_hidden = true;
    }

    /// Those made in one of several statements, or by EXECUTE.
    pub fn note(&mut self, kind: &Kind, text: &[u8], mode: LexMode) {
        let may_make = || sql::may_make_temporary(text, mode);
        match kind {
            Kind::Prepare(_) => self.are_prepared |= may_make(),
            Kind::Execute(_) => self.may_be_hidden |= self.are_prepared,
            kind if may_be_anything(kind) => self.may_be_hidden |= self.are_prepared || may_make(),
            _ => {}
        }
    }
}
