//! `libfqc.so`: answers repeated reads inside the application's process, from memory that `fqc-near` writes.
//!
//! The library is loaded by `LD_PRELOAD` and replaces the C library's functions for sockets ([`hooks`]). A connection whose server greets
//! like MySQL is followed ([`connection`]); every other descriptor costs one look into a table ([`table`]).
//!
//! Invariants:
//! - a read is answered here only if the near cache has served this very connection last, and the connection has sent and received
//!   nothing since: both sides count bytes. So whatever passes by other ways, such as `io_uring` or a duplicate of the
//!   descriptor, makes the counts differ for good, and the connection is served by the near cache alone;
//! - an answer that is given here is read to its end before anything is read from the socket;
//! - before the client's next command, a hit report to the near cache names the last read that was answered here;
//! - a process that was forked follows none of its parent's connections.
//!
//! Deliberately absent: TLS, compression, and clients that wait by `epoll`. They pass.
//!
//! The words of comments are explained in `docs/concepts/words.md`.

#[cfg(not(test))]
mod attached;
mod connection;
#[cfg(not(test))]
mod hooks;
#[cfg(not(test))]
mod lock;
mod login;
mod prepared;
#[cfg(not(test))]
mod real;
#[cfg(not(test))]
mod table;
