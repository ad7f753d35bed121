//! The admin API. It requires a token and one of the service's host names, and never reads a cache.

mod asked;
mod audit;
mod backup;
mod clock;
mod demo;
mod documents;
mod encoding_runs;
mod encodings;
mod events;
mod experiences;
mod export;
mod extract;
mod factory_orders;
mod groups;
mod inlays;
mod interactions;
mod kiosk;
mod labels;
mod mail;
mod master_keys;
mod metrics;
mod notifications;
mod own_reads;
mod phones;
mod pictures;
mod reference;
mod reports;
mod routes;
mod settings;
mod sheets;
mod simulator;
mod stats;
mod submissions;
mod tag_url;
mod tags;
mod technologies;
mod test_taps;
mod tokens;
mod unlisted_chips;
mod url_templates;
mod verification;
mod warning;
mod webhooks;

use axum::Router;
use axum::routing::get;
use utoipa::openapi;
use utoipa_axum::router::OpenApiRouter;

use crate::document;
use crate::state::AppState;

use asked::Asked;
pub(super) use routes::Requester;
use routes::{Purpose, Routes, bounded, routes};

/// All routes below `/admin/v1`, each with the scope that it requires.
#[expect(
    clippy::too_many_lines,
    reason = "all routes on one screen, a line for each"
)]
fn routes(purpose: Purpose) -> Routes {
    Routes::new(purpose)
        .admin(routes!(backup::create))
        .admin(routes!(
            backup::schedule,
            backup::set_schedule,
            backup::end_schedule
        ))
        .admin(routes!(backup::run_schedule))
        .admin(routes!(settings::get, settings::update))
        .admin(routes!(
            settings::logo,
            settings::set_logo,
            settings::delete_logo
        ))
        .read(routes!(tag_url::get))
        .read(routes!(tag_url::carried))
        .admin(routes!(tag_url::check))
        .admin(routes!(tokens::list, tokens::create))
        .admin(routes!(tokens::delete))
        .admin(routes!(phones::list, phones::create))
        .admin(routes!(phones::delete))
        .admin(routes!(audit::list))
        .admin(routes!(audit::export))
        .admin(routes!(audit::check))
        .any_token(bounded(routes!(tokens::current)))
        .any_token(bounded(routes!(technologies::list)))
        .read(routes!(encodings::list))
        .encode(routes!(encodings::start))
        .read(routes!(encodings::preview))
        .read(routes!(encodings::get))
        .encode(routes!(encodings::abandon))
        .encode(routes!(encodings::answer))
        .read(routes!(encodings::root))
        .keys(routes!(encodings::replace_root))
        .read(routes!(encodings::exposed))
        .read(routes!(encoding_runs::list))
        .encode(routes!(encoding_runs::create))
        .read(routes!(encoding_runs::get))
        .encode(routes!(encoding_runs::update))
        .encode(routes!(encoding_runs::skip))
        .export(routes!(encoding_runs::export))
        .read(routes!(factory_orders::list))
        .keys(routes!(factory_orders::create))
        .read(routes!(factory_orders::get))
        .keys(routes!(factory_orders::delete))
        .keys(routes!(factory_orders::export))
        .keys(routes!(factory_orders::instructions))
        .keys(routes!(factory_orders::keys))
        .keys(routes!(factory_orders::import))
        .read(routes!(sheets::list))
        .encode(routes!(sheets::create))
        .read(routes!(sheets::get))
        .encode(routes!(sheets::update))
        .encode(routes!(sheets::append))
        .read(routes!(sheets::row_photo))
        .encode(routes!(sheets::sign_off))
        .export(routes!(sheets::export))
        .export(routes!(sheets::report))
        .read(routes!(kiosk::get))
        .read(routes!(clock::get))
        .admin(routes!(clock::advance))
        .admin(routes!(demo::make, demo::remove))
        .read(bounded(routes!(events::listen)))
        .read(routes!(stats::stats))
        .read(bounded(routes!(reports::report)))
        .export(bounded(routes!(reports::export)))
        .read(bounded(routes!(interactions::list)))
        .export(bounded(routes!(interactions::export)))
        .read(bounded(routes!(interactions::get)))
        .read(bounded(routes!(interactions::photo)))
        .admin(routes!(interactions::erase_traces))
        .admin(routes!(interactions::erase_traces_of_no_tag))
        .read(routes!(interactions::visitor))
        .export(routes!(interactions::export_visitor))
        .admin(routes!(interactions::erase_visitor))
        .read(bounded(routes!(submissions::list)))
        .export(bounded(routes!(submissions::export)))
        .admin(routes!(submissions::erase_person))
        .read(bounded(routes!(submissions::get)))
        .tags(bounded(routes!(submissions::save)))
        .admin(routes!(submissions::erase))
        .read(bounded(routes!(experiences::list)))
        .experiences(routes!(experiences::create))
        .read(bounded(routes!(experiences::get)))
        .experiences(bounded(routes!(experiences::update, experiences::delete)))
        .read(bounded(routes!(experiences::list_templates)))
        .read(routes!(experiences::list_missing_variables))
        .read(bounded(routes!(experiences::missing_variables)))
        .tags(bounded(routes!(experiences::add_missing_variables)))
        .experiences(routes!(experiences::import_file))
        .read(bounded(routes!(experiences::export_file)))
        .read(bounded(routes!(experiences::compare)))
        .read(bounded(routes!(experiences::preview)))
        .publish(bounded(routes!(experiences::publish)))
        .publish(bounded(routes!(experiences::rollback)))
        .read(bounded(routes!(experiences::versions)))
        .read(bounded(routes!(experiences::images)))
        .experiences(bounded(routes!(experiences::add_image)))
        .read(bounded(routes!(experiences::image)))
        .experiences(bounded(routes!(experiences::delete_image)))
        .read(bounded(routes!(tags::list)))
        .tags(bounded(routes!(tags::create)))
        .tags(bounded(routes!(tags::bulk)))
        .tags(routes!(tags::import))
        .read(routes!(tags::import_presets))
        .tags(routes!(tags::import_table))
        .export(bounded(routes!(tags::export)))
        .read(bounded(routes!(tags::values)))
        .read(bounded(routes!(tags::attribute_keys)))
        .read(bounded(routes!(tags::get)))
        .tags(bounded(routes!(tags::update, tags::delete)))
        .read(bounded(routes!(tags::encoding_sheet)))
        .tags(bounded(routes!(tags::release_slug)))
        .read(bounded(routes!(tags::variables::list)))
        .read(bounded(routes!(tags::variables::get)))
        .tags(bounded(routes!(
            tags::variables::put,
            tags::variables::delete
        )))
        .read(bounded(routes!(tags::data::list)))
        .read(bounded(routes!(tags::data::get)))
        .tags(bounded(routes!(tags::data::put, tags::data::delete)))
        .read(bounded(routes!(tags::attributes::list)))
        .read(bounded(routes!(tags::attributes::get)))
        .tags(bounded(routes!(
            tags::attributes::put,
            tags::attributes::delete
        )))
        .read(bounded(routes!(groups::effective)))
        .read(bounded(routes!(groups::list)))
        .tags(bounded(routes!(groups::create)))
        .read(bounded(routes!(groups::get)))
        .tags(bounded(routes!(groups::update, groups::delete)))
        .read(bounded(routes!(groups::image)))
        .tags(bounded(routes!(groups::set_image, groups::delete_image)))
        .export(bounded(routes!(labels::create)))
        .read(bounded(routes!(labels::preview)))
        .read(routes!(inlays::list))
        .keys(routes!(inlays::create))
        .read(routes!(inlays::get))
        .keys(routes!(inlays::update, inlays::delete))
        .read(routes!(master_keys::list))
        .keys(routes!(master_keys::create))
        .read(routes!(master_keys::get))
        .keys(routes!(master_keys::update, master_keys::delete))
        .read(routes!(url_templates::list))
        .keys(routes!(url_templates::create))
        .read(routes!(url_templates::get))
        .keys(routes!(url_templates::update, url_templates::delete))
        .read(routes!(url_templates::encoding_sheet))
        .keys(routes!(url_templates::find))
        .keys(routes!(url_templates::add_keys, url_templates::remove_key))
        .keys(routes!(url_templates::revert_unlisted))
        .read(routes!(unlisted_chips::list))
        .keys(routes!(unlisted_chips::enrol_chip))
        .read(bounded(routes!(verification::verify)))
        .encode(routes!(test_taps::announce))
        .encode(routes!(own_reads::note))
        .webhooks(bounded(routes!(webhooks::list, webhooks::create)))
        .webhooks(bounded(routes!(
            webhooks::get,
            webhooks::update,
            webhooks::delete
        )))
        .webhooks(bounded(routes!(webhooks::rotate)))
        .webhooks(bounded(routes!(webhooks::attempts)))
        .webhooks(bounded(routes!(webhooks::test)))
        .webhooks(bounded(routes!(webhooks::resend)))
        .admin(routes!(mail::get, mail::put, mail::delete))
        .admin(routes!(mail::test))
        .admin(routes!(notifications::list, notifications::create))
        .admin(routes!(
            notifications::get,
            notifications::update,
            notifications::delete
        ))
        .admin(routes!(notifications::test))
        .read(routes!(simulator::list))
        .tags(routes!(simulator::create))
        .read(routes!(simulator::get))
        .tags(routes!(simulator::delete))
        .tags(routes!(simulator::tap))
        .read(routes!(simulator::clock))
        .tags(routes!(simulator::advance))
        .tags(routes!(simulator::sample))
}

