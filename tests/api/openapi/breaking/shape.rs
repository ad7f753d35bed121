//! The keywords of a schema that a comparison reads, with those of its parts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::comparison::{items, members, resolved};

/// Keywords that limit a value, and whether each is an upper limit.
pub(super) const LIMITS: [(&str, bool); 8] = [
    ("maximum", true),
    ("maxLength", true),
    ("maxItems", true),
    ("maxProperties", true),
    ("minimum", false),
    ("minLength", false),
    ("minItems", false),
    ("minProperties", false),
];

/// A schema that is one of no variants.
#[derive(Default)]
pub(super) struct Shape<'a> {
    /// Its types without null; empty for any.
    pub(super) types: BTreeSet<&'a str>,
    pub(super) format: Option<&'a str>,
    pub(super) pattern: Option<&'a str>,
    /// The only values that it has.
    pub(super) values: Option<Vec<&'a Value>>,
    pub(super) properties: BTreeMap<&'a str, &'a Value>,
    pub(super) required: BTreeSet<&'a str>,
    /// Whether it takes no members beside its properties.
    pub(super) closed: bool,
    /// The schema of its further members.
    pub(super) additional: Option<&'a Value>,
    /// The schema of its items.
    pub(super) items: Option<&'a Value>,
    /// The limits of [`LIMITS`].
    pub(super) limits: [Option<f64>; LIMITS.len()],
}

impl<'a> Shape<'a> {
    /// The shape of a schema and of all parts of its `allOf`.
    pub(super) fn of(document: &'a Value, schema: &'a Value) -> Self {
        let mut shape = Self::default();
        shape.add(document, schema);
        shape
    }

    fn add(&mut self, document: &'a Value, schema: &'a Value) {
        let schema = resolved(document, schema);
        for part in items(&schema["allOf"]) {
            self.add(document, part);
        }
        self.types.extend(types(schema));
        self.types.remove("null");
        self.format = schema["format"].as_str().or(self.format);
        self.pattern = schema["pattern"].as_str().or(self.pattern);
        if let Some(values) = schema["enum"].as_array() {
            let values = values.iter().filter(|value| !value.is_null());
            self.values = Some(values.collect());
        }
        let properties = members(&schema["properties"]);
        self.properties
            .extend(properties.map(|(name, member)| (name.as_str(), member)));
        let required = items(&schema["required"]).filter_map(Value::as_str);
        self.required.extend(required);
        let additional = &schema["additionalProperties"];
        self.closed |= *additional == false;
        self.additional = some_object(additional).or(self.additional);
        self.items = some_object(&schema["items"]).or(self.items);
        for (limit, (name, _)) in self.limits.iter_mut().zip(LIMITS) {
            *limit = schema[name].as_f64().or(*limit);
        }
    }
}

fn some_object(value: &Value) -> Option<&Value> {
    value.is_object().then_some(value)
}

/// The types that a schema names.
pub(super) fn types(schema: &Value) -> BTreeSet<&str> {
    let several = items(&schema["type"]).filter_map(Value::as_str);
    several.chain(schema["type"].as_str()).collect()
}
