//! What a session expects of the server besides results. A read or a BEGIN that the server never sees would not do these things.

use sql::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// Every statement leaves a trace of its plan behind, which the session can read.
    pub traces: bool,
    /// The server ends a session that does nothing in a transaction.
    pub limits_idleness: bool,
    /// Responses tell what each statement did to the transaction.
    pub reports: bool,
    /// The server refuses what may look at many rows.
    pub limits_joins: bool,
}

const TRACE: &[u8] = b"optimizer_trace";
/// Those of a transaction that has written nothing.
const IDLE_TIMEOUTS: [&[u8]; 2] = [b"idle_transaction_timeout", b"idle_readonly_transaction_timeout"];
const TRANSACTION_TRACKER: &[u8] = b"session_track_transaction_info";
/// To set the first is to set the second.
const JOIN_LIMITS: [&[u8]; 2] = [b"max_join_size", b"sql_big_selects"];

impl Habits {
    /// What `told` is told the values of.
    pub const QUESTIONS: [&str; 4] = [
        "@@SESSION.optimizer_trace",
        "@@SESSION.idle_transaction_timeout + @@SESSION.idle_readonly_transaction_timeout",
        "@@SESSION.session_track_transaction_info",
        "@@SESSION.sql_big_selects",
    ];
    /// As they are where nothing is known.
    pub const ALL: Habits = Habits { traces: true, limits_idleness: true, reports: true, limits_joins: true };

    pub fn told([trace, idle, transactions, big_selects]: [&[u8]; 4]) -> Habits {
        Habits {
            traces: !is_off(trace),
            limits_idleness: idle != b"0",
            reports: !is_untold(transactions),
            limits_joins: big_selects != b"1",
        }
    }

    pub fn hang_on(name: &[u8]) -> bool {
        [TRACE, TRANSACTION_TRACKER].contains(&name) || IDLE_TIMEOUTS.contains(&name) || JOIN_LIMITS.contains(&name)
    }

    /// A read may fail with one of these.
    pub fn change_results(name: &[u8]) -> bool {
        JOIN_LIMITS.contains(&name)
    }

    /// A setting that habits hang on. `value`: none if it is not known whether it was set.
    pub fn set(&mut self, name: &[u8], value: Option<&Value>) {
        let plain = value.and_then(Value::plain);
        if name == TRACE {
            self.traces = !plain.is_some_and(is_off);
        } else if IDLE_TIMEOUTS.contains(&name) {
            self.limits_idleness |= plain != Some(b"0");
        } else if name == TRANSACTION_TRACKER {
            self.reports |= !plain.is_some_and(is_untold);
        } else if JOIN_LIMITS.contains(&name) {
            self.limits_joins = true;
        }
    }

    /// A text may set whatever it says.
    pub fn note_text(&mut self, text: &[u8]) {
        self.traces |= sql::says(text, TRACE);
        self.limits_idleness |= IDLE_TIMEOUTS.iter().any(|name| sql::says(text, name));
        self.reports |= sql::says(text, TRANSACTION_TRACKER);
        self.limits_joins |= JOIN_LIMITS.iter().any(|name| sql::says(text, name));
    }
}

fn is_untold(transactions: &[u8]) -> bool {
    transactions.eq_ignore_ascii_case(b"off")
}

fn is_off(trace: &[u8]) -> bool {
    trace.eq_ignore_ascii_case(b"enabled=off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_to_be_off_is_on() {
        let mut habits = Habits::default();
        habits.set(TRACE, Some(&Value::Text(b"enabled=on".to_vec())));
        habits.set(b"sql_mode", Some(&Value::Default));
        assert_eq!(habits, Habits { traces: true, ..Habits::default() });
        habits.set(TRACE, Some(&Value::Text(b"Enabled=OFF".to_vec())));
        assert_eq!(habits, Habits::default());
        habits.set(TRANSACTION_TRACKER, Some(&Value::Word(b"OFF".to_vec())));
        assert_eq!(habits, Habits::default());
        let names = [TRACE, IDLE_TIMEOUTS[1], TRANSACTION_TRACKER, JOIN_LIMITS[0]];
        names.into_iter().for_each(|name| habits.set(name, Some(&Value::Complex)));
        assert_eq!(habits, Habits::ALL);
        assert_eq!(Habits::told([b"enabled=off", b"0", b"OFF", b"1"]), Habits::default());
        assert_eq!(Habits::told([b"enabled=on", b"30", b"STATE", b"0"]), Habits::ALL);
    }

    #[test]
    fn a_text_that_is_not_followed_may_set_what_it_says() {
        let mut habits = Habits::default();
        habits.note_text(b"BEGIN NOT ATOMIC SET @@Idle_Transaction_Timeout = 1; END");
        assert_eq!(habits, Habits { limits_idleness: true, ..Habits::default() });
    }
}
