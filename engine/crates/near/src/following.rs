//! Follows the server's binary log, on two connections: one receives the log like a replica, the other one asks the server how far the log
//! has been written, which is how far it must have been received.

use query_connection::{QueryConnection, value};
mod prerequisites;
mod query_connection;

use crate::account::{self, Account};
use crate::config::Config;
use crate::random;
use crate::shared::Shared;
use crate::stream::Stream;
use near_core::binlog::Log;
use near_core::binlog::changes::{LogStatus, RESET, XA};
use near_core::binlog::event::{self, Event, PlacedEvent};
use near_core::binlog::gtid::Gtids;
use near_core::binlog::position::Position;
use near_core::binlog::product::BinlogProduct;
use near_core::clock;
use near_core::identified::question;
use near_core::payloads::Payloads;
use near_core::say;
use prerequisites::LogFacts;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use wire::Command;

/// How many times within the staleness bound the server is asked how far its log has been written.
const QUESTIONS: u32 = 4;
/// The longest pause between two questions to the server about its log. It is short because results that a write has invalidated are kept
/// again only after the next question.
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// The shortest pause between two questions to the server about its log.
const LEAST_PAUSE: Duration = Duration::from_millis(2);
/// The time between two sweeps of results that cannot be served any more.
const ROUND: Duration = Duration::from_secs(1);
/// The statements that set up the connection that receives the log. MySQL has used the second name of each variable since 8.0.26.
const SETTINGS: [&str; 3] = [
    "SET @master_binlog_checksum = @@GLOBAL.binlog_checksum, @source_binlog_checksum = @@GLOBAL.binlog_checksum",
    // The server sends a heartbeat each second in which it sends no event. The value is in nanoseconds.
    "SET @master_heartbeat_period = 1000000000, @source_heartbeat_period = 1000000000",
    // The program understands all kinds of events that MariaDB's log may contain.
    "SET @mariadb_slave_capability = 4",
];
/// A server that is silent for this long is taken for dead: with nothing to send it sends a heartbeat each second, and it answers questions
/// at once.
const SILENCE: Duration = Duration::from_secs(5);
/// The longest wait until the log has been received as far as it was written at the beginning. A server that is given the GTIDs to leave
/// out first reads a whole file of its log.
const BEGINNING: Duration = Duration::from_secs(120);
/// The size of a read of the log, in bytes.
const PIECE: usize = 64 << 10;

/// Follows the binary log of the configured server, and applies it to `log`. `account`: for both connections to the server. Returns without
/// an error if the configuration names another server. After any return nothing is served until the log is followed again. While the
/// process drains, this never returns.
pub async fn follow_until_changed(
    shared: &Shared,
    log: &Log,
    config: &Config,
    account: &Account,
    changes: &mut watch::Receiver<Arc<Config>>,
) -> io::Result<()> {
    let outcome = follow(shared, log, config, account, changes).await;
    log.detach();
    outcome
}

/// Connects, and follows the log until an error occurs or the configuration names another server. Unlike [`follow_until_changed`], does not
/// end serving when it returns.
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
    let Attached { connection, product, stream, has_checksums } =
        timeout(config.connect_timeout, attach(log, config, account)).await??;
    shared.memory.obstacle.clear_for_log();
    let mut draining = shared.draining();
    tokio::select! {
        outcome = receive_log(log, stream, has_checksums) => outcome,
        outcome = poll_server(shared, log, connection, &product) => outcome,
        outcome = until_other(config, changes) => outcome,
        _ = draining.wait_for(|is_draining| *is_draining) => {
            log.detach();
            shared.memory.obstacle.set("fqc-near is ending");
            std::future::pending().await
        }
    }
}

/// The two connections to a server whose log is followed: one for questions, and one that the log comes on, whose first event was applied.
struct Attached {
    /// The connection for questions to the server.
    connection: QueryConnection,
    product: BinlogProduct,
    /// The connection that the log comes on.
    stream: Stream,
    /// True if the events that come next end with a checksum.
    has_checksums: bool,
}

