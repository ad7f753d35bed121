//! The keys and values of attributes, counted for filters and choices.

use super::kept::Facet;
use super::{keys, values};
use crate::{Access, KeyCounts, StorageError, TagFilter, ValueCounts};
use domain::tag::PropertyKey;

/// The operations that count attributes.
impl Access {
    /// The most frequent values of an attribute in the tags that match `filter`, at most `limit`.
    /// With `estimate`, counting ends after [`COUNTING`](crate::COUNTING), and the tags that it had
    /// no time for are estimated. Without a filter, changes of the last 30 seconds may be missing if
    /// there are many tags.
    pub async fn attribute_values(
        &self,
        filter: TagFilter,
        key: PropertyKey,
        limit: usize,
        estimate: bool,
    ) -> Result<ValueCounts, StorageError> {
        let facet = Facet::Values(key.clone());
        if let Some(kept) = self.kept_counts(&filter, facet, estimate).await? {
            let values = kept.items.iter().take(limit).cloned();
            return Ok(ValueCounts {
                values: values.collect(),
                exact: kept.exact,
            });
        }
        self.count_values(filter, key, limit, estimate).await
    }

    /// Like [`Self::attribute_values`], always of this moment.
    pub(super) async fn count_values(
        &self,
        filter: TagFilter,
        key: PropertyKey,
        limit: usize,
        estimate: bool,
    ) -> Result<ValueCounts, StorageError> {
        self.settle_for(&filter).await;
        let arguments = (filter, key, limit, estimate);
        self.read_snapshot("attribute_values", arguments, |db, arguments| {
            let (filter, key, limit, estimate) = arguments;
            Box::pin(values::counts(db, filter, key, *limit, *estimate))
        })
        .await
    }

    /// The most frequent keys of attributes in the tags that match `filter`, at most `limit`; with
    /// `estimate`, and as old, as [`Self::attribute_values`].
    pub async fn attribute_keys(
        &self,
        filter: TagFilter,
        limit: usize,
        estimate: bool,
    ) -> Result<KeyCounts, StorageError> {
        if let Some(kept) = self.kept_counts(&filter, Facet::Keys, estimate).await? {
            let keys = kept.items.iter().take(limit);
            let keys =
                keys.filter_map(|(key, count)| Some((PropertyKey::parse(key).ok()?, *count)));
            return Ok(KeyCounts {
                keys: keys.collect(),
                exact: kept.exact,
            });
        }
        self.count_keys(filter, limit, estimate).await
    }

    /// Like [`Self::attribute_keys`], always of this moment.
    pub(super) async fn count_keys(
        &self,
        filter: TagFilter,
        limit: usize,
        estimate: bool,
    ) -> Result<KeyCounts, StorageError> {
        self.settle_for(&filter).await;
        let arguments = (filter, limit, estimate);
        self.read_snapshot("attribute_keys", arguments, |db, arguments| {
            let (filter, limit, estimate) = arguments;
            Box::pin(keys::counts(db, filter, *limit, *estimate))
        })
        .await
    }
}
