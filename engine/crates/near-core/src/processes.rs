//! The processes of applications that map the results: what they have counted, and why reads are not answered in them.
//!
//! Invariant: what a process has counted may be nonsense. It is added up with a bound for each process, and decides nothing. The number
//! of processes is bounded, and so is the number of lines that they cause in the log.

use crate::say;
use locks::Mutex;
use mapped::{Counts, ForeignCounts, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard, PoisonError};

/// The maximum number of processes whose reads are counted at the same time. Others get the memory, and are not counted.
pub const MOST_PROCESSES: usize = 512;
/// The maximum number of processes that are reported one by one.
const MOST_LISTED: usize = 64;
/// The maximum number of lines in the log between two calls of [`Processes::say_reasons`].
const MOST_LINES: usize = 20;
/// A process gets a line in the log if it has sent this many reads and none of them was answered in it.
const MANY_READS: u64 = 100;

/// The processes that are attached now, and the counts of those that have ended.
#[derive(Default)]
pub struct Processes(Mutex<State>);

#[derive(Default)]
struct State {
    attached: BTreeMap<u64, Process>,
    /// The number of processes so far.
    last: u64,
    /// The sum of the counts of all processes that have ended.
    ended: Counts,
    /// The number of lines that the log got since the last call of [`Processes::say_reasons`].
    lines: usize,
}

/// A process of an application that reads results from the shared memory, with its counts.
struct Process {
    name: ProcessName,
    counts: ForeignCounts,
    /// The reasons that the log already has.
    said: BTreeSet<Outcome>,
}

/// A process, as the system knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessName {
    /// Its id. Zero: it is in a namespace of its own.
    pub pid: u32,
    /// The name of its program, which it can choose itself.
    pub program: String,
}

/// A process in the list of attached ones. It is removed when this is dropped.
pub struct AttachedProcess {
    processes: Arc<Processes>,
    number: u64,
}

impl Drop for AttachedProcess {
    fn drop(&mut self) {
        self.processes.detach(self.number);
    }
}

impl Processes {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a process. None if there are too many already.
    pub fn attach(self: &Arc<Self>, name: ProcessName, counts: ForeignCounts) -> Option<AttachedProcess> {
        let mut state = self.state();
        if state.attached.len() >= MOST_PROCESSES {
            return None;
        }
        state.last += 1;
        let number = state.last;
        state.attached.insert(number, Process { name, counts, said: BTreeSet::new() });
        Some(AttachedProcess { processes: self.clone(), number })
    }

    fn detach(&self, number: u64) {
        let mut state = self.state();
        if let Some(mut process) = state.attached.remove(&number) {
            let counts = process.counts.read();
            state.ended.add(&counts);
            state.say_reasons(&mut process, &counts);
        }
    }

    /// Returns the number of processes that are attached.
    pub fn attached(&self) -> usize {
        self.state().attached.len()
    }

    /// Returns the sum of the counts of all processes, with those that have ended.
    pub fn counts(&self) -> Counts {
        let state = self.state();
        let mut sum = state.ended;
        state.attached.values().for_each(|process| sum.add(&process.counts.read()));
        sum
    }

    /// Returns the counts of single processes: of those that have been attached for the longest time, up to a limit.
    pub fn list(&self) -> Vec<(ProcessName, Counts)> {
        let state = self.state();
        let listed = state.attached.values().take(MOST_LISTED);
        listed.map(|process| (process.name.clone(), process.counts.read())).collect()
    }

    /// Writes to the log why processes are not answered, once for each process and reason.
    pub fn say_reasons(&self) {
        let mut state = self.state();
        state.lines = 0;
        let mut attached = std::mem::take(&mut state.attached);
        for process in attached.values_mut() {
            let counts = process.counts.read();
            state.say_reasons(process, &counts);
        }
        state.attached = attached;
    }
}

impl State {
    fn say_reasons(&mut self, process: &mut Process, counts: &Counts) {
        for reason in reasons(counts) {
            if self.lines < MOST_LINES && process.said.insert(reason) {
                self.lines += 1;
                let ProcessName { pid, program } = &process.name;
                say!("reads of process {pid} ({program}) are not answered in it: {}", explanation(reason));
            }
        }
    }
}

