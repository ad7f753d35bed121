//! Pages of a list. A page begins after the last item of the one before it, so
//! it costs the same wherever it is, and nothing is shown twice or left out
//! while others write.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// The items, in the list's order.
    pub(crate) items: Vec<T>,
    /// To be sent as `after` for the next page; `null` on the last one.
    pub(crate) next: Option<String>,
    /// How many items there are on all pages; only with `count=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub(crate) count: Option<u64>,
}

impl<T> Page<T> {
    /// A page of at most `limit` items. `items` has one more where the list
    /// goes on; `cursor` says where an item stands in it.
    pub(crate) fn new<C: Serialize>(
        mut items: Vec<T>,
        limit: Limit,
        cursor: impl FnOnce(&T) -> C,
    ) -> Self {
        let more = items.len() > limit.items();
        items.truncate(limit.items());
        let last = items.last().filter(|_| more);
        Self {
            next: last.map(|last| Cursor(cursor(last)).encode()),
            items,
            count: None,
        }
    }

    /// A page of all `items`, which goes on at `next`.
    pub(crate) fn up_to<C: Serialize>(items: Vec<T>, next: Option<C>) -> Self {
        Self {
            items,
            next: next.map(|next| Cursor(next).encode()),
            count: None,
        }
    }

    /// The page with `count`, where it was asked for.
    pub(crate) fn with_count(self, count: Option<u64>) -> Self {
        Self { count, ..self }
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

    /// How many to read: one more tells whether the list goes on.
    pub(crate) fn and_one_more(self) -> usize {
        self.items() + 1
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
/// on from there. A cursor of another list or order is refused where `C` differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor<C>(pub(crate) C);

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
