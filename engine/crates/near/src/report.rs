//! `SHOW FQC STATUS`, `QUERIES` and `CURVE`, and `SHOW STATUS LIKE 'Qcache%'` through a near cache tell of it.
//!
//! So does `SHOW FQC REASONS`, where rules or the binary log say what may be kept.
//!
//! Deliberately absent: the other reports. Which tables are written, and with leases why something may not be kept, only the server knows.

use crate::binlog::{Log, Progress};
use crate::clock;
use crate::follow::Follower;
use crate::memory::Memory;
use crate::store::{Line, Store};
use flavour::MARIADB;
use insight::report::{CURVE, QUERIES, REASONS, ratio};
use sql::{Filter, FqcTopic, Kind, LexMode, Pattern, Selection, Show};
use std::sync::atomic::Ordering;
use wire::status;
use wire::surface::text_result;

type Rows = Vec<Vec<Option<String>>>;

/// The session that asks.
pub struct Asker {
    capabilities: u64,
    status: u16,
    hits: u64,
}

impl Asker {
    pub fn of(follower: &Follower, hits: u64) -> Asker {
        let status = follower.flags() & (status::IN_TRANS | status::AUTOCOMMIT);
        Asker { capabilities: follower.capabilities(), status, hits }
    }
}

/// What says what may be served.
pub enum Right<'a> {
    Leases,
    /// The server's. Both with what near caches share.
    Log(&'a Log, Option<&'a Store>),
    Rules(Option<&'a Store>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Topic {
    Status,
    Queries,
    Curve,
    Reasons,
    Counters,
}

impl Topic {
    fn columns(self) -> &'static [&'static str] {
        match self {
            Topic::Status => &["Item", "Value"],
            Topic::Queries => &QUERIES,
            Topic::Curve => &CURVE,
            Topic::Reasons => &REASONS,
            Topic::Counters => &["Variable_name", "Value"],
        }
    }
}

/// What a command asks for that is told here.
pub struct Asked {
    topic: Topic,
    selection: Selection,
}

impl Asked {
    /// To anybody, as on the server.
    pub fn is_open(&self) -> bool {
        self.topic == Topic::Counters
    }
}

/// None if this text asks for something else. `has_reasons`: what may be kept is decided here.
pub fn asked(text: &[u8], has_reasons: bool) -> Option<Asked> {
    // Nothing else is read any further.
    text.trim_ascii_start().get(..4).filter(|word| word.eq_ignore_ascii_case(b"show"))?;
    let (topic, selection) = match sql::classify(text, LexMode::new(&MARIADB)).kind {
        Kind::Show(Show::Fqc { topic, rows: Ok(selection) }) => (here(topic, has_reasons)?, selection),
        Kind::Show(Show::Status { filter: Filter::Like(pattern), .. }) => {
            pattern.get(..6).filter(|begin| begin.eq_ignore_ascii_case(b"qcache"))?;
            (Topic::Counters, Selection::Like(Pattern::new(std::str::from_utf8(&pattern).ok()?, true)))
        }
        _ => return None,
    };
    // The server says what is wrong with it.
    selection.unknown_column(topic.columns()).is_none().then_some(Asked { topic, selection })
}

fn here(topic: FqcTopic, has_reasons: bool) -> Option<Topic> {
    match topic {
        FqcTopic::Status => Some(Topic::Status),
        FqcTopic::Queries => Some(Topic::Queries),
        FqcTopic::Curve => Some(Topic::Curve),
        FqcTopic::Reasons if has_reasons => Some(Topic::Reasons),
        FqcTopic::Reasons | FqcTopic::Tables | FqcTopic::Near => None,
    }
}

pub fn answer(memory: &Memory, right: &Right, asked: &Asked, asker: &Asker) -> Vec<u8> {
    let columns = asked.topic.columns();
    let rows = match asked.topic {
        Topic::Status => status(memory, right, asker),
        Topic::Queries => memory.kept.uses.queries(),
        Topic::Curve => memory.kept.uses.curve(),
        Topic::Reasons => reasons(memory),
        Topic::Counters => counters(memory),
    };
    let rows: Rows = rows.into_iter().filter(|row| asked.selection.chooses(columns, row)).collect();
    text_result(columns, &rows, asker.capabilities, asker.status)
}

fn row(name: &str, value: impl ToString) -> Vec<Option<String>> {
    vec![Some(name.into()), Some(value.to_string())]
}

