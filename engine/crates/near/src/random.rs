//! Random bytes from the operating system.

use ring::rand::{SecureRandom, SystemRandom};
use std::io;

/// Returns random bytes that are fit for cryptography. An error if the operating system gives none.
pub fn bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    let mut bytes = [0; COUNT];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no random numbers"))?;
    Ok(bytes)
}
