//! `GET /admin/v1/tags/attributes`.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::attribute_filter::{AttributeParams, Attributes};
use super::filter::Filter;
use crate::admin::Asked;
use crate::admin::extract::page::Limit;
use crate::admin::extract::query::{Query, read};
use crate::error::{ApiError, Common, Invalid};
use domain::tag::PropertyKey;

/// How to count. All other parameters are those of [`Filter`].
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CountingKeys {
    /// Maximum number of keys.
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// Whether to return estimates if counting takes long. The answer comes within 100 ms and says
    /// whether its counts are estimates.
    #[serde(default)]
    #[param(required = false)]
    estimate: bool,
}

/// The query of the operation.
pub(crate) struct KeysQuery {
    counting: CountingKeys,
    filter: Filter,
}

impl<S: Sync> FromRequestParts<S> for KeysQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let is_counting = |name: &str| matches!(name, "limit" | "estimate");
        let Query(counting) = read(query, is_counting)?;
        let Query(filter) = read(query, |name| !is_counting(name))?;
        Ok(Self { counting, filter })
    }
}

/// A key of attributes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CountedKey {
    /// The key.
    key: PropertyKey,
    /// Number of tags that have a value for it.
    count: u64,
}

/// Keys of attributes, with their counts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CountedKeys {
    /// The most frequent keys first; keys of equal count in the order of their characters.
    items: Vec<CountedKey>,
    /// Whether the counts are estimates. Only present for estimates: those of `estimate=true`, and
    /// of tags with tens of thousands of keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    counts_are_estimates: Option<bool>,
}

/// Count the keys of attributes
///
/// Counts the tags that match the filter and have a value for the key, of their own or of a group
/// above them. Counts of more than 8,192 tags without a filter may lack changes of the last 30
/// seconds.
#[utoipa::path(
    get, path = "/tags/attributes", tag = "tags", params(CountingKeys, Filter, AttributeParams),
    responses((status = OK, body = CountedKeys), Invalid, Common)
)]
pub(crate) async fn attribute_keys(
    Asked(service): Asked,
    KeysQuery { counting, filter }: KeysQuery,
    Attributes(attributes): Attributes,
) -> Result<Json<CountedKeys>, ApiError> {
    let filter = filter.with(attributes).check()?;
    let CountingKeys { limit, estimate } = counting;
    let counted = service
        .storage
        .attribute_keys(filter, limit.items(), estimate)
        .await?;
    let items = counted.keys.into_iter();
    Ok(Json(CountedKeys {
        items: items
            .map(|(key, count)| CountedKey { key, count })
            .collect(),
        counts_are_estimates: (!counted.exact).then_some(true),
    }))
}
