//! Section 2.4: `location`, member by member. Without a location, the shape is the same.

use serde_json::json;

use crate::spec::shape::{bare, full, members};

/// A row of the table: the member's value for a tag with every value, and for one without a
/// location.
macro_rules! rows {
    ($($test:ident: $member:literal, $full:tt, $none:tt;)+) => {$(
        #[tokio::test]
        async fn $test() {
            assert_eq!(full().await["location"][$member], json!($full));
            assert_eq!(bare().await["location"][$member], json!($none));
        }
    )+};
}

rows! {
    row_id: "id", 9, 0;
    row_street: "street", "1 Rue du Port", "";
    row_dma: "dma", 501, 0;
    row_lat: "lat", 48.5, 0.0;
    row_lon: "lon", (-2.25), 0.0;
    row_stationary: "stationary", true, false;
    row_data: "data", {"floor": 2}, {};
    row_user_data: "user_data", ["near the door"], [];
    row_system: "system", [{"source": "import"}], [];
    row_venue: "venue",
        {"type": {"id": 3, "name": "Bar", "stationary": 1}, "name": "Chez Léa"},
        {"type": {"id": 0, "name": "", "stationary": 0}, "name": ""};
    row_asset: "asset",
        {"type": {"id": 4, "name": "Crate", "stationary": 0}, "id": "C-7"},
        {"type": {"id": 0, "name": "", "stationary": 0}, "id": ""};
}

#[tokio::test]
async fn location_has_exactly_these_members_in_this_order() {
    for payload in [full().await, bare().await] {
        assert_eq!(
            members(&payload["location"]),
            [
                ("id", "integer"),
                ("street", "string"),
                ("dma", "integer"),
                ("lat", "number"),
                ("lon", "number"),
                ("stationary", "boolean"),
                ("data", "object"),
                ("user_data", "array"),
                ("system", "array"),
                ("venue", "object"),
                ("asset", "object"),
            ]
        );
    }
}

#[tokio::test]
async fn venue_asset_and_their_types_have_exactly_these_members_in_this_order() {
    for payload in [full().await, bare().await] {
        let location = &payload["location"];
        assert_eq!(
            members(&location["venue"]),
            [("type", "object"), ("name", "string")]
        );
        assert_eq!(
            members(&location["asset"]),
            [("type", "object"), ("id", "string")]
        );
        for thing in ["venue", "asset"] {
            assert_eq!(
                members(&location[thing]["type"]),
                [
                    ("id", "integer"),
                    ("name", "string"),
                    ("stationary", "integer")
                ]
            );
        }
    }
}
