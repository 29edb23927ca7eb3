//! Decides when to wait for a client's next command inside the read, and when to leave the waiting to the server.
//!
//! The server tries to read, gets nothing, polls the socket and reads again: three system calls. A read that waits is one call. But it
//! waits only for a moment, so that the server's own timeouts keep working, and a wait that yields nothing costs more than it saves.
//! So it is tried only on connections whose commands follow each other closely.

use crate::io::Io;

/// How many commands of a new connection pass before the first wait: many connections send one or two commands and close.
const FIRST: u16 = 8;
/// After this many failed waits, the pause between waits grows no further. The pause is then 256 commands.
const MOST: u32 = 8;

/// Decides for one connection when a read should wait for the next command.
pub struct WaitPolicy {
    /// How many commands to let pass before the next wait; none if waiting is impossible on this connection.
    passing: Option<u16>,
    /// True once the socket is prepared for waiting.
    is_ready: bool,
    /// Failed waits minus successful ones, between 0 and `MOST`.
    vain: u32,
}

impl Default for WaitPolicy {
    fn default() -> WaitPolicy {
        WaitPolicy { passing: Some(FIRST), is_ready: false, vain: 0 }
    }
}

impl WaitPolicy {
    /// True if the read should wait for the next command. Call once per command, because each call counts it. Prepares the socket at the
    /// first wait.
    pub fn is_due(&mut self, io: &mut dyn Io) -> bool {
        match &mut self.passing {
            None => return false,
            Some(0) => {}
            Some(left) => {
                *left -= 1;
                return false;
            }
        }
        if !self.is_ready {
            self.is_ready = io.learn_to_wait();
            self.passing = self.is_ready.then_some(0);
        }
        self.is_ready
    }

    /// Records whether a wait received bytes. Each failed wait doubles the number of commands before the next wait; after a successful one,
    /// the next command is waited for, too.
    pub fn note(&mut self, has_come: bool) {
        if has_come {
            self.vain = self.vain.saturating_sub(1);
        } else {
            self.vain = (self.vain + 1).min(MOST);
            self.passing = Some(1 << self.vain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Socket {
        may_wait: bool,
    }

    impl Io for Socket {
        fn read(&mut self, _: &mut [u8]) -> isize {
            0
        }
        fn peek(&mut self, _: &mut [u8]) -> isize {
            0
        }
        fn write(&mut self, _: &[u8]) -> isize {
            0
        }
        fn try_write(&mut self, _: &[&[u8]]) -> usize {
            0
        }
        fn learn_to_wait(&mut self) -> bool {
            self.may_wait
        }
        fn read_patiently(&mut self, _: &mut [u8]) -> isize {
            0
        }
        fn would_block(&mut self) -> bool {
            true
        }
        fn wait_writable(&mut self, _: i32) -> bool {
            true
        }
    }

    /// Returns how many commands pass before the next wait, at most 1000.
    fn passed_over(wait_policy: &mut WaitPolicy, io: &mut Socket) -> usize {
        (0..1000).take_while(|_| !wait_policy.is_due(io)).count()
    }

    #[test]
    fn waits_in_vain_get_rarer_until_some_are_not() {
        let (mut wait_policy, mut io) = (WaitPolicy::default(), Socket { may_wait: true });
        assert_eq!(passed_over(&mut wait_policy, &mut io), 8);
        for expected in [2, 4, 8, 16, 32, 64, 128, 256, 256] {
            wait_policy.note(false);
            assert_eq!(passed_over(&mut wait_policy, &mut io), expected);
        }
        for _ in 0..6 {
            wait_policy.note(true);
            assert_eq!(passed_over(&mut wait_policy, &mut io), 0);
        }
        wait_policy.note(false);
        assert_eq!(passed_over(&mut wait_policy, &mut io), 8);
    }

    #[test]
    fn a_connection_that_cannot_wait_is_asked_once() {
        let (mut wait_policy, mut io) = (WaitPolicy::default(), Socket { may_wait: false });
        assert_eq!(passed_over(&mut wait_policy, &mut io), 1000);
        io.may_wait = true;
        assert_eq!(passed_over(&mut wait_policy, &mut io), 1000);
    }
}
