//! The prepared statements of a connection whose executions may be answered here.
//!
//! The near cache names a statement in the connection's slot once it has served one of its executions from its memory. From then on
//! it would serve other executions, too, in the same context, until it gets a command that concerns the statement.

use mapped::{ConnectionState, Context, ServedStatement};
use std::collections::BTreeMap;
use wire::{Command, LAST_STATEMENT, lone_command};

/// The maximum number of statements that are remembered. Executions of further ones are answered by the near cache.
const MOST: usize = 256;

/// The number of the session context in which a statement was served, and the attachment of that context.
type ContextId = [u64; 2];

/// The statements that the near cache has served on this connection, by their ids, with what it said of the session at that time.
#[derive(Default)]
pub struct ServedStatements(BTreeMap<u32, (ServedStatement, ContextId)>);

/// Returns the context and the attachment in which the near cache would serve executions now.
fn context_id(known: &ConnectionState) -> ContextId {
    [known.binary.number, known.generation]
}

impl ServedStatements {
    /// Remembers the statement that the near cache has named, if it has served an execution last.
    pub fn learn(&mut self, known: &ConnectionState) {
        let Some(statement) = known.statement else { return };
        if self.0.len() < MOST || self.0.contains_key(&statement.id) {
            self.0.insert(statement.id, (statement, context_id(known)));
        }
    }

    /// Returns the session context in which this execution may be answered here, and the parts of its result's key. None if the near
    /// cache has to answer it.
    pub fn find<'p>(&'p self, payload: &'p [u8], known: &ConnectionState) -> Option<(Context, [&'p [u8]; 2])> {
        let (id, bound) = wire::execution(payload)?;
        let (statement, _) = self.0.get(&id).filter(|(_, learned)| *learned == context_id(known))?;
        Some((known.binary, [&statement.scope, bound]))
    }

    /// Notes that the near cache gets these bytes of the client. Statements that they may concern are forgotten until it names them
    /// again.
    pub fn forward(&mut self, bytes: &[u8]) {
        let Some(payload) = lone_command(bytes) else { return self.0.clear() };
        match Command::from_byte(payload[0]) {
            Some(Command::Query | Command::Ping | Command::StmtPrepare) => {}
            Some(Command::StmtExecute | Command::StmtClose) => match wire::statement_id(payload) {
                Some(id) if id != LAST_STATEMENT => _ = self.0.remove(&id),
                _ => self.0.clear(),
            },
            _ => self.0.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXECUTION: &[u8] = b"\x0b\0\0\0\x17\x07\0\0\0\0\x01\0\0\0\0";
    const OTHER: &[u8] = b"\x0b\0\0\0\x17\x08\0\0\0\0\x01\0\0\0\0";

    fn served(id: u32, context: u64) -> ConnectionState {
        let binary = Context { number: context, stamp: 1 };
        ConnectionState {
            binary,
            statement: Some(ServedStatement { id, scope: [id as u8; 32] }),
            ..ConnectionState::default()
        }
    }

    #[test]
    fn a_statement_is_answered_in_its_context_until_a_command_concerns_it() {
        let forwarded: [(&[u8], bool); 11] = [
            (b"\x02\0\0\0\x031", true),
            (b"\x01\0\0\0\x0e", true),
            (b"\x02\0\0\0\x161", true),
            (OTHER, true),
            (b"\x05\0\0\0\x19\x08\0\0\0", true),
            (EXECUTION, false),
            (b"\x05\0\0\0\x19\x07\0\0\0", false),
            (b"\x05\0\0\0\x1a\x07\0\0\0", false),
            (b"\x05\0\0\0\x19\xff\xff\xff\xff", false),
            (b"\x02\0\0\x01\x031", false),
            (b"\x02\0\0\0\x031\x01", false),
        ];
        for (bytes, is_answered) in forwarded {
            let mut prepared = ServedStatements::default();
            prepared.learn(&served(7, 3));
            let payload = lone_command(EXECUTION).expect("a command");
            let bound: &[u8] = b"\0\x01\0\0\0\0";
            assert_eq!(prepared.find(payload, &served(8, 3)).map(|found| found.1), Some([&[7; 32][..], bound]));
            assert_eq!(prepared.find(payload, &served(8, 4)), None, "another context");
            prepared.forward(bytes);
            assert_eq!(prepared.find(payload, &served(8, 3)).is_some(), is_answered, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut prepared = ServedStatements::default();
        (0..2000).for_each(|id| prepared.learn(&served(id, 3)));
        assert_eq!(prepared.0.len(), MOST);
    }
}
