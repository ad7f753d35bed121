//! Declares routes of the admin API with the scope that they require. There is no other way to add
//! a route.
//!
//! ```text
//! Routes::new(purpose)
//!     .read(bounded(routes!(tags::list)))
//!     .keys(routes!(master_keys::create))
//! ```

mod declared;

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use axum::extract::{FromRequestParts, Request};
use axum::http::Method;
use axum::http::request::Parts;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use utoipa::IntoResponses as _;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::extract::query;
use crate::admin::Asked;
use crate::admins::Grant;
use crate::error::{ApiError, Invalid, NotFound, Written};
use crate::state::AppState;
use app::service::Service;
use declared::Describe;
pub(super) use declared::{Declared, bounded, routes};
use domain::admin_token::StoredToken;
use domain::audit::{Note, Salt};
use domain::caller::Caller;
use domain::entropy;
use domain::scope::{Rights, Scope};

/// Extension of the OpenAPI document: whether an operation accepts tokens that are limited to
/// experiences.
const LIMITED: &str = "x-limited-tokens";

/// The caller of a request. `lib.rs` adds it to each request.
#[derive(Clone)]
pub(crate) struct Requester {
    service: Arc<Service>,
    grant: Grant,
    address: IpAddr,
}

impl<S: Sync> FromRequestParts<S> for Requester {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts
            .extensions
            .get()
            .cloned()
            .ok_or(ApiError::Unauthorized)
    }
}

impl Requester {
    /// The sender of a request with this grant, from this address.
    pub(crate) fn new(service: &Arc<Service>, grant: Grant, address: IpAddr) -> Self {
        Self {
            service: Arc::clone(service),
            grant,
            address,
        }
    }

    /// The rights of the request.
    pub(super) fn rights(&self) -> Rights {
        self.grant.rights()
    }

    /// The stored token of the request; `None` for the installation's own.
    pub(super) fn token(&self) -> Option<&StoredToken> {
        self.grant.stored()
    }

    /// Refuses a request whose token lacks `scope`. For routes where only some requests need that
    /// scope.
    pub(super) fn needs(&self, scope: Scope) -> Result<(), ApiError> {
        if self.rights().allow(scope) {
            Ok(())
        } else {
            Err(ApiError::Scope(scope))
        }
    }
}

/// The routes of the admin API.
pub(super) struct Routes {
    router: OpenApiRouter<AppState>,
    purpose: Purpose,
}

/// The purpose for which routes are collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To answer requests. A description is made at the first request of its path, because together
    /// they take about 20 MB, and longer to build than the rest of a start.
    Serve,
    /// To describe the routes in the OpenAPI document.
    Document,
}

