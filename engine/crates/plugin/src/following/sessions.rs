//! Finds the connection that a server session belongs to.

use crate::sockets::descriptors::{self, Descriptor};
use host::Connection;
use session::Session;
use std::sync::atomic::Ordering;

/// Calls `work` with the connection of the server session with this thread id, and returns its result. None if this thread does not work
/// for that session, the login is not complete, the connection is in use, or `fits` returns false.
pub fn with_connection<T>(
    thread_id: u64,
    fits: impl FnOnce(&Session) -> bool,
    work: impl FnOnce(&mut Connection) -> T,
) -> Option<T> {
    let is_its = |descriptor: &Descriptor| descriptor.thread_id.load(Ordering::Acquire) == thread_id;
    let mut taken = descriptors::take_current(is_its)?;
    let connection = taken.content().as_mut().filter(|connection| connection.session.is_in_commands())?;
    fits(&connection.session).then(|| work(connection))
}

/// Calls `work` with the connection of the server session with this thread id, and returns its result. None, and `work`
/// is not called, if this thread does not work for that session, the connection is in use, or the engine does not
/// follow its statements.
pub fn with_session<T>(thread_id: u64, work: impl FnOnce(&mut Connection) -> T) -> Option<T> {
    with_connection(thread_id, Session::is_followed, work)
}
