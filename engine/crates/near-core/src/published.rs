//! Results and connections in memory that other processes on this machine map: a library in an application's process answers
//! reads from it.
//!
//! Invariants:
//! - the mapped memory has the same state of leases and cells as [`feed::NearEnd`], the log, or the rules. It is changed while the
//!   results are locked against being served here, and before a frame is acknowledged;
//! - a result is put there only while it may be served here, and only when it is requested again;
//! - a connection is served there only in the contexts in which it was served here last, until it has sent or received anything
//!   else.

use crate::pending_read::may_keep_found_rows;
use crate::prepared::ContextId;
use crate::processes::Processes;
use feed::{Attachment, NearEnd};
use locks::Mutex;
use mapped::{ConnectionSlot, ConnectionState, Context, Key, Layout, Map, Record, ServedStatement, Writer};
use sql::Aggregates;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

/// The memory that other processes map, as this program writes it: results, clients' connections, and the permission to serve
/// them under one attachment. All methods lock it for a short time.
pub struct Published {
    state: Mutex<State>,
    /// The processes that have the memory.
    pub processes: Arc<Processes>,
}

struct State {
    writer: Writer<Map>,
    /// The attachment (one use of a server's feed, of its log, or of rules) whose results may be served there. None: nothing is
    /// served.
    attachment: Option<Attachment>,
    /// The context numbers that were assigned here to identities, for servers that assign none.
    contexts: HashMap<SharingGroup, u64>,
    last_context: u64,
}

/// Identifies sessions that get the same results. Its bytes have no meaning here.
pub type SharingGroup = [u8; 40];

/// The first half of an [`Attachment`] that stands for following a binary log. Attachments to a server's feed have other first
/// halves.
pub const BY_LOG: u64 = u64::MAX - 1;
/// The first half of an [`Attachment`] that stands for serving by rules. The second half is the number of the settings.
pub const BY_RULES: u64 = u64::MAX;
/// The time in nanoseconds for which other processes may serve results by rules or by a log before this program must renew its
/// permission. It is limited because this program may have ended.
pub const LEASE_NS: u64 = 3_000_000_000;
/// The maximum number of identities with an assigned context number. If there are more, all are forgotten and get new numbers.
const MOST_CONTEXTS: usize = 4096;
/// The cell that stands for everything. Every result depends on it.
const EVERYTHING: u32 = 0;

/// The session contexts in which a connection's reads would be answered when it was served last. Other processes may serve its
/// next reads in the same contexts. A context is a number for everything except the read itself that can change a result.
#[derive(Clone, Copy, Debug)]
pub struct ServedContexts {
    /// The attachment (one use of a server's feed, of its log, or of rules) for which the contexts are valid.
    pub attachment: Attachment,
    /// The context of queries as text.
    pub text: Context,
    /// The context of executions of prepared statements.
    pub binary: Context,
    /// Results with an earlier stamp, that is, version or time of reading, must not be served on this connection.
    pub since: u64,
    /// The prepared statement, if the read that was served is an execution of one.
    pub statement: Option<ServedStatement>,
}

impl ServedContexts {
    /// Returns the attachment and the context in which this command would be answered.
    pub fn context_id(&self, payload: &[u8]) -> ContextId {
        let context = if wire::execution(payload).is_some() { self.binary } else { self.text };
        (self.attachment, context.number)
    }

    /// Returns the key of this command's result in the mapped memory.
    fn key<'p>(&'p self, payload: &'p [u8]) -> Key<'p> {
        let of_execution = self.statement.as_ref().zip(wire::execution(payload));
        let parts = of_execution.map_or([payload, b""], |(statement, (_, bound))| [&statement.scope, bound]);
        Key { context: self.context_id(payload).1, parts }
    }
}

/// A read that is being served here, with the result that was found for it.
pub struct ServedRead<'a> {
    pub served_contexts: &'a ServedContexts,
    /// The payload of the command.
    pub payload: &'a [u8],
    /// Whether the statement aggregates rows.
    pub aggregates: Aggregates,
    /// The capabilities of the connection.
    pub capabilities: u64,
    pub result: PublishableResult<'a>,
}

/// A stored result, with the dependencies that other processes check before they serve it.
pub struct PublishableResult<'a> {
    pub entry: &'a cache::Entry<'a>,
    /// The numbers, in the mapped memory, of the cells that the result depends on: tables or rows.
    pub cells: &'a [u32],
    /// True if the read is known to name a table although `cells` is empty.
    pub reads_tables: bool,
    /// The time when the result becomes too old to be served, in nanoseconds of [`clock::now`](crate::clock::now). `u64::MAX` if
    /// it does not age.
    pub until: u64,
}

