//! The counters of a process that reads the mapped memory: how many of its reads it has answered, and why it has not answered the
//! others.
//!
//! Each process has memory of its own for them, which it makes, writes, and hands to the writer of the results. The writer reads it like
//! a file, when it is asked for the figures. So counting costs the process no system call.
//!
//! Invariant: what a process has written may be nonsense. It is bounded when it is read, and never followed as a length or a position.

use crate::map::{Map, checked, create_file, mapped, seal};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first word of the memory, which identifies this layout and this list of outcomes. Any other has another word.
const MAGIC: u64 = u64::from_le_bytes(*b"FQCcnt01");
/// The number of groups of counters. Threads that count in different groups do not wait for each other.
const GROUPS: usize = 16;
/// The number of words of a group, which is a multiple of a line of the processor's cache.
const GROUP_WORDS: usize = 16;
const WORD: usize = size_of::<u64>();
/// The length of the memory in bytes. The word [`MAGIC`] is in a group of its own, ahead of the others.
const BYTES: usize = (1 + GROUPS) * GROUP_WORDS * WORD;
/// The highest count that a process is believed to have.
const MOST_COUNTED: u64 = 1 << 40;

/// What became of a read in a process, or the reason why one of its connections cannot be answered there at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// The read was answered in the process.
    Answered,
    /// There is no result for it in the memory.
    Absent,
    /// There is a result, but something that it depends on has changed, or it is too old.
    Outdated,
    /// The near cache may serve nothing at present.
    NoLease,
    /// The near cache was not the last to answer the connection, or has not answered yet.
    NotLast,
    /// The near cache has not served this prepared statement yet.
    NewStatement,
    /// The client did not send it as one whole command, it is too long, or an earlier answer is outstanding.
    Form,
    /// The memory has no place for the connection: it does not go through this near cache, or that cannot read it.
    Elsewhere,
    /// The process has not received the memory yet.
    NoMemory,
    /// The memory has another layout: library and near cache are of different versions.
    OtherVersion,
    /// The process counts time by another clock than the near cache.
    OtherClock,
    /// The connection is encrypted.
    Tls,
    /// The connection is compressed.
    Compressed,
    /// The client has sent a command before it had the answer to its login.
    Ahead,
    /// The client waits for the connection's bytes by epoll.
    Epoll,
    /// The client sends by a call whose bytes the library cannot read, or long messages in parts.
    Call,
}

impl Outcome {
    pub const ALL: [Outcome; 16] = [
        Outcome::Answered,
        Outcome::Absent,
        Outcome::Outdated,
        Outcome::NoLease,
        Outcome::NotLast,
        Outcome::NewStatement,
        Outcome::Form,
        Outcome::Elsewhere,
        Outcome::NoMemory,
        Outcome::OtherVersion,
        Outcome::OtherClock,
        Outcome::Tls,
        Outcome::Compressed,
        Outcome::Ahead,
        Outcome::Epoll,
        Outcome::Call,
    ];

    /// Returns true if whole connections are counted, and false if reads are.
    pub fn is_of_connection(self) -> bool {
        self >= Outcome::Tls
    }

    /// Returns the name in labels of metrics.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::Absent => "absent",
            Outcome::Outdated => "outdated",
            Outcome::NoLease => "no_lease",
            Outcome::NotLast => "not_last",
            Outcome::NewStatement => "new_statement",
            Outcome::Form => "form",
            Outcome::Elsewhere => "elsewhere",
            Outcome::NoMemory => "no_memory",
            Outcome::OtherVersion => "version",
            Outcome::OtherClock => "clock",
            Outcome::Tls => "tls",
            Outcome::Compressed => "compressed",
            Outcome::Ahead => "ahead",
            Outcome::Epoll => "epoll",
            Outcome::Call => "call",
        }
    }
}

const _: () = assert!(Outcome::ALL.len() <= GROUP_WORDS);

/// The counts of a process, or of several together, by [`Outcome`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Outcome::ALL.len()]);

impl Counts {
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.0[outcome as usize]
    }

    /// Returns the number of reads with one of these outcomes.
    pub fn sum(&self, outcomes: impl IntoIterator<Item = Outcome>) -> u64 {
        outcomes.into_iter().fold(0, |sum, outcome| sum.saturating_add(self.of(outcome)))
    }

    /// Returns the number of reads, whether they were answered in the process or not.
    pub fn reads(&self) -> u64 {
        self.sum(Outcome::ALL.into_iter().filter(|outcome| !outcome.is_of_connection()))
    }

    pub fn add(&mut self, other: &Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum = sum.saturating_add(count));
    }
}

/// The counters of this process. Its threads count at the same time.
pub struct ProcessCounts {
    map: Map,
    /// The number of [`Counter`]s that were made.
    counters: AtomicUsize,
}

impl ProcessCounts {
    /// Makes counters that are all zero, and returns them with the file to hand to the near cache.
    pub fn create() -> io::Result<(ProcessCounts, File)> {
        let file = create_file(c"fqc-counts", BYTES)?;
        let map = mapped(&file, BYTES, libc::PROT_READ | libc::PROT_WRITE)?;
        // Without the seals, a process that gets the file could shorten it, and so end this process when it counts.
        seal(&file, 0)?;
        map.as_ref()[0].store(MAGIC, Ordering::Relaxed);
        Ok((ProcessCounts { map, counters: AtomicUsize::new(0) }, file))
    }

