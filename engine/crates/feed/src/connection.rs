//! A near cache's view of one of its connections to the server: a report on the last command holds until the next command.
//!
//! The server has two session contexts for a connection: one for queries as text, and one for executions of prepared statements.
//! A report on a command of one protocol leaves the context of the other in force. Contexts also hold over COM_STMT_PREPARE where
//! the last report says so.

use crate::message::{CommandReport, FromNear};
use crate::{check_of, command_check};
use std::collections::VecDeque;

/// The byte of COM_STMT_PREPARE.
const PREPARE: u8 = 0x16;
/// The maximum number of commands that are kept while their reports may still arrive. It exceeds the usual number of commands in
/// flight. If more are sent, the contexts are forgotten.
const REMEMBERED: usize = 16;

/// The session context of a connection, as the server has last reported it. Results are stored and looked up under its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionContext {
    /// The server's number for the account, the schema, the settings and everything else that can change a result.
    pub context: u64,
    /// The stamp of the last report. The context is valid while [`Near::may_serve`](crate::Near::may_serve) returns true for this
    /// stamp without cells: nothing has changed everything since.
    pub stamp: u64,
    /// The number of the command since which the context has been in force. A statement that was prepared later was prepared
    /// under it.
    pub since: u64,
}

#[derive(Clone, Debug)]
pub struct Connection {
    number: u32,
    greeting: u64,
    /// The number of commands that were sent to the server.
    forwarded: u64,
    /// The last commands that were sent after the one that was reported last, oldest first.
    since: VecDeque<Sent>,
    /// The session contexts, indexed by [`Protocol`].
    sessions: [Option<SessionContext>; 2],
    /// True if the last report says that COM_STMT_PREPARE does not change the session.
    holds_over_preparations: bool,
    /// [`CommandReport::snapshot`] of the last message about this connection.
    snapshot: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u64,
    check: u64,
    protocol: Protocol,
    is_preparation: bool,
}

/// The protocol of a command and of its result set: text, or binary for COM_STMT_EXECUTE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Text,
    Binary,
}

impl Protocol {
    pub fn of(payload: &[u8]) -> Protocol {
        const EXECUTE: u8 = 0x17;
        if payload.first() == Some(&EXECUTE) { Protocol::Binary } else { Protocol::Text }
    }
}

impl Connection {
    /// Creates the view of a connection that has received its greeting. `number` is the connection's number in that greeting, and
    /// `greeting` is [`check_of`] the payload of that packet.
    pub fn greeted(number: u32, greeting: u64) -> Connection {
        let (since, sessions) = (VecDeque::new(), [None; 2]);
        Connection { number, greeting, forwarded: 0, since, sessions, holds_over_preparations: false, snapshot: None }
    }

