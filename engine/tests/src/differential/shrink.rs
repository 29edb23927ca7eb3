//! Makes a failing history short: drops groups of steps, ever smaller ones, as long as a difference remains.

use std::time::{Duration, Instant};

use super::action::Action;

/// Returns a shorter history that still fails: removes groups of steps, from half the history down to single steps, until nothing more can
/// go or `limit` is over. `fails` replays a candidate. It returns the candidate cut after the step that differs, or None if none does.
pub fn shrink(
    history: Vec<Action>,
    limit: Duration,
    mut fails: impl FnMut(&[Action]) -> Option<Vec<Action>>,
) -> Vec<Action> {
    let begun = Instant::now();
    let mut best = history;
    let mut group = best.len().div_ceil(2).max(1);
    loop {
        let before = best.len();
        let mut from = 0;
        while from < best.len() && best.len() > 1 && begun.elapsed() < limit {
            let to = (from + group).min(best.len());
            let candidate: Vec<_> = best[..from].iter().chain(&best[to..]).cloned().collect();
            match fails(&candidate) {
                Some(smaller) => best = smaller,
                None => from = to,
            }
        }
        if begun.elapsed() >= limit || (group == 1 && best.len() == before) {
            return best;
        }
        group = (group / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::differential::action::{Commands, Kind};

    fn step(number: usize) -> Action {
        Action { session: number, kind: Kind::Read, commands: Commands::Ping }
    }

    #[test]
    fn only_the_steps_that_matter_remain() {
        let history: Vec<_> = (0..100).map(step).collect();
        let needed = |steps: &[Action]| {
            let both = [17, 63].iter().all(|number| steps.contains(&step(*number)));
            both.then(|| steps.to_vec())
        };
        assert_eq!(shrink(history, Duration::from_secs(60), needed), vec![step(17), step(63)]);
    }
}
