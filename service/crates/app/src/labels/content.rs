//! The content of labels: URLs and texts.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use url::Url;

use super::LabelError;
use crate::service::Service;
use domain::field_error::FieldError;
use domain::group::{Lineage, property_of};
use domain::id::TagId;
use domain::macros::{Encoding, Macro, Scope};
use domain::settings::Settings;
use domain::tag::{PropertyClass, Tag};
use label::{Design, Label, Ready};
use storage::{StorageError, TagKey};

/// The path of the service's own route for tags. It also answers in capitals, which a proxy with
/// another path may not.
const OWN_PATH: &str = "/t";

/// Makes the content of labels.
pub(super) struct Content {
    settings: Arc<Settings>,
    capitals: bool,
}

impl Content {
    pub(super) fn new(service: &Service, design: &Design) -> Result<Self, FieldError> {
        let settings = service.settings();
        let capitals = design.qr.capitals;
        let path = Url::parse(&settings.tag_url).map(|url| url.path().to_owned());
        if capitals && path.ok().as_deref() != Some(OWN_PATH) {
            let why = format!(
                "{} does not work in capitals: only an address that ends with {OWN_PATH} right after \
                 its host does. Leave capitals out.",
                settings.tag_url
            );
            return Err(FieldError::of("qr.capitals", why));
        }
        Ok(Self { settings, capitals })
    }

    /// The labels of these tags. Tags that were deleted meanwhile have none.
    pub(super) async fn labels(
        &self,
        service: &Service,
        tags: &[(TagId, u32)],
        ready: &Ready,
    ) -> Result<Vec<Label>, LabelError> {
        let numbers: HashMap<_, _> = tags.iter().copied().collect();
        let ids = tags.iter().map(|(id, _)| *id).collect();
        let mut labels = Vec::with_capacity(tags.len());
        let mut groups = HashMap::new();
        for tag in service.storage.tags_by_id(ids).await? {
            let slug = tag.fields.slug.as_str();
            let lineage = match tag.fields.group_id {
                Some(group) => match groups.entry(group) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(new) => new.insert(service.storage.lineage(group).await?),
                }
                .as_deref(),
                None => None,
            };
            let scope = LabelScope {
                tag: &tag,
                lineage,
                number: numbers.get(&tag.id).copied().unwrap_or_default(),
            };
            let texts = ready.texts.iter();
            let texts = texts.map(|text| text.render(&scope, Encoding::Text));
            labels.push(Label {
                slug: slug.to_owned(),
                texts: texts.collect(),
                url: self.url(service, tag.id, slug).await?,
            });
        }
        Ok(labels)
    }

    async fn url(&self, service: &Service, tag: TagId, slug: &str) -> Result<String, LabelError> {
        let url = self.settings.url_of(slug);
        if !self.capitals {
            return Ok(url);
        }
        let capitals = slug.to_ascii_uppercase();
        if capitals != slug && self.leads_to(service, &capitals).await? != Some(tag) {
            let why = format!(
                "The slug {slug} does not lead to its tag in capitals: another tag has it in other \
                 letters. Leave capitals out, or leave the tag out."
            );
            return Err(FieldError::of("qr.capitals", why).into());
        }
        Ok(url.to_ascii_uppercase())
    }

    /// The tag that a visitor of this slug gets.
    async fn leads_to(&self, service: &Service, slug: &str) -> Result<Option<TagId>, StorageError> {
        let found = service.tags.get(TagKey::Slug(slug)).await?;
        Ok(found.map(|tag| tag.id()))
    }
}

/// The values of macros on a label.
struct LabelScope<'a> {
    tag: &'a Tag,
    /// The tag's group, with the groups above.
    lineage: Option<&'a Lineage>,
    number: u32,
}

impl<'a> LabelScope<'a> {
    /// The tag's own value of a property, or else the nearest group's.
    fn property(&self, class: PropertyClass, key: &str) -> Option<Cow<'a, str>> {
        let own = self.tag.fields.properties(class);
        property_of(own, self.lineage, class, key).map(Cow::from)
    }
}

impl Scope for LabelScope<'_> {
    fn value(&self, name: &Macro) -> Option<Cow<'_, str>> {
        let fields = &self.tag.fields;
        let location = fields.location.as_ref();
        match name {
            Macro::TagId => Some(self.tag.id.to_string().into()),
            Macro::TagSlug => Some(fields.slug.as_str().into()),
            Macro::TagName => Some(fields.name.as_str().into()),
            Macro::TagTitle if fields.title.is_empty() => Some(self.lineage?.title()?.value.into()),
            Macro::TagTitle => Some(fields.title.as_str().into()),
            Macro::TagAttribute(key) => self.property(PropertyClass::Attribute, key),
            Macro::TagData(key) => self.property(PropertyClass::Data, key),
            Macro::TagVariable(key) => fields.variables.get(key).map(Cow::from),
            Macro::LocationLat => location.map(|location| location.lat.to_string().into()),
            Macro::LocationLon => location.map(|location| location.lon.to_string().into()),
            Macro::VenueName => location.map(|location| location.venue.name.as_str().into()),
            Macro::LabelNumber => Some(self.number.to_string().into()),
            // The others are about groups, or about a tap. Groups have no value of a macro about a
            // tap, and `check_of_label` refuses it.
            _ => self.lineage?.value(name).map(Cow::from),
        }
    }
}
