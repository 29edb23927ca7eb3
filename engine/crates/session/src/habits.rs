//! What a session wants of the server besides answers, and what a read or a BEGIN that the server does not see would withhold.

use sql::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Habits {
    /// Every statement leaves a trace of its plan behind, which the session can read.
    pub traces: bool,
    /// The server ends a session that does nothing in a transaction.
    pub limits_idleness: bool,
}

const TRACE: &[u8] = b"optimizer_trace";
/// Those of a transaction that has written nothing.
const IDLE_TIMEOUTS: [&[u8]; 2] = [b"idle_transaction_timeout", b"idle_readonly_transaction_timeout"];

impl Habits {
    /// What `told` is told the values of.
    pub const QUESTIONS: [&str; 2] = [
        "@@SESSION.optimizer_trace",
        "@@SESSION.idle_transaction_timeout + @@SESSION.idle_readonly_transaction_timeout",
    ];
    /// As they are where nothing is known.
    pub const ALL: Habits = Habits { traces: true, limits_idleness: true };

    pub fn told(trace: &[u8], idle: &[u8]) -> Habits {
        Habits { traces: !is_off(trace), limits_idleness: idle != b"0" }
    }

    pub fn hang_on(name: &[u8]) -> bool {
        name == TRACE || IDLE_TIMEOUTS.contains(&name)
    }

    /// A setting that habits hang on. `value`: none if it is not known whether it was set.
    pub fn set(&mut self, name: &[u8], value: Option<&Value>) {
        let plain = value.and_then(Value::plain);
        if name == TRACE {
            self.traces = !plain.is_some_and(is_off);
        } else if IDLE_TIMEOUTS.contains(&name) {
            self.limits_idleness |= plain != Some(b"0");
        }
    }

    /// A text may set whatever it says.
    pub fn note_text(&mut self, text: &[u8]) {
        self.traces |= sql::says(text, TRACE);
        self.limits_idleness |= IDLE_TIMEOUTS.iter().any(|name| sql::says(text, name));
    }
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
        assert_eq!(habits, Habits { traces: true, limits_idleness: false });
        habits.set(TRACE, Some(&Value::Text(b"Enabled=OFF".to_vec())));
        assert_eq!(habits, Habits::default());
        [TRACE, IDLE_TIMEOUTS[1]].into_iter().for_each(|name| habits.set(name, Some(&Value::Complex)));
        assert_eq!(habits, Habits::ALL);
        assert_eq!(Habits::told(b"enabled=off", b"0"), Habits::default());
        assert_eq!(Habits::told(b"enabled=on", b"30"), Habits::ALL);
    }

    #[test]
    fn a_text_that_is_not_followed_may_set_what_it_says() {
        let mut habits = Habits::default();
        habits.note_text(b"BEGIN NOT ATOMIC SET @@Idle_Transaction_Timeout = 1; END");
        assert_eq!(habits, Habits { traces: false, limits_idleness: true });
    }
}
