//! The counters of connections, and the text of `/metrics`.

use crate::store::{Store, StoreServer};
use near_core::binlog::Progress;
use near_core::counter::Counter;
use near_core::follow::UnreadReason;
use near_core::reason::Reasons;
use near_core::rules::{self, Rules};
use near_core::uses::Observed;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of connections, since the process started. All are read for `/metrics`.
#[derive(Default)]
pub struct ConnectionCounts {
    /// Clients that have connected, including those that were refused afterwards.
    pub accepted: Counter,
    /// Clients that were refused because of `max-connections`.
    pub over_limit: Counter,
    /// Clients that were refused because no connection to the server could be made, or because the handshake was not as the configuration
    /// demands it, for example without TLS.
    pub refused: Counter,
    /// Clients that the server itself refused, at its greeting or at the login.
    pub logins_refused: Counter,
    /// Connections that broke, or violated the protocol, before the end of the login.
    pub lost: Counter,
    /// Commands of clients, whether the server or memory has answered them.
    pub commands: Counter,
    /// Bytes that clients have sent after the login.
    pub from_clients: Counter,
    /// Bytes that the server has sent after the login. Answers from memory are not included.
    pub from_servers: Counter,
    /// Connections whose commands cannot be read, one counter for each reason, at the index `UnreadReason as usize`.
    pub unread: [Counter; UnreadReason::ALL.len()],
}

impl ConnectionCounts {
    /// Returns these counters in Prometheus's text format. `open` and `limit`: the current and the highest allowed number of connections.
    pub fn metrics(&self, open: usize, limit: usize) -> String {
        let mut out = String::new();
        push_metric(&mut out, "connections", "gauge", "Clients that are connected now.", &[("", open)]);
        push_metric(&mut out, "connections_limit", "gauge", "The option max-connections.", &[("", limit)]);
        push_metric(
            &mut out,
            "connections_total",
            "counter",
            "Clients that have connected.",
            &[("", self.accepted.get())],
        );
        let refused = [
            ("{reason=\"limit\"}", self.over_limit.get()),
            ("{reason=\"server\"}", self.refused.get()),
            ("{reason=\"login\"}", self.logins_refused.get()),
            ("{reason=\"lost\"}", self.lost.get()),
        ];
        push_metric(&mut out, "connections_refused_total", "counter", "Clients that did not get in.", &refused);
        push_metric(&mut out, "commands_total", "counter", "Commands of clients.", &[("", self.commands.get())]);
        let labels = UnreadReason::ALL.map(|why| label(&[("reason", why.name())]));
        let unread: Vec<_> =
            labels.iter().zip(&self.unread).map(|(label, counter)| (label.as_str(), counter.get())).collect();
        push_metric(&mut out, "unread_connections_total", "counter", "Connections that are passed on unread.", &unread);
        let bytes = [("{from=\"client\"}", self.from_clients.get()), ("{from=\"server\"}", self.from_servers.get())];
        push_metric(&mut out, "bytes_total", "counter", "Bytes passed on after the login.", &bytes);
        out
    }
}

/// Appends the metrics of reads that are answered from memory. `counted`: the counts of hits, misses and results. `may_serve`: true if
/// reads may be answered now. `obstacle`: the reason why none is; empty if some are, or the reason is unknown.
pub fn push_memory(out: &mut String, counted: &feed::NearCacheCounts, may_serve: bool, obstacle: &str) {
    let one = |value: u64| [("", value as usize)];
    push_metric(out, "serving", "gauge", "Whether reads may be answered from memory now.", &one(may_serve.into()));
    if !obstacle.is_empty() {
        let label = label(&[("reason", obstacle)]);
        push_metric(out, "obstacle", "gauge", "Why nothing is answered from memory.", &[(&label, 1)]);
    }
    push_metric(out, "hits_total", "counter", "Reads answered from memory.", &one(counted.hits));
    push_metric(
        out,
        "misses_total",
        "counter",
        "Reads that could be kept, answered by the server.",
        &one(counted.misses),
    );
    push_metric(out, "entries", "gauge", "Results in memory.", &one(counted.entries));
    push_metric(out, "memory_bytes", "gauge", "Memory that results take, of the option size.", &one(counted.bytes));
}

/// Appends the metrics of observing: the reads that memory would have answered, and how many of these the server has answered otherwise.
pub fn push_observed(out: &mut String, observed: &Observed) {
    let one = |value: &AtomicU64| [("", value.load(Ordering::Relaxed) as usize)];
    push_metric(out, "observed_hits_total", "counter", "Reads that memory would have answered.", &one(&observed.hits));
    let help =
        "Those among them that the server answered otherwise: what memory had was outdated, or rows had no order.";
    push_metric(out, "observed_different_total", "counter", help, &one(&observed.different));
}

/// Appends the number of hits in the applications' own processes, which read the shared memory themselves.
pub fn push_applications(out: &mut String, hits: u64) {
    let help = "Hits in processes of applications, as far as they have reported them.";
    push_metric(out, "application_hits_total", "counter", help, &[("", hits as usize)]);
}

/// Appends the reasons why reads were not answered from memory, with their counts; nothing if there are none.
pub fn push_reasons(out: &mut String, reasons: &Reasons) {
    let listed: Vec<_> = reasons.list().iter().map(|(name, count, _)| (label(&[("reason", name)]), *count)).collect();
    let values: Vec<_> = listed.iter().map(|(label, count)| (label.as_str(), *count)).collect();
    if !values.is_empty() {
        let help = "Why reads were answered by the server, or their results not kept.";
        push_metric(out, "reasons_total", "counter", help, &values);
    }
}

