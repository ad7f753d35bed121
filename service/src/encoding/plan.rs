//! What is written: the NDEF file and its settings; and the proof that the chip does it.

use serde::{Deserialize, Serialize};

use super::{Pages, Reason};
use crate::id::{TagId, UrlTemplateId};
use crate::inlay::key::{AesKey, InlayKeys, Keys};
use crate::inlay::technology::Family;
use crate::inlay::technology::ntag424::file_settings;
use crate::inlay::template::{
    Field, Layout, LayoutError, Request, Template, TemplateError, TemplateSettings,
};
use crate::inlay::{MacFrom, Mirror, Uid};

/// What is written, as it was decided when the chip was laid down last: no later change of a setting
/// changes it while the chip lies there. Stored ones may have a member `replace`, which holds for one
/// insertion alone and is elsewhere now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// How the URL is written.
    pub template: TemplateSettings,
    /// The URL template; `None` for the canonical form.
    pub url_template_id: Option<UrlTemplateId>,
    /// The mirror of the canonical form.
    pub mirror: Option<Mirror>,
    /// Where its MAC begins.
    pub mac_from: MacFrom,
    /// The tag's slug.
    pub slug: String,
    /// Whether the chip is locked against writing, for ever: chips of pages alone.
    #[serde(default)]
    pub lock: bool,
    /// Whether the keys are random ones instead of derived ones.
    #[serde(default)]
    pub own_keys: bool,
    /// The generation of a finished inlay of the same tag on this chip, if it is one: then only
    /// its tap is verified.
    #[serde(default)]
    pub finished: Option<u8>,
    /// Whether the tag may have other inlays, too.
    #[serde(default)]
    pub additional: bool,
    /// The tag that the chip's inlay is taken from, because a person who may said so.
    #[serde(default)]
    pub taken_from: Option<TagId>,
}

impl Form {
    /// Whether a chip of the other form can go on with the keys that it has: what it writes is the same.
    pub fn writes_like(&self, other: &Self) -> bool {
        let written = |form: &Self| Self {
            lock: false,
            finished: None,
            additional: false,
            taken_from: None,
            ..form.clone()
        };
        written(self) == written(other)
    }

    /// Whether its chip has keys.
    pub fn has_keys(&self) -> bool {
        self.template.technology.rolls()
    }
}

/// What is written, byte by byte.
#[derive(Clone, Debug)]
pub struct Plan {
    template: Template,
    slug: String,
    /// The NDEF file, its length first.
    pub file: Vec<u8>,
    /// The settings of the NDEF file.
    pub settings: Vec<u8>,
    /// The same page by page, for a chip without files.
    pub pages: Option<Pages>,
}

/// Why a form cannot be written. Each is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The template is none.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// No chip can hold it.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Chips of this kind are not encoded.
    #[error(
        "Tapdesk encodes NTAG 424 DNA, NTAG 213, 215 and 216. Other chips are encoded elsewhere."
    )]
    Chip,
}

impl PlanError {
    /// The reason that a relay is told.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Layout(LayoutError::TooLong { .. })
            | Self::Template(TemplateError::TooLongForChip { .. }) => Reason::UrlTooLong,
            _ => Reason::NotEncodable,
        }
    }
}

/// What a read of a finished chip proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// The URL.
    pub url: String,
    /// The read counter.
    pub counter: u32,
}

impl Plan {
    /// The bytes of a form.
    pub fn new(form: &Form) -> Result<Self, PlanError> {
        let template = Template::new(form.template.clone())?;
        let slug = template.has(Field::Slug).then_some(form.slug.as_str());
        let layout = template.layout(slug)?;
        let technology = template.settings().technology;
        let (settings, pages) = match technology.family() {
            Family::Ntag424 => (file_settings::sdm_settings(&template, &layout), None),
            _ => (Vec::new(), Some(Pages::new(&template, &layout, form.lock)?)),
        };
        let Layout { file, .. } = layout;
        Ok(Self {
            template,
            slug: form.slug.clone(),
            file,
            settings,
            pages,
        })
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    fn slug(&self) -> Option<&str> {
        let has_slug = self.template.has(Field::Slug);
        has_slug.then_some(self.slug.as_str())
    }

    /// The keys of SDM, from the chip's slots 1 and 2.
    pub fn keys(&self, meta: AesKey, file: AesKey) -> Keys {
        Keys {
            meta: self.template.has(Field::Picc).then_some(meta),
            file,
        }
    }

    /// What a chip sent of its NDEF file, checked: it is this URL, with a code of these keys.
    pub fn prove(&self, file: &[u8], uid: Uid, keys: &Keys) -> Option<Proof> {
        self.prove_url(url_of(file)?, uid, keys)
    }

    /// A URL that a chip sent, checked: it is this one, with a code of these keys.
    pub fn prove_url(&self, url: String, uid: Uid, keys: &Keys) -> Option<Proof> {
        let addressed = self.template.read(&Request::of_url(&url)?)?;
        if addressed.slug.as_deref() != self.slug() {
            return None;
        }
        let code = addressed.code.ok()??;
        // Not only its code: the address itself is as it was written.
        if self.template.url(self.slug(), &code) != url {
            return None;
        }
        let keys = InlayKeys::Aes(keys.clone());
        let assessment = self.template.check(self.slug(), &code, uid, &keys);
        if !assessment.is_authentic() || (self.template.proves_taps() && !assessment.proves_tap()) {
            return None;
        }
        let counter = assessment.counter.unwrap_or(0);
        Some(Proof { url, counter })
    }
}

impl Plan {
    /// What a chip of pages showed of its data area, checked: it is this URL, with this chip's UID
    /// and a counter that counts, as far as it mirrors them. It proves no tap: anyone can write it.
    pub fn prove_pages(&self, data: &[u8], uid: Uid) -> Option<Proof> {
        let message = self.pages.as_ref()?.message(data)?;
        let length = u16::try_from(message.len()).ok()?;
        let url = url_of(&[&length.to_be_bytes()[..], message].concat())?;
        let addressed = self.template.read(&Request::of_url(&url)?)?;
        if addressed.slug.as_deref() != self.slug() {
            return None;
        }
        let code = addressed.code.ok()?.unwrap_or_default();
        if self.template.url(self.slug(), &code) != url {
            return None;
        }
        if self.template.has(Field::Uid) && code.uid() != Some(uid) {
            return None;
        }
        let counter = code.counter().unwrap_or(0);
        let counts = !self.template.has(Field::Counter) || counter > 0;
        counts.then_some(Proof { url, counter })
    }
}

/// The URL in an NDEF file: its length, then one short URI record.
fn url_of(file: &[u8]) -> Option<String> {
    const PREFIXES: [&str; 5] = ["", "http://www.", "https://www.", "http://", "https://"];
    let (&[high, low], rest) = file.split_first_chunk()?;
    let message = rest.get(..usize::from(u16::from_be_bytes([high, low])))?;
    let (&[0xD1, 0x01, length, b'U', prefix], url) = message.split_first_chunk()? else {
        return None;
    };
    if usize::from(length) != url.len() + 1 {
        return None;
    }
    let prefix = PREFIXES.get(usize::from(prefix))?;
    Some(format!("{prefix}{}", std::str::from_utf8(url).ok()?))
}
