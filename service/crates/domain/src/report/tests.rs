use super::*;
use crate::clock::Millis;
use crate::world::World;

/// Monday, 5 January 2026, 13:30 UTC.
const AT: Timestamp = Timestamp::from_millis(1_767_619_800_000);

fn tap(country: &str) -> CountedTap {
    CountedTap {
        at: AT,
        experience: Some(ExperienceId::new(7)),
        tag_group: None,
        tech: Tech::Nfc,
        reason: Reason::Verified,
        country: country.to_owned(),
        traits: Traits {
            group: Some(3),
            ..Traits::default()
        },
        simulated: false,
    }
}

fn range(step: ReportStep, first: i64, end: i64) -> ReportRange {
    let begin = |slot| CountSpan::Hour.begin(slot);
    ReportRange {
        buckets: Buckets::new(step, TimeZone::UTC, begin(first), begin(end)).unwrap(),
        experience: None,
        group: None,
        tag: None,
        world: World::Real,
        clients_since: Timestamp::default(),
    }
}

fn hours(first: i64, end: i64) -> ReportRange {
    range(ReportStep::Hour, first, end)
}

#[test]
fn the_week_begins_on_monday() {
    assert_eq!(hour_of_week(AT), 13);
    assert_eq!(hour_of_week(AT.minus(Millis::hours(14))), 7 * 24 - 1);
}

#[test]
fn a_tap_counts_once_in_each_dimension_and_in_hour_and_day() {
    let mut counts = Counts::default();
    counts.add(&tap("DE"), Count::taps(2));
    counts.add(&tap("AT"), Count::taps(1));
    counts.add(&tap("AT"), Count::outcome(true));
    let sum = |dimension, span| {
        let of = counts.0.iter();
        let of = of.filter(|(key, _)| key.dimension == dimension && key.span == span);
        of.fold(Count::default(), |mut sum, (_, count)| {
            sum += *count;
            sum
        })
    };
    let all = Count {
        taps: 3,
        updates: 0,
        submissions: 1,
    };
    for dimension in Dimension::ALL {
        for span in CountSpan::ALL {
            assert_eq!(sum(dimension, span), all, "{dimension:?} {span:?}");
        }
    }
}

#[test]
fn a_report_tells_the_time_from_the_time_before_and_leaves_the_rest_out() {
    let slot = CountSpan::Hour.of(AT);
    let totals = |range: ReportRange| {
        let mut report = Report::default();
        report.add_tap(&range, &tap("DE"), Count::taps(2));
        let (now, before) = report.totals();
        (now.taps, before.taps, report.buckets.len())
    };
    assert_eq!(totals(hours(slot, slot + 1)), (2, 0, 1));
    assert_eq!(totals(hours(slot + 1, slot + 2)), (0, 2, 0));
    assert_eq!(totals(hours(slot + 1, slot + 3)), (0, 2, 0));
    assert_eq!(totals(hours(slot + 2, slot + 3)), (0, 0, 0));
    let mut other = hours(slot, slot + 1);
    other.experience = Some(ExperienceId::new(8));
    assert_eq!(totals(other), (0, 0, 0));
    other = hours(slot, slot + 1);
    other.world = World::Simulated;
    assert_eq!(totals(other), (0, 0, 0));
}

#[test]
fn the_pieces_of_a_time_have_each_hour_once() {
    let of_piece = |(span, first, end): Piece| first * span.hours()..end * span.hours();
    for (first, end) in [
        (0, 1),
        (5, 53),
        (24, 48),
        (24, 72),
        (-30, 30),
        (1, 24),
        (23, 49),
    ] {
        let range = hours(first, end);
        for before in [false, true] {
            let (first, end) = range.hours(before);
            let pieces = range.pieces(before).into_iter().flat_map(of_piece);
            assert_eq!(pieces.collect::<Vec<_>>(), (first..end).collect::<Vec<_>>());
        }
    }
    assert_eq!(hours(5, 77).pieces(false).len(), 3);
    let days = range(ReportStep::Day, 24, 72);
    assert_eq!(days.pieces(true), [(CountSpan::Day, -1, 1)]);
    assert_eq!(days.days(), (-1, 3));
}

#[test]
fn hours_are_needed_of_the_time_before_too_and_of_days_none() {
    let some = hours(10, 14);
    assert!(!some.needs_hours_before(6));
    assert!(some.needs_hours_before(7));
    assert!(
        !hours(48, 72).needs_hours_before(1_000),
        "a day by the hour"
    );
    assert!(!range(ReportStep::Day, 24, 48).needs_hours_before(1_000));
}

#[test]
fn a_dimension_is_known_by_its_name() {
    for dimension in Dimension::ALL {
        assert_eq!(Dimension::from_name(dimension.as_str()), Some(dimension));
    }
}
