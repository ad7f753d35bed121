//! The tags that get labels, each with the number on its label.

use super::{LabelError, LabelSelect};
use crate::service::Service;
use domain::id::TagId;
use encoding::StateWord;
use storage::{Conflict, StorageError};

/// Tags and their numbers, in the order of the labels.
pub(super) struct Selected(Vec<(TagId, u32)>);

impl Selected {
    pub(super) async fn find(service: &Service, select: LabelSelect) -> Result<Self, LabelError> {
        let storage = &service.storage;
        match select {
            LabelSelect::Tags(select) => {
                let ids = storage.tag_ids(select).await?;
                Ok(Self(ids.into_iter().zip(1..).collect()))
            }
            LabelSelect::Run(id) => {
                let (noun, number) = ("encoding run", id.get());
                let missing = || StorageError::from(Conflict::Missing { noun, id: number });
                let rows = storage.encoding_run_rows(id).await?.ok_or_else(missing)?;
                let verified = rows
                    .into_iter()
                    .filter(|row| row.state == StateWord::Verified);
                let mut tags: Vec<_> = verified
                    .filter_map(|row| Some((row.tag_id?, row.position.unwrap_or(u32::MAX))))
                    .collect();
                tags.sort_by_key(|(tag, position)| (*position, *tag));
                tags.dedup();
                Ok(Self(tags))
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn chunks(&self, size: usize) -> impl Iterator<Item = &[(TagId, u32)]> {
        self.0.chunks(size)
    }

    /// Some of the tags, from this one on.
    pub(super) fn piece(&self, from: usize, size: usize) -> &[(TagId, u32)] {
        let end = self.0.len().min(from + size);
        self.0.get(from..end).unwrap_or_default()
    }
}
