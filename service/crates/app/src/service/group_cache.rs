//! Keeps groups in memory, each with the groups above it. A tag in the cache names only its group,
//! so that a change of a group makes one entry invalid, not those of its tags.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::kept::Kept;
use domain::group::Lineage;
use domain::id::GroupId;
use domain::tag::Properties;
use storage::{Access, CachedPart, StorageError};

/// The average size of a group, in bytes, by which the cache estimates how many fit.
const GROUP: usize = 600;

/// The groups that taps asked for lately.
pub(super) struct GroupCache {
    storage: Access,
    groups: Cache<GroupId, Kept<Lineage>, Bytes>,
}

#[derive(Clone)]
struct Bytes;

/// A group weighs its own texts. The groups above it are shared, and have entries of their own.
impl Weighter<GroupId, Kept<Lineage>> for Bytes {
    fn weight(&self, _: &GroupId, kept: &Kept<Lineage>) -> u64 {
        let group = &kept.value.fields;
        let properties = |properties: &Properties| -> usize {
            let entries = properties.0.iter();
            entries
                .map(|(key, value)| 64 + key.as_str().len() + value.len())
                .sum()
        };
        let texts = group.name.len() + group.title.len() + group.description.len();
        let maps = [&group.attributes, &group.data, &group.variables].map(properties);
        (size_of::<Lineage>() + texts + maps.iter().sum::<usize>()) as u64
    }
}

impl GroupCache {
    /// An empty cache that will hold at most `budget` bytes.
    pub(super) fn new(storage: Access, budget: usize) -> Self {
        Self {
            storage,
            groups: Cache::with_weighter(budget / GROUP, budget as u64, Bytes),
        }
    }

    /// The group with the groups above it, as they are now. `None` without a group.
    pub(super) async fn lineage(
        &self,
        group: Option<GroupId>,
    ) -> Result<Option<Arc<Lineage>>, StorageError> {
        let Some(id) = group else {
            return Ok(None);
        };
        if let Some(lineage) = self.at_hand(id) {
            return Ok(Some(lineage));
        }
        // Boxed, so that the futures of taps whose group is in memory stay small.
        Box::pin(self.load(id)).await
    }

    /// Reads a group from the database into the cache, with the groups above it.
    async fn load(&self, id: GroupId) -> Result<Option<Arc<Lineage>>, StorageError> {
        // The epoch is read first, so that a later change makes the entries invalid.
        let epoch = self.storage.configuration_epoch();
        let Some(read) = self.storage.lineage(id).await? else {
            return Ok(None);
        };
        let Some(epoch) = epoch else {
            return Ok(Some(read));
        };
        let mut chain: Vec<_> = read.groups().collect();
        let mut above = None;
        while let Some(group) = chain.pop() {
            // Groups of one product share it in memory.
            if let Some(lineage) = self.at_hand(group.id) {
                above = Some(lineage);
                continue;
            }
            let value = Arc::new(Lineage {
                id: group.id,
                fields: group.fields.clone(),
                above,
            });
            above = Some(Arc::clone(&value));
            self.groups.insert(group.id, Kept { epoch, value });
        }
        Ok(above)
    }

    /// The cached group, if neither it nor a group above it has changed since.
    fn at_hand(&self, id: GroupId) -> Option<Arc<Lineage>> {
        let kept = self.groups.get(&id)?;
        let is_current = kept
            .value
            .groups()
            .all(|group| kept.is_current(&self.storage, CachedPart::Group(group.id)));
        is_current.then_some(kept.value)
    }
}
