//! The pages that the service itself serves: studio experiences, and the plain
//! ones that say why there is nothing else to show.
//!
//! A page is made from a content, the values of its macros, the context
//! of the tap, and the state of its rolling key. Values are text in it wherever
//! they stand: in the markup they are escaped by the template engine or the
//! writer of Markdown, in a URL as `macros` says. A page asks nobody but the
//! service for anything, runs no script but its own, and works without it.
//!
//! Absent here: time, randomness, HTTP. The nonce is handed in, and the answer's
//! policy is the caller's.

mod media;
mod proof;
mod shell;
mod style;
mod templates;
mod words;

use askama::Template as _;

pub(crate) use media::MediaNames;
pub(crate) use proof::Proofs;
pub(crate) use shell::{Shell, plain};
pub(crate) use templates::{StudioTemplate, templates};
pub(crate) use words::{Words, own_language, words};

use crate::experience::rich_text::{self, Outline};
use crate::experience::{
    Block, ButtonLook, Context, FieldKind, Form, FormField, TableRow, Theme, Tone, forms_of,
};
use crate::id::{ExperienceId, ImageId};
use crate::macros::{Encoding, Scope, Template};
use crate::submission::identity;
use crate::tag::{PropertyClass, PropertyKey};

/// The script of a page with forms, without the comments of its source.
const SCRIPT: &str = include_str!("../templates/studio.js");

/// The state of a page's rolling key, which its forms are sent with.
#[derive(Clone, Debug)]
pub(crate) enum PageKey {
    /// It can be used, once.
    Live {
        /// As clients send it.
        base64: String,
        /// How long still, in milliseconds.
        millis: i64,
    },
    /// Something was saved with it.
    Consumed,
    /// The tag asks for a verified tap, and this was none.
    Unverified,
    /// None was issued.
    Absent,
}

/// The result of a page's form, for a message at its top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is saved.
    Saved,
    /// The key was consumed before.
    Used,
    /// The tag asks for a verified tap.
    Unverified,
    /// The tag has no such variable, or leads nowhere any more.
    NotReady,
    /// A value is too long.
    TooLong,
    /// The form can be sent once per tag, and was.
    SentBefore,
    /// The field with this label has to be filled in.
    Missing(String),
}

/// What a page is made from, beside the tag's values.
pub(crate) struct StudioPage<'a> {
    /// Its blocks.
    pub blocks: &'a [Block],
    /// How it looks.
    pub theme: &'a Theme,
    /// The experience that its images are of.
    pub experience: ExperienceId,
    /// Its name for visitors.
    pub title: &'a str,
    /// The tap that it answers.
    pub context: &'a Context<'a>,
    /// The rolling key for macros, as received in the redirect.
    pub rk: Option<&'a str>,
    /// The rolling key for forms.
    pub key: PageKey,
    /// What to say at the top.
    pub outcome: Option<Outcome>,
    /// The forms that were sent of the tag, by their identity.
    pub sent: &'a [String],
    /// The entered values that could not be saved.
    pub entered: &'a [(PropertyKey, String)],
    /// Marks style and script as the page's own.
    pub nonce: &'a str,
}

/// A block with its values.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Heading {
        level: u8,
        text: String,
    },
    /// As HTML.
    Text(String),
    Button {
        label: String,
        href: String,
        outlined: bool,
    },
    Image {
        src: String,
        alt: String,
    },
    Video {
        label: String,
        href: String,
        host: String,
    },
    Notice {
        tone: Tone,
        title: String,
        text: String,
    },
    Progress {
        label: String,
        filled: u8,
        of: u8,
    },
    Divider,
    Table(Vec<(String, String)>),
    Form {
        number: usize,
        fields: Vec<Field<'a>>,
        label: String,
    },
    /// A form that was sent, and can be sent once.
    SentForm,
    VariableButton {
        label: String,
        name: String,
        value: String,
    },
}

/// A field of a form with its values.
#[derive(Debug, PartialEq, Eq)]
struct Field<'a> {
    /// Of its control, to be found by its label.
    id: String,
    kind: FieldKind,
    name: String,
    label: String,
    choices: &'a [String],
    required: bool,
    entered: &'a str,
}

