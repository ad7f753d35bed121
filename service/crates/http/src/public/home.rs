//! The page at `/` of each host: for people who open a tag's host, without a tag.

use axum::http::StatusCode;
use axum::response::Response;
use url::Url;

use super::tap::redirect;
use crate::pages;
use app::service::Service;
use domain::settings::{PlainPage, host};
use domain::visitor::Visitor;

/// The answer to a visitor of `/` at `host`: a redirect to the owner's own page, or a plain page. It
/// says nothing about the service.
pub(super) fn home(service: &Service, host: &str, visitor: &Visitor) -> Response {
    let settings = service.settings();
    let elsewhere = settings.pages.home_url.as_deref();
    if let Some(url) = elsewhere.filter(|url| !is_home_of(url, host)) {
        return redirect(url);
    }
    let (status, which) = (StatusCode::OK, PlainPage::Home);
    pages::owned(service, status, which, visitor, |words| {
        (&words.home_title, &words.home)
    })
}

/// Whether `url` is the page at `/` of `host`, to which a redirect would never end.
fn is_home_of(url: &str, host: &str) -> bool {
    let is_root = Url::parse(url).is_ok_and(|url| url.path() == "/");
    is_root && host::of_url(url).is_some_and(|own| host::of_authority(host) == Some(own))
}