/// Appends the metrics of following the server's binary log. The staleness is left out while nothing may be served.
pub fn push_log(out: &mut String, progress: &Progress) {
    let one = |value: u128| [("", value as usize)];
    if let Some(staleness) = progress.staleness {
        let help = "Time since which all of the server's changes are known.";
        push_metric(out, "staleness_microseconds", "gauge", help, &one(staleness.as_micros()));
    }
    let help = "The option max-staleness-ms.";
    push_metric(out, "staleness_limit_microseconds", "gauge", help, &one(progress.max_staleness.as_micros()));
    let help = "Time for which what the server has told of its log was not heard.";
    push_metric(out, "log_late_microseconds", "gauge", help, &one(progress.lag.as_micros()));
    let help = "Number of the file that the server's log is heard in.";
    push_metric(out, "log_file", "gauge", help, &one(progress.received.file.into()));
    push_metric(out, "log_position_bytes", "gauge", "Place in that file.", &one(progress.received.at.into()));
}

/// A metric that each rule has: its name, its help text, and the counter it shows.
type RuleMetric = (&'static str, &'static str, fn(&rules::RuleCounts) -> &Counter);

/// Appends the counters of each rule, and of hints; nothing if there are none.
pub fn push_rules(out: &mut String, rules: &Rules) {
    let rule_metrics: [RuleMetric; 4] = [
        ("rule_hits_total", "Reads that a rule let be answered from memory.", |counts| &counts.hits),
        ("rule_misses_total", "Reads that a rule fits, answered by the server.", |counts| &counts.misses),
        ("rule_refreshes_total", "Those among them that went there past soft_ttl.", |counts| &counts.refreshes),
        ("rule_waits_total", "Reads that have waited for another client's answer first.", |counts| &counts.waits),
    ];
    let labels: Vec<_> = rules.counts().map(|(name, counts)| (label(&[("rule", name)]), counts)).collect();
    for (name, help, of) in rule_metrics.iter().filter(|_| !labels.is_empty()) {
        let values: Vec<_> = labels.iter().map(|(label, counts)| (label.as_str(), of(counts).get())).collect();
        push_metric(out, name, "counter", help, &values);
    }
}

/// Appends the metrics of the store that near caches share, and of each of its servers.
pub fn push_store(out: &mut String, store: &Store) {
    let one = |counter: usize| [("", counter)];
    let help = "Reads that were not in memory, and were looked for in the shared store.";
    push_metric(out, "store_selects_total", "counter", help, &one(store.selects.get()));
    push_metric(
        out,
        "store_hits_total",
        "counter",
        "Reads answered with what was found there.",
        &one(store.hits.get()),
    );
    push_metric(out, "store_inserts_total", "counter", "Results that were put there.", &one(store.inserts()));
    let servers = store.servers();
    let labels: Vec<_> = servers.iter().map(|server| label(&[("server", &server.address().to_string())])).collect();
    let of_servers = |value: fn(&StoreServer) -> usize| {
        labels.iter().zip(&servers).map(|(label, server)| (label.as_str(), value(server))).collect::<Vec<_>>()
    };
    let answers = of_servers(|server| server.answers().into());
    push_metric(out, "store_answers", "gauge", "Whether a server of the shared store has answered of late.", &answers);
    let troubles: Vec<_> = servers
        .iter()
        .filter_map(|server| Some(label(&[("server", &server.address().to_string()), ("reason", &server.trouble()?)])))
        .collect();
    if !troubles.is_empty() {
        let values: Vec<_> = troubles.iter().map(|label| (label.as_str(), 1)).collect();
        push_metric(out, "store_obstacle", "gauge", "Why a server of the shared store does not answer.", &values);
    }
    let refused = [("{reason=\"damaged\"}", store.damaged.get()), ("{reason=\"response\"}", store.malformed.get())];
    let help = "What was found in the shared store and not taken: damaged, or not one whole result.";
    push_metric(out, "store_refused_total", "counter", help, &refused);
    let help = "How often a server of the shared store did not answer, or not in time.";
    push_metric(out, "store_failures_total", "counter", help, &of_servers(StoreServer::failures));
}

/// Returns labels in braces, from their names and values. Values are escaped: Prometheus's text format has only the three escapes used
/// here.
fn label(pairs: &[(&str, &str)]) -> String {
    let escaped = |text: &str| text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n");
    let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", pairs.join(","))
}

/// Appends one metric with its help and type. `name`: without the prefix `fqc_near_`; `kind`: `gauge` or `counter`; `values`: each with its
/// labels in braces, or with an empty text.
fn push_metric(out: &mut String, name: &str, kind: &str, help: &str, values: &[(&str, usize)]) {
    let _ = writeln!(out, "# HELP fqc_near_{name} {help}\n# TYPE fqc_near_{name} {kind}");
    for (labels, value) in values {
        let _ = writeln!(out, "fqc_near_{name}{labels} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_does_not_end_a_label() {
        let mut out = String::new();
        push_memory(&mut out, &feed::NearCacheCounts::default(), false, "it says \"é\" and \\\nfqc_near_serving 1");
        let line = r#"fqc_near_obstacle{reason="it says \"é\" and \\\nfqc_near_serving 1"} 1"#;
        assert!(out.lines().any(|one| one == line), "{out}");
    }
}
