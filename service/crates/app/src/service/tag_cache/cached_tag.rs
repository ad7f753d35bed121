//! The values of a cached tag: its own, those of its group, or those of a preview.

use std::sync::Arc;

use super::CachedTag;
use domain::experience::{Content, PublishedExperience};
use domain::group::{Inherited, Lineage, led_to};
use domain::id::GroupId;
use domain::scope::Reach;
use domain::tag::{DEFAULT_LANGUAGE, Slug, Tag};

impl CachedTag {
    /// Its own slugs, present or former, that the text which named it can stand for. The most
    /// likely one comes first; the others differ from it only in case.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        let named_by = self.named_by.as_deref().unwrap_or_default();
        let present = self.named_by.is_none().then(|| self.tag.slugs());
        let named_by = named_by.iter().map(Slug::as_str);
        named_by.chain(present.into_iter().flatten())
    }

    /// The tag with the properties and counts of `tag`, for a preview.
    pub(crate) fn showing(self, tag: Tag) -> Self {
        Self {
            previewed: Some(Arc::new(tag)),
            ..self
        }
    }

    /// The tag as if it were in this group, for a preview. Its experience stays.
    pub(crate) fn in_group(self, lineage: Option<Arc<Lineage>>) -> Self {
        Self { lineage, ..self }
    }

    /// The id of the tag in texts; 0 for a sample, which has none.
    pub(crate) fn shown_id(&self) -> i64 {
        if self.is_sample { 0 } else { self.id().get() }
    }

    /// The tag of a preview, whose properties and counts replace the stored ones.
    pub(crate) fn previewed(&self) -> Option<&Tag> {
        self.previewed.as_deref()
    }

    /// Its group, with the groups above.
    pub(crate) fn lineage(&self) -> Option<&Lineage> {
        self.lineage.as_deref()
    }

    /// Whether a group above it is recalled.
    pub fn is_recalled(&self) -> bool {
        self.recalled_by().is_some()
    }

    /// The recalled group that decides the page of its taps, if a group above it is recalled.
    pub(crate) fn recalled_by(&self) -> Option<GroupId> {
        let recall = self.lineage().and_then(Lineage::recall)?;
        Some(recall.group_id)
    }

    /// Whether it is within reach, by the experience that it leads to or by its group.
    pub(crate) fn is_within(&self, reach: &Reach) -> bool {
        let Some(groups) = reach.groups() else {
            return reach.has(led_to(self.tag.own_experience_id(), self.lineage()));
        };
        let mut chain = self.lineage().into_iter().flat_map(Lineage::groups);
        chain.any(|group| groups.contains(&group.id))
    }

    /// Its name for visitors, or its group's; empty if none of them has one.
    pub fn title(&self) -> &str {
        self.own_or(self.tag.own_title(), Lineage::title)
    }

    /// A sentence for visitors; its own, or its group's.
    pub fn description(&self) -> &str {
        self.own_or(self.tag.own_description(), Lineage::description)
    }

    /// The locale of its texts, as in `en_US`; its own, its group's, or the default.
    pub(crate) fn language_code(&self) -> &str {
        match self.own_or(self.tag.own_language_code(), Lineage::language_code) {
            "" => DEFAULT_LANGUAGE,
            code => code,
        }
    }

    fn own_or<'s>(
        &'s self,
        own: &'s str,
        inherited: impl Fn(&'s Lineage) -> Option<Inherited<&'s str>>,
    ) -> &'s str {
        if !own.is_empty() {
            return own;
        }
        let inherited = self.lineage().and_then(inherited);
        inherited.map_or("", |inherited| inherited.value)
    }

    /// Its name for visitors: the title, or the name if there is none.
    pub fn shown_title(&self) -> &str {
        match self.title() {
            "" => self.name(),
            title => title,
        }
    }

    /// The language of its pages as HTML names it: `en-US`.
    pub fn language(&self) -> String {
        self.language_code().replace('_', "-")
    }

    /// The published version of the experience that taps get: that of a recall while the tag is
    /// recalled.
    pub fn experience(&self) -> Option<&PublishedExperience> {
        Option::as_ref(&self.experience)
    }

    /// The studio experience's id as the payload names it: empty for a redirect.
    pub(crate) fn studio_id(&self) -> String {
        match self.experience() {
            Some(PublishedExperience {
                version, content, ..
            }) if matches!(**content, Content::Studio { .. }) => version.experience_id.to_string(),
            _ => String::new(),
        }
    }
}
