//! The part that all connections share: what is kept, and who has to hear of it.

use crate::kept::{Attachment, Kept};
use crate::obstacle::Obstacle;
use crate::own::{Own, lock};
use crate::reason::Reasons;
use feed::{Frame, FromNear, Heard, Lost, ToNear, Told};
use locks::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use tokio::sync::Notify;

pub struct Memory {
    pub kept: Arc<Kept>,
    is_attached: AtomicBool,
    /// Connections by their number on the server.
    seats: Mutex<HashMap<u32, Arc<Mutex<Own>>>>,
    /// To be said to the server.
    to_say: Mutex<Vec<FromNear>>,
    pub has_to_say: Notify,
    /// Why nothing is served.
    pub obstacle: Obstacle,
    /// Why reads were not answered from memory, by rules or with the server's log.
    pub reasons: Reasons,
}

impl Memory {
    pub fn new(size: u64) -> Memory {
        Memory {
            kept: Arc::new(Kept::new(size)),
            is_attached: AtomicBool::new(false),
            seats: Mutex::default(),
            to_say: Mutex::default(),
            has_to_say: Notify::new(),
            obstacle: Obstacle::new(),
            reasons: Reasons::default(),
        }
    }

    /// Relaxed: a hint, whether it is of use to note answers.
    pub fn is_attached(&self) -> bool {
        self.is_attached.load(Ordering::Relaxed)
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<u32, Arc<Mutex<Own>>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_say(&self) -> MutexGuard<'_, Vec<FromNear>> {
        self.to_say.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn enter(&self, number: u32, own: &Arc<Mutex<Own>>) {
        let mark = lock(own).mark();
        // Under this lock, so that it is marked here or at the next attachment.
        let mut seats = self.seats();
        seats.insert(number, own.clone());
        self.say(mark);
    }

    pub fn leave(&self, number: u32, own: &Arc<Mutex<Own>>) {
        let mut seats = self.seats();
        // Another server's connection may have had the same number.
        if seats.get(&number).is_some_and(|seat| Arc::ptr_eq(seat, own)) {
            seats.remove(&number);
            self.say(FromNear::Unmark { connection: number });
        }
    }

    fn say(&self, message: FromNear) {
        if self.is_attached() {
            self.to_say().push(message);
            self.has_to_say.notify_one();
        }
    }

    pub fn take_to_say(&self) -> Vec<FromNear> {
        std::mem::take(&mut self.to_say())
    }

    /// A frame of the feed. When this returns, no thread can serve what it has closed; what is to be acknowledged then.
    pub fn hear(&self, frame: Frame) -> Result<Option<FromNear>, Lost> {
        let closes = frame.messages.iter().any(|message| matches!(message, ToNear::Closed { .. }));
        let (heard, attachment, acknowledgement) = self.kept.apply(frame)?;
        for one in heard {
            match one {
                Heard::Attached(_) => self.begin(),
                Heard::Told(told) => self.hear_told(told, attachment),
            }
        }
        Ok(closes.then_some(acknowledgement))
    }

    fn begin(&self) {
        self.kept.clear();
        let seats = self.seats();
        let marks = seats.values().map(|own| lock(own).mark());
        *self.to_say() = marks.collect();
        self.is_attached.store(true, Ordering::Relaxed);
        self.has_to_say.notify_one();
    }

    fn hear_told(&self, told: Told, attachment: Attachment) {
        let own = self.seats().get(&told.connection).cloned();
        if let Some(own) = own {
            lock(&own).hear(&self.kept, told, attachment);
        }
    }

    /// The feed is over: from here on nothing is served.
    pub fn lose(&self) {
        self.kept.lose();
        let seats = self.seats();
        self.is_attached.store(false, Ordering::Relaxed);
        self.to_say().clear();
        seats.values().for_each(|own| lock(own).forget());
    }
}
