//! Builds the OpenAPI document, except for the descriptions that the admin routes have themselves.

mod patch;
mod responses;
mod shape;
mod webhooks;

use std::collections::HashSet;

use axum::http::StatusCode;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn, PathItem};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{
    self, ContentBuilder, Ref, RefOr, Required, ResponseBuilder, Schema, ServerBuilder,
};
use utoipa::{Modify, OpenApi, PartialSchema, ToSchema};

pub(super) use patch::loosen;

use super::auth::access::Audience;
use super::envelope::Envelope;
use super::error::Problem;
use super::public;
use app::payload::Payload;

/// The public routes, and the parts that all of the document shares.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tapdesk",
        description = "Taps, rolling keys, tag variables, and their administration."
    ),
    paths(
        public::tap::tap,
        public::form::form,
        public::payload::payload,
        public::data::data,
        public::media::media,
        public::stand_in::stand_in,
        public::staff::pair::ask,
        public::staff::pair::pair,
        public::staff::taps::page,
        public::staff::taps::act,
        public::staff::taps::photo,
        public::staff::scan::script,
        public::kit::script,
        public::kit::page,
        public::app_links::ios,
        public::app_links::android,
        public::probes::health,
        public::probes::ready
    ),
    components(schemas(Problem, Payload<'_>)),
    modifiers(&AdminToken)
)]
struct Document;

/// The document of the public routes. The admin routes are added to it later.
pub(super) fn of_public_routes() -> openapi::OpenApi {
    Document::openapi()
}

/// Completes the document once it contains all routes.
pub(super) fn complete(document: &mut openapi::OpenApi) {
    let here = ServerBuilder::new()
        .url("/")
        .description(Some("The service that serves this document"));
    document.servers = Some(vec![here.build()]);
    webhooks::describe(document);
    name_operations(document);
    for (path, item) in &mut document.paths.paths {
        for operation in shape::operations(item) {
            answers_of_all(path, operation);
        }
    }
    if let Some(components) = &mut document.components {
        patch::patch_within(&mut components.schemas);
    }
    shape::complete(document);
    open_parts(document);
    responses::share(document);
}

/// The security scheme of the admin API.
struct AdminToken;

impl Modify for AdminToken {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let bearer = Http::new(HttpAuthScheme::Bearer);
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// Adds the answers that every operation can give, and the `Retry-After` header of 429 and 503.
fn answers_of_all(path: &str, operation: &mut Operation) {
    let (media_type, body): (_, RefOr<Schema>) = if path.starts_with("/v2/") {
        let envelope = Ref::from_schema_name(Envelope::name());
        ("application/json", envelope.into())
    } else if Audience::of(Some(path)) == Audience::Public {
        ("text/html", String::schema())
    } else {
        let problem = Ref::from_schema_name(Problem::name());
        ("application/problem+json", problem.into())
    };
    let content = ContentBuilder::new().schema(Some(body)).build();
    let badly_addressed = ResponseBuilder::new()
        .description("The request names no host, or several")
        .content(media_type, content);
    let answers = &mut operation.responses.responses;
    answers
        .entry("400".to_owned())
        .or_insert_with(|| badly_addressed.build().into());
    for status in ["429", "503"] {
        if let Some(RefOr::T(answer)) = answers.get_mut(status) {
            let seconds = ObjectBuilder::new()
                .schema_type(Type::Integer)
                .minimum(Some(1));
            let header = HeaderBuilder::new()
                .schema(Some(seconds))
                .description(Some("Seconds to wait"));
            let name = "Retry-After".to_owned();
            answer.headers.insert(name, header.build().into());
        }
    }
}

/// Sets operation ids from method and path, such as `get_tags_id`, because ids must be unique and
/// names of handlers are not. Also sets the credentials of operations that name none: a token for
/// the admin API, nothing for public routes.
fn name_operations(document: &mut openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let within = path.strip_prefix("/admin/v1");
        let name = within.unwrap_or(path).replace(['{', '}'], "");
        let name = name.replace(['/', '-', '.'], "_");
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
            let credentials = || match within {
                Some(_) => vec![SecurityRequirement::new("token", Vec::<String>::new())],
                None => Vec::new(),
            };
            operation.security.get_or_insert_with(credentials);
        }
    }
}

/// Adds the `If-Match` parameter to every operation that can answer 412, and the `ETag` header to
/// the answers that contain the resource.
pub(super) fn version(document: &mut openapi::OpenApi) {
    let changed = StatusCode::PRECONDITION_FAILED.as_str();
    let answers = |operation: &Option<Operation>| {
        let operation = operation.as_ref();
        operation.is_some_and(|operation| operation.responses.responses.contains_key(changed))
    };
    let paths = &mut document.paths.paths;
    let edited = paths.iter().filter(|(_, item)| {
        let operations = [&item.patch, &item.put, &item.post, &item.delete];
        operations.into_iter().any(answers)
    });
    let edited: HashSet<String> = edited.map(|(path, _)| path.clone()).collect();
    for (path, item) in paths {
        // A resource is created by a POST to its list.
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
            post,
            patch,
            delete,
            ..
        } = item;
        for operation in [get, put, post, patch, delete].into_iter().flatten() {
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

/// Removes "no further members" from schemas that are parts of others. Otherwise a part would
/// reject the other members of the whole.
fn open_parts(document: &mut openapi::OpenApi) {
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
