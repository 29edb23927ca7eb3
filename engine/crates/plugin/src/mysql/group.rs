//! Follows Group Replication: whether this member may serve at all, and when the group holds new reads back.
//!
//! At the beginning of each read, the group's library decides whether the read waits. It does for every session while a transaction that
//! was committed with the level AFTER is prepared here but not committed yet, and for most sessions while this member becomes the primary
//! and applies what is left of the old one. The plugin receives the calls with which the library itself notes both, so that it passes
//! every read to the server for just as long. docs/adr/group-replication.md has a table of all states.

use crate::containment::contain;
use crate::engine::engine;
use crate::faults::{self, Point};
use crate::log;
use crate::mysql::group_library::{self, Hook};
use crate::mysql::obstacles;
use host::{Link, Row};
use locks::Mutex;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{c_int, c_long, c_uint, c_void};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A reason for which the group's library does not let new reads begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// This member was elected as the primary, and has not applied all transactions of the old one yet.
    Election,
    /// The primary is being changed by an administrator, with a time limit, after which statements are refused.
    PrimaryChange,
    /// A transaction with the level AFTER is prepared here and not committed: the two numbers of its GTID.
    Prepared(c_int, c_long),
}

/// The reasons that hold now, with the number of the examination (`may_serve`) before which each began.
static REASONS: Mutex<(u64, BTreeMap<Reason, u64>)> = Mutex::new((0, BTreeMap::new()));

/// True if Group Replication is installed, as far as the last examination has found.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);
/// True once a read of this member has shown that nothing was holding it back, since the plugin receives the library's calls and since the
/// member joined the group.
static IS_PROVED: AtomicBool = AtomicBool::new(false);
/// The last reason for which the library could not be followed. The same one is not logged again.
static LAST_LOGGED: Mutex<String> = Mutex::new(String::new());

static ELECTION: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static ELECTION_END: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static CHANGE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static CHANGE_END: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static PREPARES: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static PREPARED: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static COMMITTED: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

type Method = unsafe extern "C" fn(*mut c_void) -> c_int;
type Prepares = unsafe extern "C" fn(*mut c_void, c_int, c_long, c_uint, c_int) -> c_int;
type Prepared = unsafe extern "C" fn(*mut c_void, c_uint, c_int) -> c_int;
type Committed = unsafe extern "C" fn(*mut c_void, c_int, c_long) -> c_int;

/// The calls of the library that the plugin receives. Serving needs all of them.
fn hooks() -> [Hook; 7] {
    let hook = |name, ours, original| Hook { name, ours, original };
    [
        hook(
            c"_ZN31Transaction_consistency_manager30enable_primary_election_checksEv",
            on_election as *mut c_void,
            &ELECTION,
        ),
        hook(
            c"_ZN31Transaction_consistency_manager31disable_primary_election_checksEv",
            on_election_end as *mut c_void,
            &ELECTION_END,
        ),
        hook(c"_ZN26Transaction_monitor_thread5startEv", on_change as *mut c_void, &CHANGE),
        hook(c"_ZN26Transaction_monitor_thread9terminateEv", on_change_end as *mut c_void, &CHANGE_END),
        hook(
            c"_ZN31Transaction_consistency_manager21after_applier_prepareEiljN17Group_member_info19Group_member_statusE",
            on_prepares as *mut c_void,
            &PREPARES,
        ),
        hook(
            c"_ZN28Transaction_consistency_info21after_applier_prepareEjN17Group_member_info19Group_member_statusE",
            on_prepared as *mut c_void,
            &PREPARED,
        ),
        hook(
            c"_ZN31Transaction_consistency_manager27remove_prepared_transactionESt4pairIilE",
            on_committed as *mut c_void,
            &COMMITTED,
        ),
    ]
}

/// Passes every read to the server from here on, until `release` with the same reason.
fn hold(reason: Reason) {
    contain(Point::Event, (), || {
        if faults::argument("group").is_some() {
            return;
        }
        let mut reasons = REASONS.lock().unwrap_or_else(PoisonError::into_inner);
        let number = reasons.0;
        if reasons.1.insert(reason, number).is_none() {
            engine().settings().hold();
        }
    });
}

/// Writes a note to the server's error log, on a thread of the group's library.
fn note(words: &str) {
    contain(Point::Event, (), || log::note(words));
}

/// Ends the effect of `hold` for this reason: reads are served again once no other reason holds. Does nothing if this
/// reason does not hold.
fn release(reason: Reason) {
    contain(Point::Event, (), || release_if(|one, _| one == reason));
}

/// Ends each reason for which `ends` returns true. It gets the reason and the number of the examination before which that began.
fn release_if(ends: impl Fn(Reason, u64) -> bool) {
    REASONS.lock().unwrap_or_else(PoisonError::into_inner).1.retain(|reason, number| {
        let ends = ends(*reason, *number);
        if ends {
            engine().settings().release();
        }
        !ends
    });
}

