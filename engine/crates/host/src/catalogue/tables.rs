//! Whether results of a table may be stored, and by which column its rows are told apart.

use crate::catalogue::keys;
use crate::link::{Link, Row};
use flavour::Flavour;
use session::{Engine, Table, Verdict};
use sql::LexMode;

pub fn settle(engine: &Engine, link: &mut dyn Link, table: &Table) -> Result<(), String> {
    let era = table.era(engine.catalogue().generation());
    let verdict = judge(engine.flavour(), link, &table.db, &table.name)?;
    table.settle(era, verdict);
    Ok(())
}

pub fn settle_key(engine: &Engine, link: &mut dyn Link, table: &Table) -> Result<(), String> {
    let generation = engine.catalogue().generation();
    let era = table.era(generation);
    if table.verdict(generation) == Verdict::Snapshot {
        let flavour = engine.flavour();
        let (schema, name) = (flavour.literal(&table.db), flavour.literal(&table.name));
        let key = keys::key_column(flavour, link, &schema, &name)?;
        table.settle_key(era, key);
    }
    Ok(())
}

fn judge(flavour: &'static Flavour, link: &mut dyn Link, db: &[u8], name: &[u8]) -> Result<Verdict, String> {
    let catalogue = &flavour.catalogue;
    let (schema, table) = (flavour.literal(db), flavour.literal(name));
    let mut ask = |question| link.query(&flavour::ask(question, &schema, &table));
    let rows = ask(catalogue.table)?;
    let Some([Some(engine), Some(kind)]) = rows.first().map(|row| row.as_slice()) else { return Ok(Verdict::Unfit) };
    let engines = &flavour.engines;
    let is_in = |names: &[&str]| names.iter().any(|name| name.as_bytes() == engine);
    let verdicts =
        [(engines.snapshot, Verdict::Snapshot), (engines.plain, Verdict::Plain), (engines.joining, Verdict::Joining)];
    let verdict = verdicts.into_iter().find(|(names, _)| is_in(names)).map_or(Verdict::Unfit, |(_, verdict)| verdict);
    if kind == b"SEQUENCE" {
        return Ok(Verdict::Sequence);
    }
    if !matches!(kind.as_slice(), b"BASE TABLE" | b"SYSTEM VERSIONED") {
        return Ok(Verdict::Unfit);
    }
    if !ask(catalogue.times)?.is_empty() {
        return Ok(Verdict::Times);
    }
    let expressions = ask(catalogue.computed)?;
    let mode = LexMode::new(flavour);
    let is_fixed =
        |row: &Row| row.first().is_some_and(|value| sql::is_deterministic(value.as_deref().unwrap_or_default(), mode));
    Ok(if expressions.iter().all(is_fixed) { verdict } else { Verdict::Unfit })
}
