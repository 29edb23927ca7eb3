//! The connections by their descriptors.
//!
//! A descriptor that is not followed costs one look. Locks are held for a few instructions, never while the system is called, except
//! when a login ends or the memory is asked for. A caller that cannot get a lock, such as a signal handler that has interrupted its
//! holder, passes its call to the C library.

use crate::attached::MappedMemory;
use crate::connection::Connection;
use crate::lock::Lock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

/// The number of descriptors that can be followed. Greater ones are passed to the C library.
const MOST: usize = 1 << 16;

/// The place in the table for one descriptor number, with the connection that has it now.
struct Entry {
    is_followed: AtomicBool,
    /// True if an answer given here waits for the client to read it.
    has_answer: AtomicBool,
    connection: Lock<Option<Box<Connection<MappedMemory>>>>,
}

static ENTRIES: [Entry; MOST] = [const {
    Entry { is_followed: AtomicBool::new(false), has_answer: AtomicBool::new(false), connection: Lock::new(None) }
}; MOST];
/// A number above all descriptors that were ever followed.
static TOP: AtomicUsize = AtomicUsize::new(0);
/// The number of descriptors with a pending answer.
static ANSWERS: AtomicUsize = AtomicUsize::new(0);
/// The id of the process that the connections belong to.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// Returns the entry of this descriptor. None if it is not followed.
fn entry(fd: i32) -> Option<&'static Entry> {
    ENTRIES.get(usize::try_from(fd).ok()?).filter(|entry| entry.is_followed.load(Ordering::Relaxed))
}

/// Notes that the connections belong to this process.
pub fn set_owner_process() {
    // SAFETY: getpid has no preconditions.
    OWNER.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

/// Returns false in a child that shares this memory until it runs another program (vfork): what it does to descriptors must not change
/// the table.
pub fn is_owner_process() -> bool {
    // SAFETY: getpid has no preconditions.
    OWNER.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

/// Returns true if the descriptor is that of a connection that may be answered here.
pub fn is_followed(fd: i32) -> bool {
    entry(fd).is_some()
}

/// Starts to follow the connection at this descriptor, which has just been opened. Does nothing if the descriptor's number is too large.
pub fn follow(fd: i32) {
    let number = usize::try_from(fd).unwrap_or(MOST);
    let Some(entry) = ENTRIES.get(number) else { return };
    forget(fd);
    if entry.connection.with(|connection| *connection = Some(Box::new(Connection::new()))).is_some() {
        TOP.fetch_max(number + 1, Ordering::Relaxed);
        entry.is_followed.store(true, Ordering::Release);
    }
}

/// Stops following the connection at this descriptor. An answer that the client has not read is lost.
pub fn forget(fd: i32) {
    let Some(entry) = entry(fd) else { return };
    entry.is_followed.store(false, Ordering::Relaxed);
    entry.connection.with(|connection| *connection = None);
    note_answer(entry, false);
}

/// Stops following the connections at all descriptors from `first` to `last`, inclusive.
pub fn forget_range(first: i32, last: i32) {
    (first.max(0)..=last.min(TOP.load(Ordering::Relaxed) as i32)).for_each(forget);
}

/// Sets whether the entry has a pending answer, and counts it.
fn note_answer(entry: &Entry, has_answer: bool) {
    match (entry.has_answer.swap(has_answer, Ordering::Relaxed), has_answer) {
        (false, true) => _ = ANSWERS.fetch_add(1, Ordering::Relaxed),
        (true, false) => _ = ANSWERS.fetch_sub(1, Ordering::Relaxed),
        _ => {}
    }
}

/// Runs `work` with the connection at this descriptor, and returns what that returns. None if the descriptor is not followed, or its lock
/// could not be taken; `work` was not run then.
pub fn with<R>(fd: i32, work: impl FnOnce(&mut Connection<MappedMemory>) -> R) -> Option<R> {
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

/// Returns true if an answer waits for the client at any descriptor. This is a cheap test before [`has_answer`].
pub fn has_answers() -> bool {
    ANSWERS.load(Ordering::Relaxed) > 0
}

/// Returns true if an answer given here waits for the client at this descriptor.
pub fn has_answer(fd: i32) -> bool {
    entry(fd).is_some_and(|entry| entry.has_answer.load(Ordering::Relaxed))
}

/// Forgets all connections in a process that was just forked, since they are the parent's. Only atomics may be touched there.
pub fn after_fork() {
    set_owner_process();
    for entry in &ENTRIES[..TOP.load(Ordering::Relaxed)] {
        entry.is_followed.store(false, Ordering::Relaxed);
        entry.has_answer.store(false, Ordering::Relaxed);
        entry.connection.force_open();
    }
    ANSWERS.store(0, Ordering::Relaxed);
}
