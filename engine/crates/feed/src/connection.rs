//! A near cache's view of one of its connections to the server: a report on the last command holds until the next command.
//!
//! The server has two session contexts for a connection: one for queries as text, and one for executions of prepared statements.
//! A report on a command of one protocol leaves the context of the other in force. Contexts also hold over COM_STMT_PREPARE where
//! the last report says so.

use crate::message::{CommandReport, FromNear};
use crate::{check_of, command_check};
use std::collections::VecDeque;

/// The first byte of the command COM_STMT_PREPARE.
const PREPARE: u8 = 0x16;
/// The maximum number of commands that are remembered while their reports may still arrive. If more are sent without a report, the
/// session contexts are forgotten.
const REMEMBERED: usize = 16;

/// The session context of a connection, as the server has last reported it: everything besides a statement's text that can change
/// its result, such as account, schema and settings. Results are stored and looked up under its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionContext {
    /// The server's number for this session context. Sessions with the same number get the same results. It is valid within one
    /// attachment.
    pub context: u64,
    /// The stamp of the last report, a position in the server's sequence of changes. The context is valid while
    /// [`NearEnd::may_serve`](crate::NearEnd::may_serve) returns true for this stamp without cells; it returns false after a change that
    /// affects everything.
    pub stamp: u64,
    /// The number of the connection's command, counted from 1 after the log-in, since which the context has been in force. A statement
    /// that was prepared by a later command was prepared under it.
    pub since: u64,
}

/// One connection of a client to the server, as the near cache knows it: the commands that were sent, and the session contexts that
/// the server has reported. A host keeps one for each connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The server's number of the connection.
    number: u32,
    /// [`check_of`] the payload of the greeting.
    greeting: u64,
    /// The number of commands that were sent to the server.
    forwarded: u64,
    /// The commands that were sent after the one that the server reported on last, oldest first, at most [`REMEMBERED`].
    since: VecDeque<Sent>,
    /// The session contexts, indexed by [`Protocol`].
    sessions: [Option<SessionContext>; 2],
    /// True if the last report says that COM_STMT_PREPARE does not change the session.
    holds_over_preparations: bool,
    /// [`CommandReport::snapshot`] of the last report on this connection. None before a report, and if the last one has no snapshot.
    snapshot: Option<u64>,
}

/// A command that was sent to the server and that no report has arrived for.
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
    /// Returns the protocol of a command. `payload` is that of the command's first packet.
    pub fn of(payload: &[u8]) -> Protocol {
        const EXECUTE: u8 = 0x17;
        if payload.first() == Some(&EXECUTE) { Protocol::Binary } else { Protocol::Text }
    }
}

impl Connection {
    /// Creates the view of a connection that has received its greeting and sent no command yet. `number` is the connection's number in
    /// that greeting, and `greeting` is [`check_of`] the payload of that packet.
    pub fn greeted(number: u32, greeting: u64) -> Connection {
        let (since, sessions) = (VecDeque::new(), [None; 2]);
        Connection { number, greeting, forwarded: 0, since, sessions, holds_over_preparations: false, snapshot: None }
    }

    /// Creates the view of a connection that has received its greeting and sent no command yet, from the payload of the
    /// greeting packet. `number` is the connection's number in that greeting.
    pub fn new(number: u32, greeting: &[u8]) -> Connection {
        Connection::greeted(number, check_of(greeting))
    }

    /// The server's number of the connection.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the message that makes the server report on this connection's commands. The near cache must send it to the server on
    /// the feed, and again after each time that it has attached to the server.
    pub fn mark(&self) -> FromNear {
        FromNear::Mark { connection: self.number, scramble: self.greeting }
    }

    /// Notes a command that goes to the server, and returns its number on the connection, counted from 1. Call it for each command
    /// after the log-in, also for those that the near cache sends itself, or else reports are not recognized. For a command of several
    /// packets, `payload` is that of the first one. Until a report on the command arrives, [`session_context`](Self::session_context)
    /// returns none, except after a COM_STMT_PREPARE that is known to change nothing.
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

    /// Notes a command that goes to the server and certainly changes nothing of the session, such as COM_PING or
    /// COM_STMT_CLOSE: it is counted, and no report on it is awaited.
    pub fn forward_harmless(&mut self) {
        self.forwarded += 1;
    }

    /// Applies the server's report on a command, after which the session contexts describe the session after that command. Returns
    /// false, and changes nothing, if the report is about another connection or none of the commands that reports are awaited for; the
    /// host must then ignore the report.
    pub fn apply(&mut self, report: &CommandReport) -> bool {
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

    /// True if this command is a COM_STMT_PREPARE, and the server has reported that those leave the session as it is.
    fn is_passed_over(&self, sent: &Sent) -> bool {
        sent.is_preparation && self.holds_over_preparations
    }

    /// Returns the session context for reads of this protocol. None while the context is not certain: the server has not reported on
    /// the last command, which may have changed the session, or on any command of this protocol. The read then goes to the server.
    pub fn session_context(&self, protocol: Protocol) -> Option<SessionContext> {
        self.session_context_through(protocol, |_, _| false)
    }

    /// Returns the session context for reads of this protocol, see [`session_context`](Self::session_context), also
    /// where the caller can vouch for commands without a report. `is_known` is called for commands since the last
    /// report, with the command's number and the context of its protocol, and must return true only if the command has
    /// certainly not changed the session, for example because it is a read that has a servable result under that
    /// context.
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

    /// Returns [`CommandReport::snapshot`] of the last report on this connection: the stamp up to which the present transaction may be
    /// served results, or none if it may not be served any. It describes the present transaction only while
    /// [`session_context_through`](Self::session_context_through) is not `None`: then no later command has changed the session.
    pub fn snapshot(&self) -> Option<u64> {
        self.snapshot
    }

    /// Forgets all session contexts and the snapshot. The host calls it when an attachment is over; then
    /// [`session_context`](Self::session_context) returns none until the next report. Commands are still counted.
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
        assert!(!connection.apply(&report(2, READ)) && !connection.apply(&report(1, b"\x03SELECT 2")));
        assert!(connection.apply(&report(1, READ)));
        assert_eq!(connection.session_context(Protocol::Text), Some(SessionContext { context: 4, stamp: 9, since: 1 }));
        connection.forward(b"\x03SET x = 1");
        assert!(!connection.apply(&report(1, READ)), "it was told already");
        assert_eq!(connection.session_context(Protocol::Text), None);
    }

