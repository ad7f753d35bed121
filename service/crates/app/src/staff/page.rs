//! The pages of staff phones as HTML. They work without a script.

mod contents;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use askama::Template;

use super::action::Done;
use super::form_token;
use crate::service::Service;
use crate::studio::{Shell, ToneMarks as _};
use crate::tap::TapError;
use contents::Contents;
use domain::experience::{Theme, Tone};
use domain::id::SheetId;
use domain::interaction::VerificationState;
use domain::phone::Phone;
use domain::trace::{StepName, StepVerdict, TracedInteraction, verdict_steps};

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

impl Said<'_> {
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

    fn text(&self) -> &str {
        match self {
            Self::Done(done) => done.sentence(),
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
    said: Option<Said<'a>>,
    /// Whether the page is the answer to Good or Bad, so that the row of this tag is no surprise.
    is_row_saved: bool,
    tone: Tone,
    verdict: &'static str,
    reason: String,
    /// The address to which forms are sent.
    address: String,
    token: String,
    contents: Contents,
}

/// The page of a tap. `service` works for the phone.
pub async fn page(
    service: &Service,
    phone: &Phone,
    tap: &TracedInteraction,
    shown: Shown<'_>,
    nonce: &str,
) -> Result<String, TapError> {
    let mut contents = Contents::read(service, phone, tap, shown.sheet).await?;
    if let Some(typed) = shown.typed {
        contents.keep(typed);
    }
    let now = service.storage.now().await?;
    let title = tap.tag.as_ref().map(|tag| tag.tag_name.clone());
    let title = title.unwrap_or_else(|| "No tag".to_owned());
    let (tone, verdict) = verdict_of(tap);
    let html = Html {
        shell: shell(&title, nonce),
        nonce,
        style: STYLE,
        phone: &phone.name,
        said: shown.said,
        is_row_saved: shown.said.is_some_and(Said::is_row),
        tone,
        verdict,
        reason: reason_of(tap),
        address: format!("/staff/taps/{}", tap.interaction.id),
        token: form_token::of(service, phone.id, &tap.interaction, now),
        contents,
    };
    Ok(html.render()?)
}

/// The service's own look: staff pages are none of an experience.
static THEME: LazyLock<Theme> = LazyLock::new(Theme::default);

fn shell<'a>(title: &'a str, nonce: &'a str) -> Shell<'a> {
    Shell {
        language: "en",
        title,
        theme: &THEME,
        logo: None,
        nonce: Some(nonce),
    }
}

fn verdict_of(tap: &TracedInteraction) -> (Tone, &'static str) {
    let reason = tap.interaction.verdict.reason();
    match reason.verification() {
        VerificationState::Verified => (Tone::Good, "Verified"),
        VerificationState::NotVerified => (Tone::Caution, "Not verified"),
        VerificationState::NotChecked => (Tone::Neutral, "Not checked"),
    }
}

/// The reason for the verdict, in the words of the trace.
fn reason_of(tap: &TracedInteraction) -> String {
    let slug = tap.tag.as_ref().map(|tag| tag.slug.as_str());
    let verdict = tap.interaction.verdict;
    let steps = verdict_steps(slug, verdict, tap.inlay);
    let by_verdict = |verdict: StepVerdict| steps.iter().find(|step| step.verdict == verdict);
    let decisive = by_verdict(StepVerdict::Failed).or_else(|| by_verdict(StepVerdict::Gap));
    let name = match verdict.tag_verified() {
        None => StepName::Mac,
        Some(_) => StepName::Counter,
    };
    let decisive = decisive.or_else(|| steps.iter().find(|step| step.name == name));
    decisive.map_or_else(String::new, |step| {
        let label = if step.name == StepName::Counter {
            "Counter "
        } else {
            ""
        };
        sentence(&format!("{label}{}", step.detail))
    })
}

/// The text with a capital at its beginning.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
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
}

/// A page with only a message.
pub struct PairPage<'a> {
    /// The heading of the page.
    pub title: &'a str,
    /// The explanation below it.
    pub text: &'a str,
    /// Whether it reports a success.
    pub good: bool,
    /// The label of the button that pairs the phone, and a random text of this page, if it has one.
    pub button: Option<(&'a str, &'a str)>,
    /// The label and the address of each further host.
    pub links: &'a [(String, String)],
}

/// A page of the pairing, or one that explains why there is no other.
pub fn pair_page(page: &PairPage<'_>, nonce: &str) -> Result<String, TapError> {
    let message = Message {
        shell: shell(page.title, nonce),
        nonce,
        style: STYLE,
        tone: if page.good { Tone::Good } else { Tone::Neutral },
        text: page.text,
        button: page.button,
        links: page.links,
    };
    Ok(message.render()?)
}

/// The page of a tap outside the groups of the phone.
pub fn outside(nonce: &str) -> Result<String, TapError> {
    let page = PairPage {
        title: "Not in the groups of this phone",
        text: "The tap was recorded as one of staff. Ask at the desk if this phone should show the tag.",
        good: false,
        button: None,
        links: &[],
    };
    pair_page(&page, nonce)
}
