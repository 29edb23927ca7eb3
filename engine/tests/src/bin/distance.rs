//! Makes a server on the same machine seem far away: `distance --server 127.0.0.1:3306 --each-way-us 500` prints the port that it listens
//! on, and delays everything that passes in either direction by that time. It has one thread and one queue, to take little processor time
//! itself. With `--waited FILE` it keeps in that file how long clients have waited for the server: nanoseconds, as eight bytes,
//! little-endian.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::ptr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use fqc_tests::arguments::Arguments;

const USAGE: &str = "distance [--server HOST:PORT] [--each-way-us N] [--waited FILE]";
const MOST_EVENTS: usize = 256;
/// Index of the client's connection in `Connections::ends`.
const CLIENT: usize = 0;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}\nusage: {USAGE}");
            ExitCode::from(2)
        }
    }
}

fn run() -> io::Result<()> {
    let arguments = Arguments::read(USAGE)?;
    let server = arguments.all("server").last().ok_or_else(|| io::Error::other("--server is missing"))?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("listening on port {}", listener.local_addr()?.port());
    Distance {
        server: server.to_string(),
        each_way: Duration::from_micros(arguments.number("each-way-us", 500)?),
        poll: Poll::new(&listener)?,
        listener,
        ends: HashMap::new(),
        under_way: VecDeque::new(),
        waited: arguments.all("waited").last().map(ResponseTimes::create).transpose()?,
    }
    .pass_on()
}

/// Two connections that are forwarded to each other.
type Pair = Rc<Connections>;

/// A client's connection, and the one to the server that was opened for it.
struct Connections {
    ends: [TcpStream; 2],
    request: Cell<Request>,
}

/// The last request of a connection, and its response.
#[derive(Clone, Copy)]
enum Request {
    /// No request has come yet.
    None,
    /// The request's first bytes came at this time, and nothing of the response.
    Sent(Instant),
    /// A part of the response has come, the last one at this time.
    Answered(Instant),
}

/// Bytes that one side has sent, on their way to the other side. Empty if the sending side has closed its connection.
struct DelayedBytes {
    due: Instant,
    /// The connections, and which of them gets the bytes.
    to: (Pair, usize),
    bytes: Vec<u8>,
}

struct Distance {
    server: String,
    each_way: Duration,
    listener: TcpListener,
    poll: Poll,
    /// The sockets that are still read, by their descriptors.
    ends: HashMap<RawFd, (Pair, usize)>,
    /// All parcels are delayed by the same time, so the first one is due first.
    under_way: VecDeque<DelayedBytes>,
    waited: Option<ResponseTimes>,
}

/// The time from each request to the last part of its response, added up over all connections.
struct ResponseTimes {
    file: File,
    sum: Duration,
}

impl ResponseTimes {
    fn create(path: &str) -> io::Result<Self> {
        let waited = Self { file: File::create(path)?, sum: Duration::ZERO };
        waited.write().map(|()| waited)
    }

    /// Notes that a client or the server has sent something, and adds up the time waited for responses.
    fn note(&mut self, request: &Cell<Request>, is_from_client: bool, now: Instant) -> io::Result<()> {
        match (request.get(), is_from_client) {
            (Request::None | Request::Answered(_), true) => request.set(Request::Sent(now)),
            // A request in several parts begins with the first, and a server's greeting answers no request.
            (Request::Sent(_), true) | (Request::None, false) => {}
            (Request::Sent(since) | Request::Answered(since), false) => {
                self.sum += now - since;
                request.set(Request::Answered(now));
                self.write()?;
            }
        }
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        self.file.write_all_at(&(self.sum.as_nanos() as u64).to_le_bytes(), 0)
    }
}

