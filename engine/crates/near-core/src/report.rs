//! Answers `SHOW FQC STATUS`, `QUERIES` and `CURVE`, and `SHOW STATUS LIKE 'Qcache%'`, with the near cache's own figures.
//!
//! `SHOW FQC REASONS` is also answered, if rules or the binary log decide what may be stored.
//!
//! Deliberately absent: the other reports. Only the server knows which tables are written, and, with leases, why a result may not
//! be stored.

use crate::follow::Follower;
use crate::freshness::Summary;
use crate::memory::Memory;
use flavour::MARIADB;
use insight::report::{CURVE, QUERIES, REASONS, Row, ratio};
use mapped::Outcome;
use sql::{Filter, FqcTopic, Kind, LexMode, Pattern, Selection, Show};
use std::sync::atomic::Ordering;
use wire::status;
use wire::surface::text_result;

type ReportRows = Vec<Row>;

/// The value of the row `Cache` while the program only observes. The plugin uses the same text for the server's own cache.
const OBSERVED: &str = "OFF, but observed";

/// The session that asks for a report, as far as the answer depends on it.
pub struct Requester {
    capabilities: u64,
    status: u16,
    /// The number of this session's reads that were answered from memory.
    hits: u64,
}

impl Requester {
    /// Describes the session that asks for a report. `hits` is the number of its reads that were answered from memory.
    pub fn of(follower: &Follower, hits: u64) -> Requester {
        let status = follower.flags() & (status::IN_TRANS | status::AUTOCOMMIT);
        Requester { capabilities: follower.capabilities(), status, hits }
    }
}

/// The subject of a report.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Topic {
    Status,
    Queries,
    Curve,
    Reasons,
    /// `SHOW STATUS LIKE 'Qcache...'`.
    Counters,
}

