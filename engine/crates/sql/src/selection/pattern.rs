//! The pattern of LIKE.

/// A pattern of LIKE: `%` matches any text, `_` any character, and an escaped character itself. Case does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Letter(char),
}

impl Pattern {
    /// Parses a pattern, given without quotes. If `has_escape`, a backslash makes the next character match itself.
    pub fn new(text: &str, has_escape: bool) -> Pattern {
        let mut parts = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '%' => parts.push(Part::Any),
                '_' => parts.push(Part::One),
                '\\' if has_escape => parts.extend(folded(letters.next().unwrap_or('\\')).map(Part::Letter)),
                letter => parts.extend(folded(letter).map(Part::Letter)),
            }
        }
        Pattern { parts }
    }

    /// Returns whether the whole value matches. `None`, which is neither true nor false, for a value of `None` (NULL).
    pub fn fits(&self, value: Option<&str>) -> Option<bool> {
        let value: Vec<char> = value?.chars().flat_map(folded).collect();
        Some(self.fits_all(&value))
    }

    /// True if the value, in folded characters, matches the whole pattern. It goes back to the last `%` only: going back to an earlier one
    /// could not match more.
    fn fits_all(&self, value: &[char]) -> bool {
        let (mut at, mut part) = (0, 0);
        let mut last_any = None;
        while at < value.len() {
            match self.parts.get(part) {
                Some(Part::Any) => {
                    last_any = Some((at, part));
                    part += 1;
                }
                Some(Part::One) => (at, part) = (at + 1, part + 1),
                Some(Part::Letter(letter)) if *letter == value[at] => (at, part) = (at + 1, part + 1),
                _ => {
                    let Some((from, any)) = last_any else { return false };
                    last_any = Some((from + 1, any));
                    (at, part) = (from + 1, any + 1);
                }
            }
        }
        self.parts[part..].iter().all(|part| *part == Part::Any)
    }
}

fn folded(letter: char) -> std::char::ToUppercase {
    letter.to_uppercase()
}
