//! The only reader of time. All other code gets a [`Clock`].
//!
//! The expiry of rolling keys depends on this clock, so it never runs backwards: it is wall time at
//! start plus monotonic time, and is re-anchored forward only (a machine that slept wakes up later,
//! never earlier).

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Months, SecondsFormat, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A span of time in milliseconds; a negative one goes back. Calculations stop at the largest span
/// instead of overflowing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(i64);

impl Millis {
    /// An empty span of time.
    pub const ZERO: Self = Self(0);

    /// A span of so many milliseconds.
    pub const fn new(millis: i64) -> Self {
        Self(millis)
    }

    /// A span of so many seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(1_000).times(seconds)
    }

    /// A span of so many minutes.
    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(60).times(minutes)
    }

    /// A span of so many hours.
    pub const fn hours(hours: i64) -> Self {
        Self::minutes(60).times(hours)
    }

    /// A span of so many days of 24 hours.
    pub const fn days(days: i64) -> Self {
        Self::hours(24).times(days)
    }

    /// The length in milliseconds.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The length in whole seconds, rounded down.
    pub const fn whole_seconds(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// This span so many times.
    #[must_use]
    pub const fn times(self, times: i64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Add for Millis {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Millis {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl From<Duration> for Millis {
    fn from(duration: Duration) -> Self {
        Self(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
    }
}

/// A moment: milliseconds since the Unix epoch. In JSON an RFC 3339 string in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the Unix epoch, rounded down.
    pub const fn unix_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The time from `earlier` to `self`; negative if `self` is the earlier one.
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// This moment moved by `span`.
    #[must_use]
    pub const fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// This moment moved back by `span`.
    #[must_use]
    pub const fn minus(self, span: Millis) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// This moment minus so many calendar months, but not before the Unix epoch.
    #[must_use]
    pub fn minus_months(self, months: u32) -> Self {
        let moment = DateTime::<Utc>::from_timestamp_millis(self.0);
        let before = moment.and_then(|moment| moment.checked_sub_months(Months::new(months)));
        Self(before.map_or(0, |before| before.timestamp_millis().max(0)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = DateTime::<Utc>::from_timestamp_millis(self.0).unwrap_or_default();
        f.write_str(&moment.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = "a moment is written as 2026-03-29T12:00:00Z or 2026-03-29T14:00:00+02:00";
        let moment = DateTime::<Utc>::deserialize(deserializer);
        let moment = moment.map_err(|_| D::Error::custom(form))?;
        Ok(Self(moment.timestamp_millis()))
    }
}

impl utoipa::PartialSchema for Timestamp {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .into()
    }
}

impl utoipa::ToSchema for Timestamp {}

/// Reads the time. Results never decrease over the life of a clock.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Reads the present moment.
    fn now(&self) -> Timestamp;

    /// Moves the clock forward and returns its new time. `None` if time cannot be moved, as always
    /// outside test mode.
    fn try_advance(&self, _span: Millis) -> Option<Timestamp> {
        None
    }
}

/// Wall time at start plus monotonic time, re-anchored forward only.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
    started_at: Timestamp,
    /// How far the anchor has been moved forward since the start, in milliseconds.
    forward: AtomicI64,
}

impl SystemClock {
    /// A clock anchored at the present wall time.
    #[expect(clippy::disallowed_methods, reason = "this is the reader of time")]
    pub fn start() -> Self {
        Self {
            started: Instant::now(),
            started_at: wall(),
            forward: AtomicI64::new(0),
        }
    }

    /// The present moment, from the machine's two time sources.
    fn combine(&self, monotonic: Millis, wall: Timestamp) -> Timestamp {
        let steady = self.started_at.plus(monotonic);
        let Millis(ahead) = wall.since(steady);
        let forward = self.forward.fetch_max(ahead, Ordering::Relaxed).max(ahead);
        steady.plus(Millis(forward))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the reader of time")]
fn wall() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(since_epoch.map_or(0, |duration| Millis::from(duration).get()))
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.combine(self.started.elapsed().into(), wall())
    }
}

/// The service's clock in test mode: it runs as a [`SystemClock`] does, can be
/// wrong from the start, and can be moved ahead.
#[derive(Debug)]
pub struct TestClock {
    system: SystemClock,
    ahead: AtomicI64,
}

impl TestClock {
    /// A clock that is `skew` ahead of the wall time, or behind it.
    pub fn start(skew: Millis) -> Self {
        Self {
            system: SystemClock::start(),
            ahead: AtomicI64::new(skew.0),
        }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.system
            .now()
            .plus(Millis(self.ahead.load(Ordering::SeqCst)))
    }

    fn try_advance(&self, Millis(millis): Millis) -> Option<Timestamp> {
        self.ahead.fetch_add(millis, Ordering::SeqCst);
        Some(self.now())
    }
}

/// A clock that stands still until it is moved, for tests. Setting it back has no effect: like
/// every [`Clock`] it never runs backwards.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that starts at `start`.
    pub fn new(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.0))
    }

    /// Moves the clock by `span`; a negative span leaves it where it is.
    pub fn advance(&self, span: Millis) -> Timestamp {
        let moved = span.max(Millis::ZERO);
        Timestamp(self.0.fetch_add(moved.0, Ordering::SeqCst)).plus(moved)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn try_advance(&self, span: Millis) -> Option<Timestamp> {
        Some(self.advance(span))
    }
}

/// Measures a duration independently of the wall clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring at this moment.
    #[expect(clippy::disallowed_methods, reason = "this module reads the time")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock_at(millis: i64) -> SystemClock {
        let clock = SystemClock::start();
        SystemClock {
            started_at: Timestamp(millis),
            ..clock
        }
    }

    #[test]
    fn a_wall_clock_set_back_is_ignored() {
        let clock = clock_at(1_000_000);
        assert_eq!(
            clock.combine(Millis(10), Timestamp(1_000_010)).millis(),
            1_000_010
        );
        assert_eq!(
            clock.combine(Millis(20), Timestamp(400_000)).millis(),
            1_000_020
        );
    }

    #[test]
    fn a_wall_clock_set_forward_is_followed_and_never_given_back() {
        let clock = clock_at(1_000_000);
        assert_eq!(
            clock.combine(Millis(10), Timestamp(1_500_010)).millis(),
            1_500_010
        );
        assert_eq!(
            clock.combine(Millis(30), Timestamp(1_000_030)).millis(),
            1_500_030
        );
    }

    #[test]
    fn a_test_clock_runs_and_can_be_moved_ahead() {
        let clock = TestClock::start(Millis::minutes(-10));
        let before = clock.now();
        assert!(SystemClock::start().now().since(before) >= Millis::minutes(10));
        let moved = clock.try_advance(Millis::minutes(5)).unwrap();
        assert!(moved.since(before) >= Millis::minutes(5));
        assert!(clock.now() >= moved);
        assert_eq!(SystemClock::start().try_advance(Millis(1)), None);
    }

    #[test]
    fn a_month_back_is_the_same_day_or_the_last_of_a_shorter_month() {
        for (moment, months, before) in [
            ("2026-03-31T12:00:00Z", 1, "2026-02-28T12:00:00Z"),
            ("2026-01-15T00:00:00Z", 13, "2024-12-15T00:00:00Z"),
            ("2026-01-15T00:00:00Z", u32::MAX, "1970-01-01T00:00:00Z"),
        ] {
            let moment: Timestamp = serde_json::from_value(moment.into()).unwrap();
            assert_eq!(moment.minus_months(months).to_string(), before);
        }
    }

    #[test]
    fn a_moment_is_rfc_3339_in_json() {
        let json = serde_json::to_string(&Timestamp::from_millis(1_767_225_600_000)).unwrap();
        assert_eq!(json, r#""2026-01-01T00:00:00Z""#);
        let back: Timestamp = serde_json::from_str(r#""2026-01-01T01:00:00.5+01:00""#).unwrap();
        assert_eq!(back.millis(), 1_767_225_600_500);
        for other in [r#""2026-01-01""#, r#""1767225600""#, "1767225600", "null"] {
            let refused = serde_json::from_str::<Timestamp>(other).unwrap_err();
            assert!(
                refused.to_string().contains("2026-03-29T12:00:00Z"),
                "{refused}"
            );
        }
    }
}
