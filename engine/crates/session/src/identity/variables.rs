//! The variables that a session has SET and that can change a result. The last value of each counts, so two sessions with the
//! same settings share entries.

use crate::identity::habits::Habits;
use sql::{Assignment, CHARACTER_SETS, Charset, LexMode, Target, Value};
use std::collections::BTreeMap;

/// Set where the character set of results was named since the login. Results tell their collation too, which then is the
/// default one or that of SET NAMES; what the server tells when it is asked does not say which.
const RESULTS_NAMED: &[u8] = b"results named";

/// What a value means hangs on these, as they are when it is set.
fn bases(name: &[u8]) -> &'static [&'static [u8]] {
    const COLLATIONS: &[&[u8]] = &[b"old_mode", b"character_set_collations", b"default_collation_for_utf8mb4"];
    match name {
        b"names" | b"character_set_collations" => COLLATIONS,
        b"system_versioning_asof" => &[b"time_zone"],
        _ if CHARACTER_SETS.contains(&name) => COLLATIONS,
        _ => &[],
    }
}

fn says_how_texts_are_read(name: &[u8]) -> bool {
    matches!(name, b"sql_mode" | b"character_set_client")
}

/// What is replaced along with it.
fn replaced(name: &[u8]) -> Option<&'static [u8]> {
    match name {
        b"character_set_connection" => Some(b"collation_connection"),
        b"collation_connection" => Some(b"character_set_connection"),
        _ => None,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// All settings are known: the session shares entries with those that have the same.
    Shared,
    /// Something was set that is not understood: its entries are its own, under this number.
    Private(u64),
    /// Not even how to split a text into words is known: nothing is cached.
    Lost,
}

#[derive(Clone, Debug)]
pub struct Variables {
    set: BTreeMap<Vec<u8>, Vec<u8>>,
    pub mode: LexMode,
    pub knowledge: Knowledge,
    /// An askable one was set by an expression: the server is to be asked before the next read.
    pub is_uncertain: bool,
    /// Nothing was set that way, but it is not known how texts are read from the beginning on.
    pub is_unread: bool,
    /// Of those that were set by an expression, one says how texts are read.
    is_doubtful: bool,
    /// Those below are known.
    pub knows_habits: bool,
    /// Those that it may have, too.
    pub habits: Habits,
}

/// Whether an assignment changed the identity, and how far it was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Understanding {
    Nothing,
    Changed,
    /// The value is not known.
    NotUnderstood,
}

impl Variables {
    pub fn new(mode: LexMode) -> Variables {
        let knowledge = Knowledge::Shared;
        Variables {
            set: BTreeMap::new(),
            mode,
            knowledge,
            is_uncertain: false,
            is_unread: false,
            is_doubtful: false,
            knows_habits: true,
            habits: Habits::default(),
        }
    }

