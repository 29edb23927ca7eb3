//! A TCP forwarder to a port of this machine. It can hold back bytes in one direction or in both, and reset connections.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// A direction: `There` is from the client to the server, `Back` from the server to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    There,
    Back,
}

/// A forwarder that runs in threads of its own. Dropping it resets its connections and ends it.
pub struct Wire {
    port: u16,
    inside: Arc<Inside>,
}

#[derive(Default)]
struct Inside {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The port that new connections lead to.
    far: u16,
    held: Vec<Direction>,
    streams: Vec<TcpStream>,
    is_over: bool,
}

impl Wire {
    /// Starts a forwarder to this port of the loopback address.
    pub fn to(port: u16) -> io::Result<Wire> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let wire = Wire { port: listener.local_addr()?.port(), inside: Arc::default() };
        wire.lead_to(port);
        let inside = wire.inside.clone();
        thread::spawn(move || {
            for near in listener.incoming() {
                let (far, is_over) = {
                    let state = inside.state.lock().unwrap();
                    (state.far, state.is_over)
                };
                if is_over {
                    return;
                }
                // If no connection to the server can be made, the client's connection is closed.
                let _ = near.and_then(|near| connect(&inside, near, TcpStream::connect(("127.0.0.1", far))?));
            }
        });
        Ok(wire)
    }

    /// The port that clients connect to instead of the server's.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Sets the server's port for new connections. Existing connections keep theirs.
    pub fn lead_to(&self, port: u16) {
        self.inside.state.lock().unwrap().far = port;
    }

    /// Holds back everything that is sent in these directions, on all connections, and releases the others. `hold(&[])` releases both; what
    /// was held then arrives.
    pub fn hold(&self, ways: &[Direction]) {
        self.inside.state.lock().unwrap().held = ways.to_vec();
        self.inside.changed.notify_all();
    }

    /// Resets all connections at once, to both sides. Bytes under way are lost. New connections are accepted as before.
    pub fn reset(&self) {
        for stream in std::mem::take(&mut self.inside.state.lock().unwrap().streams) {
            // SAFETY: all zeros are a valid address, which names no host.
            let nowhere: libc::sockaddr = unsafe { std::mem::zeroed() };
            let size = size_of::<libc::sockaddr>() as libc::socklen_t;
            // SAFETY: the address is valid for the call to read. Connecting to no address makes the kernel reset the connection.
            unsafe { libc::connect(stream.as_raw_fd(), &nowhere, size) };
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.inside.state.lock().unwrap().is_over = true;
        self.hold(&[]);
        self.reset();
        // This connection wakes the listening thread, which then sees that it has to end.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn connect(inside: &Arc<Inside>, near: TcpStream, far: TcpStream) -> io::Result<()> {
    [&near, &far].into_iter().try_for_each(|stream| stream.set_nodelay(true))?;
    let ways = [
        (Direction::There, near.try_clone()?, far.try_clone()?),
        (Direction::Back, far.try_clone()?, near.try_clone()?),
    ];
    inside.state.lock().unwrap().streams.extend([near, far]);
    for (way, from, to) in ways {
        let inside = inside.clone();
        thread::spawn(move || carry(&inside, way, from, to));
    }
    Ok(())
}

/// Forwards bytes in one direction until the sender closes, or the receiver has gone.
fn carry(inside: &Inside, way: Direction, mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 << 10];
    loop {
        let count = from.read(&mut bytes).unwrap_or(0);
        let state = inside.state.lock().unwrap();
        drop(inside.changed.wait_while(state, |state| state.held.contains(&way)).unwrap());
        if count == 0 || to.write_all(&bytes[..count]).is_err() {
            let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_held_up_arrives_later_and_what_is_reset_does_not() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let wire = Wire::to(listener.local_addr().unwrap().port()).unwrap();
        let mut near = TcpStream::connect(("127.0.0.1", wire.port())).unwrap();
        let (mut far, _) = listener.accept().unwrap();
        let mut bytes = [0; 1];
        wire.hold(&[Direction::There]);
        near.write_all(b"a").unwrap();
        far.write_all(b"b").unwrap();
        near.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"b", "the other way is free");
        far.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(far.read(&mut bytes).is_err(), "nothing arrives");
        far.set_read_timeout(None).unwrap();
        wire.hold(&[]);
        far.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"a");
        wire.reset();
        let ends = [near.read(&mut bytes), far.read(&mut bytes)].map(|end| end.map_err(|error| error.kind()));
        assert_eq!(ends, [const { Err(io::ErrorKind::ConnectionReset) }; 2]);
    }
}
