//! The process: listeners, signals, reload and drain.

use crate::attachment;
use crate::config::{Config, FixedOptions, ListenAddress};
use crate::http;
use crate::login::{Refusal, TOO_MANY_CONNECTIONS};
use crate::notify;
use crate::options::Invocation;
use crate::relay::{NewClient, relay};
use crate::reporting::Reporter;
use crate::share;
use crate::shared::Shared;
use crate::stream::Stream;
use crate::threads::Threads;
use near_core::say;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The pause after an error of `accept`, such as too many open files: an immediate retry would fail again.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until SIGTERM or SIGINT, and returns once open connections have ended. An error if it cannot start, for example
/// because an address is in use. `invocation`: is read again at each SIGHUP; `config`: what was read of it for the start.
pub fn run(invocation: &Invocation, config: Config) -> io::Result<()> {
    let threads = Threads::start(config.fixed.threads)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(invocation, config, &threads))
}

/// Reads the configuration file, and checks all options. The error says which option is wrong and what to do.
pub fn read_config(invocation: &Invocation) -> Result<Config, String> {
    invocation.options().and_then(|options| Config::from_options(&options))
}

/// Listens, starts the attachment to the server and the reports, and waits for signals. Returns after the drain.
async fn serve(invocation: &Invocation, config: Config, threads: &Threads) -> io::Result<()> {
    let fixed = config.fixed.clone();
    let (published, memory) = match fixed.share {
        Some(_) => share::create_memory(fixed.size).map(|(published, file)| (Some(published), Some(file)))?,
        None => (None, None),
    };
    let shared = Arc::new(Shared::new(config, published));
    let admission = Admission { shared: shared.clone(), threads: threads.clone() };
    let (mut reload, mut ends) = (signal(SignalKind::hangup())?, EndSignals::new()?);
    let mut tasks = JoinSet::new();
    let mut sockets = SocketFiles(Vec::new());
    for address in &fixed.listen {
        let bound = listen(address, fixed.socket_mode, &admission, &mut tasks, &mut sockets).await;
        let bound = bound.map_err(|error| cannot_listen(address, error))?;
        say!("clients of {} may connect to {bound}", shared.config().server);
    }
    if let (Some(share), Some(memory)) = (&fixed.share, memory) {
        let cannot_share = |error| cannot_listen(&ListenAddress::Unix(share.path.clone()), error);
        remove_stale(&share.path).map_err(cannot_share)?;
        tasks.spawn(share::serve(share::listen(share).map_err(cannot_share)?, memory));
        sockets.0.push(share.path.clone());
        say!("programs that may write to {} may read all results", share.path.display());
    }
    if let Some(address) = fixed.metrics {
        let listener =
            TcpListener::bind(address).await.map_err(|error| cannot_listen(&ListenAddress::Ip(address), error))?;
        say!("http://{}/metrics tells what passes", listener.local_addr()?);
        tokio::spawn(http::serve(listener, shared.clone()));
    }
    attachment::start_thread(&shared)?;
    let reporter = Arc::new(Reporter::new(shared.clone()));
    let reports = tokio::spawn({
        let reporter = reporter.clone();
        async move { reporter.run().await }
    });
    notify::send_state("READY=1");
    loop {
        tokio::select! {
            _ = reload.recv() => apply_reload(read_config(invocation), &fixed, &shared),
            () = ends.next() => break,
        }
    }
    notify::send_state("STOPPING=1");
    tasks.shutdown().await;
    drop(sockets);
    drain(&shared, &mut ends).await;
    reports.abort();
    reporter.leave().await;
    Ok(())
}

/// Adds the address that could not be listened on to an error.
fn cannot_listen(address: &ListenAddress, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
}

/// Applies a configuration that was read for a reload, or logs why it is wrong; then the old one stays. `fixed`: the values of the options
/// that the process was started with and that only a restart changes.
fn apply_reload(read: Result<Config, String>, fixed: &FixedOptions, shared: &Shared) {
    match read {
        Err(error) => say!("nothing was reloaded: {error}"),
        Ok(mut config) => {
            config.continue_counts(&shared.config());
            let before = config.fixed.clone();
            config.keep_following(fixed);
            if before != *fixed {
                say!(
                    "listen, socket-mode, share, metrics, threads, size and what is said of the binary log and of stores stay as they are until a restart"
                );
            }
            shared.change_config(config);
            say!("reloaded; new connections use the new configuration");
        }
    }
}

