//! Hex, and types that are represented in JSON by the text that `Display` writes and `FromStr`
//! reads.

/// `N` bytes from exactly `2 * N` hex digits in either case.
pub(crate) fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let length = base16ct::mixed::decode(text, &mut bytes).ok()?.len();
    (length == N).then_some(bytes)
}

/// Implements serde and the OpenAPI schema of `$type` over its `Display` and
/// `FromStr`; `$pattern` is the regular expression of the text.
macro_rules! as_text {
    ($type:ty, $pattern:literal $(, max_length = $max:literal)?) => {
        #[cfg(feature = "serde")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        #[cfg(feature = "openapi")]
        $crate::text::text_schema!($type, $pattern $(, max_length = $max)?);
    };
}

/// Implements the OpenAPI schema of a type that is text of the shape `$pattern`.
#[cfg(feature = "openapi")]
macro_rules! text_schema {
    ($type:ty, $pattern:literal $(, max_length = $max:literal)?) => {
        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
                utoipa::openapi::schema::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::schema::Type::String)
                    .pattern(Some($pattern))
                    $(.max_length(Some($max)))?
                    .into()
            }
        }

        impl utoipa::ToSchema for $type {}
    };
}

pub(crate) use as_text;
#[cfg(feature = "openapi")]
pub(crate) use text_schema;
