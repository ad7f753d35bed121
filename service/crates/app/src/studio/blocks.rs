//! The blocks of a page with their values inserted.

use super::outcome::in_words;
use super::words::words;
use super::{FormOutcome, MediaNames, StudioPage};
use domain::experience::rich_text::{self, Outline};
use domain::experience::{Block, ButtonLook, FieldKind, Form, FormField, TableRow, Tone, forms_of};
use domain::id::ImageId;
use domain::macros::{Encoding, Scope, Template};
use domain::submission::identity;
use domain::tag::{PropertyClass, PropertyKey};

/// A block with its values inserted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FilledBlock<'a> {
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
pub(super) struct Field<'a> {
    /// The id of its control, which its label refers to.
    pub(super) id: String,
    pub(super) kind: FieldKind,
    pub(super) name: String,
    pub(super) label: String,
    pub(super) choices: &'a [String],
    pub(super) required: bool,
    pub(super) entered: &'a str,
    /// The longest entry; `None` if the kind of field has no limit.
    pub(super) max: Option<usize>,
    /// Why the entry cannot be saved.
    pub(super) fault: Option<String>,
}

/// Makes parts of blocks, in the order of the page.
pub(super) struct Maker<'a, 'p> {
    page: &'a StudioPage<'p>,
    scope: &'a dyn Scope,
    media: &'a MediaNames,
    /// The headings so far.
    pub(super) outline: Outline,
    /// Each part with the attribute that names its block, or with an empty text.
    pub(super) parts: Vec<(String, FilledBlock<'a>)>,
    /// The forms of the page, including those that are not shown.
    forms: Vec<Form<'a>>,
}

impl<'a, 'p> Maker<'a, 'p> {
    /// Makes all parts of a page.
    pub(super) fn of(
        page: &'a StudioPage<'p>,
        scope: &'a dyn Scope,
        media: &'a MediaNames,
    ) -> Self {
        let mut maker = Self {
            page,
            scope,
            media,
            outline: Outline::default(),
            parts: Vec::new(),
            forms: forms_of(page.blocks),
        };
        maker.blocks(page.blocks, "");
        maker
    }

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

    /// The address of an image.
    pub(super) fn image(&self, image: ImageId) -> String {
        self.media.path(self.page.experience, image)
    }
}

/// How a form names a variable.
fn name(variable: &PropertyKey) -> String {
    format!("tag:{}:{variable}", PropertyClass::Variable.as_str())
}

impl Field<'_> {
    /// The limit of its length, as an attribute.
    pub(super) fn maxlength(&self) -> String {
        match self.max {
            Some(max) => format!(r#" maxlength="{max}""#),
            None => String::new(),
        }
    }

    /// The attributes by which its control reports an invalid entry and refers to the reason.
    pub(super) fn invalid(&self) -> String {
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
