//! The payloads for sections 2.2 to 2.4: one of a tag with every value, and one of a tag that has
//! only a name.

use serde_json::{Value, json};
use tapdesk_service::inlay::{MacFrom, Mirror};
use tapdesk_tests::TestService;
use tokio::sync::OnceCell;

/// A location with every member of section 2.4.
pub(super) fn location() -> Value {
    json!({
        "id": 9,
        "street": "1 Rue du Port",
        "dma": 501,
        "lat": 48.5,
        "lon": -2.25,
        "stationary": true,
        "data": {"floor": 2},
        "user_data": ["near the door"],
        "system": [{"source": "import"}],
        "venue": {"type": {"id": 3, "name": "Bar", "stationary": 1}, "name": "Chez Léa"},
        "asset": {"type": {"id": 4, "name": "Crate", "stationary": 0}, "id": "C-7"}
    })
}

/// The payload of a verified tap on a tag with every value.
pub(super) async fn full() -> Value {
    static PAYLOAD: OnceCell<Value> = OnceCell::const_new();
    let payload = PAYLOAD.get_or_init(|| async {
        let service = TestService::start().await;
        let tag = service
            .redirecting_tag(json!({
                "slug": "bottle-41",
                "title": "Red wine",
                "description": "From the south",
                "language_code": "fr_FR",
                "location": location(),
                "track_location": true,
                "widget_settings": {"map": {"zoom": 3}, "plain": {}},
            }))
            .await;
        let mut inlay = service
            .rolling_inlay(&tag, Mirror::Encrypted, MacFrom::None)
            .await;
        let tap = service.tap(&inlay.url(&tag)).await;
        let mut payload = service.payload(tap.key()).await;
        // Values that only this service and this tap can have are added to the payload as
        // `expected`.
        payload["expected"] = json!({
            "tag_id": tag.id, "inlay_id": inlay.id, "rk": tap.rk,
            "url": service.address("bottle-41", Mirror::Encrypted, MacFrom::None),
        });
        payload
    });
    payload.await.clone()
}

/// The payload of a tap on a tag with only a name and an experience.
pub(super) async fn bare() -> Value {
    static PAYLOAD: OnceCell<Value> = OnceCell::const_new();
    let payload = PAYLOAD.get_or_init(|| async {
        let service = TestService::start().await;
        let tag = service.redirecting_tag(Value::Null).await;
        let tap = service.tap(&tag.path()).await;
        service.payload(tap.key()).await
    });
    payload.await.clone()
}

/// An object's members in order, each with its type by the specification's name.
pub(super) fn members(object: &Value) -> Vec<(&str, &'static str)> {
    let members = object.as_object().expect("an object");
    members
        .iter()
        .filter(|(name, _)| *name != "expected")
        .map(|(name, value)| (name.as_str(), type_of(value)))
        .collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