#[derive(askama::Template)]
#[template(path = "studio.html")]
struct Html<'a> {
    shell: Shell<'a>,
    nonce: &'a str,
    words: &'a Words,
    key: &'a PageKey,
    said: Option<(Tone, &'a str)>,
    /// Why forms are closed.
    closed: &'a str,
    untitled: bool,
    parts: Vec<Part<'a>>,
    script: &'a str,
}

impl StudioPage<'_> {
    /// The page as HTML, with the values that `scope` has.
    pub(crate) fn to_html(
        &self,
        scope: &dyn Scope,
        media: &MediaNames,
    ) -> Result<String, askama::Error> {
        let words = words(self.context.language);
        let mut maker = Maker {
            page: self,
            scope,
            media,
            outline: Outline::default(),
            parts: Vec::new(),
            forms: forms_of(self.blocks),
        };
        maker.blocks(self.blocks);
        let logo = self.theme.logo.map(|logo| maker.image(logo));
        let Maker { outline, parts, .. } = maker;
        let said = self.outcome.as_ref().map(|outcome| {
            let (tone, text) = outcome.said(words);
            let text = match outcome {
                // The label may be in another script: it keeps its own direction.
                Outcome::Missing(label) => {
                    let label = Template::parse(label).render(scope, Encoding::Text);
                    format!("{text}: \u{2068}{label}\u{2069}")
                }
                _ => text.to_owned(),
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

/// Makes parts of blocks, in the order of the page.
struct Maker<'a, 'p> {
    page: &'a StudioPage<'p>,
    scope: &'a dyn Scope,
    media: &'a MediaNames,
    outline: Outline,
    parts: Vec<Part<'a>>,
    /// The forms of the page, also those that are not shown.
    forms: Vec<Form<'a>>,
}

impl<'a> Maker<'a, '_> {
    fn blocks(&mut self, blocks: &'a [Block]) {
        for block in blocks {
            match block {
                Block::Condition {
                    when,
                    blocks,
                    otherwise,
                } => self.blocks(if when.is_met(self.page.context) {
                    blocks
                } else {
                    otherwise
                }),
                block => {
                    let part = self.part(block);
                    self.parts.extend(part);
                }
            }
        }
    }

    /// A block with its values; `None` if they leave nothing to show.
    fn part(&mut self, block: &'a Block) -> Option<Part<'a>> {
        let rk = self.page.rk;
        Some(match block {
            Block::Heading { text } => {
                let text = self.text(text);
                if text.trim().is_empty() {
                    return None;
                }
                let level = self.outline.next(2);
                Part::Heading { level, text }
            }
            Block::Text { text } => {
                let html = rich_text::to_html(text, self.scope, rk, &mut self.outline);
                Part::Text(html)
            }
            Block::Button { label, url, look } => Part::Button {
                label: self.text(label),
                href: url.href(self.scope, rk)?,
                outlined: *look == ButtonLook::Outlined,
            },
            Block::Image { image_id, alt } => Part::Image {
                src: self.image(*image_id),
                alt: self.text(alt),
            },
            Block::Video { label, url } => {
                let href = url.link(self.scope, rk)?;
                let url = url::Url::parse(&href).ok()?;
                let host = url.host_str().unwrap_or_default();
                Part::Video {
                    label: self.text(label),
                    host: host.strip_prefix("www.").unwrap_or(host).to_owned(),
                    href,
                }
            }
            Block::Notice { tone, title, text } => Part::Notice {
                tone: *tone,
                title: self.text(title),
                text: self.text(text),
            },
            Block::Progress { label, value, of } => Part::Progress {
                label: self.text(label),
                filled: marks(&self.text(value), *of),
                of: *of,
            },
            Block::Divider {} => Part::Divider,
            Block::Table { rows } => {
                let rows: Vec<_> = rows
                    .iter()
                    .map(|TableRow { key, value }| (self.text(key), self.text(value)))
                    .filter(|(_, value)| !value.is_empty())
                    .collect();
                if rows.is_empty() {
                    return None;
                }
                Part::Table(rows)
            }
            Block::Form { fields, once, .. } if *once && self.is_sent(fields) => Part::SentForm,
            Block::Form {
                fields,
                submit_label,
                ..
            } => Part::Form {
                number: self.number(fields),
                fields: fields
                    .iter()
                    .map(|field| self.field(self.parts.len(), field))
                    .collect(),
                label: self.text(submit_label),
            },
            Block::VariableButton {
                label,
                variable,
                value,
            } => Part::VariableButton {
                label: self.text(label),
                name: name(variable),
                value: self.text(value),
            },
            Block::Condition { .. } => return None,
        })
    }

    /// The place of a form among those of the page, from 1.
    fn number(&self, fields: &[FormField]) -> usize {
        let mut forms = self.forms.iter();
        forms
            .position(|form| std::ptr::eq(form.fields, fields))
            .map_or(0, |place| place + 1)
    }

    /// Whether a form was sent of the tag.
    fn is_sent(&self, fields: &[FormField]) -> bool {
        let form = identity(&Form { fields, once: true });
        self.page.sent.contains(&form)
    }

    fn field(&self, form: usize, field: &'a FormField) -> Field<'a> {
        let entered = self.page.entered.iter();
        let mut entered = entered.filter(|(key, _)| *key == field.variable);
        Field {
            id: format!("f{form}-{}", field.variable),
            kind: field.kind,
            name: name(&field.variable),
            label: self.text(&field.label),
            choices: &field.choices,
            required: field.required,
            entered: entered.next().map_or("", |(_, value)| value.as_str()),
        }
    }

    /// A text with its values; the template engine escapes it.
    fn text(&self, text: &str) -> String {
        Template::parse(text).render(self.scope, Encoding::Text)
    }

    fn image(&self, image: ImageId) -> String {
        self.media.path(self.page.experience, image)
    }
}

/// How a form names a variable.
fn name(variable: &PropertyKey) -> String {
    format!("tag:{}:{variable}", PropertyClass::Variable.as_str())
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

    /// The field of a form that holds it.
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

impl Outcome {
    fn said<'w>(&self, words: &'w Words) -> (Tone, &'w str) {
        match self {
            Self::Saved => (Tone::Good, &words.saved),
            Self::Used => (Tone::Neutral, &words.used),
            Self::Unverified => (Tone::Caution, &words.unverified),
            Self::NotReady => (Tone::Caution, &words.not_ready),
            Self::TooLong => (Tone::Caution, &words.too_long),
            Self::SentBefore => (Tone::Neutral, &words.sent),
            Self::Missing(_) => (Tone::Caution, &words.missing),
        }
    }
}

impl Tone {
    const fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Neutral => "neutral",
            Self::Caution => "caution",
        }
    }

    /// How screen readers announce it: failures interrupt.
    const fn role(self) -> &'static str {
        match self {
            Self::Caution => "alert",
            Self::Good | Self::Neutral => "status",
        }
    }

    /// Its sign, as SVG: a check in a disc, a ring, a cross in a ring.
    const fn sign(self) -> &'static str {
        match self {
            Self::Good => {
                r#"<svg viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="18"/><path d="M12 20.5l5.5 5.5L28.5 14.5"/></svg>"#
            }
            Self::Neutral => {
                r#"<svg viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="16"/></svg>"#
            }
            Self::Caution => {
                r#"<svg viewBox="0 0 40 40" aria-hidden="true"><circle cx="20" cy="20" r="17"/><path d="M14 14l12 12M26 14L14 26"/></svg>"#
            }
        }
    }
}

/// How many of `of` marks a value fills: a decimal number, which may be beyond the last
/// mark. Anything else fills none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is within 0 and a number of this type"
)]
fn marks(value: &str, of: u8) -> u8 {
    let value = value.trim();
    let is_decimal = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'+' | b'-');
    let number: f64 = if value.bytes().all(is_decimal) {
        value.parse().unwrap_or_default()
    } else {
        0.0
    };
    number.clamp(0.0, f64::from(of)) as u8
}
