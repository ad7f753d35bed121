use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, Timelike as _, Weekday};
use proptest::prelude::*;

use super::*;

fn moment(text: &str) -> Timestamp {
    serde_json::from_value(text.into()).unwrap()
}

fn buckets(step: ReportStep, zone: &str, since: &str, until: &str) -> Buckets {
    let zone = TimeZone::named(zone).unwrap();
    Buckets::new(step, zone, moment(since), moment(until)).unwrap()
}

/// The starts of all buckets, and the end of the last one.
fn bounds(buckets: &Buckets) -> Vec<String> {
    let begin = |hour: &i64| CountSpan::Hour.begin(*hour).to_string();
    buckets.bounds.iter().map(begin).collect()
}

fn lengths(buckets: &Buckets) -> Vec<i64> {
    buckets.hours().map(|(first, end)| end - first).collect()
}

fn names(buckets: &Buckets) -> Vec<String> {
    buckets
        .hours()
        .map(|(hour, _)| buckets.name(hour))
        .collect()
}

#[test]
fn days_of_a_changed_clock_have_23_and_25_hours() {
    let spring = ("2026-03-28T12:00:00Z", "2026-03-30T12:00:00Z");
    let days = buckets(ReportStep::Day, "Europe/Berlin", spring.0, spring.1);
    assert_eq!(lengths(&days), [24, 23, 24]);
    assert_eq!(names(&days), ["2026-03-28", "2026-03-29", "2026-03-30"]);
    let starts: Vec<_> = days
        .hours()
        .map(|(hour, _)| days.local_start(hour))
        .collect();
    assert_eq!(
        starts[1..],
        ["2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"]
    );
    let autumn = ("2026-10-24T12:00:00Z", "2026-10-26T12:00:00Z");
    let days = buckets(ReportStep::Day, "Europe/Berlin", autumn.0, autumn.1);
    assert_eq!(lengths(&days), [24, 25, 24]);
    // Clocks of Chile change at midnight, so that a day begins at one o'clock.
    let days = buckets(
        ReportStep::Day,
        "America/Santiago",
        "2026-09-05T12:00:00Z",
        "2026-09-07T00:00:00Z",
    );
    assert_eq!(lengths(&days), [24, 23]);
    assert_eq!(
        days.local_start(days.bounds[1]),
        "2026-09-06T01:00:00-03:00"
    );
}

#[test]
fn weeks_begin_on_monday_also_across_the_new_year() {
    let weeks = buckets(
        ReportStep::Week,
        "UTC",
        "2026-12-25T00:00:00Z",
        "2027-01-05T00:00:00Z",
    );
    assert_eq!(
        bounds(&weeks),
        [
            "2026-12-21T00:00:00Z",
            "2026-12-28T00:00:00Z",
            "2027-01-04T00:00:00Z",
            "2027-01-11T00:00:00Z"
        ]
    );
    assert_eq!(names(&weeks), ["2026-W52", "2026-W53", "2027-W01"]);
    let before = CountSpan::Hour.begin(weeks.before()).to_string();
    assert_eq!(before, "2026-11-30T00:00:00Z");
}

#[test]
fn months_have_their_lengths_and_are_compared_with_as_many_months() {
    let months = buckets(
        ReportStep::Month,
        "Europe/Berlin",
        "2028-01-15T00:00:00Z",
        "2028-04-30T22:00:00Z",
    );
    let days: Vec<_> = lengths(&months)
        .iter()
        .map(|hours| (hours + 1) / 24)
        .collect();
    assert_eq!(days, [31, 29, 31, 30]);
    assert_eq!(names(&months), ["2028-01", "2028-02", "2028-03", "2028-04"]);
    let before = CountSpan::Hour.begin(months.before()).to_string();
    assert_eq!(before, "2027-08-31T22:00:00Z");
}

