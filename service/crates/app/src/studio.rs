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

mod media;
pub mod pictures;
mod proof;
mod shell;
mod style;
mod templates;
mod words;

use askama::Template as _;

pub(crate) use media::MediaNames;
pub use proof::Proofs;
pub use shell::{Shell, plain};
pub use templates::{StudioTemplate, template_language, template_languages, templates};
pub use words::{Words, own_language, words};

use domain::experience::rich_text::{self, Outline};
use domain::experience::{
    Block, ButtonLook, Context, EntryFault, FieldKind, Form, FormField, TableRow, Theme, Tone,
    forms_of,
};
use domain::id::{ExperienceId, ImageId};
use domain::macros::{Encoding, Scope, Template};
use domain::submission::entries::FieldFault;
use domain::submission::identity;
use domain::tag::{PropertyClass, PropertyKey};

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

/// The result of a page's form, for a message at its top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormOutcome {
    /// The form is saved.
    Saved,
    /// The key was already used.
    Used,
    /// The tag requires a verified tap.
    Unverified,
    /// The tag does not have the variable, or has no page any more.
    NotReady,
    /// The same, but the submission is kept until the owner saves it.
    Kept,
    /// A value is too long.
    TooLong,
    /// The form can be sent once per tag, and was already sent.
    SentBefore,
    /// Entries of the form cannot be saved. At least one.
    Refused(Vec<FieldFault>),
    /// The page has no such form or button, or not any more.
    NotOffered,
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

/// A block with its values inserted.
#[derive(Debug, PartialEq, Eq)]
enum FilledBlock<'a> {
    Heading {
        level: u8,
        text: String,
    },
    /// Escaped HTML of a rich text.
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
    /// A form that can be sent only once, and was sent.
    SentForm,
    VariableButton {
        label: String,
        name: String,
        value: String,
    },
}

/// A field of a form with its values inserted.
#[derive(Debug, PartialEq, Eq)]
struct Field<'a> {
    /// The id of its control, which its label refers to.
    id: String,
    kind: FieldKind,
    name: String,
    label: String,
    choices: &'a [String],
    required: bool,
    entered: &'a str,
    /// The longest entry; `None` if the kind of field has no limit.
    max: Option<usize>,
    /// Why the entry cannot be saved.
    fault: Option<String>,
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
        let mut maker = Maker {
            page: self,
            scope,
            media,
            outline: Outline::default(),
            parts: Vec::new(),
            forms: forms_of(self.blocks),
        };
        maker.blocks(self.blocks, "");
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

