//! `/admin/v1/experiences`: the pages and redirects that tags lead to.

mod countries;
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

use axum::http::HeaderMap;
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

use super::extract::edited::Edited;
use super::warning;
use crate::state::AppState;
use app::service::Service;
use domain::experience::{
    Block, Content, ContentFields, Experience, ExperienceFields, ExperienceKind, Rule, Theme,
};
use domain::field_error::FieldError;
use domain::id::ExperienceId;
use domain::strict_json;
use storage::StorageError;

/// The writable members of an experience.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExperienceMembers {
    /// Name of the experience. Need not be unique.
    #[schema(min_length = 1, max_length = 200)]
    name: String,
    /// The kind: redirect or studio. It cannot change.
    kind: ExperienceKind,
    /// For a redirect: an `http` or `https` URL; macros can follow its host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(
        max_length = 4096,
        example = "https://example.com/?sn={{tag:attribute:sku}}"
    )]
    target_url: Option<String>,
    /// For a redirect: alternative targets with conditions. The first rule whose conditions are all
    /// met decides. If no rule matches, `target_url` does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Vec<Rule>, required = false, max_items = 50)]
    rules: Option<Vec<Value>>,
    /// For a redirect: whether the other parameters of the visitor's URL are appended to the
    /// target, without those of the code and the key. A parameter that the target has itself stays
    /// as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pass_query: Option<bool>,
    /// For a studio experience: the blocks of its page, from top to bottom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Block>>, required = false, max_items = 200)]
    blocks: Option<Vec<Value>>,
    /// For a studio experience: the design of its page.
    #[serde(
        default,
        deserialize_with = "strict_json::option",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(nullable = false)]
    theme: Option<Theme>,
}

/// A saved experience as an answer, with warnings about its draft.
fn saved(state: &AppState, experience: Experience) -> (HeaderMap, Edited<Experience>) {
    let warning = countries::warning(state, &experience.content);
    (warning::headers(warning), experience.into())
}

/// The current state of an experience.
async fn current(
    service: &Service,
    id: ExperienceId,
) -> Result<Option<Edited<Experience>>, StorageError> {
    Ok(service.storage.experience(id).await?.map(Edited::from))
}

impl ExperienceMembers {
    /// Checks the members. `before` is the content that they replace, if any. Values that are
    /// already stored stay valid, even with macros that can have no value.
    fn check(self, before: Option<&Content>) -> Result<ExperienceFields, FieldError> {
        let fields = ContentFields {
            kind: self.kind,
            target_url: self.target_url,
            rules: self.rules,
            pass_query: self.pass_query,
            blocks: self.blocks,
            theme: self.theme,
        };
        let unchanged = before.filter(|before| {
            Content::try_from(fields.clone()).is_ok_and(|content| content == **before)
        });
        let content = match unchanged {
            Some(content) => content.clone(),
            None => Content::to_save(fields)?,
        };
        Ok(ExperienceFields::named(self.name, content)?)
    }

    /// The members that a client would send to get `fields`.
    fn saying(fields: ExperienceFields) -> Result<Self, FieldError> {
        let ExperienceFields { name, content } = fields;
        let kind = content.kind();
        let ContentFields {
            target_url,
            rules,
            pass_query,
            blocks,
            theme,
            ..
        } = serde_json::from_str(&content.to_json())
            .map_err(|error| FieldError::whole(error.to_string()))?;
        Ok(Self {
            name: name.into(),
            kind,
            target_url,
            rules,
            pass_query,
            blocks,
            theme,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_macro_that_was_stored_before_it_was_refused_stays_until_the_content_changes() {
        let stored =
            r#"{"kind": "redirect", "target_url": "https://owner.example/?a={{tag:titel}}"}"#;
        let stored = Content::from_json(stored).unwrap();
        let fields = ExperienceFields::named("Before", stored.clone()).unwrap();
        let mut members = ExperienceMembers::saying(fields).unwrap();
        members.name = "After".to_owned();
        let saved = members.clone().check(Some(&stored)).unwrap();
        assert_eq!((&*saved.name, &saved.content), ("After", &stored));
        let rule = json!({"when": [{"type": "scan_count", "at_least": 2}], "target_url": "https://owner.example/"});
        members.rules = Some(vec![rule]);
        let refused = members.check(Some(&stored)).unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("target_url"));
    }
}
