//! The cookie of a paired phone.
//!
//! It has no `Domain`, so only the host that set it gets it. Its path is `/`, because URL templates
//! have any path. `HttpOnly` hides it from the scripts of all pages. `SameSite=Lax` sends it when a
//! chip or a QR code opens a URL, which `Strict` would not in browsers that count the scanning app as
//! another site; forms of other sites do not get it.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};

use app::service::Service;
use app::staff;
use domain::clock::Timestamp;
use domain::id::SheetId;
use domain::phone::{Phone, PhoneSecret};
use storage::StorageError;

/// The name over https. Browsers accept the prefix only from the host itself, with `Secure`.
const HTTPS: &str = "__Host-tapdesk_staff";
/// The name over http, where browsers do not accept the prefix.
const HTTP: &str = "tapdesk_staff";
/// The name of the cookie with the test sheet of the last row.
const SHEET: &str = "tapdesk_sheet";
/// How long that sheet is remembered, in seconds: a day, as a job at one delivery lasts no longer.
const SHEET_AGE: u32 = 24 * 60 * 60;
/// Longest lifetime, in seconds: browsers keep no cookie for more than 400 days.
const MAX_AGE: i64 = 400 * 24 * 60 * 60;

/// The `Set-Cookie` header for a secret that ends at `end`.
pub(super) fn header_of(
    secret: &PhoneSecret,
    is_https: bool,
    end: Option<Timestamp>,
    now: Timestamp,
) -> Option<HeaderValue> {
    let (name, secure) = if is_https {
        (HTTPS, "; Secure")
    } else {
        (HTTP, "")
    };
    let left = end.map_or(MAX_AGE, |end| end.since(now).whole_seconds().min(MAX_AGE));
    let cookie = format!(
        "{name}={}; Path=/; Max-Age={left}; HttpOnly; SameSite=Lax{secure}",
        secret.expose()
    );
    HeaderValue::from_str(&cookie).ok()
}

/// The `Set-Cookie` header that notes the test sheet to which a phone added its last row. It is no
/// secret, and gives no right: it only chooses among the sheets that a page offers.
pub(super) fn header_of_sheet(sheet: SheetId, is_https: bool) -> Option<HeaderValue> {
    let secure = if is_https { "; Secure" } else { "" };
    let cookie = format!(
        "{SHEET}={sheet}; Path=/staff; Max-Age={SHEET_AGE}; HttpOnly; SameSite=Lax{secure}"
    );
    HeaderValue::from_str(&cookie).ok()
}

/// The test sheet to which the phone added its last row, as its cookie says.
pub(super) fn sheet(headers: &HeaderMap) -> Option<SheetId> {
    let mut noted = pairs(headers).filter(|(name, _)| *name == SHEET);
    noted.find_map(|(_, value)| value.parse().ok())
}

/// The phone whose cookie a request has. `None` if it has none, if the phone has ended, or if the
/// browser does not open the answer as a page: a script, a frame or an image gets no staff page.
pub(super) async fn phone(
    service: &Service,
    headers: &HeaderMap,
    host: &str,
) -> Result<Option<Arc<Phone>>, StorageError> {
    let paired = paired(service, headers, host).await?;
    Ok(paired.map(|(phone, _)| phone))
}

/// Like [`phone`], with the secret in the cookie.
pub(super) async fn paired(
    service: &Service,
    headers: &HeaderMap,
    host: &str,
) -> Result<Option<(Arc<Phone>, PhoneSecret)>, StorageError> {
    let sent = secrets(headers);
    if sent.is_empty() || !opens_a_page(headers) {
        return Ok(None);
    }
    let is_https = staff::is_https_at(service, host).await?;
    for (of_https, secret) in sent {
        // Over https the name without the prefix may have been set by another host.
        if of_https == is_https
            && let Some(phone) = service.phones.by_secret(secret.hash()).await?
        {
            return Ok(Some((phone, secret)));
        }
    }
    Ok(None)
}

/// The secrets in cookies of these names, and whether each has the name over https.
fn secrets(headers: &HeaderMap) -> Vec<(bool, PhoneSecret)> {
    let of_phones = pairs(headers).filter(|(name, _)| [HTTPS, HTTP].contains(name));
    of_phones
        .filter_map(|(name, value)| Some((name == HTTPS, PhoneSecret::parse(value)?)))
        .collect()
}

/// The names and values of all cookies.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
}

/// Whether the browser opens the answer as a page of its own. Browsers say so over https only.
fn opens_a_page(headers: &HeaderMap) -> bool {
    let into = headers.get("sec-fetch-dest");
    into.is_none_or(|into| into == "document")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::clock::Millis;
    use domain::entropy::SeededEntropy;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let values = values.iter();
        let values = values.map(|value| HeaderValue::from_str(value).unwrap());
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value);
        }
        headers
    }

    #[test]
    fn a_secret_is_found_among_other_cookies() {
        let secret = PhoneSecret::generate(&SeededEntropy::new(1));
        let text = secret.expose();
        let of_https = format!("a=b; {HTTPS}={text}");
        let of_http = format!("{HTTP}={text};c");
        let found = |values: &[&str]| {
            let found = secrets(&headers("cookie", values)).into_iter();
            found.map(|(https, _)| https).collect::<Vec<_>>()
        };
        assert_eq!(found(&[&of_https, &of_http]), [true, false]);
        let short = format!("{HTTP}={}", &text[1..]);
        let other = format!("{HTTP}2={text}");
        for values in [&[][..], &["a=b"], &[&*short], &[&*other]] {
            assert!(found(values).is_empty(), "{values:?}");
        }
    }

    #[test]
    fn the_sheet_of_the_last_row_is_read_as_it_was_noted() {
        let noted = header_of_sheet(SheetId::new(7), false).unwrap();
        let expected = "tapdesk_sheet=7; Path=/staff; Max-Age=86400; HttpOnly; SameSite=Lax";
        assert_eq!(noted, expected);
        let read = |value| sheet(&headers("cookie", &[value]));
        assert_eq!(read("a=b; tapdesk_sheet=7"), Some(SheetId::new(7)));
        for value in [
            "a=b",
            "tapdesk_sheet=",
            "tapdesk_sheet=x",
            "tapdesk_sheet=0",
        ] {
            assert_eq!(read(value), None, "{value}");
        }
    }

    #[test]
    fn only_a_page_of_its_own_is_opened_by_staff() {
        let with = |value| opens_a_page(&headers("sec-fetch-dest", &[value]));
        assert!(with("document") && opens_a_page(&HeaderMap::new()));
        assert!(!with("empty") && !with("iframe") && !with("image"));
    }

    #[test]
    fn a_cookie_ends_with_its_phone_and_is_of_one_host() {
        let secret = PhoneSecret::generate(&SeededEntropy::new(2));
        let now = Timestamp::from_millis(0);
        let end = now.plus(Millis::minutes(1));
        let text = secret.expose();
        let cookie = header_of(&secret, true, Some(end), now).unwrap();
        let expected = format!(
            "__Host-tapdesk_staff={text}; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(cookie, expected);
        let cookie = header_of(&secret, false, None, now).unwrap();
        let expected =
            format!("tapdesk_staff={text}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax");
        assert_eq!(cookie, expected);
    }
}
