//! The admin API: with a token, and by a `Host` of ours. It never reads a cache.

mod access;
mod backup;
mod body;
mod clock;
mod events;
mod experiences;
mod inlays;
mod master_keys;
mod page;
mod path;
mod query;
mod settings;
mod sheets;
mod simulator;
mod tags;
mod tokens;
mod verification;

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi, openapi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::error::Problem;
use crate::service::Service;

/// The document that describes the admin API and the public operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Tapdesk",
        description = "Taps, rolling keys, tag variables, and their administration."
    ),
    components(schemas(Problem)),
    modifiers(&AdminToken),
    security(("token" = []))
)]
struct Document;

/// How the admin API knows its callers.
struct AdminToken;

impl Modify for AdminToken {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let bearer = Http::new(HttpAuthScheme::Bearer);
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(bearer));
    }
}

/// The routes of the admin API, and the document made from the same list.
fn api() -> (Router<Arc<Service>>, openapi::OpenApi) {
    let api = OpenApiRouter::with_openapi(Document::openapi()).nest(
        "/admin/v1",
        OpenApiRouter::new()
            .routes(routes!(backup::create))
            .routes(routes!(settings::get, settings::update))
            .routes(routes!(sheets::list, sheets::create))
            .routes(routes!(sheets::get, sheets::update))
            .routes(routes!(sheets::append))
            .routes(routes!(sheets::export))
            .routes(routes!(tokens::list, tokens::create))
            .routes(routes!(tokens::delete))
            .routes(routes!(clock::get, clock::advance))
            .routes(routes!(events::listen))
            .routes(routes!(experiences::list, experiences::create))
            .routes(routes!(
                experiences::get,
                experiences::update,
                experiences::delete
            ))
            .routes(routes!(experiences::preview))
            .routes(routes!(experiences::publish))
            .routes(routes!(experiences::rollback))
            .routes(routes!(experiences::versions))
            .routes(routes!(experiences::images, experiences::add_image))
            .routes(routes!(experiences::image, experiences::delete_image))
            .routes(routes!(tags::list, tags::create))
            .routes(routes!(tags::bulk))
            .routes(routes!(tags::import))
            .routes(routes!(tags::export))
            .routes(routes!(tags::get, tags::update, tags::delete))
            .routes(routes!(tags::variables::list))
            .routes(routes!(tags::variables::put, tags::variables::delete))
            .routes(routes!(tags::data::list))
            .routes(routes!(tags::data::put, tags::data::delete))
            .routes(routes!(tags::attributes::list))
            .routes(routes!(tags::attributes::put, tags::attributes::delete))
            .routes(routes!(inlays::list, inlays::create))
            .routes(routes!(inlays::get, inlays::update, inlays::delete))
            .routes(routes!(master_keys::list, master_keys::create))
            .routes(routes!(
                master_keys::get,
                master_keys::update,
                master_keys::delete
            ))
            .routes(routes!(verification::verify))
            .routes(routes!(simulator::list, simulator::create))
            .routes(routes!(simulator::get, simulator::delete))
            .routes(routes!(simulator::tap))
            .routes(routes!(simulator::clock, simulator::advance)),
    );
    let (router, mut document) = api.split_for_parts();
    name_operations(&mut document);
    (router, document)
}

/// Names each operation by its method and path: `get_tags_id`. The names of
/// handlers are not unique, and operation ids must be.
fn name_operations(document: &mut openapi::OpenApi) {
    for (path, item) in &mut document.paths.paths {
        let path = path.strip_prefix("/admin/v1").unwrap_or(path);
        let path = path.replace(['{', '}'], "").replace(['/', '-'], "_");
        let operations = [
            ("get", &mut item.get),
            ("post", &mut item.post),
            ("put", &mut item.put),
            ("patch", &mut item.patch),
            ("delete", &mut item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                operation.operation_id = Some(format!("{method}{path}"));
            }
        }
    }
}

/// The OpenAPI document, as it is committed at `service/openapi.json`.
pub fn openapi() -> openapi::OpenApi {
    api().1
}

/// The admin API as a router.
pub(super) fn router(service: &Arc<Service>) -> Router<Arc<Service>> {
    let (api, document) = api();
    let document = document.to_json().unwrap_or_default();
    let document = get(move || async move { ([("content-type", "application/json")], document) });
    api.route_layer(middleware::from_fn_with_state(
        Arc::clone(service),
        access::require_token,
    ))
    .route("/openapi.json", document)
    .route("/metrics", get(access::metrics))
    .layer(middleware::from_fn_with_state(
        Arc::clone(service),
        access::require_host,
    ))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    #[test]
    fn every_operation_has_a_name_of_its_own_and_tells_what_all_can_answer() {
        let document: Value = serde_json::from_str(&super::openapi().to_json().unwrap()).unwrap();
        let mut names = HashSet::new();
        let paths = document["paths"].as_object().unwrap();
        let of_path = |(path, item): (&String, &Value)| {
            let operations = item.as_object().unwrap().values().cloned();
            operations
                .map(|operation| (path.clone(), operation))
                .collect::<Vec<_>>()
        };
        for (path, operation) in paths.iter().flat_map(of_path) {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name} is there twice");
            for status in ["401", "421", "429", "503"] {
                let response = &operation["responses"][status];
                assert!(response.is_object(), "{name} does not document {status}");
            }
            if path.contains("{id}") {
                let response = &operation["responses"]["404"];
                assert!(response.is_object(), "{name} does not document 404");
            }
        }
    }
}