/// Waits until a reload names another server.
async fn until_other(config: &Config, changes: &mut watch::Receiver<Arc<Config>>) -> io::Result<()> {
    loop {
        changes.changed().await.map_err(io::Error::other)?;
        if config.server != changes.borrow_and_update().server {
            return Ok(());
        }
    }
}

/// Connects to the server twice, checks that its log can be followed, and begins to receive it. The error says what an operator must
/// change.
async fn attach(log: &Log, config: &Config, account: &Account) -> io::Result<Attached> {
    let mut connection = QueryConnection::connect(config, account).await?;
    let (product, version) = prerequisites::product(&mut connection).await?;
    let attached = attach_to(log, config, account, connection, product).await;
    let attached = attached.map_err(|error| prerequisites::with_grant(error, &product, account))?;
    say!("following the log of {} ({version})", config.server);
    Ok(attached)
}

/// Connects to the server a second time, and begins to receive its log on that connection. `connection`: the first connection, for
/// questions. An error if both connections do not reach the same server, or the log cannot be followed.
async fn attach_to(
    log: &Log,
    config: &Config,
    account: &Account,
    mut connection: QueryConnection,
    product: BinlogProduct,
) -> io::Result<Attached> {
    let LogFacts { mut has_checksums, file } = prerequisites::check(&mut connection, &product).await?;
    let mut replica = QueryConnection::connect(config, account).await?;
    let identity = question::server();
    let servers = [connection.query(&identity).await?, replica.query(&identity).await?];
    if servers[0] != servers[1] {
        return Err(io::Error::other("there are several servers behind this address"));
    }
    let server = servers[0].first().and_then(|row| value(row, 0)).ok_or(io::ErrorKind::InvalidData)?;
    let (status, _) = connection.log_status(&product).await?;
    replica.query_all(&SETTINGS).await?;
    let (first, stream) = replica.start_stream(&dump(&status, &file)?).await?;
    let (from, visible) = match status {
        LogStatus::VisibleUpTo(position) => (position, None),
        LogStatus::WrittenUpTo(_, visible) => (start_position(&first, has_checksums)?, Some(visible)),
    };
    log.attach(server.to_vec(), from, visible);
    apply_event(log, &first, true, &mut has_checksums)?;
    Ok(Attached { connection, product, stream, has_checksums })
}

/// Returns the log position that the server begins at, after it was given the GTIDs to leave out. `first`: the first event, which names the
/// position.
fn start_position(first: &[u8], has_checksums: bool) -> io::Result<Position> {
    match event_of(first, true, has_checksums)?.event {
        Event::Rotate { file, at } => Position::of(file, at),
        _ => None,
    }
    .ok_or_else(|| io::Error::other("the server does not tell where its log begins"))
}

/// Builds the command that asks for all of the log that is not visible to new reads yet. `status`: what is visible; `file`: the name of any
/// file of the log.
fn dump(status: &LogStatus, file: &str) -> io::Result<Vec<u8>> {
    match status {
        LogStatus::VisibleUpTo(position) => dump_from(*position, file),
        LogStatus::WrittenUpTo(_, visible) => dump_without(visible),
    }
}

/// Builds the command that asks for the log from a position on. `file`: the name of any file of the log, for the part before its number. An
/// error if the position does not fit into the command's four bytes.
fn dump_from(position: Position, file: &str) -> io::Result<Vec<u8>> {
    let (base, _) = file.rsplit_once('.').ok_or(io::ErrorKind::InvalidData)?;
    let at =
        u32::try_from(position.at).map_err(|_| io::Error::other("its log file is too long; run FLUSH BINARY LOGS"))?;
    let file = format!("{base}.{:06}", position.file);
    Ok([&[Command::BinlogDump as u8][..], &at.to_le_bytes(), &[0; 2], &random_server_id()?, file.as_bytes()].concat())
}

/// Builds the command that asks for the log from the first transaction on that is not in `visible`. The server finds the position itself.
fn dump_without(visible: &Gtids) -> io::Result<Vec<u8>> {
    const NO_FILE: [u8; 4] = [0; 4];
    const FROM: [u8; 8] = 4u64.to_le_bytes();
    let numbers = visible.encode();
    let length = (numbers.len() as u32).to_le_bytes();
    Ok([&[Command::BinlogDumpGtid as u8][..], &[0; 2], &random_server_id()?, &NO_FILE, &FROM, &length, &numbers]
        .concat())
}

