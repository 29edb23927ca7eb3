//! `SHOW FQC NEAR`: the attached near caches, and how long writers have waited for them.

use super::rows::{Rows, row};
use crate::engine::Engine;

pub const COLUMNS: [&str; 14] = [
    "Name",
    "Address",
    "Protocol",
    "Lease_ms",
    "Lag_ms",
    "Tables",
    "Entries",
    "Bytes",
    "Hits",
    "Misses",
    "Writers_waited",
    "Waited_ms",
    "Attachment",
    "Obstacle",
];

pub fn rows(engine: &Engine) -> Rows {
    let (nears, now) = engine.near_caches();
    let ms = |ns: u64| format!("{:.3}", ns as f64 / 1e6);
    let one = |near: &feed::AttachedNear| {
        row([
            near.name.as_str(),
            &near.who.address,
            &near.version.to_string(),
            &ms(near.lease_end.saturating_sub(now)),
            &ms(near.lag_ns),
            &near.holds().to_string(),
            &near.counts.entries.to_string(),
            &near.counts.bytes.to_string(),
            &near.counts.hits.to_string(),
            &near.counts.misses.to_string(),
            &near.waits.to_string(),
            &ms(near.waited_ns),
            &near.attachment()[1].to_string(),
            near.obstacle,
        ])
    };
    nears.iter().map(one).collect()
}
