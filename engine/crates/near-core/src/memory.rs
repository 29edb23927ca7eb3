//! The state that all connections share: stored results, settings, and the connections that the feed reports on.

use crate::bell::Bell;
use crate::leased::{Leased, lock};
use crate::obstacle::Obstacle;
use crate::published::LENT_NS;
use crate::reason::Reasons;
use crate::results::Results;
use crate::rules::Rules;
use feed::{Attachment, CommandReport, Frame, FromNear, Heard, Lost, ToNear};
use locks::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The settings that an operator may change while the program runs.
#[derive(Default)]
pub struct Settings {
    pub rules: Option<Arc<Rules>>,
    /// True if reads in transactions are served by the binary log, too.
    pub in_transactions: bool,
    /// True if nothing is served, and hits are only counted.
    pub observes: bool,
    /// The number of changes of settings so far.
    pub number: u64,
}

pub struct Memory {
    pub results: Arc<Results>,
    is_attached: AtomicBool,
    /// The connections, by their number on the server.
    connections: Mutex<HashMap<u32, Arc<Mutex<Leased>>>>,
    /// Messages to be sent to the server on the feed.
    to_say: Mutex<Vec<FromNear>>,
    pub has_to_say: Bell,
    /// The reason why nothing is served.
    pub obstacle: Obstacle,
    /// Reasons why reads were not answered from memory, by rules or by the binary log.
    pub reasons: Reasons,
    settings: RwLock<Arc<Settings>>,
}

impl Memory {
    pub fn new(size: u64) -> Memory {
        Memory::of(Results::new(size))
    }

    pub fn of(results: Results) -> Memory {
        Memory {
            results: Arc::new(results),
            is_attached: AtomicBool::new(false),
            connections: Mutex::default(),
            to_say: Mutex::default(),
            has_to_say: Bell::default(),
            obstacle: Obstacle::default(),
            reasons: Reasons::default(),
            settings: RwLock::default(),
        }
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn change_settings(&self, settings: Settings) {
        self.results.uses.observed.turn(settings.observes);
        self.obstacle.observe(settings.observes);
        let mut present = self.settings.write().unwrap_or_else(PoisonError::into_inner);
        *present = Arc::new(Settings { number: present.number + 1, ..settings });
        // Other processes must not serve by the former rules.
        self.results.published.iter().for_each(|published| published.leave_rules());
    }

    /// Lets other processes serve results by the present rules for a short time. Must be called repeatedly.
    pub fn lend_by_rules(&self, now: u64) {
        let (settings, until) = (self.settings(), now.saturating_add(LENT_NS));
        if let (Some(published), true) = (&self.results.published, settings.rules.is_some()) {
            published.follow_rules(settings.number, until);
        }
    }

    /// Returns true if the feed is attached. The order is relaxed: this is only a hint whether answers are worth storing.
    pub fn is_attached(&self) -> bool {
        self.is_attached.load(Ordering::Relaxed)
    }

    fn connections(&self) -> MutexGuard<'_, HashMap<u32, Arc<Mutex<Leased>>>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_say(&self) -> MutexGuard<'_, Vec<FromNear>> {
        self.to_say.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self, number: u32, leased: &Arc<Mutex<Leased>>) {
        let mark = lock(leased).mark();
        // The mark is sent under this lock, so that the connection is marked either here or at the next attachment.
        let mut connections = self.connections();
        connections.insert(number, leased.clone());
        self.say(mark);
    }

    pub fn leave(&self, number: u32, leased: &Arc<Mutex<Leased>>) {
        let mut connections = self.connections();
        // A connection to another server may have the same number.
        if connections.get(&number).is_some_and(|one| Arc::ptr_eq(one, leased)) {
            connections.remove(&number);
            self.say(FromNear::Unmark { connection: number });
        }
    }

    fn say(&self, message: FromNear) {
        if self.is_attached() {
            self.to_say().push(message);
            self.has_to_say.ring();
        }
    }

    pub fn take_to_say(&self) -> Vec<FromNear> {
        std::mem::take(&mut self.to_say())
    }

    /// Applies a frame of the feed. When this returns, no thread can serve what the frame has closed. Returns the acknowledgement
    /// to send then, if the frame closes anything.
    pub fn hear(&self, frame: Frame) -> Result<Option<FromNear>, Lost> {
        let closes = frame.messages.iter().any(|message| matches!(message, ToNear::Closed { .. }));
        let (heard, attachment, acknowledgement) = self.results.apply(frame)?;
        for one in heard {
            match one {
                Heard::Attached(_) => self.begin(),
                Heard::Report(report) => self.hear_report(report, attachment),
            }
        }
        Ok(closes.then_some(acknowledgement))
    }

    fn begin(&self) {
        self.results.clear();
        let connections = self.connections();
        let marks = connections.values().map(|leased| lock(leased).mark());
        *self.to_say() = marks.collect();
        self.is_attached.store(true, Ordering::Relaxed);
        self.has_to_say.ring();
    }

    fn hear_report(&self, report: CommandReport, attachment: Attachment) {
        let leased = self.connections().get(&report.connection).cloned();
        if let Some(leased) = leased {
            lock(&leased).hear(&self.results, report, attachment);
        }
    }

    /// Ends the use of the feed: from here on nothing is served.
    pub fn lose(&self) {
        self.results.lose();
        let connections = self.connections();
        self.is_attached.store(false, Ordering::Relaxed);
        self.to_say().clear();
        connections.values().for_each(|leased| lock(leased).forget());
    }
}
