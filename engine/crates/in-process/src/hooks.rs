//! The functions that replace the C library's. They pass everything to those, except for usual ways to send a read and receive its answer.

use crate::attached::MappedMemory;
use crate::connection::Connection;
use crate::login::Unfollowable;
use crate::{attached, real, table};
use libc::{
    EINPROGRESS, MSG_CMSG_CLOEXEC, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_PEEK, MSG_WAITALL, POLLIN, POLLRDNORM, c_int,
    c_short, c_uint, c_ulong, c_void, fd_set, iovec, msghdr, nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t,
    ssize_t, timespec, timeval,
};
use mapped::Outcome;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if connections are followed: the library was not switched off, and can notice forks.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// The maximum length of a message in several parts that is examined, in bytes. After a longer one, its connection is no longer followed.
const MOST_GATHERED: usize = 64 << 10;

/// The entry that makes the loader call [`begin`] before the program starts.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// Prepares the library when it is loaded.
extern "C" fn begin() {
    table::set_owner_process();
    // SAFETY: the handler touches atomics alone.
    let can_fork = unsafe { libc::pthread_atfork(None, None, Some(after_fork)) } == 0;
    let is_off = std::env::var_os("FQC_IN_PROCESS").is_some_and(|value| value == "0");
    IS_ON.store(can_fork && !is_off, Ordering::Relaxed);
}

/// Is called in the child after a fork: it follows none of the parent's connections.
unsafe extern "C" fn after_fork() {
    table::after_fork();
    attached::after_fork();
}

/// Returns the address of this thread's errno.
fn errno() -> *mut c_int {
    // SAFETY: the function has no preconditions.
    unsafe { libc::__errno_location() }
}

/// Runs work that the application has not asked for, and leaves errno as it was.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: errno belongs to this thread.
    let before = unsafe { *errno() };
    let outcome = work();
    // SAFETY: as above.
    unsafe { *errno() = before };
    outcome
}

/// Stops following the connection at `fd` if the outcome is that it cannot be followed, and counts the reason. None stands for a connection
/// that is not followed anyway.
fn forget_if_unfollowable(fd: c_int, outcome: Option<Result<(), Unfollowable>>) {
    if matches!(outcome, Some(Err(_))) {
        table::forget(fd);
        count_reason(outcome);
    }
}

/// Counts the reason why a connection is not followed.
fn count_reason(outcome: Option<Result<(), Unfollowable>>) {
    if let Some(Err(Unfollowable::NotServed(outcome))) = outcome {
        attached::count(outcome);
    }
}

/// Returns the bytes at this address; none for a null pointer.
///
/// # Safety
/// `bytes` must be valid for `length` bytes.
unsafe fn bytes_of<'a>(bytes: *const c_void, length: size_t) -> &'a [u8] {
    // SAFETY: the caller says so.
    if length == 0 || bytes.is_null() { &[] } else { unsafe { slice::from_raw_parts(bytes.cast(), length) } }
}

/// Returns the bytes at this address for writing; none for a null pointer.
///
/// # Safety
/// `bytes` must be valid for `length` bytes, which no other reference points to.
unsafe fn room_of<'a>(bytes: *mut c_void, length: size_t) -> &'a mut [u8] {
    // SAFETY: the caller says so.
    if length == 0 || bytes.is_null() { &mut [] } else { unsafe { slice::from_raw_parts_mut(bytes.cast(), length) } }
}

/// Copies the bytes of these parts one after the other. None if there are too many.
///
/// # Safety
/// `parts` must be valid for `count` parts, and each of them for its length.
unsafe fn gathered(parts: *const iovec, count: usize) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for at in 0..count {
        // SAFETY: the caller says so.
        let part = unsafe { &*parts.add(at) };
        if all.len() + part.iov_len > MOST_GATHERED {
            return None;
        }
        // SAFETY: the caller says so.
        all.extend_from_slice(unsafe { bytes_of(part.iov_base, part.iov_len) });
    }
    Some(all)
}

