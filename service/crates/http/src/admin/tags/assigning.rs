//! Tags in requests, with the option to add the variables of forms.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::value::{MapAccessDeserializer, StringDeserializer};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::TagView;
use crate::admin::extract::edited::Edited;
use domain::settings::Settings;
use domain::tag::{ADD_VARIABLES, AddVariables, Tag, TagFields};

/// A tag to create.
pub(crate) struct NewTag {
    pub(super) tag: TagFields,
    pub(super) add_variables: AddVariables,
}

impl<'de> Deserialize<'de> for NewTag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = NewTag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<NewTag, A::Error> {
                let mut said = None;
                let others = Others {
                    members,
                    said: &mut said,
                };
                let tag = TagFields::deserialize(MapAccessDeserializer::new(others))?;
                let add_variables = said.unwrap_or_default();
                Ok(NewTag { tag, add_variables })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// The name of a member; `None` for `add_variables`, which is not a member of the tag.
struct Name<'a, K>(&'a mut Option<K>);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Name<'_, K> {
    type Value = Option<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let name = String::deserialize(deserializer)?;
        let seed = (name != ADD_VARIABLES).then(|| self.0.take()).flatten();
        let read = seed.map(|seed| seed.deserialize(StringDeserializer::new(name)));
        read.transpose()
    }
}

/// The members of the tag, without `add_variables`.
struct Others<'a, A> {
    members: A,
    said: &'a mut Option<AddVariables>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Others<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let mut seed = Some(seed);
        loop {
            match self.members.next_key_seed(Name(&mut seed))? {
                None => return Ok(None),
                Some(Some(name)) => return Ok(Some(name)),
                Some(None) => {}
            }
            if self.said.replace(self.members.next_value()?).is_some() {
                return Err(A::Error::duplicate_field(ADD_VARIABLES));
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.members.next_value_seed(seed)
    }
}

impl PartialSchema for NewTag {
    fn schema() -> RefOr<Schema> {
        with_add_variables(TagFields::schema())
    }
}

impl ToSchema for NewTag {
    fn name() -> Cow<'static, str> {
        "NewTag".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        TagFields::schemas(schemas);
        schemas.push((AddVariables::name().into(), AddVariables::schema()));
    }
}

/// The schema of a tag's members, with `add_variables`.
pub(super) fn with_add_variables(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        let said = RefOr::Ref(Ref::from_schema_name(AddVariables::name()));
        object.properties.insert(ADD_VARIABLES.to_owned(), said);
    }
    schema
}

/// A tag after it was saved.
#[derive(Serialize, ToSchema)]
pub(crate) struct SavedTag {
    #[serde(flatten)]
    tag: TagView,
    /// Number of variables that the tag got because the page of its experience writes them; absent
    /// if none.
    #[serde(skip_serializing_if = "is_none")]
    #[schema(required = false)]
    variables_added: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
const fn is_none(added: &usize) -> bool {
    *added == 0
}

impl SavedTag {
    pub(super) fn edited(tag: Tag, added: usize, settings: &Settings) -> Edited<Self> {
        Edited::shown_as(tag, |tag| Self {
            tag: TagView::new(tag, settings),
            variables_added: added,
        })
    }
}