/// Returns a random server id for this program as a replica, in the byte order of the protocol. The server would end the connection of
/// another replica with the same id.
fn random_server_id() -> io::Result<[u8; 4]> {
    const ABOVE_THOSE_THAT_PEOPLE_GIVE: u8 = 0x80;
    let mut number: [u8; 4] = random::bytes()?;
    number[3] |= ABOVE_THOSE_THAT_PEOPLE_GIVE;
    Ok(number)
}

/// Receives the log and applies it. Returns only with an error: the connection has ended or is silent, or an event cannot be applied.
async fn receive_log(log: &Log, mut stream: Stream, mut has_checksums: bool) -> io::Result<()> {
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
                outcome = apply_event(log, payload, is_whole, &mut has_checksums);
            }
        });
        outcome?;
    }
}

/// Parses the payload of one packet of the log. `is_whole`: false if `payload` is only the beginning of a long packet. `has_checksums`: the
/// event ends with a checksum. An error if the server has ended the log with an error packet, or the event is malformed.
fn event_of(payload: &[u8], is_whole: bool, has_checksums: bool) -> io::Result<PlacedEvent<'_>> {
    const OK: u8 = 0;
    let Some((&OK, event)) = payload.split_first() else { return Err(account::server_error(payload)) };
    event::read(event, is_whole, has_checksums)
        .map_err(|_| io::Error::other("an event of the server's log is malformed"))
}

/// Applies one event of the log. `has_checksums`: true if the event ends with a checksum; is updated if the event says that the following
/// ones differ.
fn apply_event(log: &Log, payload: &[u8], is_whole: bool, has_checksums: &mut bool) -> io::Result<()> {
    let event = event_of(payload, is_whole, *has_checksums)?;
    if let Event::Format { has_checksums: now, .. } = event.event {
        *has_checksums = now;
    }
    log.receive(&event).map_err(io::Error::other)
}

/// Asks the server how far the log must have been received, often enough for the staleness bound and soon after each write through this
/// program. Ends only with an error.
async fn poll_server(
    shared: &Shared,
    log: &Log,
    mut connection: QueryConnection,
    product: &BinlogProduct,
) -> io::Result<()> {
    let period = (log.max_staleness() / QUESTIONS).clamp(LEAST_PAUSE, LONGEST_PAUSE);
    let mut rounds = Instant::now();
    loop {
        let begun = Instant::now();
        timeout(SILENCE, poll_once(log, &mut connection, product))
            .await
            .map_err(|_| io::Error::other("the server is silent"))??;
        if rounds <= begun {
            rounds = begun + ROUND;
            log.tidy(shared.memory.results.cache(), clock::now());
            shared.memory.results.tick(clock::now());
        }
        tokio::select! {
            () = sleep_until(begun + period) => {}
            () = log.has_to_ask.wait() => sleep_until(begun + LEAST_PAUSE).await,
        }
    }
}

/// Asks the server once how far its log must have been received, and what the names of tables stand for that reads have used. An error if
/// the log is late, or was reset.
async fn poll_once(log: &Log, connection: &mut QueryConnection, product: &BinlogProduct) -> io::Result<()> {
    // The time is taken before the question is sent, so the answer covers everything up to then.
    let asked = clock::now();
    let waits = log.lags_since().map(|since| asked.saturating_sub(since));
    let patience = if log.has_caught_up() { SILENCE } else { BEGINNING };
    if waits.is_some_and(|waits| u128::from(waits) > patience.as_nanos()) {
        return Err(io::Error::other("the server's log does not come up to what it has done"));
    }
    let received = log.received();
    let (status, end) = connection.log_status(product).await?;
    if end < received {
        return Err(io::Error::other(RESET));
    }
    log.apply_status(asked, status).map_err(io::Error::other)?;
    let tables = log.take_lookups();
    for name in &tables.names {
        let outcome = connection.look_up(product.flavour, name).await?;
        log.learn(name, outcome, tables.definitions_version, clock::now());
    }
    if !tables.names.is_empty() {
        log.has_to_ask.set();
    }
    Ok(())
}
