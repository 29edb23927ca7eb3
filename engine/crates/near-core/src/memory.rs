//! The part that all connections share: what is kept, and who has to hear of it.

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
    /// With the server's log, reads in transactions are served, too.
    pub in_transactions: bool,
    /// Nothing is served: what would be is counted.
    pub observes: bool,
    /// Counts the changes of settings.
    pub number: u64,
}

pub struct Memory {
    pub results: Arc<Results>,
    is_attached: AtomicBool,
    /// Connections by their number on the server.
    connections: Mutex<HashMap<u32, Arc<Mutex<Leased>>>>,
    /// To be said to the server.
    to_say: Mutex<Vec<FromNear>>,
    pub has_to_say: Bell,
    /// Why nothing is served.
    pub obstacle: Obstacle,
    /// Why reads were not answered from memory, by rules or with the server's log.
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
        // What other processes have is by the rules of before.
        self.results.published.iter().for_each(|published| published.leave_rules());
    }

    /// Other processes may serve results by the present rules for a while. Must be called again and again.
    pub fn lend_by_rules(&self, now: u64) {
        let (settings, until) = (self.settings(), now.saturating_add(LENT_NS));
        if let (Some(published), true) = (&self.results.published, settings.rules.is_some()) {
            published.follow_rules(settings.number, until);
        }
    }

    /// Relaxed: a hint, whether it is of use to note answers.
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
        // Under this lock, so that it is marked here or at the next attachment.
        let mut connections = self.connections();
        connections.insert(number, leased.clone());
        self.say(mark);
    }

    pub fn leave(&self, number: u32, leased: &Arc<Mutex<Leased>>) {
        let mut connections = self.connections();
        // Another server's connection may have had the same number.
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

    /// A frame of the feed. When this returns, no thread can serve what it has closed; what is to be acknowledged then.
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

    /// The feed is over: from here on nothing is served.
    pub fn lose(&self) {
        self.results.lose();
        let connections = self.connections();
        self.is_attached.store(false, Ordering::Relaxed);
        self.to_say().clear();
        connections.values().for_each(|leased| lock(leased).forget());
    }
}
