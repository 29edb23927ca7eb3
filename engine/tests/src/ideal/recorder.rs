//! Records the reads in their order: a number in four bytes for each, equal numbers for equal texts. `fqc-cache`'s example `replay` reads
//! such files.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

pub struct Recorder(Mutex<Trace>);

struct Trace {
    numbers: HashMap<Vec<u8>, u32>,
    file: BufWriter<File>,
}

impl Recorder {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self(Mutex::new(Trace { numbers: HashMap::new(), file: BufWriter::new(File::create(path)?) })))
    }

    pub fn note(&self, text: &[u8]) -> io::Result<()> {
        let Trace { numbers, file } = &mut *self.trace();
        let next = numbers.len() as u32;
        let number = *numbers.entry(text.to_vec()).or_insert(next);
        file.write_all(&number.to_be_bytes())
    }

    pub fn flush(&self) -> io::Result<()> {
        self.trace().file.flush()
    }

    fn trace(&self) -> MutexGuard<'_, Trace> {
        self.0.lock().expect("no writer panics")
    }
}
