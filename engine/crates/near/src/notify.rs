//! Notifies the service manager of the process's state, as systemd's `Type=notify` expects.

use near_core::say;
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Sends a state such as `READY=1` to the service manager. Does nothing if there is no service manager (`NOTIFY_SOCKET` is not set). A
/// failure is only logged.
pub fn send_state(state: &str) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET")
        && let Err(error) = send(&socket, state)
    {
        say!("cannot tell the service manager {state}: {error}");
    }
}

/// Sends a state to the service manager's socket. `socket`: a path, or a name in the abstract namespace after `@`.
fn send(socket: &OsStr, state: &str) -> std::io::Result<()> {
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}
