//! `SHOW FQC STATUS | REASONS | QUERIES | TABLES | CURVE | NEAR`, with LIKE on the first column, or WHERE.

mod near;
mod queries;
mod rows;
mod tables;

use crate::engine::Engine;
use crate::reason::ReasonCount;
use crate::session::Session;
use crate::surface::misuse;
use ::insight::report::{CURVE, QUERIES, REASONS, curve, most_refused, ratio};
use rows::{Rows, row};
use sql::{FqcTopic, Selection};
use std::sync::atomic::Ordering::Relaxed;

/// Returns the response with the report that `SHOW FQC` asks for, filtered by `selection`. `Err`: the text of a
/// statement to be sent to the server, which fails with the error that the client must get.
pub fn build(session: &Session, engine: &Engine, topic: FqcTopic, selection: &Selection) -> Result<Vec<u8>, Vec<u8>> {
    let columns = columns(topic);
    let mut rows = match topic {
        FqcTopic::Status => status(session, engine),
        FqcTopic::Reasons => reasons(engine),
        FqcTopic::Queries => queries::rows(engine),
        FqcTopic::Tables => tables::rows(engine),
        FqcTopic::Curve => curve(&engine.insight().curve.points()),
        FqcTopic::Near => near::rows(engine),
    };
    if let Some(name) = selection.unknown_column(columns) {
        return Err(misuse::unknown_column(name));
    }
    rows.retain(|row| selection.selects(columns, row));
    let status = session.transaction.status_now();
    Ok(wire::surface::text_result(columns, &rows, session.identity.capabilities(), status))
}

/// The names of a report's columns. The control plane reads them, so they are part of docs/reference/engine.json.
fn columns(topic: FqcTopic) -> &'static [&'static str] {
    match topic {
        FqcTopic::Status => &["Item", "Value"],
        FqcTopic::Reasons => &REASONS,
        FqcTopic::Queries => &QUERIES,
        FqcTopic::Tables => &tables::COLUMNS,
        FqcTopic::Curve => &CURVE,
        FqcTopic::Near => &near::COLUMNS,
    }
}

fn status(session: &Session, engine: &Engine) -> Rows {
    let counts = engine.counts();
    let stats = engine.cache().stats();
    let own = &session.read_counts;
    vec![
        row(["Cache", &verdict(session, engine)]),
        row(["Size in bytes", &engine.cache().budget().to_string()]),
        row(["Used bytes", &stats.used_bytes.to_string()]),
        row(["Results stored", &stats.entries.to_string()]),
        row(["Hits", &counts.hits.sum().to_string()]),
        row(["Hits past a write, by a rule", &counts.stale_hits.sum().to_string()]),
        row(["Inserts", &counts.inserts.sum().to_string()]),
        row(["Not cached", &counts.not_cached.sum().to_string()]),
        row(["Time saved in seconds", &format!("{:.3}", counts.saved_ns.sum() as f64 / 1e9)]),
        row(["Hits of this connection", &own.hits.to_string()]),
        row(["Inserts of this connection", &own.misses.inserts.load(Relaxed).to_string()]),
        row(["Not cached of this connection", &own.misses.not_cached.load(Relaxed).to_string()]),
        row(["Why its last read was not cached", own.misses.last_refusal()]),
    ]
}

/// A text for users that says whether this session is served, and if not, what to do.
fn verdict(session: &Session, engine: &Engine) -> String {
    let settings = engine.settings();
    if settings.is_obstructed() && !settings.is_faulty() {
        return format!("OFF: {}", settings.obstacle().unwrap_or("see the error log"));
    }
    let words = if settings.is_faulty() {
        "OFF: a fault was contained, see the error log; restart the server to use the cache again"
    } else if settings.size() == 0 && !session.identity.is_trial() {
        "OFF: query_cache_size is 0; SET GLOBAL query_cache_size = 67108864"
    } else if engine.mode().is_in_light_mode() {
        "DOZING: it saved less than it cost, and will be ON again when more statements are repeated; SET GLOBAL fqc_doze = OFF to forbid it"
    } else if session.is_unserved() && engine.is_wanted() {
        "ON for new connections, but not for this one, which was at work while it was off: connect again"
    } else if session.identity.cache_type() == 0 && settings.observes() && !session.identity.turned_cache_off() {
        "OFF, but observed: SHOW GLOBAL STATUS LIKE 'Fqc_observed%' tells what the cache would do"
    } else if session.identity.cache_type() == 0 && settings.global_type() == 0 {
        "OFF: query_cache_type is OFF; SET GLOBAL query_cache_type = 1, then connect again"
    } else if session.identity.cache_type() == 0 {
        "ON for new connections, OFF for this one: SET SESSION query_cache_type = 1"
    } else if session.temporary.may_exist() {
        "ON, but not for this connection: it may have temporary tables"
    } else if engine.catalogue().views().is_none() {
        "ON, but nothing is stored yet: the server's catalogue is being read"
    } else if settings.size() == 0 {
        "ON for this connection alone: it tries the cache out (fqc_trial)"
    } else {
        "ON"
    };
    words.to_owned()
}

/// The report's rows: how often each reason has occurred, the most frequent first.
fn reasons(engine: &Engine) -> Rows {
    let counts = engine.counts();
    let reads = counts.hits.sum() + counts.misses.sum();
    let mut list = engine.reasons().list();
    list.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    let mut statements = most_refused(&engine.insight().digests);
    let told = |ReasonCount { index, name, count, ns, meaning }: ReasonCount| {
        let mut told = row([name, &count.to_string(), &ratio(count, reads), &(ns / 1000).to_string(), meaning]);
        told.push(statements.remove(&index));
        told
    };
    list.into_iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stated::stated;
    use flavour::MARIADB;

    #[test]
    fn each_report_has_the_columns_that_are_stated() {
        for (topic, key) in [
            (FqcTopic::Status, "columns of STATUS"),
            (FqcTopic::Reasons, "columns of REASONS"),
            (FqcTopic::Queries, "columns of QUERIES"),
            (FqcTopic::Tables, "columns of TABLES"),
            (FqcTopic::Curve, "columns of CURVE"),
            (FqcTopic::Near, "columns of NEAR"),
        ] {
            assert_eq!(columns(topic), stated(key));
        }
    }

    #[test]
    fn the_status_has_the_items_that_are_stated() {
        let rows = status(&Session::accepted(&MARIADB, 0), &Engine::new(&MARIADB, || 0));
        let items: Vec<_> = rows.iter().map(|row| row[0].clone().unwrap()).collect();
        assert_eq!(items, stated("items of STATUS"));
    }
}
