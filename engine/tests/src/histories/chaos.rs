//! Faults inside of the server: kills sessions and statements, alters and flushes tables in use, lets the event scheduler write, and
//! unloads and reloads the plugin.

use std::io;

use super::stage::Stage;
use super::voice::{Outcome, Trouble, Voice};
use super::{ENOUGH_HITS, SERVED_ANEW};
use crate::server::{Product, SWITCH_ON};

/// The statements that create the table which the event writes, and `with_event` the event. A running event changes the server's own
/// tables, so there is none in a run without redefinitions.
pub fn setup(with_event: bool) -> Vec<String> {
    let mut statements: Vec<String> = vec![
        "CREATE TABLE by_event (id INT PRIMARY KEY, n BIGINT)".into(),
        "INSERT INTO by_event VALUES (1, 0)".into(),
    ];
    if with_event {
        statements.push("SET GLOBAL event_scheduler = ON".into());
        statements.push("CREATE EVENT ticking ON SCHEDULE EVERY 1 SECOND DO UPDATE by_event SET n = n + 1".into());
    }
    statements
}

/// Disturbs other sessions, and watches what the event writes, until the run is over.
pub fn worker(voice: &mut Voice, stage: &Stage) -> io::Result<()> {
    let (mut ticks, mut presence) = (0, Presence::default());
    while stage.goes_on() {
        stage.pause(&mut voice.random);
        let outcome = if voice.random.percent(25) {
            stir(voice, stage, &mut presence)
        } else {
            watch_event(voice, stage, &mut ticks)
        };
        if let Err(trouble) = outcome {
            voice.recover(&trouble)?;
        }
    }
    Ok(())
}

/// Checks that a read never shows an older value than one that the event has already written. `ticks` is the highest value so far.
fn watch_event(voice: &mut Voice, stage: &Stage, ticks: &mut i64) -> Outcome<()> {
    let before = voice.numbers("SELECT SQL_NO_CACHE n FROM by_event WHERE id = 1")?[0][0].max(*ticks);
    let after = voice.numbers("SELECT n FROM by_event WHERE id = 1")?[0][0];
    stage.count("event checks");
    *ticks = after.max(before);
    if after < before {
        stage.violation(format!("stale read of what an event wrote: {after} after {before}"));
    }
    Ok(())
}

/// The work of near caches since the plugin was last loaded.
#[derive(Default)]
struct Presence {
    /// All hits of near caches when the plugin was last loaded. The server's counter survives a reload.
    hits_before: u64,
    /// The plugin has been loaded during this run.
    was_reinstalled: bool,
    has_served: bool,
}

impl Presence {
    /// Reloads the plugin, and ends the sessions opened before. Does nothing if near caches have not answered enough reads since the last
    /// load.
    fn renew(&mut self, voice: &mut Voice, stage: &Stage) -> Outcome<()> {
        // Reloading earlier would prove nothing about the plugin that is loaded now.
        if !self.has_served(voice, stage)? {
            return Ok(());
        }
        reinstall(voice, stage)?;
        // Sessions opened before the load are not served, and their writes are not reported, which may keep all others from being served.
        // So they are killed.
        kill_some(voice, stage, 100);
        voice.reconnect().map_err(|_| Trouble::Lost)?;
        *self = Presence { hits_before: hits_beside(voice)?, was_reinstalled: true, has_served: false };
        Ok(())
    }

    /// True if near caches have answered at least `ENOUGH_HITS` reads since the plugin was loaded.
    fn has_served(&mut self, voice: &mut Voice, stage: &Stage) -> Outcome<bool> {
        if !self.has_served && hits_beside(voice)? >= self.hits_before + ENOUGH_HITS {
            self.has_served = true;
            if self.was_reinstalled {
                stage.count(SERVED_ANEW);
            }
        }
        Ok(self.has_served)
    }
}

/// Hits of all near caches, as the server reports them.
fn hits_beside(voice: &mut Voice) -> Outcome<u64> {
    let rows = voice.text("SHOW GLOBAL STATUS LIKE 'Fqc_near_hits'")?;
    let hits = rows.first().and_then(|row| row[1].as_deref());
    Ok(hits.map_or(0, |hits| String::from_utf8_lossy(hits).parse().expect("a number")))
}

