//! Pages for the people who tap. Owners' texts are data that the template engine escapes, never
//! template source.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use app::service::{CachedTag, Service};
use app::studio::{Shell, Words, own_language, plain, words};
pub(super) use app::tap::nonce;
use domain::experience::{Content, Theme};
use domain::id::ExperienceId;
use domain::settings::{Pages, PlainPage};
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
    page(status, shell, None, &[text])
}

/// A plain page that is about no tag, in the language of the visitor and the look of its owner.
/// `default` are the heading and the text without own ones.
pub(super) fn owned(
    service: &Service,
    status: StatusCode,
    which: PlainPage,
    visitor: &Visitor,
    default: impl Fn(&Words) -> (&str, &str),
) -> Response {
    let settings = service.settings();
    let said = Said::of(&settings.pages, Some(which), visitor, "en", default);
    branded(service, &settings.pages, status, &said, None)
}

/// A page with a message about a tag, in the language of the visitor and the theme of the
/// experience. `which` is the page whose text its owner can write.
pub(super) fn tag(
    service: &Service,
    status: StatusCode,
    tag: &CachedTag,
    visitor: &Visitor,
    which: Option<PlainPage>,
    text: impl Fn(&Words) -> &str,
) -> Response {
    say(service, status, tag, visitor, which, |words| {
        (None, text(words))
    })
}

/// The page for a phone that opened the test URL of the address.
pub(super) fn reached(visitor: &Visitor) -> Response {
    let language = own_language(&visitor.languages, []).unwrap_or("en");
    let words = words(language);
    let shell = Shell {
        language,
        title: &words.reached_title,
        theme: &Theme::default(),
        logo: None,
        nonce: None,
    };
    page(StatusCode::OK, shell, None, &[&words.reached])
}

/// A page that asks the visitor for another tap.
pub(super) fn tap_again(
    service: &Service,
    status: StatusCode,
    tag: &CachedTag,
    visitor: &Visitor,
) -> Response {
    say(service, status, tag, visitor, None, |words| {
        (Some(&words.over_title), &words.over)
    })
}

fn say(
    service: &Service,
    status: StatusCode,
    tag: &CachedTag,
    visitor: &Visitor,
    which: Option<PlainPage>,
    say: impl Fn(&Words) -> (Option<&str>, &str),
) -> Response {
    let settings = service.settings();
    let own = tag.language();
    let mut said = Said::of(&settings.pages, which, visitor, &own, |words| {
        let (title, text) = say(words);
        (title.unwrap_or_default(), text)
    });
    if said.title.is_empty() {
        said.title = tag.shown_title();
    }
    let theme = match tag
        .experience()
        .map(|experience| (&*experience.content, experience))
    {
        Some((Content::Studio { theme, .. }, experience)) => {
            Some((theme, experience.version.experience_id))
        }
        _ => None,
    };
    branded(service, &settings.pages, status, &said, theme)
}

/// The texts of a plain page, in the best language for its visitor.
struct Said<'a> {
    language: &'a str,
    title: &'a str,
    text: &'a str,
}

impl<'a> Said<'a> {
    /// The own text of the page `which` in the visitor's language, else the `default` one. The
    /// language is `fallback` if the visitor reads none in which there is a text.
    fn of(
        pages: &'a Pages,
        which: Option<PlainPage>,
        visitor: &Visitor,
        fallback: &'a str,
        default: impl Fn(&Words) -> (&str, &str),
    ) -> Self {
        let more = which.into_iter().flat_map(|which| pages.languages(which));
        let language = own_language(&visitor.languages, more).unwrap_or(fallback);
        let own = which.and_then(|which| pages.text(which, language));
        let (title, text) = default(words(language));
        Self {
            language: own.map_or(language, |own| own.language.as_str()),
            title: own.and_then(|own| own.heading.as_deref()).unwrap_or(title),
            text: own.and_then(|own| own.text.as_deref()).unwrap_or(text),
        }
    }
}

/// A plain page in the look of its owner. The theme of an experience goes before it.
fn branded(
    service: &Service,
    pages: &Pages,
    status: StatusCode,
    said: &Said<'_>,
    experience: Option<(&Theme, ExperienceId)>,
) -> Response {
    let own = Theme {
        accent: pages.accent,
        ..Theme::default()
    };
    let logo = experience
        .and_then(|(theme, id)| theme.logo.map(|logo| service.media.path(id, logo)))
        .or_else(|| {
            let logo = service.page_logo()?;
            Some(format!("/media/{}", logo.file_name()))
        });
    let shell = Shell {
        language: said.language,
        title: said.title,
        theme: experience.map_or(&own, |(theme, _)| theme),
        logo: logo.as_deref(),
        nonce: None,
    };
    page(status, shell, pages.name.as_deref(), &[said.text])
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
    page(StatusCode::OK, shell, None, &[tag.description()])
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
fn page(status: StatusCode, shell: Shell<'_>, name: Option<&str>, texts: &[&str]) -> Response {
    let Ok(html) = plain(shell, name, texts) else {
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

/// Header that decides which pages keep a handle on this one.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// A page of a staff phone. `nonce` allows its style and its one script, which loads nothing. Its forms
/// reach only the host that it came from, and caches keep it for nobody.
pub(super) fn staff(status: StatusCode, html: String, nonce: &str) -> Response {
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    );
    let mut response = with_policy(html, &policy);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::VARY, HeaderValue::from_static("Cookie"));
    // Without a referrer, browsers do not name the origin of a form, by which forms of other sites
    // are refused.
    let own = HeaderValue::from_static("same-origin");
    headers.insert(header::REFERRER_POLICY, own);
    keep_from_opener(headers);
    response
}

/// Takes the page from a page of the same host that opened it in a window, and could read it there.
/// Browsers obey over https only.
pub(super) fn keep_from_opener(headers: &mut HeaderMap) {
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
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
