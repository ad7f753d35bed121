//! The values of a tag as visitors get them, each with the group that gives it.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Inherited, Lineage, Recall};
use crate::id::{ExperienceId, GroupId};
use crate::tag::{DEFAULT_LANGUAGE, Properties, PropertyClass, PropertyKey, TagFields};

/// A value, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct EffectiveValue<T> {
    /// The value that visitors get.
    pub value: T,
    /// The group that gives it; null for the tag's own value, and for a default.
    pub group_id: Option<GroupId>,
}

/// The values of a tag as visitors get them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Effective {
    /// The experience; while the tag is recalled, taps get that of `recall` instead.
    pub experience_id: EffectiveValue<Option<ExperienceId>>,
    /// The name for visitors; empty if neither the tag nor a group has one.
    pub title: EffectiveValue<String>,
    /// The sentence for visitors.
    pub description: EffectiveValue<String>,
    /// The locale of the texts.
    pub language_code: EffectiveValue<String>,
    /// The attributes, by key.
    pub attributes: BTreeMap<PropertyKey, EffectiveValue<String>>,
    /// The data, by key.
    pub data: BTreeMap<PropertyKey, EffectiveValue<String>>,
    /// The recall; null if no group above the tag is recalled.
    pub recall: Option<Recall>,
}

impl<T> EffectiveValue<T> {
    fn own(value: T) -> Self {
        Self {
            value,
            group_id: None,
        }
    }
}

impl Effective {
    /// The values of a tag in the group `lineage`.
    pub fn of(tag: &TagFields, lineage: Option<&Lineage>) -> Self {
        let text = |own: &str, inherited: Option<Inherited<&str>>, default: &str| match inherited {
            Some(Inherited { group_id, value }) if own.is_empty() => EffectiveValue {
                value: value.to_owned(),
                group_id: Some(group_id),
            },
            _ if own.is_empty() => EffectiveValue::own(default.to_owned()),
            _ => EffectiveValue::own(own.to_owned()),
        };
        let experience = match (tag.experience_id, lineage.and_then(Lineage::experience_id)) {
            (None, Some(inherited)) => EffectiveValue {
                value: Some(inherited.value),
                group_id: Some(inherited.group_id),
            },
            (own, _) => EffectiveValue::own(own),
        };
        let properties = |class, own: &Properties| {
            let inherited = lineage
                .into_iter()
                .flat_map(|lineage| lineage.properties(class));
            let mut values: BTreeMap<_, _> = inherited
                .map(|(key, Inherited { group_id, value })| {
                    let value = EffectiveValue {
                        value: value.to_owned(),
                        group_id: Some(group_id),
                    };
                    (key.clone(), value)
                })
                .collect();
            let own = own.0.iter();
            values
                .extend(own.map(|(key, value)| (key.clone(), EffectiveValue::own(value.clone()))));
            values
        };
        Self {
            experience_id: experience,
            title: text(&tag.title, lineage.and_then(Lineage::title), ""),
            description: text(&tag.description, lineage.and_then(Lineage::description), ""),
            language_code: text(
                &tag.language_code,
                lineage.and_then(Lineage::language_code),
                DEFAULT_LANGUAGE,
            ),
            attributes: properties(PropertyClass::Attribute, &tag.attributes),
            data: properties(PropertyClass::Data, &tag.data),
            recall: lineage.and_then(Lineage::recall),
        }
    }
}
