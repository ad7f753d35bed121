//! The location of a tag, with exactly the members of specification 2.4. A tag without a location
//! shows [`Location::default`], so the payload's shape never changes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::strict_json;
use crate::text::{NAME_MAX, text_fits};

/// A place (specification 2.4).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Location {
    /// The owner's number for the place.
    pub id: i64,
    /// Street and house number.
    #[schema(max_length = 200)]
    pub street: String,
    /// Number of the designated market area.
    pub dma: i64,
    /// Latitude in degrees, -90 to 90.
    #[schema(minimum = -90, maximum = 90)]
    pub lat: f64,
    /// Longitude in degrees, -180 to 180.
    #[schema(minimum = -180, maximum = 180)]
    pub lon: f64,
    /// Whether the tag stays at this place.
    pub stationary: bool,
    /// Free data of the owner.
    pub data: Map<String, Value>,
    /// Free data of users.
    pub user_data: Vec<Value>,
    /// Free data of systems.
    pub system: Vec<Value>,
    /// Venue at the place.
    #[serde(deserialize_with = "strict_json::one")]
    pub venue: Venue,
    /// The asset the tag is on.
    #[serde(deserialize_with = "strict_json::one")]
    pub asset: VenueAsset,
}

/// A venue, such as a shop or a hall.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Venue {
    /// Kind of the venue.
    #[serde(rename = "type", deserialize_with = "strict_json::one")]
    pub kind: PlaceType,
    /// Name of the venue.
    #[schema(max_length = 200)]
    pub name: String,
}

/// The asset that carries the tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VenueAsset {
    /// Kind of the asset.
    #[serde(rename = "type", deserialize_with = "strict_json::one")]
    pub kind: AssetType,
    /// The owner's identifier for it.
    #[schema(max_length = 200)]
    pub id: String,
}

/// The kind of a venue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlaceType {
    /// The owner's number for the kind.
    pub id: i64,
    /// Name of the kind.
    #[schema(max_length = 200)]
    pub name: String,
    /// 1 if venues of this kind do not move, otherwise 0.
    pub stationary: i64,
}

/// The kind of an asset.
pub type AssetType = PlaceType;

/// Largest location, in bytes of JSON.
const LOCATION_MAX: usize = 16 * 1024;

impl Location {
    /// Checks degrees, lengths and characters.
    pub(super) fn validate(&self) -> Result<(), &'static str> {
        let within = |value: f64, limit: f64| value.is_finite() && value.abs() <= limit;
        if !within(self.lat, 90.0) || !within(self.lon, 180.0) {
            return Err("lat is -90 to 90 degrees and lon -180 to 180.");
        }
        let texts = [
            &self.street,
            &self.venue.name,
            &self.venue.kind.name,
            &self.asset.id,
            &self.asset.kind.name,
        ];
        if !texts.iter().all(|text| text_fits(text, NAME_MAX)) {
            return Err("Texts of a location have at most 200 characters and no NUL character.");
        }
        let json = serde_json::to_string(self).unwrap_or_default();
        if json.len() > LOCATION_MAX || json.contains("\\u0000") {
            return Err("A location can have at most 16384 bytes as JSON, and no NUL character.");
        }
        Ok(())
    }
}
