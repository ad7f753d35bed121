//! The admin API: with a token, and by a `Host` of ours. It never reads a cache.

mod backup;
mod body;
mod clock;
mod demo;
mod edited;
mod events;
mod experiences;
mod inlays;
mod interactions;
mod master_keys;
mod metrics;
mod page;
mod path;
mod query;
mod reference;
mod settings;
mod sheets;
mod simulator;
mod stats;
mod tags;
mod tokens;
mod url_templates;
mod verification;

use axum::Router;
use utoipa::openapi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::document;
use crate::http::state::AppState;

/// The routes of the admin API, and the document made from the same list.
fn api() -> (Router<AppState>, openapi::OpenApi) {
    let api = OpenApiRouter::with_openapi(document::of_public_routes()).nest(
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
            .routes(routes!(demo::make, demo::remove))
            .routes(routes!(events::listen))
            .routes(routes!(stats::stats))
            .routes(routes!(interactions::list))
            .routes(routes!(interactions::get))
            .routes(routes!(interactions::erase_traces))
            .routes(routes!(experiences::list, experiences::create))
            .routes(routes!(
                experiences::get,
                experiences::update,
                experiences::delete
            ))
            .routes(routes!(experiences::list_templates))
            .routes(routes!(experiences::list_missing_variables))
            .routes(routes!(
                experiences::missing_variables,
                experiences::add_missing_variables
            ))
            .routes(routes!(experiences::import_file))
            .routes(routes!(experiences::export_file))
            .routes(routes!(experiences::compare))
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
            .routes(routes!(tags::release_slug))
            .routes(routes!(tags::variables::list))
            .routes(routes!(
                tags::variables::get,
                tags::variables::put,
                tags::variables::delete
            ))
            .routes(routes!(tags::data::list))
            .routes(routes!(
                tags::data::get,
                tags::data::put,
                tags::data::delete
            ))
            .routes(routes!(tags::attributes::list))
            .routes(routes!(
                tags::attributes::get,
                tags::attributes::put,
                tags::attributes::delete
            ))
            .routes(routes!(inlays::list, inlays::create))
            .routes(routes!(inlays::get, inlays::update, inlays::delete))
            .routes(routes!(master_keys::list, master_keys::create))
            .routes(routes!(
                master_keys::get,
                master_keys::update,
                master_keys::delete
            ))
            .routes(routes!(url_templates::list, url_templates::create))
            .routes(routes!(
                url_templates::get,
                url_templates::update,
                url_templates::delete
            ))
            .routes(routes!(url_templates::find))
            .routes(routes!(url_templates::add_keys, url_templates::remove_key))
            .routes(routes!(verification::verify))
            .routes(routes!(simulator::list, simulator::create))
            .routes(routes!(simulator::get, simulator::delete))
            .routes(routes!(simulator::tap))
            .routes(routes!(simulator::clock, simulator::advance)),
    );
    let api = api
        .routes(routes!(reference::document))
        .routes(routes!(reference::page))
        .routes(routes!(metrics::metrics));
    let (router, mut document) = api.split_for_parts();
    document::version(&mut document);
    document::complete(&mut document);
    (router, document)
}

/// The OpenAPI document, as it is committed at `service/openapi.json`.
pub fn openapi() -> openapi::OpenApi {
    api().1
}

/// The admin API as a router.
pub(super) fn router() -> Router<AppState> {
    api().0
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
            if !path.starts_with("/admin/") {
                continue;
            }
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
