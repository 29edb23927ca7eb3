//! Determines whether MySQL prepares a statement again for the values that an execution gives its parameters.
//!
//! MySQL also does that when it has to open a table again, which is not reported to the engine. It then takes every parameter for the
//! type of its value in that execution. So a value is clear only if its parameter is taken for the same type before and after.

use crate::{Bound, BoundType, NO_TYPE, Param, Parameter, Params};

/// The types that MySQL takes a prepared statement's parameters for: those from its preparation and, once an execution had values that do
/// not fit these, the types of those values, because MySQL then prepares the statement again. After a number, for example, it compares text
/// as a number from then on. The result of an execution depends on these types.
#[derive(Clone, Debug, Default)]
pub struct ParameterTypes {
    parameters: Vec<Parameter>,
    /// The types of the first values that did not fit `parameters`. Empty as long as all values have fitted.
    reprepared_for: Vec<BoundType>,
}

/// How MySQL interprets the values of an execution. Only `Alike` and `Reprepared` are certain from the types alone, so that the execution's
/// result can be cached by its types and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interpretation {
    /// The server interprets the values as in every other execution with the same types.
    Alike,
    /// The server prepares the statement again for these types, one for each parameter. They also apply to later executions: pass them to
    /// [`ParameterTypes::reprepare`].
    Reprepared(Vec<BoundType>),
    /// The values have the types that the statement was prepared again for, except that some are NULL.
    InPart,
    /// Some values have another type than the one that the statement was prepared again for.
    Mixed,
    /// The interpretation depends on more than the types of the values, or the types from the preparation are not known.
    Unclear,
}

impl ParameterTypes {
    /// Creates the state of a statement that was just prepared. `parameters` are from [`Outcome::parameters`](crate::Outcome::parameters).
    pub fn new(parameters: Vec<Parameter>) -> ParameterTypes {
        ParameterTypes { parameters, reprepared_for: Vec::new() }
    }

    /// Determines how the server interprets the values of an execution. Changes nothing: see [`reprepare`](Self::reprepare).
    pub fn interpret(&self, params: &Params) -> Interpretation {
        let types = || params.types_of_values();
        match fit(&self.parameters, params) {
            Fit::Unclear => Interpretation::Unclear,
            Fit::Same if self.reprepared_for.is_empty() => Interpretation::Alike,
            _ if self.reprepared_for.is_empty() => Interpretation::Reprepared(types().collect()),
            _ if types().eq(self.reprepared_for.iter().copied()) => Interpretation::Alike,
            _ if types().zip(&self.reprepared_for).any(|(now, before)| now != NO_TYPE && now != *before) => {
                Interpretation::Mixed
            }
            _ => Interpretation::InPart,
        }
    }

    /// Notes that the server has prepared the statement again. Call it with the types of [`Interpretation::Reprepared`] once the client has
    /// sent that execution to the server.
    pub fn reprepare(&mut self, types: Vec<BoundType>) {
        self.reprepared_for = types;
    }

    /// Returns bytes that identify the types from the statement's preparation, for use in a key.
    pub fn parameter_bytes(&self) -> impl Iterator<Item = u8> {
        self.parameters.iter().flat_map(Parameter::bytes)
    }

    /// Returns the types that the statement was prepared again for, one for each parameter; empty if that has not happened.
    pub fn reprepared_for(&self) -> &[BoundType] {
        &self.reprepared_for
    }
}

/// Whether values fit the types that parameters have from the preparation. Ordered: the greatest of several decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The server takes the parameters for the types of the values already.
    Same,
    /// The server will take the parameters for the types of the values, because it prepares the statement again.
    Other,
    /// The outcome depends on more than the types of the values.
    Unclear,
}

/// A class of types that the server may assume for a parameter, and that a value may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer { is_unsigned: bool },
    Decimal,
    Double,
    Date,
    Moment,
    Text,
    Bytes,
}