/// The admin API: only the routes, or the routes with their OpenAPI descriptions.
fn api(purpose: Purpose) -> OpenApiRouter<AppState> {
    let metrics = Routes::new(purpose).read(routes!(metrics::metrics));
    OpenApiRouter::new()
        .nest("/admin/v1", routes(purpose).into_router())
        .routes(utoipa_axum::routes!(reference::document))
        .routes(utoipa_axum::routes!(reference::page))
        .routes(utoipa_axum::routes!(documents::llms))
        .merge(metrics.into_router())
}

/// The complete OpenAPI document. A copy is committed at `service/openapi.json`.
pub fn openapi() -> openapi::OpenApi {
    let public = OpenApiRouter::with_openapi(document::of_public_routes());
    let api = public.merge(api(Purpose::Document));
    let mut document = api.into_openapi();
    document::version(&mut document);
    document::complete(&mut document);
    document
}

/// The admin API as a router, with the documents. A path of several segments cannot be in the OpenAPI
/// document.
pub(super) fn router() -> Router<AppState> {
    let api: Router<AppState> = api(Purpose::Serve).into();
    api.route("/docs/", get(documents::list))
        .route("/docs/{*path}", get(documents::document))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    #[test]
    fn what_answers_requests_keeps_nothing_of_what_routes_say_of_themselves() {
        let serving = super::api(super::Purpose::Serve).into_openapi();
        let paths: Vec<_> = serving.paths.paths.into_keys().collect();
        let open = ["/docs", "/llms.txt", "/openapi.json"];
        assert_eq!(paths, open, "none has a scope");
        let documented = super::api(super::Purpose::Document).into_openapi();
        assert!(documented.paths.paths.len() > 90);
    }

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
            for status in ["401", "403", "421", "429", "503"] {
                let response = &operation["responses"][status];
                assert!(response.is_object(), "{name} does not document {status}");
            }
            if path.contains("{id}") {
                let response = &operation["responses"]["404"];
                assert!(response.is_object(), "{name} does not document 404");
            }
        }
    }

    /// Listeners load a resource again if its kind has changed.
    #[test]
    fn a_kind_of_resource_is_a_part_of_the_api_and_needs_the_scope_that_reads_it() {
        use domain::resource_kind::ResourceKind;

        let document: Value = serde_json::from_str(&super::openapi().to_json().unwrap()).unwrap();
        let mut reading = HashSet::new();
        let mut writing = HashSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let Some(within) = path.strip_prefix("/admin/v1/") else {
                continue;
            };
            let part = within.split('/').next().unwrap().to_owned();
            for (method, operation) in item.as_object().unwrap() {
                let scope = operation["security"][0]["token"][0].as_str();
                if method == "get" {
                    reading.insert((part.clone(), scope.unwrap_or_default().to_owned()));
                } else {
                    writing.insert(part.clone());
                }
            }
        }
        for kind in ResourceKind::ALL {
            let name = kind.as_str().to_owned();
            assert!(writing.remove(&name), "nothing changes {name}");
            // The demo is of many kinds, and is shown as those.
            if kind != ResourceKind::Demo {
                let scope = kind.scope().as_str().to_owned();
                assert!(reading.contains(&(name, scope)), "{kind:?}");
            }
        }
        let mut others: Vec<_> = writing.into_iter().collect();
        others.sort_unstable();
        // They change no stored resource that is shown.
        let known = ["clock", "labels", "own-reads", "test-taps", "verification"];
        assert_eq!(others, known);
    }
}
