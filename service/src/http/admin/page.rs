//! Pages of a list. A page begins after the last item of the one before it, so
//! it costs the same wherever it is, and nothing is shown twice or left out
//! while others write.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::query::{Query, read};
use crate::http::error::ApiError;
use crate::storage::{Estimate, StorageError};

/// The query of a list: which page of it, and `F`, its filters, which are read as
/// [`Query`] reads them. `C` is what the order of the list needs to go on.
pub(crate) struct List<C, F = Everything> {
    pub(crate) filter: F,
    pub(crate) limit: Limit,
    /// Behind what the page begins.
    pub(crate) after: Option<C>,
}

/// The parameters of [`List`].
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "its shape is what counts")]
pub(crate) struct PageParams {
    /// The largest number of items on a page.
    #[param(inline, required = false)]
    limit: Limit,
    /// The `next` of the page before.
    after: Option<String>,
}

/// No filters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Everything {}

/// No filters, and a list that can be counted.
#[derive(Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Counted {
    /// Whether to count what is on all pages.
    pub(crate) count: bool,
}

/// What [`List`] reads of a query. The other parameters are the filters'.
#[derive(Deserialize)]
#[serde(bound(deserialize = "C: DeserializeOwned"))]
struct Place<C> {
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
        let is_place = |name: &str| matches!(name, "limit" | "after");
        let Query(Place { limit, after }) = read::<Place<C>>(query, is_place)?;
        let Query(filter) = read(query, |name| !is_place(name))?;
        let after = after.map(|Cursor(after)| after);
        Ok(Self {
            filter,
            limit,
            after,
        })
    }
}

impl<C: Serialize, F> List<C, F> {
    /// How many items to read: one more than the page has tells whether the list goes on.
    pub(crate) fn and_one_more(&self) -> usize {
        self.limit.items() + 1
    }

    /// The page that begins with `items`; `cursor` says where an item stands in the list.
    pub(crate) fn page<T>(&self, items: Vec<T>, cursor: impl FnOnce(&T) -> C) -> Page<T> {
        Page::new(items, self.limit, cursor)
    }
}

/// The total count, if it is `wanted`.
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
    /// Send it as `after` to get the next page; `null` on the last one.
    pub(crate) next: Option<String>,
    /// How many items there are on all pages; only with `count=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) count: Option<u64>,
    /// Whether `count` is an estimate; only if it is one, and only with `estimate=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) count_is_estimate: Option<bool>,
}

impl<T> Page<T> {
    /// A page of at most `limit` items. `items` has one more if the list
    /// goes on; `cursor` says where an item stands in it.
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

    /// A page of all `items`, which goes on at `next`.
    pub(crate) fn up_to<C: Serialize>(items: Vec<T>, next: Option<C>) -> Self {
        Self {
            items,
            next: next.map(|next| Cursor(next).encode()),
            count: None,
            count_is_estimate: None,
        }
    }

    /// The same page of what `shown` makes of each item.
    pub(crate) fn map<U>(self, shown: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(shown).collect(),
            next: self.next,
            count: self.count,
            count_is_estimate: self.count_is_estimate,
        }
    }

    /// The page with `count`, if it was asked for.
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

/// How many items a page has: 1 to 500, 50 by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(value_type = u16, minimum = 1, maximum = 500, default = 50)]
pub(crate) struct Limit(u16);

impl Limit {
    const MAX: u16 = 500;

    /// The number.
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

/// Where a page ends, as an opaque text: what the order of the list needs to go
/// on from there. A cursor of another list or order is refused if `C` differs.
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
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|_| serde::de::Error::custom("after is not a cursor of this list"))
    }
}
