//! Whether results of a table may be stored, and by which column its rows are told apart.

use crate::catalogue::keys;
use crate::link::Link;
use flavour::Flavour;
use session::{Engine, Table, Verdict};
use sql::{Kind, LexMode};

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
    let is_fixed =
        expressions.iter().all(|row| row.first().is_some_and(|value| is_deterministic(flavour, value.as_deref())));
    Ok(if is_fixed { verdict } else { Verdict::Unfit })
}

/// Whether a generated column has the same value at every read.
fn is_deterministic(flavour: &'static Flavour, expression: Option<&[u8]>) -> bool {
    let text = [b"SELECT ", expression.unwrap_or_default(), b" FROM t"].concat();
    matches!(sql::classify(&text, LexMode::new(flavour)).kind, Kind::Read(read) if read.refusal.is_none())
}