/// Answers `bytes` here if they are a read with a result in memory; the caller then learns that all were sent. Otherwise sends them by
/// `call`, after the hit report that the near cache needs. `flags` are those of send(2).
fn sending(fd: c_int, bytes: &[u8], flags: c_int, call: impl FnOnce() -> ssize_t) -> ssize_t {
    if !table::is_followed(fd) {
        return call();
    }
    let is_usual = flags & !(MSG_NOSIGNAL | MSG_DONTWAIT) == 0;
    if is_usual && table::with(fd, |connection| connection.try_answer(bytes, attached::now)) == Some(true) {
        return bytes.len() as ssize_t;
    }
    quietly(|| send_hit_report(fd));
    let is_begun = table::with(fd, |connection| connection.begin_sending()).is_some();
    let sent = call();
    if is_begun {
        let taken = &bytes[..usize::try_from(sent).unwrap_or_default().min(bytes.len())];
        quietly(|| {
            forget_if_unfollowable(
                fd,
                table::with(fd, |connection| connection.end_sending(taken, attached::now, attached::attach)),
            )
        });
    }
    sent
}

/// Sends the near cache a report of the reads that were answered here, if there were any. If that fails, the connection
/// is no longer followed.
fn send_hit_report(fd: c_int) {
    let Some(report) = table::with(fd, |connection| connection.take_hit_report()).flatten() else { return };
    let mut rest = &report[..];
    while !rest.is_empty() {
        table::with(fd, |connection| connection.begin_sending());
        // SAFETY: the bytes are valid for the call to read.
        let sent = unsafe { real::send(fd, rest.as_ptr().cast(), rest.len(), MSG_NOSIGNAL | libc::MSG_MORE) };
        let taken = &rest[..usize::try_from(sent).unwrap_or_default()];
        table::with(fd, |connection| connection.end_hit_report(taken));
        rest = &rest[taken.len()..];
        if sent < 0 && !may_try_again(fd) {
            // The caller's own call will say what is wrong. A part of a report is never completed, so the connection is of no use.
            table::forget(fd);
            return;
        }
    }
}

/// Returns true if the call that has just failed may be repeated. Waits until the socket has room if that was the reason.
fn may_try_again(fd: c_int) -> bool {
    // SAFETY: errno belongs to this thread.
    match unsafe { *errno() } {
        libc::EINTR => true,
        libc::EAGAIN => {
            let mut room = pollfd { fd, events: libc::POLLOUT, revents: 0 };
            // SAFETY: the structure is valid for the call.
            unsafe { real::poll(&raw mut room, 1, -1) >= 0 || *errno() == libc::EINTR }
        }
        _ => false,
    }
}

/// Stops following this connection, so that it is served by the near cache alone, if `reason` returns a reason for that. Does nothing while
/// the client has not read an answer that was given here.
fn stop_following(fd: c_int, reason: impl FnOnce(&mut Connection<MappedMemory>) -> Result<(), Unfollowable>) {
    if table::is_followed(fd) && !table::has_answer(fd) {
        quietly(|| {
            let reason = table::with(fd, reason);
            if reason != Some(Ok(())) {
                send_hit_report(fd);
                table::forget(fd);
            }
            count_reason(reason);
        });
    }
}

/// The reason for not following a connection any more whose client sends by calls that cannot be read. It is counted if this is known to be
/// a connection to a server or a near cache.
fn sends_otherwise(connection: &mut Connection<MappedMemory>) -> Result<(), Unfollowable> {
    let is_greeted = connection.is_greeted();
    Err(if is_greeted { Unfollowable::NotServed(Outcome::Call) } else { Unfollowable::Uncounted })
}

/// Copies what is pending at this descriptor by `into`, which calls the function it is given for each part of the caller's room. Returns
/// the number of bytes. None if nothing is pending or the flags are unusual; the socket is then to be read.
fn pending(fd: c_int, flags: c_int, into: impl FnOnce(&mut dyn FnMut(&mut [u8]) -> usize) -> usize) -> Option<usize> {
    let is_usual = flags & !(MSG_PEEK | MSG_DONTWAIT | MSG_NOSIGNAL | MSG_WAITALL | MSG_CMSG_CLOEXEC) == 0;
    if !is_usual || !table::has_answers() || !table::has_answer(fd) {
        return None;
    }
    let peeks = flags & MSG_PEEK != 0;
    table::with(fd, |connection| into(&mut |room| connection.take(room, peeks))).filter(|count| *count > 0)
}