    #[test]
    fn what_is_told_late_holds_if_what_came_since_is_known_to_change_nothing() {
        let mut connection = connection();
        connection.forward(READ);
        assert!(connection.apply(&report(1, READ)));
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
        assert!(connection.apply(&CommandReport { snapshot: Some(8), ..report(1, READ) }));
        connection.forward_harmless();
        assert_eq!((connection.session_context(Protocol::Text).is_some(), connection.snapshot()), (true, Some(8)));
        connection.forward(b"\x03COMMIT");
        assert_eq!(connection.session_context(Protocol::Text), None, "it may have ended the transaction");
        connection.forward(READ);
        assert!(connection.apply(&report(4, READ)));
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
            assert!(connection.apply(&report(1, READ)));
            connection.forward(EXECUTION);
            assert!(connection.apply(&CommandReport { context: 5, ..report(2, EXECUTION) }));
            connection.forward(b"\x03SET x = 1");
            assert!(connection.apply(&CommandReport { is_of_session: true, context, ..report(3, b"\x03SET x = 1") }));
            let contexts =
                [Protocol::Text, Protocol::Binary].map(|one| connection.session_context(one).map(|one| one.context));
            assert_eq!(contexts, [Some(context), holds.then_some(5)]);
        }
    }

    #[test]
    fn what_was_told_holds_over_a_ping() {
        let mut connection = connection();
        assert!(connection.apply(&report(1, READ)));
        connection.forward_harmless();
        assert!(connection.session_context(Protocol::Text).is_some());
        connection.forward(READ);
        assert_eq!(connection.session_context(Protocol::Text), None);
        assert!(connection.apply(&report(3, READ)), "it was counted");
    }

    #[test]
    fn nothing_holds_over_more_commands_than_are_remembered() {
        let mut connection = connection();
        assert!(connection.apply(&report(1, READ)));
        (0..REMEMBERED).for_each(|_| _ = connection.forward(READ));
        assert!(connection.session_context_through(Protocol::Text, |_, _| true).is_some());
        connection.forward(READ);
        assert_eq!(connection.session_context_through(Protocol::Text, |_, _| true), None);
    }

    #[test]
    fn what_is_told_of_another_server_s_connection_of_the_same_number_is_not_taken() {
        let mut connection = Connection::new(7, b"another greeting");
        connection.forward(READ);
        assert!(!connection.apply(&report(1, READ)));
    }

    #[test]
    fn what_was_told_of_one_protocol_holds_over_what_is_told_of_the_other() {
        const EXECUTION: &[u8] = b"\x17\x01\0\0\0\0\x01\0\0\0";
        let mut connection = connection();
        assert!(connection.apply(&report(1, READ)));
        connection.forward(EXECUTION);
        assert_eq!(connection.session_context(Protocol::Text), None);
        assert_eq!(
            connection.session_context_through(Protocol::Text, |_, _| true),
            None,
            "nothing is known of executions"
        );
        assert!(connection.apply(&CommandReport { context: 5, ..report(2, EXECUTION) }));
        let contexts =
            [Protocol::Text, Protocol::Binary].map(|one| connection.session_context(one).map(|one| one.context));
        assert_eq!(contexts, [Some(4), Some(5)]);
        connection.forward(b"\x03SET x = 1");
        connection.forward(READ);
        assert!(connection.apply(&report(4, READ)));
        assert_eq!(connection.session_context(Protocol::Binary), None, "something else came between");
    }

    #[test]
    fn a_preparation_changes_nothing_where_that_was_told() {
        for holds_over_preparations in [false, true] {
            let mut connection = connection();
            assert!(connection.apply(&CommandReport { holds_over_preparations, ..report(1, READ) }));
            connection.forward(b"\x16SELECT 1");
            assert_eq!(connection.session_context(Protocol::Text).is_some(), holds_over_preparations);
            connection.forward(READ);
            assert_eq!(connection.session_context(Protocol::Text), None);
            assert!(connection.apply(&report(3, READ)));
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
        assert!(connection.apply(&over(1, 4)));
        connection.forward(READ);
        assert!(connection.apply(&over(2, 5)));
        assert_eq!(connection.session_context(Protocol::Text).map(|session| session.since), Some(2));
        connection.forward(b"\x03SET x = 1");
        connection.forward(b"\x16SELECT 1");
        connection.forward(READ);
        assert!(connection.apply(&over(5, 5)));
        assert_eq!(connection.session_context(Protocol::Text).map(|session| session.since), Some(5));
    }
}
