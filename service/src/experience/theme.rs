//! How the page of a studio experience looks.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Colour;
use crate::id::ImageId;

/// How a page looks. Members that are not given have the service's defaults.
///
/// The owner chooses backgrounds and an accent colour. The colours of texts are derived from them,
/// so that every page is readable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Theme {
    /// Whether the page follows the visitor's device, or is always light or dark.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(required = false)]
    pub scheme: Scheme,
    /// The colour of buttons and links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$")]
    pub accent: Option<Colour>,
    /// The background of the light page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$")]
    pub background: Option<Colour>,
    /// The background of the dark page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$")]
    pub background_dark: Option<Colour>,
    /// The typeface.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(required = false)]
    pub font: Font,
    /// How round cards, fields and buttons are.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(required = false)]
    pub corners: Corners,
    /// An image of the experience at the top of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub logo: Option<ImageId>,
}

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// As the visitor's device says.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// A typeface. All of them are on the visitor's device already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Font {
    /// The one that the device uses itself.
    #[default]
    System,
    /// One with serifs.
    Serif,
    /// One with round ends, if the device has one.
    Rounded,
    /// One whose letters are all as wide.
    Mono,
}

/// How round cards, fields and buttons are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Corners {
    /// A little.
    #[default]
    Soft,
    /// Very.
    Round,
    /// Not at all.
    Square,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
