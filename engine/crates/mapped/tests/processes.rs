//! A writer and readers in processes of their own, which are stopped and killed anywhere.

#![cfg(not(loom))]

use mapped::{Key, Layout, MissReason, Reader, Record, Writer, create_memory, map_memory};
use std::fs::File;
use std::time::{Duration, Instant};

const LAYOUT: Layout = Layout::new(4, 2, 10);
const FOREVER: u64 = u64::MAX;

/// A child process with a task of the test. It ends with the task, or when it is killed.
struct Child(libc::pid_t);

impl Child {
    /// Forks, and runs the task in the child.
    fn run(task: impl FnOnce()) -> Child {
        // SAFETY: the child uses only what it has, and ends without returning here.
        match unsafe { libc::fork() } {
            0 => {
                task();
                // SAFETY: nothing of this process is cleared up, as after a kill.
                unsafe { libc::_exit(0) }
            }
            child => Child(child),
        }
    }

    fn signal(&self, signal: i32) {
        // SAFETY: the child was not waited for, so the number is still its own.
        unsafe { libc::kill(self.0, signal) };
    }

    /// Waits for the end of the process, and returns its status as waitpid(2) reports it.
    fn ended(self) -> i32 {
        let mut status = 0;
        // SAFETY: the status is valid for the call to write.
        unsafe { libc::waitpid(self.0, &mut status, 0) };
        status
    }
}

/// Puts a record that depends on cell 1 and has `round` rows. All bytes of its value are the same.
fn put(writer: &mut Writer<mapped::Map>, key: &Key, round: u64) {
    // Each byte of a value is the same, so that a torn one would show.
    let value = vec![round as u8; 100 + (round % 700) as usize];
    assert!(writer.put(key, &Record { stamp: 0, until: FOREVER, rows: round, flags: 0, cells: &[1], value: &value }));
}

fn key(number: &u8) -> Key<'_> {
    Key { context: 1, parts: [std::slice::from_ref(number), b"of the ring"] }
}

/// Finds records and checks that they are whole, until `until` returns true for the number of records found.
fn read(file: &File, until: impl Fn(u64) -> bool) {
    let mut reader = Reader::new(map_memory(file).expect("it can be mapped")).expect("a writer's memory");
    let mut found = 0;
    while !until(found) {
        for number in 0..6 {
            let mut value = Vec::new();
            if let Ok(hit) = reader.find(&key(&number), || 0, &mut value) {
                assert!(value.len() as u64 == 100 + hit.rows % 700 && value.iter().all(|byte| *byte == hit.rows as u8));
                found += 1;
            }
        }
    }
}

#[test]
fn readers_that_are_stopped_and_killed_hold_nobody_up() {
    let (memory, file) = create_memory(LAYOUT).expect("memory");
    let mut writer = Writer::new(memory, LAYOUT, 3).expect("it is large enough");
    writer.attach();
    writer.grant_lease(FOREVER);
    let endless = [(); 2].map(|()| Child::run(|| read(&file, |_| false)));
    let checked = Child::run(|| read(&file, |found| found > 200_000));
    let begun = Instant::now();
    let mut round = 0;
    while begun.elapsed() < Duration::from_secs(1) || round < 50_000 {
        round += 1;
        put(&mut writer, &key(&((round % 6) as u8)), round);
        if round % 1000 == 0 {
            endless[0].signal(if round % 2000 == 0 { libc::SIGSTOP } else { libc::SIGCONT });
        }
    }
    endless.iter().for_each(|child| child.signal(libc::SIGKILL));
    endless.into_iter().for_each(|child| assert_ne!(child.ended(), 0));
    let last = 9;
    put(&mut writer, &key(&last), 1);
    // The writer puts what the other waits for, until it has found enough.
    let mut status = 0;
    // SAFETY: the status is valid for the call to write.
    while unsafe { libc::waitpid(checked.0, &mut status, libc::WNOHANG) } == 0 {
        round += 1;
        put(&mut writer, &key(&((round % 6) as u8)), round);
    }
    assert_eq!(status, 0, "a reader found something torn");
}

#[test]
fn a_writer_that_is_killed_leaves_what_is_found_until_its_lease_is_over() {
    let (memory, file) = create_memory(LAYOUT).expect("memory");
    let (mut reader, number) = (Reader::new(map_memory(&file).expect("a map")), 1);
    assert!(reader.is_none(), "nobody has written yet");
    let child = Child::run(|| {
        let mut writer = Writer::new(memory, LAYOUT, 3).expect("it is large enough");
        writer.attach();
        writer.grant_lease(10);
        let mut round = 0;
        loop {
            round += 1;
            put(&mut writer, &key(&number), round);
        }
    });
    let mut found = |now| loop {
        let reader = match &mut reader {
            Some(reader) => reader,
            none => {
                *none = Reader::new(map_memory(&file).expect("a map"));
                continue;
            }
        };
        match reader.find(&key(&number), || now, &mut Vec::new()) {
            Ok(_) => return true,
            Err(MissReason::NoLease) if now >= 10 => return false,
            Err(_) => {}
        }
    };
    assert!(found(9));
    child.signal(libc::SIGKILL);
    child.ended();
    assert!(!found(10));
}

#[test]
fn others_can_neither_write_nor_change_the_size() {
    let (_memory, file) = create_memory(LAYOUT).expect("memory");
    assert!(file.set_len(8).is_err() && file.set_len(1 << 30).is_err());
    // SAFETY: a new map of an open descriptor; nothing that exists is touched.
    let written = unsafe {
        use std::os::fd::AsRawFd;
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_WRITE, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    assert_eq!(written, libc::MAP_FAILED);
    let unsealed = tempfile();
    assert!(map_memory(&unsealed).is_err(), "a file that could shrink");
}

/// Returns a file in memory that could shrink.
fn tempfile() -> File {
    use std::os::fd::{FromRawFd, OwnedFd};
    // SAFETY: the name ends with a zero byte, and the descriptor was just made.
    File::from(unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"other".as_ptr(), libc::MFD_CLOEXEC)) })
}