impl Topic {
    /// Returns the names of the report's columns.
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

/// The report that a client's command asks for: its subject, and which rows of it.
pub struct ReportRequest {
    topic: Topic,
    selection: Selection,
}

impl ReportRequest {
    /// Returns true if any account may see this report, as on the server.
    pub fn is_public(&self) -> bool {
        self.topic == Topic::Counters
    }
}

/// Returns the report that the text of this query asks for. None if it asks for something else, or if the server answers it.
/// `summary` returns the kind of freshness's part of reports; none if it leaves reports to the server.
pub fn requested(text: &[u8], summary: impl FnOnce() -> Option<Summary>) -> Option<ReportRequest> {
    // Any other text is not parsed.
    text.trim_ascii_start().get(..4).filter(|word| word.eq_ignore_ascii_case(b"show"))?;
    let (topic, selection) = match sql::classify(text, LexMode::new(&MARIADB)).kind {
        Kind::Show(Show::Fqc { topic, rows: Ok(selection) }) => (topic_here(topic, summary()?.has_reasons)?, selection),
        Kind::Show(Show::Status { filter: Filter::Like(pattern), .. }) => {
            pattern.get(..6).filter(|begin| begin.eq_ignore_ascii_case(b"qcache"))?;
            summary()?;
            (Topic::Counters, Selection::Like(Pattern::new(std::str::from_utf8(&pattern).ok()?, true)))
        }
        _ => return None,
    };
    // The server reports the error in a selection with an unknown column.
    selection.unknown_column(topic.columns()).is_none().then_some(ReportRequest { topic, selection })
}

/// Returns the subject of a report that is answered here; none if the server answers it. `has_reasons` is true if this kind of
/// freshness counts reasons, so that `SHOW FQC REASONS` is answered here.
fn topic_here(topic: FqcTopic, has_reasons: bool) -> Option<Topic> {
    match topic {
        FqcTopic::Status => Some(Topic::Status),
        FqcTopic::Queries => Some(Topic::Queries),
        FqcTopic::Curve => Some(Topic::Curve),
        FqcTopic::Reasons if has_reasons => Some(Topic::Reasons),
        FqcTopic::Reasons | FqcTopic::Tables | FqcTopic::Near => None,
    }
}

/// Returns the packets that answer a report, with the sequence numbers of an answer to a single command.
pub fn answer(memory: &Memory, summary: &Summary, request: &ReportRequest, requester: &Requester) -> Vec<u8> {
    let columns = request.topic.columns();
    let rows = match request.topic {
        Topic::Status => status(memory, summary, requester),
        Topic::Queries => memory.results.uses.queries(),
        Topic::Curve => memory.results.uses.curve(),
        Topic::Reasons => reasons(memory),
        Topic::Counters => counters(memory),
    };
    let rows: ReportRows = rows.into_iter().filter(|row| request.selection.selects(columns, row)).collect();
    text_result(columns, &rows, requester.capabilities, requester.status)
}

/// Returns a row of `SHOW FQC STATUS`.
pub fn row(name: &str, value: impl ToString) -> Row {
    vec![Some(name.into()), Some(value.to_string())]
}

fn status(memory: &Memory, summary: &Summary, requester: &Requester) -> ReportRows {
    let counted = memory.results.counted();
    let observed = &memory.results.uses.observed;
    let mut rows = vec![
        row("Cache", if observed.is_on() { OBSERVED } else { &summary.cache }),
        row("Size in bytes", memory.results.budget()),
        row("Used bytes", counted.bytes),
        row("Results stored", counted.entries),
        row("Hits", counted.hits),
        row("Hits in transactions", memory.results.hits_in_transactions.load(Ordering::Relaxed)),
        row("Inserts", memory.results.stats().inserts),
        row("Not cached", not_cached(memory)),
        row("Hits of this connection", requester.hits),
    ];
    if observed.is_on() {
        let [hits, different] = [&observed.hits, &observed.different].map(|count| count.load(Ordering::Relaxed));
        rows.push(row("Observed requests", hits + counted.misses));
        rows.push(row("Observed hits", hits));
        rows.push(row("Observed hits that the server answered otherwise", different));
        rows.push(row("Observed time saved in microseconds", observed.saved_ns.load(Ordering::Relaxed) / 1000));
    }
    if let Some(published) = &memory.results.published {
        let counts = published.processes.counts();
        rows.push(row("Hits in applications", memory.results.hits_in_applications.load(Ordering::Relaxed)));
        rows.push(row("Applications attached", published.processes.attached()));
        rows.push(row("Reads not answered in applications", counts.reads() - counts.of(Outcome::Answered)));
    }
    rows.extend(summary.rows.iter().cloned());
    rows
}

/// Returns the rows of `SHOW FQC REASONS`, the most frequent reason first. The time that the server took for the statements is
/// not measured here.
fn reasons(memory: &Memory) -> ReportRows {
    let mut list = memory.reasons.list();
    // Each read that goes to the server has one reason.
    let sent: u64 = list.iter().map(|(_, count, _)| *count as u64).sum();
    let reads = memory.results.counted().hits + sent;
    list.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    let to_row = |(name, count, text): (&str, usize, &str)| {
        let share = Some(ratio(count as u64, reads));
        [row(name, count), vec![share, None, Some(text.into()), None]].concat()
    };
    list.into_iter().map(to_row).collect()
}

/// Returns the rows of `SHOW STATUS LIKE 'Qcache...'` in alphabetical order, like the server.
fn counters(memory: &Memory) -> ReportRows {
    let counted = memory.results.counted();
    let free = memory.results.budget().saturating_sub(counted.bytes);
    vec![
        row("Qcache_free_blocks", u64::from(free > 0)),
        row("Qcache_free_memory", free),
        row("Qcache_hits", counted.hits),
        row("Qcache_inserts", memory.results.stats().inserts),
        row("Qcache_lowmem_prunes", memory.results.stats().evictions),
        row("Qcache_not_cached", not_cached(memory)),
        row("Qcache_queries_in_cache", counted.entries),
        row("Qcache_total_blocks", memory.results.stats().segments),
    ]
}

/// Returns the number of reads whose results could be stored, and were not.
fn not_cached(memory: &Memory) -> u64 {
    memory.results.counted().misses.saturating_sub(memory.results.stats().inserts)
}
