//! Schemas in the OpenAPI document of types that derive none.

/// Implements the OpenAPI schema of a type that is text of the shape `$pattern`. A crate that calls
/// this macro depends on utoipa.
#[doc(hidden)]
#[macro_export]
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

pub use text_schema;