    fn known(&self) -> &'static flavour::Variables {
        &self.mode.flavour.variables
    }

    fn charset_of(&self, value: &Value) -> Charset {
        Charset::of_value(value, &self.mode.flavour.charsets)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.set.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// Applies an assignment that the server has accepted. `inherited` numbers the globals that DEFAULT stands for.
    pub fn apply(&mut self, assignment: &Assignment, inherited: u64) -> Understanding {
        match &assignment.target {
            Target::UserVariable if assignment.value == Value::Complex => Understanding::NotUnderstood,
            Target::UserVariable | Target::OneShot(_) | Target::Global(_) | Target::Password | Target::DefaultRole => {
                Understanding::Nothing
            }
            Target::Session(name) => self.set_session(name, &assignment.value, inherited),
            Target::Names { collation } => self.set_names(&assignment.value, collation.as_deref(), inherited),
            // Its effect depends on the database that is current now.
            Target::Charset => {
                self.mode.charset = self.charset_of(&assignment.value);
                Understanding::NotUnderstood
            }
            Target::Role => {
                // The server keeps what is granted to it now.
                self.set.insert(b"role granted".to_vec(), inherited.to_le_bytes().to_vec());
                self.set_plain(b"role", &assignment.value, inherited)
            }
        }
    }

    fn set_session(&mut self, name: &[u8], value: &Value, inherited: u64) -> Understanding {
        if self.known().has_no_effect(name) {
            return Understanding::Nothing;
        }
        let flavour = self.mode.flavour;
        if Habits::hang_on(flavour, name) {
            self.habits.set(flavour, name, Some(value));
            if !Habits::change_results(flavour, name) {
                return Understanding::Changed;
            }
        }
        if name == b"character_set_results" {
            let is_default = matches!(value, Value::Default);
            self.set.insert(RESULTS_NAMED.to_vec(), vec![u8::from(is_default)]);
        }
        // Of the switches of the optimizer it changes those that it names.
        let is_part = name == b"optimizer_switch";
        if self.known().is_askable(name) && (is_part || matches!(value, Value::Complex | Value::Default)) {
            self.doubt(says_how_texts_are_read(name));
            return Understanding::Changed;
        }
        if name == b"sql_mode" {
            match self.mode.with_sql_mode(value) {
                Some(mode) => self.mode = mode,
                None => self.doubt(true),
            }
        }
        if name == b"character_set_client" {
            self.mode.charset = self.charset_of(value);
        }
        self.set_plain(name, value, inherited)
    }

    fn set_plain(&mut self, name: &[u8], value: &Value, inherited: u64) -> Understanding {
        let value = match (value, value.plain()) {
            (_, Some(bytes)) => [b"=", bytes].concat(),
            (Value::Default, _) => format!("default {inherited}").into_bytes(),
            _ => return Understanding::NotUnderstood,
        };
        let bases = bases(name);
        let are_known = !self.is_uncertain || self.is_unread;
        if !are_known && bases.iter().any(|base| self.known().is_askable(base)) {
            return Understanding::NotUnderstood;
        }
        let own = Some(&value).into_iter();
        let parts = own.chain(bases.iter().filter_map(|base| self.set.get(*base)));
        let value = parts.map(Vec::as_slice).collect::<Vec<_>>().join(&b" under "[..]);
        if let Some(other) = replaced(name) {
            self.set.remove(other);
        }
        self.set.insert(name.to_vec(), value);
        Understanding::Changed
    }

    /// Assignments of which nobody knows whether they were made. False if the server cannot be asked for what they set.
    pub fn doubt_all(&mut self, assignments: &[Assignment]) -> bool {
        let flavour = self.mode.flavour;
        let is_askable = |assignment: &Assignment| match &assignment.target {
            Target::Session(name) => flavour.variables.is_askable(name),
            Target::Names { .. } => true,
            _ => false,
        };
        for assignment in assignments {
            if let Target::Session(name) = &assignment.target {
                self.habits.set(flavour, name, None);
            }
        }
        let may_change_reading = |assignment: &Assignment| match &assignment.target {
            Target::Session(name) => says_how_texts_are_read(name),
            _ => true,
        };
        self.doubt(assignments.iter().any(may_change_reading));
        assignments.iter().all(is_askable)
    }

    /// All that was set is known, or at least how texts are read.
    pub fn are_certain(&self) -> bool {
        !self.is_uncertain && self.knowledge != Knowledge::Lost
    }

    /// One that says how texts are read was set by an expression, and the server has not told its value yet.
    pub fn is_doubtful(&self) -> bool {
        self.is_uncertain && self.is_doubtful
    }

    /// What is in force now goes by this number. What was set before may hold no more: if it is set again, that is a change.
    pub fn become_private(&mut self, number: u64) {
        self.knowledge = Knowledge::Private(number);
        self.set.clear();
    }

    /// What was set is to be asked for.
    pub fn doubt(&mut self, may_change_reading: bool) {
        (self.is_uncertain, self.is_unread) = (true, false);
        self.is_doubtful |= may_change_reading;
        // Until it is known that this grammar is in force still, texts are read in the usual one, as far as they are believed.
        self.mode.is_foreign &= !may_change_reading;
    }

    /// It was learned late how sessions begin that began when this one did. It has set nothing by an expression.
    pub fn begin_late(&mut self, habits: Habits) {
        (self.is_uncertain, self.is_unread, self.knows_habits) = (false, false, true);
        self.habits = self.habits.or(habits);
    }

    /// The server has told the values of the askable ones and those that habits hang on, in that order.
    pub fn learn(&mut self, values: &[Vec<u8>]) {
        (self.is_uncertain, self.is_doubtful, self.knows_habits) = (false, false, true);
        if let Some([traces, idleness, reports, joins, numbers]) = values.get(self.known().askable.len()..) {
            self.habits = Habits::told(self.mode.flavour, [traces, idleness, reports, joins, numbers]);
        }
        if let Some(mode) = values.first() {
            self.mode = self.mode.with_sql_mode(&Value::Text(mode.clone())).unwrap_or(self.mode);
        }
        let clients = self.known().askable.iter().position(|name| *name == "character_set_client");
        if let Some(client) = clients.and_then(|place| values.get(place)) {
            self.mode.charset = Charset::of_name(client, &self.mode.flavour.charsets);
        }
        // All who inherit the same have the same.
        if std::mem::take(&mut self.is_unread) {
            return;
        }
        self.forget_character_sets();
        for (name, value) in self.known().askable.iter().zip(values) {
            self.set_plain(name.as_bytes(), &Value::Text(value.clone()), 0);
        }
    }

    /// SET NAMES replaces what was set for the four character sets one by one.
    fn set_names(&mut self, value: &Value, collation: Option<&[u8]>, inherited: u64) -> Understanding {
        self.forget_character_sets();
        let named = collation.map_or_else(|| vec![u8::from(matches!(value, Value::Default))], <[u8]>::to_vec);
        self.set.insert(RESULTS_NAMED.to_vec(), named);
        self.mode.charset = self.charset_of(value);
        if let Some(collation) = collation {
            self.set.insert(b"names collate".to_vec(), collation.to_vec());
        }
        self.set_plain(b"names", value, inherited)
    }

    fn forget_character_sets(&mut self) {
        let own: [&[u8]; 2] = [b"names", b"names collate"];
        for name in CHARACTER_SETS.iter().chain(&own) {
            self.set.remove(*name);
        }
    }
}
