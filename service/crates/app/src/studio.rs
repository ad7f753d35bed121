//! The pages that the service itself serves: studio experiences, and plain pages that explain why
//! there is nothing else to show.
//!
//! A page is made from a content, the values of its macros, the context of the tap, and the state
//! of its rolling key. Values are always plain text: the template engine or the Markdown writer
//! escapes them in markup, and `macros` encodes them in URLs. A page loads nothing from other
//! servers, runs only its own script, and works without it.
//!
//! Not part of it: time, randomness, HTTP. The caller passes the nonce, and sets the policy of the
//! answer.

mod blocks;
mod media;
mod outcome;
pub mod pictures;
mod proof;
mod shell;
mod style;
mod templates;
mod tone;
mod words;

use askama::Template as _;

pub(crate) use media::MediaNames;
pub use outcome::FormOutcome;
pub use proof::Proofs;
pub use shell::{Shell, plain};
pub use templates::{StudioTemplate, template_language, template_languages, templates};
pub(crate) use tone::ToneMarks;
pub use words::{Words, own_language, words};

use blocks::{FilledBlock, Maker};
use domain::experience::{Block, Context, FieldKind, Theme, Tone};
use domain::id::ExperienceId;
use domain::macros::{Encoding, Scope, Template};
use domain::tag::PropertyKey;

/// The script of a page with forms, without the comments of its source.
const SCRIPT: &str = include_str!("../../../templates/studio.js");

/// The state of a page's rolling key, with which its forms are sent.
#[derive(Clone, Debug)]
pub enum PageKey {
    /// The key can be used once.
    Live {
        /// Base64, as clients send it.
        base64: String,
        /// Its remaining lifetime, in milliseconds.
        millis: i64,
    },
    /// A form was saved with the key.
    Consumed,
    /// The tag requires a verified tap, but this tap was not verified.
    Unverified,
    /// No key was issued.
    Absent,
}

/// The inputs of a page, besides the tag's values.
pub(crate) struct StudioPage<'a> {
    /// Blocks, from top to bottom.
    pub blocks: &'a [Block],
    /// Appearance of the page.
    pub theme: &'a Theme,
    /// The experience whose images it shows.
    pub experience: ExperienceId,
    /// Its name for visitors.
    pub title: &'a str,
    /// The tap that it answers.
    pub context: &'a Context<'a>,
    /// The rolling key for macros, as received in the redirect.
    pub rk: Option<&'a str>,
    /// The rolling key for forms.
    pub key: PageKey,
    /// The message at the top.
    pub outcome: Option<FormOutcome>,
    /// The identities of the forms that were sent for the tag.
    pub sent: &'a [String],
    /// The entered values that could not be saved.
    pub entered: &'a [(PropertyKey, String)],
    /// Whether each element names its block in `data-block`: for the editor, never for visitors.
    pub names_blocks: bool,
    /// Marks style and script as the page's own.
    pub nonce: &'a str,
}

#[derive(askama::Template)]
#[template(path = "studio.html")]
struct Html<'a> {
    shell: Shell<'a>,
    nonce: &'a str,
    words: &'a Words,
    key: &'a PageKey,
    said: Option<(Tone, &'a str)>,
    /// Why forms cannot be sent.
    closed: &'a str,
    untitled: bool,
    /// Each part with the attribute that names its block, or with an empty text.
    parts: Vec<(String, FilledBlock<'a>)>,
    script: &'a str,
}

impl StudioPage<'_> {
    /// The page as HTML, with the values of `scope`.
    pub(crate) fn to_html(
        &self,
        scope: &dyn Scope,
        media: &MediaNames,
    ) -> Result<String, askama::Error> {
        let words = words(self.context.language);
        let maker = Maker::of(self, scope, media);
        let logo = self.theme.logo.map(|logo| maker.image(logo));
        let Maker { outline, parts, .. } = maker;
        let said = self.outcome.as_ref().map(|outcome| {
            let (tone, text) = outcome.said(words);
            let label = outcome.field(self.blocks).map(|field| &field.label);
            let text = match label {
                // The label may be in another script, so it keeps its own direction.
                Some(label) => {
                    let label = Template::parse(label).render(scope, Encoding::Text);
                    format!("\u{2068}{label}\u{2069}: {text}")
                }
                None => text,
            };
            (tone, text)
        });
        let html = Html {
            shell: Shell {
                language: self.context.language,
                title: self.title,
                theme: self.theme,
                logo: logo.as_deref(),
                nonce: Some(self.nonce),
            },
            nonce: self.nonce,
            words,
            key: &self.key,
            said: said.as_ref().map(|(tone, text)| (*tone, text.as_str())),
            closed: match self.key {
                PageKey::Unverified => &words.unverified,
                _ => &words.more,
            },
            untitled: outline.is_empty(),
            parts,
            script: SCRIPT,
        };
        html.render()
    }
}

impl PageKey {
    fn is_closed(&self) -> bool {
        !matches!(self, Self::Live { .. })
    }

    fn millis_left(&self) -> Option<i64> {
        match self {
            Self::Live { millis, .. } => Some(*millis),
            _ => None,
        }
    }

    /// The form field that sends the key.
    fn field(&self) -> String {
        match self {
            // Base64 needs no escaping.
            Self::Live { base64, .. } => {
                format!(r#"<input type="hidden" name="rolling_key" value="{base64}">"#)
            }
            _ => String::new(),
        }
    }
}
