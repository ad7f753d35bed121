//! Identifiers. Each is a number that storage assigns. Separate types prevent that a tag's
//! identifier is used where an inlay's is needed.

use std::fmt;
use std::num::NonZeroI64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The number is not a valid identifier.
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
        pub struct $name(NonZeroI64);

        impl $name {
            /// The identifier with this number, for numbers that are known to be one.
            ///
            /// # Panics
            ///
            /// Panics if the number is below 1.
            pub const fn new(number: i64) -> Self {
                match NonZeroI64::new(number) {
                    Some(number) if number.is_positive() => Self(number),
                    _ => panic!("an id is a number from 1 on"),
                }
            }

            /// The number by which the database and the API know it.
            pub const fn get(self) -> i64 {
                self.0.get()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl TryFrom<i64> for $name {
            type Error = InvalidId;

            fn try_from(number: i64) -> Result<Self, InvalidId> {
                if number > 0 { Ok(Self::new(number)) } else { Err(InvalidId) }
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.get()
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
    /// A tag, which keeps its identifier for its lifetime.
    TagId,
    /// An inlay, real or virtual.
    InlayId,
    /// A master key that inlay keys are diversified from.
    MasterKeyId,
    /// A URL template of a batch of inlays.
    UrlTemplateId,
    /// An experience in all its versions.
    ExperienceId,
    /// A group of tags.
    GroupId,
    /// An image of an experience.
    ImageId,
    /// An interaction: one tap.
    InteractionId,
    /// A virtual inlay of the simulator.
    VirtualInlayId,
    /// A test sheet of the reader.
    SheetId,
    /// A stored admin token.
    TokenId,
    /// A phone of staff, which the desk paired.
    PhoneId,
    /// An import of tags that is not finished.
    ImportId,
    /// An endpoint of webhooks.
    WebhookId,
    /// A notification for people.
    NotificationId,
    /// A submission of a form.
    SubmissionId,
    /// An encoding of an inlay.
    EncodingId,
    /// A run of encodings.
    EncodingRunId,
    /// An order for an encoding bureau.
    FactoryOrderId,
    /// A root key from which keys of inlays are derived.
    EncodingRootId,
}
