//! Pages of a list. A page begins after the last item of the previous page. So every page costs the
//! same, and concurrent writes neither repeat nor hide items.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::query::{Query, read};
use crate::error::ApiError;
use storage::{Estimate, StorageError};

/// The query of a list: the page, and the filters `F`, which are parsed like [`Query`]. `C` is the
/// cursor in the order of the list.
pub(crate) struct List<C, F = Everything> {
    pub(crate) filter: F,
    pub(crate) limit: Limit,
    /// The position after which the page begins.
    pub(crate) after: Option<C>,
}

/// The parameters of [`List`].
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "its shape is what counts")]
pub(crate) struct PageParams {
    /// Maximum number of items on a page.
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the previous page.
    after: Option<String>,
}

/// A list without filters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Everything {}

/// A list without filters that can be counted.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Counted {
    /// Whether to count the items of all pages.
    pub(crate) count: bool,
}

/// The parameters that [`List`] reads itself. All others are filters.
#[derive(Deserialize)]
#[serde(bound(deserialize = "C: DeserializeOwned"))]
struct Paging<C> {
    #[serde(default)]
    limit: Limit,
    after: Option<Cursor<C>>,
}

impl<C, F, S> FromRequestParts<S> for List<C, F>
where
    C: DeserializeOwned,
    F: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        let is_paging = |name: &str| matches!(name, "limit" | "after");
        let Query(Paging { limit, after }) = read::<Paging<C>>(query, is_paging)?;
        let Query(filter) = read(query, |name| !is_paging(name))?;
        let after = after.map(|Cursor(after)| after);
        Ok(Self {
            filter,
            limit,
            after,
        })
    }
}

impl<C: Serialize, F> List<C, F> {
    /// Number of items to read: one more than the page has, to find out whether there is a next
    /// page.
    pub(crate) fn and_one_more(&self) -> usize {
        self.limit.items() + 1
    }

    /// A page of `items`. `cursor` returns the position of an item in the list.
    pub(crate) fn page<T>(&self, items: Vec<T>, cursor: impl FnOnce(&T) -> C) -> Page<T> {
        Page::new(items, self.limit, cursor)
    }
}

/// The total count, if `wanted`.
pub(crate) async fn counted(
    wanted: bool,
    count: impl Future<Output = Result<u64, StorageError>>,
) -> Result<Option<u64>, StorageError> {
    Ok(if wanted { Some(count.await?) } else { None })
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// The items, in the list's order.
    pub(crate) items: Vec<T>,
    /// Cursor of the next page: send it as `after`. `null` on the last page.
    pub(crate) next: Option<String>,
    /// Number of items on all pages; only with `count=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) count: Option<u64>,
    /// Whether `count` is an estimate. Only present for an estimate, which requires
    /// `estimate=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) count_is_estimate: Option<bool>,
}

impl<T> Page<T> {
    /// A page of at most `limit` items. `items` has one more item if there is a next page. `cursor`
    /// returns the position of an item in the list.
    fn new<C: Serialize>(mut items: Vec<T>, limit: Limit, cursor: impl FnOnce(&T) -> C) -> Self {
        let more = items.len() > limit.items();
        items.truncate(limit.items());
        let last = items.last().filter(|_| more);
        Self {
            next: last.map(|last| Cursor(cursor(last)).encode()),
            items,
            count: None,
            count_is_estimate: None,
        }
    }

    /// A page of all `items`. The next page begins at `next`.
    pub(crate) fn up_to<C: Serialize>(items: Vec<T>, next: Option<C>) -> Self {
        Self {
            items,
            next: next.map(|next| Cursor(next).encode()),
            count: None,
            count_is_estimate: None,
        }
    }

    /// The same page, with each item converted by `shown`.
    pub(crate) fn map<U>(self, shown: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(shown).collect(),
            next: self.next,
            count: self.count,
            count_is_estimate: self.count_is_estimate,
        }
    }

    /// The page with `count`, if it was requested.
    pub(crate) fn with_count(self, count: Option<u64>) -> Self {
        Self { count, ..self }
    }

    /// The page with a count that may be an estimate.
    pub(crate) fn with_estimate(self, count: Estimate) -> Self {
        Self {
            count: Some(count.tags),
            count_is_estimate: (!count.exact).then_some(true),
            ..self
        }
    }
}

/// Number of items on a page: 1 to 500, by default 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = u16, minimum = 1, maximum = 500, default = 50)]
pub(crate) struct Limit(u16);

impl Limit {
    const MAX: u16 = 500;

    /// The limit as a number of items.
    pub(crate) fn items(self) -> usize {
        usize::from(self.0)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(50)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = u16::deserialize(deserializer)?;
        if (1..=Self::MAX).contains(&limit) {
            Ok(Self(limit))
        } else {
            Err(serde::de::Error::custom("limit is 1 to 500"))
        }
    }
}

/// The end of a page, as an opaque text. It contains the position in the order of the list. A
/// cursor of another list or order is refused if `C` differs.
struct Cursor<C>(C);

impl<C: Serialize> Cursor<C> {
    fn encode(&self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&self.0).unwrap_or_default())
    }
}

impl<'de, C: DeserializeOwned> Deserialize<'de> for Cursor<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        let place = serde_json::from_slice::<Value>(&bytes).ok();
        // No text of ours has a NUL character, and PostgreSQL takes none.
        let place = place.filter(|place| !has_nul(place));
        let place = place.and_then(|place| serde_json::from_value(place).ok());
        place
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("after is not a cursor of this list"))
    }
}

/// Whether a text in `value` has a NUL character.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(members) => members.values().any(has_nul),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_cursor_of_another_shape_or_with_a_nul_character_is_refused() {
        let read = |place: &Value| {
            let text = json!(Cursor(place).encode());
            serde_json::from_value::<Cursor<(String, i64)>>(text).map(|Cursor(place)| place)
        };
        assert_eq!(read(&json!(["\\u0000", 7])).unwrap().0, "\\u0000");
        for other in [json!(["a\0b", 7]), json!(["a"]), json!(7), json!(null)] {
            assert!(read(&other).is_err(), "{other}");
        }
        assert!(serde_json::from_value::<Cursor<i64>>(json!("%")).is_err());
    }
}
