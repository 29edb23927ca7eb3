//! Moves the bytes of one connection in both directions.
//!
//! A side is read only when the other side has taken all earlier bytes, so that a slow receiver slows down its sender. An idle connection
//! holds no buffer: bytes are read into one buffer that all connections of a thread share.

use crate::login::LoggedIn;
use crate::metrics::ConnectionCounts;
use crate::stream::Stream;
use near_core::follow::Follower;
use near_core::session::{Route, Session};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;
use tokio::time::timeout;

/// The size of a read in bytes. For each direction of a connection with a slow receiver, this much may be buffered.
const PIECE: usize = 64 << 10;
/// How long closing both sides may take.
const GOODBYE: Duration = Duration::from_secs(1);

thread_local! {
    /// The buffer that all connections of this thread read into. It holds nothing between two polls.
    static SHARED: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// The reason why no more bytes can pass in one direction, from a sender to a receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectionEnd {
    /// The sender has closed its connection. The receiver has all bytes that it sent before.
    SenderGone,
    /// The receiver takes no more bytes.
    ReceiverGone,
}

/// Bytes that a receiver is to get and has not taken yet, because it is slow.
#[derive(Default)]
struct OutputBuffer {
    bytes: Vec<u8>,
    /// How many of `bytes` the receiver has taken.
    taken: usize,
    /// True if the stream has taken bytes that it may not have sent yet, so it must be flushed.
    is_unsent: bool,
}

impl OutputBuffer {
    /// Begins with bytes that the receiver must get before all others.
    fn new(bytes: Vec<u8>) -> OutputBuffer {
        OutputBuffer { bytes, ..OutputBuffer::default() }
    }

    /// Returns true if nothing is buffered, and everything that was written is also flushed.
    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.is_unsent
    }

    /// Writes what is buffered. Ready once the receiver has taken all of it and the stream is flushed; an error if the receiver is gone.
    fn poll_delivered(&mut self, context: &mut Context<'_>, to: &mut Stream) -> Poll<io::Result<()>> {
        while self.taken < self.bytes.len() {
            self.taken += ready!(poll_some(context, to, &self.bytes[self.taken..]))?;
            self.is_unsent = true;
        }
        (self.bytes, self.taken) = (Vec::new(), 0);
        if self.is_unsent {
            ready!(Pin::new(to).poll_flush(context))?;
            self.is_unsent = false;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes `bytes` after everything that is still buffered. All of `bytes` is consumed: what the receiver does not take at once is
    /// buffered. After Pending, call `poll_delivered`; do not pass the same bytes again.
    fn deliver(&mut self, context: &mut Context<'_>, to: &mut Stream, bytes: &[u8]) -> Poll<io::Result<()>> {
        let mut rest = bytes;
        while self.bytes.is_empty()
            && !rest.is_empty()
            && let Poll::Ready(count) = poll_some(context, to, rest)
        {
            rest = &rest[count?..];
            self.is_unsent = true;
        }
        self.bytes.extend_from_slice(rest);
        self.poll_delivered(context, to)
    }
}

/// Writes a part of `bytes` to a connection, and returns how many bytes were taken; never 0.
fn poll_some(context: &mut Context<'_>, to: &mut Stream, bytes: &[u8]) -> Poll<io::Result<usize>> {
    let count = ready!(Pin::new(to).poll_write(context, bytes))?;
    Poll::Ready(if count == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(count) })
}

