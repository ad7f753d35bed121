//! `GET /admin/v1/tags/values`.

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

/// Which attribute, and how to count. All other parameters are those of [`Filter`].
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Counting {
    /// The key of the attribute.
    #[param(value_type = String, pattern = "^[A-Za-z0-9_.-]{1,64}$")]
    attribute: PropertyKey,
    /// Maximum number of values.
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
pub(crate) struct ValuesQuery {
    counting: Counting,
    filter: Filter,
}

impl<S: Sync> FromRequestParts<S> for ValuesQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let is_counting = |name: &str| matches!(name, "attribute" | "limit" | "estimate");
        let Query(counting) = read(query, is_counting)?;
        let Query(filter) = read(query, |name| !is_counting(name))?;
        Ok(Self { counting, filter })
    }
}

/// A value of an attribute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CountedValue {
    /// The value.
    value: String,
    /// Number of tags that have it.
    count: u64,
}

/// Values of an attribute.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CountedValues {
    /// The most frequent values first; values of equal count in the order of their characters.
    items: Vec<CountedValue>,
    /// Whether the counts are estimates. Only present for estimates: those of `estimate=true`, and
    /// of an attribute with tens of thousands of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    counts_are_estimates: Option<bool>,
}

/// Count the values of an attribute
///
/// Counts the tags that match the filter. Tags without the attribute are not counted. There are no
/// further pages: tags with a rare value are found by a filter. Counts of more than 8,192 tags
/// without a filter may lack changes of the last 30 seconds.
#[utoipa::path(
    get, path = "/tags/values", tag = "tags", params(Counting, Filter, AttributeParams),
    responses((status = OK, body = CountedValues), Invalid, Common)
)]
pub(crate) async fn values(
    Asked(service): Asked,
    ValuesQuery { counting, filter }: ValuesQuery,
    Attributes(attributes): Attributes,
) -> Result<Json<CountedValues>, ApiError> {
    let filter = filter.with(attributes).check()?;
    let Counting {
        attribute,
        limit,
        estimate,
    } = counting;
    let storage = &service.storage;
    let counted = storage.attribute_values(filter, attribute, limit.items(), estimate);
    let counted = counted.await?;
    let items = counted.values.into_iter();
    Ok(Json(CountedValues {
        items: items
            .map(|(value, count)| CountedValue { value, count })
            .collect(),
        counts_are_estimates: (!counted.exact).then_some(true),
    }))
}
