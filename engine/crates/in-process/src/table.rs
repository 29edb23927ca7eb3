//! The connections by their descriptors.
//!
//! A descriptor that is not followed costs one look. Locks are held for a few instructions, never while the system is called, but for the
//! moment in which a login ends or the memory is asked for. A caller that cannot get a lock, such as a signal handler that has interrupted its holder, passes.

use crate::attached::Shared;
use crate::connection::Connection;
use crate::lock::Lock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

/// Descriptors beyond it pass.
const MOST: usize = 1 << 16;

struct Entry {
    is_followed: AtomicBool,
    /// An answer waits for the client to read it.
    has_answer: AtomicBool,
    connection: Lock<Option<Box<Connection<Shared>>>>,
}

static ENTRIES: [Entry; MOST] = [const {
    Entry { is_followed: AtomicBool::new(false), has_answer: AtomicBool::new(false), connection: Lock::new(None) }
}; MOST];
/// All descriptors that were ever followed are below it.
static TOP: AtomicUsize = AtomicUsize::new(0);
static ANSWERS: AtomicUsize = AtomicUsize::new(0);
static OWNER: AtomicI32 = AtomicI32::new(0);

fn entry(fd: i32) -> Option<&'static Entry> {
    ENTRIES.get(usize::try_from(fd).ok()?).filter(|entry| entry.is_followed.load(Ordering::Relaxed))
}

/// Remembers the process that the connections belong to.
pub fn own() {
    // SAFETY: getpid has no preconditions.
    OWNER.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

/// False in a child that shares this memory until it runs another program (vfork): what it does to descriptors is its own affair.
pub fn is_own() -> bool {
    // SAFETY: getpid has no preconditions.
    OWNER.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

pub fn is_followed(fd: i32) -> bool {
    entry(fd).is_some()
}

pub fn follow(fd: i32) {
    let number = usize::try_from(fd).unwrap_or(MOST);
    let Some(entry) = ENTRIES.get(number) else { return };
    forget(fd);
    if entry.connection.with(|connection| *connection = Some(Box::new(Connection::new()))).is_some() {
        TOP.fetch_max(number + 1, Ordering::Relaxed);
        entry.is_followed.store(true, Ordering::Release);
    }
}

pub fn forget(fd: i32) {
    let Some(entry) = entry(fd) else { return };
    entry.is_followed.store(false, Ordering::Relaxed);
    entry.connection.with(|connection| *connection = None);
    note_answer(entry, false);
}

/// The same for all of these descriptors.
pub fn forget_range(first: i32, last: i32) {
    (first.max(0)..=last.min(TOP.load(Ordering::Relaxed) as i32)).for_each(forget);
}

fn note_answer(entry: &Entry, has_answer: bool) {
    match (entry.has_answer.swap(has_answer, Ordering::Relaxed), has_answer) {
        (false, true) => _ = ANSWERS.fetch_add(1, Ordering::Relaxed),
        (true, false) => _ = ANSWERS.fetch_sub(1, Ordering::Relaxed),
        _ => {}
    }
}

/// Returns none if this descriptor is not followed.
pub fn with<R>(fd: i32, work: impl FnOnce(&mut Connection<Shared>) -> R) -> Option<R> {
    let entry = entry(fd)?;
    let (outcome, has_answer) = entry.connection.with(|connection| {
        let connection = connection.as_mut()?;
        let outcome = work(connection);
        Some((outcome, !connection.pending().is_empty()))
    })??;
    if has_answer != entry.has_answer.load(Ordering::Relaxed) {
        note_answer(entry, has_answer);
    }
    Some(outcome)
}

/// Returns true if an answer waits for the client at any descriptor.
pub fn has_answers() -> bool {
    ANSWERS.load(Ordering::Relaxed) > 0
}

pub fn has_answer(fd: i32) -> bool {
    entry(fd).is_some_and(|entry| entry.has_answer.load(Ordering::Relaxed))
}

/// In a process that was just forked, where only atomics may be touched: the connections are the parent's.
pub fn forked() {
    own();
    for entry in &ENTRIES[..TOP.load(Ordering::Relaxed)] {
        entry.is_followed.store(false, Ordering::Relaxed);
        entry.has_answer.store(false, Ordering::Relaxed);
        entry.connection.force_open();
    }
    ANSWERS.store(0, Ordering::Relaxed);
}
