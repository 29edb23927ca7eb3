//! Records the reads of a load test in their order, to be replayed later.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

/// A file of recorded reads: four bytes for each, a big-endian number that is equal for equal texts. `fqc-cache`'s example `replay` reads
/// such files. May be shared between threads.
pub struct Recorder(Mutex<Trace>);

struct Trace {
    numbers: HashMap<Vec<u8>, u32>,
    file: BufWriter<File>,
}

impl Recorder {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(Mutex::new(Trace { numbers: HashMap::new(), file: BufWriter::new(File::create(path)?) })))
    }

    /// Records one read, by its text. It may be in the file only after [`Self::flush`].
    pub fn note(&self, text: &[u8]) -> io::Result<()> {
        let Trace { numbers, file } = &mut *self.trace();
        let next = numbers.len() as u32;
        let number = *numbers.entry(text.to_vec()).or_insert(next);
        file.write_all(&number.to_be_bytes())
    }

    /// Writes all recorded reads to the file.
    pub fn flush(&self) -> io::Result<()> {
        self.trace().file.flush()
    }

    fn trace(&self) -> MutexGuard<'_, Trace> {
        self.0.lock().expect("no writer panics")
    }
}
