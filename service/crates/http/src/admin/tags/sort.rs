//! The order of a list of tags: one that every tag has, or the values of an attribute.

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error;

use crate::admin::extract::query::ATTRIBUTE;
use domain::tag::PropertyKey;
use storage::{AttributeOrder, TagOrder};

/// An order, as the query names it; by default that of creation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum Sort {
    /// An order that every tag has.
    Of(TagOrder),
    /// By an attribute: `attribute.KEY` or `-attribute.KEY`.
    Attribute(AttributeOrder),
}

impl Default for Sort {
    fn default() -> Self {
        Self::Of(TagOrder::default())
    }
}

impl TryFrom<String> for Sort {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (descends, name) = match text.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text.as_str()),
        };
        if let Some(key) = name.strip_prefix(ATTRIBUTE) {
            let key = PropertyKey::parse(key).map_err(|why| why.to_string())?;
            return Ok(Self::Attribute(AttributeOrder { key, descends }));
        }
        let order: Result<_, Error> = TagOrder::deserialize(text.as_str().into_deserializer());
        order.map(Self::Of).map_err(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_a_name_or_the_key_of_an_attribute() {
        let sort = |text: &str| Sort::try_from(text.to_owned());
        let by = |key: &str, descends| {
            let key = PropertyKey::parse(key).unwrap();
            Ok(Sort::Attribute(AttributeOrder { key, descends }))
        };
        assert_eq!(sort("-created"), Ok(Sort::Of(TagOrder::CreatedDescending)));
        assert_eq!(sort("attribute.a.b"), by("a.b", false));
        assert_eq!(sort("-attribute.lot"), by("lot", true));
        for wrong in [
            "",
            "slug",
            "attribute",
            "attribute.",
            "--name",
            "attribute.a b",
        ] {
            assert!(sort(wrong).is_err(), "{wrong}");
        }
    }
}
