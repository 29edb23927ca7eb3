//! Rows of text, as `SHOW` returns them.

pub type Rows = Vec<Vec<Option<String>>>;

pub fn row<const N: usize>(values: [&str; N]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}
