//! The two connections to the server: one that its log comes by, and one that asks it how far that must have come.

use super::asker::Asker;
use super::changes::XA;
use super::event::{self, Event};
use super::log::Log;
use super::prerequisites::{self, Checked};
use crate::account::{self, Account};
use crate::clock;
use crate::config::Config;
use crate::payloads::Payloads;
use crate::shared::Shared;
use crate::stream::Stream;
use crate::ttl::question;
use ring::rand::{SecureRandom, SystemRandom};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use wire::Command;

/// The bound is held by so many questions in its time.
const QUESTIONS: u32 = 4;
/// Between two questions: what changed is kept anew only after the next one.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
const LEAST_PAUSE: Duration = Duration::from_millis(2);
const ROUND: Duration = Duration::from_secs(1);
/// The server is to say that it has nothing to say.
const HEARTBEAT: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(5);
const PIECE: usize = 64 << 10;

/// Until the configuration names another server, or an error.
pub async fn attend(
    shared: &Shared,
    log: &Log,
    config: &Config,
    account: &Account,
    changes: &mut watch::Receiver<Arc<Config>>,
) -> io::Result<()> {
    let outcome = follow(shared, log, config, account, changes).await;
    log.lose();
    outcome.map_err(|error| prerequisites::with_grant(error, account))
}

async fn follow(
    shared: &Shared,
    log: &Log,
    config: &Config,
    account: &Account,
    changes: &mut watch::Receiver<Arc<Config>>,
) -> io::Result<()> {
    if log.has_xa() {
        return Err(io::Error::other(XA));
    }
    let (asker, stream, has_checksums) = timeout(config.connect_timeout, attach(log, config, account)).await??;
    shared.memory.obstacle.following();
    let mut draining = shared.draining();
    tokio::select! {
        outcome = hear(log, stream, has_checksums) => outcome,
        outcome = ask(shared, log, asker) => outcome,
        outcome = until_other(config, changes) => outcome,
        _ = draining.wait_for(|is_draining| *is_draining) => {
            log.lose();
            shared.memory.obstacle.set("fqc-near is ending");
            std::future::pending().await
        }
    }
}

async fn until_other(config: &Config, changes: &mut watch::Receiver<Arc<Config>>) -> io::Result<()> {
    loop {
        changes.changed().await.map_err(io::Error::other)?;
        if config.server != changes.borrow_and_update().server {
            return Ok(());
        }
    }
}

async fn attach(log: &Log, config: &Config, account: &Account) -> io::Result<(Asker, Stream, bool)> {
    let mut asker = Asker::connect(config, account).await?;
    let Checked { mut has_checksums, version, file } = prerequisites::check(&mut asker).await?;
    let mut replica = Asker::connect(config, account).await?;
    let identity = question::server();
    let servers = [asker.ask(&identity).await?, replica.ask(&identity).await?];
    if servers[0] != servers[1] {
        return Err(io::Error::other("there are several servers behind this address"));
    }
    let server = servers[0].first().and_then(|row| row[0].clone()).ok_or(io::ErrorKind::InvalidData)?;
    let from = asker.shown().await?;
    let (base, _) = file.rsplit_once('.').ok_or(io::ErrorKind::InvalidData)?;
    let at = u32::try_from(from.at).map_err(|_| io::Error::other("its log file is too long; run FLUSH BINARY LOGS"))?;
    let settings = [
        "SET @master_binlog_checksum = @@GLOBAL.binlog_checksum",
        // All that MariaDB's log may contain.
        "SET @mariadb_slave_capability = 4",
        &format!("SET @master_heartbeat_period = {}", HEARTBEAT.as_nanos()),
    ];
    replica.ask_all(&settings).await?;
    let (first, stream) = replica.begin(&dump(&format!("{base}.{:06}", from.file), at)?).await?;
    log.attach(server, from);
    hear_one(log, &first, true, &mut has_checksums)?;
    eprintln!("following the log of {} ({version})", config.server);
    Ok((asker, stream, has_checksums))
}

/// The number is drawn, since the server ends the connection of another replica that has the same.
fn dump(file: &str, at: u32) -> io::Result<Vec<u8>> {
    const ABOVE_THOSE_THAT_PEOPLE_GIVE: u8 = 0x80;
    let mut number = [0; 4];
    SystemRandom::new().fill(&mut number).map_err(|_| io::Error::other("no random numbers"))?;
    number[3] |= ABOVE_THOSE_THAT_PEOPLE_GIVE;
    Ok([&[Command::BinlogDump as u8][..], &at.to_le_bytes(), &[0; 2], &number, file.as_bytes()].concat())
}

async fn hear(log: &Log, mut stream: Stream, mut has_checksums: bool) -> io::Result<()> {
    let (mut payloads, mut buffer) = (Payloads::of_events(), Vec::with_capacity(PIECE));
    loop {
        buffer.clear();
        let silence = |_| io::Error::other("the server's log is silent");
        if timeout(SILENCE, stream.read_buf(&mut buffer)).await.map_err(silence)?? == 0 {
            return Err(io::Error::other("the server has ended its log"));
        }
        let mut outcome = Ok(());
        payloads.feed(&buffer, |payload, is_whole| {
            if outcome.is_ok() {
                outcome = hear_one(log, payload, is_whole, &mut has_checksums);
            }
        });
        outcome?;
    }
}

fn hear_one(log: &Log, payload: &[u8], is_whole: bool, has_checksums: &mut bool) -> io::Result<()> {
    const OK: u8 = 0;
    let Some((&OK, event)) = payload.split_first() else { return Err(account::refused(payload)) };
    let told = event::read(event, is_whole, *has_checksums);
    let told = told.map_err(|_| io::Error::other("an event of the server's log is malformed"))?;
    if let Event::Format { has_checksums: now } = told.event {
        *has_checksums = now;
    }
    log.hear(&told).map_err(io::Error::other)
}

/// Asks how far the log must have come, often enough for the bound, and soon after each write.
async fn ask(shared: &Shared, log: &Log, mut asker: Asker) -> io::Result<()> {
    let period = (log.bound() / QUESTIONS).clamp(LEAST_PAUSE, LONGEST_PAUSE);
    let mut rounds = Instant::now();
    loop {
        let begun = Instant::now();
        timeout(SILENCE, ask_once(log, &mut asker)).await.map_err(|_| io::Error::other("the server is silent"))??;
        if rounds <= begun {
            rounds = begun + ROUND;
            log.tidy(shared.memory.kept.cache());
        }
        tokio::select! {
            () = sleep_until(begun + period) => {}
            () = log.has_to_ask.notified() => sleep_until(begun + LEAST_PAUSE).await,
        }
    }
}

async fn ask_once(log: &Log, asker: &mut Asker) -> io::Result<()> {
    // Taken before the question leaves.
    let asked = clock::now();
    let waits = log.waits_since().map(|since| asked.saturating_sub(since));
    if waits.is_some_and(|waits| u128::from(waits) > SILENCE.as_nanos()) {
        return Err(io::Error::other("the server's log does not come up to what it has done"));
    }
    let shown = asker.shown().await?;
    log.mark(asked, shown).map_err(io::Error::other)?;
    let tables = log.take_asked();
    for name in &tables.names {
        let is_fit = asker.is_fit(&flavour::MARIADB, name).await?;
        log.learn(name, is_fit, tables.definitions, clock::now());
    }
    if !tables.names.is_empty() {
        log.has_to_ask.notify_one();
    }
    Ok(())
}