/// Moves bytes from `from` to `to` until one of them is gone or has to be waited for. `route_bytes` gets all bytes that are read, and true
/// if `from` has been sent everything that was for it; it decides where the bytes go. `rest` has the bytes that `to` has not taken yet,
/// `back` those that `from` has not. Ready if one of the two is gone.
fn poll_direction(
    context: &mut Context<'_>,
    from: &mut Stream,
    to: &mut Stream,
    rest: &mut OutputBuffer,
    back: &mut OutputBuffer,
    route_bytes: &mut dyn FnMut(&[u8], bool) -> Route,
) -> Poll<DirectionEnd> {
    loop {
        if ready!(rest.poll_delivered(context, to)).is_err() {
            return Poll::Ready(DirectionEnd::ReceiverGone);
        }
        let stop = SHARED.with_borrow_mut(|buffer| {
            let mut read = ReadBuf::new(buffer);
            let outcome = ready!(Pin::new(&mut *from).poll_read(context, &mut read));
            if outcome.is_err() || read.filled().is_empty() {
                return Poll::Ready(Some(DirectionEnd::SenderGone));
            }
            let outcome = match route_bytes(read.filled(), back.is_empty()) {
                Route::Pass => ready!(rest.deliver(context, to, read.filled())),
                Route::Replace(bytes) => ready!(rest.deliver(context, to, &bytes)),
                Route::Hold(bytes) => {
                    let outcome = ready!(rest.deliver(context, to, &bytes));
                    return outcome.map_or(Poll::Ready(Some(DirectionEnd::ReceiverGone)), |()| Poll::Pending);
                }
                Route::ReplaceAndAnswer { to_server, answer } => {
                    if let Poll::Ready(Err(_)) = rest.deliver(context, to, &to_server) {
                        return Poll::Ready(Some(DirectionEnd::ReceiverGone));
                    }
                    let outcome = ready!(back.deliver(context, from, &answer));
                    return Poll::Ready(outcome.err().map(|_| DirectionEnd::SenderGone));
                }
                Route::Answer(bytes) => {
                    let outcome = ready!(back.deliver(context, from, &bytes));
                    return Poll::Ready(outcome.err().map(|_| DirectionEnd::SenderGone));
                }
            };
            Poll::Ready(outcome.err().map(|_| DirectionEnd::ReceiverGone))
        });
        if let Some(stop) = ready!(stop) {
            return Poll::Ready(stop);
        }
    }
}

/// Follows bytes that the server has sent, and shows the answers in them to the session. Returns [`Route::Pass`] if the client is to get
/// all these bytes, otherwise [`Route::Replace`] with those that it is to get: answers to queries of the near cache's own are hidden from
/// it.
pub fn server_bytes(follower: &mut Follower, session: &mut Option<Session>, bytes: &[u8]) -> Route {
    let (mut shown, mut hides) = (Vec::new(), follower.hides_something());
    let rest = follower.server_bytes(bytes, |part| {
        if let (Some(session), Some(number)) = (session.as_mut(), part.number) {
            session.answer_bytes(number, part.bytes, part.outcome.as_ref());
        }
        if let (Some(session), Some(outcome)) = (session.as_mut(), &part.outcome) {
            session.answer_completed(outcome, part.is_hidden);
        }
        if hides && !part.is_hidden {
            shown.extend_from_slice(part.bytes);
        }
    });
    if !hides {
        return Route::Pass;
    }
    hides = follower.hides_something();
    if follower.why_unread().is_none() || !hides {
        shown.extend_from_slice(rest);
    }
    Route::Replace(shown)
}