#[test]
fn a_zone_with_a_part_of_an_hour_counts_an_hour_where_it_begins() {
    let days = buckets(
        ReportStep::Day,
        "Asia/Kolkata",
        "2026-05-01T18:30:00Z",
        "2026-05-03T18:30:00Z",
    );
    assert_eq!(
        bounds(&days),
        [
            "2026-05-01T19:00:00Z",
            "2026-05-02T19:00:00Z",
            "2026-05-03T19:00:00Z"
        ]
    );
    assert_eq!(names(&days), ["2026-05-02", "2026-05-03"]);
    assert_eq!(days.local_start(days.first()), "2026-05-02T00:30:00+05:30");
    let day = buckets(
        ReportStep::Day,
        "Asia/Kathmandu",
        "2026-05-01T18:15:00Z",
        "2026-05-01T18:16:00Z",
    );
    assert_eq!(
        bounds(&day),
        ["2026-05-01T19:00:00Z", "2026-05-02T19:00:00Z"]
    );
    // The hour from 18:00 UTC begins at 23:30 of Friday.
    let hour = CountSpan::Hour.of(moment("2026-05-01T18:00:00Z"));
    assert_eq!(days.hour_of_week(hour), 4 * 24 + 23);
}

#[test]
fn hours_are_those_of_utc() {
    let hours = buckets(
        ReportStep::Hour,
        "Asia/Kolkata",
        "2026-05-01T18:30:00Z",
        "2026-05-01T20:00:01Z",
    );
    assert_eq!(lengths(&hours), [1, 1, 1]);
    assert_eq!(hours.name(hours.first()), "2026-05-01 23:30");
    assert_eq!(hours.of(hours.first() - 1), None);
    assert_eq!(hours.of(hours.first() + 2), Some(2));
    assert_eq!(hours.of(hours.end()), None);
}

#[test]
fn a_period_that_is_empty_or_too_long_is_refused() {
    let refused = |step, since: &str, until: &str| {
        let (since, until) = (moment(since), moment(until));
        let buckets = Buckets::new(step, TimeZone::UTC, since, until);
        buckets.unwrap_err().field.unwrap().into_owned()
    };
    let day = "2026-01-01T00:00:00Z";
    assert_eq!(refused(ReportStep::Day, day, day), "since");
    assert_eq!(
        refused(ReportStep::Hour, day, "2026-02-12T00:00:00Z"),
        "step"
    );
    assert_eq!(
        refused(ReportStep::Day, day, "2028-09-28T00:00:00Z"),
        "step"
    );
    assert_eq!(
        refused(ReportStep::Month, day, "2036-03-01T00:00:00Z"),
        "since"
    );
    assert_eq!(
        refused(ReportStep::Week, "0001-01-01T00:00:00Z", day),
        "since"
    );
    let days = buckets(ReportStep::Day, "UTC", day, "2028-09-27T00:00:00Z");
    assert_eq!(days.hours().len(), 1_000);
    let months = buckets(ReportStep::Month, "UTC", day, "2036-01-01T00:00:00Z");
    assert_eq!(months.hours().len(), 120);
    for at in [i64::MIN / 2, i64::MAX / 2] {
        let at = Timestamp::from_millis(at);
        let until = at.plus(Millis::days(1));
        let beyond = Buckets::new(ReportStep::Day, TimeZone::UTC, at, until);
        assert_eq!(beyond.unwrap_err().field.unwrap(), "since");
    }
}

