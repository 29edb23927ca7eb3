//! The state of a connection that readers need to answer its reads without the writer.

use crate::layout::PLACE;
use crate::sync::{AtomicU64, Ordering, fence};

/// The circumstances in which a connection's reads may be answered. They were true when the writer had received `received` bytes from the
/// client and had sent `shown` bytes to it. So a reader uses them only if the client has sent and received just as many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Identifies the connection. Zero: the place is free.
    pub token: u64,
    /// The number of bytes that the writer has received from the client, after the login.
    pub received: u64,
    /// The number of bytes that the writer has sent to the client, after the login.
    pub shown: u64,
    /// Results with an earlier stamp must not be served to this connection.
    pub since: u64,
    /// The contexts of the results for this connection: `text` is for queries as text, `binary` for executions of prepared statements.
    pub text: Context,
    pub binary: Context,
    /// Nothing is found after this moment, because the server must see a command before the connection looks idle to it.
    pub until: u64,
    /// The attachment during which all of this holds. The writer sets it itself.
    pub generation: u64,
    /// The prepared statement whose execution this connection was last served. None if it was last served something else, or nothing.
    pub statement: Option<Statement>,
}

/// Identifies everything except the read itself that can change a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// Zero: the context is not known, and nothing is found.
    pub number: u64,
    /// The context is valid as long as nothing has changed everything after this version.
    pub stamp: u64,
}

/// A prepared statement whose executions may be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    pub id: u32,
    /// The beginning of the key of each result of this statement.
    pub scope: Scope,
}

/// Statements with the same scope mean the same, and their parameters have the same types.
pub type Scope = [u8; 32];

/// The position of a connection's place in the memory. The first word of the place counts changes, and is odd while one is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(usize);

/// The number of words that describe the connection: those after the first word, without unused ones.
const WORDS: usize = 15;
const _: () = assert!(WORDS < PLACE);
/// This bit of the word with a statement's number says that there is one.
const IS_STATEMENT: u64 = 1 << 32;

impl Connection {
    fn words(&self) -> [u64; WORDS] {
        let id = self.statement.map_or(0, |statement| IS_STATEMENT | u64::from(statement.id));
        let scope = self.statement.map_or([0; 32], |statement| statement.scope);
        let [first, second, third, fourth] =
            std::array::from_fn(|at| scope[8 * at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes)));
        let Connection { token, received, shown, since, text, binary, until, generation, .. } = *self;
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

    fn read(words: [u64; WORDS]) -> Connection {
        let [token, received, shown, since, rest @ ..] = words;
        let [text, stamp, binary, stamp_of_binary, until, generation, id, rest @ ..] = rest;
        let mut scope = [0; 32];
        scope.chunks_exact_mut(8).zip(rest).for_each(|(to, word)| to.copy_from_slice(&word.to_le_bytes()));
        let statement = (id & IS_STATEMENT != 0).then_some(Statement { id: id as u32, scope });
        let text = Context { number: text, stamp };
        let binary = Context { number: binary, stamp: stamp_of_binary };
        Connection { token, received, shown, since, text, binary, until, generation, statement }
    }
}

impl Place {
    pub(crate) fn at(word: usize) -> Place {
        Place(word)
    }

    pub(crate) fn has(&self, memory: &[AtomicU64], token: u64) -> bool {
        memory[self.0 + 1].load(Ordering::Relaxed) == token
    }

    pub(crate) fn is_free(&self, memory: &[AtomicU64]) -> bool {
        self.has(memory, Connection::default().token)
    }

    pub(crate) fn write(&self, memory: &[AtomicU64], connection: &Connection) {
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

    /// Returns none while the writer is changing the place.
    pub(crate) fn read(&self, memory: &[AtomicU64]) -> Option<Connection> {
        let changes = memory[self.0].load(Ordering::Acquire);
        let mut words = [0; WORDS];
        let source = &memory[self.0 + 1..][..WORDS];
        words.iter_mut().zip(source).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        fence(Ordering::Acquire);
        let is_whole = changes & 1 == 0 && memory[self.0].load(Ordering::Relaxed) == changes;
        is_whole.then(|| Connection::read(words))
    }
}
