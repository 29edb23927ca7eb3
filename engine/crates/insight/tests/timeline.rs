//! Ages told from numbers of the cache's sequence.

use insight::Timeline;

#[test]
fn ages_are_never_understated() {
    let timeline = Timeline::default();
    assert_eq!(timeline.age_ms(5, 1000), None);
    for (number, now_ms) in [(5, 1000), (7, 1100), (12, 1300)] {
        timeline.note(number, now_ms);
    }
    assert_eq!(timeline.age_ms(4, 2000), None, "before the first note");
    assert_eq!(timeline.age_ms(5, 2000), Some(1000));
    assert_eq!(timeline.age_ms(6, 2000), Some(1000), "it came before the second note");
    assert_eq!(timeline.age_ms(7, 2000), Some(900));
    assert_eq!(timeline.age_ms(11, 2000), Some(900));
    assert_eq!(timeline.age_ms(12, 2000), Some(700), "younger than that, but that is not known");
    timeline.forget();
    assert_eq!(timeline.age_ms(12, 2000), None);
}

#[test]
fn notes_are_bounded_however_often_they_come() {
    let timeline = Timeline::default();
    for now_ms in (0..4_000_000).step_by(25) {
        timeline.note(now_ms, now_ms);
    }
    assert_eq!(timeline.age_ms(399_999, 4_000_000), None, "longer than an hour ago");
    assert_eq!(timeline.age_ms(3_999_000, 4_000_000), Some(1000));
}
