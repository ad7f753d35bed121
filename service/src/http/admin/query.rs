//! Query parameters of the admin API, with every mistake in words.

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

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
    let refused = |why: &str| ApiError::Invalid(format!("The query is invalid: {why}."));
    let pairs = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| chosen(name));
    if pairs.clone().any(|(_, value)| value.contains('\0')) {
        return Err(refused("a value holds a NUL character"));
    }
    let chosen = form_urlencoded::Serializer::for_suffix(String::from("/?"), 2)
        .extend_pairs(pairs)
        .finish();
    let uri = Uri::try_from(chosen).map_err(|error| refused(&error.to_string()))?;
    axum::extract::Query::try_from_uri(&uri)
        .map(|axum::extract::Query(query)| Query(query))
        .map_err(|rejection| {
            let source = std::error::Error::source(&rejection);
            refused(&source.map_or_else(|| rejection.to_string(), ToString::to_string))
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
        for (query, part) in [
            ("limit=many", "limit: invalid digit"),
            ("limit=1&limit=2", "duplicate field `limit`"),
            ("lmit=1", "unknown field `lmit`"),
            ("q=a%00b", "NUL"),
        ] {
            let refused = parse(query).await;
            let Err(ApiError::Invalid(why)) = refused else {
                panic!("{query}: {refused:?}")
            };
            assert!(why.contains(part), "{query}: {why}");
        }
    }
}
