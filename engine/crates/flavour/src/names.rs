//! Lists of words that are searched for nearly every word of a statement.

use crate::Objection;
use std::collections::BTreeSet;

/// A bit for each first letter and each length that a name of a list has. A word that matches none of them is not in the list, which spares
/// most searches.
#[derive(Clone, Copy, Debug)]
struct Filter {
    first_letters: u32,
    lengths: u64,
}

impl Filter {
    const NOTHING: Filter = Filter { first_letters: 0, lengths: 0 };

    const fn with(self, other: Filter) -> Filter {
        let first_letters = self.first_letters | other.first_letters;
        Filter { first_letters, lengths: self.lengths | other.lengths }
    }

    /// Computes the filter of one name, which has 1 to 63 bytes.
    const fn of(name: &[u8]) -> Filter {
        Filter { first_letters: letter_bit(name[0]), lengths: 1 << name.len() }
    }

    /// False if the word is certainly in no list with this filter.
    #[inline]
    fn admits(self, word: &[u8]) -> bool {
        let Some(first) = word.first() else { return false };
        self.first_letters & letter_bit(*first) != 0 && self.lengths >> (word.len() & 63) & 1 != 0
    }
}

/// A sorted list of words in lower case, without duplicates. A constant list is checked when it is compiled.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    sorted: &'static [&'static str],
    filter: Filter,
}

impl Names {
    pub const NONE: Names = Names::new(&[]);

    /// Takes a list as it stands. Panics (at compile time, in a constant) unless the words are sorted, in lower case, different, and 1 to
    /// 63 bytes long.
    pub const fn new(sorted: &'static [&'static str]) -> Names {
        let mut filter = Filter::NOTHING;
        let mut at = 0;
        while at < sorted.len() {
            let name = sorted[at].as_bytes();
            assert!(is_lower(name) && (at == 0 || is_before(sorted[at - 1].as_bytes(), name)), "unsorted names");
            filter = filter.with(Filter::of(name));
            at += 1;
        }
        Names { sorted, filter }
    }

    pub fn as_slice(&self) -> &'static [&'static str] {
        self.sorted
    }

    /// Returns a copy of the list without these names. The copy is leaked, so call this a limited number of times.
    pub fn without(&self, names: &BTreeSet<&str>) -> Names {
        let left: Vec<_> = self.sorted.iter().copied().filter(|name| !names.contains(name)).collect();
        Names::new(left.leak())
    }

    /// True if the list has `word`, which must be in lower case.
    #[inline]
    pub fn contains(&self, word: &[u8]) -> bool {
        self.filter.admits(word) && self.sorted.binary_search_by(|name| name.as_bytes().cmp(word)).is_ok()
    }
}

/// Lists of functions, each with the reason why their results must not be cached.
#[derive(Clone, Copy, Debug)]
pub struct Objections {
    lists: &'static [(Objection, Names)],
    filter: Filter,
}

impl Objections {
    pub const NONE: Objections = Objections::new(&[]);

    /// Builds the objections from lists of function names, each with a reason. If a name is in several lists, only the
    /// first of these counts.
    pub const fn new(lists: &'static [(Objection, Names)]) -> Objections {
        let mut filter = Filter::NOTHING;
        let mut at = 0;
        while at < lists.len() {
            filter = filter.with(lists[at].1.filter);
            at += 1;
        }
        Objections { lists, filter }
    }

    pub fn as_slice(&self) -> &'static [(Objection, Names)] {
        self.lists
    }

    /// Returns why results of the function `word` must not be cached. None if no list has it, which does not mean that they may be. `word`
    /// is in lower case.
    #[inline]
    pub fn find(&self, word: &[u8]) -> Option<Objection> {
        if self.filter.admits(word) { self.search(word) } else { None }
    }

    fn search(&self, word: &[u8]) -> Option<Objection> {
        self.lists.iter().find(|(_, names)| names.contains(word)).map(|(objection, _)| *objection)
    }
}

const fn letter_bit(letter: u8) -> u32 {
    1 << (letter & 31)
}

const fn is_lower(name: &[u8]) -> bool {
    let mut at = 0;
    while at < name.len() {
        if name[at].is_ascii_uppercase() {
            return false;
        }
        at += 1;
    }
    0 < at && at < 64
}

const fn is_before(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: Names = Names::new(&["count", "max", "max_by"]);

    #[test]
    fn what_is_listed_is_found_and_nothing_else() {
        assert!(FEW.as_slice().iter().all(|name| FEW.contains(name.as_bytes())));
        let long = [b'c'; 69];
        for word in [&b""[..], b"ma", b"maxx", b"min", b"cound", b"MAX", b"-ax", &long] {
            assert!(!FEW.contains(word), "{}", String::from_utf8_lossy(word));
        }
        assert!(!Names::NONE.contains(b"count"));
    }

    #[test]
    #[should_panic(expected = "unsorted")]
    fn a_list_that_is_not_sorted_is_refused() {
        Names::new(&["max", "count"]);
    }

    #[test]
    #[should_panic(expected = "unsorted")]
    fn a_name_that_is_there_twice_is_refused() {
        Names::new(&["count", "count"]);
    }
}