macro_rules! scopes {
    ($($(#[$doc:meta])* $name:ident: $scope:expr),+ $(,)?) => {$(
        $(#[$doc])*
        #[allow(dead_code, reason = "each scope has its word, if a route needs it or not")]
        pub(super) fn $name(self, routes: Declared) -> Self {
            self.declare($scope, routes)
        }
    )+};
}

impl Routes {
    pub(super) fn new(purpose: Purpose) -> Self {
        Self {
            router: OpenApiRouter::new(),
            purpose,
        }
    }

    scopes! {
        /// Routes that need [`Scope::Read`].
        read: Some(Scope::Read),
        /// Routes that need [`Scope::Tags`].
        tags: Some(Scope::Tags),
        /// Routes that need [`Scope::Experiences`].
        experiences: Some(Scope::Experiences),
        /// Routes that need [`Scope::Publish`].
        publish: Some(Scope::Publish),
        /// Routes that need [`Scope::Encode`].
        encode: Some(Scope::Encode),
        /// Routes that need [`Scope::Keys`].
        keys: Some(Scope::Keys),
        /// Routes that need [`Scope::Webhooks`].
        webhooks: Some(Scope::Webhooks),
        /// Routes that need [`Scope::Export`].
        export: Some(Scope::Export),
        /// Routes that need [`Scope::Admin`].
        admin: Some(Scope::Admin),
        /// Routes that accept any valid token.
        any_token: None,
    }

    fn declare(self, scope: Option<Scope>, declared: Declared) -> Self {
        let Declared {
            path,
            methods,
            describe,
            bounded,
        } = declared;
        let rule = Arc::new(Rule {
            scope,
            bounded,
            records: scope == Some(Scope::Export) || path.ends_with("/export"),
            describe,
            operations: OnceLock::new(),
        });
        let router = match self.purpose {
            Purpose::Serve => {
                let admit =
                    move |request: Request, next: Next| admit(Arc::clone(&rule), request, next);
                let methods = methods.route_layer(middleware::from_fn(admit));
                self.router.route(&path, methods)
            }
            Purpose::Document => self.router.routes(rule.described()),
        };
        Self { router, ..self }
    }

    pub(super) fn into_router(self) -> OpenApiRouter<AppState> {
        self.router
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    [
        (Method::GET, &mut item.get),
        (Method::POST, &mut item.post),
        (Method::PUT, &mut item.put),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
    ]
    .into_iter()
    .filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

/// The name of an operation in the audit log, such as `tags.update` or `experiences.publish`.
fn action(path: &str, method: &Method, operation: &Operation) -> String {
    let mut words: Vec<_> = path
        .split('/')
        .filter(|part| !part.is_empty() && !part.starts_with('{'))
        .collect();
    match *method {
        Method::PATCH => words.push("update"),
        Method::PUT => words.push("set"),
        Method::DELETE => words.push("delete"),
        // For an import, the object of the row names the created resources.
        _ if words.last() == Some(&"import") => {}
        _ if operation.responses.responses.contains_key("201") => words.push("create"),
        _ => {}
    }
    words.join(".")
}

/// The requirements of the routes of one declaration.
struct Rule {
    scope: Option<Scope>,
    bounded: bool,
    /// Whether reads are recorded in the audit log, because exported data is out of the service's
    /// control.
    records: bool,
    describe: Describe,
    operations: OnceLock<HashMap<Method, Known>>,
}

/// The parts of an operation's description that its requests need.
struct Known {
    action: Arc<str>,
    /// The names of its query parameters.
    parameters: Vec<String>,
}

impl Rule {
    /// The operation of a method.
    fn operation(&self, method: &Method) -> Option<&Known> {
        let operations = self.operations.get_or_init(|| {
            let (_, mut paths, _) = (self.describe)();
            let paths = paths.paths.iter_mut();
            let known = paths.flat_map(|(path, item)| {
                operations(item).map(|(method, operation)| {
                    let known = Known {
                        action: action(path, &method, operation).into(),
                        parameters: query::names(operation),
                    };
                    (method, known)
                })
            });
            known.collect()
        });
        operations.get(method)
    }

    /// The routes with their descriptions, to which the requirements are added.
    fn described(&self) -> UtoipaMethodRouter<AppState> {
        let (schemas, mut paths, methods) = (self.describe)();
        for item in paths.paths.values_mut() {
            for (_, operation) in operations(item) {
                let scopes = self.scope.map(Scope::as_str);
                operation.security = Some(vec![SecurityRequirement::new("token", scopes)]);
                let limited = ExtensionsBuilder::new().add(LIMITED, self.bounded).build();
                operation.extensions.get_or_insert_default().merge(limited);
                let answers = &mut operation.responses.responses;
                // Every operation refuses unknown parameters.
                let mut added = Invalid::responses();
                if self.records {
                    added.extend(Written::responses());
                }
                if !self.bounded {
                    added.extend(NotFound::responses());
                }
                for (status, answer) in added {
                    answers.entry(status).or_insert(answer);
                }
            }
        }
        (schemas, paths, methods)
    }
}

/// Lets a request pass if its token has the scope, and runs it on behalf of its caller.
async fn admit(rule: Arc<Rule>, mut request: Request, next: Next) -> Response {
    let Some(Requester {
        service,
        grant,
        address,
    }) = request.extensions().get().cloned()
    else {
        return ApiError::Unauthorized.into_response();
    };
    let rights = grant.rights();
    if let Some(scope) = rule.scope
        && !rights.allow(scope)
    {
        return ApiError::Scope(scope).into_response();
    }
    let reach = rights.reach();
    if reach.limit().is_some() && !rule.bounded {
        return ApiError::NotFound("resource").into_response();
    }
    // HEAD is handled like GET.
    let method = match *request.method() {
        Method::HEAD => &Method::GET,
        ref method => method,
    };
    let operation = rule.operation(method);
    let known = operation.map_or(&[][..], |operation| &operation.parameters);
    if let Err(why) = query::check(request.uri(), known) {
        return ApiError::Invalid(why).into_response();
    }
    // HEAD returns only the headers of an export, so no data leaves the service.
    let records = rule.records && request.method() != Method::HEAD;
    // HEAD has no action of its own.
    let action = operation.filter(|_| request.method() != Method::HEAD);
    let action = action.map(|operation| Arc::clone(&operation.action));
    let action = action.unwrap_or_default();
    // Requests that only read have no row in the audit log.
    let salt = match *request.method() {
        Method::GET | Method::HEAD if !records => Salt::default(),
        _ => entropy::bytes(&*service.entropy),
    };
    let caller = Arc::new(Caller::new(
        grant.actor(),
        address,
        (action, object(request.uri().path())),
        reach,
        salt,
    ));
    let asked = records.then(|| asked(request.uri().query()));
    let service = service.on_behalf_of(&caller);
    request.extensions_mut().insert(Asked(Arc::clone(&service)));
    let answer = next.run(request).await;
    if let Some(asked) = asked
        && answer.status().is_success()
    {
        // A handler with a body says itself what was asked for.
        let note = match caller.asked() {
            Some(said) => Note::done(&said),
            None => Note::done(&asked),
        };
        if let Err(error) = service.storage.record(note).await {
            return ApiError::from(error).into_response();
        }
    }
    answer
}

/// The object of a request, as a path within the admin API.
fn object(path: &str) -> String {
    let within = path.strip_prefix("/admin/v1").unwrap_or(path);
    within.trim_matches('/').to_owned()
}

/// The parameters of an export. Search texts are left out, because they may be personal data.
fn asked(query: Option<&str>) -> BTreeMap<String, String> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let pairs = pairs.map(|(name, value)| {
        let value = match &*name {
            "q" | "value" => "(left out)".to_owned(),
            name if name.starts_with(query::ATTRIBUTE) => "(left out)".to_owned(),
            _ => value.into_owned(),
        };
        (name.into_owned(), value)
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::ResponseBuilder;
    use utoipa::openapi::path::OperationBuilder;

    use super::*;

    #[test]
    fn an_action_is_named_by_its_path_and_method() {
        let answering = |status: &str| {
            let answer = ResponseBuilder::new().build();
            OperationBuilder::new().response(status, answer).build()
        };
        for (method, path, status, name) in [
            (Method::POST, "/tags", "201", "tags.create"),
            (Method::PATCH, "/tags/{id}", "200", "tags.update"),
            (Method::POST, "/tags/bulk", "200", "tags.bulk"),
            (Method::PUT, "/tags/{id}/data/{key}", "200", "tags.data.set"),
            (Method::DELETE, "/demo", "200", "demo.delete"),
        ] {
            assert_eq!(action(path, &method, &answering(status)), name);
        }
    }

    #[test]
    fn what_an_export_searches_for_is_not_kept() {
        let asked = asked(Some("format=csv&q=ada%40example.com&attribute.a=b"));
        let left_out = "(left out)";
        let expected = [
            ("format", "csv"),
            ("q", left_out),
            ("attribute.a", left_out),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(asked, expected.into());
    }

    #[test]
    fn an_object_is_a_path_within_the_api() {
        assert_eq!(object("/admin/v1/tags/41"), "tags/41");
        assert_eq!(object("/tags/41/"), "tags/41");
    }
}
