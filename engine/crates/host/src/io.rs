//! The socket calls of one connection, as the server would make them.

pub trait Io {
    /// Like `recv`: returns a count, 0 at the end of the stream, or a negative value with the error stored where the caller looks for it.
    fn read(&mut self, buffer: &mut [u8]) -> isize;
    /// Like `read`, but leaves the bytes in the socket for the next read.
    fn peek(&mut self, buffer: &mut [u8]) -> isize;
    /// Like `send`: a failure leaves its reason in the thread's last error.
    fn write(&mut self, bytes: &[u8]) -> isize;
    /// Sends the pieces without blocking and returns how many bytes went out.
    fn try_write(&mut self, pieces: &[&[u8]]) -> usize;
    /// Prepares for `read_patiently`. Returns false if only the server may wait on this connection.
    fn learn_to_wait(&mut self) -> bool;
    /// Like `read`, but waits a moment if nothing has arrived.
    fn read_patiently(&mut self, buffer: &mut [u8]) -> isize;
    /// Reports to the server that nothing has arrived. Returns false if only a real read can report that.
    fn would_block(&mut self) -> bool;
    fn wait_writable(&mut self, timeout_ms: i32) -> bool;
}
