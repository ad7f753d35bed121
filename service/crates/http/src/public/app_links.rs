//! `GET /.well-known/..`: the files in which iOS and Android read which apps open the URLs of a host.
//! Both want them without a redirect, as `application/json`:
//! <https://developer.apple.com/documentation/xcode/supporting-associated-domains>,
//! <https://developers.google.com/digital-asset-links/v1/create-statement>.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use url::Url;
use utoipa::ToSchema;

use super::tap::requested;
use crate::auth::origin::{user_agent, visitor};
use crate::error::{no_such_route, refused_tap};
use crate::public::AsService;
use app::service::Service;
use app::tap::TapError;
use domain::settings::{AndroidApp, AppLinks, Settings, host};
use storage::StorageError;

/// Most paths of templates in a file, which iOS reads up to 128 KiB.
const PATHS_MAX: usize = 100;

/// The iOS apps of a host.
#[derive(Serialize, ToSchema)]
pub(crate) struct AppSiteAssociation {
    /// The service of universal links.
    applinks: UniversalLinks,
}

/// The apps that open universal links.
#[derive(Serialize, ToSchema)]
struct UniversalLinks {
    /// Apps, with the URLs that they open.
    details: Vec<UniversalLinkApps>,
}

/// Apps that open the same URLs.
#[derive(Serialize, ToSchema)]
struct UniversalLinkApps {
    /// Ids of the apps, with their prefix.
    #[serde(rename = "appIDs")]
    app_ids: Vec<String>,
    /// Patterns of URLs: `/` is the path, in which `*` stands for any characters.
    #[schema(value_type = Vec<BTreeMap<String, String>>)]
    components: Vec<BTreeMap<&'static str, String>>,
}

/// A statement that an Android app may open all URLs of the host.
#[derive(Serialize, ToSchema)]
pub(crate) struct AssetStatement {
    /// The permission of links.
    #[schema(value_type = Vec<String>)]
    relation: [&'static str; 1],
    /// The app that opens the URLs.
    target: AssetTarget,
}

/// An Android app, by its id and certificates.
#[derive(Serialize, ToSchema)]
struct AssetTarget {
    /// The kind of target, always `android_app`.
    #[schema(value_type = String)]
    namespace: &'static str,
    /// The application id in its package.
    package_name: String,
    /// SHA-256 fingerprints of its signing certificates.
    sha256_cert_fingerprints: Vec<String>,
}

/// List the iOS apps of a host
///
/// iOS opens tags' URLs of this host in these apps (universal links). The host of the request
/// decides.
#[utoipa::path(
    get, path = "/.well-known/apple-app-site-association", tag = "public",
    responses(
        (status = OK, body = AppSiteAssociation),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No iOS app opens URLs of this host"),
        (status = SERVICE_UNAVAILABLE, body = String, content_type = "text/html", description = "The URL templates cannot be read")
    )
)]
pub(crate) async fn ios(AsService(service): AsService, request: Request) -> Response {
    let settings = service.settings();
    let links = of_host(&settings, &request);
    let Some(links) = links.filter(|links| !links.ios_app_ids.is_empty()) else {
        return none(&service, &request);
    };
    let paths = if links.paths.is_empty() {
        match paths_of_tags(&service, &settings, &links.host).await {
            Ok(paths) => paths,
            Err(error) => return refused_tap(TapError::from(error)),
        }
    } else {
        links.paths.clone()
    };
    let components = paths.into_iter().map(|path| BTreeMap::from([("/", path)]));
    let details = vec![UniversalLinkApps {
        app_ids: links.ios_app_ids.clone(),
        components: components.collect(),
    }];
    file(&AppSiteAssociation {
        applinks: UniversalLinks { details },
    })
}

/// List the Android apps of a host
///
/// Android opens URLs of this host in these apps (App Links, a statement list of Digital Asset
/// Links). The host of the request decides. The apps themselves name the paths.
#[utoipa::path(
    get, path = "/.well-known/assetlinks.json", tag = "public",
    responses(
        (status = OK, body = Vec<AssetStatement>),
        (status = NOT_FOUND, body = String, content_type = "text/html", description = "No Android app opens URLs of this host")
    )
)]
pub(crate) async fn android(AsService(service): AsService, request: Request) -> Response {
    let settings = service.settings();
    let links = of_host(&settings, &request);
    let Some(links) = links.filter(|links| !links.android_apps.is_empty()) else {
        return none(&service, &request);
    };
    let statements = links.android_apps.iter().map(statement);
    file(&statements.collect::<Vec<_>>())
}

fn statement(app: &AndroidApp) -> AssetStatement {
    AssetStatement {
        relation: ["delegate_permission/common.handle_all_urls"],
        target: AssetTarget {
            namespace: "android_app",
            package_name: app.package.clone(),
            sha256_cert_fingerprints: app.sha256_cert_fingerprints.clone(),
        },
    }
}

/// The apps of the host that a request is addressed to.
fn of_host<'a>(settings: &'a Settings, request: &Request) -> Option<&'a AppLinks> {
    let asked = host::of_authority(requested(request).host)?.to_string();
    settings.app_links.iter().find(|links| links.host == asked)
}

/// The paths of tags' URLs at `at`: below the tag URL if it has this host, and of its URL templates.
/// Without any, those below `/t`, which answers at every host.
async fn paths_of_tags(
    service: &Service,
    settings: &Settings,
    at: &str,
) -> Result<Vec<String>, StorageError> {
    let of_templates = service.templates.current().await?.paths_at(at);
    let is_own = host::of_url(&settings.tag_url).is_some_and(|host| host.to_string() == at);
    let mut paths = Vec::new();
    if is_own || of_templates.is_empty() {
        let url = Url::parse(&settings.tag_url).ok().filter(|_| is_own);
        let base = url.as_ref().map_or("/t", Url::path).trim_end_matches('/');
        paths.push(format!("{base}/*"));
        // A QR code in capitals has /T.
        paths.extend(base.strip_suffix("/t").map(|front| format!("{front}/T/*")));
    }
    paths.extend(of_templates);
    paths.truncate(PATHS_MAX);
    Ok(paths)
}

/// A file for phones. Nothing keeps it: a change is in force at once.
fn file(contents: &impl Serialize) -> Response {
    let mut response = Json(contents).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    response
}

fn none(service: &Service, request: &Request) -> Response {
    let visitor = visitor(request.headers(), user_agent(request.headers()));
    no_such_route(service, request.uri().path(), &visitor)
}
