//! Tests ages that are estimated from numbers of the cache's sequence.

use insight::Timeline;

/// Returns a timeline with a note for every tenth of a second from `from_ms` to `to_ms`. The noted number equals the time in milliseconds.
fn noted(from_ms: u64, to_ms: u64) -> Timeline {
    let timeline = Timeline::default();
    (from_ms..to_ms).step_by(100).for_each(|now_ms| timeline.note(now_ms, now_ms));
    timeline
}

#[test]
fn ages_are_never_understated() {
    let timeline = Timeline::default();
    assert!(!timeline.is_younger(5, 1000, 1000), "nothing is known");
    for (number, now_ms) in [(5, 1000), (7, 1110), (12, 1300), (13, 1301)] {
        timeline.note(number, now_ms);
    }
    assert!(!timeline.is_younger(4, 3_600_000, 2000), "before the first note");
    assert!(timeline.is_younger(5, 1000, 2000) && !timeline.is_younger(5, 999, 2000));
    assert!(timeline.is_younger(6, 1000, 2000) && !timeline.is_younger(6, 900, 2000), "it came before the second note");
    assert!(timeline.is_younger(12, 700, 2000), "of two notes in one step the first counts");
    assert!(!timeline.is_younger(12, 699, 2000), "it is younger, but that is not known");
}

#[test]
fn every_age_up_to_an_hour_is_told() {
    let timeline = noted(50_000, 8_000_000);
    let now_ms = 8_000_000;
    for age_ms in [100, 1000, 59_900, 3_600_000] {
        let number = now_ms - age_ms;
        assert!(timeline.is_younger(number, age_ms, now_ms), "{age_ms}");
        assert!(!timeline.is_younger(number - 1, age_ms, now_ms) && !timeline.is_younger(number, age_ms - 1, now_ms));
    }
    assert!(!timeline.is_younger(now_ms - 3_700_000, 4_000_000, now_ms), "longer than an hour is not");
}

#[test]
fn without_notes_nothing_is_young() {
    let timeline = noted(50_000, 60_000);
    assert!(timeline.is_younger(59_900, 1000, 60_900));
    assert!(!timeline.is_younger(59_900, 1000, 61_000), "who came later cannot be told from who came then");
    timeline.note(120_100, 120_100);
    assert!(!timeline.is_younger(59_900, 100_000, 120_200), "what was before a gap is forgotten");
    assert!(timeline.is_younger(120_100, 200, 120_200));
}

#[test]
fn a_machine_that_stood_still_for_half_a_minute_knows_ages_from_before() {
    let timeline = noted(50_000, 60_000);
    timeline.note(90_000, 90_000);
    assert!(timeline.is_younger(59_000, 31_100, 90_100));
    assert!(!timeline.is_younger(59_000, 31_000, 90_100), "it is older");
    assert!(!timeline.is_younger(89_999, 30_000, 90_100), "without a note from then the next one counts");
}
