//! What readers have to know of a connection to be answered without the writer.

use crate::layout::PLACE;
use crate::sync::{AtomicU64, Ordering, fence};

/// The circumstances in which a connection's reads may be answered. All of it is what the writer knew when it had received `received` bytes
/// of the client and had sent `shown` bytes to it. So a reader uses it only if the client has sent and received just as many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Connection {
    /// Identifies the connection. Zero: the place is free.
    pub token: u64,
    /// Bytes after the login.
    pub received: u64,
    /// Bytes after the login.
    pub shown: u64,
    /// The context of the results that are for this connection.
    pub context: u64,
    /// The context holds while nothing has changed everything since this version.
    pub stamp: u64,
    /// Nothing is found after this moment, because the server must see a command before the connection looks idle to it.
    pub until: u64,
    /// The attachment that all of this belongs to. The writer sets it itself.
    pub generation: u64,
}

/// Where a connection stands in the memory. The first word counts changes, and is odd while one is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(usize);

const WORDS: usize = PLACE - 1;

impl Connection {
    fn words(&self) -> [u64; WORDS] {
        [self.token, self.received, self.shown, self.context, self.stamp, self.until, self.generation]
    }

    fn read([token, received, shown, context, stamp, until, generation]: [u64; WORDS]) -> Connection {
        Connection { token, received, shown, context, stamp, until, generation }
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
        let words = &memory[self.0 + 1..][..WORDS];
        words.iter().zip(connection.words()).for_each(|(to, word)| to.store(word, Ordering::Relaxed));
        memory[self.0].store((changes | 1).wrapping_add(1), Ordering::Release);
    }

    /// Returns none while the writer is changing it.
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
