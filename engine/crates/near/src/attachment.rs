//! The feed: a connection attached to the server's cache. It receives which results are invalidated, and renews the lease that serving from
//! memory needs.
//!
//! The feed has a thread of its own, because writers on the server wait for it. It never ends: after an error nothing is served until it
//! has attached again, which it tries after a pause. The same thread follows the binary log, or drops expired results where rules decide.

use crate::account::{self, Account};
use crate::config::Config;
use crate::dial::connect_to_server;
use crate::following;
use crate::server::Server;
use crate::shared::Shared;
use crate::stream::Stream;
use feed::{Frame, FromNear, attach_statement};
use near_core::by_rules::aged_results;
use near_core::clock;
use near_core::memory::Memory;
use near_core::rules::Rules;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use wire::{Command, Header, Packet, push_packet};

/// The pause before the next attempt to attach, after the first error.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two attempts to attach.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The time between two reports of the counts to the server, and between two sweeps of expired results.
const ROUND: Duration = Duration::from_secs(1);
/// The room for received bytes that is reserved before each read, in bytes.
const PIECE: usize = 64 << 10;
/// A feed that is silent for this long is dead, as the server answers every renewal of the lease at once.
const SILENCE: Duration = Duration::from_secs(5);

/// Starts the thread that attaches `fqc-near` to the database server: to the query cache in the server, or to the server's binary log.
/// Where rules decide, the thread drops expired results instead. Returns at once; the thread runs until the process ends, and its failures
/// show in [`Shared::obstacle`]. An error if the thread cannot be started.
pub fn start_thread(shared: &Arc<Shared>) -> io::Result<()> {
    let shared = shared.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("feed".into()).spawn(move || runtime.block_on(run(&shared)))?;
    Ok(())
}

/// Attaches to the server as the configuration says, and attaches again whenever that has ended. Returns only if no configuration can come
/// any more.
async fn run(shared: &Shared) {
    let mut changes = shared.config.subscribe();
    let mut pause = FIRST_PAUSE;
    loop {
        let config = changes.borrow_and_update().clone();
        if let (Some(log), Some(follows)) = (&shared.log, &config.fixed.follows) {
            let outcome = following::follow_until_changed(shared, log, &config, &follows.account, &mut changes).await;
            pause = back_off(shared, outcome, pause).await;
            continue;
        }
        let Some(account) = &config.feed else {
            let outcome = match &config.rules {
                Some(rules) => by_rules(shared, rules, &mut changes).await,
                None => {
                    shared.memory.obstacle.set("feed-user is not set");
                    changes.changed().await
                }
            };
            if outcome.is_err() {
                return;
            }
            continue;
        };
        let outcome = follow_feed(shared, &config, account, &mut changes).await;
        shared.memory.detach();
        pause = back_off(shared, outcome, pause).await;
    }
}

/// Waits after an attachment has failed. The error becomes the reason why nothing is served. `pause`: how long the last call has waited;
/// this one waits twice as long, up to five seconds, or `FIRST_PAUSE` if the near cache was attached, or followed the log, since the last call. Returns how long it has waited, for the
/// next call. If `outcome` is no error, returns `pause` at once.
async fn back_off(shared: &Shared, outcome: io::Result<()>, pause: Duration) -> Duration {
    let Err(error) = outcome else { return pause };
    let was_attached = shared.memory.obstacle.take_worked();
    shared.memory.obstacle.set(&error.to_string());
    let pause = if was_attached { FIRST_PAUSE } else { (2 * pause).min(LONGEST_PAUSE) };
    sleep(pause).await;
    pause
}

/// Serves by rules, for which no connection to the server is needed: once a second, drops results that are too old. Returns `Ok` when the
/// configuration has changed, and an error if no other configuration can come any more.
async fn by_rules(
    shared: &Shared,
    rules: &Rules,
    changes: &mut watch::Receiver<Arc<Config>>,
) -> Result<(), watch::error::RecvError> {
    shared.memory.obstacle.clear_for_rules();
    loop {
        shared.memory.grant_by_rules(clock::now());
        tokio::select! {
            changed = changes.changed() => return changed,
            () = sleep(ROUND) => {
                aged_results::tidy(&shared.memory.results, clock::now(), rules.max_ttl());
                shared.memory.results.tick(clock::now());
                if let Some(store) = &shared.store {
                    store.refresh_totals().await;
                }
            }
        }
    }
}

