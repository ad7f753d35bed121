//! A group with the groups above it, and the values that they give to the tags in it.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;

use super::{Code, GroupFields, GroupKind, GroupStatus, Gtin};
use crate::id::{ExperienceId, GroupId};
use crate::macros::Macro;
use crate::tag::{Properties, PropertyClass, PropertyKey};

/// A group with the groups above it. Many groups share the same groups above.
#[derive(Clone, Debug, PartialEq)]
pub struct Lineage {
    /// Identifier of the group.
    pub id: GroupId,
    /// The group's own values.
    pub fields: GroupFields,
    /// The group that holds it.
    pub above: Option<Arc<Self>>,
}

/// A value that a group gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inherited<T> {
    /// The group that gives it.
    pub group_id: GroupId,
    /// The value that it gives.
    pub value: T,
}

/// The recall of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = EffectiveRecall)]
pub struct Recall {
    /// The recalled group that decides the page.
    pub group_id: GroupId,
    /// The experience that taps get; null for a plain page.
    pub experience_id: Option<ExperienceId>,
}

/// The experience of a tag: its `own`, or else that of the nearest group that has one. A recall is
/// not considered.
pub fn led_to(own: Option<ExperienceId>, lineage: Option<&Lineage>) -> Option<ExperienceId> {
    let inherited = || Some(lineage?.experience_id()?.value);
    own.or_else(inherited)
}

/// A property of a tag with the properties `own` of this class: its own value, or else that of the
/// nearest group that has the key. Variables are not inherited.
pub fn property_of<'a>(
    own: &'a Properties,
    lineage: Option<&'a Lineage>,
    class: PropertyClass,
    key: &str,
) -> Option<&'a str> {
    let inherited = || Some(lineage?.property(class, key)?.value);
    own.get(key).or_else(inherited)
}

impl Lineage {
    /// The group with the groups above it, nearest first.
    pub fn groups(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |group| group.above.as_deref())
    }

    /// The nearest group's value.
    fn nearest<'a, T>(
        &'a self,
        value: impl Fn(&'a GroupFields) -> Option<T>,
    ) -> Option<Inherited<T>> {
        self.groups().find_map(|group| {
            let value = value(&group.fields)?;
            Some(Inherited {
                group_id: group.id,
                value,
            })
        })
    }

    /// The experience of tags without one.
    pub fn experience_id(&self) -> Option<Inherited<ExperienceId>> {
        self.nearest(|group| group.experience_id)
    }

    /// The title of tags without one.
    pub fn title(&self) -> Option<Inherited<&str>> {
        self.nearest(|group| text(&group.title))
    }

    /// The description of tags without one.
    pub fn description(&self) -> Option<Inherited<&str>> {
        self.nearest(|group| text(&group.description))
    }

    /// The locale of tags without one.
    pub fn language_code(&self) -> Option<Inherited<&str>> {
        self.nearest(|group| group.language_code.as_deref())
    }

    /// The property of tags that do not have the key. Variables are not inherited.
    pub fn property(&self, class: PropertyClass, key: &str) -> Option<Inherited<&str>> {
        self.nearest(|group| inheritable(group, class)?.get(key))
    }

    /// All properties of a class that the groups give, each from the nearest group that has its
    /// key.
    pub fn properties(
        &self,
        class: PropertyClass,
    ) -> impl Iterator<Item = (&PropertyKey, Inherited<&str>)> {
        self.groups().flat_map(move |group| {
            let properties = inheritable(&group.fields, class).into_iter();
            let properties = properties.flat_map(|properties| &properties.0);
            properties.filter_map(move |(key, value)| {
                let nearest = self.property(class, key.as_str())?;
                let value = value.as_str();
                (nearest.group_id == group.id).then_some((key, Inherited { value, ..nearest }))
            })
        })
    }

    /// The variables that a tag gets when it is created in the group. The nearest group that has a
    /// key gives its value.
    pub fn variables(&self) -> Properties {
        let mut variables = Properties::default();
        for group in self.groups() {
            for (key, value) in &group.fields.variables.0 {
                let variable = variables.0.entry(key.clone());
                variable.or_insert_with(|| value.clone());
            }
        }
        variables
    }

    /// The recall of the tags in the group, if one of the groups is recalled. The nearest recalled
    /// group with an experience for recalls decides the page, or else the nearest recalled one.
    pub fn recall(&self) -> Option<Recall> {
        let recalled = |group: &&Self| group.fields.status == GroupStatus::Recalled;
        let with_page = self.groups().filter(recalled).find_map(|group| {
            Some(Recall {
                group_id: group.id,
                experience_id: Some(group.fields.recall_experience_id?),
            })
        });
        with_page.or_else(|| {
            let nearest = self.groups().find(recalled)?;
            Some(Recall {
                group_id: nearest.id,
                experience_id: None,
            })
        })
    }

    /// The value of a macro about the groups of a tag.
    pub fn value(&self, name: &Macro) -> Option<&str> {
        let of = |kind| self.of_kind(kind);
        match name {
            Macro::GroupName => Some(&self.fields.name),
            Macro::ProductName => Some(&of(GroupKind::Product)?.name),
            Macro::ProductCode => of(GroupKind::Product)?.code.as_ref().map(Code::as_str),
            Macro::ProductGtin => of(GroupKind::Product)?.gtin.as_ref().map(Gtin::as_str),
            Macro::BatchName => Some(&of(GroupKind::Batch)?.name),
            Macro::BatchCode => of(GroupKind::Batch)?.code.as_ref().map(Code::as_str),
            _ => None,
        }
    }

    /// The nearest group of this kind.
    fn of_kind(&self, kind: GroupKind) -> Option<&GroupFields> {
        let found = self.groups().find(|group| group.fields.kind == kind);
        found.map(|group| &group.fields)
    }
}

