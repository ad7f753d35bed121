//! The only reader of time. All other code gets a [`Clock`].
//!
//! The expiry of rolling keys depends on this clock, so it never runs backwards: it is wall time at
//! start plus monotonic time, and is re-anchored forward only (a machine that slept wakes up later,
//! never earlier).

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Months, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

    /// Milliseconds from `earlier` to `self`; negative if `self` is the earlier one.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// This moment moved by `millis` (which may be negative).
    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
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
        let moment = DateTime::<Utc>::deserialize(deserializer)?;
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
    fn try_advance(&self, _millis: u64) -> Option<Timestamp> {
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
    fn combine(&self, monotonic_millis: i64, wall: Timestamp) -> Timestamp {
        let steady = self.started_at.plus_millis(monotonic_millis);
        let ahead = wall.millis_since(steady);
        let forward = self.forward.fetch_max(ahead, Ordering::Relaxed).max(ahead);
        steady.plus_millis(forward)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the reader of time")]
fn wall() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp(since_epoch.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let elapsed = i64::try_from(self.started.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.combine(elapsed, wall())
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
    /// A clock that is `skew` milliseconds ahead of the wall time, or behind it.
    pub fn start(skew: i64) -> Self {
        Self {
            system: SystemClock::start(),
            ahead: AtomicI64::new(skew),
        }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        self.system
            .now()
            .plus_millis(self.ahead.load(Ordering::SeqCst))
    }

    fn try_advance(&self, millis: u64) -> Option<Timestamp> {
        let millis = i64::try_from(millis).unwrap_or(i64::MAX);
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

    /// Moves the clock by `millis`; a negative value leaves it where it is.
    pub fn advance(&self, millis: i64) -> Timestamp {
        let moved = millis.max(0);
        Timestamp(self.0.fetch_add(moved, Ordering::SeqCst)).plus_millis(moved)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }

    fn try_advance(&self, millis: u64) -> Option<Timestamp> {
        Some(self.advance(i64::try_from(millis).unwrap_or(i64::MAX)))
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
        assert_eq!(clock.combine(10, Timestamp(1_000_010)).millis(), 1_000_010);
        assert_eq!(clock.combine(20, Timestamp(400_000)).millis(), 1_000_020);
    }

    #[test]
    fn a_wall_clock_set_forward_is_followed_and_never_given_back() {
        let clock = clock_at(1_000_000);
        assert_eq!(clock.combine(10, Timestamp(1_500_010)).millis(), 1_500_010);
        assert_eq!(clock.combine(30, Timestamp(1_000_030)).millis(), 1_500_030);
    }

    #[test]
    fn a_test_clock_runs_and_can_be_moved_ahead() {
        let clock = TestClock::start(-600_000);
        let before = clock.now();
        assert!(SystemClock::start().now().millis_since(before) >= 600_000);
        let moved = clock.try_advance(300_000).unwrap();
        assert!(moved.millis_since(before) >= 300_000);
        assert!(clock.now() >= moved);
        assert_eq!(SystemClock::start().try_advance(1), None);
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
    }
}
