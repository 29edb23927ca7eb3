//! What the engine has to know of the server's tables, views and settings, asked for by SQL.
//!
//! It may be slow or fail without harm: results are stored only while the answers are current.

mod beginnings;
mod keys;
mod tables;
mod views;

use crate::link::Link;
use flavour::Flavour;
use session::Engine;

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
    let asked = engine.tables().take_asked();
    for table in &asked {
        tables::settle(engine, link, table)?;
    }
    for table in &asked {
        tables::settle_key(engine, link, table).inspect_err(|_| engine.tables().ask(table))?;
    }
    engine.store_late();
    Ok(())
}

/// A name as a literal that no setting can change the meaning of.
fn literal(flavour: &Flavour, name: &[u8]) -> String {
    let digits: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} x'{digits}'", flavour.catalogue.utf8)
}