/// Makes parts of blocks, in the order of the page.
struct Maker<'a, 'p> {
    page: &'a StudioPage<'p>,
    scope: &'a dyn Scope,
    media: &'a MediaNames,
    outline: Outline,
    parts: Vec<(String, FilledBlock<'a>)>,
    /// The forms of the page, including those that are not shown.
    forms: Vec<Form<'a>>,
}

impl<'a> Maker<'a, '_> {
    /// `within` is the path of the list, such as `2.otherwise.`.
    fn blocks(&mut self, blocks: &'a [Block], within: &str) {
        for (number, block) in blocks.iter().enumerate() {
            let place = if self.page.names_blocks {
                format!("{within}{number}")
            } else {
                String::new()
            };
            match block {
                Block::Condition {
                    when,
                    blocks,
                    otherwise,
                } => {
                    if when.is_met(self.page.context) {
                        self.blocks(blocks, &format!("{place}.blocks."));
                    } else {
                        self.blocks(otherwise, &format!("{place}.otherwise."));
                    }
                }
                block => {
                    let part = self.part(block);
                    let name = match place.as_str() {
                        "" => place,
                        place => format!(r#" data-block="{place}""#),
                    };
                    self.parts.extend(part.map(|part| (name, part)));
                }
            }
        }
    }

    /// A block with its values inserted; `None` if it has nothing to show.
    fn part(&mut self, block: &'a Block) -> Option<FilledBlock<'a>> {
        let rk = self.page.rk;
        Some(match block {
            Block::Heading { text } => {
                let text = self.text(text);
                if text.trim().is_empty() {
                    return None;
                }
                let level = self.outline.next(2);
                FilledBlock::Heading { level, text }
            }
            Block::Text { text } => {
                let html = rich_text::to_html(text, self.scope, rk, &mut self.outline);
                FilledBlock::Text(html)
            }
            Block::Button { label, url, look } => FilledBlock::Button {
                label: self.text(label),
                href: url.href(self.scope, rk)?,
                outlined: *look == ButtonLook::Outlined,
            },
            Block::Image { image_id, alt } => FilledBlock::Image {
                src: self.image(*image_id),
                alt: self.text(alt),
            },
            Block::Video { label, url } => {
                let href = url.link(self.scope, rk)?;
                let url = url::Url::parse(&href).ok()?;
                let host = url.host_str().unwrap_or_default();
                FilledBlock::Video {
                    label: self.text(label),
                    host: host.strip_prefix("www.").unwrap_or(host).to_owned(),
                    href,
                }
            }
            Block::Notice { tone, title, text } => FilledBlock::Notice {
                tone: *tone,
                title: self.text(title),
                text: self.text(text),
            },
            Block::Progress { label, value, of } => FilledBlock::Progress {
                label: self.text(label),
                filled: marks(&self.text(value), *of),
                of: *of,
            },
            Block::Divider {} => FilledBlock::Divider,
            Block::Table { rows } => {
                let rows: Vec<_> = rows
                    .iter()
                    .map(|TableRow { key, value }| (self.text(key), self.text(value)))
                    .filter(|(_, value)| !value.is_empty())
                    .collect();
                if rows.is_empty() {
                    return None;
                }
                FilledBlock::Table(rows)
            }
            Block::Form { fields, once, .. } if *once && self.is_sent(fields) => {
                FilledBlock::SentForm
            }
            Block::Form {
                fields,
                submit_label,
                ..
            } => {
                let number = self.number(fields);
                let shown = fields
                    .iter()
                    .map(|field| self.field(self.parts.len(), number, field));
                FilledBlock::Form {
                    number,
                    fields: shown.collect(),
                    label: self.text(submit_label),
                }
            }
            Block::VariableButton {
                label,
                variable,
                value,
            } => FilledBlock::VariableButton {
                label: self.text(label),
                name: name(variable),
                value: self.text(value),
            },
            Block::Condition { .. } => return None,
        })
    }

    /// The position of a form on its page, from 1.
    fn number(&self, fields: &[FormField]) -> usize {
        let mut forms = self.forms.iter();
        forms
            .position(|form| std::ptr::eq(form.fields, fields))
            .map_or(0, |place| place + 1)
    }

    /// Whether the form was sent for the tag.
    fn is_sent(&self, fields: &[FormField]) -> bool {
        let form = identity(&Form { fields, once: true });
        self.page.sent.contains(&form)
    }

    /// A field of the form with this number; `place` makes ids unique within the page.
    fn field(&self, place: usize, form: usize, field: &'a FormField) -> Field<'a> {
        let faults = match &self.page.outcome {
            Some(FormOutcome::Refused(faults)) => &faults[..],
            _ => &[],
        };
        let mut faults = faults.iter();
        let fault = faults.find(|fault| fault.form == form && fault.variable == field.variable);
        let entered = self.page.entered.iter();
        let mut entered = entered.filter(|(key, _)| *key == field.variable);
        Field {
            id: format!("f{place}-{}", field.variable),
            kind: field.kind,
            name: name(&field.variable),
            label: self.text(&field.label),
            choices: &field.choices,
            required: field.required,
            entered: entered.next().map_or("", |(_, value)| value.as_str()),
            max: field.kind.max_length(),
            fault: fault.map(|fault| in_words(fault.fault, words(self.page.context.language))),
        }
    }

    /// A text with its values inserted; the template engine escapes it.
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

/// Why an entry cannot be saved, in the words of a language.
fn in_words(fault: EntryFault, words: &Words) -> String {
    match fault {
        EntryFault::Missing => words.missing.clone(),
        EntryFault::Email => words.email.clone(),
        EntryFault::Number => words.number.clone(),
        EntryFault::Choice => words.choice.clone(),
        EntryFault::TooLong(max) => words.at_most.replace("{max}", &max.to_string()),
    }
}

impl Field<'_> {
    /// The limit of its length, as an attribute.
    fn maxlength(&self) -> String {
        match self.max {
            Some(max) => format!(r#" maxlength="{max}""#),
            None => String::new(),
        }
    }

    /// The attributes by which its control reports an invalid entry and refers to the reason.
    fn invalid(&self) -> String {
        match self.fault {
            // A variable's key needs no escaping.
            Some(_) => format!(
                r#" aria-invalid="true" aria-describedby="{}-wrong""#,
                self.id
            ),
            None => String::new(),
        }
    }
}

impl FormOutcome {
    /// The first field whose entry cannot be saved.
    fn field<'b>(&self, blocks: &'b [Block]) -> Option<&'b FormField> {
        let Self::Refused(faults) = self else {
            return None;
        };
        let fault = faults.first()?;
        let form = *forms_of(blocks).get(fault.form.checked_sub(1)?)?;
        form.field(&fault.variable)
    }

    fn said(&self, words: &Words) -> (Tone, String) {
        let (tone, said) = match self {
            Self::Saved => (Tone::Good, &words.saved),
            Self::Used => (Tone::Neutral, &words.used),
            Self::Unverified => (Tone::Caution, &words.unverified),
            Self::NotReady => (Tone::Caution, &words.not_ready),
            Self::Kept => (Tone::Caution, &words.kept),
            Self::TooLong => (Tone::Caution, &words.too_long),
            Self::SentBefore => (Tone::Neutral, &words.sent),
            Self::NotOffered => (Tone::Caution, &words.not_offered),
            Self::Refused(faults) => {
                let said = faults.first().map(|fault| in_words(fault.fault, words));
                return (Tone::Caution, said.unwrap_or_default());
            }
        };
        (tone, said.clone())
    }
}

/// The marks of a message, by its tone.
trait ToneMarks {
    /// Its class in the style sheet.
    fn name(self) -> &'static str;

    /// The ARIA role for the message: failures interrupt the screen reader.
    fn role(self) -> &'static str;

    /// Its sign, as SVG: a check in a disc, a ring, a cross in a ring.
    fn sign(self) -> &'static str;
}

impl ToneMarks for Tone {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Neutral => "neutral",
            Self::Caution => "caution",
        }
    }

    fn role(self) -> &'static str {
        match self {
            Self::Caution => "alert",
            Self::Good | Self::Neutral => "status",
        }
    }

    fn sign(self) -> &'static str {
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

/// How many of `of` marks a value fills: a decimal number, limited to the last mark. Any other text
/// fills none.
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