fn status(memory: &Memory, right: &Right, asker: &Asker) -> Rows {
    let counted = memory.kept.counted();
    let (verdict, further) = match right {
        Right::Leases => (verdict(memory), Vec::new()),
        Right::Log(log, store) => {
            let progress = log.progress(clock::now());
            let of_log = of_log(&progress).into_iter();
            let of_store = store.iter().flat_map(|store| of_store(memory, store));
            (verdict_by(&memory.obstacle.get(), &progress), of_log.chain(of_store).collect())
        }
        Right::Rules(store) => (
            "ON, beside the application, by rules".into(),
            store.map_or_else(Vec::new, |store| of_store(memory, store)),
        ),
    };
    let mut rows = vec![
        row("Cache", verdict),
        row("Size in bytes", memory.kept.budget()),
        row("Used bytes", counted.bytes),
        row("Results stored", counted.entries),
        row("Hits", counted.hits),
        row("Hits in transactions", memory.kept.hits_inside.load(Ordering::Relaxed)),
        row("Inserts", memory.kept.stats().inserts),
        row("Not cached", not_cached(memory)),
        row("Hits of this connection", asker.hits),
    ];
    rows.extend(further);
    rows
}

fn verdict_by(obstacle: &str, progress: &Progress) -> String {
    match (progress.staleness, obstacle, progress.obstacle) {
        (Some(_), ..) => "ON, beside the application, by the server's binary log".into(),
        (None, "", Some(late)) => format!("OFF: {late}"),
        (None, obstacle, _) => format!("OFF: {obstacle}"),
    }
}

fn of_log(progress: &Progress) -> [Vec<Option<String>>; 5] {
    let staleness = progress.staleness.map(|staleness| staleness.as_micros().to_string());
    [
        row("Bound in microseconds", progress.bound.as_micros()),
        vec![Some("Answers may be old by microseconds".into()), staleness],
        row("Log heard in file", progress.heard.file),
        row("Log heard to byte", progress.heard.at),
        row("Log late by microseconds", progress.waits.as_micros()),
    ]
}

/// Of each tier: reads that came so far, those that it had an answer to, and what it holds.
fn of_store(memory: &Memory, store: &Store) -> Rows {
    let counted = memory.kept.counted();
    let (selects, hits) = (store.selects.get() as u64, store.hits.get() as u64);
    let mut rows = tier("Memory", counted.hits + counted.misses, counted.hits.saturating_sub(hits));
    rows.extend(tier("Store", selects, hits));
    rows.push(row("Store inserts", store.inserts()));
    rows.extend(store.lines().iter().flat_map(|line| of_line(line)));
    rows
}

fn tier(name: &str, selects: u64, hits: u64) -> Rows {
    let percent = |of: u64| hits * 100 / of;
    vec![
        row(&format!("{name} selects"), selects),
        row(&format!("{name} hits"), hits),
        vec![Some(format!("{name} hit ratio in percent")), (selects > 0).then(|| percent(selects).to_string())],
    ]
}

/// The numbers are the server's own, and count what others keep there, too.
fn of_line(line: &Line) -> [Vec<Option<String>>; 5] {
    let (server, counted) = (line.server(), line.counted());
    let state = line.trouble().map_or_else(|| "answers".into(), |why| format!("does not answer: {why}"));
    [
        row(&format!("Store {server}"), state),
        row(&format!("Store {server} failures"), line.failures()),
        row(&format!("Store {server} entries"), counted.entries),
        row(&format!("Store {server} used bytes"), counted.used),
        row(&format!("Store {server} size in bytes"), counted.size),
    ]
}

/// The most frequent first. How long the server took for the statements is not measured here.
fn reasons(memory: &Memory) -> Rows {
    let mut list = memory.reasons.list();
    // Each read that goes to the server has a reason.
    let sent: u64 = list.iter().map(|(_, count, _)| *count as u64).sum();
    let reads = memory.kept.counted().hits + sent;
    list.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    let told = |(name, count, text): (&str, usize, &str)| {
        let share = Some(ratio(count as u64, reads));
        [row(name, count), vec![share, None, Some(text.into())]].concat()
    };
    list.into_iter().map(told).collect()
}

/// In the alphabet's order, as the server has them.
fn counters(memory: &Memory) -> Rows {
    let counted = memory.kept.counted();
    let free = memory.kept.budget().saturating_sub(counted.bytes);
    vec![
        row("Qcache_free_blocks", u64::from(free > 0)),
        row("Qcache_free_memory", free),
        row("Qcache_hits", counted.hits),
        row("Qcache_inserts", memory.kept.stats().inserts),
        row("Qcache_lowmem_prunes", memory.kept.stats().evictions),
        row("Qcache_not_cached", not_cached(memory)),
        row("Qcache_queries_in_cache", counted.entries),
        row("Qcache_total_blocks", memory.kept.stats().segments),
    ]
}

/// Reads that could be kept, and were not.
fn not_cached(memory: &Memory) -> u64 {
    memory.kept.counted().misses.saturating_sub(memory.kept.stats().inserts)
}

fn verdict(memory: &Memory) -> String {
    let obstacle = memory.obstacle.get();
    match (memory.kept.has_lease(clock::now()), obstacle.is_empty()) {
        (true, _) => "ON, beside the application".into(),
        (false, true) => "OFF: no lease; the server, or the way to it, is slow".into(),
        (false, false) => format!("OFF: {obstacle}"),
    }
}