/// Ends each open connection as soon as it is idle, and waits until all have ended, `drain-timeout-seconds` are over, or a second signal
/// comes.
async fn drain(shared: &Shared, ends: &mut EndSignals) {
    let limit = shared.config().drain_timeout;
    say!("ending; {} connections are open", shared.open.load(Ordering::Relaxed));
    shared.draining.send_replace(true);
    tokio::select! {
        drained = timeout(limit, shared.all_closed()) => if drained.is_err() {
            say!("{} connections did not end in time", shared.open.load(Ordering::Relaxed));
        },
        () = ends.next() => {}
    }
}

/// The signals that end the process: SIGTERM and SIGINT.
struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl EndSignals {
    fn new() -> io::Result<EndSignals> {
        Ok(EndSignals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for SIGTERM or SIGINT.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The paths of the unix sockets that this process listens on. The files are removed when this is dropped.
struct SocketFiles(Vec<PathBuf>);

impl Drop for SocketFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// Listens on one address, and admits its clients in a new task of `tasks`. Returns the address with the port that was chosen if it was 0.
/// The path of a unix socket is added to `sockets`, and gets the permissions `mode`.
async fn listen(
    address: &ListenAddress,
    mode: u32,
    admission: &Admission,
    tasks: &mut JoinSet<()>,
    sockets: &mut SocketFiles,
) -> io::Result<ListenAddress> {
    let admission = admission.clone();
    match address {
        ListenAddress::Ip(address) => {
            let listener = TcpListener::bind(address).await?;
            let bound = listener.local_addr()?;
            tasks.spawn(async move {
                loop {
                    match listener.accept().await.and_then(|(stream, peer)| Ok((stream.into_std()?, peer))) {
                        Ok((stream, peer)) => {
                            let addresses = stream.local_addr().ok().map(|own| (peer, own));
                            let _ = stream.set_nodelay(true);
                            admission.admit(addresses, || Ok(Box::new(TcpStream::from_std(stream)?)));
                        }
                        Err(error) => pause(&error).await,
                    }
                }
            });
            Ok(ListenAddress::Ip(bound))
        }
        ListenAddress::Unix(path) => {
            remove_stale(path)?;
            let listener = UnixListener::bind(path)?;
            sockets.0.push(path.clone());
            fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
            tasks.spawn(async move {
                loop {
                    match listener.accept().await.and_then(|(stream, _)| stream.into_std()) {
                        Ok(stream) => admission.admit(None, || Ok(Box::new(UnixStream::from_std(stream)?))),
                        Err(error) => pause(&error).await,
                    }
                }
            });
            Ok(address.clone())
        }
    }
}

/// Logs an error of `accept`, and waits a moment before the next try.
async fn pause(error: &io::Error) {
    say!("a client could not be accepted: {error}");
    sleep(ACCEPT_PAUSE).await;
}

/// Removes the socket file of a process that was killed. A socket that a process still listens on is kept, and so is any other file.
fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    let is_stale = || Probe::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if is_socket && is_stale() { fs::remove_file(path) } else { Ok(()) }
}

/// The way in for clients: counts and admits them, and gives each connection to a thread.
#[derive(Clone)]
struct Admission {
    shared: Arc<Shared>,
    threads: Threads,
}

impl Admission {
    /// Admits a client, or refuses it with the error 1040 if there are too many. `addresses`: the client's address and the local one; none
    /// for a unix socket. `stream` is called on the thread that serves the connection, because the stream belongs to that thread's runtime.
    fn admit(
        &self,
        addresses: Option<(SocketAddr, SocketAddr)>,
        stream: impl FnOnce() -> io::Result<Stream> + Send + 'static,
    ) {
        self.shared.counts.accepted.add(1);
        let (shared, open_connection) = (self.shared.clone(), self.shared.admit());
        self.threads.spawn(async move {
            match (stream(), open_connection) {
                (Ok(stream), Some(open_connection)) => relay(NewClient { stream, addresses }, &open_connection.0).await,
                (Ok(stream), None) => refuse_over_limit(stream, &shared).await,
                (Err(error), _) => shared.refusal_log.log(&error.to_string()),
            }
        });
    }
}

/// Sends the client the error 1040, and closes its connection.
async fn refuse_over_limit(mut client: Stream, shared: &Shared) {
    shared.counts.over_limit.add(1);
    let limit = shared.config().max_connections;
    let message = format!("Too many connections: fqc-near takes {limit} (max-connections)");
    let error = Refusal::new(TOO_MANY_CONNECTIONS, b"08004", message);
    shared.refusal_log.log(&error.message);
    let _ = client.write_all(&error.packet(0)).await;
    let _ = client.shutdown().await;
}
