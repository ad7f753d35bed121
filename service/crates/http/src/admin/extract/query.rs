//! Query parameters of the admin API. Errors explain every mistake.

use axum::extract::FromRequestParts;
use axum::http::Uri;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, ParameterIn};

use super::body::field;
use crate::error::ApiError;
use domain::field_error::FieldError;

/// Names of parameters that begin like this continue with the key of an attribute. An operation that
/// takes them reads them by itself, and documents them as [`ATTRIBUTES`].
pub(in crate::admin) const ATTRIBUTE: &str = "attribute.";
/// The documented parameter whose members are the parameters of all attributes.
const ATTRIBUTES: &str = "attributes";
/// The name of such a parameter in messages.
const ANY_ATTRIBUTE: &str = "attribute.KEY";

/// The query parameters of a request. `T` is a struct with `#[serde(deny_unknown_fields)]`, which
/// refuses unknown parameters. Otherwise a misspelt filter would select everything.
pub(in crate::admin) struct Query<T>(pub(in crate::admin) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(parts.uri.query().unwrap_or_default(), |_| true)
    }
}

/// Reads the parameters of a query whose names are `chosen`.
pub(in crate::admin) fn read<T: DeserializeOwned>(
    query: &str,
    chosen: impl Fn(&str) -> bool,
) -> Result<Query<T>, ApiError> {
    let refused = |field, why: &str| {
        ApiError::Invalid(FieldError {
            field,
            message: format!("The query is invalid: {why}."),
        })
    };
    let pairs = form_urlencoded::parse(query.as_bytes());
    let pairs = pairs.filter(|(name, _)| chosen(name) && !name.starts_with(ATTRIBUTE));
    if let Some((name, _)) = pairs.clone().find(|(_, value)| value.contains('\0')) {
        let name = name.into_owned().into();
        return Err(refused(Some(name), "a value holds a NUL character"));
    }
    // Refuse an empty name here: the message below would show it as nothing.
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
            refused(field, &plain(&error.to_string()))
        })
}

/// A message with the words of the standard library about numbers in plain ones.
fn plain(message: &str) -> String {
    message
        .replace("invalid digit found in string", "a number has only digits")
        .replace(
            "cannot parse integer from empty string",
            "a number is missing",
        )
        .replace(
            "number too large to fit in target type",
            "the number is too large",
        )
}

/// The names of an operation's query parameters, from its documentation.
pub(in crate::admin) fn names(operation: &Operation) -> Vec<String> {
    let parameters = operation.parameters.iter().flatten();
    parameters
        .filter_map(|parameter| match parameter {
            RefOr::T(parameter) => Some(parameter),
            // Operations do not share declarations of parameters.
            RefOr::Ref(_) => None,
        })
        .filter(|parameter| matches!(parameter.parameter_in, ParameterIn::Query))
        .map(|parameter| match parameter.name.as_str() {
            ATTRIBUTES => ANY_ATTRIBUTE.to_owned(),
            name => name.to_owned(),
        })
        .collect()
}

/// Refuses a query with a parameter that is not `known`. If the service ignored it, the operation
/// would do something else than the client asked for.
pub(in crate::admin) fn check(uri: &Uri, known: &[String]) -> Result<(), FieldError> {
    let mut pairs = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let is_known = |name: &str| {
        let name = if name.starts_with(ATTRIBUTE) {
            ANY_ATTRIBUTE
        } else {
            name
        };
        known.iter().any(|known| known == name)
    };
    let unknown = pairs.find(|(name, _)| !is_known(name));
    let Some((name, _)) = unknown else {
        return Ok(());
    };
    if name.is_empty() {
        let why = "The query is invalid: a parameter has no name.";
        return Err(FieldError::whole(why));
    }
    let name: String = name.chars().take(NAME_SHOWN).collect();
    let lower = name.to_ascii_lowercase();
    let nearest = known.iter().min_by_key(|known| edits(known, &lower));
    let hint = match nearest {
        None => "This operation takes none.".to_owned(),
        Some(nearest) => {
            let known = known.join(", ");
            format!("The nearest one is \"{nearest}\". There are {known}.")
        }
    };
    let why = format!("There is no query parameter \"{name}\". {hint}");
    Err(FieldError::of(name, why))
}

/// A request without query parameters.
pub(in crate::admin) struct NoQuery;

impl<S: Sync> FromRequestParts<S> for NoQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        check(&parts.uri, &[]).map_err(ApiError::Invalid)?;
        Ok(Self)
    }
}

/// Maximum number of characters of an unknown name in a message.
const NAME_SHOWN: usize = 64;

/// The edit distance of two texts: insertions, deletions and replacements of characters.
fn edits(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, of_one) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, of_other) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(of_one != *of_other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
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

    #[test]
    fn an_unknown_parameter_is_refused_with_the_nearest_name() {
        let known = ["limit", "after", "simulated"].map(str::to_owned);
        let check = |query: &str, known: &[String]| {
            let uri: Uri = format!("/tags?{query}").parse().unwrap();
            super::check(&uri, known).map_err(|why| (why.field, why.message))
        };
        assert_eq!(check("", &known), Ok(()));
        assert_eq!(check("limit=1&limit=2&after", &known), Ok(()));
        for (query, name, nearest) in [
            ("lmit=1", "lmit", "limit"),
            ("after=x&simulatd=all", "simulatd", "simulated"),
            ("LIMIT=1", "LIMIT", "limit"),
            ("l%69mits=1", "limits", "limit"),
        ] {
            let why = format!(
                "There is no query parameter \"{name}\". The nearest one is \"{nearest}\". There are limit, after, simulated."
            );
            assert_eq!(
                check(query, &known),
                Err((Some(name.to_owned().into()), why))
            );
        }
        let why = "There is no query parameter \"permanent\". This operation takes none.";
        let expected = Err((Some("permanent".into()), why.to_owned()));
        assert_eq!(check("permanent=true", &[]), expected);
        let why = "The query is invalid: a parameter has no name.";
        assert_eq!(check("=1", &known), Err((None, why.to_owned())));
    }

    #[tokio::test]
    async fn a_wrong_number_is_refused_in_plain_words() {
        for (query, expected) in [
            ("limit=x", "limit: a number has only digits."),
            ("limit=", "limit: a number is missing."),
            ("limit=99999999999", "limit: the number is too large."),
        ] {
            let Err(ApiError::Invalid(why)) = parse(query).await else {
                panic!("{query} is no number");
            };
            assert_eq!(why.message, format!("The query is invalid: {expected}"));
        }
    }

    #[test]
    fn edits_are_counted() {
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("limit", "lmit", 1),
            ("limit", "limits", 1),
            ("since", "until", 5),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(edits(one, other), expected, "{one} {other}");
            assert_eq!(edits(other, one), expected, "{other} {one}");
        }
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
            ("limit=many", "limit", "limit: a number has only digits"),
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
