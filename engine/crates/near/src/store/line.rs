//! The connections to one server of a store: one for each thread, which all reads on it share. Requests go out one after the other, and
//! answers come in this order. So nobody who asks has to wake another thread.

use super::breaker::Breaker;
use super::dialect::Dialect;
use super::reply::{About, Counted, Process, Reply, Unfit, Wants};
use crate::clock;
use crate::counter::Counter;
use crate::server::Server;
use crate::stream::{Stream, connect};
use locks::Mutex;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// Of requests that were not sent yet. A store that is too slow for more gets no more.
const MOST_QUEUED: usize = 4 << 20;
/// Sent together, or read.
const PIECE: usize = 64 << 10;
/// What nobody waits for goes out with the next request that somebody does, or when it has waited for so long.
const PATIENCE: Duration = Duration::from_millis(1);

thread_local! {
    /// Those of this thread, by the address of their line, which is that of no other while they can be sent to.
    static REQUESTS: RefCell<HashMap<*const Line, mpsc::UnboundedSender<Request>>> = RefCell::default();
    static READ: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// What the lines to all servers of a store have in common.
pub struct Common {
    pub dialect: Dialect,
    /// What begins a connection.
    greeting: Vec<(Vec<u8>, Wants)>,
    pub timeout: Duration,
    /// Values that were taken.
    pub inserts: Counter,
    is_cluster: AtomicBool,
    /// Who has what in the cluster may be another one than is known.
    pub has_changed: Notify,
}

impl Common {
    pub fn new(dialect: Dialect, password: &str, timeout: Duration) -> Common {
        Common {
            dialect,
            greeting: dialect.greeting(password),
            timeout,
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

pub struct Line {
    common: Arc<Common>,
    server: Server,
    /// Those that talk to the server; none once that has ended.
    tasks: Mutex<Option<Vec<AbortHandle>>>,
    /// Connections that were made.
    connections: AtomicU64,
    queued: AtomicUsize,
    pub breaker: Breaker,
    /// It did not answer, or not in time.
    pub failures: Counter,
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

/// Requests without an answer, and until when it has to come.
type Due = VecDeque<(Wants, Then, Instant)>;

impl Line {
    pub fn new(common: &Arc<Common>, server: Server) -> Arc<Line> {
        Arc::new(Line {
            common: common.clone(),
            server,
            tasks: Mutex::new(Some(Vec::new())),
            connections: AtomicU64::new(0),
            queued: AtomicUsize::new(0),
            breaker: Breaker::default(),
            failures: Counter::default(),
            counted: Mutex::default(),
        })
    }

    /// Nobody talks to the server any more.
    pub fn end(&self) {
        self.tasks().take().into_iter().flatten().for_each(|task| task.abort());
    }

    fn tasks(&self) -> MutexGuard<'_, Option<Vec<AbortHandle>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn common(&self) -> &Common {
        &self.common
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What it had when it was last asked.
    pub fn counted(&self) -> Counted {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub async fn count(self: &Arc<Self>) {
        if !self.breaker.may_ask(clock::now()) {
            return;
        }
        if let Some((Reply::Counted(counted), _)) = self.ask(self.common.dialect.count(), Wants::Counts).await {
            *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        }
    }

    /// None if the server does not answer in time.
    pub async fn ask(self: &Arc<Self>, bytes: Vec<u8>, wants: Wants) -> Option<(Reply, Via)> {
        let (sender, answer) = oneshot::channel();
        self.queue(bytes, None, wants, Then::Told(sender));
        answer.await.ok()
    }

    /// `connection`: unless this one has ended, or is another thread's.
    pub fn send(self: &Arc<Self>, bytes: Vec<u8>, connection: Option<u64>, then: Then) {
        if self.breaker.is_closed() {
            self.queue(bytes, connection, Wants::Outcome, then);
        }
    }

    fn queue(self: &Arc<Self>, bytes: Vec<u8>, connection: Option<u64>, wants: Wants, then: Then) {
        let length = bytes.len();
        let patience = if matches!(then, Then::Told(_)) { Duration::ZERO } else { PATIENCE };
        let sends_at = Instant::now() + patience;
        let request = Request { bytes, connection, wants, then, sends_at };
        if self.queued.fetch_add(length, Ordering::Relaxed) + length > MOST_QUEUED || !self.pass_on(request) {
            self.queued.fetch_sub(length, Ordering::Relaxed);
        }
    }

    /// To this thread's connection. False if there is none any more.
    fn pass_on(self: &Arc<Self>, request: Request) -> bool {
        REQUESTS.with_borrow_mut(|all| {
            let of_line = Arc::as_ptr(self);
            if let Some(sender) = all.get(&of_line).filter(|sender| !sender.is_closed()) {
                return sender.send(request).is_ok();
            }
            let (sender, requests) = mpsc::unbounded_channel();
            let mut tasks = self.tasks();
            let Some(tasks) = tasks.as_mut() else { return false };
            tasks.push(tokio::spawn(run(self.clone(), requests)).abort_handle());
            all.retain(|_, sender| !sender.is_closed());
            let is_passed = sender.send(request).is_ok();
            all.insert(of_line, sender);
            is_passed
        })
    }

    fn failed(&self, error: &io::Error) {
        self.failures.add(1);
        self.common.may_have_changed();
        if self.breaker.open(clock::now()) {
            eprintln!("the store {} does not answer: {error}; it is tried once a second", self.server);
        }
    }

    fn answered(&self, reply: Reply, then: Then, via: Via) {
        if reply == Reply::Moved {
            self.common.may_have_changed();
        }
        if self.breaker.close() {
            eprintln!("the store {} answers", self.server);
        }
        match then {
            // Nobody waits for what came too late.
            Then::Told(sender) => drop(sender.send((reply, via))),
            Then::Inserted => self.common.inserts.add(usize::from(reply == Reply::Done)),
            Then::Nothing => {}
        }
    }
}

/// Connects whenever something is asked, for as long as the connection lasts.
async fn run(line: Arc<Line>, mut requests: mpsc::UnboundedReceiver<Request>) {
    while let Some(first) = requests.recv().await {
        if let Err(error) = talk(&line, first, &mut requests).await {
            line.failed(&error);
            while let Ok(request) = requests.try_recv() {
                line.queued.fetch_sub(request.bytes.len(), Ordering::Relaxed);
            }
        }
    }
}

async fn talk(line: &Line, first: Request, requests: &mut mpsc::UnboundedReceiver<Request>) -> io::Result<()> {
    let connection = line.connections.fetch_add(1, Ordering::Relaxed) + 1;
    let via = Via { connection, process: None };
    let mut talk = Talk { line, via, out: Vec::new(), sends_at: None, due: Due::new(), heard: Vec::new() };
    for (bytes, wants) in &line.common.greeting {
        talk.push(bytes, *wants, Then::Nothing, first.sends_at);
    }
    talk.take(first);
    let mut stream = timeout(line.common.timeout, connect(&line.server)).await??;
    let mut alarm = pin!(sleep_until(Instant::now() + line.common.timeout));
    poll_fn(|context| talk.poll(context, &mut stream, requests, alarm.as_mut())).await
}

/// One connection.
struct Talk<'a> {
    line: &'a Line,
    via: Via,
    /// What goes out.
    out: Vec<u8>,
    /// When it does; none if there is nothing.
    sends_at: Option<Instant>,
    due: Due,
    /// Of the first answer that is due.
    heard: Vec<u8>,
}

impl Talk<'_> {
    /// Until one side has nothing more to say.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        stream: &mut Stream,
        requests: &mut mpsc::UnboundedReceiver<Request>,
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
    fn poll_taken(&mut self, context: &mut Context<'_>, requests: &mut mpsc::UnboundedReceiver<Request>) -> Poll<()> {
        while !self.is_full() {
            match ready!(requests.poll_recv(context)) {
                Some(request) => self.take(request),
                None => return Poll::Ready(()),
            }
        }
        Poll::Pending
    }

    fn take(&mut self, request: Request) {
        self.line.queued.fetch_sub(request.bytes.len(), Ordering::Relaxed);
        let is_here = request.connection.is_none_or(|connection| connection == self.via.connection);
        let is_awaited = !matches!(&request.then, Then::Told(sender) if sender.is_closed());
        if is_here && is_awaited {
            self.push(&request.bytes, request.wants, request.then, request.sends_at);
        }
    }

    fn push(&mut self, bytes: &[u8], wants: Wants, then: Then, sends_at: Instant) {
        self.sends_at = self.sends_at.into_iter().chain([sends_at]).min();
        self.out.extend_from_slice(bytes);
        self.due.push_back((wants, then, sends_at + self.line.common.timeout));
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
        Ok(())
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
            match ready!(count)? {
                0 if self.due.is_empty() => return Poll::Ready(Ok(())),
                0 => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                _ => self.hear()?,
            }
        }
    }

    fn hear(&mut self) -> io::Result<()> {
        let mut taken = 0;
        while taken < self.heard.len() {
            let Some((wants, ..)) = self.due.front() else { return Err(io::Error::other("it says what nobody asked")) };
            let parsed = self.line.common.dialect.parse(&self.heard[taken..], *wants);
            let Some((reply, length)) = parsed.map_err(|Unfit(why)| io::Error::other(why))? else { break };
            taken += length;
            let then = self.due.pop_front().map_or(Then::Nothing, |(_, then, _)| then);
            if let Reply::About(about) = &reply {
                self.learn(about);
            }
            self.line.answered(reply, then, self.via);
        }
        self.heard.drain(..taken);
        Ok(())
    }

    fn learn(&mut self, about: &About) {
        self.via.process = Some(about.process);
        self.line.common.is_cluster.fetch_or(about.is_of_cluster, Ordering::Relaxed);
        self.line.common.may_have_changed();
    }
}
