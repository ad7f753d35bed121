//! The pages of staff phones as HTML. They work without a script.

mod contents;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use askama::Template;

use super::action::Done;
use super::form_token;
use super::hosts::tag_hosts;
use super::scan::SCAN_INTEGRITY;
use super::words::{StaffLanguage, StaffWords, fill};
use crate::service::Service;
use crate::studio::{Shell, ToneMarks as _};
use crate::tap::TapError;
use contents::Contents;
use domain::experience::{Theme, Tone};
use domain::id::SheetId;
use domain::interaction::VerificationState;
use domain::phone::Phone;
use domain::trace::TracedInteraction;

/// Maximum size of a photo, in bytes: that of a picture which owners upload.
pub const PHOTO_MAX: usize = 16 * 1024 * 1024;
/// The style of the parts that no visitor's page has.
const STYLE: &str = include_str!("../../../../templates/staff.css");

/// The message at the top of a page.
#[derive(Clone, Copy, Debug)]
pub enum Said<'a> {
    /// A change was made.
    Done(Done),
    /// A change was refused, for this reason.
    Refused(&'a str),
}

impl<'a> Said<'a> {
    fn tone(self) -> Tone {
        match self {
            Self::Done(_) => Tone::Good,
            Self::Refused(_) => Tone::Caution,
        }
    }

    /// Whether the page is the answer to Good or Bad.
    fn is_row(self) -> bool {
        matches!(self, Self::Done(Done::Row))
    }

    fn text(self, words: &'static StaffWords) -> &'a str {
        match self {
            Self::Done(done) => done.sentence(words),
            Self::Refused(why) => why,
        }
    }
}

/// The parts of a staff page that a form can fill again, besides its tap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown<'a> {
    /// The message at the top.
    pub said: Option<Said<'a>>,
    /// The fields of a form that was refused. The page has them again, so that nothing typed is lost.
    pub typed: Option<&'a BTreeMap<String, String>>,
    /// The test sheet to which this phone added its last row.
    pub sheet: Option<SheetId>,
}

#[derive(Template)]
#[template(path = "staff.html")]
struct Html<'a> {
    shell: Shell<'a>,
    nonce: &'a str,
    style: &'static str,
    phone: &'a str,
    /// The tone and the text of the message at the top.
    said: Option<(Tone, &'a str)>,
    words: &'static StaffWords,
    /// Whether the page is the answer to Good or Bad, so that the row of this tag is no surprise.
    is_row_saved: bool,
    /// The tone of warnings, which stands above a good verdict, too.
    caution: Tone,
    tone: Tone,
    verdict: &'static str,
    reason: String,
    /// The address to which forms are sent.
    address: String,
    token: String,
    contents: Contents,
    /// The origins whose tags the page may open, separated by spaces.
    origins: String,
    scan_integrity: &'static str,
    /// The size above which the script of the page sends no photo, in bytes.
    photo_max: usize,
}

/// The page of a tap. `service` works for the phone.
pub async fn page(
    service: &Service,
    phone: &Phone,
    tap: &TracedInteraction,
    shown: Shown<'_>,
    (language, nonce): (StaffLanguage, &str),
) -> Result<String, TapError> {
    let words = language.words();
    let mut contents = Contents::read(service, phone, tap, (shown.sheet, language)).await?;
    if let Some(typed) = shown.typed {
        contents.keep(service, phone, typed, words).await?;
    }
    let now = service.storage.now().await?;
    let title = tap.tag.as_ref().map(|tag| tag.tag_name.clone());
    let title = title.unwrap_or_else(|| words.no_tag.clone());
    let (tone, verdict) = verdict_of(tap, words);
    let origins = tag_hosts(service).await?.into_iter();
    let origins: Vec<_> = origins.map(|host| host.origin).collect();
    let html = Html {
        shell: shell(language, &title, nonce),
        nonce,
        style: STYLE,
        phone: &phone.name,
        said: shown.said.map(|said| (said.tone(), said.text(words))),
        words,
        is_row_saved: shown.said.is_some_and(Said::is_row),
        caution: Tone::Caution,
        tone,
        verdict,
        reason: language.reason(tap.interaction.verdict),
        address: format!("/staff/taps/{}", tap.interaction.id),
        token: form_token::of(service, phone.id, &tap.interaction, now),
        contents,
        origins: origins.join(" "),
        scan_integrity: &SCAN_INTEGRITY,
        photo_max: PHOTO_MAX,
    };
    Ok(html.render()?)
}

/// The service's own look: staff pages are none of an experience.
static THEME: LazyLock<Theme> = LazyLock::new(Theme::default);

fn shell<'a>(language: StaffLanguage, title: &'a str, nonce: &'a str) -> Shell<'a> {
    Shell {
        language: language.code(),
        title,
        theme: &THEME,
        logo: None,
        nonce: Some(nonce),
    }
}

