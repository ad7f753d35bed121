//! `/admin/v1/experiences`.

mod create;
mod delete;
mod difference;
mod file;
mod get;
mod images;
mod list;
mod missing_variables;
mod preview;
mod publish;
mod rollback;
mod templates;
mod update;
mod versions;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub(super) use create::*;
pub(super) use delete::*;
pub(super) use difference::*;
pub(super) use file::*;
pub(super) use get::*;
pub(super) use images::*;
pub(super) use list::*;
pub(super) use missing_variables::*;
pub(super) use preview::*;
pub(super) use publish::*;
pub(super) use rollback::*;
pub(super) use templates::*;
pub(super) use update::*;
pub(super) use versions::*;

use super::edited::Edited;
use crate::experience::{
    Block, ContentFields, Experience, ExperienceFields, ExperienceKind, Rule, Theme,
};
use crate::field_error::FieldError;
use crate::id::ExperienceId;
use crate::object;
use crate::service::Service;
use crate::storage::StorageError;

/// The writable members of an experience.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExperienceMembers {
    /// Its name. Need not be unique.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// It cannot change.
    kind: ExperienceKind,
    /// Of a redirect: an `http` or `https` URL; macros can follow its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        max_length = 4096,
        example = "https://example.com/?sn={{tag:attribute:sku}}"
    )]
    target_url: Option<String>,
    /// Of a redirect: other targets under conditions. The first rule whose conditions are all met
    /// decides; if there is none, `target_url` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Vec<Rule>, required = false, max_items = 50)]
    rules: Option<Vec<Value>>,
    /// Of a studio experience: the blocks of its page, from top to bottom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Block>>, required = false, max_items = 200)]
    blocks: Option<Vec<Value>>,
    /// Of a studio experience: how its page looks.
    #[serde(
        default,
        deserialize_with = "object::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(nullable = false)]
    theme: Option<Theme>,
}

/// An experience as it is now.
async fn current(
    service: &Service,
    id: ExperienceId,
) -> Result<Option<Edited<Experience>>, StorageError> {
    Ok(service.storage.experience(id).await?.map(Edited::from))
}

impl ExperienceMembers {
    /// Their checked values.
    fn check(self) -> Result<ExperienceFields, FieldError> {
        let content = ContentFields {
            kind: self.kind,
            target_url: self.target_url,
            rules: self.rules,
            blocks: self.blocks,
            theme: self.theme,
        };
        let fields = ExperienceFields {
            name: self.name,
            content: content.try_into()?,
        };
        fields.validate()?;
        Ok(fields)
    }

    /// How they would be sent to say `fields`.
    fn saying(fields: ExperienceFields) -> Result<Self, FieldError> {
        let ExperienceFields { name, content } = fields;
        let kind = content.kind();
        let ContentFields {
            target_url,
            rules,
            blocks,
            theme,
            ..
        } = serde_json::from_str(&content.to_json())
            .map_err(|error| FieldError::whole(error.to_string()))?;
        Ok(Self {
            name,
            kind,
            target_url,
            rules,
            blocks,
            theme,
        })
    }
}
