//! The real and the simulated world. Simulated data appear only if they are requested.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The world that a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub enum World {
    /// Only real data.
    #[default]
    #[serde(rename = "false")]
    Real,
    /// Only simulated data.
    #[serde(rename = "true")]
    Simulated,
    /// Real and simulated data.
    #[serde(rename = "all")]
    Both,
}

impl World {
    /// Whether only simulated (`true`) or only real (`false`) data are shown; `None` for both.
    pub const fn simulated(self) -> Option<bool> {
        match self {
            Self::Real => Some(false),
            Self::Simulated => Some(true),
            Self::Both => None,
        }
    }

    /// Whether an object is shown that is simulated, or is not.
    pub fn has(self, simulated: bool) -> bool {
        self.simulated().is_none_or(|shown| shown == simulated)
    }
}
