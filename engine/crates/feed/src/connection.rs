//! A near cache's view of one of its connections to the server: what was told of its last command holds until the next one.

use crate::check_of;
use crate::message::{FromNear, Told};

/// Under which number a connection's reads are stored and looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Standing {
    pub context: u64,
    /// It holds while nothing has changed everything since: [`Near::may_serve`](crate::Near::may_serve) without cells.
    pub stamp: u64,
}

#[derive(Clone, Debug)]
pub struct Connection {
    number: u32,
    scramble: u64,
    /// Commands that went to the server.
    forwarded: u64,
    check: u64,
    standing: Option<Standing>,
}

impl Connection {
    /// `number`: the connection's, as the greeting says it; `greeting`: the payload of that packet.
    pub fn new(number: u32, greeting: &[u8]) -> Connection {
        Connection { number, scramble: check_of(greeting), forwarded: 0, check: 0, standing: None }
    }

    /// To be sent in the feed, once it is attached.
    pub fn mark(&self) -> FromNear {
        FromNear::Mark { connection: self.number, scramble: self.scramble }
    }

    /// A command goes to the server, of the client or of the near cache's own: from the first after the log-in on, each one counts.
    /// Of a command of several packets it is the first.
    pub fn forward(&mut self, payload: &[u8]) {
        self.forwarded += 1;
        (self.check, self.standing) = (check_of(payload), None);
    }

    /// Takes what was told of the last command; false if it is about another one, and to be forgotten.
    pub fn hear(&mut self, told: &Told) -> bool {
        let is_last = told.connection == self.number && told.command == self.forwarded && told.check == self.check;
        if is_last {
            self.standing = Some(Standing { context: told.context, stamp: told.stamp });
        }
        is_last
    }

    /// None while the server has not told of the last command: it may have changed what the session is.
    pub fn standing(&self) -> Option<Standing> {
        self.standing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_holds_until_the_next_command() {
        let mut connection = Connection::new(7, b"greeting");
        let told = |command, text: &[u8]| Told {
            connection: 7,
            command,
            check: check_of(text),
            context: 4,
            stamp: 9,
            cells: Vec::new(),
        };
        connection.forward(b"\x03SELECT 1");
        assert_eq!(connection.standing(), None);
        assert!(!connection.hear(&told(2, b"\x03SELECT 1")) && !connection.hear(&told(1, b"\x03SELECT 2")));
        assert!(connection.hear(&told(1, b"\x03SELECT 1")));
        assert_eq!(connection.standing(), Some(Standing { context: 4, stamp: 9 }));
        connection.forward(b"\x03SET x = 1");
        assert!(!connection.hear(&told(1, b"\x03SELECT 1")), "it is too late");
        assert_eq!(connection.standing(), None);
    }
}
