//! A tag in the admin API.

use serde::Serialize;
use utoipa::ToSchema;

use crate::admin::extract::edited::Edited;
use domain::settings::Settings;
use domain::tag::Tag;

/// A tag with its URL.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Tag)]
pub(crate) struct TagView {
    /// The members of the tag.
    #[serde(flatten)]
    tag: Tag,
    /// The canonical URL of the tag: the tag URL of the settings, followed by the slug.
    #[schema(format = "uri")]
    url: String,
}

impl TagView {
    /// Shows a tag with the current settings.
    pub(super) fn new(tag: Tag, settings: &Settings) -> Self {
        let url = settings.url_of(tag.fields.slug.as_str());
        Self { tag, url }
    }

    /// The same for an editable tag. The URL is not part of the revision.
    pub(super) fn edited(tag: Tag, settings: &Settings) -> Edited<Self> {
        Edited::shown_as(tag, |tag| Self::new(tag, settings))
    }
}
