//! Numbers for session contexts (everything about a session that can change a result), so that two sessions can be
//! compared by comparing numbers.

use locks::Mutex;
use std::collections::{HashMap, HashSet};

/// Largest total size of remembered contexts. Beyond it all are forgotten, which is safe because a number is never used
/// twice.
const REMEMBERED_BYTES: usize = 4 << 20;
/// Memory for each remembered context, besides its own bytes.
const OVERHEAD_BYTES: usize = 64;

#[derive(Default)]
pub struct Contexts {
    inner: Mutex<ContextNumbers>,
}

#[derive(Default)]
struct ContextNumbers {
    last: u64,
    bytes: usize,
    numbers: HashMap<Vec<u8>, u64>,
    with_several_hosts: HashSet<Vec<u8>>,
}

impl Contexts {
    /// Returns the number of the context with these bytes. Equal bytes give equal numbers for as long as they are
    /// remembered; afterwards they get a new number, and a number is never used twice.
    pub fn number(&self, identity: &[u8]) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(number) = inner.numbers.get(identity) {
            return *number;
        }
        inner.bytes += identity.len() + OVERHEAD_BYTES;
        if inner.bytes > REMEMBERED_BYTES {
            inner.numbers = HashMap::new();
            inner.bytes = identity.len() + OVERHEAD_BYTES;
        }
        inner.last += 1;
        let number = inner.last;
        inner.numbers.insert(identity.to_vec(), number);
        number
    }

    /// Sets the users that have privileges for several hosts, as just looked up. `Settings::note_hosts` must follow.
    /// The empty user name stands for all users.
    pub fn note_several_hosts(&self, users: HashSet<Vec<u8>>) {
        self.inner.lock().unwrap_or_else(|e| e.into_inner()).with_several_hosts = users;
    }

    /// True if the privileges of this user may depend on the host that the client connects from.
    pub fn has_several_hosts(&self, user: &[u8]) -> bool {
        let inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        inner.with_several_hosts.contains(user) || inner.with_several_hosts.contains(&b""[..])
    }

    /// Returns a new number that no other session has or will get.
    pub fn private(&self) -> u64 {
        let mut inner = self.inner.lock().unwrap_or_else(|e| e.into_inner());
        inner.last += 1;
        inner.last
    }
}

/// Builds the bytes of a context for [`Contexts::number`]. Each part is preceded by its length, so that different lists
/// of parts never give the same bytes.
#[derive(Default)]
pub struct Parts(Vec<u8>);

impl Parts {
    pub fn push(&mut self, part: &[u8]) -> &mut Self {
        self.0.extend_from_slice(&(part.len() as u32).to_le_bytes());
        self.0.extend_from_slice(part);
        self
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_identities_have_one_number() {
        let contexts = Contexts::default();
        let number = contexts.number(b"a");
        assert_ne!(contexts.number(b"b"), number);
        assert_eq!(contexts.number(b"a"), number);
    }

    #[test]
    fn memory_for_identities_is_bounded_and_no_number_comes_twice() {
        let contexts = Contexts::default();
        let long = vec![b'x'; 2000];
        let mut numbers: Vec<_> =
            (0..10_000_u32).map(|n| contexts.number(&[&n.to_le_bytes()[..], &long].concat())).collect();
        let remembered: usize = contexts.inner.lock().unwrap().numbers.keys().map(Vec::len).sum();
        assert!(remembered <= REMEMBERED_BYTES, "{remembered} bytes");
        numbers.push(contexts.number(&[&0_u32.to_le_bytes()[..], &long].concat()));
        assert!(numbers.is_sorted_by(|a, b| a < b));
    }
}
