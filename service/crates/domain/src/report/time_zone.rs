//! Time zones. Their rules are in the program, so that all nodes of a service, and all systems,
//! divide time alike. chrono has no rules, so jiff reads them.

use jiff::civil::Date;
use jiff::{Zoned, tz};

use crate::clock::{Millis, Timestamp};
use crate::field_error::FieldError;

/// Most characters of a name. The longest one that exists has 32.
const NAME_MAX: usize = 64;

/// A time zone with an IANA name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZone(tz::TimeZone);

impl TimeZone {
    /// The time zone without an offset.
    pub const UTC: Self = Self(tz::TimeZone::UTC);

    /// The time zone with an IANA name, such as `Europe/Berlin`. Case makes no difference.
    ///
    /// # Errors
    ///
    /// If there is no such name. The error says so, for the parameter `time_zone`.
    pub fn named(name: &str) -> Result<Self, FieldError> {
        let found = (name.len() <= NAME_MAX).then(|| tz::TimeZone::get(name).ok());
        let Some(zone) = found.flatten().filter(|zone| !zone.is_unknown()) else {
            let shown: String = name.chars().take(NAME_MAX).collect();
            let why = format!(
                "There is no time zone \"{shown}\". Use a name of the IANA database, such as \
                 Europe/Berlin, Asia/Kolkata or UTC."
            );
            return Err(FieldError::of("time_zone", why));
        };
        Ok(Self(zone))
    }

    /// The name in the IANA database, in the case that is usual there.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// A moment for people, to the minute: `2026-03-29 14:05`.
    pub fn shown(&self, at: Timestamp) -> String {
        let local = self.local(at);
        local.map_or_else(
            || at.to_string(),
            |local| local.strftime("%Y-%m-%d %H:%M").to_string(),
        )
    }

    /// A moment in this time zone; `None` if it is out of the years that a calendar has.
    pub(super) fn local(&self, at: Timestamp) -> Option<Zoned> {
        let at = jiff::Timestamp::from_millisecond(at.millis()).ok()?;
        Some(at.to_zoned(self.0.clone()))
    }

    /// The first moment of a day: midnight, or later if clocks are changed then.
    pub(super) fn start_of(&self, day: Date) -> Option<Timestamp> {
        let start = day.to_zoned(self.0.clone()).ok()?;
        let start = start.start_of_day().ok()?.timestamp();
        Some(Timestamp::from_millis(start.as_millisecond()))
    }
}

/// The first whole hour of UTC at a moment or after it, counted from the Unix epoch. Taps are counted
/// by such hours.
pub(super) const fn whole_hour(at: Timestamp) -> i64 {
    let hour = Millis::hours(1).get();
    at.millis().saturating_add(hour - 1).div_euclid(hour)
}
