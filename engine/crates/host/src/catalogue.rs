//! What the engine has to know of the server's tables, views and settings, asked for by SQL.
//!
//! It may be slow or fail without harm: results are stored only while the answers are current.

mod beginnings;
mod keys;
mod tables;
mod views;

pub use views::say as views_say;

use crate::link::{Link, Row};
use session::{Engine, Table};
use std::sync::Arc;

/// How new sessions begin, and which views there are, where that is not known.
pub fn consult(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    let knows_beginnings = engine.settings().knows_beginnings() && engine.settings().known_hosts().is_some();
    if engine.vigil().is_awake() && !knows_beginnings {
        beginnings::look_up(engine, link)?;
    }
    if engine.catalogue().views().is_none() {
        views::publish(engine, link)?;
    }
    Ok(())
}

/// The views and tables that sessions have asked about. What a result needs comes first; without a key its rows are not told apart yet.
pub fn consult_tables(engine: &Engine, link: &mut dyn Link) -> Result<(), String> {
    views::settle_asked(engine, link)?;
    let link = &mut Present { link, engine, inherited: engine.settings().inherited() };
    // What comes to wait from here on is stored in the next round: its tables are not among these.
    let waiting = engine.late_count();
    let settled = settle(engine, link, &engine.tables().take_asked());
    engine.store_late(waiting);
    if link.is_past() { Ok(()) } else { settled }
}

fn settle(engine: &Engine, link: &mut Present, asked: &[Arc<Table>]) -> Result<(), String> {
    for table in asked {
        tables::settle(engine, link, table)?;
    }
    let mut settled = Ok(());
    for table in asked {
        if settled.is_ok() {
            settled = tables::settle_key(engine, link, table);
        }
        match settled {
            Ok(()) => {}
            // Whoever meets it next asks for all of it.
            Err(_) if link.is_past() => table.doubt(),
            Err(_) => engine.tables().ask(table),
        }
    }
    settled
}

/// Asks only until somebody flushes tables, or changes anything else for all: who has flushed a table may be about to exchange its
/// files, and a question would have the server read what must not be read yet.
struct Present<'a> {
    link: &'a mut dyn Link,
    engine: &'a Engine,
    inherited: u64,
}

impl Present<'_> {
    fn is_past(&self) -> bool {
        !self.engine.settings().is_unchanged_since(self.inherited)
    }
}

impl Link for Present<'_> {
    fn query(&mut self, text: &str) -> Result<Vec<Row>, String> {
        if self.is_past() {
            return Err("what was asked about may have been flushed".into());
        }
        self.link.query(text)
    }
}
