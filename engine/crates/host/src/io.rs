//! One connection's bytes, as the server would get and send them.

pub trait Io {
    /// As `recv`: a count, 0 at the end, or negative with the reason where the caller looks for it.
    fn read(&mut self, buffer: &mut [u8]) -> isize;
    /// As `read`, but the bytes stay where they are, for the next read.
    fn peek(&mut self, buffer: &mut [u8]) -> isize;
    /// As `send`, with the reason of a failure in the thread's last error.
    fn write(&mut self, bytes: &[u8]) -> isize;
    /// Sends pieces without waiting; how many bytes went out.
    fn try_write(&mut self, pieces: &[&[u8]]) -> usize;
    /// Prepares for `read_patiently`. False if this connection has to be waited for by the server.
    fn learn_to_wait(&mut self) -> bool;
    /// As `read`, but waits a moment where nothing has come.
    fn read_patiently(&mut self, buffer: &mut [u8]) -> isize;
    /// Tells the server that nothing has come yet. False if only a real read can say so.
    fn would_block(&mut self) -> bool;
    fn wait_writable(&mut self, timeout_ms: i32) -> bool;
}
