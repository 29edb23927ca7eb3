//! Finds other servers that use the same directory for temporary files, as far as the system shows them: those of the same user in the
//! same mount namespace.
//!
//! Each start of a MariaDB server removes all temporary tables from its `tmpdir`. A server that has just created one crashes if the file
//! is gone when it opens it. Most queries on `information_schema` create one, so none is made while such a server starts.

use locks::Mutex;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// The suffix of an unlinked file. A server keeps such files open in its `tmpdir` from before it removes temporary tables until it ends.
const NAMELESS: &str = " (deleted)";
const PROGRAMS: [&str; 2] = ["mariadbd", "mysqld"];
/// A server opens this file right after it has removed the temporary tables.
const AFTER_REMOVAL: &str = "global_priv.MAI";
/// The longest time that a start is waited for, because a server without privilege tables never opens `AFTER_REMOVAL`.
const LONGEST_START: Duration = Duration::from_secs(60);
/// The interval between two looks for servers that are starting: far less than a server takes from its first unlinked file to the removal
/// of temporary tables.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Another server process that uses one of this server's directories for temporary tables.
pub struct Neighbour {
    /// The process id.
    pub process: u32,
    /// The directory that both use.
    pub folder: PathBuf,
    /// True if that server has removed the temporary tables since its start, so that it will not do so again.
    has_removed: bool,
}

/// Returns the directories of `tmpdir`, the value of the server's variable, as absolute paths. Leaves out those that do not exist.
pub fn folders(tmpdir: &str) -> Vec<PathBuf> {
    tmpdir.split(':').filter_map(|folder| fs::canonicalize(folder).ok()).collect()
}

/// Returns the other servers that use one of these directories.
pub fn all(folders: &[PathBuf]) -> impl Iterator<Item = Neighbour> {
    servers().filter_map(|process| neighbour(process, folders))
}

/// True if another server with one of these directories is about to remove temporary tables. An answer is kept for five milliseconds.
pub fn is_one_starting(folders: &[PathBuf]) -> bool {
    static LAST: Mutex<Option<(Instant, bool)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let known = last.filter(|(at, _)| at.elapsed() < LOOK_EVERY);
    // Only recently started servers are examined: one that has run for long may have thousands of open files.
    let mut young = servers().filter(|process| is_young(*process)).filter_map(|process| neighbour(process, folders));
    last.insert(known.unwrap_or_else(|| (Instant::now(), young.any(|neighbour| !neighbour.has_removed)))).1
}

fn servers() -> impl Iterator<Item = u32> {
    let here = mounts("self");
    let is_beside = move |process: &u32| here.is_some() && mounts(&process.to_string()) == here;
    processes().filter(|process| is_server(*process)).filter(is_beside)
}

fn processes() -> impl Iterator<Item = u32> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let numbers = names.filter_map(|name| name.to_str()?.parse().ok());
    numbers.filter(|process| *process != std::process::id())
}

fn is_server(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| PROGRAMS.contains(&name.trim_end()))
}

/// Returns the mount namespace of a process, an id or `self`. In another namespace, the same path may be another directory. None if it may
/// not be read.
fn mounts(process: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/mnt")).ok()
}

/// Returns the server with this process id if it has unlinked files in one of these directories open, as every server has in its own. None
/// for any other process, and for one whose open files cannot be read.
fn neighbour(process: u32, folders: &[PathBuf]) -> Option<Neighbour> {
    let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let files: Vec<_> = files.filter_map(|file| fs::read_link(file.path()).ok()).collect();
    let folder = folders.iter().find(|folder| files.iter().any(|file| is_nameless_in(file, folder)))?;
    let has_removed = files.iter().any(|file| file.file_name() == Some(OsStr::new(AFTER_REMOVAL)));
    Some(Neighbour { process, folder: folder.clone(), has_removed })
}

fn is_nameless_in(file: &Path, folder: &Path) -> bool {
    file.parent() == Some(folder) && file.to_str().is_some_and(|name| name.ends_with(NAMELESS))
}

/// True if the process was started less than `LONGEST_START` ago.
fn is_young(process: u32) -> bool {
    // SAFETY: no preconditions.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    let age = || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The twentieth field after the process name, which may contain spaces.
        let begun: f64 = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()?;
        let now: f64 = fs::read_to_string("/proc/uptime").ok()?.split_ascii_whitespace().next()?.parse().ok()?;
        Some(now - begun / ticks_per_second)
    };
    age().is_some_and(|seconds| seconds < LONGEST_START.as_secs_f64())
}
