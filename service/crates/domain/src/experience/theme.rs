//! The appearance of a studio experience's page.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Colour;
use crate::id::ImageId;

/// The appearance of a page. Omitted members have the service's defaults.
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
    /// Typeface of all texts.
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

/// Light or dark appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Follows the visitor's device.
    #[default]
    Auto,
    /// Light on every device.
    Light,
    /// Dark on every device.
    Dark,
}

/// A typeface. All of them are already on the visitor's device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Font {
    /// The default typeface of the device.
    #[default]
    System,
    /// A typeface with serifs.
    Serif,
    /// One with round ends, if the device has one.
    Rounded,
    /// A typeface whose letters all have the same width.
    Mono,
}

/// How round cards, fields and buttons are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Corners {
    /// Slightly rounded corners, the default.
    #[default]
    Soft,
    /// Strongly rounded corners.
    Round,
    /// Square corners, without rounding.
    Square,
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
