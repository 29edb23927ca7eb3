//! The state of a connection that readers need to answer its reads without the writer.

use crate::layout::SLOT_WORDS;
use crate::sync::{AtomicU64, Ordering, fence};

/// The circumstances in which a connection's reads may be answered. They were true when the writer had received `received` bytes from the
/// client and had sent `shown` bytes to it. So a reader uses them only if the client has sent and received just as many; reads that
/// readers have answered are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionState {
    /// Identifies the connection: the hash of the greeting that the client got. Zero: the slot is free.
    pub token: u64,
    /// The number of bytes that the writer has received from the client, after the login.
    pub received: u64,
    /// The number of bytes that the writer has sent to the client, after the login.
    pub shown: u64,
    /// Results with an earlier stamp, that is, version or time of reading, must not be served to this connection.
    pub since: u64,
    /// The context of the results for queries as text.
    pub text: Context,
    /// The context of the results for executions of prepared statements.
    pub binary: Context,
    /// The time in nanoseconds after which nothing is found, because the server must see a command before the connection looks idle to
    /// it.
    pub until: u64,
    /// The attachment of the writer in which all of this is valid. [`Writer::set_connection`](crate::Writer::set_connection) sets it.
    pub generation: u64,
    /// The prepared statement whose execution this connection was last served. None if it was last served something else, or nothing.
    pub statement: Option<ServedStatement>,
}

/// A number for everything except the read itself that can change a result, such as account, schema and settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Zero: the context is not known, and nothing is found.
    pub number: u64,
    /// The context is valid as long as the cell for everything has no version after this one.
    pub stamp: u64,
}

/// A prepared statement whose executions may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedStatement {
    /// The server's number of the statement on this connection.
    pub id: u32,
    /// The first part of the key of each result of this statement.
    pub scope: Scope,
}

/// Identifies prepared statements with equal results for equal parameters: a digest of their text, the types of their parameters and the
/// number of columns. Those of different connections can be equal.
pub type Scope = [u8; 32];

/// The slot of one connection in the memory, which the writer reserves and readers look up. Its first word counts changes, and is odd
/// while one is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionSlot(usize);

/// The number of words that describe the connection: those after the first word, without unused ones.
const WORDS: usize = 15;
const _: () = assert!(WORDS < SLOT_WORDS);
/// This bit of the word with a statement's number says that there is one.
const IS_STATEMENT: u64 = 1 << 32;

impl ConnectionState {
    /// Encodes the state of the connection as the words of its slot, which [`read`](Self::read) decodes.
    fn words(&self) -> [u64; WORDS] {
        let id = self.statement.map_or(0, |statement| IS_STATEMENT | u64::from(statement.id));
        let scope = self.statement.map_or([0; 32], |statement| statement.scope);
        let [first, second, third, fourth] =
            std::array::from_fn(|at| scope[8 * at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)));
        let ConnectionState { token, received, shown, since, text, binary, until, generation, .. } = *self;
        [
            token,
            received,
            shown,
            since,
            text.number,
            text.stamp,
            binary.number,
            binary.stamp,
            until,
            generation,
            id,
            first,
            second,
            third,
            fourth,
        ]
    }

    fn read(words: [u64; WORDS]) -> ConnectionState {
        let [token, received, shown, since, rest @ ..] = words;
        let [text, stamp, binary, stamp_of_binary, until, generation, id, rest @ ..] = rest;
        let mut scope = [0; 32];
        scope.chunks_exact_mut(8).zip(rest).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        let statement = (id & IS_STATEMENT != 0).then_some(ServedStatement { id: id as u32, scope });
        let text = Context { number: text, stamp };
        let binary = Context { number: binary, stamp: stamp_of_binary };
        ConnectionState { token, received, shown, since, text, binary, until, generation, statement }
    }
}

impl ConnectionSlot {
    /// Returns the slot whose first word has this index.
    pub(crate) fn at(word: usize) -> ConnectionSlot {
        ConnectionSlot(word)
    }

    /// Returns true if the slot belongs to the connection with this token.
    pub(crate) fn belongs_to(&self, memory: &[AtomicU64], token: u64) -> bool {
        memory[self.0 + 1].load(Ordering::Relaxed) == token
    }

    /// Returns true if the slot belongs to no connection.
    pub(crate) fn is_free(&self, memory: &[AtomicU64]) -> bool {
        self.belongs_to(memory, ConnectionState::default().token)
    }

    /// Replaces the circumstances that readers find here. They see the new ones as a whole, or not at all.
    pub(crate) fn write(&self, memory: &[AtomicU64], connection: &ConnectionState) {
        let changes = memory[self.0].load(Ordering::Relaxed);
        memory[self.0].store(changes | 1, Ordering::Relaxed);
        // A reader that sees one of the words below sees the one above, too, after a fence of its own.
        fence(Ordering::Release);
        // Most words stay as they are. Those are not stored again, so that a model checker has fewer values to tell apart.
        for (to, word) in memory[self.0 + 1..][..WORDS].iter().zip(connection.words()) {
            if to.load(Ordering::Relaxed) != word {
                to.store(word, Ordering::Relaxed);
            }
        }
        memory[self.0].store((changes | 1).wrapping_add(1), Ordering::Release);
    }

    /// Returns the circumstances that the writer has stored here. None while it is changing them.
    pub(crate) fn read(&self, memory: &[AtomicU64]) -> Option<ConnectionState> {
        let changes = memory[self.0].load(Ordering::Acquire);
        let mut words = [0; WORDS];
        let source = &memory[self.0 + 1..][..WORDS];
        words.iter_mut().zip(source).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let is_whole = changes & 1 == 0 && memory[self.0].load(Ordering::Relaxed) == changes;
        is_whole.then(|| ConnectionState::read(words))
    }
}
