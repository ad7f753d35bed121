//! The part of a bulk change that one command of the database makes.

use super::{BulkChange, Selection};
use domain::id::TagId;
use domain::tag::{AddVariables, PropertyKey};
use storage::{Access, FormVariables, StorageError, TagChange, TagSet};

/// Number of tags per database command. A tap that arrives meanwhile waits for at most one command:
/// a few milliseconds.
const AT_ONCE: usize = 200;
/// Number of properties per database command, for the same reason.
const PROPERTIES_AT_ONCE: usize = 1_000;

/// The same change for any tags.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// A change of the tags themselves.
    Change {
        to: TagChange,
        variables: FormVariables,
        /// Only tags are changed that are as this change makes them.
        from: Option<TagChange>,
    },
    /// A change of their properties.
    Set {
        to: TagSet,
        /// Only tags are changed that have all of these values.
        from: TagSet,
    },
}

/// A tag that changed.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) id: TagId,
    /// The change that undoes it.
    pub(super) back: Step,
    /// The variables of forms that the tag got.
    pub(super) added: Vec<PropertyKey>,
}

impl Step {
    /// How many tags one command changes.
    pub(super) fn at_once(&self) -> usize {
        match self {
            Self::Change { .. } => AT_ONCE,
            Self::Set { to, .. } => (PROPERTIES_AT_ONCE / to.properties().max(1)).clamp(1, AT_ONCE),
        }
    }

    /// Changes some tags, all or none.
    pub(super) async fn make(
        &self,
        storage: &Access,
        tags: &[TagId],
    ) -> Result<Vec<Changed>, StorageError> {
        let tags = tags.to_vec();
        match self {
            Self::Change {
                to,
                variables,
                from,
            } => {
                let changed = storage.change_tags_with(tags, *to, variables.clone(), *from);
                let changed = changed.await?.into_iter().map(|tag| {
                    let variables = if tag.added.is_empty() {
                        FormVariables::Leave
                    } else {
                        FormVariables::Remove(tag.added.clone())
                    };
                    Changed {
                        id: tag.id,
                        back: Self::Change {
                            to: tag.back,
                            variables,
                            from: Some(*to),
                        },
                        added: tag.added,
                    }
                });
                Ok(changed.collect())
            }
            Self::Set { to, from } => {
                let changed = storage.set_tags(tags, to.clone(), from.clone()).await?;
                let changed = changed.into_iter().map(|(id, back)| Changed {
                    id,
                    back: Self::Set {
                        from: to.within(&back),
                        to: back,
                    },
                    added: Vec::new(),
                });
                Ok(changed.collect())
            }
        }
    }

    /// How many bytes of values the change has.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Change { .. } => 0,
            Self::Set { to, from } => to.bytes() + from.bytes(),
        }
    }

    /// The request that makes this change to the selected tags.
    pub(super) fn request(&self, select: Selection) -> BulkChange {
        let (to, variables, from) = match self {
            Self::Change {
                to,
                variables,
                from,
            } => (*to, variables, *from),
            Self::Set { to, from } => {
                let (to, from) = (to.clone(), from.clone());
                return BulkChange::Set {
                    select,
                    attributes: to.attributes,
                    data: to.data,
                    has_qr_code: to.has_qr_code,
                    from_attributes: from.attributes,
                    from_data: from.data,
                    from_has_qr_code: from.has_qr_code,
                };
            }
        };
        let add_variables = AddVariables(*variables == FormVariables::Add);
        let remove_variables = match variables {
            FormVariables::Remove(keys) => keys.clone(),
            FormVariables::Add | FormVariables::Leave => Vec::new(),
        };
        match to {
            TagChange::Assign(experience_id) => BulkChange::Assign {
                select,
                experience_id,
                from_experience_id: match from {
                    Some(TagChange::Assign(id)) => Some(id),
                    _ => None,
                },
                add_variables,
                remove_variables,
            },
            TagChange::Group(group_id) => BulkChange::Group {
                select,
                group_id,
                from_group_id: match from {
                    Some(TagChange::Group(id)) => Some(id),
                    _ => None,
                },
                add_variables,
                remove_variables,
            },
            TagChange::Status(status) => BulkChange::Status {
                select,
                status,
                from_status: match from {
                    Some(TagChange::Status(status)) => Some(status),
                    _ => None,
                },
            },
            TagChange::Delete => BulkChange::Delete { select },
            TagChange::Restore => BulkChange::Restore { select },
        }
    }
}
