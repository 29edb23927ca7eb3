//! `SHOW FQC QUERIES`: what the cache does for each shape of statement.

use super::rows::Rows;
use crate::engine::Engine;
use crate::reason::{self, ContextReason};
use ::insight::report;
use std::collections::HashMap;

pub fn rows(engine: &Engine) -> Rows {
    report::queries(&engine.insight().digests, &Names::of(engine))
}

/// The names of tables as reports show them. The key is the number of the version cell that advances with any change of
/// the table.
struct Names(HashMap<u32, String>);

impl Names {
    fn of(engine: &Engine) -> Names {
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let tables = engine.tables().list().into_iter();
        Names(tables.map(|table| (table.any_change.0, format!("{}.{}", text(&table.db), text(&table.name)))).collect())
    }
}

impl report::Names for Names {
    fn reason(&self, index: usize) -> &'static str {
        reason::name(index)
    }

    fn passed_over(&self) -> &'static str {
        reason::name(ContextReason::NotReused as usize)
    }

    fn table(&self, number: u32) -> Option<&str> {
        self.0.get(&number).map(String::as_str)
    }
}
