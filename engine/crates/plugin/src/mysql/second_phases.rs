//! Observes `XA COMMIT` and `XA ROLLBACK`: the end of a transaction that was prepared before, perhaps by another session, or by one that is
//! gone.
//!
//! The session that runs the command did not write what becomes visible. While it runs, the server commits other things first, such as
//! how far replication has come, so a commit alone does not mark the end; it is over once the command's own function has returned.
//! A replication applier runs the same function as a client.

use crate::mysql::abi::Thd;
use crate::mysql::reach;
use crate::mysql::selftest::{self, Seam, SeamReport};
use crate::mysql::vtables::{Slot, Slots, Vtable};
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The type of a command's function. It returns true if the command failed.
type Execute = unsafe extern "C" fn(*mut c_void, *mut Thd) -> bool;

/// A class of commands, its function by exported names, and the plugin's function that replaces it.
struct Command {
    table: &'static CStr,
    function: &'static CStr,
    ours: Execute,
    original: &'static AtomicPtr<c_void>,
}

static COMMIT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static ROLLBACK: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

const COMMANDS: [Command; 2] = [
    Command {
        table: c"_ZTV17Sql_cmd_xa_commit",
        function: c"_ZN17Sql_cmd_xa_commit7executeEP3THD",
        ours: on_commit,
        original: &COMMIT,
    },
    Command {
        table: c"_ZTV19Sql_cmd_xa_rollback",
        function: c"_ZN19Sql_cmd_xa_rollback7executeEP3THD",
        ours: on_rollback,
        original: &ROLLBACK,
    },
];

unsafe extern "C" fn on_commit(command: *mut c_void, thd: *mut Thd) -> bool {
    around(&COMMIT, command, thd)
}

unsafe extern "C" fn on_rollback(command: *mut c_void, thd: *mut Thd) -> bool {
    around(&ROLLBACK, command, thd)
}

/// Runs the command by the server's own function, and reports its beginning and end.
fn around(original: &AtomicPtr<c_void>, command: *mut c_void, thd: *mut Thd) -> bool {
    selftest::note(|| SeamReport { seam: Seam::SecondPhase, name: None, writes: true });
    reach::begins_second_phase(thd);
    // SAFETY: the function that `install` has stored, with the server's arguments.
    let failed = unsafe { std::mem::transmute::<*mut c_void, Execute>(original.load(Ordering::Acquire))(command, thd) };
    reach::ends_second_phase(thd);
    failed
}

static SLOTS: Slots = Slots::none();

/// Puts the plugin's functions into the virtual function tables of XA COMMIT and XA ROLLBACK. An error leaves them unchanged.
pub fn install() -> Result<(), String> {
    let find = |command: &'static Command| -> Result<Slot, String> {
        let table = Vtable::find(command.table)?;
        Ok((table.slot(table.position(command.function)?), command.ours as *mut c_void, command.original))
    };
    SLOTS.install(|| COMMANDS.iter().map(find).collect())
}

/// Restores the virtual function tables of XA COMMIT and XA ROLLBACK. An error if one of them could not be restored.
pub fn remove() -> Result<(), String> {
    SLOTS.remove()
}
