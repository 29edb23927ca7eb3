//! The system variables that a session has set and that can change a result. Only the last value of each counts, so sessions
//! with the same settings share entries.

use crate::identity::side_effects::SideEffects;
use sql::{Assignment, CHARACTER_SETS, Charset, LexMode, Target, Value};
use std::collections::BTreeMap;

/// Key that is set if the character set of results was set since login, by SET NAMES or `character_set_results`. The column
/// metadata of results then has the default collation, or that of SET NAMES, and querying the variables does not reveal which.
const RESULTS_NAMED: &[u8] = b"results named";

/// The variables whose values decide, at the time of the SET, what a value of this variable means. Empty if it means the same
/// in every case.
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

/// The variable whose earlier value is void once this one is set. None if there is none.
fn replaced(name: &[u8]) -> Option<&'static [u8]> {
    match name {
        b"character_set_connection" => Some(b"collation_connection"),
        b"collation_connection" => Some(b"character_set_connection"),
        _ => None,
    }
}

/// How much is known of a session's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// All settings are known, so the session shares entries with sessions that have the same settings.
    Shared,
    /// Something was set that is not understood. The session shares no entries; this number is part of its context.
    Private(u64),
    /// Not even the lexical mode is known, so nothing is cached for this session.
    Lost,
}

/// The system variables that a session has set, as far as results may depend on them, and what follows from them.
#[derive(Clone, Debug)]
pub struct Variables {
    set: BTreeMap<Vec<u8>, Vec<u8>>,
    /// How the session's texts are parsed. Certain only if `are_certain` returns true.
    pub mode: LexMode,
    pub knowledge: Knowledge,
    /// A variable that the server can be queried for was set by an expression, or the initial settings are not known. The
    /// engine queries the server before the next read that may be cached.
    pub is_uncertain: bool,
    /// Set together with `is_uncertain` if nothing was set by an expression, and only the initial settings of the session are
    /// unknown.
    pub is_unread: bool,
    /// One of the variables that were set by an expression changes how texts are parsed.
    is_doubtful: bool,
    /// `side_effects` is what the session really has. False if its initial settings are not known.
    pub knows_side_effects: bool,
    /// The side effects that the session expects of each statement, or may expect.
    pub side_effects: SideEffects,
}

