//! Reads answered from the cache.

use crate::decision::ClientOutput;
use crate::engine::Engine;
use crate::entries::basis::Basis;
use crate::entries::cells::any_change_of;
use crate::entries::layout::Layout;
use crate::session::Session;
use crate::statement::pending_read::PendingRead;
use crate::statement::verification::Verification;
use crate::transaction::admission::Admission;
use ::insight::ShapeId;
use cache::Key;
use sql::Aggregates;
use std::sync::atomic::Ordering;
use wire::status::OF_TRANSACTION;

/// A read that may be answered from the cache, with everything that identifies its result.
pub(crate) struct ReadRequest<'a> {
    /// The number of the session context, from `cacheable_context`.
    pub context: u64,
    /// The text of the read or prepared statement. For a SELECT FOUND_ROWS(), that of the read before it.
    pub text: &'a [u8],
    /// The types and values of the parameters of a prepared statement. For a SELECT FOUND_ROWS(), its own text.
    pub parameters: &'a [u8],
    /// The whole packet with its header.
    pub packet: &'a [u8],
    /// The parameter types of a prepared statement. Its packet may leave them out.
    pub types: &'a [u8],
    /// The number of columns that the server last reported for a prepared statement. A result with another number is not
    /// served, because the server would report that change. None for a read that is not prepared, and if the number is not
    /// known.
    pub columns: Option<u64>,
}

impl ReadRequest<'_> {
    fn key(&self) -> Key<'_> {
        Key { context: self.context, parts: [self.text, self.parameters] }
    }
}

/// The outcome of a lookup in the cache.
pub(crate) enum ServeOutcome {
    /// The client has its answer, and the server must not get the command.
    Answered,
    /// The server must get this packet first. Then the command is tried again.
    Inject(Vec<u8>),
    /// The result was not served: there is none, or it may not be served now.
    No,
}

/// True if this read may leave FOUND_ROWS() unchanged on the server, as an aggregate over no rows does.
fn may_leave_found(text: &[u8], entry: &cache::Entry) -> bool {
    !Layout(entry.flags()).shows_found() && entry.rows() <= 1 && Aggregates::of(text) != Aggregates::No
}

/// Counts a hit on an entry that has survived a write to other rows of its table. Each entry is counted once.
fn note_invalidation_avoided(engine: &Engine, entry: &cache::Entry) {
    let unknown_change = entry.cells()[0];
    let is_counted = entry.flags() & Layout::SURVIVED_WRITE != 0;
    if is_counted || engine.versions().is_fresh(&[any_change_of(unknown_change)], entry.stamp()) {
        return;
    }
    if let Some(table) = engine.tables().try_find(unknown_change).filter(|_| entry.mark(Layout::SURVIVED_WRITE)) {
        engine.counts().invalidations_avoided.add(1);
        // Relaxed: a count orders nothing.
        table.invalidations_avoided.fetch_add(1, Ordering::Relaxed);
    }
}

impl Session {
    /// True if reads of this session may be served and stored, or if they are observed: then nothing is served, and
    /// what the cache would have done is counted.
    pub(crate) fn is_cached(&self, engine: &Engine) -> bool {
        let settings = engine.settings();
        settings.is_on()
            && (self.identity.cache_type() != 0 || settings.observes() && !self.identity.turned_cache_off())
            // Without a cache size there is only the memory for trials, which is for sessions that try the cache.
            && (settings.size() > 0 || self.identity.is_trial())
            && self.is_state_known(engine)
    }

    /// Returns the number of the session context (account, database, settings) whose results may be served or stored
    /// now. None if this session is not cached.
    pub(crate) fn cacheable_context(&mut self, engine: &Engine, is_binary: bool) -> Option<u64> {
        if !self.is_cached(engine) {
            return None;
        }
        self.context(engine, is_binary)
    }