/// One random disturbance, of those that the plan allows.
fn stir(voice: &mut Voice, stage: &Stage, presence: &mut Presence) -> Outcome<()> {
    stage.count("disturbances");
    match voice.random.below(60) {
        0..=15 => kill(voice, stage, "QUERY"),
        16..=25 => kill(voice, stage, "CONNECTION"),
        38 if stage.plan.naps => nap(voice, stage),
        // Reinstallations are rare, because near caches have to answer many reads between two of them.
        38..=47 if stage.plan.reinstalls && stage.plan.beside.is_some() => presence.renew(voice, stage),
        38 if stage.plan.reinstalls => reinstall(voice, stage),
        26.. if !stage.plan.redefines => voice.text("SELECT SLEEP(0.01)").map(drop),
        26..=28 => voice.text("ALTER TABLE register_direct COMMENT = 'altered'").map(drop),
        29 => voice.text("ALTER TABLE bank ADD COLUMN extra INT DEFAULT 5").map(drop),
        30..=31 => voice.text("ALTER TABLE bank DROP COLUMN extra").map(drop),
        32 => voice.text("ALTER TABLE own FORCE").map(drop),
        33..=34 => voice.text("FLUSH TABLES").map(drop),
        35 => voice.text("FLUSH TABLES WITH READ LOCK").and_then(|_| voice.text("UNLOCK TABLES")).map(drop),
        36 => voice.text("ANALYZE TABLE bank, own").map(drop),
        37 => voice.text("LOCK TABLES register_direct WRITE").and_then(|_| voice.text("UNLOCK TABLES")).map(drop),
        _ => voice.text("SELECT SLEEP(0.01)").map(drop),
    }
}

/// Kills a random session of the run, or (`what` is `QUERY`) its statement.
fn kill(voice: &mut Voice, stage: &Stage, what: &str) -> Outcome<()> {
    let victims = stage.victims.lock().unwrap().clone();
    if victims.is_empty() {
        // The server has just been killed.
        return Ok(());
    }
    let victim = *voice.random.pick(&victims);
    // The victim may be gone already.
    let _ = voice.text(&format!("KILL {what} {victim}"));
    Ok(())
}

/// Lets the engine be suspended while old sessions go on, and resumes it for sessions that begin afterwards.
fn nap(voice: &mut Voice, stage: &Stage) -> Outcome<()> {
    stage.count("naps");
    voice.text("SET GLOBAL fqc_type = OFF")?;
    voice.text("SET SESSION fqc_type = OFF")?;
    // Sessions that began while the cache was on keep the engine awake.
    kill_some(voice, stage, 100);
    let awake = "SHOW GLOBAL STATUS LIKE 'Fqc_awake'";
    while stage.goes_on() && voice.text(awake)?[0][1].as_deref() == Some(b"1") {
        voice.text("DO SLEEP(0.05)")?;
    }
    voice.text("DO SLEEP(0.3)")?;
    voice.text("SET GLOBAL fqc_type = ON")?;
    kill_some(voice, stage, 60);
    Ok(())
}

/// Kills this share of the run's other sessions.
fn kill_some(voice: &mut Voice, stage: &Stage, percent: u64) {
    let victims = stage.victims.lock().unwrap().clone();
    for victim in victims {
        if victim != voice.thread() && voice.random.percent(percent) {
            let _ = voice.text(&format!("KILL CONNECTION {victim}"));
        }
    }
}

/// Unloads the plugin, waits until it is gone, loads it again and switches its cache on.
fn reinstall(voice: &mut Voice, stage: &Stage) -> Outcome<()> {
    for statement in stage.product.uninstalling() {
        match voice.text(statement) {
            // The connection may have been cut at the last attempt, before the plugin was loaded again.
            Err(Trouble::Refused(failure)) if failure.code == 1305 => {}
            outcome => drop(outcome?),
        }
    }
    if stage.product == Product::MySql {
        // On MySQL the plugin is unloaded only when all sessions that it has observed have ended.
        kill_some(voice, stage, 100);
        voice.reconnect().map_err(|_| Trouble::Lost)?;
    }
    // The plugin remains loaded while it is in use. Loading it again before it has ended may crash the server.
    let listed = "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME IN ('fqc', 'fqc_events', 'query')";
    while voice.numbers(listed)? != [[0]] {
        if !stage.goes_on() {
            return Ok(());
        }
    }
    for statement in stage.product.installing() {
        match voice.text(statement) {
            // Another session has installed the plugin.
            Err(Trouble::Refused(failure)) if failure.code == 1968 => return Ok(()),
            outcome => outcome?,
        };
    }
    voice.text(SWITCH_ON)?;
    stage.count("reinstallations");
    Ok(())
}
