//! Remembers that the self-test has passed, for a server that starts as one that may not be written to.
//!
//! A secondary of a replication group, or another replica, has `super_read_only` on, and the self-test writes. What it tests are properties
//! of the server's program: whether functions are called through their tables, and the layout of a key. So once it has passed, it need not
//! run again for the same program and the same release of the plugin. A file in the data directory says so.

use crate::log;
use crate::mysql::selftest;
use crate::version;
use host::Link;
use std::ffi::{c_int, c_void};
use std::path::PathBuf;

/// The name of the file in the data directory.
const FILE: &str = "fqc_self_test.passed";

/// True if the server refuses the self-test's writes now.
pub fn may_not_write(link: &mut dyn Link) -> Result<bool, String> {
    Ok(value(link, "@@GLOBAL.super_read_only")? == b"1")
}

/// Notes in the data directory that the self-test has passed. That this failed is only logged.
pub fn keep(link: &mut dyn Link) {
    let kept = tested(link).and_then(|tested| match tested {
        Some(tested) => std::fs::write(path(link)?, tested).map_err(|error| error.to_string()),
        None => Ok(()),
    });
    if let Err(error) = kept {
        log::note(&format!("a start with super_read_only will need another self-test: {error}"));
    }
}

/// Checks, on a server that may not be written to, that the self-test has passed for the same program before, and that a read is reported
/// now. An error says why nothing may be served, and what to do.
pub fn check(link: &mut dyn Link) -> Result<(), String> {
    let tested = tested(link)?;
    let kept = std::fs::read_to_string(path(link)?).ok();
    if tested.is_none() || kept != tested {
        return Err("the server is super_read_only, and the self-test, which writes outside of the binary log, has not passed \
             with this program before: load the plugin once while the server may be written to, such as before it joins its group"
            .into());
    }
    link.query("FLUSH LOCAL TABLES")?;
    selftest::run_reading(link)
}

/// Returns the value of an expression. NULL is empty.
fn value(link: &mut dyn Link, expression: &str) -> Result<Vec<u8>, String> {
    let rows = link.query(&format!("SELECT {expression}"))?;
    rows.into_iter()
        .next()
        .and_then(|row| row.into_iter().next())
        .map(Option::unwrap_or_default)
        .ok_or("no value".into())
}

fn path(link: &mut dyn Link) -> Result<PathBuf, String> {
    let folder = String::from_utf8(value(link, "@@GLOBAL.datadir")?).map_err(|error| error.to_string())?;
    Ok(PathBuf::from(folder).join(FILE))
}

/// Returns what a self-test in this process is valid for: the server's program, its coordinator of transactions, the plugin's release. None
/// if the program has no identity (build id).
fn tested(link: &mut dyn Link) -> Result<Option<String>, String> {
    let has_log = String::from_utf8_lossy(&value(link, "@@GLOBAL.log_bin")?).into_owned();
    let release = version::TEXT.to_string_lossy();
    let date = version::RELEASE_DATE;
    Ok(build_id().map(|build| format!("server {build}\nlog_bin {has_log}\nplugin {release} {date}\n")))
}

/// Returns the identity that the linker gave to the server's program, in hexadecimal digits. None if it has none.
fn build_id() -> Option<String> {
    let mut found: Option<String> = None;
    // SAFETY: the callback gets the pointer that is passed here, and runs before this call returns.
    unsafe { libc::dl_iterate_phdr(Some(read_notes), (&raw mut found).cast()) };
    found
}

/// Reads the identity of the main executable, which is the first object that the loader passes.
unsafe extern "C" fn read_notes(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description; `data` is the `found` of `build_id`; segments of notes are mapped for reading.
    unsafe {
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum as usize);
        for header in headers.iter().filter(|header| header.p_type == libc::PT_NOTE) {
            let start = ((*info).dlpi_addr + header.p_vaddr) as *const u8;
            let notes = std::slice::from_raw_parts(start, header.p_memsz as usize);
            if let Some(id) = build_id_in(notes) {
                *data.cast::<Option<String>>() = Some(id);
            }
        }
    }
    1
}

/// Returns the build id among the notes of a program: each note has the lengths of its name and its content, and a kind.
fn build_id_in(mut notes: &[u8]) -> Option<String> {
    const BUILD_ID: u32 = 3;
    loop {
        let number = |at: usize| notes.get(at..at + 4).and_then(|word| Some(u32::from_ne_bytes(word.try_into().ok()?)));
        let (name, content, kind) = (number(0)? as usize, number(4)? as usize, number(8)?);
        let from = 12 + name.next_multiple_of(4);
        let bytes = notes.get(from..from.checked_add(content)?)?;
        if kind == BUILD_ID && notes.get(12..12 + name) == Some(b"GNU\0") && !bytes.is_empty() {
            return Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        }
        notes = notes.get(from + content.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_of_a_program_is_found_among_its_notes() {
        let note = |kind: u32, name: &[u8; 4], content: &[u8]| {
            let head = [4u32, content.len() as u32, kind].map(u32::to_ne_bytes).concat();
            [head.as_slice(), name, content, &vec![0; content.len().next_multiple_of(4) - content.len()]].concat()
        };
        let other = note(5, b"GNU\0", &[9; 6]);
        let own = note(3, b"GNU\0", &[0xab, 0x01]);
        assert_eq!(build_id_in(&[other.clone(), own].concat()).as_deref(), Some("ab01"));
        assert_eq!(build_id_in(&other), None);
        assert_eq!(build_id_in(&[1, 2, 3]), None);
    }
}
