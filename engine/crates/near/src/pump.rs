//! Moves the bytes of one connection, both ways.
//!
//! A side is read only when the other has taken everything that came before, so that a full socket pushes back to whoever fills it.
//! A connection that waits holds no buffer: bytes are read into one that its thread has for all.

use crate::counts::Counts;
use crate::login::Legs;
use crate::stream::Stream;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::sync::watch;
use tokio::time::timeout;

/// Read at a time: this much may be kept for each direction of a connection whose receiver is slow.
const PIECE: usize = 64 << 10;
const GOODBYE: Duration = Duration::from_secs(1);

thread_local! {
    static SHARED: RefCell<Vec<u8>> = RefCell::new(vec![0; PIECE]);
}

/// Why nothing more passes in one direction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The receiver has everything that came before.
    SenderGone,
    ReceiverGone,
}

/// What a receiver has not taken yet.
#[derive(Default)]
struct Rest {
    bytes: Vec<u8>,
    taken: usize,
    /// Taken by the stream, but perhaps not sent.
    is_unsent: bool,
}

impl Rest {
    fn new(bytes: Vec<u8>) -> Rest {
        Rest { bytes, ..Rest::default() }
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty() && !self.is_unsent
    }

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

    fn deliver(&mut self, context: &mut Context<'_>, to: &mut Stream, bytes: &[u8]) -> Poll<io::Result<()>> {
        let mut sent = 0;
        while sent < bytes.len() {
            match poll_some(context, to, &bytes[sent..]) {
                Poll::Ready(count) => sent += count?,
                Poll::Pending => {
                    self.bytes = bytes[sent..].to_vec();
                    break;
                }
            }
        }
        self.is_unsent = sent > 0;
        self.poll_delivered(context, to)
    }
}

fn poll_some(context: &mut Context<'_>, to: &mut Stream, bytes: &[u8]) -> Poll<io::Result<usize>> {
    let count = ready!(Pin::new(to).poll_write(context, bytes))?;
    Poll::Ready(if count == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(count) })
}

/// Until one of the two has gone.
fn poll_direction(
    context: &mut Context<'_>,
    from: &mut Stream,
    to: &mut Stream,
    rest: &mut Rest,
    see: &mut dyn FnMut(&[u8]),
) -> Poll<Stop> {
    loop {
        if ready!(rest.poll_delivered(context, to)).is_err() {
            return Poll::Ready(Stop::ReceiverGone);
        }
        let stop = SHARED.with_borrow_mut(|buffer| {
            let mut read = ReadBuf::new(buffer);
            let outcome = ready!(Pin::new(&mut *from).poll_read(context, &mut read));
            if outcome.is_err() || read.filled().is_empty() {
                return Poll::Ready(Some(Stop::SenderGone));
            }
            see(read.filled());
            let outcome = ready!(rest.deliver(context, to, read.filled()));
            Poll::Ready(outcome.err().map(|_| Stop::ReceiverGone))
        });
        if let Some(stop) = ready!(stop) {
            return Poll::Ready(stop);
        }
    }
}

/// Until one side has gone, or, while `draining` says so, the connection is at rest.
pub async fn pump(legs: Legs, counts: &Counts, draining: &mut watch::Receiver<bool>) {
    let Legs { mut client, mut server, mut follower, to_client, to_server } = legs;
    let (mut to_client, mut to_server) = (Rest::new(to_client), Rest::new(to_server));
    let (mut is_draining, mut is_server_deaf) = (false, false);
    let mut drain = pin!(async {
        // An error: nobody is left to say so.
        let _ = draining.wait_for(|is_draining| *is_draining).await;
    });
    let mut is_read = true;
    poll_fn(|context| {
        is_draining = is_draining || drain.as_mut().poll(context).is_ready();
        let mut see_client = |bytes: &[u8]| {
            follower.from_client(bytes);
            counts.from_clients.add(bytes.len());
            counts.commands.add(follower.take_commands());
        };
        if !is_server_deaf {
            match poll_direction(context, &mut client, &mut server, &mut to_server, &mut see_client) {
                Poll::Ready(Stop::SenderGone) => return Poll::Ready(()),
                // Its last words may say why.
                Poll::Ready(Stop::ReceiverGone) => is_server_deaf = true,
                Poll::Pending => {}
            }
        }
        let mut see_server = |bytes: &[u8]| {
            follower.from_server(bytes);
            counts.from_servers.add(bytes.len());
        };
        if poll_direction(context, &mut server, &mut client, &mut to_client, &mut see_server).is_ready() {
            return Poll::Ready(());
        }
        if let Some(why) = follower.why_unread().filter(|_| std::mem::take(&mut is_read)) {
            counts.unread[why as usize].add(1);
        }
        let is_idle = follower.is_at_rest() && to_client.is_empty() && to_server.is_empty();
        if is_draining && is_idle { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    // With TLS, an end without a word looks like an attack to the other side.
    let _ = timeout(GOODBYE, async { tokio::join!(client.shutdown(), server.shutdown()) }).await;
}
