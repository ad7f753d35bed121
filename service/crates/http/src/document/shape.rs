//! Completes the document for client generators: gives every shape a name, and every answer a
//! description.
//!
//! utoipa writes the variants of an enum and the items of a list inline. A generator then invents
//! names, generates the same shape several times, or fails.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::{AllOf, ArrayItems, Discriminator, Object, OneOf};
use utoipa::openapi::{OpenApi, PathItem, Ref, RefOr, Response, Schema};

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Names inline schemas, and describes answers without a description.
pub(super) fn complete(document: &mut OpenApi) {
    let Some(components) = &mut document.components else {
        return;
    };
    let schemas = &mut components.schemas;
    name_arguments(schemas);
    name_choices(schemas);
    choose_between_wholes(schemas);
    for item in document.paths.paths.values_mut() {
        for operation in operations(item) {
            describe_answers(operation, schemas);
        }
    }
}

/// The operations of a path.
pub(super) fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let operations = [
        &mut item.get,
        &mut item.post,
        &mut item.put,
        &mut item.patch,
        &mut item.delete,
    ];
    operations.into_iter().filter_map(Option::as_mut)
}

/// Replaces the inline copy of `Tag` in `Page_Tag` by a reference.
fn name_arguments(schemas: &mut Schemas) {
    let known = schemas.clone();
    for (generic, schema) in schemas {
        let Some((_, name)) = generic.split_once('_') else {
            continue;
        };
        let (Some(argument), RefOr::T(Schema::Object(object))) = (known.get(name), schema) else {
            continue;
        };
        for member in object.properties.values_mut() {
            let place = match member {
                RefOr::T(Schema::Array(array)) => match &mut array.items {
                    ArrayItems::RefOrSchema(item) => &mut **item,
                    ArrayItems::False => continue,
                },
                member => member,
            };
            if place == argument {
                *place = RefOr::Ref(Ref::from_schema_name(name));
            }
        }
    }
}

/// Names each object of a choice: the `Block` with the type `heading` becomes `HeadingBlock`. The
/// member that distinguishes the objects becomes the discriminator.
fn name_choices(schemas: &mut Schemas) {
    let mut named = Schemas::new();
    for (name, schema) in schemas.iter_mut() {
        let RefOr::T(Schema::OneOf(choice)) = schema else {
            continue;
        };
        let Some(marks) = choice.items.iter().map(mark).collect::<Option<Vec<_>>>() else {
            continue;
        };
        for (item, (_, value)) in choice.items.iter_mut().zip(&marks) {
            let own = pascal_case(value) + name;
            let reference = RefOr::Ref(Ref::from_schema_name(&own));
            named.insert(own, std::mem::replace(item, reference));
        }
        if let Some((Some(member), _)) = marks.first() {
            let values = marks.iter().map(|(_, value)| value.as_str());
            choice.discriminator = Some(discriminator(member, values, &choice.items));
        }
    }
    schemas.extend(named);
}

/// The mark that distinguishes an object of a choice: a member with a constant value and that
/// value, or the presence of a member. `None` if the schema is not an object.
fn mark(schema: &RefOr<Schema>) -> Option<(Option<String>, String)> {
    let constant = |object: &Object| {
        let mut members = object.properties.iter();
        members.find_map(|(member, schema)| match schema {
            RefOr::T(Schema::Object(Object {
                enum_values: Some(values),
                ..
            })) if values.len() == 1 => {
                Some((Some(member.clone()), values[0].as_str()?.to_owned()))
            }
            _ => None,
        })
    };
    match schema {
        RefOr::T(Schema::Object(object)) => {
            let required = || Some((None, object.required.first()?.clone()));
            constant(object).or_else(required)
        }
        RefOr::T(Schema::AllOf(whole)) => whole.items.iter().find_map(|part| match part {
            RefOr::T(Schema::Object(part)) => constant(part),
            _ => None,
        }),
        _ => None,
    }
}

