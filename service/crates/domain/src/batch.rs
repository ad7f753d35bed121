//! Members that test sheets and encoding runs share: one inlay after another is placed on a reader,
//! until the batch is closed.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{
    AdditionalProperties, KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

use crate::field_error::FieldError;
use crate::revision::{Revised, Revision};
use crate::text::{NAME_MAX, Name};

/// Most inlays of one batch: about the work of a day at one reader.
pub const BATCH_MAX: u32 = 10_000;

/// A kind of batch, by its words in errors and in the description of the API.
pub trait BatchKind {
    /// The noun with its article, as in `A sheet`.
    const OWNER: &'static str;
    /// The noun, as in `sheet`.
    const NOUN: &'static str;
    /// A sentence about closed batches.
    const CLOSED: &'static str;
    /// The name of the schema.
    const SCHEMA: &'static str;
    /// The description of the schema.
    const DESCRIPTION: &'static str;
}

/// The members of a batch that can be changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Batch<K> {
    /// Name that the owner gave the batch. A request can contain any text.
    pub name: String,
    /// Number of planned inlays, if known.
    #[serde(default)]
    pub planned: Option<u32>,
    /// Whether the batch is closed. A closed batch takes no inlay until it is opened again.
    #[serde(default)]
    pub closed: bool,
    #[serde(skip)]
    kind: PhantomData<K>,
}

impl<K> Batch<K> {
    /// An open batch with this name.
    pub fn new(name: impl Into<String>, planned: Option<u32>) -> Self {
        Self {
            name: name.into(),
            planned,
            closed: false,
            kind: PhantomData,
        }
    }

    /// This batch, closed or open.
    #[must_use]
    pub fn closed(mut self, closed: bool) -> Self {
        self.closed = closed;
        self
    }
}

impl<K: BatchKind> Batch<K> {
    /// Checks the length of the name and the number of planned inlays.
    ///
    /// # Errors
    ///
    /// A sentence about the first member that is not valid.
    pub fn validate(&self) -> Result<(), FieldError> {
        Name::check(K::OWNER, &self.name)?;
        let planned = self.planned.is_none_or(|n| (1..=BATCH_MAX).contains(&n));
        if !planned {
            let why = format!("{} is planned for 1 to {BATCH_MAX} inlays.", K::OWNER);
            return Err(FieldError::of("planned", why));
        }
        Ok(())
    }
}

impl<K> Revised for Batch<K> {
    fn revision(&self) -> Revision {
        Revision::of(self)
    }
}

impl<K: BatchKind> PartialSchema for Batch<K> {
    fn schema() -> RefOr<Schema> {
        let noun = K::NOUN;
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(format!(
                "Name that the owner gave the {noun}, shown in lists."
            )))
            .min_length(Some(1))
            .max_length(Some(NAME_MAX));
        let planned = ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::Integer, Type::Null]))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)))
            .description(Some("Number of planned inlays, if known."))
            .minimum(Some(1))
            .maximum(Some(BATCH_MAX));
        let closed = ObjectBuilder::new()
            .schema_type(Type::Boolean)
            .description(Some(format!("Whether the {noun} is closed. {}", K::CLOSED)));
        ObjectBuilder::new()
            .description(Some(K::DESCRIPTION))
            .property("name", name)
            .required("name")
            .property("planned", planned)
            .property("closed", closed)
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .into()
    }
}

impl<K: BatchKind> ToSchema for Batch<K> {
    fn name() -> Cow<'static, str> {
        K::SCHEMA.into()
    }
}