/// A read that other processes may answer as well, on a server that assigns no numbers to session contexts.
pub struct PublishableRead<'a> {
    pub published: &'a Published,
    pub payload: &'a [u8],
    /// The prepared statement, if the read is an execution.
    pub statement: Option<ServedStatement>,
    pub aggregates: Aggregates,
    pub capabilities: u64,
}

impl PublishableRead<'_> {
    /// Makes the read's result available to other processes, and returns the contexts for the connection. `group` identifies the
    /// sessions that get the same results, and results with a stamp earlier than `since` must not be served on this connection.
    /// Returns none if `attachment` is no longer the present one. The caller keeps the attachment from changing during the call.
    pub fn publish(
        &self,
        attachment: Attachment,
        group: &SharingGroup,
        result: PublishableResult<'_>,
        since: u64,
    ) -> Option<Box<ServedContexts>> {
        let PublishableRead { published, payload, statement, aggregates, capabilities } = *self;
        let context = published.context_of(attachment, group)?;
        let served_contexts = ServedContexts { attachment, text: context, binary: context, since, statement };
        published.publish(&ServedRead { served_contexts: &served_contexts, payload, aggregates, capabilities, result });
        Some(Box::new(served_contexts))
    }
}

impl Published {
    /// Creates the array in `memory`, without any result that may be served. `seed` makes hashes unpredictable, so it should
    /// be random. Returns none if the memory is smaller than the layout.
    pub fn new(memory: Map, layout: Layout, seed: u64) -> Option<Published> {
        let writer = Writer::new(memory, layout, seed)?;
        let contexts = HashMap::new();
        let state = Mutex::new(State { writer, attachment: None, contexts, last_context: 0 });
        Some(Published { state, processes: Arc::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies the state of `near` after a frame: its attachment, the named cells, and its lease. Must be called before any thread
    /// can serve again.
    pub fn follow_feed(&self, near: &NearEnd, cells: &[u32]) {
        let mut state = self.state();
        if !state.attach(near.attachment()) {
            return;
        }
        let writer = &mut state.writer;
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for cell in cells {
            match near.open_version(*cell) {
                Some(version) => open.push((*cell, version)),
                None => closed.push(*cell),
            }
        }
        closed.into_iter().for_each(|cell| _ = writer.close(cell));
        writer.open_all(&open);
        // The lease is granted last, so that other processes see it only with everything that came before it.
        writer.grant_lease(near.lease_ends());
    }

    /// Sets the attachment, the cells that have changed with their versions, and the lease: the time in nanoseconds until which
    /// other processes may serve. Without a lease or an attachment, they serve nothing until the next call.
    pub fn follow_log(
        &self,
        attachment: Option<Attachment>,
        changed: &[(u32, u64)],
        lease: impl FnOnce() -> Option<u64>,
    ) {
        let mut state = self.state();
        if state.attach(attachment) {
            state.writer.open_all(changed);
            state.set_lease(lease());
        }
    }

    /// Stops other processes from serving anything until a lease is set again.
    pub fn revoke(&self) {
        self.state().writer.revoke_lease();
    }

    /// Lets other processes serve results by the rules of the settings with this number, until the time `until` in nanoseconds.
    /// With another number than before, they find none of the earlier results.
    pub fn follow_rules(&self, rules: u64, until: u64) {
        let mut state = self.state();
        if state.attach(Some([BY_RULES, rules])) {
            state.writer.grant_lease(until);
        }
    }

    /// Stops other processes from serving by rules until the next call of [`Self::follow_rules`]. Does nothing if they serve by a
    /// log or by leases.
    pub fn leave_rules(&self) {
        let mut state = self.state();
        if state.is_by_rules() {
            state.attach(None);
        }
    }

    /// From now on, other processes serve no results with a stamp earlier than `stamp`, a time of reading in microseconds. This
    /// has an effect only if they serve by rules.
    pub fn invalidate_before(&self, stamp: u64) {
        let mut state = self.state();
        if state.is_by_rules() {
            state.writer.open(EVERYTHING, stamp);
        }
    }

    /// Returns the context of sessions with this identity, with a new number if they had none. None if `attachment` is not the
    /// present one.
    pub fn context_of(&self, attachment: Attachment, group: &SharingGroup) -> Option<Context> {
        let mut state = self.state();
        (state.attachment == Some(attachment)).then_some(())?;
        let number = state.context_of(group);
        Some(Context { number, stamp: u64::MAX })
    }

    /// Makes a result that is being served here available to other processes. Does nothing if it is there already, if only this
    /// program may serve it, or if the attachment is another one. The caller keeps the attachment from changing during the call.
    pub fn publish(&self, read: &ServedRead<'_>) {
        let PublishableResult { entry, cells, until, .. } = read.result;
        let mut state = self.state();
        let key = read.served_contexts.key(read.payload);
        if state.attachment != Some(read.served_contexts.attachment) || state.writer.has(&key, entry.stamp().0) {
            return;
        }
        if !is_for_others(read) {
            return;
        }
        let (stamp, rows) = (entry.stamp().0, entry.rows());
        state.writer.put(&key, &Record { stamp, until, rows, flags: 0, cells, value: entry.value() });
    }

    /// Reserves a slot for a connection, which other processes may then serve. None if there is no room. `greeting` is the hash
    /// ([`feed::check_of`]) of the greeting that the client got; it identifies the connection.
    pub fn reserve_connection(self: &Arc<Self>, greeting: u64) -> Option<PublishedConnection> {
        let slot = self.state().writer.reserve_slot(greeting)?;
        Some(PublishedConnection { published: self.clone(), slot, greeting })
    }
}

impl State {
    /// Sets the attachment; a new one makes all earlier results invisible to other processes, and with none they serve nothing.
    /// Returns true if there is one.
    fn attach(&mut self, attachment: Option<Attachment>) -> bool {
        if self.attachment != attachment {
            self.attachment = attachment;
            self.contexts.clear();
            if attachment.is_some() { self.writer.attach() } else { self.writer.detach() }
        }
        attachment.is_some()
    }

    fn is_by_rules(&self) -> bool {
        self.attachment.is_some_and(|[first, _]| first == BY_RULES)
    }

    /// Lets other processes serve results from the shared memory until `lease`, in nanoseconds by [`clock::now`](crate::clock::now). With
    /// none, they serve nothing from here on.
    fn set_lease(&mut self, lease: Option<u64>) {
        match lease {
            Some(until) => self.writer.grant_lease(until),
            None => self.writer.revoke_lease(),
        }
    }

    fn context_of(&mut self, group: &SharingGroup) -> u64 {
        if let Some(number) = self.contexts.get(group) {
            return *number;
        }
        if self.contexts.len() >= MOST_CONTEXTS {
            // Numbers are never assigned again, so results under the forgotten ones are just not found any more.
            self.contexts.clear();
        }
        self.last_context += 1;
        self.contexts.insert(*group, self.last_context);
        self.last_context
    }
}

/// Returns true if other processes may serve this result. They must not if the read names no table, since it leaves the warnings
/// of the statement before unchanged, or if it may be an aggregate over no rows, which leaves FOUND_ROWS() unchanged. Only the
/// near cache itself remembers what the server must see after such reads.
fn is_for_others(read: &ServedRead<'_>) -> bool {
    let PublishableResult { entry, cells, reads_tables, .. } = read.result;
    let may_keep = || {
        let is_binary = read.served_contexts.statement.is_some();
        entry.rows() <= 1 && may_keep_found_rows(read.aggregates, entry.value(), read.capabilities, is_binary)
    };
    (reads_tables || !cells.is_empty()) && !may_keep()
}

/// The slot of a connection in the mapped memory. It is freed when this value is dropped; other processes then serve the
/// connection no more.
pub struct PublishedConnection {
    published: Arc<Published>,
    slot: ConnectionSlot,
    greeting: u64,
}

impl PublishedConnection {
    /// Notes the contexts in which the client is being served. The client has sent `received` bytes since its login, and with
    /// this answer gets `shown` bytes; other processes serve it only while these counts are still right. They serve nothing after
    /// the time `until`, in nanoseconds, because the server has to see a command then. Does nothing if the attachment has
    /// changed.
    pub fn set_connection(&self, served_contexts: &ServedContexts, [received, shown]: [u64; 2], until: u64) {
        let ServedContexts { attachment, text, binary, since, statement } = *served_contexts;
        let mut state = self.published.state();
        if state.attachment == Some(attachment) {
            let token = self.greeting;
            let generation = 0;
            let served = ConnectionState { token, received, shown, since, text, binary, until, generation, statement };
            state.writer.set_connection(&self.slot, &served);
        }
    }
}

impl Drop for PublishedConnection {
    fn drop(&mut self) {
        self.published.state().writer.free_slot(self.slot.clone());
    }
}