impl Distance {
    /// Forwards bytes for ever. Returns only if it cannot listen, connect or write its file.
    fn pass_on(&mut self) -> io::Result<()> {
        loop {
            let next = self.under_way.front().map(|parcel| parcel.due.saturating_duration_since(Instant::now()));
            for ready in self.poll.wait(next)? {
                if ready == self.listener.as_raw_fd() { self.accept()? } else { self.hear(ready)? }
            }
            while let Some(parcel) = self.under_way.pop_front_if(|parcel| parcel.due <= Instant::now()) {
                parcel.arrive();
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        let ends = [self.listener.accept()?.0, TcpStream::connect(&self.server)?];
        let pair = Rc::new(Connections { ends, request: Cell::new(Request::None) });
        for (side, end) in pair.ends.iter().enumerate() {
            end.set_nodelay(true)?;
            self.poll.add(end.as_raw_fd())?;
            self.ends.insert(end.as_raw_fd(), (pair.clone(), side));
        }
        Ok(())
    }

    /// Reads what a socket has received, and delays it. A closed connection is delayed, too.
    fn hear(&mut self, ready: RawFd) -> io::Result<()> {
        let mut bytes = vec![0; 1 << 16];
        let (pair, side) = &self.ends[&ready];
        let heard = (&pair.ends[*side]).read(&mut bytes).unwrap_or(0);
        bytes.truncate(heard);
        let is_end = bytes.is_empty();
        if let Some(waited) = self.waited.as_mut().filter(|_| !is_end) {
            waited.note(&pair.request, *side == CLIENT, Instant::now())?;
        }
        self.under_way.push_back(DelayedBytes {
            due: Instant::now() + self.each_way,
            to: (pair.clone(), 1 - side),
            bytes,
        });
        if is_end {
            self.ends.remove(&ready);
            self.poll.remove(ready)?;
        }
        Ok(())
    }
}

impl DelayedBytes {
    /// Writes the bytes to the receiving side, or closes it if there are none. Errors are ignored: if that connection has ended, its own
    /// end is passed on as well.
    fn arrive(self) {
        let mut to = &self.to.0.ends[self.to.1];
        let _ = if self.bytes.is_empty() { to.shutdown(Shutdown::Write) } else { to.write_all(&self.bytes) };
    }
}

/// The kernel's own epoll interface, since a wait has to be exact to microseconds.
struct Poll(RawFd);

impl Poll {
    fn new(listener: &TcpListener) -> io::Result<Self> {
        // SAFETY: the call takes no memory of ours. The descriptor lives as long as the program.
        let poll = Self(checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?);
        // SAFETY: the call takes no memory. Without it a wait may end 50 us late.
        checked(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) })?;
        poll.add(listener.as_raw_fd())?;
        Ok(poll)
    }

    fn add(&self, socket: RawFd) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: socket as u64 };
        // SAFETY: the event is read during the call.
        checked(unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_ADD, socket, &mut event) }).map(drop)
    }

    fn remove(&self, socket: RawFd) -> io::Result<()> {
        // SAFETY: no event is needed to remove one.
        checked(unsafe { libc::epoll_ctl(self.0, libc::EPOLL_CTL_DEL, socket, ptr::null_mut()) }).map(drop)
    }

    /// Returns the sockets that can be read. Waits for one at most for this time, or without end if there is none; then the result is
    /// empty.
    fn wait(&self, most: Option<Duration>) -> io::Result<Vec<RawFd>> {
        let most = most
            .map(|most| libc::timespec { tv_sec: most.as_secs() as libc::time_t, tv_nsec: most.subsec_nanos().into() });
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST_EVENTS];
        let limit = most.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: there is room for so many events, and the limit outlives the call.
        let found = checked(unsafe {
            libc::epoll_pwait2(self.0, events.as_mut_ptr(), MOST_EVENTS as i32, limit, ptr::null())
        })?;
        Ok(events[..found as usize].iter().map(|event| event.u64 as RawFd).collect())
    }
}

/// Turns a negative result of a system call into the error that it left.
fn checked(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_from_the_first_part_of_a_request_to_the_last_part_of_its_response() {
        let path = std::env::temp_dir().join(format!("fqc-waited-{}", std::process::id()));
        let mut waited = ResponseTimes::create(path.to_str().unwrap()).unwrap();
        let (request, start) = (Cell::new(Request::None), Instant::now());
        let parts = [
            // The greeting answers no request.
            (false, 10),
            (true, 100),
            (true, 101),
            (false, 130),
            (false, 150),
            // The client did not wait between a response and its next request.
            (true, 500),
            (false, 507),
        ];
        for (is_from_client, millis) in parts {
            waited.note(&request, is_from_client, start + Duration::from_millis(millis)).unwrap();
        }
        let kept = u64::from_le_bytes(std::fs::read(&path).unwrap().try_into().unwrap());
        std::fs::remove_file(&path).unwrap();
        assert_eq!(Duration::from_nanos(kept), Duration::from_millis(57));
    }
}
