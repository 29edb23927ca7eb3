//! Reports to the control plane what this program is and what it has answered. Needed where the server has no plugin that reports it.
//!
//! Invariants: no connection waits for a report, and no report is sent again: each has the current counts. The token is read from its file
//! for each report, so that it can be replaced.
//! Deliberately absent: commands of the control plane. Its answer only says when the next report is wanted.

mod post;

use crate::config::Config;
use crate::control_plane::ControlPlane;
use crate::random;
use crate::shared::Shared;
use near_core::binlog::Progress;
use near_core::clock;
use near_core::one_line::one_line;
use near_core::say;
use post::post;
use serde_json::json;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The longest time that one report and its answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The least pause after a report has failed. It is longer if the control plane wants reports less often.
const PAUSE: Duration = Duration::from_secs(30);
/// The longest time between two reports that the control plane may ask for, in seconds.
const LONGEST_PAUSE: u64 = 3600;
/// How long the end of the process waits for the last report.
const FAREWELL: Duration = Duration::from_secs(2);
/// The longest reason that a report may have, in characters.
const LONGEST_OBSTACLE: usize = 500;
/// The longest address of the server that a report may have, in characters.
const LONGEST_SERVER: usize = 255;

/// Sends the reports of this process to the control plane. `life`: a random number that identifies the process, the same in all its
/// reports.
pub struct Reporter {
    shared: Arc<Shared>,
    life: u64,
}

impl Reporter {
    /// Draws the random number that identifies the process, so there must be only one reporter in a process. Sends nothing yet.
    pub fn new(shared: Arc<Shared>) -> Reporter {
        Reporter { shared, life: (random_number() >> 11) | 1 }
    }

    /// Sends reports until the task is cancelled, and at once after a reload; waits while no control plane is configured. Failures are only
    /// logged.
    pub async fn run(&self) {
        let mut changes = self.shared.config.subscribe();
        let (mut pause, mut trouble) = (PAUSE, String::new());
        loop {
            let config = changes.borrow_and_update().clone();
            let Some(control_plane) = &config.control_plane else {
                if changes.changed().await.is_err() {
                    return;
                }
                continue;
            };
            let outcome = self.report(&config, control_plane, false).await;
            if let Ok(next) = outcome {
                pause = next;
            }
            log_outcome(&mut trouble, control_plane, outcome.as_ref().err());
            let wait = if outcome.is_ok() { pause } else { pause.max(PAUSE) };
            tokio::select! {
                () = sleep(spread(wait)) => {}
                changed = changes.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Sends the last report, which says that the process is about to end. Takes two seconds at most, and ignores failures.
    pub async fn leave(&self) {
        let config = self.shared.config();
        if let Some(control_plane) = &config.control_plane {
            let _ = timeout(FAREWELL, self.report(&config, control_plane, true)).await;
        }
    }

    /// Sends one report. Returns the time after which the control plane wants the next one, from a second to an hour. `is_leaving`: it is
    /// the last report.
    async fn report(&self, config: &Config, control_plane: &ControlPlane, is_leaving: bool) -> io::Result<Duration> {
        let token = control_plane.token().await?;
        let report = self.report_json(config, is_leaving);
        let answer = timeout(PATIENCE, post(control_plane, &token, &report)).await??;
        let next = answer.get("next_seconds").and_then(serde_json::Value::as_u64);
        let next = next.ok_or_else(|| io::Error::other("its answer is not understood; is the address right?"))?;
        Ok(Duration::from_secs(next.clamp(1, LONGEST_PAUSE)))
    }

    /// Returns the report in JSON. `is_leaving`: it is the last one of this process.
    fn report_json(&self, config: &Config, is_leaving: bool) -> String {
        let progress = self.shared.log.as_ref().map(|log| log.progress(clock::now()));
        let results = &self.shared.memory.results;
        let (counted, observed) = (results.counted(), &results.uses.observed);
        let of_observed = |count: &AtomicU64| observed.is_on().then(|| count.load(Ordering::Relaxed));
        json!({
            "name": config.name,
            "life": self.life,
            "version": env!("CARGO_PKG_VERSION"),
            "server": one_line(&config.server.to_string(), LONGEST_SERVER),
            "mode": if progress.is_some() { "bounded" } else { "rules" },
            "obstacle": one_line(&self.shared.obstacle(progress.as_ref()), LONGEST_OBSTACLE),
            "staleness_ms": progress.and_then(|progress: Progress| progress.staleness).map(|age| age.as_secs_f64() * 1e3),
            "entries": counted.entries,
            "stored_bytes": counted.bytes,
            "hits": counted.hits,
            "misses": counted.misses,
            "observed_hits": of_observed(&observed.hits),
            "observed_different": of_observed(&observed.different),
            "observed_saved_ms": of_observed(&observed.saved_ns).map(|saved| saved / 1_000_000),
            "is_leaving": is_leaving,
        })
        .to_string()
    }
}

/// Logs the outcome of a report if it differs from that of the report before. `trouble`: the last outcome as text, which is replaced;
/// `error`: none after a success.
fn log_outcome(trouble: &mut String, control_plane: &ControlPlane, error: Option<&io::Error>) {
    let now = error.map(ToString::to_string).unwrap_or_else(|| "none".into());
    if *trouble != now {
        match error {
            Some(error) => say!("no report to {control_plane}: {error}"),
            None => say!("reports to {control_plane} what is answered from memory"),
        }
        *trouble = now;
    }
}

/// Varies a pause by up to 10 % either way, so that programs that were started together do not always report together.
fn spread(pause: Duration) -> Duration {
    pause.mul_f64(0.9 + (random_number() >> 56) as f64 / 1280.0)
}

/// Returns a random number. If the operating system gives none, it is 0; then all such processes have the same `life`, and the control
/// plane takes their reports for those of one process.
fn random_number() -> u64 {
    random::bytes().map(u64::from_ne_bytes).unwrap_or_default()
}
