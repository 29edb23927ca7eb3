//! Decides whether results of a table may be stored, and finds the column that identifies its rows.

use crate::catalogue::keys;
use crate::link::{Link, Row};
use flavour::Flavour;
use session::{Engine, Era, Table, Verdict};
use sql::LexMode;

/// The catalogue's answer about a table's columns, kept until the table's key column is looked up (`look_up_key`).
pub struct Columns {
    /// The period for which the table's verdict (whether its results may be stored) holds, as it was before the columns were queried.
    era: Era,
    /// The rows of `Catalogue::columns`; none if that query returned a warning.
    rows: Option<Vec<Row>>,
}

/// Looks up whether results of a table may be stored (its verdict), and sets it in the table. Returns what `look_up_key` needs; none if
/// rows of the table may not be tracked separately. An error is that of a failed query; no verdict is set then.
pub fn look_up_verdict(engine: &Engine, link: &mut dyn Link, table: &Table) -> Result<Option<Columns>, String> {
    let era = table.era(engine.catalogue().generation());
    let (verdict, rows) = judge(engine.flavour(), link, &table.db, &table.name)?;
    table.set_verdict(era, verdict);
    Ok((verdict == Verdict::Snapshot).then_some(Columns { era, rows }))
}

/// Looks up the key column of a table and sets it in the table. Does nothing if, since `look_up_verdict` returned
/// `columns`, it has changed whether results of the table may be stored. An error is that of a failed query.
pub fn look_up_key(engine: &Engine, link: &mut dyn Link, table: &Table, columns: &Columns) -> Result<(), String> {
    let generation = engine.catalogue().generation();
    if table.verdict(generation) == Verdict::Snapshot {
        let flavour = engine.flavour();
        let (schema, name) = (flavour.literal(&table.db), flavour.literal(&table.name));
        let key = keys::key_column(flavour, link, &schema, &name, columns.rows.as_deref())?;
        table.set_key(columns.era, key);
    }
    Ok(())
}

/// Returns the verdict on a table, that is, whether and how its results may be stored. Also returns the rows of `Catalogue::columns` if
/// that query was made and returned no warning, otherwise none. An error is that of a failed query.
fn judge(
    flavour: &'static Flavour,
    link: &mut dyn Link,
    db: &[u8],
    name: &[u8],
) -> Result<(Verdict, Option<Vec<Row>>), String> {
    let catalogue = &flavour.catalogue;
    let (schema, table) = (flavour.literal(db), flavour.literal(name));
    let rows = link.query(&flavour::fill_in(catalogue.table, &schema, &table))?;
    let verdict = by_engine(flavour, &rows);
    if matches!(verdict, Verdict::Sequence | Verdict::Unfit) {
        return Ok((verdict, None));
    }
    let columns = link.query(&flavour::fill_in(catalogue.columns, &schema, &table))?;
    let is_certain = link.query(catalogue.warnings)?.is_empty();
    let verdict = if footprint::has_time(&columns) {
        Verdict::Times
    } else if footprint::computed(&columns).all(|text| sql::is_deterministic(text, LexMode::new(flavour))) {
        verdict
    } else {
        Verdict::Unfit
    };
    Ok((verdict, is_certain.then_some(columns)))
}

/// Returns the verdict on a table (whether its results may be stored) that follows from the answer to `Catalogue::table` alone. No row
/// gives `Unfit`: nothing is stored.
fn by_engine(flavour: &Flavour, rows: &[Row]) -> Verdict {
    let Some([Some(engine), Some(kind)]) = rows.first().map(|row| row.as_slice()) else { return Verdict::Unfit };
    let engines = &flavour.engines;
    let is_in = |names: &[&str]| names.iter().any(|name| name.as_bytes() == engine);
    let verdicts = [
        (engines.snapshot, Verdict::Snapshot),
        (engines.plain, Verdict::Plain),
        (engines.without_savepoints, Verdict::NoSavepoints),
    ];
    match kind.as_slice() {
        b"SEQUENCE" => Verdict::Sequence,
        b"BASE TABLE" | b"SYSTEM VERSIONED" => {
            verdicts.into_iter().find(|(names, _)| is_in(names)).map_or(Verdict::Unfit, |(_, verdict)| verdict)
        }
        _ => Verdict::Unfit,
    }
}
