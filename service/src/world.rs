//! The real and the simulated world: what is simulated shows up nowhere unless
//! it is asked for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Which world a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
pub enum World {
    /// What is real.
    #[default]
    #[serde(rename = "false")]
    Real,
    /// What is simulated.
    #[serde(rename = "true")]
    Simulated,
    /// Both.
    #[serde(rename = "all")]
    Both,
}

impl World {
    /// Whether only simulated (`true`) or only real (`false`) things are shown; `None` for both.
    pub const fn simulated(self) -> Option<bool> {
        match self {
            Self::Real => Some(false),
            Self::Simulated => Some(true),
            Self::Both => None,
        }
    }

    /// Whether a thing that is simulated, or is not, is shown.
    pub fn has(self, simulated: bool) -> bool {
        self.simulated().is_none_or(|shown| shown == simulated)
    }
}
