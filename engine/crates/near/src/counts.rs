//! What is counted, and how `/metrics` tells of it.

use crate::follow::Unread;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
pub struct Counter(AtomicUsize);

impl Counter {
    pub fn add(&self, count: usize) {
        if count > 0 {
            self.0.fetch_add(count, Ordering::Relaxed);
        }
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
pub struct Counts {
    pub accepted: Counter,
    /// Beyond `max-connections`.
    pub over_limit: Counter,
    /// No connection to the server could be made, or none as the configuration demands.
    pub refused: Counter,
    pub logins_refused: Counter,
    /// The connection broke, or a side did not keep to the protocol, before the login had ended.
    pub lost: Counter,
    pub commands: Counter,
    pub from_clients: Counter,
    pub from_servers: Counter,
    pub unread: [Counter; Unread::ALL.len()],
}

impl Counts {
    /// In Prometheus's text format. `open`: connections now.
    pub fn metrics(&self, open: usize, limit: usize) -> String {
        let mut out = String::new();
        tell(&mut out, "connections", "gauge", "Clients that are connected now.", &[("", open)]);
        tell(&mut out, "connections_limit", "gauge", "The option max-connections.", &[("", limit)]);
        tell(&mut out, "connections_total", "counter", "Clients that have connected.", &[("", self.accepted.get())]);
        let refused = [
            ("{reason=\"limit\"}", self.over_limit.get()),
            ("{reason=\"server\"}", self.refused.get()),
            ("{reason=\"login\"}", self.logins_refused.get()),
            ("{reason=\"lost\"}", self.lost.get()),
        ];
        tell(&mut out, "connections_refused_total", "counter", "Clients that did not get in.", &refused);
        tell(
            &mut out,
            "commands_total",
            "counter",
            "Commands of clients, all passed to the server.",
            &[("", self.commands.get())],
        );
        let labels = Unread::ALL.map(|why| format!("{{reason=\"{}\"}}", why.name()));
        let unread: Vec<_> =
            labels.iter().zip(&self.unread).map(|(label, counter)| (label.as_str(), counter.get())).collect();
        tell(&mut out, "unread_connections_total", "counter", "Connections that are passed on unread.", &unread);
        let bytes = [("{from=\"client\"}", self.from_clients.get()), ("{from=\"server\"}", self.from_servers.get())];
        tell(&mut out, "bytes_total", "counter", "Bytes passed on after the login.", &bytes);
        out
    }
}

fn tell(out: &mut String, name: &str, kind: &str, help: &str, values: &[(&str, usize)]) {
    let _ = writeln!(out, "# HELP fqc_near_{name} {help}\n# TYPE fqc_near_{name} {kind}");
    for (labels, value) in values {
        let _ = writeln!(out, "fqc_near_{name}{labels} {value}");
    }
}