/// Notes bytes that the client has received from the socket. With MSG_PEEK they stay there, so they do not count.
fn received(fd: c_int, flags: c_int, bytes: &[u8]) {
    if flags & MSG_PEEK == 0 && table::is_followed(fd) {
        quietly(|| forget_if_unfollowable(fd, table::with(fd, |connection| connection.receive(bytes))));
    }
}

/// Receives bytes: those of an answer given here, if one is pending, and otherwise by `call`.
///
/// # Safety
/// `bytes` must be valid for `length` bytes to be written by `call`.
unsafe fn receiving(
    fd: c_int,
    (bytes, length): (*mut c_void, size_t),
    flags: c_int,
    call: impl FnOnce() -> ssize_t,
) -> ssize_t {
    if !table::is_followed(fd) {
        return call();
    }
    // SAFETY: the caller says so.
    let copied = pending(fd, flags, |take| take(unsafe { room_of(bytes, length) }));
    if let Some(count) = copied {
        return count as ssize_t;
    }
    let count = call();
    if count > 0 {
        // SAFETY: the call has written so many, unless it reports how many there would have been.
        received(fd, flags, unsafe { bytes_of(bytes, length.min(count as usize)) });
    }
    count
}

/// Receives bytes into several buffers (`parts`). If the client has not yet read all of an answer that this library has
/// made, bytes of that answer are copied into them; otherwise `call` receives from the socket. Returns the number of
/// bytes, or what `call` has returned, and true if the bytes are those of this library's own answer.
///
/// # Safety
/// `parts` must be valid for `count` parts, and each of them for its length to be written by `call`.
unsafe fn receiving_parts(
    fd: c_int,
    (parts, count): (*const iovec, usize),
    flags: c_int,
    call: impl FnOnce() -> ssize_t,
) -> (ssize_t, bool) {
    let part = |at: usize| {
        // SAFETY: the caller says so.
        unsafe { *parts.add(at) }
    };
    let copied = pending(fd, flags, |take| {
        let peeked = if flags & MSG_PEEK != 0 { 1 } else { count };
        let mut all = 0;
        for at in 0..peeked.min(count) {
            // SAFETY: the caller says so.
            all += take(unsafe { room_of(part(at).iov_base, part(at).iov_len) });
        }
        all
    });
    if let Some(copied) = copied {
        return (copied as ssize_t, true);
    }
    let got = call();
    let mut rest = usize::try_from(got).unwrap_or_default();
    for at in (0..count).take_while(|_| table::is_followed(fd)) {
        let filled = part(at).iov_len.min(rest);
        // SAFETY: the call has written so many.
        received(fd, flags, unsafe { bytes_of(part(at).iov_base, filled) });
        rest -= filled;
    }
    (got, false)
}

macro_rules! hooks {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty $body:block)*) => {$(
        /// # Safety
        /// As for the C library's function of this name.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            // SAFETY: the caller keeps to the conditions of the C library's function, which are those of all that is called here.
            unsafe { $body }
        }
    )*};
}

