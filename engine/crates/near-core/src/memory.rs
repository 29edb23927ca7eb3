//! The state that all connections share: stored results, settings, and the connections that the feed reports on.

use crate::leased::{LeasedConnection, lock};
use crate::obstacle::Obstacle;
use crate::published::LEASE_NS;
use crate::reason::Reasons;
use crate::results::Results;
use crate::rules::Rules;
use crate::wake_flag::WakeFlag;
use feed::{Attachment, CommandReport, FeedBroken, Frame, FromNear, NearEvent, ToNear};
use locks::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The settings that an operator may change while the program runs.
#[derive(Default)]
pub struct Settings {
    /// The rules that allow serving stale results. None if results are served by leases or by the binary log.
    pub rules: Option<Arc<Rules>>,
    /// True if reads in transactions are served by the binary log, too.
    pub in_transactions: bool,
    /// True if nothing is served, and the program only counts what it could have served.
    pub observes: bool,
    /// The number of changes of settings so far, which identifies these settings.
    pub number: u64,
}

/// The state that all connections of one near cache share.
pub struct Memory {
    pub results: Arc<Results>,
    /// True while the near cache is attached to the server's feed.
    is_attached: AtomicBool,
    /// The connections that are served by leases, by their number on the server.
    connections: Mutex<HashMap<u32, Arc<Mutex<LeasedConnection>>>>,
    /// Messages to be sent to the server on the feed.
    outgoing: Mutex<Vec<FromNear>>,
    /// Rings when there are messages to be taken with [`take_outgoing`](Self::take_outgoing).
    pub has_outgoing: WakeFlag,
    /// The reason why the server's cache reports no results, as it said on the feed; empty if there is none.
    server_obstacle: Mutex<String>,
    /// The reason why nothing is served, for metrics and reports.
    pub obstacle: Obstacle,
    /// Reasons why reads were not answered from memory, by rules or by the binary log.
    pub reasons: Reasons,
    settings: RwLock<Arc<Settings>>,
}

impl Memory {
    /// Creates an empty memory without rules and without an attachment. `size` is the memory in bytes for stored
    /// results and unfinished answers together.
    pub fn new(size: u64) -> Memory {
        Memory::with_results(Results::new(size))
    }

    /// Creates a memory around these results, without rules and without an attachment.
    pub fn with_results(results: Results) -> Memory {
        Memory {
            results: Arc::new(results),
            is_attached: AtomicBool::new(false),
            connections: Mutex::default(),
            outgoing: Mutex::default(),
            has_outgoing: WakeFlag::default(),
            server_obstacle: Mutex::default(),
            obstacle: Obstacle::default(),
            reasons: Reasons::default(),
            settings: RwLock::default(),
        }
    }

    /// Returns the present settings. They do not change in this copy.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the settings. `number` is set here. Other processes stop serving by the former rules at once.
    pub fn change_settings(&self, settings: Settings) {
        self.results.uses.observed.set_on(settings.observes);
        self.obstacle.set_observing(settings.observes);
        let mut present = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        *present = Arc::new(Settings { number: present.number + 1, ..settings });
        // Other processes must not serve by the former rules.
        self.results.published.iter().for_each(|published| published.leave_rules());
    }

    /// Lets other processes serve results by the present rules for the next three seconds. Must be called every second. `now` is
    /// the time in nanoseconds. Does nothing without rules.
    pub fn grant_by_rules(&self, now: u64) {
        let (settings, until) = (self.settings(), now.saturating_add(LEASE_NS));
        if let (Some(published), true) = (&self.results.published, settings.rules.is_some()) {
            published.follow_rules(settings.number, until);
        }
    }

    /// Returns true if the feed is attached. This is only a hint whether answers are worth storing: a lookup checks the
    /// attachment itself.
    pub fn is_attached(&self) -> bool {
        self.is_attached.load(Ordering::Relaxed)
    }

    /// Notes in [`obstacle`](Self::obstacle) that the feed is attached, and whether the server's cache reports results.
    pub fn note_attached(&self) {
        let server = self.server_obstacle().clone();
        self.obstacle.note_attached(&server);
    }

    fn server_obstacle(&self) -> MutexGuard<'_, String> {
        self.server_obstacle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u32, Arc<Mutex<LeasedConnection>>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outgoing(&self) -> MutexGuard<'_, Vec<FromNear>> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection that is served by leases, by its number on the server. From then on the server reports on it, and these
    /// reports reach `leased`.
    pub fn register(&self, number: u32, leased: &Arc<Mutex<LeasedConnection>>) {
        let mark = lock(leased).mark();
        // The mark is sent under this lock, so that the connection is marked either here or at the next attachment.
        let mut connections = self.connections();
        connections.insert(number, leased.clone());
        self.send(mark);
    }

    /// Removes a connection, and lets the server stop reporting on it. Does nothing if its number belongs to another connection
    /// by now.
    pub fn unregister(&self, number: u32, leased: &Arc<Mutex<LeasedConnection>>) {
        let mut connections = self.connections();
        // A connection to another server may have the same number.
        if connections.get(&number).is_some_and(|one| Arc::ptr_eq(one, leased)) {
            connections.remove(&number);
            self.send(FromNear::Unmark { connection: number });
        }
    }

    /// Sends a message on the feed. Without an attachment it is dropped.
    fn send(&self, message: FromNear) {
        if self.is_attached() {
            self.outgoing().push(message);
            self.has_outgoing.set();
        }
    }

    /// Takes the messages that are to be sent to the server on the feed, in this order.
    pub fn take_outgoing(&self) -> Vec<FromNear> {
        std::mem::take(&mut self.outgoing())
    }

    /// Applies a frame of the feed. When this returns, no thread can serve what the frame invalidates. Returns the
    /// acknowledgement to send then; none if the frame announces no write, since the server then waits for none. After an error
    /// the feed must be ended with [`detach`](Self::detach).
    pub fn receive(&self, frame: Frame) -> Result<Option<FromNear>, FeedBroken> {
        let closes = frame.messages.iter().any(|message| matches!(message, ToNear::Closed { .. }));
        let (heard, attachment, acknowledgement) = self.results.apply(frame)?;
        for one in heard {
            match one {
                NearEvent::Attached(_) => self.begin(),
                NearEvent::Report(report) => self.pass_report(report, attachment),
                NearEvent::Obstacle(why) => *self.server_obstacle() = why,
            }
        }
        Ok(closes.then_some(acknowledgement))
    }

    /// Starts a new attachment: drops all results, and asks the server for reports on all connections.
    fn begin(&self) {
        self.results.clear();
        self.server_obstacle().clear();
        let connections = self.connections();
        let marks = connections.values().map(|leased| lock(leased).mark());
        *self.outgoing() = marks.collect();
        self.is_attached.store(true, Ordering::Relaxed);
        self.has_outgoing.set();
    }

    /// Passes a report to its connection; it is ignored if the connection is gone.
    fn pass_report(&self, report: CommandReport, attachment: Attachment) {
        let leased = self.connections().get(&report.connection).cloned();
        if let Some(leased) = leased {
            lock(&leased).receive_report(&self.results, report, attachment);
        }
    }

    /// Ends the attachment to the feed: from here on nothing is served by leases, and messages that were not sent are dropped.
    pub fn detach(&self) {
        self.results.detach();
        let connections = self.connections();
        self.is_attached.store(false, Ordering::Relaxed);
        self.outgoing().clear();
        connections.values().for_each(|leased| lock(leased).forget());
    }
}
