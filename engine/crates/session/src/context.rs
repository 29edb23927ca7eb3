//! A session's identity as far as it can change a result: interned, so that comparing two is comparing numbers.

use std::collections::HashMap;
use std::sync::Mutex;

/// More identities than this are not remembered at once; numbers are never used twice, so forgetting is safe.
const REMEMBERED: usize = 65_536;

#[derive(Default)]
pub struct Contexts {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: u64,
    numbers: HashMap<Vec<u8>, u64>,
}

impl Contexts {
    /// The number of this identity; equal bytes give equal numbers, as long as they are remembered.
    pub fn number(&self, identity: &[u8]) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(number) = inner.numbers.get(identity) {
            return *number;
        }
        if inner.numbers.len() >= REMEMBERED {
            inner.numbers.clear();
        }
        inner.last += 1;
        let number = inner.last;
        inner.numbers.insert(identity.to_vec(), number);
        number
    }

    pub(crate) fn holding(&self, work: &mut dyn FnMut()) {
        let _held = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        work();
    }

    /// A number that no other session has or will get.
    pub fn private(&self) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        inner.last += 1;
        inner.last
    }
}

/// Builds the bytes of an identity from length-prefixed parts, so that no two lists of parts give the same bytes.
#[derive(Default)]
pub struct Identity(Vec<u8>);

impl Identity {
    pub fn push(&mut self, part: &[u8]) -> &mut Self {
        self.0.extend_from_slice(&(part.len() as u32).to_le_bytes());
        self.0.extend_from_slice(part);
        self
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
