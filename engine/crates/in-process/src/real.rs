//! The C library's own functions, which this library replaces.

use libc::{
    c_int, c_uint, c_ulong, c_void, fd_set, iovec, msghdr, nfds_t, pollfd, sigset_t, size_t, sockaddr, socklen_t,
    ssize_t, timespec, timeval,
};
use std::sync::atomic::{AtomicPtr, Ordering};

macro_rules! real {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// # Safety
        /// As for the C library's function of this name.
        pub unsafe fn $name($($argument: $kind),*) -> $result {
            static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            let mut found = FOUND.load(Ordering::Relaxed);
            if found.is_null() {
                let name = concat!(stringify!($name), "\0");
                // SAFETY: the name ends with a zero byte.
                found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) };
                if found.is_null() {
                    std::process::abort();
                }
                FOUND.store(found, Ordering::Relaxed);
            }
            // SAFETY: the C library declares the function so.
            let function: unsafe extern "C" fn($($kind),*) -> $result = unsafe { std::mem::transmute(found) };
            // SAFETY: the caller keeps to the function's conditions.
            unsafe { function($($argument),*) }
        }
    )*};
}

real! {
    connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    close(fd: c_int) -> c_int;
    closefrom(first: c_int) -> ();
    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int;
    dup2(from: c_int, to: c_int) -> c_int;
    dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int;
    send(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    sendto(fd: c_int, bytes: *const c_void, length: size_t, flags: c_int, to: *const sockaddr, size: socklen_t) -> ssize_t;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    write(fd: c_int, bytes: *const c_void, length: size_t) -> ssize_t;
    writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    recv(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    recvfrom(fd: c_int, bytes: *mut c_void, length: size_t, flags: c_int, from: *mut sockaddr, size: *mut socklen_t) -> ssize_t;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    read(fd: c_int, bytes: *mut c_void, length: size_t) -> ssize_t;
    readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    poll(all: *mut pollfd, count: nfds_t, milliseconds: c_int) -> c_int;
    ppoll(all: *mut pollfd, count: nfds_t, time: *const timespec, signals: *const sigset_t) -> c_int;
    select(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: *mut timeval) -> c_int;
    pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, other: *mut fd_set, time: *const timespec, signals: *const sigset_t) -> c_int;
}
