//! Faults inside of the server: kills sessions and statements, alters and flushes tables in use, lets the event scheduler write, and
//! unloads and reloads the plugin.

use std::io;

use super::session::{NoResult, Outcome, Session};
use super::stage::Stage;
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
pub fn worker(session: &mut Session, stage: &Stage) -> io::Result<()> {
    let (mut ticks, mut presence) = (0, Presence::default());
    while stage.goes_on() {
        stage.pause(&mut session.random);
        let outcome = if session.random.percent(25) {
            stir(session, stage, &mut presence)
        } else {
            watch_event(session, stage, &mut ticks)
        };
        if let Err(failure) = outcome {
            session.recover(&failure)?;
        }
    }
    Ok(())
}

/// Checks that a read never shows an older value than one that the event has already written. `ticks` is the highest value so far.
fn watch_event(session: &mut Session, stage: &Stage, ticks: &mut i64) -> Outcome<()> {
    let before = session.numbers("SELECT SQL_NO_CACHE n FROM by_event WHERE id = 1")?[0][0].max(*ticks);
    let after = session.numbers("SELECT n FROM by_event WHERE id = 1")?[0][0];
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
    fn renew(&mut self, session: &mut Session, stage: &Stage) -> Outcome<()> {
        // Reloading earlier would prove nothing about the plugin that is loaded now.
        if !self.has_served(session, stage)? {
            return Ok(());
        }
        reinstall(session, stage)?;
        // Sessions opened before the load are not served, and their writes are not reported, which may keep all others from being served.
        // So they are killed.
        kill_some(session, stage, 100);
        session.reconnect().map_err(|_| NoResult::Lost)?;
        *self = Presence { hits_before: hits_beside(session)?, was_reinstalled: true, has_served: false };
        Ok(())
    }

    /// True if near caches have answered at least `ENOUGH_HITS` reads since the plugin was loaded.
    fn has_served(&mut self, session: &mut Session, stage: &Stage) -> Outcome<bool> {
        if !self.has_served && hits_beside(session)? >= self.hits_before + ENOUGH_HITS {
            self.has_served = true;
            if self.was_reinstalled {
                stage.count(SERVED_ANEW);
            }
        }
        Ok(self.has_served)
    }
}

/// Hits of all near caches, as the server reports them.
fn hits_beside(session: &mut Session) -> Outcome<u64> {
    let rows = session.text("SHOW GLOBAL STATUS LIKE 'Fqc_near_hits'")?;
    let hits = rows.first().and_then(|row| row[1].as_deref());
    Ok(hits.map_or(0, |hits| String::from_utf8_lossy(hits).parse().expect("a number")))
}

/// One random disturbance, of those that the plan allows.
fn stir(session: &mut Session, stage: &Stage, presence: &mut Presence) -> Outcome<()> {
    stage.count("disturbances");
    match session.random.below(60) {
        0..=15 => kill(session, stage, "QUERY"),
        16..=25 => kill(session, stage, "CONNECTION"),
        38 if stage.plan.naps => nap(session, stage),
        // Reinstallations are rare, because near caches have to answer many reads between two of them.
        38..=47 if stage.plan.reinstalls && stage.plan.beside.is_some() => presence.renew(session, stage),
        38 if stage.plan.reinstalls => reinstall(session, stage),
        26.. if !stage.plan.redefines => session.text("SELECT SLEEP(0.01)").map(drop),
        26..=28 => session.text("ALTER TABLE register_direct COMMENT = 'altered'").map(drop),
        29 => session.text("ALTER TABLE bank ADD COLUMN extra INT DEFAULT 5").map(drop),
        30..=31 => session.text("ALTER TABLE bank DROP COLUMN extra").map(drop),
        32 => session.text("ALTER TABLE own FORCE").map(drop),
        33..=34 => session.text("FLUSH TABLES").map(drop),
        35 => session.text("FLUSH TABLES WITH READ LOCK").and_then(|_| session.text("UNLOCK TABLES")).map(drop),
        36 => session.text("ANALYZE TABLE bank, own").map(drop),
        37 => session.text("LOCK TABLES register_direct WRITE").and_then(|_| session.text("UNLOCK TABLES")).map(drop),
        _ => session.text("SELECT SLEEP(0.01)").map(drop),
    }
}

/// Kills a random session of the run, or (`what` is `QUERY`) its statement.
fn kill(session: &mut Session, stage: &Stage, what: &str) -> Outcome<()> {
    let victims = victims(session, stage);
    if victims.is_empty() {
        // The server has just been killed.
        return Ok(());
    }
    let victim = *session.random.pick(&victims);
    // The victim may be gone already.
    let _ = session.text(&format!("KILL {what} {victim}"));
    Ok(())
}

/// The thread ids of the sessions that are connected to the server of this session.
fn victims(session: &Session, stage: &Stage) -> Vec<u32> {
    let victims = stage.victims.lock().unwrap();
    victims.iter().filter(|(member, _)| *member == session.member).map(|(_, thread)| *thread).collect()
}

/// Lets the engine be suspended while old sessions go on, and resumes it for sessions that begin afterwards.
fn nap(session: &mut Session, stage: &Stage) -> Outcome<()> {
    stage.count("naps");
    session.text("SET GLOBAL fqc_type = OFF")?;
    session.text("SET SESSION fqc_type = OFF")?;
    // Sessions that began while the cache was on keep the engine awake.
    kill_some(session, stage, 100);
    let awake = "SHOW GLOBAL STATUS LIKE 'Fqc_awake'";
    while stage.goes_on() && session.text(awake)?[0][1].as_deref() == Some(b"1") {
        session.text("DO SLEEP(0.05)")?;
    }
    session.text("DO SLEEP(0.3)")?;
    session.text("SET GLOBAL fqc_type = ON")?;
    kill_some(session, stage, 60);
    Ok(())
}

/// Kills this share of the run's other sessions.
fn kill_some(session: &mut Session, stage: &Stage, percent: u64) {
    for victim in victims(session, stage) {
        if victim != session.thread() && session.random.percent(percent) {
            let _ = session.text(&format!("KILL CONNECTION {victim}"));
        }
    }
}

/// Unloads the plugin, waits until it is gone, loads it again and switches its cache on.
fn reinstall(session: &mut Session, stage: &Stage) -> Outcome<()> {
    for statement in stage.product.uninstalling() {
        match session.text(statement) {
            // The connection may have been cut at the last attempt, before the plugin was loaded again.
            Err(NoResult::Refused(failure)) if failure.code == 1305 => {}
            outcome => drop(outcome?),
        }
    }
    if stage.product == Product::MySql {
        // On MySQL the plugin is unloaded only when all sessions that it has observed have ended.
        kill_some(session, stage, 100);
        session.reconnect().map_err(|_| NoResult::Lost)?;
    }
    // The plugin remains loaded while it is in use. Loading it again before it has ended may crash the server.
    let listed = "SELECT COUNT(*) FROM information_schema.PLUGINS WHERE PLUGIN_NAME IN ('fqc', 'fqc_events', 'query')";
    while session.numbers(listed)? != [[0]] {
        if !stage.goes_on() {
            return Ok(());
        }
    }
    for statement in stage.product.installing() {
        match session.text(statement) {
            // Another session has installed the plugin.
            Err(NoResult::Refused(failure)) if failure.code == 1968 => return Ok(()),
            outcome => outcome?,
        };
    }
    session.text(SWITCH_ON)?;
    stage.count("reinstallations");
    Ok(())
}
