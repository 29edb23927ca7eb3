//! Results and connections as other processes on this machine read them: a library in an application's process answers reads from there.
//!
//! Invariants:
//! - the mapped memory says of leases and cells what [`feed::Near`] says, or the log, or the rules. It changes while results are locked
//!   against being served here, and before a frame is acknowledged;
//! - a result is put there only while it may be served here, and only when it was asked for once more;
//! - a connection is served there only as it was served here last, until it has sent or received anything else.

use crate::prepared::Under;
use crate::unseen::may_leave_found;
use feed::{Attachment, Near};
use locks::Mutex;
use mapped::{Connection, Context, Key, Layout, Map, Place, Record, Statement, Writer};
use sql::Aggregates;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

pub struct Published(Mutex<State>);

struct State {
    writer: Writer<Map>,
    attachment: Option<Attachment>,
    /// The numbers of the contexts of sessions with these identities, where the server gives out none.
    contexts: HashMap<Whose, u64>,
    last_context: u64,
}

/// Sessions that share results.
pub type Whose = [u8; 40];

/// The first number of attachments to logs, and of those by rules. Those to a server's feed have others.
pub const BY_LOG: u64 = u64::MAX - 1;
pub const BY_RULES: u64 = u64::MAX;
/// By rules and by a log, other processes serve results for no longer than this after the program has said so, since it may have ended.
pub const LENT_NS: u64 = 3_000_000_000;
/// The number of contexts that are known by their identity.
const MOST_CONTEXTS: usize = 4096;
/// Every result depends on this cell.
const EVERYTHING: u32 = 0;

/// The contexts in which a connection's reads would be answered when it was served last. Other processes may serve its next reads in
/// the same contexts.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub attachment: Attachment,
    pub text: Context,
    pub binary: Context,
    /// Results with an earlier stamp are not for this connection.
    pub since: u64,
    /// Is set if the read was an execution of a prepared statement.
    pub statement: Option<Statement>,
}

impl Standing {
    /// Returns the number of the context that this read would be answered in.
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
    pub result: Kept<'a>,
}

/// The result that was found.
pub struct Kept<'a> {
    pub entry: &'a cache::Entry<'a>,
    /// The numbers that the cells have in the mapped memory.
    pub cells: &'a [u32],
    pub reads_tables: bool,
    /// The first moment at which it may not be served, whatever changes.
    pub until: u64,
}

/// A read that is looked for where the server gives out no numbers of contexts, as other processes may ask it, too.
pub struct Asking<'a> {
    pub published: &'a Published,
    pub payload: &'a [u8],
    /// Is set if it is an execution of a prepared statement.
    pub statement: Option<Statement>,
    pub aggregates: Aggregates,
    pub capabilities: u64,
}

impl Asking<'_> {
    /// Puts its result where others find it. The caller keeps the attachment from changing. Results with an earlier stamp than `since` are
    /// not for this connection. Returns none if the attachment is another one.
    pub fn publish(
        &self,
        attachment: Attachment,
        whose: &Whose,
        result: Kept<'_>,
        since: u64,
    ) -> Option<Box<Standing>> {
        let Asking { published, payload, statement, aggregates, capabilities } = *self;
        let context = published.context_of(attachment, whose)?;
        let standing = Standing { attachment, text: context, binary: context, since, statement };
        published.publish(&Served { standing: &standing, payload, aggregates, capabilities, result });
        Some(Box::new(standing))
    }
}

