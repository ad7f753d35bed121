//! Schemas of merge patches (RFC 7396): every member is optional, and `null` resets a member that
//! the resource does not require. Nested objects follow the same rules. Lists are replaced as a
//! whole, and so are the objects in [`WHOLE`].

use std::collections::BTreeMap;

use utoipa::openapi::schema::{AdditionalProperties, Object, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{OneOfBuilder, Ref, RefOr, Schema};

use super::shape::referred;

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Objects that a patch replaces as a whole. They are write-only, so that nobody can see the members
/// that a merge would keep.
const WHOLE: [&str; 1] = ["OtherKeys"];

/// Turns the objects within patches into patches.
pub(super) fn patch_within(schemas: &mut Schemas) {
    let is_patch = |name: &&String| name.ends_with("Patch");
    let patches: Vec<_> = schemas.keys().filter(is_patch).cloned().collect();
    for name in patches {
        if let Some(RefOr::T(Schema::Object(mut patch))) = schemas.get(&name).cloned() {
            within(&mut patch, schemas);
            schemas.insert(name, Schema::Object(patch).into());
        }
    }
}

/// Turns an object into a patch, without the objects within it.
pub(crate) fn loosen(object: &mut Object) {
    let required = std::mem::take(&mut object.required);
    for (name, member) in &mut object.properties {
        forget_default(member);
        if !required.contains(name) {
            or_null(member);
        }
    }
    if let Some(others) = &mut object.additional_properties
        && let AdditionalProperties::RefOr(other) = &mut **others
    {
        or_null(other);
    }
}

fn within(object: &mut Object, schemas: &mut Schemas) {
    for member in object.properties.values_mut() {
        patch(member, schemas);
    }
    if let Some(others) = &mut object.additional_properties
        && let AdditionalProperties::RefOr(other) = &mut **others
    {
        patch(other, schemas);
    }
}

/// Turns an object schema into a patch.
fn patch(schema: &mut RefOr<Schema>, schemas: &mut Schemas) {
    match schema {
        RefOr::T(Schema::OneOf(choice)) => {
            for item in &mut choice.items {
                patch(item, schemas);
            }
        }
        RefOr::T(Schema::Object(object)) => {
            loosen(object);
            within(object, schemas);
        }
        RefOr::T(_) => {}
        RefOr::Ref(_) => {
            let Some(name) = referred(schema) else { return };
            if WHOLE.contains(&name) {
                return;
            }
            let Some(RefOr::T(Schema::Object(object))) = schemas.get(name) else {
                return;
            };
            if object.properties.is_empty() && object.additional_properties.is_none() {
                return;
            }
            let (own, mut object) = (format!("{name}Patch"), object.clone());
            if !schemas.contains_key(&own) {
                loosen(&mut object);
                within(&mut object, schemas);
                schemas.insert(own.clone(), Schema::Object(object).into());
            }
            if let RefOr::Ref(reference) = schema {
                reference.ref_location = Ref::from_schema_name(own).ref_location;
            }
        }
    }
}

/// Removes the default: a member that is not sent stays unchanged.
fn forget_default(schema: &mut RefOr<Schema>) {
    match schema {
        RefOr::T(Schema::Object(schema)) => schema.default = None,
        RefOr::T(Schema::Array(schema)) => schema.default = None,
        RefOr::T(Schema::OneOf(schema)) => schema.default = None,
        RefOr::T(_) => {}
        RefOr::Ref(reference) => reference.default = None,
    }
}

/// Makes a schema allow `null`, too.
fn or_null(schema: &mut RefOr<Schema>) {
    let null = || ObjectBuilder::new().schema_type(Type::Null);
    match schema {
        RefOr::T(Schema::Object(object)) if object.enum_values.is_none() => {
            nullable(&mut object.schema_type);
        }
        RefOr::T(Schema::Array(array)) => nullable(&mut array.schema_type),
        RefOr::T(Schema::OneOf(choice)) => {
            let null = null().into();
            if !choice.items.contains(&null) {
                choice.items.push(null);
            }
        }
        other => {
            let either = OneOfBuilder::new().item(other.clone()).item(null());
            *other = either.into();
        }
    }
}

fn nullable(schema: &mut SchemaType) {
    if let SchemaType::Type(one) = schema {
        *schema = SchemaType::from_iter([one.clone(), Type::Null]);
    }
}