/// Calls the library's own function that was stored at the installation of a hook.
///
/// # Safety
/// `object` is the argument with which the library has called the hook, and the function has the type `Method`.
unsafe fn call(original: &AtomicPtr<c_void>, object: *mut c_void) -> c_int {
    // SAFETY: the caller's guarantee. A function without a result leaves any value, which its caller ignores.
    unsafe { std::mem::transmute::<*mut c_void, Method>(original.load(Ordering::Acquire))(object) }
}

/// Called when this member was elected, before its library begins to hold reads back.
unsafe extern "C" fn on_election(manager: *mut c_void) -> c_int {
    hold(Reason::Election);
    note("this member was elected as the primary: nothing is served before it has applied what the old primary left");
    // SAFETY: the library's own argument.
    unsafe { call(&ELECTION, manager) }
}

/// Called when this member has applied all transactions of the old primary: the library lets reads begin again.
unsafe extern "C" fn on_election_end(manager: *mut c_void) -> c_int {
    // SAFETY: as above.
    let outcome = unsafe { call(&ELECTION_END, manager) };
    release(Reason::Election);
    note("this member has applied what an old primary left, or has stopped: the group holds no reads back for that");
    outcome
}

/// Called when an administrator changes the primary within a time limit, before this member, the old primary, begins to refuse statements.
unsafe extern "C" fn on_change(monitor: *mut c_void) -> c_int {
    hold(Reason::PrimaryChange);
    note("the primary is being changed within a time limit: nothing is served here until that is over");
    // SAFETY: as above.
    unsafe { call(&CHANGE, monitor) }
}

/// Called when that change is over.
unsafe extern "C" fn on_change_end(monitor: *mut c_void) -> c_int {
    // SAFETY: as above.
    let outcome = unsafe { call(&CHANGE_END, monitor) };
    release(Reason::PrimaryChange);
    note("the change of the primary is over");
    outcome
}

thread_local! {
    /// The numbers of the GTID of the transaction that this thread, a replication applier, has prepared.
    static PREPARING: Cell<(c_int, c_long)> = const { Cell::new((0, 0)) };
}

/// Called on an applier's thread when it has prepared a transaction of another member, of whatever level.
unsafe extern "C" fn on_prepares(
    manager: *mut c_void,
    sidno: c_int,
    gno: c_long,
    thread: c_uint,
    status: c_int,
) -> c_int {
    let _ = PREPARING.try_with(|one| one.set((sidno, gno)));
    // SAFETY: the library's own function, with its arguments.
    unsafe {
        std::mem::transmute::<*mut c_void, Prepares>(PREPARES.load(Ordering::Acquire))(
            manager, sidno, gno, thread, status,
        )
    }
}

/// Called inside of `on_prepares` if the transaction has the level AFTER, before the other members learn that it is prepared here. Its client
/// gets no answer before, so no read that begins after that answer is served here while the transaction is not committed.
unsafe extern "C" fn on_prepared(transaction: *mut c_void, thread: c_uint, status: c_int) -> c_int {
    let (sidno, gno) = PREPARING.try_with(Cell::get).unwrap_or((0, 0));
    hold(Reason::Prepared(sidno, gno));
    // SAFETY: the library's own function, with its arguments.
    unsafe {
        std::mem::transmute::<*mut c_void, Prepared>(PREPARED.load(Ordering::Acquire))(transaction, thread, status)
    }
}

/// Called when a transaction that was prepared has ended. The library passes its GTID as a pair, which the calling convention passes as two
/// arguments.
unsafe extern "C" fn on_committed(manager: *mut c_void, sidno: c_int, gno: c_long) -> c_int {
    // SAFETY: the library's own function, with its arguments.
    let outcome = unsafe {
        std::mem::transmute::<*mut c_void, Committed>(COMMITTED.load(Ordering::Acquire))(manager, sidno, gno)
    };
    release(Reason::Prepared(sidno, gno));
    outcome
}

/// Returns the statement with which the plugin's own sessions begin: an election in the group does not hold them back, and no wait for a
/// transaction of the group lasts longer than ten seconds.
pub fn not_held() -> String {
    level("EVENTUAL", 10)
}

/// Returns a statement that sets `group_replication_consistency` for the session to `name`, and for how many seconds
/// the group may hold a statement of the session back.
fn level(name: &str, seconds: u32) -> String {
    format!("SET SESSION group_replication_consistency = '{name}', wait_timeout = {seconds}")
}

/// True if Group Replication is installed, as far as the last `may_serve` has found. The member's state may then change without a report.
pub fn is_installed() -> bool {
    IS_INSTALLED.load(Ordering::Relaxed)
}

