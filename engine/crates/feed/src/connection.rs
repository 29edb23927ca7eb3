//! A near cache's view of one of its connections to the server: what was told of its last command holds until the next one.
//!
//! The server has two numbers for what a connection is, one for queries as text and one for executions of prepared statements. Both
//! stay what they are over a command of which something was told, and over preparations of statements where that was told.

use crate::message::{CommandReport, FromNear};
use crate::{check_of, command_check};
use std::collections::VecDeque;

/// The command that prepares a statement.
const PREPARE: u8 = 0x16;
/// Commands of which something may still be told. More than are usually on their way together, or told of late.
const REMEMBERED: usize = 16;

/// The session context of a connection, as the server has reported it: reads are stored and looked for under its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SessionContext {
    /// The server's number for the account, the schema, the settings and whatever else can change a result.
    pub context: u64,
    /// It holds while nothing has changed everything since: [`Near::may_serve`](crate::Near::may_serve) without cells.
    pub stamp: u64,
    /// The command from which on the number has been this one. A statement that was prepared later was prepared under it.
    pub since: u64,
}

#[derive(Clone, Debug)]
pub struct Connection {
    number: u32,
    greeting: u64,
    /// Commands that went to the server.
    forwarded: u64,
    /// The last ones, each after the one that was told of last.
    since: VecDeque<Sent>,
    /// By protocol.
    sessions: [Option<SessionContext>; 2],
    /// As was told last: preparations change nothing.
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

/// How a command asks, and is answered.
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
    /// `number`: the connection's, as the greeting says it; `greeting`: [`check_of`] the payload of that packet.
    pub fn greeted(number: u32, greeting: u64) -> Connection {
        let (since, sessions) = (VecDeque::new(), [None; 2]);
        Connection { number, greeting, forwarded: 0, since, sessions, holds_over_preparations: false, snapshot: None }
    }

    /// The same with the payload itself.
    pub fn new(number: u32, greeting: &[u8]) -> Connection {
        Connection::greeted(number, check_of(greeting))
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// To be sent in the feed, once it is attached.
    pub fn mark(&self) -> FromNear {
        FromNear::Mark { connection: self.number, scramble: self.greeting }
    }

    /// A command goes to the server, of the client or of the near cache's own: from the first after the log-in on, each one counts.
    /// Of a command of several packets it is the first. Returns its number.
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

    /// The same for one that changes nothing of what the session is: a ping, the end of a prepared statement.
    pub fn forward_harmless(&mut self) {
        self.forwarded += 1;
    }

    /// Takes the server's report on one of the last commands. False if it is about another command; the host then drops it.
    pub fn hear(&mut self, report: &CommandReport) -> bool {
        let is_it = |sent: &Sent| (sent.number, sent.check) == (report.command, report.check);
        let Some(at) = self.since.iter().position(is_it).filter(|_| report.connection == self.number) else {
            return false;
        };
        // Of what came between nothing was told: it may have changed anything.
        if !self.since.iter().take(at).all(|sent| self.is_passed_over(sent)) {
            self.forget();
        }
        let protocol = self.since[at].protocol as usize;
        let before = self.sessions[protocol].filter(|session| session.context == report.context);
        // Other commands than reads may change what the session is, for both protocols.
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

    /// None while the server has not reported on the last command, which may have changed the session.
    pub fn session_context(&self, protocol: Protocol) -> Option<SessionContext> {
        self.session_context_through(protocol, |_, _| false)
    }

    /// The same where something else shows that commands have changed nothing: `is_known` is asked for each one since that of which
    /// was told last, with what was told of its protocol. A read that is stored under the same context, and may be served from there,
    /// is one.
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

    /// [`CommandReport::snapshot`] of the last message about this connection. It describes the present transaction only while
    /// [`session_context_through`](Self::session_context_through) is not `None`: later commands have then changed nothing.
    pub fn snapshot(&self) -> Option<u64> {
        self.snapshot
    }

    /// What was told belongs to an attachment that is over.
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

    /// The numbers of both protocols stand for the same settings.
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
