//! Schemas of bodies that have no type.

use utoipa::openapi::schema::{
    ArrayBuilder, ArrayItems, KnownFormat, ObjectBuilder, SchemaFormat, Type,
};
use utoipa::openapi::{OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The body of the payload call: an object, or an empty array (specification 4.1).
pub(crate) struct PayloadOrNone;

impl PartialSchema for PayloadOrNone {
    fn schema() -> RefOr<Schema> {
        // The array is always empty, but some tools do not support the schema `false` for its
        // items.
        let anything = ArrayItems::RefOrSchema(Box::new(Schema::default().into()));
        let none = ArrayBuilder::new().items(anything).max_items(Some(0));
        OneOfBuilder::new()
            .item(Ref::from_schema_name("Payload"))
            .item(none)
            .into()
    }
}

impl ToSchema for PayloadOrNone {}

/// The schema of raw bytes.
pub(crate) struct Binary;

impl PartialSchema for Binary {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
            .into()
    }
}

impl ToSchema for Binary {}