/// Attaches to the query cache in the server, and then receives its invalidations and renews the lease. Returns without an error if the
/// configuration names another server, account or name. After a return nothing must be served: the caller withdraws the lease with
/// `Memory::detach`. While the process drains, this never returns.
async fn follow_feed(
    shared: &Shared,
    config: &Config,
    account: &Account,
    changes: &mut watch::Receiver<Arc<Config>>,
) -> io::Result<()> {
    let stream = timeout(config.connect_timeout, attach(config, account)).await??;
    let (mut input, mut output) = tokio::io::split(stream);
    let mut feed = Feed { memory: &shared.memory, buffer: Vec::new(), is_attached: false };
    let mut draining = shared.draining();
    let (mut renews, mut rounds, mut last_received) = (Instant::now(), Instant::now(), Instant::now());
    loop {
        tokio::select! {
            biased;
            () = sleep_until(renews), if feed.is_attached => {
                renews = Instant::now() + Duration::from_nanos(shared.memory.results.renew_every());
                if last_received.elapsed() > SILENCE {
                    return Err(io::Error::other("the server is silent"));
                }
                // The time is taken before the renewal is sent, so the lease never ends later here than on the server.
                send(&mut output, &[shared.memory.results.renewal(clock::now())]).await?;
            }
            read = input.read_buf(&mut feed.buffer) => {
                if read? == 0 {
                    return Err(feed.closed_error());
                }
                last_received = Instant::now();
                let acknowledgement = feed.receive()?;
                if !acknowledgement.is_empty() {
                    send(&mut output, &acknowledgement).await?;
                }
                if feed.is_attached {
                    shared.memory.note_attached();
                }
            }
            () = shared.memory.has_outgoing.wait(), if feed.is_attached => {
                send(&mut output, &shared.memory.take_outgoing()).await?;
            }
            () = sleep_until(rounds), if feed.is_attached => {
                rounds = Instant::now() + ROUND;
                shared.memory.results.tidy();
                shared.memory.results.tick(clock::now());
                send(&mut output, &[FromNear::Counted(shared.memory.results.counted())]).await?;
            }
            changed = changes.changed() => {
                changed.map_err(io::Error::other)?;
                if is_other(config, &changes.borrow()) {
                    return leave(shared, &mut output).await;
                }
            }
            _ = draining.wait_for(|is_draining| *is_draining) => {
                leave(shared, &mut output).await?;
                shared.memory.obstacle.set("fqc-near is ending");
                return std::future::pending().await;
            }
        }
    }
}

/// Stops serving, and sends the last counts. The server learns that this near cache has left, so its writers do not wait for the lease to
/// end.
async fn leave(shared: &Shared, output: &mut WriteHalf<Stream>) -> io::Result<()> {
    shared.memory.detach();
    send(output, &[FromNear::Counted(shared.memory.results.counted()), FromNear::Left]).await
}

/// Returns true if the feed must be attached again after a reload, because the server, the account or this program's name has changed.
fn is_other(config: &Config, new: &Config) -> bool {
    let account = |config: &Config| config.feed.as_ref().map(|one| (one.user.clone(), one.password.clone()));
    config.server != new.server || account(config) != account(new) || config.name != new.name
}

/// Logs in with `account`, and returns a connection that the server has accepted as a feed: it reports invalidations there. An error if the
/// server does not run the plugin or refuses the account.
async fn attach(config: &Config, account: &Account) -> io::Result<Stream> {
    let stream = connect_to_server(config, None).await?;
    let is_local = matches!(config.server, Server::Unix(_));
    let mut server = account::log_in(stream, account, config.connector.as_ref(), is_local).await?;
    let mut packet = Vec::new();
    let statement = attach_statement(&config.name);
    push_packet(&mut packet, &mut 0, &[&[Command::Query as u8], statement.as_bytes()].concat());
    server.stream.write_all(&packet).await?;
    server.stream.flush().await?;
    let answer = server.next().await?;
    match answer.get(Header::SIZE) {
        Some(0) => Ok(server.stream),
        _ => Err(refusal(&answer[Header::SIZE..])),
    }
}

/// Explains the server's error packet after the statement that attaches. A server without the plugin does not know that statement.
fn refusal(payload: &[u8]) -> io::Error {
    const SYNTAX: u16 = 1064;
    match wire::ErrPacket::parse(payload) {
        Some(error) if error.code == SYNTAX => {
            io::Error::other("the server does not run Fast Query Cache, or its cache is off")
        }
        _ => account::server_error(payload),
    }
}

/// Sends messages of the feed to the server, as one packet.
async fn send(output: &mut WriteHalf<Stream>, messages: &[FromNear]) -> io::Result<()> {
    let mut packet = Vec::new();
    push_packet(&mut packet, &mut 0, &FromNear::encode_all(messages));
    output.write_all(&packet).await?;
    output.flush().await
}

/// The received side of the feed, the connection that the server reports invalidations on.
struct Feed<'a> {
    memory: &'a Arc<Memory>,
    /// Received bytes that are not a complete frame yet.
    buffer: Vec<u8>,
    /// True once the first frame has come: then the lease is renewed.
    is_attached: bool,
}

impl Feed<'_> {
    /// Applies all complete frames in the buffer to the memory. Returns the acknowledgement to send, or nothing if none is due. An error if
    /// a frame is missing or malformed; then the feed must be attached again.
    fn receive(&mut self) -> io::Result<Vec<FromNear>> {
        let mut acknowledgement = None;
        let mut taken = 0;
        while let Some(packet) = Packet::parse(&self.buffer[taken..]) {
            taken += Header::SIZE + packet.payload.len();
            let frame = Frame::decode(packet.payload).map_err(|_| io::Error::other("a frame is malformed"))?;
            let outcome = self.memory.receive(frame);
            // The last acknowledgement also covers the earlier ones.
            acknowledgement = outcome
                .map_err(|_| io::Error::other("a frame is missing, or not what it should be"))?
                .or(acknowledgement);
            self.is_attached = true;
        }
        self.buffer.drain(..taken);
        self.buffer.reserve(PIECE);
        Ok(acknowledgement.into_iter().collect())
    }

    /// Returns the error for a feed that the server has closed: its cache was off from the beginning, or it has ended the feed.
    fn closed_error(&self) -> io::Error {
        io::Error::other(match self.is_attached {
            true => "the server has ended the feed",
            false => "the server's cache is off",
        })
    }
}
