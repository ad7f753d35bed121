//! Identifiers. Each is a number the storage hands out; the types keep a tag's
//! from standing where an inlay's is meant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
        )]
        #[serde(transparent)]
        #[schema(value_type = i64, minimum = 1)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

ids! {
    /// A tag.
    TagId,
    /// An inlay.
    InlayId,
    /// A master key that inlay keys are diversified from.
    MasterKeyId,
    /// An experience.
    ExperienceId,
    /// An image of an experience.
    ImageId,
    /// An interaction: one tap.
    InteractionId,
    /// A virtual inlay of the simulator.
    VirtualInlayId,
    /// A test sheet of the reader.
    SheetId,
    /// An admin token.
    TokenId,
}
