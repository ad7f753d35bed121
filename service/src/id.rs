//! Identifiers. Each is a number the storage hands out; the types keep a tag's
//! from standing where an inlay's is meant.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The number is no identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id is a number from 1 on")]
pub struct InvalidId;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
        )]
        #[serde(try_from = "i64", into = "i64")]
        #[schema(value_type = i64, minimum = 1)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl TryFrom<i64> for $name {
            type Error = InvalidId;

            fn try_from(number: i64) -> Result<Self, InvalidId> {
                if number > 0 { Ok(Self(number)) } else { Err(InvalidId) }
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                text.parse::<i64>().map_err(|_| InvalidId)?.try_into()
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
    /// A URL template.
    UrlTemplateId,
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
    /// An import of tags that is not finished.
    ImportId,
    /// An endpoint of webhooks.
    WebhookId,
    /// What a form sent.
    SubmissionId,
    /// An encoding of an inlay.
    EncodingId,
    /// A run of encodings.
    EncodingRunId,
    /// What a bureau is to encode.
    FactoryOrderId,
    /// A root that keys of inlays are derived from.
    EncodingRootId,
}
