//! Calls of the operating system about this process: its account, groups, file mask and limits.

use libc::{RLIMIT_NOFILE, rlimit};

/// Returns true if this process runs as root (effective user id 0).
pub fn is_root() -> bool {
    // SAFETY: geteuid has no preconditions.
    unsafe { libc::geteuid() == 0 }
}

/// Raises this process's limit of open files to `wanted`, as far as the hard limit allows; never lowers it. Returns the limit now in force,
/// which may be below `wanted`, or 0 if it is unknown.
pub fn raise_open_files(wanted: u64) -> u64 {
    let mut limit = rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid for the call to write.
    if unsafe { libc::getrlimit(RLIMIT_NOFILE, &mut limit) } != 0 {
        return 0;
    }
    if limit.rlim_cur < wanted {
        let raised = rlimit { rlim_cur: wanted.min(limit.rlim_max), ..limit };
        // SAFETY: the structure is valid for the call to read.
        if unsafe { libc::setrlimit(RLIMIT_NOFILE, &raised) } == 0 {
            limit = raised;
        }
    }
    limit.rlim_cur
}

/// Returns the id of a group, given by its name or id. An id is not looked up. None if there is no group of this name.
pub fn group_id(name: &str) -> Option<u32> {
    if let Ok(number) = name.parse() {
        return Some(number);
    }
    let name = std::ffi::CString::new(name).ok()?;
    // SAFETY: the name ends with a zero byte, and no other thread asks for groups.
    let found = unsafe { libc::getgrnam(name.as_ptr()) };
    // SAFETY: the entry is valid until the next call of getgrnam.
    (!found.is_null()).then(|| unsafe { (*found).gr_gid })
}

/// Calls `make`, and returns its result. Files that it makes have permissions for this account only. The file mask is that of the process,
/// so no other thread may make files during the call.
pub fn with_private_umask<T>(make: impl FnOnce() -> T) -> T {
    // SAFETY: umask has no preconditions.
    let before = unsafe { libc::umask(0o177) };
    let made = make();
    // SAFETY: as above.
    unsafe { libc::umask(before) };
    made
}
