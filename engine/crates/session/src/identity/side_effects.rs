//! Side effects that a session expects from each read or BEGIN. An answer from the cache would not have them.

use flavour::{Flavour, SideEffectSetting};
use sql::Value;

/// Side effects that a session expects from each read or BEGIN, by its system variables. True if the session expects
/// the effect, or may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SideEffects {
    /// The optimizer trace is on: each statement leaves one, which the session can read.
    pub traces: bool,
    /// The server closes the session if it is idle in a transaction for too long.
    pub limits_idleness: bool,
    /// Responses report what each statement did to the transaction.
    pub reports: bool,
    /// `max_join_size` applies: the server refuses statements that may examine too many rows.
    pub limits_joins: bool,
    /// The session assigns the GTIDs of its transactions itself.
    pub numbers: bool,
    /// A read waits for other members of a replication group before the server answers it.
    pub waits: bool,
}

impl SideEffects {
    /// All side effects, which are assumed where nothing is known.
    pub const ALL: SideEffects = SideEffects {
        traces: true,
        limits_idleness: true,
        reports: true,
        limits_joins: true,
        numbers: true,
        waits: true,
    };

    /// Returns the side effects that follow from the values of system variables. `values` are the server's answers to the
    /// `expression` of each setting, in the order of `flavour.side_effect_settings.all()`.
    pub fn from_values(flavour: &Flavour, values: [&[u8]; 6]) -> SideEffects {
        let all = flavour.side_effect_settings.all();
        let [traces, limits_idleness, reports, limits_joins, numbers, waits] =
            std::array::from_fn(|n| !all[n].is_off(values[n]));
        SideEffects { traces, limits_idleness, reports, limits_joins, numbers, waits }
    }

    /// Returns the side effects that are on in this or in the other.
    pub fn or(self, other: SideEffects) -> SideEffects {
        SideEffects {
            traces: self.traces || other.traces,
            limits_idleness: self.limits_idleness || other.limits_idleness,
            reports: self.reports || other.reports,
            limits_joins: self.limits_joins || other.limits_joins,
            numbers: self.numbers || other.numbers,
            waits: self.waits || other.waits,
        }
    }

    /// True if this system variable decides about one of the side effects.
    pub fn depend_on(flavour: &Flavour, name: &[u8]) -> bool {
        flavour.side_effect_settings.all().iter().any(|setting| setting.depends_on(name))
    }

    /// True if this system variable (`max_join_size`) decides whether a read fails, so that it can change results.
    pub fn change_results(flavour: &Flavour, name: &[u8]) -> bool {
        flavour.side_effect_settings.joins.depends_on(name)
    }

    /// Takes over a new value of a system variable. `value` is None if it is not known whether the variable was set. A
    /// value that is not understood turns the side effect on.
    pub fn set(&mut self, flavour: &Flavour, name: &[u8], value: Option<&Value>) {
        let known = &flavour.side_effect_settings;
        let has =
            |setting: &SideEffectSetting| !value.and_then(Value::plain).is_some_and(|value| setting.is_off(value));
        if known.traces.depends_on(name) {
            self.traces = has(&known.traces);
        } else if known.idleness.depends_on(name) {
            // Other variables may limit idleness too, so this never clears the flag.
            self.limits_idleness |= has(&known.idleness);
        } else if known.reports.depends_on(name) {
            self.reports |= has(&known.reports);
        } else if known.joins.depends_on(name) {
            self.limits_joins = true;
        } else if known.numbers.depends_on(name) {
            self.numbers = has(&known.numbers);
        } else if known.waits.depends_on(name) {
            self.waits = has(&known.waits);
        }
    }

    /// Turns on each side effect whose variable this text names, for a text that is not parsed any further.
    pub fn note_text(&mut self, flavour: &Flavour, text: &[u8]) {
        let says = |setting: &SideEffectSetting| {
            setting.variables.iter().any(|name| sql::contains_ignoring_case(text, name.as_bytes()))
        };
        let [traces, limits_idleness, reports, limits_joins, numbers, waits] =
            flavour.side_effect_settings.all().map(|setting| says(&setting));
        self.traces |= traces;
        self.limits_idleness |= limits_idleness;
        self.reports |= reports;
        self.limits_joins |= limits_joins;
        self.numbers |= numbers;
        self.waits |= waits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flavour::{MARIADB, MYSQL};

    #[test]
    fn what_is_not_known_to_be_off_is_on() {
        let mut side_effects = SideEffects::default();
        let mut set = |name: &str, value: Value| {
            side_effects.set(&MARIADB, name.as_bytes(), Some(&value));
            side_effects
        };
        assert!(set("optimizer_trace", Value::Text(b"enabled=on".to_vec())).traces);
        assert!(set("sql_mode", Value::Default).traces);
        assert!(!set("optimizer_trace", Value::Text(b"Enabled=OFF".to_vec())).traces);
        assert!(!set("session_track_transaction_info", Value::Word(b"OFF".to_vec())).reports);
        for name in
            ["optimizer_trace", "idle_readonly_transaction_timeout", "session_track_transaction_info", "max_join_size"]
        {
            set(name, Value::Complex);
        }
        assert_eq!(side_effects, SideEffects { numbers: false, waits: false, ..SideEffects::ALL });
        let from = |values: [&str; 6]| SideEffects::from_values(&MARIADB, values.map(str::as_bytes));
        assert_eq!(from(["enabled=off", "0", "OFF", "1", "0", "0"]), SideEffects::default());
        assert_eq!(from(["enabled=on", "30", "STATE", "0", "1", "1"]), SideEffects::ALL);
    }

    #[test]
    fn who_numbers_a_transaction_does_so_until_the_server_does_it_again() {
        let mut side_effects = SideEffects::default();
        let mut set = |name: &str, value: &[u8]| {
            side_effects.set(&MYSQL, name.as_bytes(), Some(&Value::Text(value.to_vec())));
            side_effects.numbers
        };
        assert!(set("gtid_next", b"00000000-0000-0000-0000-000000000001:7"));
        assert!(set("optimizer_trace", b"enabled=off"));
        assert!(!set("gtid_next", b"automatic"));
    }

    #[test]
    fn only_levels_that_are_known_not_to_wait_do_not_wait() {
        let mut side_effects = SideEffects::default();
        let mut set = |value: Value| {
            side_effects.set(&MYSQL, b"group_replication_consistency", Some(&value));
            side_effects.waits
        };
        assert!(set(Value::Word(b"BEFORE".to_vec())));
        assert!(!set(Value::Text(b"eventual".to_vec())));
        assert!(set(Value::Default));
        assert!(!set(Value::Text(b"BEFORE_ON_PRIMARY_FAILOVER".to_vec())));
        for level in ["AFTER", "BEFORE_AND_AFTER", "2", "A_LEVEL_OF_A_LATER_SERVER"] {
            assert!(set(Value::Text(level.as_bytes().to_vec())), "{level}");
        }
    }

    #[test]
    fn a_text_that_is_not_followed_may_set_what_it_says() {
        let mut side_effects = SideEffects::default();
        side_effects.note_text(&MARIADB, b"BEGIN NOT ATOMIC SET @@Idle_Transaction_Timeout = 1; END");
        assert_eq!(side_effects, SideEffects { limits_idleness: true, ..SideEffects::default() });
    }
}