    /// Like [`greeted`](Self::greeted), with the payload of the greeting itself.
    pub fn new(number: u32, greeting: &[u8]) -> Connection {
        Connection::greeted(number, check_of(greeting))
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the message that makes the server report on this connection. The host sends it on the feed once the feed is
    /// attached.
    pub fn mark(&self) -> FromNear {
        FromNear::Mark { connection: self.number, scramble: self.greeting }
    }

    /// Notes a command that goes to the server, and returns its number. Each command after the log-in counts, also those that the
    /// near cache sends itself. For a command of several packets, `payload` is that of the first one.
    pub fn forward(&mut self, payload: &[u8]) -> u64 {
        self.forwarded += 1;
        let check = command_check(self.greeting, payload);
        let (protocol, is_preparation) = (Protocol::of(payload), payload.first() == Some(&PREPARE));
        self.since.push_back(Sent { number: self.forwarded, check, protocol, is_preparation });
        if self.since.len() > REMEMBERED {
            self.since.pop_front();
            self.forget();
        }
        self.forwarded
    }

    /// Counts a command that changes nothing of the session, such as a ping or COM_STMT_CLOSE.
    pub fn forward_harmless(&mut self) {
        self.forwarded += 1;
    }

    /// Takes the server's report on one of the last commands. Returns false if the report is about another command; the host then
    /// ignores it.
    pub fn hear(&mut self, report: &CommandReport) -> bool {
        let is_it = |sent: &Sent| (sent.number, sent.check) == (report.command, report.check);
        let Some(at) = self.since.iter().position(is_it).filter(|_| report.connection == self.number) else {
            return false;
        };
        // No report has arrived for the commands in between, so any of them may have changed the session.
        if !self.since.iter().take(at).all(|sent| self.is_passed_over(sent)) {
            self.forget();
        }
        let protocol = self.since[at].protocol as usize;
        let before = self.sessions[protocol].filter(|session| session.context == report.context);
        // Commands other than reads may change the session for both protocols.
        if report.is_of_session && before.is_none() {
            self.forget();
        }
        let since = before.map_or(report.command, |before| before.since);
        self.sessions[protocol] = Some(SessionContext { context: report.context, stamp: report.stamp, since });
        (self.holds_over_preparations, self.snapshot) = (report.holds_over_preparations, report.snapshot);
        self.since.drain(..=at);
        true
    }

    fn is_passed_over(&self, sent: &Sent) -> bool {
        sent.is_preparation && self.holds_over_preparations
    }

    /// Returns the session context for reads of this protocol. None while the server has not reported on the last command, which
    /// may have changed the session.
    pub fn session_context(&self, protocol: Protocol) -> Option<SessionContext> {
        self.session_context_through(protocol, |_, _| false)
    }

    /// Like [`session_context`](Self::session_context), but the caller can show that commands have changed nothing. `is_known` is
    /// called for each command since the last report, with the command's number and the context of its protocol. It returns true
    /// for example for a read that has a servable result under that context.
    pub fn session_context_through(
        &self,
        protocol: Protocol,
        is_known: impl Fn(u64, SessionContext) -> bool,
    ) -> Option<SessionContext> {
        let is_known =
            |sent: &Sent| self.sessions[sent.protocol as usize].is_some_and(|session| is_known(sent.number, session));
        let changes_nothing = |sent: &Sent| self.is_passed_over(sent) || is_known(sent);
        self.sessions[protocol as usize].filter(|_| self.since.iter().all(changes_nothing))
    }

    /// Returns [`CommandReport::snapshot`] of the last report on this connection. It describes the present transaction only while
    /// [`session_context_through`](Self::session_context_through) is not `None`: then no later command has changed the session.
    pub fn snapshot(&self) -> Option<u64> {
        self.snapshot
    }

    /// Forgets what was reported under an attachment that is over.
    pub fn forget(&mut self) {
        (self.sessions, self.snapshot) = ([None; 2], None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &[u8] = b"\x03SELECT 1";

    fn report(command: u64, text: &[u8]) -> CommandReport {
        let check = command_check(check_of(b"greeting"), text);
        CommandReport { connection: 7, command, check, context: 4, stamp: 9, ..CommandReport::default() }
    }

    fn connection() -> Connection {
        let mut connection = Connection::new(7, b"greeting");
        connection.forward(READ);
        connection
    }

    #[test]
    fn what_was_told_holds_until_the_next_command() {
        let mut connection = connection();
        assert_eq!(connection.session_context(Protocol::Text), None);
        assert!(!connection.hear(&report(2, READ)) && !connection.hear(&report(1, b"\x03SELECT 2")));
        assert!(connection.hear(&report(1, READ)));
        assert_eq!(connection.session_context(Protocol::Text), Some(SessionContext { context: 4, stamp: 9, since: 1 }));
        connection.forward(b"\x03SET x = 1");
        assert!(!connection.hear(&report(1, READ)), "it was told already");
        assert_eq!(connection.session_context(Protocol::Text), None);
    }

    #[test]
    fn what_is_told_late_holds_if_what_came_since_is_known_to_change_nothing() {
        let mut connection = connection();
        connection.forward(READ);
        assert!(connection.hear(&report(1, READ)));
        assert_eq!(connection.session_context(Protocol::Text), None);
        assert!(
            connection
                .session_context_through(Protocol::Text, |command, session| (command, session.context) == (2, 4))
                .is_some()
        );
        connection.forward(b"\x03SET x = 1");
        assert_eq!(connection.session_context_through(Protocol::Text, |command, _| command == 2), None);
    }

    #[test]
    fn the_snapshot_is_that_of_the_command_that_was_told_last() {
        let mut connection = connection();
        assert!(connection.hear(&CommandReport { snapshot: Some(8), ..report(1, READ) }));
        connection.forward_harmless();
        assert_eq!((connection.session_context(Protocol::Text).is_some(), connection.snapshot()), (true, Some(8)));
        connection.forward(b"\x03COMMIT");
        assert_eq!(connection.session_context(Protocol::Text), None, "it may have ended the transaction");
        connection.forward(READ);
        assert!(connection.hear(&report(4, READ)));
        assert_eq!((connection.session_context(Protocol::Text).is_some(), connection.snapshot()), (true, None));
        connection.forget();
        assert_eq!((connection.session_context(Protocol::Text), connection.snapshot()), (None, None));
    }

    /// Both protocols' contexts stand for the same settings, so a change of the settings ends both.
    #[test]
    fn what_is_told_of_a_session_alone_ends_what_was_told_of_the_other_protocol_unless_nothing_has_changed() {
        const EXECUTION: &[u8] = b"\x17\x01\0\0\0\0\x01\0\0\0";
        for (context, holds) in [(4, true), (6, false)] {
            let mut connection = connection();
            assert!(connection.hear(&report(1, READ)));
            connection.forward(EXECUTION);
            assert!(connection.hear(&CommandReport { context: 5, ..report(2, EXECUTION) }));
            connection.forward(b"\x03SET x = 1");
            assert!(connection.hear(&CommandReport { is_of_session: true, context, ..report(3, b"\x03SET x = 1") }));
            let contexts =
                [Protocol::Text, Protocol::Binary].map(|one| connection.session_context(one).map(|one| one.context));
            assert_eq!(contexts, [Some(context), holds.then_some(5)]);
        }
    }

    #[test]
    fn what_was_told_holds_over_a_ping() {
        let mut connection = connection();
        assert!(connection.hear(&report(1, READ)));
        connection.forward_harmless();
        assert!(connection.session_context(Protocol::Text).is_some());
        connection.forward(READ);
        assert_eq!(connection.session_context(Protocol::Text), None);
        assert!(connection.hear(&report(3, READ)), "it was counted");
    }

    #[test]
    fn nothing_holds_over_more_commands_than_are_remembered() {
        let mut connection = connection();
        assert!(connection.hear(&report(1, READ)));
        (0..REMEMBERED).for_each(|_| _ = connection.forward(READ));
        assert!(connection.session_context_through(Protocol::Text, |_, _| true).is_some());
        connection.forward(READ);
        assert_eq!(connection.session_context_through(Protocol::Text, |_, _| true), None);
    }

    #[test]
    fn what_is_told_of_another_server_s_connection_of_the_same_number_is_not_taken() {
        let mut connection = Connection::new(7, b"another greeting");
        connection.forward(READ);
        assert!(!connection.hear(&report(1, READ)));
    }

    #[test]
    fn what_was_told_of_one_protocol_holds_over_what_is_told_of_the_other() {
        const EXECUTION: &[u8] = b"\x17\x01\0\0\0\0\x01\0\0\0";
        let mut connection = connection();
        assert!(connection.hear(&report(1, READ)));
        connection.forward(EXECUTION);
        assert_eq!(connection.session_context(Protocol::Text), None);
        assert_eq!(
            connection.session_context_through(Protocol::Text, |_, _| true),
            None,
            "nothing is known of executions"
        );
        assert!(connection.hear(&CommandReport { context: 5, ..report(2, EXECUTION) }));
        let contexts =
            [Protocol::Text, Protocol::Binary].map(|one| connection.session_context(one).map(|one| one.context));
        assert_eq!(contexts, [Some(4), Some(5)]);
        connection.forward(b"\x03SET x = 1");
        connection.forward(READ);
        assert!(connection.hear(&report(4, READ)));
        assert_eq!(connection.session_context(Protocol::Binary), None, "something else came between");
    }

    #[test]
    fn a_preparation_changes_nothing_where_that_was_told() {
        for holds_over_preparations in [false, true] {
            let mut connection = connection();
            assert!(connection.hear(&CommandReport { holds_over_preparations, ..report(1, READ) }));
            connection.forward(b"\x16SELECT 1");
            assert_eq!(connection.session_context(Protocol::Text).is_some(), holds_over_preparations);
            connection.forward(READ);
            assert_eq!(connection.session_context(Protocol::Text), None);
            assert!(connection.hear(&report(3, READ)));
            let since = if holds_over_preparations { 1 } else { 3 };
            assert_eq!(connection.session_context(Protocol::Text).map(|session| session.since), Some(since));
            connection.forward(b"\x16SELECT 1");
            assert_eq!(connection.session_context(Protocol::Text), None, "it was not told last");
        }
    }

    #[test]
    fn what_is_prepared_under_another_number_or_between_others_was_not_prepared_under_this_one() {
        let over = |command, context| CommandReport { holds_over_preparations: true, context, ..report(command, READ) };
        let mut connection = connection();
        assert!(connection.hear(&over(1, 4)));
        connection.forward(READ);
        assert!(connection.hear(&over(2, 5)));
        assert_eq!(connection.session_context(Protocol::Text).map(|session| session.since), Some(2));
        connection.forward(b"\x03SET x = 1");
        connection.forward(b"\x16SELECT 1");
        connection.forward(READ);
        assert!(connection.hear(&over(5, 5)));
        assert_eq!(connection.session_context(Protocol::Text).map(|session| session.since), Some(5));
    }
}