#[test]
fn a_time_zone_has_an_iana_name() {
    for (name, shown) in [
        ("europe/berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("Australia/Lord_Howe", "Australia/Lord_Howe"),
    ] {
        assert_eq!(TimeZone::named(name).unwrap().name(), shown);
    }
    let long = "x".repeat(10_000);
    for name in [
        "",
        "Europe/Berln",
        "+02:00",
        "Etc/Unknown",
        "../../etc/passwd",
        "UTC\0",
        &long,
    ] {
        let error = TimeZone::named(name).unwrap_err();
        assert_eq!(error.field.unwrap(), "time_zone");
        assert!(error.message.len() < 250, "{}", error.message);
    }
}

/// The Sunday with this number in a month, from 1; 0 for the last one.
fn sunday(year: i32, month: u32, number: u8) -> NaiveDate {
    match number {
        0 => {
            let end = NaiveDate::from_ymd_opt(year, month + 1, 1).unwrap();
            end.iter_days()
                .map(|day| day - chrono::Days::new(7))
                .find(|day| day.weekday() == Weekday::Sun)
                .unwrap()
        }
        number => NaiveDate::from_weekday_of_month_opt(year, month, Weekday::Sun, number).unwrap(),
    }
}

/// Local times by the law of each zone, in place of the zones of jiff.
fn by_law(zone: &str, hour: i64) -> NaiveDateTime {
    let utc = DateTime::from_timestamp_millis(hour * 3_600_000)
        .unwrap()
        .naive_utc();
    let year = utc.year();
    let at = |day: NaiveDate, hour| day.and_hms_opt(hour, 0, 0).unwrap();
    let within = |first, end| (first..end).contains(&utc);
    let minutes = match zone {
        "Europe/Berlin" if within(at(sunday(year, 3, 0), 1), at(sunday(year, 10, 0), 1)) => 120,
        "Europe/Berlin" => 60,
        "America/New_York" if within(at(sunday(year, 3, 2), 7), at(sunday(year, 11, 1), 6)) => -240,
        "America/New_York" => -300,
        "Asia/Kolkata" => 330,
        "Asia/Kathmandu" => 345,
        _ => 0,
    };
    utc + chrono::TimeDelta::minutes(minutes)
}

const ZONES: [&str; 5] = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Asia/Kathmandu",
];

/// The bucket in which an hour begins, by the calendar of chrono.
fn expected(step: ReportStep, local: NaiveDateTime) -> String {
    match step {
        ReportStep::Hour => local.format("%Y-%m-%d %H:%M").to_string(),
        ReportStep::Day => local.date().to_string(),
        ReportStep::Week => local.format("%G-W%V").to_string(),
        ReportStep::Month => local.format("%Y-%m").to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn each_hour_is_in_the_bucket_in_which_it_begins(
        zone in proptest::sample::select(&ZONES[..]),
        step in proptest::sample::select(&[ReportStep::Day, ReportStep::Week, ReportStep::Month][..]),
        since in 1_577_836_800..1_900_000_000_i64,
        length in 1..200 * 86_400_i64,
    ) {
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let named = TimeZone::named(zone).unwrap();
        let until = since + length;
        let buckets = Buckets::new(step, named, at(since), at(until)).unwrap();
        for (hour, _) in buckets.hours() {
            prop_assert_eq!(buckets.name(hour), expected(step, by_law(zone, hour)));
        }
        for hour in buckets.first()..buckets.end() {
            let bucket = buckets.of(hour).unwrap();
            let local = by_law(zone, hour);
            let first = buckets.bounds[bucket];
            prop_assert_eq!(buckets.name(first), expected(step, local));
            let day = local.weekday().num_days_from_monday();
            prop_assert_eq!(u32::from(buckets.hour_of_week(hour)), day * 24 + local.hour());
        }
        let around = [buckets.first() - 1, buckets.end()].map(|hour| expected(step, by_law(zone, hour)));
        let all = names(&buckets);
        prop_assert!(!all.contains(&around[0]) && !all.contains(&around[1]));
        prop_assert_eq!(all.len(), all.iter().collect::<std::collections::BTreeSet<_>>().len());
        // A moment before the first whole hour of its day is in that day.
        let part = if zone.starts_with("Asia") { 3_600_000 } else { 0 };
        prop_assert!(CountSpan::Hour.begin(buckets.first()).millis() <= since * 1_000 + part);
        prop_assert!(CountSpan::Hour.begin(buckets.end()).millis() >= until * 1_000);
        // The period before has as many buckets.
        let mut before: Vec<_> = (buckets.before()..buckets.first())
            .map(|hour| expected(step, by_law(zone, hour))).collect();
        before.dedup();
        prop_assert_eq!(before.len(), all.len());
    }
}