hooks! {
    connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
        table::forget(fd);
        let outcome = real::connect(fd, address, length);
        let is_begun = outcome == 0 || *errno() == EINPROGRESS;
        if IS_ON.load(Ordering::Relaxed) && is_begun && !address.is_null() {
            let family = c_int::from((*address).sa_family);
            if [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX].contains(&family) {
                quietly(|| table::follow(fd));
            }
        }
        outcome
    }

    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
        let fd = real::socket(domain, kind, protocol);
        table::forget(fd);
        fd
    }

    close(fd: c_int) -> c_int {
        if table::is_followed(fd) && table::is_owner_process() {
            table::forget(fd);
        }
        real::close(fd)
    }

    closefrom(first: c_int) -> () {
        if table::is_owner_process() {
            table::forget_range(first, c_int::MAX);
        }
        real::closefrom(first);
    }

    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
        if flags & libc::CLOSE_RANGE_CLOEXEC as c_int == 0 && table::is_owner_process() {
            let [first, last] = [first, last].map(|fd| c_int::try_from(fd).unwrap_or(c_int::MAX));
            table::forget_range(first, last);
        }
        real::close_range(first, last, flags)
    }

    ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
        let is_count = request == libc::FIONREAD && !argument.is_null() && table::has_answers() && table::has_answer(fd);
        let pending = if is_count { table::with(fd, |connection| connection.pending().len()) } else { None };
        match pending.filter(|count| *count > 0) {
            Some(count) => {
                argument.cast::<c_int>().write(count as c_int);
                0
            }
            None => real::ioctl(fd, request, argument),
        }
    }

    dup2(from: c_int, to: c_int) -> c_int {
        if from != to && table::is_followed(to) && table::is_owner_process() {
            table::forget(to);
        }
        real::dup2(from, to)
    }

    dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
        if from != to && table::is_followed(to) && table::is_owner_process() {
            table::forget(to);
        }
        real::dup3(from, to, flags)
    }

    shutdown(fd: c_int, how: c_int) -> c_int {
        stop_following(fd, |_| Err(Unfollowable::Uncounted));
        real::shutdown(fd, how)
    }

    epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int {
        stop_following(fd, Connection::enter_epoll);
        real::epoll_ctl(epoll, operation, fd, event)
    }

    send(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t {
        sending(fd, bytes_of(bytes, length), flags, || real::send(fd, bytes, length, flags))
    }

    sendto(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int, to: *const sockaddr, size: socklen_t) -> ssize_t {
        sending(fd, bytes_of(bytes, length), flags, || real::sendto(fd, bytes, length, flags, to, size))
    }

    write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t {
        if !table::is_followed(fd) {
            return real::write(fd, bytes, length);
        }
        sending(fd, bytes_of(bytes, length), 0, || real::write(fd, bytes, length))
    }

    writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
        if !table::is_followed(fd) {
            return real::writev(fd, parts, count);
        }
        let Some(bytes) = gathered(parts, usize::try_from(count).unwrap_or_default()) else {
            stop_following(fd, sends_otherwise);
            return real::writev(fd, parts, count);
        };
        sending(fd, &bytes, 0, || real::writev(fd, parts, count))
    }

    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
        if !table::is_followed(fd) {
            return real::sendmsg(fd, message, flags);
        }
        let is_plain = (*message).msg_control.is_null() || (*message).msg_controllen == 0;
        let bytes = gathered((*message).msg_iov, (*message).msg_iovlen).filter(|_| is_plain);
        let Some(bytes) = bytes else {
            stop_following(fd, sends_otherwise);
            return real::sendmsg(fd, message, flags);
        };
        sending(fd, &bytes, flags, || real::sendmsg(fd, message, flags))
    }

    recv(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
        receiving(fd, (bytes, length), flags, || real::recv(fd, bytes, length, flags))
    }

    __recv_chk(fd: c_int, bytes: *mut c_void, length: size_t, room: size_t, flags: c_int) -> ssize_t {
        if length > room {
            std::process::abort();
        }
        recv(fd, bytes, length, flags)
    }

    recvfrom(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int, from: *mut sockaddr, size: *mut socklen_t) -> ssize_t {
        receiving(fd, (bytes, length), flags, || real::recvfrom(fd, bytes, length, flags, from, size))
    }

    read(fd: c_int, bytes: *mut c_void, length: size_t) -> ssize_t {
        receiving(fd, (bytes, length), 0, || real::read(fd, bytes, length))
    }

    __read_chk(fd: c_int, bytes: *mut c_void, length: size_t, room: size_t) -> ssize_t {
        if length > room {
            std::process::abort();
        }
        read(fd, bytes, length)
    }

    readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t {
        if !table::is_followed(fd) {
            return real::readv(fd, parts, count);
        }
        receiving_parts(fd, (parts, usize::try_from(count).unwrap_or_default()), 0, || real::readv(fd, parts, count)).0
    }

    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
        if !table::is_followed(fd) {
            return real::recvmsg(fd, message, flags);
        }
        let parts = ((*message).msg_iov.cast_const(), (*message).msg_iovlen);
        let (count, is_ours) = receiving_parts(fd, parts, flags, || real::recvmsg(fd, message, flags));
        if is_ours {
            ((*message).msg_namelen, (*message).msg_controllen, (*message).msg_flags) = (0, 0, 0);
        }
        count
    }

    poll(all: *mut pollfd, count: nfds_t, milliseconds: c_int) -> c_int {
        if !is_ready(all, count) {
            return real::poll(all, count, milliseconds);
        }
        ready(all, count, real::poll(all, count, 0))
    }

    __poll_chk(all: *mut pollfd, count: nfds_t, milliseconds: c_int, room: size_t) -> c_int {
        if room / size_of::<pollfd>() < count as usize {
            std::process::abort();
        }
        poll(all, count, milliseconds)
    }

    ppoll(all: *mut pollfd, count: nfds_t, time: *const timespec, signals: *const sigset_t) -> c_int {
        if !is_ready(all, count) {
            return real::ppoll(all, count, time, signals);
        }
        let none = timespec { tv_sec: 0, tv_nsec: 0 };
        ready(all, count, real::ppoll(all, count, &raw const none, signals))
    }

    select(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: *mut timeval) -> c_int {
        let readable = readable(count, read);
        if readable.is_empty() {
            return real::select(count, read, write, other, time);
        }
        let mut none = timeval { tv_sec: 0, tv_usec: 0 };
        selected(&readable, read, real::select(count, read, write, other, &raw mut none))
    }

    pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: *const timespec, signals: *const sigset_t) -> c_int {
        let readable = readable(count, read);
        if readable.is_empty() {
            return real::pselect(count, read, write, other, time, signals);
        }
        let none = timespec { tv_sec: 0, tv_nsec: 0 };
        selected(&readable, read, real::pselect(count, read, write, other, &raw const none, signals))
    }
}

