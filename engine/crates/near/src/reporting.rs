//! Reports to the control plane, where the server cannot tell of this program: what it is, and what it has answered.
//!
//! Invariants: no connection waits for a report, and no report is repeated: each tells the counts as they are. The token is read
//! anew for each, so that another one can be put in its place.
//! Deliberately absent: anything that the control plane could ask for. It answers when the next report is wanted, and nothing else.

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

const PATIENCE: Duration = Duration::from_secs(10);
/// After a failure; longer if reports are wanted less often.
const PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: u64 = 3600;
/// The process ends meanwhile.
const FAREWELL: Duration = Duration::from_secs(2);
const LONGEST_OBSTACLE: usize = 500;
const LONGEST_SERVER: usize = 255;

/// One run of this program, as its reports tell it.
pub struct Reporter {
    shared: Arc<Shared>,
    life: u64,
}

impl Reporter {
    pub fn new(shared: Arc<Shared>) -> Reporter {
        Reporter { shared, life: (drawn() >> 11) | 1 }
    }

    /// While the process serves.
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
            tell(&mut trouble, control_plane, outcome.as_ref().err());
            let wait = if outcome.is_ok() { pause } else { pause.max(PAUSE) };
            tokio::select! {
                () = sleep(spread(wait)) => {}
                changed = changes.changed() => if changed.is_err() { return },
            }
        }
    }

    /// The process is about to end.
    pub async fn leave(&self) {
        let config = self.shared.config();
        if let Some(control_plane) = &config.control_plane {
            let _ = timeout(FAREWELL, self.report(&config, control_plane, true)).await;
        }
    }

    /// After how long the next one is wanted.
    async fn report(&self, config: &Config, control_plane: &ControlPlane, is_leaving: bool) -> io::Result<Duration> {
        let token = control_plane.token().await?;
        let report = self.written(config, is_leaving);
        let answer = timeout(PATIENCE, post(control_plane, &token, &report)).await??;
        let next = answer.get("next_seconds").and_then(serde_json::Value::as_u64);
        let next = next.ok_or_else(|| io::Error::other("its answer is not understood; is the address right?"))?;
        Ok(Duration::from_secs(next.clamp(1, LONGEST_PAUSE)))
    }

    fn written(&self, config: &Config, is_leaving: bool) -> String {
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

/// The log has each trouble once, and its end.
fn tell(trouble: &mut String, control_plane: &ControlPlane, error: Option<&io::Error>) {
    let now = error.map(ToString::to_string).unwrap_or_else(|| "none".into());
    if *trouble != now {
        match error {
            Some(error) => say!("no report to {control_plane}: {error}"),
            None => say!("reports to {control_plane} what is answered from memory"),
        }
        *trouble = now;
    }
}

/// Programs that were started together do not report together for ever.
fn spread(pause: Duration) -> Duration {
    pause.mul_f64(0.9 + (drawn() >> 56) as f64 / 1280.0)
}

/// Where the system has no random numbers, all reports are of one life: they are taken for one program's.
fn drawn() -> u64 {
    random::bytes().map(u64::from_ne_bytes).unwrap_or_default()
}