/// Returns the reasons that keep a process with these counts from being answered. A reason that passes by itself counts only if it is the
/// most frequent one, and nothing was answered in spite of many reads.
fn reasons(counts: &Counts) -> Vec<Outcome> {
    let is_lasting = |outcome: &Outcome| {
        outcome.is_of_connection() || [Outcome::OtherVersion, Outcome::OtherClock].contains(outcome)
    };
    let mut reasons: Vec<_> =
        Outcome::ALL.into_iter().filter(|outcome| is_lasting(outcome) && counts.of(*outcome) > 0).collect();
    if counts.of(Outcome::Answered) == 0 && counts.reads() >= MANY_READS {
        let of_reads = Outcome::ALL.into_iter().filter(|outcome| !is_lasting(outcome));
        reasons.extend(of_reads.max_by_key(|outcome| counts.of(*outcome)).filter(|most| counts.of(*most) > 0));
    }
    reasons
}

/// Returns what a reason means, and what to do about it.
fn explanation(reason: Outcome) -> &'static str {
    match reason {
        Outcome::Answered => "they are",
        Outcome::Absent => "no read has come twice, or fqc-near may not keep the results; see SHOW FQC REASONS",
        Outcome::Outdated => "what they read changes too often",
        Outcome::NoLease => "fqc-near may serve nothing; see fqc_near_obstacle",
        Outcome::NotLast => {
            "the server answers them, because of transactions, writes, or what fqc_near_reasons_total says"
        }
        Outcome::NewStatement => "each statement is prepared again or executed only a few times",
        Outcome::Form => "the client sends several commands at once, or one in parts",
        Outcome::Elsewhere => "its connections do not go through this fqc-near, or it cannot read them",
        Outcome::NoMemory => "it has not received the memory with the results",
        Outcome::OtherVersion => "libfqc.so and fqc-near are of different versions; start the program again",
        Outcome::OtherClock => "it is in another time namespace, whose clock is not that of fqc-near",
        Outcome::Tls => "a connection uses TLS, which the library cannot read; switch it off on this machine",
        Outcome::Compressed => "a connection is compressed; switch that off on this machine",
        Outcome::Ahead => "a client sends commands before it is logged in",
        Outcome::Epoll => "a client waits by epoll, which the library does not replace",
        Outcome::Call => "a client sends by a call that the library cannot read",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapped::ProcessCounts;

    fn attached(processes: &Arc<Processes>, pid: u32) -> Option<(ProcessCounts, AttachedProcess)> {
        let (counts, file) = ProcessCounts::create().expect("memory");
        let name = ProcessName { pid, program: "php".into() };
        let attached = processes.attach(name, ForeignCounts::new(file).expect("counters"))?;
        Some((counts, attached))
    }

    #[test]
    fn counts_of_a_process_stay_in_the_sum_after_its_end() {
        let processes = Arc::default();
        let (first, attached_first) = attached(&processes, 1).expect("a process");
        let (second, _attached_second) = attached(&processes, 2).expect("a process");
        (0..3).for_each(|_| first.count(0, Outcome::Answered));
        second.count(1, Outcome::Answered);
        assert_eq!((processes.attached(), processes.counts().of(Outcome::Answered)), (2, 4));
        drop(attached_first);
        first.count(0, Outcome::Answered);
        assert_eq!((processes.attached(), processes.counts().of(Outcome::Answered)), (1, 4));
        let listed: Vec<_> = processes.list().iter().map(|(name, counts)| (name.pid, counts.reads())).collect();
        assert_eq!(listed, [(2, 1)]);
    }

    #[test]
    fn the_number_of_processes_is_bounded_and_so_is_that_of_listed_ones() {
        let processes = Arc::default();
        let mut held: Vec<_> = (0..MOST_PROCESSES).map(|pid| attached(&processes, pid as u32).expect("room")).collect();
        assert!(attached(&processes, 0).is_none());
        assert_eq!(processes.list().len(), MOST_LISTED);
        held.pop();
        assert!(attached(&processes, 0).is_some());
    }

    #[test]
    fn a_reason_is_said_once_and_those_that_pass_only_if_nothing_is_answered() {
        let processes = Arc::default();
        let (counts, _attached) = attached(&processes, 1).expect("a process");
        let lines = || {
            processes.say_reasons();
            processes.state().lines
        };
        counts.count(0, Outcome::Absent);
        assert_eq!(lines(), 0);
        counts.count(0, Outcome::Tls);
        assert_eq!([lines(), lines()], [1, 0]);
        (0..MANY_READS).for_each(|_| counts.count(0, Outcome::NotLast));
        assert_eq!([lines(), lines()], [1, 0]);
        (0..MANY_READS).for_each(|_| counts.count(0, Outcome::Answered));
        (0..3 * MANY_READS).for_each(|_| counts.count(0, Outcome::Form));
        assert_eq!(lines(), 0);
        for _ in 0..2 * MOST_LINES {
            let (counts, _attached) = attached(&processes, 2).expect("a process");
            counts.count(0, Outcome::Epoll);
        }
        assert_eq!(processes.state().lines, MOST_LINES);
    }
}