fn verdict_of(tap: &TracedInteraction, words: &'static StaffWords) -> (Tone, &'static str) {
    let reason = tap.interaction.verdict.reason();
    match reason.verification() {
        VerificationState::Verified => (Tone::Good, words.verified.as_str()),
        VerificationState::NotVerified => (Tone::Caution, words.not_verified.as_str()),
        VerificationState::NotChecked => (Tone::Neutral, words.not_checked.as_str()),
    }
}

#[derive(Template)]
#[template(path = "staff-message.html")]
struct Message<'a> {
    shell: Shell<'a>,
    nonce: &'a str,
    style: &'static str,
    tone: Tone,
    text: &'a str,
    /// The label of a button that sends a form to the page's own address, and the text of the page
    /// that the form has.
    button: Option<(&'a str, &'a str)>,
    /// The label and the address of each link.
    links: &'a [(String, String)],
    /// A text to be copied, after its label.
    typed: Option<(&'a str, &'a str)>,
}

/// A page of the pairing. Links are pairs of a host and an address.
#[derive(Clone, Copy, Debug)]
pub enum PairPage<'a> {
    /// The button that pairs the phone.
    Ask {
        /// Name of the phone.
        name: &'a str,
        /// Random text of this page, which its form sends.
        page: &'a str,
    },
    /// The phone is paired now.
    Paired {
        /// The hosts at which it is not paired yet, with the addresses that pair it there.
        links: &'a [(String, String)],
    },
    /// The phone was paired before.
    Already {
        /// Name of the phone.
        name: &'a str,
    },
    /// The code cannot be used.
    Over,
}

/// A page of the pairing as HTML.
pub fn pair_page(
    page: PairPage<'_>,
    language: StaffLanguage,
    nonce: &str,
) -> Result<String, TapError> {
    let words = language.words();
    let (title, text): (&str, String) = match page {
        PairPage::Ask { name, .. } => (
            words.pair_title.as_str(),
            fill(&words.pair, &[("name", name)]),
        ),
        PairPage::Paired { links: [] } => (words.paired_title.as_str(), words.paired.clone()),
        PairPage::Paired { .. } => (words.paired_title.as_str(), words.paired_more.clone()),
        PairPage::Already { name } => {
            let text = fill(&words.already, &[("name", name)]);
            (words.already_title.as_str(), text)
        }
        PairPage::Over => (words.over_title.as_str(), words.over.clone()),
    };
    let is_good = matches!(page, PairPage::Paired { .. } | PairPage::Already { .. });
    let links = match page {
        PairPage::Paired { links } => links,
        _ => &[],
    };
    let link = |(host, address): &(String, String)| {
        let label = fill(&words.continue_at, &[("host", host)]);
        (label, address.clone())
    };
    let links: Vec<_> = links.iter().map(link).collect();
    let message = Message {
        tone: if is_good { Tone::Good } else { Tone::Neutral },
        button: match page {
            PairPage::Ask { page, .. } => Some((words.pair_button.as_str(), page)),
            _ => None,
        },
        links: &links,
        ..message(language, (title, &text), nonce)
    };
    Ok(message.render()?)
}

/// The page of a tap outside the groups of the phone, or the answer to a form of such a page.
pub fn outside(language: StaffLanguage, is_form: bool, nonce: &str) -> Result<String, TapError> {
    let words = language.words();
    let text = if is_form {
        &words.tag_is_gone
    } else {
        &words.outside
    };
    plain(language, (&words.outside_title, text), nonce)
}

/// The answer to a form of another site.
pub fn foreign_form(language: StaffLanguage, nonce: &str) -> Result<String, TapError> {
    let words = language.words();
    plain(language, (&words.foreign_title, &words.foreign), nonce)
}

/// The answer to a form if the page of its tap cannot be shown: with the text that was typed, so that a
/// person can copy it.
pub fn unsaved(language: StaffLanguage, typed: &str, nonce: &str) -> Result<String, TapError> {
    let words = language.words();
    let message = Message {
        tone: Tone::Caution,
        typed: Some((&words.note_text, typed)),
        ..message(language, (&words.unsaved_title, &words.unsaved), nonce)
    };
    Ok(message.render()?)
}

/// A page with only a title and a text.
fn plain(language: StaffLanguage, texts: (&str, &str), nonce: &str) -> Result<String, TapError> {
    Ok(message(language, texts, nonce).render()?)
}

/// A page with a title and a text, to which others add.
fn message<'a>(
    language: StaffLanguage,
    (title, text): (&'a str, &'a str),
    nonce: &'a str,
) -> Message<'a> {
    Message {
        shell: shell(language, title, nonce),
        nonce,
        style: STYLE,
        tone: Tone::Neutral,
        text,
        button: None,
        links: &[],
        typed: None,
    }
}
