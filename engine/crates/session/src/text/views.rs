//! The names of all views, to tell whether a statement may name one.

use std::collections::HashSet;

#[derive(Default)]
pub struct ViewNames {
    pub generation: u64,
    /// Names of all views but those of system schemas, in ASCII lower case, without their schemas.
    pub names: HashSet<Vec<u8>>,
    /// The server finds them by names in another case, too, as it folds letters beyond ASCII.
    pub folds_case: bool,
}

impl ViewNames {
    /// `name`: in ASCII lower case.
    pub fn may_be_view(&self, name: &[u8]) -> bool {
        self.names.contains(name) || self.folds_case && !name.is_ascii()
    }
}
