//! Reads JSON objects only from JSON objects. serde's derive also accepts an array in place of a
//! struct, with its members by position, and a number in place of the name of an enum's variant.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// A `T` that was an object.
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members)).map(Object)
            }
        }
        deserializer.deserialize_map(Members(PhantomData))
    }
}

/// For `deserialize_with`: an object.
pub fn one<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// For `deserialize_with`: an object, or `null`.
pub fn option<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let object = Option::<Object<T>>::deserialize(deserializer)?;
    Ok(object.map(|Object(value)| value))
}

/// For `deserialize_with`: an array of objects.
pub fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let objects = Vec::<Object<T>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|Object(value)| value).collect())
}

/// `value`, unless its member `tag` is not a text. If the member is missing, the enum itself
/// reports that.
///
/// # Errors
/// A part of a sentence, for the sender.
pub fn named<E: serde::de::Error>(value: Value, tag: &str) -> Result<Value, E> {
    match value.get(tag) {
        Some(name) if !name.is_string() => Err(E::custom(format!("{tag} must be a name"))),
        _ => Ok(value),
    }
}

/// Makes an enum with the tag `$tag` read only the names of its variants, in every place. The enum
/// derives both traits of serde with `#[serde(remote = "Self")]`, which turns them into inherent
/// functions.
#[doc(hidden)]
#[macro_export]
macro_rules! tagged_by_name {
    ($type:ty, $tag:literal) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value = serde_json::Value::deserialize(deserializer)?;
                let value = $crate::strict_json::named::<D::Error>(value, $tag)?;
                Self::deserialize(value).map_err(serde::de::Error::custom)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }
    };
}

pub use tagged_by_name;

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Place {
        name: String,
        #[serde(default, deserialize_with = "option")]
        within: Option<Box<Place>>,
        #[serde(default, deserialize_with = "list")]
        doors: Vec<Place>,
    }

    fn read(json: &str) -> Result<Place, serde_json::Error> {
        serde_json::from_str(json).map(|Object(place)| place)
    }

    #[test]
    fn an_object_is_read_wherever_it_stands() {
        let json =
            r#"{"name": "a", "within": {"name": "b", "within": null}, "doors": [{"name": "c"}]}"#;
        let place = read(json).unwrap();
        assert_eq!(place.within.unwrap().name, "b");
        assert_eq!(place.doors[0].name, "c");
    }

    #[test]
    fn an_array_is_no_object() {
        for json in [
            r#"["a"]"#,
            r#"{"name": "a", "within": ["b"]}"#,
            r#"{"name": "a", "doors": [["c"]]}"#,
            r#"{"name": "a", "doors": {"name": "c"}}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
