//! Patterns for names in rules: compared without regard to case; `%` stands for any text.

/// A pattern for names in a rule. It is compared without regard to case, and `%` stands for any text, also an empty one.
#[derive(Debug)]
pub struct Pattern(Vec<String>);

impl Pattern {
    pub fn new(text: String) -> Pattern {
        Pattern(text.to_lowercase().split('%').map(str::to_owned).collect())
    }

    /// True if the whole name matches the pattern.
    pub fn fits(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let Some((first, rest)) = self.0.split_first() else { return false };
        let Some((last, between)) = rest.split_last() else { return name == *first };
        let Some(mut left) = name.strip_prefix(first.as_str()) else { return false };
        for part in between {
            let Some(at) = left.find(part.as_str()) else { return false };
            left = &left[at + part.len()..];
        }
        left.ends_with(last.as_str())
    }
}
