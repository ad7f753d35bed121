//! The origin of a tap.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The origin of a tap: a visitor, or a part of this application. Test taps do not count as visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = TapOrigin)]
pub enum TapOrigin {
    /// A visitor, with any phone or browser.
    #[default]
    Visitor,
    /// The desktop's reader: the screen Reader, or a test sheet.
    Reader,
    /// The reader of a kiosk.
    Kiosk,
    /// A phone of staff, by its cookie.
    Staff,
    /// The simulator: every tap of the simulated world.
    Simulator,
}

impl TapOrigin {
    /// The name in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Reader => "reader",
            Self::Kiosk => "kiosk",
            Self::Staff => "staff",
            Self::Simulator => "simulator",
        }
    }

    /// The origin of a tap in this world, if `self` was announced: in the simulated world it is
    /// always the simulator.
    #[must_use]
    pub const fn in_world(self, simulated: bool) -> Self {
        if simulated { Self::Simulator } else { self }
    }

    /// The stored name of a test tap in the real world; `None` for all others.
    pub const fn stored(self) -> Option<&'static str> {
        match self {
            Self::Reader => Some("reader"),
            Self::Kiosk => Some("kiosk"),
            Self::Staff => Some("staff"),
            Self::Visitor | Self::Simulator => None,
        }
    }

    /// The origin with the stored name.
    pub fn from_stored(name: &str) -> Option<Self> {
        [Self::Reader, Self::Kiosk, Self::Staff]
            .into_iter()
            .find(|origin| origin.stored() == Some(name))
    }
}
