//! Temporary tables, which the server does not report: whether the session may have any.
//!
//! Tables that the session's own statements create are counted, not named, because a rename changes their names. The
//! count is never lower than their number.

use sql::{Kind, LexMode};

use crate::text::kinds::may_be_anything;

#[derive(Default)]
pub struct TemporaryTables {
    /// Number of temporary tables that the session's own statements have created, or a greater one.
    created: u32,
    /// A statement may have created one that the session's own statements do not show. These tables last until a reset.
    may_be_hidden: bool,
    /// A statement prepared in SQL may create one when it is executed.
    are_prepared: bool,
}

impl TemporaryTables {
    pub fn may_exist(&self) -> bool {
        self.created > 0 || self.may_be_hidden
    }

    /// Called when a CREATE TEMPORARY TABLE has ended. It counts even after an error, so that the count is never too
    /// low.
    pub fn note_created(&mut self) {
        self.created = self.created.saturating_add(1);
    }

    /// Called when a DROP TEMPORARY TABLE without IF EXISTS has succeeded: at least one table is gone.
    pub fn note_dropped(&mut self) {
        self.created = self.created.saturating_sub(1);
    }

    /// Called if a statement whose text is not known may have created temporary tables. They count until the session is
    /// reset.
    pub fn note_hidden(&mut self) {
        self.may_be_hidden = true;
    }

    /// Called when a statement goes to the server. Notes temporary tables that it may create in a compound statement,
    /// or by an EXECUTE of something that was prepared in SQL.
    pub fn note(&mut self, kind: &Kind, text: &[u8], mode: LexMode) {
        let may_make = || sql::may_create_temporary_table(text, mode);
        match kind {
            Kind::Prepare(_) => self.are_prepared |= may_make(),
            Kind::Execute(_) => self.may_be_hidden |= self.are_prepared,
            kind if may_be_anything(kind) => self.may_be_hidden |= self.are_prepared || may_make(),
            _ => {}
        }
    }
}
