//! How long ago a result was outdated, from the number of the change before it.

use insight::Timeline;

#[test]
fn an_age_is_never_understated() {
    let timeline = Timeline::default();
    assert_eq!(timeline.outdated_ms(5, 1000), None);
    for (number, now_ms) in [(5, 1000), (5, 1100), (5, 1200), (7, 1300), (9, 1400)] {
        timeline.note(number, now_ms);
    }
    assert_eq!(timeline.outdated_ms(4, 2000), None, "before the first note");
    assert_eq!(timeline.outdated_ms(5, 2000), Some(800), "change 6 came after 1200");
    assert_eq!(timeline.outdated_ms(6, 2000), Some(800), "change 7 may have come right after change 6");
    assert_eq!(timeline.outdated_ms(7, 2000), Some(700));
    assert_eq!(timeline.outdated_ms(9, 2000), Some(600), "not outdated for longer than since the last note");
    timeline.forget();
    assert_eq!(timeline.outdated_ms(9, 2000), None);
}
