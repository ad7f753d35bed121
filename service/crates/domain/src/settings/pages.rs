//! The plain pages that visitors get if there is no page of an experience: their owner's name, logo,
//! colour and texts.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use url::Url;
use utoipa::ToSchema;

use super::InvalidSetting;
use crate::experience::{Colour, is_language};
use crate::image_type::ImageType;
use crate::text::text_fits;
use crate::visitor::primary;

/// Longest name, in characters. It stands on one line of a phone.
const NAME_MAX: usize = 80;
/// Longest heading, in characters.
const HEADING_MAX: usize = 120;
/// Longest text of a page, in characters.
const TEXT_MAX: usize = 1_000;
/// Most texts: four pages in fifty languages.
const TEXTS_MAX: usize = 200;
/// Longest URL, in bytes. Browsers take at least as much.
const URL_MAX: usize = 2_048;

/// How plain pages look, and their texts. Members that are missing have the service's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    /// The name above the heading of each page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 80)]
    pub name: Option<String>,
    /// The colour of the name and of the mark. Where it would be hard to read, a shade of it that can
    /// be read (contrast 4.5 to 1) is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^#[0-9A-Fa-f]{6}$")]
    pub accent: Option<Colour>,
    /// The http or https URL to which the page at `/` redirects. Without one, `/` is a plain page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[Hh][Tt][Tt][Pp][Ss]?://", max_length = 2048)]
    pub home_url: Option<String>,
    /// Own texts, in any languages. A page without one in a visitor's language has the service's
    /// text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false, max_items = 200)]
    pub texts: Vec<PageText>,
}

/// The own text of a page in a language. It is plain text: no markup, and no macros.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PageText {
    /// The page that shows it.
    pub page: PlainPage,
    /// A language tag such as `de` or `pt-BR`.
    #[schema(pattern = "^[A-Za-z]{2,8}(-[0-9A-Za-z]{1,8})*$", max_length = 35)]
    pub language: String,
    /// The heading. Missing: the service's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 120)]
    pub heading: Option<String>,
    /// The text below the heading, whose line breaks are kept. Missing: the service's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 1000)]
    pub text: Option<String>,
}

/// A plain page whose texts its owner can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlainPage {
    /// The page at `/` of each host.
    Home,
    /// No tag and nothing else is at the address (404).
    NotFound,
    /// A tag or an inlay that leads nowhere yet.
    NotSetUp,
    /// A tag of a recalled group that has no experience for it.
    Recalled,
}

/// The logo of plain pages, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageLogo {
    /// Format of the stored bytes.
    #[serde(rename = "type")]
    pub media_type: ImageType,
    /// SHA-256 of the stored bytes, in hexadecimal. Another logo has another digest.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
}

impl PageLogo {
    /// The logo with these bytes.
    pub fn of(media_type: ImageType, bytes: &[u8]) -> Self {
        Self {
            media_type,
            digest: base16ct::lower::encode_string(&Sha256::digest(bytes)),
        }
    }

    /// The last part of its public address. It changes with the bytes, so that browsers can keep
    /// them.
    pub fn file_name(&self) -> String {
        format!("logo-{}", self.digest)
    }
}

impl Pages {
    /// The pages, without spaces around their texts.
    pub(super) fn checked(&self) -> Result<Self, InvalidSetting> {
        let wrong = |field: &str, what| Err(InvalidSetting::of(format!("pages.{field}"), what));
        let name = trimmed(self.name.as_deref());
        if name.as_ref().is_some_and(|name| !text_fits(name, NAME_MAX)) {
            return wrong("name", "A name has at most 80 characters.");
        }
        let home_url = trimmed(self.home_url.as_deref());
        if home_url.as_ref().is_some_and(|url| !is_web_url(url)) {
            return wrong(
                "home_url",
                "The page at / redirects to an https or http URL without a user name, such as \
                 https://www.example.com.",
            );
        }
        if self.texts.len() > TEXTS_MAX {
            return wrong("texts", "There can be at most 200 texts.");
        }
        let mut texts: Vec<PageText> = Vec::with_capacity(self.texts.len());
        for (at, text) in self.texts.iter().enumerate() {
            let text = text.trimmed();
            if let Some((field, what)) = text.wrong(&texts) {
                return wrong(&format!("texts[{at}].{field}"), what);
            }
            texts.push(text);
        }
        Ok(Self {
            name,
            accent: self.accent,
            home_url,
            texts,
        })
    }

    /// The languages in which a page has an own text.
    pub fn languages(&self, page: PlainPage) -> impl Iterator<Item = &str> {
        let own = self.texts.iter().filter(move |text| text.page == page);
        own.map(|text| text.language.as_str())
    }

