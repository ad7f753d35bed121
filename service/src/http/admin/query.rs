//! Query parameters of the admin API, with every mistake in words.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::body::field;
use crate::field_error::FieldError;
use crate::http::error::ApiError;

/// The query parameters of a request. `T` is a struct with
/// `#[serde(deny_unknown_fields)]`: a parameter that is not known is refused,
/// for a filter that is misspelt would otherwise select everything.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(parts.uri.query().unwrap_or_default(), |_| true)
    }
}

/// The parameters of a query whose names are `chosen`.
pub(super) fn read<T: DeserializeOwned>(
    query: &str,
    chosen: impl Fn(&str) -> bool,
) -> Result<Query<T>, ApiError> {
    let refused = |field, why: &str| {
        ApiError::Invalid(FieldError {
            field,
            message: format!("The query is invalid: {why}."),
        })
    };
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| chosen(name));
    if let Some((name, _)) = pairs.clone().find(|(_, value)| value.contains('\0')) {
        let name = name.into_owned().into();
        return Err(refused(Some(name), "a value holds a NUL character"));
    }
    // An empty name in the words below would be told as no word.
    if pairs.clone().any(|(name, _)| name.is_empty()) {
        return Err(refused(None, "a parameter has no name"));
    }
    let chosen = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(pairs)
        .finish();
    let chosen = form_urlencoded::parse(chosen.as_bytes());
    serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(chosen))
        .map(Query)
        .map_err(|error| {
            let field = field(error.path(), error.inner()).map(Into::into);
            refused(field, &error.to_string())
        })
}

#[cfg(test)]
mod tests {
    use axum::http::Request;
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Filter {
        limit: Option<u32>,
        q: Option<String>,
    }

    async fn parse(query: &str) -> Result<Filter, ApiError> {
        let request = Request::get(format!("/tags?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        Query::from_request_parts(&mut parts, &())
            .await
            .map(|Query(filter)| filter)
    }

    #[tokio::test]
    async fn parameters_are_read_or_refused_in_words() {
        let read = parse("limit=3&q=Flasche+1%26").await;
        let expected = Filter {
            limit: Some(3),
            q: Some("Flasche 1&".to_owned()),
        };
        assert_eq!(read, Ok(expected));
        for (query, name, part) in [
            ("limit=many", "limit", "limit: invalid digit"),
            ("limit=1&limit=2", "limit", "duplicate field `limit`"),
            ("lmit=1", "lmit", "unknown field `lmit`"),
            ("q=a%00b", "q", "NUL"),
        ] {
            let refused = parse(query).await;
            let Err(ApiError::Invalid(why)) = refused else {
                panic!("{query}: {refused:?}")
            };
            assert!(why.message.contains(part), "{query}: {why}");
            assert_eq!(why.field.as_deref(), Some(name), "{query}");
        }
        for query in ["=1", "limit=1&=", "="] {
            let why = "The query is invalid: a parameter has no name.";
            let expected = ApiError::Invalid(FieldError::whole(why));
            assert_eq!(parse(query).await, Err(expected), "{query}");
        }
    }
}