fn discriminator<'a>(
    member: &str,
    values: impl Iterator<Item = &'a str>,
    choices: &[RefOr<Schema>],
) -> Discriminator {
    let choices = choices.iter().map(|choice| match choice {
        RefOr::Ref(choice) => choice.ref_location.clone(),
        RefOr::T(_) => String::new(),
    });
    Discriminator::with_mapping(member, values.zip(choices))
}

/// Moves a choice from a part to the whole schema, so that an `Experience` is either a
/// `RedirectExperience` or a `StudioExperience`.
fn choose_between_wholes(schemas: &mut Schemas) {
    let known = schemas.clone();
    for (name, schema) in known.clone() {
        let RefOr::T(Schema::AllOf(whole)) = schema else {
            continue;
        };
        let choice = whole.items.iter().enumerate().find_map(|(at, part)| {
            let part = referred(part)?;
            match known.get(part) {
                Some(RefOr::T(Schema::OneOf(choice))) => Some((at, part, choice)),
                _ => None,
            }
        });
        let Some((at, part, choice)) = choice else {
            continue;
        };
        let renamed = |reference: &str| reference.replace(part, &name);
        let mut wholes = OneOf::new();
        for item in &choice.items {
            let Some(of_choice) = referred(item) else {
                continue;
            };
            let mut items = whole.items.clone();
            items[at] = item.clone();
            let own = renamed(of_choice);
            wholes.items.push(RefOr::Ref(Ref::from_schema_name(&own)));
            let own_whole = AllOf {
                items,
                ..AllOf::new()
            };
            schemas.insert(own, Schema::AllOf(own_whole).into());
        }
        wholes.discriminator = choice.discriminator.clone().map(|mut discriminator| {
            let locations = discriminator.mapping.values_mut();
            locations.for_each(|location| *location = renamed(location));
            discriminator
        });
        wholes.description.clone_from(&whole.description);
        schemas.insert(name.clone(), Schema::OneOf(wholes).into());
        // The variants are now parts of the new schemas. Keep the part itself if other schemas
        // refer to it.
        if !is_referred(schemas, part) {
            schemas.remove(part);
        }
    }
}

/// Whether any schema refers to the schema `name`.
fn is_referred(schemas: &Schemas, name: &str) -> bool {
    let reference = Ref::from_schema_name(name).ref_location;
    let reference = serde_json::Value::from(reference).to_string();
    serde_json::to_string(schemas).is_ok_and(|document| document.contains(&reference))
}

/// The name of the schema that this reference points to.
pub(super) fn referred(schema: &RefOr<Schema>) -> Option<&str> {
    match schema {
        RefOr::Ref(reference) => reference.ref_location.rsplit('/').next(),
        RefOr::T(_) => None,
    }
}

/// Adds a description to each answer that has none.
fn describe_answers(operation: &mut Operation, schemas: &Schemas) {
    for (status, answer) in &mut operation.responses.responses {
        let RefOr::T(answer) = answer else { continue };
        if answer.description.is_empty() {
            answer.description = description(answer, schemas).unwrap_or_else(|| reason(status));
        }
    }
}

/// The first line of the description of the answer's body schema.
fn description(answer: &Response, schemas: &Schemas) -> Option<String> {
    let Some((_, RefOr::T(content))) = answer.content.first() else {
        return None;
    };
    let RefOr::T(schema) = schemas.get(referred(content.schema.as_ref()?)?)? else {
        return None;
    };
    let description = match schema {
        Schema::Object(schema) => schema.description.as_ref(),
        Schema::OneOf(schema) => schema.description.as_ref(),
        Schema::AllOf(schema) => schema.description.as_ref(),
        _ => None,
    };
    Some(description?.lines().next()?.to_owned())
}

fn reason(status: &str) -> String {
    let status = status
        .parse()
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok());
    match status {
        Some(StatusCode::NO_CONTENT) => "Done; the answer has no body".to_owned(),
        Some(status) => status.canonical_reason().unwrap_or_default().to_owned(),
        None => String::new(),
    }
}

fn pascal_case(name: &str) -> String {
    let words = name.split(['_', '-']);
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    words.map(capital).collect()
}