/// The events of poll(2) that a pending answer causes.
const READABLE: c_short = POLLIN | POLLRDNORM;

/// Returns the descriptors at this address; none for a null pointer.
///
/// # Safety
/// `all` must be valid for `count` descriptors.
unsafe fn polled<'a>(all: *mut pollfd, count: nfds_t) -> &'a mut [pollfd] {
    // SAFETY: the caller says so.
    if all.is_null() { &mut [] } else { unsafe { slice::from_raw_parts_mut(all, count as usize) } }
}

/// Returns true if the caller of poll(2) waits for bytes of a descriptor that has a pending answer.
fn waits_here(one: &pollfd) -> bool {
    one.events & READABLE != 0 && table::has_answer(one.fd)
}

/// Returns true if one of these descriptors has a pending answer that the caller of poll(2) waits for.
///
/// # Safety
/// `all` must be valid for `count` descriptors.
unsafe fn is_ready(all: *mut pollfd, count: nfds_t) -> bool {
    // SAFETY: the caller says so.
    table::has_answers() && unsafe { polled(all, count) }.iter().any(waits_here)
}

/// Adds the descriptors that have a pending answer to those that poll(2) has found. `found` is what it returned; the result is to be
/// returned instead. An error of poll(2) is dropped.
///
/// # Safety
/// `all` must be valid for `count` descriptors.
unsafe fn ready(all: *mut pollfd, count: nfds_t, found: c_int) -> c_int {
    // SAFETY: the caller says so.
    let all = unsafe { polled(all, count) };
    if found < 0 {
        all.iter_mut().for_each(|one| one.revents = 0);
    }
    all.iter_mut().filter(|one| waits_here(one)).for_each(|one| one.revents |= one.events & READABLE);
    all.iter().filter(|one| one.revents != 0).count() as c_int
}

/// Returns the descriptors in this set that have a pending answer.
///
/// # Safety
/// `read` must be null or valid.
unsafe fn readable(count: c_int, read: *mut fd_set) -> Vec<c_int> {
    if read.is_null() || !table::has_answers() {
        return Vec::new();
    }
    // SAFETY: the caller says so, and the numbers fit into the set.
    let is_asked = |fd: &c_int| unsafe { libc::FD_ISSET(*fd, read) };
    (0..count.min(libc::FD_SETSIZE as c_int)).filter(|fd| table::has_answer(*fd)).filter(is_asked).collect()
}

/// Adds the descriptors in `readable` to the set of select(2). `found` is what it returned; the result is to be returned instead.
///
/// # Safety
/// `read` must be valid.
unsafe fn selected(readable: &[c_int], read: *mut fd_set, found: c_int) -> c_int {
    let mut all = found;
    for fd in readable.iter().filter(|_| found >= 0) {
        // SAFETY: the caller says so, and the numbers fit into the set.
        unsafe {
            if !libc::FD_ISSET(*fd, read) {
                libc::FD_SET(*fd, read);
                all += 1;
            }
        }
    }
    all
}
