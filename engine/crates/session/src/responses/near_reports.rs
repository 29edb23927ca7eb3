//! The reports that near caches get about results of the connections that they have marked, and how a connection becomes a feed. A near
//! cache is a cache next to clients; its feed is the connection over which it gets reports and invalidations.

use crate::commands::hits::ReadRequest;
use crate::engine::Engine;
use crate::entries::cells::table_cells;
use crate::entries::layout::Layout;
use crate::session::Session;
use crate::session::near::CommandReportContent;
use crate::statement::recording::Recording;
use crate::transaction::admission::Admission;
use cache::{CellId, Entry, Stamp};
use feed::{NearId, NearOwner};

impl Session {
    /// The near cache whose feed this connection is; None if it is no feed. The inner value is None if the near cache could not attach: the
    /// host must then end the connection.
    pub fn feed(&self) -> Option<Option<NearId>> {
        self.near.feed
    }

    /// Reports a result that was just stored to the near cache that has marked this connection to receive such reports,
    /// if there is one. Not if the statement has changed the session context: the result then says nothing about the
    /// session's next reads.
    pub(crate) fn report_stored(&mut self, engine: &Engine, recording: &Recording) {
        if self.may_report_results(&recording.text)
            && [false, true].iter().any(|binary| self.context(engine, *binary) == Some(recording.context))
        {
            let layout = Layout::default()
                .by_rows(recording.is_by_rows)
                .only_outside_transactions(recording.outside_transactions_only);
            self.report_result(engine, recording.context, recording.stamp, &recording.cells, layout);
        }
    }

    /// Reports a hit in the server's own cache to the near cache that has marked this connection to receive such
    /// reports, if there is one.
    pub(crate) fn report_served(&mut self, engine: &Engine, request: &ReadRequest, entry: &Entry) {
        if self.may_report_results(request.text) {
            self.report_result(engine, request.context, entry.stamp(), entry.cells(), Layout(entry.flags()));
        }
    }

    /// True if results of this text can be reported to a near cache. False for a read that may find more rows than it
    /// returns, since a near cache cannot learn how many.
    fn may_report_results(&self, text: &[u8]) -> bool {
        self.near.mark.is_some() && !sql::may_count_found_rows(text)
    }

    /// Called when a command has ended and everything about its session is known. If the near cache that has marked this connection got no
    /// report about the result of the command, it gets one about the session, provided that the server's own cache would answer a read that
    /// came now.
    pub(crate) fn report_session(&mut self, engine: &Engine) {
        let Some(is_binary) = self.near.awaits_report().filter(|_| self.work.running.is_none()) else { return };
        // The stamp is noted before the session is looked at, so that a later change of everything invalidates the message.
        let stamp = engine.versions().now();
        let is_private = self.temporary.may_exist() || self.writes.is_locked || self.identity.cache_type() == 0;
        let is_admitted = self.transaction.admit(engine.versions(), &[], false) == Admission::Serve;
        if is_private || !is_admitted || !self.transaction.is_outside() {
            return;
        }
        if let Some(context) = self.cacheable_context(engine, is_binary) {
            let holds_over_preparations = self.are_grants_unchanged(engine);
            let (is_for_transactions, snapshot) = (false, None);
            let content = CommandReportContent {
                context,
                stamp,
                holds_over_preparations,
                is_for_transactions,
                snapshot,
                is_of_session: true,
            };
            self.near.report(engine, content, &[], &[]);
        }
    }

    /// Reports a result to the near cache: its context, its stamp, and the cells that it depends on.
    fn report_result(&mut self, engine: &Engine, context: u64, stamp: Stamp, cells: &[CellId], layout: Layout) {
        let tables: Vec<_> = table_cells(cells, layout.is_by_rows()).collect();
        let content = CommandReportContent {
            context,
            stamp,
            holds_over_preparations: self.are_grants_unchanged(engine),
            is_for_transactions: !layout.outside_transactions_only(),
            snapshot: self.near_snapshot(),
            is_of_session: false,
        };
        self.near.report(engine, content, cells, &tables);
    }

    /// Returns the stamp of the open transaction's snapshot, if a near cache may answer reads in the transaction. None
    /// if it may not. One reason is a limit on idle transactions: the server has to see each read, or it would end the
    /// session.
    fn near_snapshot(&self) -> Option<Stamp> {
        self.transaction.near_snapshot().filter(|_| !self.identity.side_effects().limits_idleness)
    }

    /// Called when the server has agreed to the statement that makes this connection a feed. Attaches the near cache, if its version of the
    /// protocol is supported and it is admitted; `feed` shows the outcome.
    pub(crate) fn attach(&mut self, engine: &Engine, name: &[u8], protocol: u16) {
        let name = String::from_utf8_lossy(name);
        let name: String = name.chars().filter(|one| !one.is_control()).take(feed::LONGEST_NAME).collect();
        let version = protocol.min(feed::VERSION);
        let is_spoken = protocol >= feed::OLDEST;
        let id = is_spoken.then(|| engine.attach_near(&name, self.who(), version)).flatten();
        self.near.feed = Some(id);
    }

    /// The account and address of this connection, as texts. After a near cache has failed to answer a writer in time, others with the same
    /// two may not attach for a while.
    pub(crate) fn who(&self) -> NearOwner {
        let Some(account) = self.identity.account() else { return NearOwner::default() };
        let [user, host, address] =
            [&account.user, &account.host, &account.address].map(|text| String::from_utf8_lossy(text).into_owned());
        NearOwner { account: format!("'{user}'@'{host}'"), address }
    }
}