    /// Looks up a read, and sends its result to the client if it is stored and may be served now. Also decides whether
    /// a hit is to be compared with the server's answer: then it is not served, and `verification` is set.
    pub(crate) fn serve(
        &mut self,
        engine: &Engine,
        request: &ReadRequest,
        output: &mut dyn ClientOutput,
    ) -> ServeOutcome {
        self.verification = None;
        if self.temporary.may_exist() || self.writes.is_locked {
            return ServeOutcome::No;
        }
        let key = request.key();
        let hash = engine.cache().hash(&key);
        self.reuse.note_hash(hash);
        if self.reuse.is_hit_unlikely() {
            engine.insight().requested(hash, None, |basis| engine.is_alive(basis));
            return ServeOutcome::No;
        }
        if self.identity.cache_type() != 0 {
            engine.late_results().await_stored(&key);
        }
        let pin = cache::pin();
        let found = engine.cache().get(hash, &key, &pin);
        engine.insight().requested(hash, found.as_ref(), |basis| engine.is_alive(basis));
        if self.identity.cache_type() == 0 {
            return ServeOutcome::No;
        }
        let Some(entry) = found else { return ServeOutcome::No };
        if request
            .columns
            .is_some_and(|columns| wire::columns_of(entry.value(), self.identity.capabilities()) != Some(columns))
        {
            return ServeOutcome::No;
        }
        let is_fresh = entry.is_fresh(engine.versions());
        if !is_fresh && !self.may_serve_outdated(engine, Basis::of(&entry)) {
            engine.insight().digests.outdated(ShapeId(entry.owner()));
            return ServeOutcome::No;
        }
        let layout = Layout(entry.flags());
        if layout.outside_transactions_only() && (self.transaction.has_begun() || !self.transaction.autocommit) {
            return ServeOutcome::No;
        }
        if entry.cells().is_empty() && !self.diagnostics.have_no_warnings(engine.flavour()) {
            return ServeOutcome::No;
        }
        let leaves_found = self.diagnostics.pending_read.is_some() && may_leave_found(request.text, &entry);
        if leaves_found && self.diagnostics.pending_read.as_ref().is_some_and(PendingRead::is_full) {
            return ServeOutcome::No;
        }
        let opens_snapshot = layout.opens_snapshot() && self.may_begin_itself(engine);
        match self.transaction.admit(engine.versions(), entry.cells(), opens_snapshot) {
            Admission::Serve => {}
            Admission::Begin => return ServeOutcome::Inject(self.begin(engine, self.query_packet(b"BEGIN"))),
            Admission::OpenSnapshot => return ServeOutcome::Inject(self.open_snapshot(engine)),
            Admission::Refuse(_) => return ServeOutcome::No,
        }
        if is_fresh && engine.insight().is_to_be_verified(engine.settings().verify_ppm()) {
            self.verification = Some(Verification::of(&entry));
            return ServeOutcome::No;
        }
        // The hit is counted before the answer is sent, so that a client that has the answer never reads an older
        // counter.
        engine.counts().hits.add(1);
        self.read_counts.hits += 1;
        if !is_fresh {
            engine.counts().stale_hits.add(1);
            engine.insight().digests.stale(ShapeId(entry.owner()));
        } else if layout.is_by_rows() {
            note_invalidation_avoided(engine, &entry);
        }
        engine.counts().saved_ns.add(entry.cost_ns());
        engine.counts().saved_bytes.add(entry.value().len() as u64);
        engine.insight().digests.hit(ShapeId(entry.owner()), entry.cost_ns() / 1000, entry.value().len() as u64);
        if is_fresh {
            self.report_served(engine, request, &entry);
        }
        let replay = if layout.shows_found() { Vec::new() } else { self.as_understood(request) };
        let warned = if layout.warnings(entry.value()) == 0 { Vec::new() } else { self.as_understood(request) };
        let pending_read =
            PendingRead { rows: entry.rows(), is_latest: true, is_owed: false, replay, warned, before: Vec::new() };
        self.diagnostics.note_served(pending_read, leaves_found);
        if is_fresh && !layout.shows_found() {
            self.note_counted(request, &entry);
        }
        self.deliver(entry.value(), layout, output);
        ServeOutcome::Answered
    }

    /// Returns the packet with which the server can run this read later: without a hint to the cache that the server
    /// does not know, and with the parameter types of an execution.
    fn as_understood(&self, request: &ReadRequest) -> Vec<u8> {
        // Other commands are executions of a prepared statement, or ask for FOUND_ROWS() of the read with this text.
        let is_text = request.columns.is_none() && request.parameters.is_empty();
        match sql::surface::without_sql_cache(request.text, self.identity.mode()).filter(|_| is_text) {
            Some(text) => self.query_packet(&text),
            None => wire::with_types(request.packet, request.types, self.identity.capabilities()),
        }
    }

    /// True if a rule allows serving this stale result now. Never inside a transaction.
    #[cold]
    fn may_serve_outdated(&self, engine: &Engine, basis: Basis) -> bool {
        let is_admitted = || self.transaction.admit(engine.versions(), basis.cells, false) == Admission::Serve;
        self.transaction.is_outside() && basis.may_be_served_stale(engine.versions(), engine.ages()) && is_admitted()
    }

    /// Sends a stored response, with the transaction flags of this session in place of the stored ones.
    fn deliver(&mut self, value: &[u8], layout: Layout, output: &mut dyn ClientOutput) {
        let flags = self.transaction.status_now() & OF_TRANSACTION;
        let offsets = layout.offsets(value.len());
        let stored = u16::from_le_bytes([value[offsets[1]], value[offsets[1] + 1]]);
        if stored & OF_TRANSACTION == flags {
            return output.deliver(&[value]);
        }
        let own = (stored & !OF_TRANSACTION | flags).to_le_bytes();
        match offsets[0] {
            0 => output.deliver(&[&value[..offsets[1]], &own, &value[offsets[1] + 2..]]),
            first => {
                output.deliver(&[&value[..first], &own, &value[first + 2..offsets[1]], &own, &value[offsets[1] + 2..]])
            }
        }
    }
}