/// A text that is a value.
fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// The properties of a class that tags inherit from a group.
fn inheritable(group: &GroupFields, class: PropertyClass) -> Option<&Properties> {
    match class {
        PropertyClass::Attribute => Some(&group.attributes),
        PropertyClass::Data => Some(&group.data),
        PropertyClass::Variable => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(pairs: &[(&str, &str)]) -> Properties {
        let pairs = pairs.iter();
        Properties(
            pairs
                .map(|(key, value)| (PropertyKey::parse(key).unwrap(), (*value).to_owned()))
                .collect(),
        )
    }

    fn group(id: i64, above: Option<Lineage>, set: impl FnOnce(&mut GroupFields)) -> Lineage {
        let mut fields = GroupFields::named(GroupKind::Folder, format!("Group {id}"));
        set(&mut fields);
        Lineage {
            id: GroupId::new(id),
            fields,
            above: above.map(Arc::new),
        }
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "it is compared with values that may be absent"
    )]
    fn inherited<T>(group: i64, value: T) -> Option<Inherited<T>> {
        Some(Inherited {
            group_id: GroupId::new(group),
            value,
        })
    }

    #[test]
    fn the_nearest_group_with_a_value_gives_it() {
        let top = group(1, None, |top| {
            top.title = "Top".to_owned();
            top.description = "Above".to_owned();
            top.attributes = properties(&[("a", "1"), ("b", "2")]);
            top.variables = properties(&[("v", "top"), ("w", "top")]);
        });
        let below = group(2, Some(top), |below| {
            below.title = "Below".to_owned();
            below.experience_id = Some(ExperienceId::new(7));
            below.attributes = properties(&[("b", ""), ("c", "3")]);
            below.variables = properties(&[("v", "below")]);
        });
        assert_eq!(below.title(), inherited(2, "Below"));
        assert_eq!(below.description(), inherited(1, "Above"));
        assert_eq!(below.language_code(), None);
        assert_eq!(below.experience_id(), inherited(2, ExperienceId::new(7)));
        let class = PropertyClass::Attribute;
        assert_eq!(below.property(class, "a"), inherited(1, "1"));
        assert_eq!(
            below.property(class, "b"),
            inherited(2, ""),
            "an empty value is one"
        );
        let mut all: Vec<_> = below.properties(class).collect();
        all.sort_by_key(|(key, _)| *key);
        let all: Vec<_> = all
            .into_iter()
            .map(|(key, value)| (key.as_str(), value.value, value.group_id.get()))
            .collect();
        assert_eq!(all, [("a", "1", 1), ("b", "", 2), ("c", "3", 2)]);
        assert_eq!(below.properties(PropertyClass::Variable).count(), 0);
        let predefined = properties(&[("v", "below"), ("w", "top")]);
        assert_eq!(below.variables(), predefined);
    }

    #[test]
    fn a_recall_shows_the_page_of_the_nearest_recalled_group_that_has_one() {
        let recalled = |page: Option<i64>| {
            move |group: &mut GroupFields| {
                group.status = GroupStatus::Recalled;
                group.recall_experience_id = page.map(ExperienceId::new);
            }
        };
        let recall = |group: i64, page: Option<i64>| {
            Some(Recall {
                group_id: GroupId::new(group),
                experience_id: page.map(ExperienceId::new),
            })
        };
        assert_eq!(group(1, None, |_| ()).recall(), None);
        let with_page = |group: &mut GroupFields| {
            group.recall_experience_id = Some(ExperienceId::new(5));
        };
        assert_eq!(
            group(1, None, with_page).recall(),
            None,
            "it is not recalled"
        );
        let top = || group(1, None, recalled(Some(8)));
        assert_eq!(top().recall(), recall(1, Some(8)));
        let below = group(2, Some(top()), recalled(None));
        assert_eq!(below.recall(), recall(1, Some(8)));
        let below = group(2, Some(top()), recalled(Some(9)));
        assert_eq!(below.recall(), recall(2, Some(9)));
        let plain = group(2, Some(group(1, None, with_page)), recalled(None));
        assert_eq!(plain.recall(), recall(2, None));
    }
}
