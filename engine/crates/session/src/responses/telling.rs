//! What near caches learn about results of the connections that they have marked, and how a connection becomes a feed.

use crate::commands::hits::Asked;
use crate::engine::Engine;
use crate::entries::cells::table_cells;
use crate::entries::layout::Layout;
use crate::session::Session;
use crate::session::near::What;
use crate::statement::recording::Recording;
use crate::transaction::admission::Admission;
use cache::{CellId, Entry, Stamp};
use feed::{NearId, Who};

impl Session {
    pub fn feed(&self) -> Option<Option<NearId>> {
        self.near.feed
    }

    /// Reports a miss whose result was stored to the near cache, unless the statement has changed the session context: then it says
    /// nothing about the session's next reads.
    pub(crate) fn tell_stored(&mut self, engine: &Engine, recording: &Recording) {
        if self.may_tell(&recording.text)
            && [false, true].iter().any(|binary| self.context(engine, *binary) == Some(recording.context))
        {
            let layout = Layout::default().by_rows(recording.is_by_rows).joining(recording.joins);
            self.tell(engine, recording.context, recording.stamp, &recording.cells, layout);
        }
    }

    /// Reports a hit in the server's own cache to the near cache.
    pub(crate) fn tell_served(&mut self, engine: &Engine, asked: &Asked, entry: &Entry) {
        if self.may_tell(asked.text) {
            self.tell(engine, asked.context, entry.stamp(), entry.cells(), Layout(entry.flags()));
        }
    }

    /// A near cache cannot learn how many rows a read has found in addition to those that it returns.
    fn may_tell(&self, text: &[u8]) -> bool {
        self.near.mark.is_some() && !sql::may_count_found_rows(text)
    }

    /// Called when a command has ended and everything about its session is known. If no message about a result was sent to the near cache
    /// for this command, sends one about the session. But only if the server's own cache would answer a read that came now.
    pub(crate) fn report_session(&mut self, engine: &Engine) {
        let Some(is_binary) = self.near.awaits().filter(|_| self.work.running.is_none()) else { return };
        // The stamp is noted before the session is looked at, so that a later change of everything invalidates the message.
        let stamp = engine.versions().now();
        let is_private = self.temporary.may_exist() || self.writes.is_locked || self.identity.cache_type() == 0;
        let is_admitted = self.transaction.admit(engine.versions(), &[], false) == Admission::Serve;
        if is_private || !is_admitted || !self.transaction.is_outside() {
            return;
        }
        if let Some(context) = self.cacheable_context(engine, is_binary) {
            let holds_over_preparations = self.is_granted_as_then(engine);
            let (is_for_transactions, snapshot) = (false, None);
            let what =
                What { context, stamp, holds_over_preparations, is_for_transactions, snapshot, is_of_session: true };
            self.near.tell(engine, what, &[], &[]);
        }
    }

    fn tell(&mut self, engine: &Engine, context: u64, stamp: Stamp, cells: &[CellId], layout: Layout) {
        let tables: Vec<_> = table_cells(cells, layout.is_by_rows()).collect();
        let what = What {
            context,
            stamp,
            holds_over_preparations: self.is_granted_as_then(engine),
            is_for_transactions: !layout.joins(),
            snapshot: self.snapshot_beside(),
            is_of_session: false,
        };
        self.near.tell(engine, what, cells, &tables);
    }

    /// The snapshot's stamp, if a near cache may answer reads in the open transaction. `None` if it may not. One reason is
    /// a limit on idle transactions: the server has to see each read, or it would end the session.
    fn snapshot_beside(&self) -> Option<Stamp> {
        self.transaction.snapshot_beside().filter(|_| !self.identity.habits().limits_idleness)
    }

    /// Called when the server has agreed to the statement that makes this connection a feed. Attaches the near cache if its protocol is
    /// supported.
    pub(crate) fn attach(&mut self, engine: &Engine, name: &[u8], protocol: u16) {
        let name = String::from_utf8_lossy(name);
        let name: String = name.chars().filter(|one| !one.is_control()).take(feed::LONGEST_NAME).collect();
        let version = protocol.min(feed::VERSION);
        let is_spoken = protocol >= feed::OLDEST;
        let id = is_spoken.then(|| engine.attach_near(&name, self.who(), version)).flatten();
        self.near.feed = Some(id);
    }

    /// The account and address of this connection. After a near cache has failed to answer a writer in time, a pause applies to the two
    /// together.
    pub(crate) fn who(&self) -> Who {
        let Some(account) = self.identity.account() else { return Who::default() };
        let [user, host, address] =
            [&account.user, &account.host, &account.address].map(|text| String::from_utf8_lossy(text).into_owned());
        Who { account: format!("'{user}'@'{host}'"), address }
    }
}
