//! W-TinyLFU: a small LRU window in front of a segmented LRU. What leaves the window enters the main part only if it was requested more
//! often than the entry that it would evict. Frequencies come from a counting sketch that is halved from time to time.

use super::Policy;
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Window,
    Probation,
    Protected,
}

#[derive(Default)]
struct Order {
    by_age: BTreeMap<u64, u64>,
}

pub struct TinyLfu {
    limits: [usize; 3],
    now: u64,
    known: HashMap<u64, (Part, u64)>,
    parts: [Order; 3],
    sketch: Sketch,
}

impl TinyLfu {
    pub fn new(entries: usize) -> Self {
        let window = (entries / 100).max(1);
        let main = entries - window;
        let protected = main * 8 / 10;
        TinyLfu {
            limits: [window, main - protected, protected],
            now: 0,
            known: HashMap::new(),
            parts: Default::default(),
            sketch: Sketch::new(entries),
        }
    }

    fn put(&mut self, number: u64, part: Part) {
        self.now += 1;
        self.parts[part as usize].by_age.insert(self.now, number);
        self.known.insert(number, (part, self.now));
    }

    fn take(&mut self, number: u64) -> Option<Part> {
        let (part, age) = self.known.remove(&number)?;
        self.parts[part as usize].by_age.remove(&age);
        Some(part)
    }

    fn oldest(&self, part: Part) -> Option<u64> {
        self.parts[part as usize].by_age.first_key_value().map(|(_, number)| *number)
    }

    fn len(&self, part: Part) -> usize {
        self.parts[part as usize].by_age.len()
    }

    fn promote(&mut self, number: u64) {
        self.put(number, Part::Protected);
        if self.len(Part::Protected) > self.limits[Part::Protected as usize]
            && let Some(demoted) = self.oldest(Part::Protected)
        {
            self.take(demoted);
            self.put(demoted, Part::Probation);
        }
    }

    fn admit(&mut self) {
        if self.len(Part::Window) <= self.limits[Part::Window as usize] {
            return;
        }
        let Some(candidate) = self.oldest(Part::Window) else { return };
        self.take(candidate);
        let main = self.len(Part::Probation) + self.len(Part::Protected);
        if main < self.limits[1] + self.limits[2] {
            return self.put(candidate, Part::Probation);
        }
        let victim = self.oldest(Part::Probation).or_else(|| self.oldest(Part::Protected));
        if let Some(victim) = victim.filter(|victim| self.sketch.count(candidate) > self.sketch.count(*victim)) {
            self.take(victim);
            self.put(candidate, Part::Probation);
        }
    }
}

impl Policy for TinyLfu {
    fn request(&mut self, number: u64) -> bool {
        self.sketch.add(number);
        match self.take(number) {
            Some(Part::Window) => self.put(number, Part::Window),
            Some(_) => self.promote(number),
            None => {
                self.put(number, Part::Window);
                self.admit();
                return false;
            }
        }
        true
    }
}

/// A counting sketch: each number has four counters up to 15, which it shares with others. The smallest has the least error.
struct Sketch {
    counters: Vec<u8>,
    added: usize,
    entries: usize,
}

impl Sketch {
    fn new(entries: usize) -> Self {
        Sketch { counters: vec![0; (8 * entries).next_power_of_two()], added: 0, entries }
    }

    fn places(&self, number: u64) -> [usize; 4] {
        let mask = self.counters.len() - 1;
        [0x9e37_79b9_7f4a_7c15u64, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x27d4_eb2f_1656_67c5]
            .map(|odd| (number.wrapping_add(1).wrapping_mul(odd) >> 32) as usize & mask)
    }

    fn count(&self, number: u64) -> u8 {
        self.places(number).map(|at| self.counters[at]).into_iter().min().unwrap_or(0)
    }

    fn add(&mut self, number: u64) {
        for at in self.places(number) {
            self.counters[at] = (self.counters[at] + 1).min(15);
        }
        self.added += 1;
        if self.added >= 10 * self.entries {
            self.counters.iter_mut().for_each(|counter| *counter /= 2);
            self.added /= 2;
        }
    }
}
