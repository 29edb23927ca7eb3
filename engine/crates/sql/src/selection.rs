//! The selection of a report's rows by `SHOW FQC ... LIKE` and `WHERE`.
//!
//! WHERE is a small part of the server's: tests of a column against a literal, joined by AND, OR, NOT and parentheses. Like the server,
//! it ignores case and trailing spaces of texts, and compares a column with a number as a number. A test of NULL is neither true nor
//! false.

mod pattern;

pub use pattern::Pattern;
use std::cmp::Ordering;

/// The rows of a report of `SHOW FQC ...` that a user selects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    All,
    /// The first column has to match the pattern.
    Like(Pattern),
    /// The condition has to be true.
    Where(Condition),
}

/// An error in the LIKE or WHERE of a report, for the message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectionError {
    /// The text cannot be a statement from this byte on, counted from 0. `None` if it ends too early.
    Syntax(Option<usize>),
    /// A construct, in words, that the server's WHERE may contain and this one may not.
    Unsupported(String),
}

/// The condition after WHERE, in postfix order: operators follow their operands. `a = 1 OR NOT b = 2` is `a = 1`, `b = 2`, NOT, OR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Test(Test),
    Not,
    And,
    Or,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub column: String,
    pub verb: TestOperator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TestOperator {
    Compare(Comparison, Literal),
    Like(Pattern),
    IsNull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Number(f64),
}

/// Equality is reflexive, because no literal is NaN.
impl Eq for Literal {}

impl Selection {
    /// Returns the first name in the condition that is not in `columns`, compared in any case; None if there is none. Check it before
    /// [`selects`](Self::selects), which selects no rows by an unknown column.
    pub fn unknown_column(&self, columns: &[&str]) -> Option<&str> {
        let Selection::Where(condition) = self else { return None };
        let names = condition.steps.iter().filter_map(|step| match step {
            Step::Test(test) => Some(test.column.as_str()),
            _ => None,
        });
        names.into_iter().find(|name| place(columns, name).is_none())
    }

    /// True if this row of a report is selected. `columns` are the names of the row's columns; `None` in the row is NULL.
    pub fn selects(&self, columns: &[&str], row: &[Option<String>]) -> bool {
        match self {
            Selection::All => true,
            Selection::Like(pattern) => row.first().is_some_and(|value| pattern.fits(value.as_deref()) == Some(true)),
            Selection::Where(condition) => condition.holds(columns, row) == Some(true),
        }
    }
}

fn place(columns: &[&str], name: &str) -> Option<usize> {
    columns.iter().position(|column| column.eq_ignore_ascii_case(name))
}

impl Condition {
    /// Evaluates the condition for a row. `None` if it is neither true nor false, because of a NULL or an unknown column.
    fn holds(&self, columns: &[&str], row: &[Option<String>]) -> Option<bool> {
        let mut answers: Vec<Option<bool>> = Vec::new();
        for step in &self.steps {
            let answer = match step {
                Step::Test(test) => test.holds(columns, row),
                Step::Not => negated(answers.pop()?),
                Step::And => both(answers.pop()?, answers.pop()?),
                Step::Or => both(negated(answers.pop()?), negated(answers.pop()?)).map(|neither| !neither),
            };
            answers.push(answer);
        }
        answers.pop()?
    }
}

fn negated(answer: Option<bool>) -> Option<bool> {
    answer.map(|answer| !answer)
}

fn both(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

impl Test {
    fn holds(&self, columns: &[&str], row: &[Option<String>]) -> Option<bool> {
        let value = row.get(place(columns, &self.column)?)?.as_deref();
        match &self.verb {
            TestOperator::IsNull => Some(value.is_none()),
            TestOperator::Like(pattern) => pattern.fits(value),
            TestOperator::Compare(comparison, literal) => comparison.accepts(literal.compared(value?)?),
        }
    }
}

impl Comparison {
    fn accepts(self, order: Ordering) -> Option<bool> {
        Some(match self {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        })
    }
}

impl Literal {
    /// Returns how the value is ordered relative to the literal: texts without regard to case and trailing spaces, numbers by value.
    fn compared(&self, value: &str) -> Option<Ordering> {
        let folded = |text: &str| text.trim_end_matches(' ').to_uppercase();
        match self {
            Literal::Text(text) => Some(folded(value).cmp(&folded(text))),
            Literal::Number(number) => leading_number(value).partial_cmp(number),
        }
    }
}

/// Returns the number that a text begins with; 0 if it begins with none.
fn leading_number(text: &str) -> f64 {
    let text = text.trim_start();
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+' | b'e' | b'E');
    let longest = text.bytes().take_while(is_part).count();
    (1..=longest).rev().find_map(|length| text[..length].parse().ok()).unwrap_or(0.0)
}