    /// Returns the number of the group that the next connection counts in.
    pub fn next_group(&self) -> usize {
        self.counters.fetch_add(1, Ordering::Relaxed) % GROUPS
    }

    /// Counts one read or connection in this group.
    pub fn count(&self, group: usize, outcome: Outcome) {
        let word = (1 + group % GROUPS) * GROUP_WORDS + outcome as usize;
        self.map.as_ref()[word].fetch_add(1, Ordering::Relaxed);
    }
}

/// The counters of another process, as it has handed them over.
pub struct ForeignCounts(File);

impl ForeignCounts {
    /// Takes the file that a process has handed over. Fails unless it is a file in memory, whose bytes are read without waiting, with
    /// counters of this layout.
    pub fn new(file: File) -> io::Result<ForeignCounts> {
        // SAFETY: the call takes nothing.
        checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) })?;
        let counts = ForeignCounts(file);
        let words = counts.words();
        let is_known = words.is_some_and(|words| word_at(&words, 0) == MAGIC);
        is_known.then_some(counts).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its counters are others"))
    }

    /// Returns the memory's bytes. None if the process has made it shorter.
    fn words(&self) -> Option<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        self.0.read_exact_at(&mut bytes, 0).ok().map(|()| bytes)
    }

    /// Returns the counts at present, each with an upper bound. All are zero if the process has taken its memory away.
    pub fn read(&self) -> Counts {
        let mut counts = Counts::default();
        let Some(bytes) = self.words() else { return counts };
        for group in 1..=GROUPS {
            let of_group = std::array::from_fn(|at| word_at(&bytes, group * GROUP_WORDS + at).min(MOST_COUNTED));
            counts.add(&Counts(of_group));
        }
        counts.0.iter_mut().for_each(|count| *count = MOST_COUNTED.min(*count));
        counts
    }
}

/// Returns the word with this index.
fn word_at(bytes: &[u8; BYTES], at: usize) -> u64 {
    bytes[at * WORD..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_count_in_groups_and_the_sum_is_read_by_another() {
        let (counts, file) = ProcessCounts::create().expect("memory");
        let foreign = ForeignCounts::new(file).expect("counters");
        assert_eq!(foreign.read(), Counts::default());
        std::thread::scope(|scope| {
            for _ in 0..2 * GROUPS {
                let group = counts.next_group();
                let counts = &counts;
                scope.spawn(move || Outcome::ALL.iter().for_each(|outcome| counts.count(group, *outcome)));
            }
        });
        counts.count(usize::MAX, Outcome::Tls);
        let read = foreign.read();
        let expected = |outcome| 2 * GROUPS as u64 + u64::from(outcome == Outcome::Tls);
        Outcome::ALL.into_iter().for_each(|outcome| assert_eq!(read.of(outcome), expected(outcome), "{outcome:?}"));
        assert_eq!(read.reads(), 11 * 2 * GROUPS as u64);
    }

    #[test]
    fn nonsense_is_bounded_and_no_memory_is_needed_after_the_file_was_taken() {
        let (counts, file) = ProcessCounts::create().expect("memory");
        for word in &counts.map.as_ref()[1..] {
            word.store(u64::MAX, Ordering::Relaxed);
        }
        assert!(file.set_len(1).is_err(), "others can shorten the counters of this process");
        let foreign = ForeignCounts::new(file).expect("counters");
        let read = foreign.read();
        assert!(Outcome::ALL.into_iter().all(|outcome| read.of(outcome) == MOST_COUNTED));
        let mut sum = Counts([u64::MAX - 1; Outcome::ALL.len()]);
        sum.add(&read);
        assert_eq!([sum.of(Outcome::Call), sum.reads()], [u64::MAX; 2]);
        let other = create_file(c"other", BYTES).expect("memory");
        assert!(ForeignCounts::new(other.try_clone().expect("a descriptor")).is_err(), "no counters");
        other.write_all_at(&MAGIC.to_le_bytes(), 0).expect("it is writable");
        let foreign = ForeignCounts::new(other).expect("counters");
        assert_eq!(foreign.read(), Counts::default());
        assert!(ForeignCounts::new(File::open("/dev/zero").expect("a device")).is_err());
        assert!(ForeignCounts::new(File::open("/proc/self/exe").expect("a file")).is_err());
    }

    #[test]
    fn a_process_that_takes_its_memory_away_has_counted_nothing() {
        let file = create_file(c"unsealed", BYTES).expect("memory");
        file.write_all_at(&MAGIC.to_le_bytes(), 0).expect("it is writable");
        file.write_all_at(&7_u64.to_le_bytes(), (GROUP_WORDS * WORD) as u64).expect("it is writable");
        let foreign = ForeignCounts::new(file.try_clone().expect("a descriptor")).expect("counters");
        assert_eq!(foreign.read().of(Outcome::Answered), 7);
        file.set_len(1).expect("it shrinks");
        assert_eq!(foreign.read(), Counts::default());
    }
}
