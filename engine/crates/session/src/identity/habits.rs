//! Habits: side effects that a session expects from each read or BEGIN. An answer from the cache would not have them.

use flavour::{Flavour, Habit};
use sql::Value;

/// Side effects that a session expects from each read or BEGIN, by its system variables. True if the session expects
/// the effect, or may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
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

impl Habits {
    /// All habits, which are assumed where nothing is known.
    pub const ALL: Habits =
        Habits { traces: true, limits_idleness: true, reports: true, limits_joins: true, numbers: true, waits: true };

    /// Returns the habits that follow from the values of system variables. `values` are the server's answers to the
    /// `question` of each habit, in the order of `flavour.habits.all()`.
    pub fn told(flavour: &Flavour, values: [&[u8]; 6]) -> Habits {
        let all = flavour.habits.all();
        let [traces, limits_idleness, reports, limits_joins, numbers, waits] =
            std::array::from_fn(|n| !all[n].is_none(values[n]));
        Habits { traces, limits_idleness, reports, limits_joins, numbers, waits }
    }

    /// Returns the habits that are on in this or in the other.
    pub fn or(self, other: Habits) -> Habits {
        Habits {
            traces: self.traces || other.traces,
            limits_idleness: self.limits_idleness || other.limits_idleness,
            reports: self.reports || other.reports,
            limits_joins: self.limits_joins || other.limits_joins,
            numbers: self.numbers || other.numbers,
            waits: self.waits || other.waits,
        }
    }

    /// True if this system variable decides about one of the habits.
    pub fn hang_on(flavour: &Flavour, name: &[u8]) -> bool {
        flavour.habits.all().iter().any(|habit| habit.hangs_on(name))
    }

    /// True if this system variable (`max_join_size`) decides whether a read fails, so that it can change results.
    pub fn change_results(flavour: &Flavour, name: &[u8]) -> bool {
        flavour.habits.joins.hangs_on(name)
    }

    /// Takes over a new value of a system variable. `value` is None if it is not known whether the variable was set. A
    /// value that is not understood turns the habit on.
    pub fn set(&mut self, flavour: &Flavour, name: &[u8], value: Option<&Value>) {
        let known = &flavour.habits;
        let has = |habit: &Habit| !value.and_then(Value::plain).is_some_and(|value| habit.is_none(value));
        if known.traces.hangs_on(name) {
            self.traces = has(&known.traces);
        } else if known.idleness.hangs_on(name) {
            // Other variables may limit idleness too, so this never clears the flag.
            self.limits_idleness |= has(&known.idleness);
        } else if known.reports.hangs_on(name) {
            self.reports |= has(&known.reports);
        } else if known.joins.hangs_on(name) {
            self.limits_joins = true;
        } else if known.numbers.hangs_on(name) {
            self.numbers = has(&known.numbers);
        } else if known.waits.hangs_on(name) {
            self.waits = has(&known.waits);
        }
    }

    /// Turns on each habit whose variable this text names, for a text that is not parsed any further.
    pub fn note_text(&mut self, flavour: &Flavour, text: &[u8]) {
        let says = |habit: &Habit| habit.variables.iter().any(|name| sql::says(text, name.as_bytes()));
        let [traces, limits_idleness, reports, limits_joins, numbers, waits] =
            flavour.habits.all().map(|habit| says(&habit));
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
        let mut habits = Habits::default();
        let mut set = |name: &str, value: Value| {
            habits.set(&MARIADB, name.as_bytes(), Some(&value));
            habits
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
        assert_eq!(habits, Habits { numbers: false, waits: false, ..Habits::ALL });
        let told = |values: [&str; 6]| Habits::told(&MARIADB, values.map(str::as_bytes));
        assert_eq!(told(["enabled=off", "0", "OFF", "1", "0", "0"]), Habits::default());
        assert_eq!(told(["enabled=on", "30", "STATE", "0", "1", "1"]), Habits::ALL);
    }

    #[test]
    fn who_numbers_a_transaction_does_so_until_the_server_does_it_again() {
        let mut habits = Habits::default();
        let mut set = |name: &str, value: &[u8]| {
            habits.set(&MYSQL, name.as_bytes(), Some(&Value::Text(value.to_vec())));
            habits.numbers
        };
        assert!(set("gtid_next", b"00000000-0000-0000-0000-000000000001:7"));
        assert!(set("optimizer_trace", b"enabled=off"));
        assert!(!set("gtid_next", b"automatic"));
    }

    #[test]
    fn only_levels_that_are_known_not_to_wait_do_not_wait() {
        let mut habits = Habits::default();
        let mut set = |value: Value| {
            habits.set(&MYSQL, b"group_replication_consistency", Some(&value));
            habits.waits
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
        let mut habits = Habits::default();
        habits.note_text(&MARIADB, b"BEGIN NOT ATOMIC SET @@Idle_Transaction_Timeout = 1; END");
        assert_eq!(habits, Habits { limits_idleness: true, ..Habits::default() });
    }
}
