//! Limits of values in the schemas of the OpenAPI document.

use super::*;

/// Limits are in the schemas, and not only in descriptions.
#[test]
fn limits_are_in_the_schemas() {
    let document = parsed();
    let schemas = &document["components"]["schemas"];
    for (place, limit, value) in LIMITS {
        let schema = place.split('.').fold(schemas, |schema, part| match part {
            "[]" => &schema["items"],
            "*" => &schema["additionalProperties"],
            "keys" => &schema["propertyNames"],
            part if schema["properties"].is_object() => &schema["properties"][part],
            part => &schema[part],
        });
        let schema = match schema["$ref"].as_str() {
            Some(reference) => &schemas[reference.rsplit('/').next().expect("a name")],
            None => schema,
        };
        let value: Value = serde_json::from_str(value).expect("JSON");
        assert_eq!(schema[limit], value, "{place} {limit}");
    }
}

/// Schema path, keyword, and the keyword's value as JSON.
const LIMITS: [(&str, &str, &str); 62] = [
    ("TagFields.name", "maxLength", "200"),
    ("TagFields.title", "maxLength", "2000"),
    ("TagFields.description", "maxLength", "2000"),
    (
        "TagFields.language_code",
        "pattern",
        r#""^([A-Za-z0-9_-]{2,35})?$""#,
    ),
    ("Properties", "maxProperties", "256"),
    ("Properties.keys", "pattern", r#""^[A-Za-z0-9_.-]{1,64}$""#),
    ("Properties.*", "maxLength", "4096"),
    ("TagPropertyValue.value", "maxLength", "4096"),
    ("TagPropertyValue.value", "pattern", r#""^[^\\x00]*$""#),
    ("Location.lat", "minimum", "-90"),
    ("Location.lat", "maximum", "90"),
    ("Location.lon", "minimum", "-180"),
    ("Location.lon", "maximum", "180"),
    ("Location.street", "maxLength", "200"),
    ("Venue.name", "maxLength", "200"),
    ("VenueAsset.id", "maxLength", "200"),
    ("PlaceType.name", "maxLength", "200"),
    ("NewVirtualInlay.name", "minLength", "1"),
    ("NewVirtualInlay.name", "maxLength", "200"),
    ("DiversificationInput", "maxLength", "53"),
    ("Overrides.tag_url", "pattern", r#""^https?://[^?#]+$""#),
    (
        "Overrides.default_country",
        "pattern",
        r#""^([A-Za-z]{2})?$""#,
    ),
    ("Overrides.retention_months", "minimum", "1"),
    ("Overrides.retention_months", "maximum", "1200"),
    ("Overrides.audit_months", "maximum", "1200"),
    ("Overrides.submission_months", "maximum", "1200"),
    ("Overrides.disk_low_mebibytes", "maximum", "16777216"),
    ("Overrides.app_links", "maxItems", "50"),
    ("AppLinks.paths", "maxItems", "20"),
    ("AppPath", "maxLength", "200"),
    ("Pages.texts", "maxItems", "200"),
    ("PageText.text", "maxLength", "1000"),
    ("Network", "pattern", r#""^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$""#),
    ("FormField.choices", "maxItems", "100"),
    ("Choice", "maxLength", "500"),
    ("ButtonBlock.url", "maxLength", "4096"),
    ("VideoBlock.url", "maxLength", "4096"),
    ("VariableButtonBlock.value", "maxLength", "4096"),
    ("ProgressBlock.of", "maximum", "30"),
    ("VariableEqualsWhen.value", "maxLength", "4096"),
    ("VariableDiffersWhen.value", "maxLength", "4096"),
    ("LanguageWhen.any_of", "maxItems", "50"),
    ("LanguageTag", "maxLength", "35"),
    ("CountryWhen.any_of", "maxItems", "300"),
    ("CountryCode", "pattern", r#""^[A-Za-z0-9]{2}$""#),
    ("Rule.when", "maxItems", "10"),
    ("FileImage.data", "pattern", r#""^[A-Za-z0-9+/]*={0,2}$""#),
    (
        "RowFields.uid",
        "pattern",
        r#""^([0-9A-Fa-f]{8}|[0-9A-Fa-f]{14}|[0-9A-Fa-f]{20})$""#,
    ),
    ("RowFields.counter", "maximum", "16777215"),
    ("SheetFieldsPatch.planned", "maximum", "10000"),
    ("NewBackup.passphrase", "minLength", "12"),
    ("NewToken.name", "maxLength", "200"),
    (
        "Record.rolling_key",
        "pattern",
        r#""^[A-Za-z0-9+/_ -]+={0,2}$""#,
    ),
    ("VariableValues", "minProperties", "1"),
    ("VariableValues", "maxProperties", "64"),
    ("VariableValues.*", "maxLength", "4096"),
    ("Problem.status", "minimum", "400"),
    ("Problem.status", "maximum", "599"),
    ("Payload.rk", "pattern", r#""^[A-Za-z0-9]{44}$""#),
    ("Metadata.verified", "pattern", r#""^[01]$""#),
    ("Metadata.tag_verifier_enabled", "pattern", r#""^[01]$""#),
    ("Metadata.studio_id", "pattern", r#""^[0-9]*$""#),
];
