//! Results and connections as other processes on this machine read them: a library in an application's process answers reads from there.
//!
//! Invariants:
//! - the mapped memory says of leases and cells what [`feed::Near`] says. It changes while results are locked against being served here, and
//!   before a frame is acknowledged;
//! - a result is put there only while it may be served here, and only when it was asked for once more;
//! - a connection is served there only as it was served here last, until it has sent or received anything else.

use crate::prepared::Under;
use crate::unseen::may_leave_found;
use feed::{Attachment, Near};
use locks::Mutex;
use mapped::{Connection, Context, Key, Layout, Map, Place, Record, Statement, Writer};
use sql::Aggregates;
use std::sync::{Arc, MutexGuard, PoisonError};

pub struct Published(Mutex<State>);

struct State {
    writer: Writer<Map>,
    attachment: Option<Attachment>,
}

/// The contexts in which a connection's reads would be answered when it was served last. Other processes may serve its next reads in
/// the same contexts.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub attachment: Attachment,
    pub text: Context,
    pub binary: Context,
    /// Is set if the read was an execution of a prepared statement.
    pub statement: Option<Statement>,
}

impl Standing {
    /// Returns the number under which this read would be answered.
    pub fn under(&self, payload: &[u8]) -> Under {
        let context = if wire::execution(payload).is_some() { self.binary } else { self.text };
        (self.attachment, context.number)
    }

    /// Returns the key, in the mapped memory, of the result of this command.
    fn key<'p>(&'p self, payload: &'p [u8]) -> Key<'p> {
        let of_execution = self.statement.as_ref().zip(wire::execution(payload));
        let parts = of_execution.map_or([payload, b""], |(statement, (_, bound))| [&statement.scope, bound]);
        Key { context: self.under(payload).1, parts }
    }
}

/// A read for which a result was found.
pub struct Served<'a> {
    pub standing: &'a Standing,
    pub payload: &'a [u8],
    pub aggregates: Aggregates,
    pub capabilities: u64,
}

impl Published {
    /// Returns none if the memory is smaller than the layout.
    pub fn new(memory: Map, layout: Layout, seed: u64) -> Option<Published> {
        let writer = Writer::new(memory, layout, seed)?;
        Some(Published(Mutex::new(State { writer, attachment: None })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the near cache knows after a frame that has named these cells. Must be called before anything else can be served.
    pub fn follow(&self, near: &Near, cells: &[u32]) {
        let State { writer, attachment } = &mut *self.state();
        if *attachment != near.attachment() {
            *attachment = near.attachment();
            if attachment.is_some() { writer.attach() } else { writer.detach() }
        }
        if attachment.is_none() {
            return;
        }
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for cell in cells {
            match near.open_version(*cell) {
                Some(version) => open.push((*cell, version)),
                None => closed.push(*cell),
            }
        }
        closed.into_iter().for_each(|cell| _ = writer.close(cell));
        writer.open_all(&open);
        // A longer lease is relied on only where all that came with it is known.
        writer.grant(near.lease_ends());
    }

    /// Puts a result that is being served where others find it. The caller keeps the attachment from changing.
    pub fn publish(&self, read: &Served<'_>, entry: &cache::Entry) {
        const FOREVER: u64 = u64::MAX;
        let mut state = self.state();
        let key = read.standing.key(read.payload);
        if state.attachment != Some(read.standing.attachment) || state.writer.has(&key, entry.stamp().0) {
            return;
        }
        if !is_for_others(read, entry) {
            return;
        }
        let cells: Vec<u32> = entry.cells().iter().map(|cell| cell.0).collect();
        let (stamp, rows) = (entry.stamp().0, entry.rows());
        state.writer.put(&key, &Record { stamp, until: FOREVER, rows, flags: 0, cells: &cells, value: entry.value() });
    }

    /// Returns a place for a connection, or none if there is no room for one. `greeting` is the check of the greeting that the client got.
    pub fn enter(self: &Arc<Self>, greeting: u64) -> Option<Entered> {
        let place = self.state().writer.enter(greeting)?;
        Some(Entered { published: self.clone(), place, greeting })
    }
}

/// A read without a table leaves the warnings of the statement before it, and an aggregate over nothing may leave the number of rows
/// found. What the server must see after such reads, only the near cache itself keeps in mind.
fn is_for_others(read: &Served<'_>, entry: &cache::Entry) -> bool {
    let may_leave_found = || {
        let is_binary = read.standing.statement.is_some();
        entry.rows() <= 1 && may_leave_found(read.aggregates, entry.value(), read.capabilities, is_binary)
    };
    !entry.cells().is_empty() && !may_leave_found()
}

/// The place of a connection, which ends with this value.
pub struct Entered {
    published: Arc<Published>,
    place: Place,
    greeting: u64,
}

impl Entered {
    /// The client was served by `standing`. It had sent `received` bytes since its login, and will have received `shown`. Other processes
    /// serve nothing after `until`, because the server has to see a command.
    pub fn serve(&self, standing: &Standing, [received, shown]: [u64; 2], until: u64) {
        let Standing { attachment, text, binary, statement } = *standing;
        let mut state = self.published.state();
        if state.attachment == Some(attachment) {
            let token = self.greeting;
            let generation = 0;
            let served = Connection { token, received, shown, text, binary, until, generation, statement };
            state.writer.serve(&self.place, &served);
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.published.state().writer.leave(self.place.clone());
    }
}
