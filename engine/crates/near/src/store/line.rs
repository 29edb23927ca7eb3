//! The connections to one server of a store: one for each thread, which all reads on it share. Requests go out one after the other, and
//! answers come in this order. So nobody who asks has to wake another thread.

use super::Options;
use super::breaker::Breaker;
use super::dialect::Dialect;
use super::reply::{About, Counted, Process, Reply, Unfit, Wants};
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

/// Of requests that were not sent yet. A store that is too slow for more gets no more.
const MOST_QUEUED: usize = 4 << 20;
/// Sent together, or read.
const PIECE: usize = 64 << 10;
/// What nobody waits for goes out with the next request that somebody does, or when it has waited for so long.
const PATIENCE: Duration = Duration::from_millis(1);

thread_local! {
    /// Those of this thread, by the address of their server, which is that of no other while they can be sent to.
    static REQUESTS: RefCell<HashMap<*const Peer, mpsc::UnboundedSender<Request>>> = RefCell::default();
    static READ: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// What the lines to all servers of a store have in common.
pub struct Common {
    pub dialect: Dialect,
    /// What begins a connection.
    greeting: Vec<(Vec<u8>, Wants)>,
    tls: Option<Tls>,
    pub timeout: Duration,
    /// Values that were taken.
    pub inserts: Counter,
    is_cluster: AtomicBool,
    /// Who has what in the cluster may be another one than is known.
    pub has_changed: Notify,
}

impl Common {
    pub fn new(options: &Options) -> Common {
        let Options { dialect, timeout, user, password, tls, .. } = options;
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

    fn may_have_changed(&self) {
        if self.is_cluster.load(Ordering::Relaxed) {
            self.has_changed.notify_one();
        }
    }
}

/// The connections end with it.
pub struct Line {
    peer: Arc<Peer>,
    connections: Mutex<JoinSet<()>>,
}

/// The server, as its connections know it.
struct Peer {
    common: Arc<Common>,
    server: Server,
    /// Connections that were made.
    connections: AtomicU64,
    queued: AtomicUsize,
    breaker: Breaker,
    /// Why it does not answer, as the log was told last.
    trouble: Mutex<String>,
    /// It did not answer, or not in time.
    failures: Counter,
    counted: Mutex<Counted>,
}

struct Request {
    bytes: Vec<u8>,
    /// It has a meaning on this connection alone.
    connection: Option<u64>,
    wants: Wants,
    then: Then,
    /// At the latest.
    sends_at: Instant,
}

/// What becomes of the answer.
pub enum Then {
    Told(oneshot::Sender<(Reply, Via)>),
    Inserted,
    Nothing,
}

/// The connection that an answer came by.
#[derive(Clone, Copy)]
pub struct Via {
    pub connection: u64,
    /// None if the store does not tell.
    pub process: Option<Process>,
}

type Requests = mpsc::UnboundedReceiver<Request>;
/// Requests without an answer, and until when it has to come.
type Due = VecDeque<(Wants, Then, Instant)>;

impl Line {
    pub fn new(common: &Arc<Common>, server: Server) -> Arc<Line> {
        let peer = Peer {
            common: common.clone(),
            server,
            connections: AtomicU64::new(0),
            queued: AtomicUsize::new(0),
            breaker: Breaker::default(),
            trouble: Mutex::default(),
            failures: Counter::default(),
            counted: Mutex::default(),
        };
        Arc::new(Line { peer: Arc::new(peer), connections: Mutex::default() })
    }

    pub fn common(&self) -> &Common {
        &self.peer.common
    }

    pub fn server(&self) -> &Server {
        &self.peer.server
    }

    pub fn answers(&self) -> bool {
        self.peer.breaker.is_closed()
    }

    pub fn may_ask(&self, now: u64) -> bool {
        self.peer.breaker.may_ask(now)
    }

    /// Why it does not answer; none if it does.
    pub fn trouble(&self) -> Option<String> {
        let trouble = self.peer.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        (!self.answers()).then(|| trouble.clone())
    }

    pub fn failures(&self) -> usize {
        self.peer.failures.get()
    }

    /// What it had when it was last asked.
    pub fn counted(&self) -> Counted {
        *self.peer.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn count(&self) {
        if !self.may_ask(clock::now()) {
            return;
        }
        if let Some((Reply::Counted(counted), _)) = self.ask(self.common().dialect.count(), Wants::Counts).await {
            *self.peer.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        }
    }

    /// None if the server does not answer in time.
    pub async fn ask(&self, bytes: Vec<u8>, wants: Wants) -> Option<(Reply, Via)> {
        let (sender, answer) = oneshot::channel();
        self.queue(bytes, None, wants, Then::Told(sender));
        answer.await.ok()
    }

    /// `connection`: unless this one has ended, or is another thread's.
    pub fn send(&self, bytes: Vec<u8>, connection: Option<u64>, then: Then) {
        if self.answers() {
            self.queue(bytes, connection, Wants::Outcome, then);
        }
    }

    fn queue(&self, bytes: Vec<u8>, connection: Option<u64>, wants: Wants, then: Then) {
        let (length, queued) = (bytes.len(), &self.peer.queued);
        let patience = if matches!(then, Then::Told(_)) { Duration::ZERO } else { PATIENCE };
        let sends_at = Instant::now() + patience;
        let request = Request { bytes, connection, wants, then, sends_at };
        if queued.fetch_add(length, Ordering::Relaxed) + length > MOST_QUEUED || !self.pass_on(request) {
            queued.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// To this thread's connection. False if there is none any more.
    fn pass_on(&self, request: Request) -> bool {
        REQUESTS.with_borrow_mut(|all| {
            let peer = Arc::as_ptr(&self.peer);
            if let Some(sender) = all.get(&peer).filter(|sender| !sender.is_closed()) {
                return sender.send(request).is_ok();
            }
            let (sender, requests) = mpsc::unbounded_channel();
            let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
            connections.spawn(run(self.peer.clone(), requests));
            all.retain(|_, sender| !sender.is_closed());
            let is_passed = sender.send(request).is_ok();
            all.insert(peer, sender);
            is_passed
        })
    }
}

impl Peer {
    fn failed(&self, error: &io::Error) {
        let why = tls::trouble(error);
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        self.failures.add(1);
        self.common.may_have_changed();
        self.breaker.open(clock::now());
        if *trouble != why {
            say!("the store {} does not answer, and is tried once a second: {why}", self.server);
            *trouble = why;
        }
    }

    fn answered(&self, reply: Reply, then: Then, via: Via) {
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
        match then {
            // Nobody waits for what came too late.
            Then::Told(sender) => drop(sender.send((reply, via))),
            Then::Inserted => self.common.inserts.add(usize::from(reply == Reply::Done)),
            Then::Nothing => {}
        }
    }

    /// It is not queued any more.
    fn forget(&self, request: &Request) {
        self.queued.fetch_sub(request.bytes.len(), Ordering::Relaxed);
    }
}

/// Connects whenever something is asked, for as long as the connection lasts.
async fn run(peer: Arc<Peer>, mut requests: Requests) {
    while let Some(first) = requests.recv().await {
        peer.forget(&first);
        if let Err(error) = talk(&peer, first, &mut requests).await {
            peer.failed(&error);
            while let Ok(request) = requests.try_recv() {
                peer.forget(&request);
            }
        }
    }
}

async fn talk(peer: &Peer, first: Request, requests: &mut Requests) -> io::Result<()> {
    let (mut stream, first) = begin(peer, first, requests).await?;
    let connection = peer.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let via = Via { connection, process: None };
    let mut talk =
        Talk { peer, via, out: Vec::new(), sends_at: None, due: Due::new(), heard: Vec::new(), has_heard: false };
    let since = first.as_ref().map_or_else(Instant::now, |first| first.sends_at);
    for (bytes, wants) in &peer.common.greeting {
        talk.push(bytes, *wants, Then::Nothing, since);
    }
    first.into_iter().for_each(|first| talk.take(first));
    let mut alarm = pin!(sleep_until(Instant::now() + peer.common.timeout));
    let ended = poll_fn(|context| talk.poll(context, &mut stream, requests, alarm.as_mut())).await;
    ended.map_err(|error| if talk.has_heard { error } else { tls::unanswered(error, peer.common.tls.is_some()) })
}

/// The first request is given up if TLS has taken half of its time; nobody else waits for it meanwhile. A server to which many come at once
/// begins with each of them in the end, which it would not if all of them came again and again.
async fn begin(peer: &Peer, first: Request, requests: &mut Requests) -> io::Result<(Stream, Option<Request>)> {
    let limit = peer.common.timeout;
    let stream = timeout(limit, connect(&peer.server)).await??;
    let Some(tls) = &peer.common.tls else { return Ok((stream, Some(first))) };
    let mut beginning = pin!(tls.begin(stream, peer.server.host()));
    if let Ok(stream) = timeout_at(first.sends_at + limit / 2, &mut beginning).await {
        return Ok((stream?, Some(first)));
    }
    peer.failed(&tls::late());
    drop(first);
    loop {
        tokio::select! {
            stream = &mut beginning => return Ok((stream?, None)),
            Some(request) = requests.recv() => peer.forget(&request),
        }
    }
}

fn is_eof(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
}

/// One connection.
struct Talk<'a> {
    peer: &'a Peer,
    via: Via,
    /// What goes out.
    out: Vec<u8>,
    /// When it does; none if there is nothing.
    sends_at: Option<Instant>,
    due: Due,
    /// Of the first answer that is due.
    heard: Vec<u8>,
    has_heard: bool,
}

impl Talk<'_> {
    /// Until one side has nothing more to say.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut Stream,
        requests: &mut Requests,
        mut alarm: Pin<&mut Sleep>,
    ) -> Poll<io::Result<()>> {
        // What has come is in time, however late it is looked at.
        if self.poll_heard(context, stream)?.is_ready() {
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
            // To be woken in vain, at most once in this time, costs less than a timer for each request: one that is set to an earlier time
            // than all others wakes its own thread by a call of the kernel.
            if alarm.is_elapsed() || alarm.deadline() > next {
                alarm.as_mut().reset(next.min(now + PATIENCE));
            }
            ready!(alarm.as_mut().poll(context));
        }
    }

    fn is_full(&self) -> bool {
        self.out.len() >= PIECE
    }

    /// Ready if nobody asks any more.
    fn poll_taken(&mut self, context: &mut Context<'_>, requests: &mut Requests) -> Poll<()> {
        while !self.is_full() {
            match ready!(requests.poll_recv(context)) {
                Some(request) => {
                    self.peer.forget(&request);
                    self.take(request);
                }
                None => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    fn take(&mut self, request: Request) {
        let is_here = request.connection.is_none_or(|connection| connection == self.via.connection);
        let is_awaited = !matches!(&request.then, Then::Told(sender) if sender.is_closed());
        if is_here && is_awaited {
            self.push(&request.bytes, request.wants, request.then, request.sends_at);
        }
    }

    fn push(&mut self, bytes: &[u8], wants: Wants, then: Then, sends_at: Instant) {
        self.sends_at = self.sends_at.into_iter().chain([sends_at]).min();
        self.out.extend_from_slice(bytes);
        self.due.push_back((wants, then, sends_at + self.peer.common.timeout));
    }

    /// If it is time.
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
        // What TLS has taken may wait in there.
        match Pin::new(stream).poll_flush(context) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => Ok(()),
        }
    }

    /// Ready if the store has gone, and owes nothing.
    fn poll_heard(&mut self, context: &mut Context<'_>, stream: &mut Stream) -> Poll<io::Result<()>> {
        loop {
            let count = READ.with_borrow_mut(|buffer| {
                let mut read = ReadBuf::new(buffer);
                ready!(Pin::new(&mut *stream).poll_read(context, &mut read))?;
                self.heard.extend_from_slice(read.filled());
                Poll::Ready(io::Result::Ok(read.filled().len()))
            });
            // Whoever is killed does not end TLS first.
            let count = ready!(count).or_else(|error| if is_eof(&error) { Ok(0) } else { Err(error) });
            match count? {
                0 if self.due.is_empty() => return Poll::Ready(Ok(())),
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                _ => self.hear()?,
            }
        }
    }

    fn hear(&mut self) -> io::Result<()> {
        self.has_heard = true;
        let mut taken = 0;
        while taken < self.heard.len() {
            let Some((wants, ..)) = self.due.front() else { return Err(io::Error::other("it says what nobody asked")) };
            let parsed = self.peer.common.dialect.parse(&self.heard[taken..], *wants);
            let Some((reply, length)) = parsed.map_err(|Unfit(why)| io::Error::other(why))? else { break };
            taken += length;
            let then = self.due.pop_front().map_or(Then::Nothing, |(_, then, _)| then);
            if let Reply::About(about) = &reply {
                self.learn(about);
            }
            self.peer.answered(reply, then, self.via);
        }
        self.heard.drain(..taken);
        Ok(())
    }

    fn learn(&mut self, about: &About) {
        self.via.process = Some(about.process);
        self.peer.common.is_cluster.fetch_or(about.is_of_cluster, Ordering::Relaxed);
        self.peer.common.may_have_changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a server that is away for hours would not be asked any more.
    #[tokio::test]
    async fn what_could_not_be_sent_is_not_queued_for_ever() {
        let nobody = Server::Unix("/nowhere/socket".into());
        let options = Options {
            dialect: Dialect::Valkey,
            servers: Vec::new(),
            timeout: Duration::from_secs(1),
            name: String::new(),
            user: String::new(),
            password: String::new(),
            tls: None,
        };
        let line = Line::new(&Arc::new(Common::new(&options)), nobody);
        for _ in 0..3 {
            assert!(line.ask(line.common().dialect.count(), Wants::Counts).await.is_none());
        }
        assert_eq!((line.failures(), line.peer.queued.load(Ordering::Relaxed)), (3, 0));
        assert!(line.trouble().is_some_and(|why| why.contains("No such file")));
    }
}
