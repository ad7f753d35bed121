//! `attribute.KEY=VALUE` in a query: filters whose names contain the key of an attribute.

use std::collections::BTreeMap;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use utoipa::IntoParams;

use crate::admin::extract::query::ATTRIBUTE;
use crate::error::ApiError;
use domain::field_error::FieldError;
use domain::tag::PropertyKey;

/// The values that each attribute may have.
pub(crate) type Values = BTreeMap<PropertyKey, Vec<String>>;

/// The attributes in the query of a request.
#[derive(Debug)]
pub(crate) struct Attributes(pub(crate) Values);

/// The parameters of [`Attributes`].
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "its shape is what counts")]
pub(crate) struct AttributeParams {
    /// `attribute.KEY=VALUE`: only tags whose attribute `KEY` has exactly this value. Repeat it for
    /// further attributes, all of which must fit, or for further values of one, any of which may.
    #[param(
        style = Form, explode, required = false,
        value_type = BTreeMap<String, String>, example = json!({"attribute.lot": "L03"})
    )]
    attributes: Values,
}

impl<S: Sync> FromRequestParts<S> for Attributes {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let mut attributes = Values::new();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let Some(key) = name.strip_prefix(ATTRIBUTE) else {
                continue;
            };
            let key = PropertyKey::parse(key).map_err(|why| {
                let why = format!("The query is invalid: {name}: {why}");
                ApiError::Invalid(FieldError::of(name.clone().into_owned(), why))
            })?;
            attributes.entry(key).or_default().push(value.into_owned());
        }
        Ok(Self(attributes))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    async fn read(query: &str) -> Result<Values, ApiError> {
        let request = Request::get(format!("/tags?{query}")).body(()).unwrap();
        let (mut parts, ()) = request.into_parts();
        let read = Attributes::from_request_parts(&mut parts, &()).await;
        read.map(|Attributes(values)| values)
    }

    #[tokio::test]
    async fn each_key_has_its_values_and_other_parameters_are_left() {
        let values = read("q=x&attribute.lot=L+1&attribute.a.b=&attribute.lot=%C3%A9&attribute=y");
        let key = |key| PropertyKey::parse(key).unwrap();
        let expected = [
            (key("lot"), vec!["L 1".to_owned(), "é".to_owned()]),
            (key("a.b"), vec![String::new()]),
        ];
        assert_eq!(values.await, Ok(expected.into()));
        for query in ["attribute.=x", "attribute.a%20b=x"] {
            assert!(
                matches!(read(query).await, Err(ApiError::Invalid(_))),
                "{query}"
            );
        }
    }
}