/// Compares all values that are not NULL with the types from the preparation. `Unclear` if the numbers differ.
fn fit(parameters: &[Parameter], params: &Params) -> Fit {
    let has_all = 2 * parameters.len() == params.types.len();
    let values = params.iter().enumerate().filter(|(_, param)| param.value != Bound::Null);
    let each =
        values.map(|(at, param)| parameters.get(at).filter(|_| has_all).map_or(Fit::Unclear, |it| of_one(it, &param)));
    each.max().unwrap_or(Fit::Same)
}

fn of_one(parameter: &Parameter, param: &Param) -> Fit {
    let (Some(wanted), Some(given)) = (wanted(parameter), given(param)) else { return Fit::Unclear };
    match (wanted, given) {
        _ if wanted == given => Fit::Same,
        (_, Class::Text) if reads_as(wanted, &param.value) => Fit::Same,
        (_, Class::Text | Class::Bytes) => Fit::Unclear,
        (Class::Decimal, Class::Integer { .. }) | (Class::Double, Class::Integer { .. } | Class::Decimal) => {
            Fit::Unclear
        }
        (Class::Moment, _) | (Class::Date, Class::Integer { .. } | Class::Decimal | Class::Double) => Fit::Unclear,
        _ => Fit::Other,
    }
}

/// Returns the class of type that the server assumes for a parameter; None if it is not one of those known here.
fn wanted(parameter: &Parameter) -> Option<Class> {
    Some(match parameter.type_code {
        8 => Class::Integer { is_unsigned: parameter.is_unsigned },
        246 => Class::Decimal,
        5 => Class::Double,
        10 => Class::Date,
        12 => Class::Moment,
        253 if parameter.is_binary => Class::Bytes,
        253 => Class::Text,
        _ => return None,
    })
}

/// Returns the class, such as integer or text, of the type that a client has declared for a value. None for types that are not listed here.
fn given(param: &Param) -> Option<Class> {
    Some(match param.type_code {
        1 | 2 | 3 | 8 | 9 => Class::Integer { is_unsigned: param.is_unsigned },
        0 | 246 => Class::Decimal,
        4 | 5 => Class::Double,
        10 => Class::Date,
        7 | 12 => Class::Moment,
        15 | 253 | 254 => Class::Text,
        249..=252 => Class::Bytes,
        _ => return None,
    })
}

/// True if the server takes this text for a value of the class, whatever the settings of the session are.
fn reads_as(wanted: Class, value: &Bound) -> bool {
    let Bound::Bytes(text) = value else { return false };
    match wanted {
        Class::Integer { .. } => (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit),
        Class::Decimal | Class::Double => is_number(text),
        Class::Date => is_date(text),
        Class::Moment => text.split_at_checked(10).is_some_and(|(date, time)| is_date(date) && is_time(time)),
        Class::Text | Class::Bytes => false,
    }
}

/// True for a decimal number with so few digits that each numeric type has room for it.
fn is_number(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = unsigned.split(|byte| *byte == b'.');
    let is_whole = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    text.len() <= 30 && parts.by_ref().take(2).all(is_whole) && parts.next().is_none()
}

/// True for a date such as `2024-02-28` with a day up to 28, which exists in every month, and a year from 1000.
fn is_date(text: &[u8]) -> bool {
    let has = |at: usize, allowed: std::ops::RangeInclusive<&[u8]>| allowed.contains(&&text[at..][..2]);
    has_form(text, b"0000-00-00") && has(0, b"10"..=b"99") && has(5, b"01"..=b"12") && has(8, b"01"..=b"28")
}

fn is_time(text: &[u8]) -> bool {
    let has = |at: usize, most: &[u8]| &text[at..][..2] <= most;
    has_form(text, b" 00:00:00") && has(1, b"23") && has(4, b"59") && has(7, b"59")
}

/// True if the text has the form of `form`: a digit where `form` has a zero, and otherwise the same bytes.
fn has_form(text: &[u8], form: &[u8]) -> bool {
    let pairs = || text.iter().zip(form);
    text.len() == form.len()
        && pairs().all(|(byte, wanted)| if *wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted })
}