    /// The own text of a page in a language, or in another one of the same kind.
    pub fn text(&self, page: PlainPage, language: &str) -> Option<&PageText> {
        let own = || self.texts.iter().filter(move |text| text.page == page);
        let is = |text: &&PageText| text.language.eq_ignore_ascii_case(language);
        let is_near =
            |text: &&PageText| primary(&text.language).eq_ignore_ascii_case(primary(language));
        own().find(is).or_else(|| own().find(is_near))
    }
}

impl PageText {
    fn trimmed(&self) -> Self {
        Self {
            page: self.page,
            language: self.language.trim().to_owned(),
            heading: trimmed(self.heading.as_deref()),
            text: trimmed(self.text.as_deref()),
        }
    }

    /// The field that is not valid, and why. `before` are the texts before it.
    fn wrong(&self, before: &[Self]) -> Option<(&'static str, &'static str)> {
        let fits = |text: Option<&str>, max| text.is_none_or(|text| text_fits(text, max));
        let same = |other: &Self| {
            other.page == self.page && other.language.eq_ignore_ascii_case(&self.language)
        };
        if !is_language(&self.language) {
            return Some(("language", "A language is a tag such as de or pt-BR."));
        }
        if before.iter().any(same) {
            return Some(("language", "Each page has one text in a language."));
        }
        if !fits(self.heading.as_deref(), HEADING_MAX) {
            return Some(("heading", "A heading has at most 120 characters."));
        }
        if !fits(self.text.as_deref(), TEXT_MAX) {
            return Some(("text", "A text has at most 1,000 characters."));
        }
        (self.heading.is_none() && self.text.is_none())
            .then_some(("text", "Write a heading or a text, or leave the entry out."))
    }
}

/// A text without spaces around it; `None` if nothing is left.
fn trimmed(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether a visitor can be sent to this URL. It must be printable ASCII for its header, as URLs
/// are.
fn is_web_url(text: &str) -> bool {
    let graphic = text.bytes().all(|byte| byte.is_ascii_graphic());
    let url = Url::parse(text).ok().filter(|_| graphic);
    url.is_some_and(|url| {
        text.len() <= URL_MAX
            && matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(json: serde_json::Value) -> Pages {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_redirect_of_the_first_page_goes_to_the_web() {
        for (url, good) in [
            ("https://www.example.com", true),
            ("http://example.com/shop?from=tag#top", true),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
            ("//example.com", false),
            ("/shop", false),
            ("https://name@example.com", false),
            ("https://example.com/ü", false),
            ("https://example.com/\r\nset-cookie: a=b", false),
            ("https:// example.com", false),
        ] {
            let home = pages(serde_json::json!({"home_url": url}));
            assert_eq!(home.checked().is_ok(), good, "{url}");
        }
    }

    #[test]
    fn an_empty_text_is_none_and_a_text_that_does_not_fit_is_refused_at_its_field() {
        let spaces = pages(serde_json::json!({"name": "  ", "home_url": ""}));
        assert_eq!(spaces.checked().unwrap(), Pages::default());
        let text = |heading: &str, text: &str| serde_json::json!({"page": "recalled", "language": "de", "heading": heading, "text": text});
        let long = "x".repeat(1_001);
        for (texts, field) in [
            (vec![text("", " ")], "texts[0].text"),
            (vec![text("", &long)], "texts[0].text"),
            (vec![text("a", ""), text("b", "")], "texts[1].language"),
            (vec![text(&long, "")], "texts[0].heading"),
            (vec![text("a", ""); 1_000], "texts"),
        ] {
            let error = pages(serde_json::json!({"texts": texts})).checked();
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(&format!("pages.{field}: ")), "{error}");
        }
        let odd =
            serde_json::json!({"texts": [{"page": "home", "language": "d\u{e9}", "text": "a"}]});
        let error = pages(odd).checked().unwrap_err().to_string();
        assert!(error.starts_with("pages.texts[0].language: "), "{error}");
    }

    #[test]
    fn a_text_is_found_in_its_language_or_in_one_of_its_kind() {
        let own = pages(serde_json::json!({"texts": [
            {"page": "recalled", "language": "pt-BR", "text": "Brasil"},
            {"page": "recalled", "language": "pt", "text": "Portugal"},
            {"page": "home", "language": "de", "text": "Hallo"},
        ]}));
        let found = |page, language| {
            let found = own.text(page, language)?;
            found.text.clone()
        };
        assert_eq!(found(PlainPage::Recalled, "PT").unwrap(), "Portugal");
        assert_eq!(found(PlainPage::Recalled, "pt-AO").unwrap(), "Brasil");
        assert_eq!(found(PlainPage::Home, "de-AT").unwrap(), "Hallo");
        assert_eq!(found(PlainPage::Home, "pt"), None);
        let languages: Vec<_> = own.languages(PlainPage::Recalled).collect();
        assert_eq!(languages, ["pt-BR", "pt"]);
    }
}
