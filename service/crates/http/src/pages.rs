//! Pages for the people who tap. Owners' texts are data that the template engine escapes, never
//! template source.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use app::service::{CachedTag, Service};
use app::studio::{Shell, Words, own_language, plain, words};
pub(super) use app::tap::nonce;
use domain::experience::{Content, Theme};
use domain::visitor::Visitor;

/// A page with a message.
pub(super) fn message(status: StatusCode, title: &str, text: &str) -> Response {
    let shell = Shell {
        language: "en",
        title,
        theme: &Theme::default(),
        logo: None,
        nonce: None,
    };
    page(status, shell, &[text])
}

/// A page with a message about a tag, in the language of the visitor and the theme of the
/// experience.
pub(super) fn tag(
    service: &Service,
    status: StatusCode,
    tag: &CachedTag,
    visitor: &Visitor,
    text: impl Fn(&Words) -> &str,
) -> Response {
    say(service, status, tag, visitor, |words| (None, text(words)))
}

/// The page for a phone that opened the test URL of the address.
pub(super) fn reached(visitor: &Visitor) -> Response {
    let language = own_language(&visitor.languages).unwrap_or("en");
    let words = words(language);
    let shell = Shell {
        language,
        title: &words.reached_title,
        theme: &Theme::default(),
        logo: None,
        nonce: None,
    };
    page(StatusCode::OK, shell, &[&words.reached])
}

/// A page that asks the visitor for another tap.
pub(super) fn tap_again(
    service: &Service,
    status: StatusCode,
    tag: &CachedTag,
    visitor: &Visitor,
) -> Response {
    say(service, status, tag, visitor, |words| {
        (Some(&words.over_title), &words.over)
    })
}

fn say(
    service: &Service,
    status: StatusCode,
    tag: &CachedTag,
    visitor: &Visitor,
    say: impl Fn(&Words) -> (Option<&str>, &str),
) -> Response {
    let own = tag.language();
    let language = own_language(&visitor.languages).unwrap_or(&own);
    let (title, text) = say(words(language));
    let unstyled = Theme::default();
    let theme = match tag
        .experience()
        .map(|experience| (&*experience.content, experience))
    {
        Some((Content::Studio { theme, .. }, experience)) => Some((theme, experience)),
        _ => None,
    };
    let logo = theme.and_then(|(theme, experience)| {
        let experience = experience.version.experience_id;
        theme.logo.map(|logo| service.media.path(experience, logo))
    });
    let shell = Shell {
        language,
        title: title.unwrap_or(tag.shown_title()),
        theme: theme.map_or(&unstyled, |(theme, _)| theme),
        logo: logo.as_deref(),
        nonce: None,
    };
    page(status, shell, &[text])
}

/// The page of a tag for a link preview: its title and description, without any effect of a tap.
pub(super) fn preview(tag: &CachedTag) -> Response {
    let shell = Shell {
        language: &tag.language(),
        title: tag.shown_title(),
        theme: &Theme::default(),
        logo: None,
        nonce: None,
    };
    page(StatusCode::OK, shell, &[tag.description()])
}

/// The page of a studio experience. `nonce` allows its style and script. Its forms and script can
/// reach only the service.
pub(super) fn experience(html: String, nonce: &str) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src 'self'; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    with_policy(html, &policy)
}

/// A page without scripts. Its policy allows its one style by digest.
fn page(status: StatusCode, shell: Shell<'_>, texts: &[&str]) -> Response {
    let Ok(html) = plain(shell, texts) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let digest = STANDARD.encode(Sha256::digest(shell.style()));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; img-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let mut response = with_policy(html, &policy);
    *response.status_mut() = status;
    response
}

/// A page with a script of the service. `nonce` allows this script and no other.
pub(super) fn scripted(html: String, nonce: &str) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    with_policy(html, &policy)
}

fn with_policy(html: String, policy: &str) -> Response {
    let mut response = Html(html).into_response();
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    keep_private(headers);
    response
}

/// Sets headers so that a key leaks neither through caches nor through referrers.
pub(super) fn keep_private(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
}
