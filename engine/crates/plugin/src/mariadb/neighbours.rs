//! Other servers with the same folder for temporary files, as far as the system lets them be seen.
//!
//! Each start of a MariaDB server removes all temporary tables from its `tmpdir`. A server that loses one which it has just made
//! crashes, and some questions of the engine make one.

use std::fs;
use std::path::{Path, PathBuf};

/// A server keeps nameless files of its own open in its `tmpdir`.
const NAMELESS: &str = " (deleted)";
const PROGRAMS: [&str; 2] = ["mariadbd", "mysqld"];

/// The process and the folder of another server that uses one of these folders. `tmpdir`: the server's variable.
pub fn with_same(tmpdir: &str) -> Option<(u32, PathBuf)> {
    let folders: Vec<_> = tmpdir.split(':').filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    let here = mounts("self")?;
    let servers = processes().filter(|process| is_server(*process));
    let mut beside = servers.filter(|process| mounts(&process.to_string()).as_ref() == Some(&here));
    beside.find_map(|process| {
        let folder = folders.iter().find(|folder| keeps_files_in(process, folder))?;
        Some((process, folder.clone()))
    })
}

fn processes() -> impl Iterator<Item = u32> {
    let names = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.file_name());
    let numbers = names.filter_map(|name| name.to_str()?.parse().ok());
    numbers.filter(|process| *process != std::process::id())
}

fn is_server(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| PROGRAMS.contains(&name.trim_end()))
}

/// In another namespace the same path may be another folder.
fn mounts(process: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/ns/mnt")).ok()
}

fn keeps_files_in(process: u32, folder: &Path) -> bool {
    let files = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| {
        let is_nameless = file.to_str().is_some_and(|name| name.ends_with(NAMELESS));
        is_nameless && file.parent() == Some(folder)
    })
}
