//! The socket calls of one connection, as the server would make them: to the socket itself, or through TLS.

/// The socket of one connection to a client, or TLS on that socket. The calls behave like the server's own ones.
pub trait Io {
    /// Reads bytes, as `recv` does. Returns their count, 0 at the end of the stream, or a negative value with the error
    /// in errno.
    fn read(&mut self, buffer: &mut [u8]) -> isize;
    /// Copies received bytes into the buffer, and leaves them in the socket for the next read. Returns their count, 0
    /// at the end of the stream, or a negative value with the error in errno.
    fn peek(&mut self, buffer: &mut [u8]) -> isize;
    /// Writes bytes, as `send` does. Returns their count, which may be fewer than all, or a negative value with the
    /// error in errno.
    fn write(&mut self, bytes: &[u8]) -> isize;
    /// Sends the pieces in this order without blocking. Returns how many bytes went out, 0 after an error; the caller sends the rest with
    /// `write`.
    fn try_write(&mut self, pieces: &[&[u8]]) -> usize;
    /// Prepares the socket for `read_patiently`, once for each connection. Returns false if only the server may wait on this connection;
    /// `read_patiently` is then not called.
    fn learn_to_wait(&mut self) -> bool;
    /// Reads bytes, and blocks for a moment (a fraction of a second) if nothing has arrived. Returns their count, 0 at
    /// the end of the stream, or a negative value with the error in errno.
    fn read_patiently(&mut self, buffer: &mut [u8]) -> isize;
    /// Reports to the server that nothing has arrived: sets errno as a read that would block does. Returns false, and sets nothing, if only
    /// a real read can report that.
    fn would_block(&mut self) -> bool;
    /// Blocks until the socket takes bytes again. Returns false after `timeout_ms` milliseconds.
    fn wait_writable(&mut self, timeout_ms: i32) -> bool;
}