impl Published {
    /// Returns none if the memory is smaller than the layout.
    pub fn new(memory: Map, layout: Layout, seed: u64) -> Option<Published> {
        let writer = Writer::new(memory, layout, seed)?;
        let contexts = HashMap::new();
        Some(Published(Mutex::new(State { writer, attachment: None, contexts, last_context: 0 })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what the near cache knows after a frame that has named these cells. Must be called before anything else can be served.
    pub fn follow(&self, near: &Near, cells: &[u32]) {
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
        // A longer lease is relied on only where all that came with it is known.
        writer.grant(near.lease_ends());
    }

    /// Takes over what is known of a log, with the cells that have changed and their versions. Nothing is served before the next call if
    /// there is no lease.
    pub fn follow_log(
        &self,
        attachment: Option<Attachment>,
        changed: &[(u32, u64)],
        lease: impl FnOnce() -> Option<u64>,
    ) {
        let mut state = self.state();
        if state.attach(attachment) {
            state.writer.open_all(changed);
            state.lend(lease());
        }
    }

    /// Nothing is served until the next call of [`Self::follow_log`].
    pub fn revoke(&self) {
        self.state().writer.revoke();
    }

    /// Results are served by these rules, until this moment or the next call.
    pub fn follow_rules(&self, rules: u64, until: u64) {
        let mut state = self.state();
        if state.attach(Some([BY_RULES, rules])) {
            state.writer.grant(until);
        }
    }

    /// Nothing is served by rules until the next call of [`Self::follow_rules`].
    pub fn leave_rules(&self) {
        let mut state = self.state();
        if state.is_by_rules() {
            state.attach(None);
        }
    }

    /// By rules, no client gets results with an earlier stamp.
    pub fn outdate(&self, stamp: u64) {
        let mut state = self.state();
        if state.is_by_rules() {
            state.writer.open(EVERYTHING, stamp);
        }
    }

    /// Returns the context of sessions with this identity, if this is the attachment.
    pub fn context_of(&self, attachment: Attachment, whose: &Whose) -> Option<Context> {
        let mut state = self.state();
        (state.attachment == Some(attachment)).then_some(())?;
        let number = state.context_of(whose);
        Some(Context { number, stamp: u64::MAX })
    }

    /// Puts a result that is being served where others find it. The caller keeps the attachment from changing.
    pub fn publish(&self, read: &Served<'_>) {
        let Kept { entry, cells, until, .. } = read.result;
        let mut state = self.state();
        let key = read.standing.key(read.payload);
        if state.attachment != Some(read.standing.attachment) || state.writer.has(&key, entry.stamp().0) {
            return;
        }
        if !is_for_others(read) {
            return;
        }
        let (stamp, rows) = (entry.stamp().0, entry.rows());
        state.writer.put(&key, &Record { stamp, until, rows, flags: 0, cells, value: entry.value() });
    }

    /// Returns a place for a connection, or none if there is no room for one. `greeting` is the check of the greeting that the client got.
    pub fn enter(self: &Arc<Self>, greeting: u64) -> Option<Entered> {
        let place = self.state().writer.enter(greeting)?;
        Some(Entered { published: self.clone(), place, greeting })
    }
}

impl State {
    /// Returns true if something may be served under this attachment.
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

    fn lend(&mut self, lease: Option<u64>) {
        match lease {
            Some(until) => self.writer.grant(until),
            None => self.writer.revoke(),
        }
    }

    fn context_of(&mut self, whose: &Whose) -> u64 {
        if let Some(number) = self.contexts.get(whose) {
            return *number;
        }
        if self.contexts.len() >= MOST_CONTEXTS {
            // A number is never given to another one.
            self.contexts.clear();
        }
        self.last_context += 1;
        self.contexts.insert(*whose, self.last_context);
        self.last_context
    }
}

/// A read without a table leaves the warnings of the statement before it, and an aggregate over nothing may leave the number of rows
/// found. What the server must see after such reads, only the near cache itself keeps in mind.
fn is_for_others(read: &Served<'_>) -> bool {
    let Kept { entry, cells, reads_tables, .. } = read.result;
    let may_leave_found = || {
        let is_binary = read.standing.statement.is_some();
        entry.rows() <= 1 && may_leave_found(read.aggregates, entry.value(), read.capabilities, is_binary)
    };
    (reads_tables || !cells.is_empty()) && !may_leave_found()
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
        let Standing { attachment, text, binary, since, statement } = *standing;
        let mut state = self.published.state();
        if state.attachment == Some(attachment) {
            let token = self.greeting;
            let generation = 0;
            let served = Connection { token, received, shown, since, text, binary, until, generation, statement };
            state.writer.serve(&self.place, &served);
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.published.state().writer.leave(self.place.clone());
    }
}
