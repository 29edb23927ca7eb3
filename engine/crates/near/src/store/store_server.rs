//! The connections to one server of a store. Each thread has one connection to it, which all reads of this thread share. Requests are
//! pipelined, and answers come in the same order. As a request stays on its thread, no other thread has to be woken for it.

use super::StoreOptions;
use super::breaker::Breaker;
use super::dialect::Dialect;
use super::reply::{ExpectedReply, Process, ProtocolError, Reply, ServerInfo, Totals};
use super::tls::{self, Tls};
use crate::server::Server;
use crate::stream::{Stream, connect};
use locks::Mutex;
use near_core::clock;
use near_core::counter::Counter;
use near_core::say;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep_until, timeout, timeout_at};

/// The limit of the bytes of requests that wait to be sent to one server. Further requests are dropped: the store is too slow for them.
const MOST_QUEUED: usize = 4 << 20;
/// The size of one read from a connection in bytes. When the output buffer has this size, it is sent before more requests are added.
const PIECE: usize = 64 << 10;
/// The longest delay of a request whose answer no client waits for, such as a value to store. It is sent together with the next request
/// that a client waits for, or after this time.
const PATIENCE: Duration = Duration::from_millis(1);

thread_local! {
    /// The channels to this thread's connections, by the address of their `ServerState`. The connection's task holds the `ServerState`, so
    /// its address is not reused while the channel is open.
    static REQUESTS: RefCell<HashMap<*const ServerState, mpsc::UnboundedSender<Request>>> = RefCell::default();
    /// The buffer for reads of all connections of this thread. It holds nothing between two polls.
    static READ: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// The options and counters that all servers of a store share.
pub struct Common {
    pub dialect: Dialect,
    /// The requests that each new connection begins with, such as the login, and the answers that they expect.
    greeting: Vec<(Vec<u8>, ExpectedReply)>,
    tls: Option<Tls>,
    /// The limit for connecting to a server, and for each answer.
    pub timeout: Duration,
    /// The number of values that the store has accepted.
    pub inserts: Counter,
    /// True once a server has said that it runs in cluster mode.
    is_cluster: AtomicBool,
    /// Is notified when the cluster's slots may have moved to other servers, so that they are read again.
    pub has_changed: Notify,
}

impl Common {
    /// Takes the options that matter to connections.
    pub fn new(options: &StoreOptions) -> Common {
        let StoreOptions { dialect, timeout, user, password, tls, .. } = options;
        Common {
            dialect: *dialect,
            greeting: dialect.greeting(user, password),
            tls: tls.clone(),
            timeout: *timeout,
            inserts: Counter::default(),
            is_cluster: AtomicBool::new(false),
            has_changed: Notify::new(),
        }
    }

    /// Lets the cluster's slots be read again. Does nothing if the servers form no cluster.
    fn may_have_changed(&self) {
        if self.is_cluster.load(Ordering::Relaxed) {
            self.has_changed.notify_one();
        }
    }
}

/// One server of a store, with the connections of all threads to it. Connections are made when needed, and closed when this is dropped.
pub struct StoreServer {
    state: Arc<ServerState>,
    connections: Mutex<JoinSet<()>>,
}

/// The state of one server that all connections to it share.
struct ServerState {
    common: Arc<Common>,
    server: Server,
    /// The number of connections made so far. A new connection takes the next number as its own.
    connections: AtomicU64,
    /// The bytes of requests that no connection has taken yet.
    queued: AtomicUsize,
    /// Open while the server does not answer: then it is asked once a second.
    breaker: Breaker,
    /// The reason, as last logged, why the server does not answer. Empty if it answers.
    trouble: Mutex<String>,
    /// How often a connection failed: the server did not answer, or not in time.
    failures: Counter,
    /// The server's totals, as of the last answer about them.
    totals: Mutex<Totals>,
}

/// A request on its way to a connection.
struct Request {
    /// The request as it is sent to the store.
    bytes: Vec<u8>,
    /// The number of the only connection that may send this request; none if any may.
    connection: Option<u64>,
    expected: ExpectedReply,
    reply_use: ReplyUse,
    /// The latest time at which the request is sent.
    sends_at: Instant,
}

/// What happens to the answer of a request.
pub enum ReplyUse {
    /// The answer goes to a read that waits for it. If the channel is closed without an answer, there will be none.
    Deliver(oneshot::Sender<(Reply, ReplyOrigin)>),
    /// The answer is counted as an insertion if it says that the server has stored the value.
    CountInsert,
    /// The answer is dropped.
    Drop,
}

/// The connection that an answer came on.
#[derive(Clone, Copy)]
pub struct ReplyOrigin {
    /// The connection's number, unique among all connections to this server since the program started.
    pub connection: u64,
    /// The process of the server at the other end; none if the protocol does not identify it (memcached).
    pub process: Option<Process>,
}

/// The requests for one thread's connection to one server.
type Requests = mpsc::UnboundedReceiver<Request>;
/// The requests that were sent or are about to be, in their order, each with the deadline of its answer.
type DueReplies = VecDeque<(ExpectedReply, ReplyUse, Instant)>;

impl StoreServer {
    /// Makes the connections to a server. Connects to it when the first request is sent.
    pub fn new(common: &Arc<Common>, server: Server) -> Arc<StoreServer> {
        let state = ServerState {
            common: common.clone(),
            server,
            connections: AtomicU64::new(0),
            queued: AtomicUsize::new(0),
            breaker: Breaker::default(),
            trouble: Mutex::default(),
            failures: Counter::default(),
            totals: Mutex::default(),
        };
        Arc::new(StoreServer { state: Arc::new(state), connections: Mutex::default() })
    }

    /// Returns the options and counters that all servers of the store share.
    pub fn common(&self) -> &Common {
        &self.state.common
    }

    /// Returns the server's address.
    pub fn address(&self) -> &Server {
        &self.state.server
    }

    /// Returns true unless the last attempt to reach the server has failed. True if the server was not asked yet. Changes nothing.
    pub fn answers(&self) -> bool {
        self.state.breaker.is_closed()
    }

    /// Returns true if the caller may send a request: always while the server answers, otherwise for one caller a second, who should then
    /// ask. `now`: in nanoseconds of [`clock::now`].
    pub fn may_ask(&self, now: u64) -> bool {
        self.state.breaker.may_ask(now)
    }

    /// Returns the reason why the server does not answer, in one line; none if it answers.
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.state.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        (!self.answers()).then(|| trouble.clone())
    }

    /// Returns how many times a connection to the server has failed since the program started.
    pub fn failures(&self) -> usize {
        self.state.failures.get()
    }

    /// Returns the server's totals as of the last call of [`count`](Self::count); zero before the first one.
    pub fn totals(&self) -> Totals {
        *self.state.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server for its totals, for [`totals`](Self::totals). If the server does not answer, the last totals stay.
    pub async fn refresh_totals(&self) {
        if !self.may_ask(clock::now()) {
            return;
        }
        if let Some((Reply::Totals(totals), _)) =
            self.ask(self.common().dialect.totals_request(), ExpectedReply::Totals).await
        {
            *self.state.totals.lock().unwrap_or_else(PoisonError::into_inner) = totals;
        }
    }

    /// Sends a request and waits for its answer. Returns none if the server does not answer in time, or if too many bytes are queued for
    /// it. Call [`may_ask`](Self::may_ask) before, as this also sends to a server that does not answer. `expected`: the kind of answer that
    /// the request expects.
    pub async fn ask(&self, bytes: Vec<u8>, expected: ExpectedReply) -> Option<(Reply, ReplyOrigin)> {
        let (sender, answer) = oneshot::channel();
        self.queue(bytes, None, expected, ReplyUse::Deliver(sender));
        answer.await.ok()
    }

    /// Queues a request that no client waits for, and returns at once. It is dropped if the server does not answer at present. If
    /// `connection` is given, it is also dropped unless this thread's connection has that number.
    pub fn send(&self, bytes: Vec<u8>, connection: Option<u64>, reply_use: ReplyUse) {
        if self.answers() {
            self.queue(bytes, connection, ExpectedReply::Outcome, reply_use);
        }
    }

    /// Queues a request for this thread's connection. If too many bytes are queued, the request is dropped, which closes the channel in
    /// `reply_use`.
    fn queue(&self, bytes: Vec<u8>, connection: Option<u64>, expected: ExpectedReply, reply_use: ReplyUse) {
        let (length, queued) = (bytes.len(), &self.state.queued);
        let patience = if matches!(reply_use, ReplyUse::Deliver(_)) { Duration::ZERO } else { PATIENCE };
        let sends_at = Instant::now() + patience;
        let request = Request { bytes, connection, expected, reply_use, sends_at };
        if queued.fetch_add(length, Ordering::Relaxed) + length > MOST_QUEUED || !self.pass_on(request) {
            queued.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// Passes the request to this thread's connection, whose task is started if there is none. Returns false if the task has ended just
    /// now; then the request is lost.
    fn pass_on(&self, request: Request) -> bool {
        REQUESTS.with_borrow_mut(|all| {
            let state = Arc::as_ptr(&self.state);
            if let Some(sender) = all.get(&state).filter(|sender| !sender.is_closed()) {
                return sender.send(request).is_ok();
            }
            let (sender, requests) = mpsc::unbounded_channel();
            let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
            connections.spawn(run(self.state.clone(), requests));
            all.retain(|_, sender| !sender.is_closed());
            let is_passed = sender.send(request).is_ok();
            all.insert(state, sender);
            is_passed
        })
    }
}

impl ServerState {
    /// Notes that a connection to the server has failed: opens the breaker, and logs the reason if it is a new one.
    fn failed(&self, error: &io::Error) {
        let why = tls::explain_in_one_line(error);
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        self.failures.add(1);
        self.common.may_have_changed();
        self.breaker.open(clock::now());
        if *trouble != why {
            say!("the store {} does not answer, and is tried once a second: {why}", self.server);
            *trouble = why;
        }
    }

    /// Notes that the server has answered, which closes the breaker, and hands the answer to where it goes.
    fn answered(&self, reply: Reply, reply_use: ReplyUse, origin: ReplyOrigin) {
        if reply == Reply::Moved {
            self.common.may_have_changed();
        }
        if !self.breaker.is_closed() {
            let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
            if self.breaker.close() {
                say!("the store {} answers", self.server);
                trouble.clear();
            }
        }
        match reply_use {
            // If the client has stopped waiting, the answer is dropped.
            ReplyUse::Deliver(sender) => drop(sender.send((reply, origin))),
            ReplyUse::CountInsert => self.common.inserts.add(usize::from(reply == Reply::Done)),
            ReplyUse::Drop => {}
        }
    }

    /// Subtracts a request that a connection has taken, or that is dropped, from the queued bytes.
    fn forget(&self, request: &Request) {
        self.queued.fetch_sub(request.bytes.len(), Ordering::Relaxed);
    }
}

/// Runs this thread's connection to the server: waits for a request, connects, and serves requests until the connection ends; then starts
/// over. Requests that are queued when a connection fails are dropped. Ends when no request can come any more.
async fn run(state: Arc<ServerState>, mut requests: Requests) {
    while let Some(first) = requests.recv().await {
        state.forget(&first);
        if let Err(error) = exchange(&state, first, &mut requests).await {
            state.failed(&error);
            while let Ok(request) = requests.try_recv() {
                state.forget(&request);
            }
        }
    }
}

/// Connects and serves requests until the connection ends. Without an error, it has ended in order, or no request can come any more.
async fn exchange(state: &ServerState, first: Request, requests: &mut Requests) -> io::Result<()> {
    let (mut stream, first) = begin(state, first, requests).await?;
    let connection = state.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let origin = ReplyOrigin { connection, process: None };
    let mut exchange = Exchange {
        state,
        origin,
        out: Vec::new(),
        sends_at: None,
        due: DueReplies::new(),
        received: Vec::new(),
        has_received: false,
    };
    let since = first.as_ref().map_or_else(Instant::now, |first| first.sends_at);
    for (bytes, expected) in &state.common.greeting {
        exchange.push(bytes, *expected, ReplyUse::Drop, since);
    }
    first.into_iter().for_each(|first| exchange.take(first));
    let mut alarm = pin!(sleep_until(Instant::now() + state.common.timeout));
    let ended = poll_fn(|context| exchange.poll(context, &mut stream, requests, alarm.as_mut())).await;
    ended.map_err(
        |error| if exchange.has_received { error } else { tls::explain_no_answer(error, state.common.tls.is_some()) },
    )
}

/// Opens the connection, and returns it with the request to send first. If the TLS handshake has taken half of the request's time, the
/// server counts as failed, and this request and those that follow during the handshake are dropped. The handshake goes on all the same,
/// and the connection is then returned without a request: otherwise a server to which many clients connect at once would never complete a
/// handshake.
async fn begin(state: &ServerState, first: Request, requests: &mut Requests) -> io::Result<(Stream, Option<Request>)> {
    let limit = state.common.timeout;
    let stream = timeout(limit, connect(&state.server)).await??;
    let Some(tls) = &state.common.tls else { return Ok((stream, Some(first))) };
    let mut beginning = pin!(tls.handshake(stream, state.server.host()));
    if let Ok(stream) = timeout_at(first.sends_at + limit / 2, &mut beginning).await {
        return Ok((stream?, Some(first)));
    }
    state.failed(&tls::handshake_timeout());
    drop(first);
    loop {
        tokio::select! {
            stream = &mut beginning => return Ok((stream?, None)),
            Some(request) = requests.recv() => state.forget(&request),
        }
    }
}

/// Returns true if a connection has ended without the end of TLS.
fn is_eof(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

/// An open connection to a server of the store, with its requests and answers under way.
struct Exchange<'a> {
    state: &'a ServerState,
    origin: ReplyOrigin,
    /// The bytes of requests that are to be sent.
    out: Vec<u8>,
    /// The latest time at which `out` is sent; none if it is empty.
    sends_at: Option<Instant>,
    due: DueReplies,
    /// The received bytes that are not parsed yet. They begin with the answer to the first request in `due`.
    received: Vec<u8>,
    /// True once the server has sent anything.
    has_received: bool,
}

impl Exchange<'_> {
    /// Moves bytes both ways. Ready without an error if the server has closed the connection and no answer is due, or if no request can
    /// come any more; ready with an error if the connection broke or an answer is late. Never ready otherwise.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut Stream,
        requests: &mut Requests,
        mut alarm: Pin<&mut Sleep>,
    ) -> Poll<io::Result<()>> {
        // Answers are read before the time is checked: one that came in time counts, even if this task runs late.
        if self.poll_received(context, stream)?.is_ready() {
            return Poll::Ready(Ok(()));
        }
        loop {
            if self.poll_taken(context, requests).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let was_full = self.is_full();
            self.send(context, stream)?;
            if was_full && !self.is_full() {
                continue;
            }
            let (now, limit) = (Instant::now(), self.due.front().map(|(.., limit)| *limit));
            if limit.is_some_and(|limit| limit <= now) {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            let Some(next) = limit.into_iter().chain(self.sends_at.filter(|at| *at > now)).min() else {
                return Poll::Pending;
            };
            // A wake-up with nothing to do, at most once per PATIENCE, costs less than a timer per request: a timer that is set to an
            // earlier time than all others needs a system call to wake the thread.
            if alarm.is_elapsed() || alarm.deadline() > next {
                alarm.as_mut().reset(next.min(now + PATIENCE));
            }
            ready!(alarm.as_mut().poll(context));
        }
    }

    /// Returns true if no more requests are taken until the buffered ones are sent.
    fn is_full(&self) -> bool {
        self.out.len() >= PIECE
    }

    /// Takes queued requests until the output buffer is full. Ready if no request can come any more.
    fn poll_taken(&mut self, context: &mut Context<'_>, requests: &mut Requests) -> Poll<()> {
        while !self.is_full() {
            match ready!(requests.poll_recv(context)) {
                Some(request) => {
                    self.state.forget(&request);
                    self.take(request);
                }
                None => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    /// Adds a request to the output. It is dropped instead if it is for another connection, or if its client has stopped waiting.
    fn take(&mut self, request: Request) {
        let is_here = request.connection.is_none_or(|connection| connection == self.origin.connection);
        let is_awaited = !matches!(&request.reply_use, ReplyUse::Deliver(sender) if sender.is_closed());
        if is_here && is_awaited {
            self.push(&request.bytes, request.expected, request.reply_use, request.sends_at);
        }
    }

    /// Adds a request to the output. `sends_at`: the latest time at which it is sent; its answer is due one timeout later.
    fn push(&mut self, bytes: &[u8], expected: ExpectedReply, reply_use: ReplyUse, sends_at: Instant) {
        self.sends_at = self.sends_at.into_iter().chain([sends_at]).min();
        self.out.extend_from_slice(bytes);
        self.due.push_back((expected, reply_use, sends_at + self.state.common.timeout));
    }

    /// Writes what the connection takes of `out`, if `out` is full or its time has come. What it does not take stays in `out`.
    fn send(&mut self, context: &mut Context<'_>, stream: &mut Stream) -> io::Result<()> {
        let is_time = self.is_full() || self.sends_at.is_some_and(|at| at <= Instant::now());
        while is_time && !self.out.is_empty() {
            match Pin::new(&mut *stream).poll_write(context, &self.out) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(count) => drop(self.out.drain(..count?)),
                Poll::Pending => return Ok(()),
            }
        }
        self.sends_at = self.sends_at.filter(|_| !self.out.is_empty());
        // TLS may still hold bytes that it has taken.
        match Pin::new(stream).poll_flush(context) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => Ok(()),
        }
    }

    /// Reads and handles all answers that have come. Ready without an error if the server has closed the connection and no answer is due;
    /// with an error if the connection broke.
    fn poll_received(&mut self, context: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        loop {
            let count = READ.with_borrow_mut(|buffer| {
                let mut read = ReadBuf::new(buffer);
                ready!(Pin::new(&mut *stream).poll_read(context, &mut read))?;
                self.received.extend_from_slice(read.filled());
                Poll::Ready(io::Result::Ok(read.filled().len()))
            });
            // A killed server ends the connection without closing TLS: that is treated like a plain end.
            let count = ready!(count).or_else(|error| if is_eof(&error) { Ok(0) } else { Err(error) });
            match count? {
                0 if self.due.is_empty() => return Poll::Ready(Ok(())),
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                _ => self.handle_answers()?,
            }
        }
    }

    /// Handles the complete answers in `received`, in the order of their requests.
    fn handle_answers(&mut self) -> io::Result<()> {
        self.has_received = true;
        let mut taken = 0;
        while taken < self.received.len() {
            let Some((expected, ..)) = self.due.front() else {
                return Err(io::Error::other("it says what nobody asked"));
            };
            let parsed = self.state.common.dialect.parse(&self.received[taken..], *expected);
            let Some((reply, length)) = parsed.map_err(|ProtocolError(why)| io::Error::other(why))? else { break };
            taken += length;
            let reply_use = self.due.pop_front().map_or(ReplyUse::Drop, |(_, reply_use, _)| reply_use);
            if let Reply::ServerInfo(info) = &reply {
                self.learn(info);
            }
            self.state.answered(reply, reply_use, self.origin);
        }
        self.received.drain(..taken);
        Ok(())
    }

    /// Notes which process the server is, and whether it belongs to a cluster, whose slots are then read.
    fn learn(&mut self, info: &ServerInfo) {
        self.origin.process = Some(info.process);
        self.state.common.is_cluster.fetch_or(info.is_of_cluster, Ordering::Relaxed);
        self.state.common.may_have_changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that requests to a server that cannot be reached do not stay counted as queued. Otherwise the server would never be asked
    /// again after some hours.
    #[tokio::test]
    async fn what_could_not_be_sent_is_not_queued_for_ever() {
        let nobody = Server::Unix("/nowhere/socket".into());
        let options = StoreOptions {
            dialect: Dialect::Valkey,
            servers: Vec::new(),
            timeout: Duration::from_secs(1),
            name: String::new(),
            user: String::new(),
            password: String::new(),
            tls: None,
        };
        let line = StoreServer::new(&Arc::new(Common::new(&options)), nobody);
        for _ in 0..3 {
            assert!(line.ask(line.common().dialect.totals_request(), ExpectedReply::Totals).await.is_none());
        }
        assert_eq!((line.failures(), line.state.queued.load(Ordering::Relaxed)), (3, 0));
        assert!(line.trouble().is_some_and(|why| why.contains("No such file")));
    }
}