/// Whether an assignment has changed the session context, and whether it was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Understanding {
    /// No result depends on what was set.
    Nothing,
    /// The context is another one now.
    Changed,
    /// The new value is not known, so the context must become private.
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
            knows_side_effects: true,
            side_effects: SideEffects::default(),
        }
    }

    fn known(&self) -> &'static flavour::Variables {
        &self.mode.flavour.variables
    }

    fn charset_of(&self, value: &Value) -> Charset {
        Charset::of_value(value, &self.mode.flavour.charsets)
    }

    /// The variables that were set, and their last values, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.set.iter().map(|(name, value)| (name.as_slice(), value.as_slice()))
    }

    /// Applies an assignment that the server has accepted. `inherited` is the value of `Settings::inherited`, which stands for
    /// the global values that DEFAULT means.
    pub fn apply(&mut self, assignment: &Assignment, inherited: u64) -> Understanding {
        match &assignment.target {
            Target::UserVariable if assignment.value == Value::Complex => Understanding::NotUnderstood,
            Target::UserVariable | Target::OneShot(_) | Target::Global(_) | Target::Password | Target::DefaultRole => {
                Understanding::Nothing
            }
            Target::Session(name) => self.set_session(name, &assignment.value, inherited),
            Target::Names { collation } => self.set_names(&assignment.value, collation.as_deref(), inherited),
            // The effect depends on the current database at this time.
            Target::Charset => {
                self.mode.charset = self.charset_of(&assignment.value);
                Understanding::NotUnderstood
            }
            Target::Role => {
                // The server remembers the privileges of the role as they are now.
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
        if SideEffects::depend_on(flavour, name) {
            self.side_effects.set(flavour, name, Some(value));
            if !SideEffects::change_results(flavour, name) {
                return Understanding::Changed;
            }
        }
        if name == b"character_set_results" {
            let is_default = matches!(value, Value::Default);
            self.set.insert(RESULTS_NAMED.to_vec(), vec![u8::from(is_default)]);
        }
        // A value of `optimizer_switch` changes only the switches that it names.
        let is_part = name == b"optimizer_switch";
        if self.known().is_askable(name) && (is_part || matches!(value, Value::Complex | Value::Default)) {
            self.mark_uncertain(says_how_texts_are_read(name));
            return Understanding::Changed;
        }
        if name == b"sql_mode" {
            match self.mode.with_sql_mode(value) {
                Some(mode) => self.mode = mode,
                None => self.mark_uncertain(true),
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

    /// Handles assignments that may or may not have been made: the settings count as uncertain. False if the server cannot be
    /// queried for what they set.
    pub fn apply_uncertain(&mut self, assignments: &[Assignment]) -> bool {
        let flavour = self.mode.flavour;
        let is_askable = |assignment: &Assignment| match &assignment.target {
            Target::Session(name) => flavour.variables.is_askable(name),
            Target::Names { .. } => true,
            _ => false,
        };
        for assignment in assignments {
            if let Target::Session(name) = &assignment.target {
                self.side_effects.set(flavour, name, None);
            }
        }
        let may_change_reading = |assignment: &Assignment| match &assignment.target {
            Target::Session(name) => says_how_texts_are_read(name),
            _ => true,
        };
        self.mark_uncertain(assignments.iter().any(may_change_reading));
        assignments.iter().all(is_askable)
    }

    /// True if it is certain how texts are parsed: no setting is uncertain, and the settings are not lost.
    pub fn are_certain(&self) -> bool {
        !self.is_uncertain && self.knowledge != Knowledge::Lost
    }

    /// True if a variable that changes how texts are parsed was set by an expression and has not been queried yet.
    pub fn is_doubtful(&self) -> bool {
        self.is_uncertain && self.is_doubtful
    }

    /// Makes the context private, with this number as a part of it. The settings so far are dropped, since they may not be in
    /// force any more; setting one again counts as a change.
    pub fn become_private(&mut self, number: u64) {
        self.knowledge = Knowledge::Private(number);
        self.set.clear();
    }

    /// Marks the settings as uncertain, so that the server is queried for them before the next read that may be cached.
    /// `may_change_reading` says that a setting which changes how texts are parsed may be among them.
    pub fn mark_uncertain(&mut self, may_change_reading: bool) {
        (self.is_uncertain, self.is_unread) = (true, false);
        self.is_doubtful |= may_change_reading;
        // Until this mode is confirmed, texts are parsed in the usual one, as far as that is trusted.
        self.mode.is_foreign &= !may_change_reading;
    }

    /// Completes a session whose initial settings were not known when it began, and that has set nothing by an expression
    /// since. `side_effects` are the initial ones.
    pub fn begin_late(&mut self, side_effects: SideEffects) {
        (self.is_uncertain, self.is_unread, self.knows_side_effects) = (false, false, true);
        self.side_effects = self.side_effects.or(side_effects);
    }

    /// Takes the values that the server was queried for: those of the askable variables in their order, then one for each
    /// side effect. Nothing is uncertain afterwards.
    pub fn take_setting_values(&mut self, values: &[Vec<u8>]) {
        (self.is_uncertain, self.is_doubtful, self.knows_side_effects) = (false, false, true);
        if let Some([traces, idleness, reports, joins, numbers, waits]) = values.get(self.known().askable.len()..) {
            self.side_effects =
                SideEffects::from_values(self.mode.flavour, [traces, idleness, reports, joins, numbers, waits]);
        }
        if let Some(mode) = values.first() {
            self.mode = self.mode.with_sql_mode(&Value::Text(mode.clone())).unwrap_or(self.mode);
        }
        let clients = self.known().askable.iter().position(|name| *name == "character_set_client");
        if let Some(client) = clients.and_then(|place| values.get(place)) {
            self.mode.charset = Charset::of_name(client, &self.mode.flavour.charsets);
        }
        // Sessions that inherit the same settings have the same values, so these need not be part of the context.
        if std::mem::take(&mut self.is_unread) {
            return;
        }
        self.forget_character_sets();
        for (name, value) in self.known().askable.iter().zip(values) {
            self.set_plain(name.as_bytes(), &Value::Text(value.clone()), 0);
        }
    }

    /// Applies SET NAMES, which replaces the values that were set for the character sets one by one. `value` is the character
    /// set; `collation` is none if the statement names none. `inherited` is the value of `Settings::inherited`, which stands
    /// for the global values that DEFAULT means.
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