/// Examines whether anything may be served as far as replication groups are concerned: Group Replication is not installed, or this server
/// is ONLINE, reaches a majority, and the plugin receives all calls of the group's library that hold reads back.
pub fn may_serve(link: &mut dyn Link) -> Result<bool, String> {
    let is_installed = obstacles::is_installed(link, "group_replication")?;
    IS_INSTALLED.store(is_installed, Ordering::Relaxed);
    if !is_installed {
        unfollow()?;
        return Ok(true);
    }
    match group_library::install(&hooks()) {
        Ok(is_new) if is_new => IS_PROVED.store(false, Ordering::Release),
        Ok(_) => {}
        Err(error) => {
            log_once(&error);
            return Ok(false);
        }
    }
    let examination = next_examination();
    let members =
        link.query("SELECT MEMBER_STATE, MEMBER_ID = @@server_uuid FROM performance_schema.replication_group_members")?;
    match State::of(&members) {
        State::Online if IS_PROVED.load(Ordering::Acquire) => Ok(true),
        State::Online => {
            let is_proved = is_let_through(link)?;
            IS_PROVED.store(is_proved, Ordering::Release);
            Ok(is_proved)
        }
        State::Offline => {
            // A member that does not run holds no read back, whatever its library has left unfinished.
            IS_PROVED.store(false, Ordering::Release);
            release_if(|_, number| number < examination);
            Ok(false)
        }
        State::Other => Ok(false),
    }
}

/// Begins an examination, and returns its number. Reasons that began before have a lower one.
fn next_examination() -> u64 {
    let mut reasons = REASONS.lock().unwrap_or_else(PoisonError::into_inner);
    reasons.0 += 1;
    reasons.0
}

/// Finds out whether the replication group holds reads back now. Sends a read that it would hold back in each state in which it holds back
/// reads of sessions that the cache may serve. Returns true if the read was answered within a second. If the group begins to hold reads
/// back later, the hooks notice that.
fn is_let_through(link: &mut dyn Link) -> Result<bool, String> {
    link.query(&level("BEFORE_ON_PRIMARY_FAILOVER", 1))?;
    let read = link.query("SELECT COUNT(*) FROM mysql.component");
    link.query(&not_held())?;
    Ok(read.is_ok())
}

/// The state of this server as a member of a group.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// A full member, which reaches a majority of the group.
    Online,
    /// Group Replication does not run.
    Offline,
    /// Anything else: it recovers, has failed, or reaches no majority.
    Other,
}

impl State {
    /// Reads the state from the members that this server knows: for each its state, and whether it is this server.
    fn of(members: &[Row]) -> State {
        let state = |row: &Row| row.first().cloned().flatten().unwrap_or_default();
        let is_own = |row: &&Row| row.get(1).and_then(|own| own.as_deref()) == Some(b"1");
        let unreachable = members.iter().filter(|row| state(row) == b"UNREACHABLE").count();
        match members.iter().find(is_own).map(state).as_deref() {
            Some(b"ONLINE") if unreachable * 2 < members.len() => State::Online,
            None | Some(b"OFFLINE") => State::Offline,
            Some(_) => State::Other,
        }
    }
}

/// Stops receiving calls of the group's library, and forgets why it held reads back. An error if its table could not be restored.
pub fn unfollow() -> Result<(), String> {
    let outcome = group_library::remove();
    IS_PROVED.store(false, Ordering::Release);
    release_if(|_, _| true);
    outcome
}

/// Logs why the group's library cannot be followed, unless that was the last reason logged.
fn log_once(error: &str) {
    let mut last = LAST_LOGGED.lock().unwrap_or_else(PoisonError::into_inner);
    if *last != error {
        log::warning(&format!("nothing is served in a replication group, because it cannot be followed: {error}"));
        error.clone_into(&mut last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(members: &[(&str, bool)]) -> State {
        let row = |(state, own): &(&str, bool)| {
            vec![Some(state.as_bytes().to_vec()), Some(if *own { b"1".to_vec() } else { b"0".to_vec() })]
        };
        State::of(&members.iter().map(row).collect::<Vec<_>>())
    }

    #[test]
    fn only_an_online_member_among_a_majority_is_online() {
        assert_eq!(of(&[("ONLINE", true)]), State::Online);
        assert_eq!(of(&[("ONLINE", true), ("ONLINE", false), ("UNREACHABLE", false)]), State::Online);
        assert_eq!(of(&[("ONLINE", true), ("UNREACHABLE", false)]), State::Other);
        assert_eq!(of(&[("ONLINE", true), ("UNREACHABLE", false), ("UNREACHABLE", false)]), State::Other);
        assert_eq!(of(&[("RECOVERING", true), ("ONLINE", false)]), State::Other);
        assert_eq!(of(&[("ERROR", true)]), State::Other);
        // A server that does not run Group Replication has one row without an id.
        assert_eq!(of(&[("OFFLINE", false)]), State::Offline);
        assert_eq!(of(&[]), State::Offline);
    }
}