/// Moves the bytes of a connection after its login until one side is gone, and then closes both sides. `session` answers reads from memory;
/// none if the connection cannot be read. While `draining` is true, this also ends as soon as no command or transaction is open.
pub async fn pump(
    connection: LoggedIn,
    mut session: Option<Session>,
    counts: &ConnectionCounts,
    draining: &mut watch::Receiver<bool>,
) {
    let LoggedIn { mut client, mut server, mut follower, to_client, to_server, .. } = connection;
    let (mut to_client, mut to_server) = (OutputBuffer::new(to_client), OutputBuffer::new(to_server));
    let (mut is_draining, mut has_server_stopped_reading) = (false, false);
    let mut drain = pin!(async {
        // An error means that the sender has gone, with the process.
        let _ = draining.wait_for(|is_draining| *is_draining).await;
    });
    let mut is_read = true;
    poll_fn(|context| {
        is_draining = is_draining || drain.as_mut().poll(context).is_ready();
        // The server's bytes come first: a client whose connection the server has killed is not served from memory.
        let mut route_server_bytes = |bytes: &[u8], _| {
            counts.from_servers.add(bytes.len());
            let route = server_bytes(&mut follower, &mut session, bytes);
            let shown = if let Route::Replace(shown) = &route { shown.len() } else { bytes.len() };
            session.iter_mut().for_each(|session| session.count_shown(shown));
            route
        };
        let polled =
            poll_direction(context, &mut server, &mut client, &mut to_client, &mut to_server, &mut route_server_bytes);
        if polled.is_ready() {
            return Poll::Ready(());
        }
        let held = session.as_mut().and_then(|session| session.take_held(context, &mut follower));
        counts.commands.add(follower.take_commands() + usize::from(matches!(held, Some(Route::Answer(_)))));
        let is_held_again = matches!(held, Some(Route::Hold(_)));
        let sent = match held {
            Some(Route::Answer(answer) | Route::ReplaceAndAnswer { answer, .. }) => {
                if matches!(to_client.deliver(context, &mut client, &answer), Poll::Ready(Err(_))) {
                    return Poll::Ready(());
                }
                Poll::Pending
            }
            Some(Route::Replace(bytes) | Route::Hold(bytes)) => to_server.deliver(context, &mut server, &bytes),
            Some(Route::Pass) | None => to_server.poll_delivered(context, &mut server),
        };
        if matches!(sent, Poll::Ready(Err(_))) {
            has_server_stopped_reading = true;
        }
        let is_holding = session.as_ref().is_some_and(Session::is_holding);
        let mut route_client_bytes = |bytes: &[u8], has_client_received_all| {
            counts.from_clients.add(bytes.len());
            let route = match &mut session {
                Some(session) => session.client_bytes(&mut follower, bytes, has_client_received_all),
                None => {
                    follower.client_bytes(bytes);
                    Route::Pass
                }
            };
            let is_answered = matches!(route, Route::Answer(_) | Route::ReplaceAndAnswer { .. });
            counts.commands.add(follower.take_commands() + usize::from(is_answered));
            route
        };
        if !has_server_stopped_reading && !is_holding {
            let (from, to) = (&mut client, &mut server);
            match poll_direction(context, from, to, &mut to_server, &mut to_client, &mut route_client_bytes) {
                Poll::Ready(DirectionEnd::SenderGone) => return Poll::Ready(()),
                // The server's last packets, which are still read, may say why it has closed the connection.
                Poll::Ready(DirectionEnd::ReceiverGone) => {
                    has_server_stopped_reading = true;
                    context.waker().wake_by_ref();
                }
                Poll::Pending => {}
            }
        }
        let holds = session.as_ref().is_some_and(Session::is_holding);
        if holds && (!is_holding || is_held_again) {
            // The next poll calls `take_held`, which registers this task with whatever the held command waits for.
            context.waker().wake_by_ref();
        }
        if let Some(why) = follower.why_unread().filter(|_| std::mem::take(&mut is_read)) {
            counts.unread[why as usize].add(1);
            session = None;
            if follower.hides_something() || holds {
                return Poll::Ready(());
            }
        }
        let is_idle = follower.is_at_rest() && !holds && to_client.is_empty() && to_server.is_empty();
        if is_draining && is_idle { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    // Dropping the session also stops a library in the client's process (see `Session::share`) from answering. That must happen before the
    // client can see the end.
    drop(session);
    // A shutdown also closes TLS. Without that, the other side would have to take the end for an attack.
    let _ = timeout(GOODBYE, async { tokio::join!(client.shutdown(), server.shutdown()) }).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, duplex};

    #[tokio::test]
    async fn what_was_not_taken_yet_is_delivered_first() {
        let (near, mut far) = duplex(4);
        let (mut to, mut rest): (Stream, OutputBuffer) = (Box::new(near), OutputBuffer::default());
        for piece in [b"abcdef", b"ghijkl"] {
            let polled = poll_fn(|context| Poll::Ready(rest.deliver(context, &mut to, piece))).await;
            assert!(polled.is_pending(), "there is room for four bytes alone");
        }
        let delivered = poll_fn(|context| rest.poll_delivered(context, &mut to));
        let mut taken = [0; 12];
        let (delivered, read) = tokio::join!(delivered, far.read_exact(&mut taken));
        assert!(delivered.is_ok() && read.is_ok());
        assert_eq!(&taken, b"abcdefghijkl");
    }
}
