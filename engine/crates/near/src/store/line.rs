//! The connection to one server of a store, which all reads share: requests go out one after the other, and answers come in this order.

use super::breaker::Breaker;
use super::dialect::Dialect;
use super::reply::{About, Counted, Process, Reply, Unfit, Wants};
use crate::clock;
use crate::counter::Counter;
use crate::server::Server;
use crate::stream::{Stream, connect};
use locks::Mutex;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

/// Of requests that were not sent yet. A store that is too slow for more gets no more.
const MOST_QUEUED: usize = 4 << 20;
/// Sent together.
const PIECE: usize = 64 << 10;

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
    requests: mpsc::UnboundedSender<Request>,
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
    pub fn begin(common: &Arc<Common>, server: Server) -> (Arc<Line>, JoinHandle<()>) {
        let (sender, requests) = mpsc::unbounded_channel();
        let line = Arc::new(Line {
            common: common.clone(),
            server,
            requests: sender,
            queued: AtomicUsize::new(0),
            breaker: Breaker::default(),
            failures: Counter::default(),
            counted: Mutex::default(),
        });
        let task = tokio::spawn(run(line.clone(), requests));
        (line, task)
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

    pub async fn count(&self) {
        if !self.breaker.may_ask(clock::now()) {
            return;
        }
        if let Some((Reply::Counted(counted), _)) = self.ask(self.common.dialect.count(), Wants::Counts).await {
            *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        }
    }

    /// None if the server does not answer.
    pub async fn ask(&self, bytes: Vec<u8>, wants: Wants) -> Option<(Reply, Via)> {
        let (sender, answer) = oneshot::channel();
        self.queue(Request { bytes, connection: None, wants, then: Then::Told(sender) });
        answer.await.ok()
    }

    /// `connection`: unless this one has ended.
    pub fn send(&self, bytes: Vec<u8>, connection: Option<u64>, then: Then) {
        if self.breaker.is_closed() {
            self.queue(Request { bytes, connection, wants: Wants::Outcome, then });
        }
    }

    fn queue(&self, request: Request) {
        let length = request.bytes.len();
        if self.queued.fetch_add(length, Ordering::Relaxed) + length > MOST_QUEUED
            || self.requests.send(request).is_err()
        {
            self.queued.fetch_sub(length, Ordering::Relaxed);
        }
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
    let mut connection = 0;
    while let Some(first) = requests.recv().await {
        connection += 1;
        if let Err(error) = talk(&line, connection, first, &mut requests).await {
            line.failed(&error);
            while let Ok(request) = requests.try_recv() {
                line.queued.fetch_sub(request.bytes.len(), Ordering::Relaxed);
            }
        }
    }
}

async fn talk(
    line: &Line,
    connection: u64,
    first: Request,
    requests: &mut mpsc::UnboundedReceiver<Request>,
) -> io::Result<()> {
    let via = Via { connection, process: None };
    let mut out = Out { line, via, bytes: Vec::new(), due: Due::new() };
    line.common.greeting.iter().for_each(|(bytes, wants)| out.push(bytes, *wants, Then::Nothing));
    out.take(first);
    let stream: Stream = timeout(line.common.timeout, connect(&line.server)).await??;
    let (mut input, mut output) = tokio::io::split(stream);
    let mut read = Vec::with_capacity(PIECE);
    loop {
        let limit = out.due.front().map(|(.., limit)| *limit);
        tokio::select! {
            request = requests.recv(), if out.bytes.len() < PIECE => match request {
                Some(request) => out.take(request),
                None => return Ok(()),
            },
            written = output.write(&out.bytes), if !out.bytes.is_empty() => {
                out.bytes.drain(..written?);
                output.flush().await?;
            }
            count = input.read_buf(&mut read) => match count? {
                // Who has nothing to say may go.
                0 if out.due.is_empty() => return Ok(()),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => out.hear(&mut read)?,
            },
            () = sleep_until(limit.unwrap_or_else(Instant::now)), if limit.is_some() => {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// What goes out on one connection, and what is due for it.
struct Out<'a> {
    line: &'a Line,
    via: Via,
    bytes: Vec<u8>,
    due: Due,
}

impl Out<'_> {
    fn take(&mut self, request: Request) {
        self.line.queued.fetch_sub(request.bytes.len(), Ordering::Relaxed);
        let is_here = request.connection.is_none_or(|connection| connection == self.via.connection);
        let is_awaited = !matches!(&request.then, Then::Told(sender) if sender.is_closed());
        if is_here && is_awaited {
            self.push(&request.bytes, request.wants, request.then);
        }
    }

    fn push(&mut self, bytes: &[u8], wants: Wants, then: Then) {
        self.bytes.extend_from_slice(bytes);
        self.due.push_back((wants, then, Instant::now() + self.line.common.timeout));
    }

    fn hear(&mut self, read: &mut Vec<u8>) -> io::Result<()> {
        let mut taken = 0;
        let parse = |bytes: &[u8], wants| {
            self.line.common.dialect.parse(bytes, wants).map_err(|Unfit(why)| io::Error::other(why))
        };
        while taken < read.len() {
            let Some((wants, ..)) = self.due.front() else { return Err(io::Error::other("it says what nobody asked")) };
            let Some((reply, length)) = parse(&read[taken..], *wants)? else { break };
            taken += length;
            let then = self.due.pop_front().map_or(Then::Nothing, |(_, then, _)| then);
            if let Reply::About(about) = &reply {
                self.learn(about);
            }
            self.line.answered(reply, then, self.via);
        }
        read.drain(..taken);
        Ok(())
    }

    fn learn(&mut self, about: &About) {
        self.via.process = Some(about.process);
        self.line.common.is_cluster.fetch_or(about.is_of_cluster, Ordering::Relaxed);
        self.line.common.may_have_changed();
    }
}
