//! The OpenAPI document, apart from what the admin API's routes say of themselves.

use std::collections::HashSet;

use axum::http::StatusCode;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ArrayBuilder, ArrayItems, ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{self, OneOfBuilder, RefOr, Required, Schema};
use utoipa::{Modify, OpenApi, PartialSchema, ToSchema};

use super::error::Problem;
use super::public;
use crate::payload::Payload;

/// The public routes, and what all of the document shares.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tapdesk",
        description = "Taps, rolling keys, tag variables, and their administration."
    ),
    paths(
        public::tap::tap,
        public::payload::payload,
        public::data::data,
        public::media::media,
        public::probes::health,
        public::probes::ready
    ),
    components(schemas(Problem, Payload<'_>)),
    modifiers(&AdminToken)
)]
struct Document;

/// The document of the public routes; the admin API's are added to it.
pub(super) fn of_public_routes() -> openapi::OpenApi {
    Document::openapi()
}

/// How the admin API knows its callers.
struct AdminToken;

impl Modify for AdminToken {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let bearer = Http::new(HttpAuthScheme::Bearer);
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// Names each operation by its method and path, `get_tags_id`, and says of the
/// admin API's that they need a token. The names of handlers are not unique, and
/// operation ids must be.
pub(super) fn name_operations(document: &mut openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let within = path.strip_prefix("/admin/v1");
        let name = within.unwrap_or(path).replace(['{', '}'], "");
        let name = name.replace(['/', '-'], "_");
        let operations = [
            ("get", &mut item.get),
            ("post", &mut item.post),
            ("put", &mut item.put),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            operation.operation_id = Some(format!("{method}{name}"));
            if within.is_some() {
                let token = openapi::SecurityRequirement::new("token", Vec::<String>::new());
                operation.security = Some(vec![token]);
            }
        }
    }
}

/// Says of every operation that can answer 412 that it takes `If-Match`, and of
/// the answers with the resource that they have an `ETag`.
pub(super) fn version(document: &mut openapi::OpenApi) {
    let changed = StatusCode::PRECONDITION_FAILED.as_str();
    let answers = |operation: &Option<Operation>| {
        let operation = operation.as_ref();
        operation.is_some_and(|operation| operation.responses.responses.contains_key(changed))
    };
    let paths = &mut document.paths.paths;
    let edited = paths
        .iter()
        .filter(|(_, item)| answers(&item.patch) || answers(&item.put) || answers(&item.delete));
    let edited: HashSet<String> = edited.map(|(path, _)| path.clone()).collect();
    for (path, item) in paths {
        // A resource is created in the list it is in.
        let creates = edited
            .iter()
            .any(|edited| edited.strip_suffix("/{id}") == Some(path));
        if creates && let Some(post) = &mut item.post {
            add_etag(post, &["201"]);
        }
        if !edited.contains(path) {
            continue;
        }
        let PathItem {
            get,
            put,
            patch,
            delete,
            ..
        } = item;
        for operation in [get, put, patch, delete].into_iter().flatten() {
            add_etag(operation, &["200", "201", changed]);
            if operation.responses.responses.contains_key(changed) {
                let parameters = operation.parameters.get_or_insert_default();
                parameters.push(if_match().into());
            }
        }
    }
}

fn if_match() -> Parameter {
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .description(Some(
            "The `ETag` of the resource as it was seen: if it was changed meanwhile, nothing is changed",
        ))
        .build()
}

fn add_etag(operation: &mut Operation, statuses: &[&str]) {
    for status in statuses {
        let response = operation.responses.responses.get_mut(*status);
        let Some(RefOr::T(response)) = response else {
            continue;
        };
        let header = HeaderBuilder::new()
            .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
            .description(Some(
                "The revision of the resource's configuration, for `If-Match`; counts and last taps are no part of it",
            ))
            .build();
        response.headers.insert("ETag".to_owned(), header.into());
    }
}

/// Opens the schemas that are parts of others: one that allows no further
/// members would not allow those of the whole.
pub(super) fn open_parts(document: &mut openapi::OpenApi) {
    let Some(components) = &mut document.components else {
        return;
    };
    let schemas = &mut components.schemas;
    let of_whole = |schema: &RefOr<Schema>| match schema {
        RefOr::T(Schema::AllOf(whole)) => whole.items.clone(),
        _ => Vec::new(),
    };
    let parts: Vec<_> = schemas.values().flat_map(of_whole).collect();
    for part in parts {
        let RefOr::Ref(part) = part else { continue };
        let name = part.ref_location.rsplit('/').next().unwrap_or_default();
        if let Some(RefOr::T(Schema::Object(part))) = schemas.get_mut(name) {
            part.additional_properties = None;
        }
    }
}

/// The body of the payload call: an object, or an empty array (specification 4.1).
pub(super) struct PayloadOrNone;

impl PartialSchema for PayloadOrNone {
    fn schema() -> RefOr<Schema> {
        let none = ArrayBuilder::new()
            .items(ArrayItems::False)
            .max_items(Some(0));
        OneOfBuilder::new()
            .item(openapi::Ref::from_schema_name("Payload"))
            .item(none)
            .into()
    }
}

impl ToSchema for PayloadOrNone {}
