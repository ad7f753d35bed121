//! The NDEF file and its settings; and the proof that the chip writes them into its URLs.

use serde::{Deserialize, Serialize};

use super::{Pages, Reason, Roots};
use domain::id::{TagId, UrlTemplateId};
use inlay::key::{AesKey, InlayKeys, Keys};
use inlay::ndef;
use inlay::technology::Family;
use inlay::technology::ntag21x::Memory;
use inlay::technology::ntag424::file_settings;
use inlay::template::{
    Field, Layout, LayoutError, Request, Template, TemplateError, TemplateSettings,
};
use inlay::{MacFrom, Mirror, Technology, Uid};

/// The data to write, as decided when the chip was last placed on the reader. Later changes of
/// settings do not change it while the chip stays there. Stored forms may have a member `replace`;
/// it was valid for one insertion and is now kept in the progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// How the URL is written.
    pub template: TemplateSettings,
    /// The URL template; `None` for the canonical form.
    pub url_template_id: Option<UrlTemplateId>,
    /// The mirror of the canonical form.
    pub mirror: Option<Mirror>,
    /// Where the MAC's input begins in the canonical form.
    pub mac_from: MacFrom,
    /// Slug of the tag, written into the URL.
    pub slug: String,
    /// Whether the chip is locked against writing, which cannot be undone. Only for chips of pages.
    #[serde(default)]
    pub lock: bool,
    /// Whether the chip gets a write password, or loses it; `None` if a password of ours stays. Only
    /// for chips of pages.
    #[serde(default)]
    pub write_password: Option<bool>,
    /// Whether the keys are random instead of derived.
    #[serde(default)]
    pub own_keys: bool,
    /// The generation of the chip's keys if the chip is a finished inlay of the same tag. Then only
    /// its tap is verified.
    #[serde(default)]
    pub finished: Option<u8>,
    /// Whether the tag may have further inlays.
    #[serde(default)]
    pub additional: bool,
    /// The tag that the chip's inlay is taken from, with the permission of an authorised person.
    #[serde(default)]
    pub taken_from: Option<TagId>,
}

impl Form {
    /// Whether a chip of the other form can continue with its keys, because both forms write the
    /// same.
    pub fn writes_like(&self, other: &Self) -> bool {
        let written = |form: &Self| Self {
            lock: false,
            write_password: None,
            finished: None,
            additional: false,
            taken_from: None,
            ..form.clone()
        };
        written(self) == written(other)
    }

    /// The address in the chip's URL: the tag URL in the canonical form, or all text before the
    /// first placeholder of a URL template.
    pub fn address(&self) -> String {
        let text = &self.template.template;
        let address = match text.split_once("/{slug}") {
            Some((base, _)) if self.url_template_id.is_none() => {
                return base.replace("{{", "{").replace("}}", "}");
            }
            _ => text.split(['{', '?']).next().unwrap_or_default(),
        };
        address.trim_end_matches('/').to_owned()
    }

    /// Whether its chip has keys.
    pub fn has_keys(&self) -> bool {
        self.template.technology.rolls()
    }

    /// Whether its chip needs a root for new keys: for its keys, or for its write password. A chip that
    /// keeps its password may have one of these `roots`, and gets that of the active one. After a
    /// restore none of them is active.
    pub fn needs_root(&self, roots: &Roots) -> bool {
        let may_keep = !self.lock && !roots.0.is_empty();
        self.has_keys() || self.write_password.unwrap_or(may_keep)
    }
}

/// The bytes to write.
#[derive(Clone, Debug)]
pub struct Plan {
    template: Template,
    slug: String,
    /// The NDEF file, which begins with its length.
    pub file: Vec<u8>,
    /// The settings of the NDEF file.
    pub settings: Vec<u8>,
    /// The same page by page, for a chip without files.
    pub pages: Option<Pages>,
}

/// Why a form cannot be written. Each message is a sentence for people.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The text is not a valid template.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// The message does not fit into any chip.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// Tapdesk does not encode chips of this kind.
    #[error(
        "Tapdesk encodes NTAG 424 DNA, NTAG 213, 215 and 216. Encode other chips with another tool."
    )]
    Chip,
}

impl PlanError {
    /// The reason that the relay receives.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Layout(LayoutError::TooLong { .. })
            | Self::Template(TemplateError::TooLongForChip { .. }) => Reason::UrlTooLong,
            _ => Reason::NotEncodable,
        }
    }
}

/// The facts that a read of a finished chip proves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// One-time URL that the chip sent.
    pub url: String,
    /// Read counter in that URL.
    pub counter: u32,
}

/// Whether Tapdesk encodes chips of this technology.
pub fn is_encodable(technology: Technology) -> bool {
    technology.family() == Family::Ntag424 || Memory::of(technology).is_some()
}

/// Whether Tapdesk can protect chips of this technology against writing, by a permanent lock or by a
/// password. Chips with keys need neither: they can be written only with their key.
pub fn is_lockable(technology: Technology) -> bool {
    is_encodable(technology) && !technology.rolls()
}

impl Plan {
    /// The bytes of a form.
    pub fn new(form: &Form) -> Result<Self, PlanError> {
        let template = Template::new(form.template.clone())?;
        let slug = template.has(Field::Slug).then_some(form.slug.as_str());
        let layout = template.layout(slug)?;
        let technology = template.settings().technology;
        let (settings, pages) = if technology.family() == Family::Ntag424 {
            (file_settings::sdm_settings(&template, &layout), None)
        } else {
            let mut pages = Pages::new(&template, &layout)?;
            pages.lock = form.lock;
            pages.write_password = form.write_password == Some(true);
            // A locked chip needs no password.
            pages.keeps_password = form.write_password.is_none() && !form.lock;
            (Vec::new(), Some(pages))
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

    /// The template that the plan writes.
    pub fn template(&self) -> &Template {
        &self.template
    }

    fn slug(&self) -> Option<&str> {
        let has_slug = self.template.has(Field::Slug);
        has_slug.then_some(self.slug.as_str())
    }

    /// The SDM keys, from the keys in the chip's slots 1 and 2.
    pub fn keys(&self, meta: AesKey, file: AesKey) -> Keys {
        Keys {
            meta: self.template.has(Field::Picc).then_some(meta),
            file,
        }
    }

    /// Checks a read of the NDEF file: it must hold this URL, with a code of these keys.
    pub fn prove(&self, file: &[u8], uid: Uid, keys: &Keys) -> Option<Proof> {
        self.prove_url(url_of(file)?, uid, keys)
    }

    /// Checks a URL that a chip sent: it must be this one, with a code of these keys.
    pub fn prove_url(&self, url: String, uid: Uid, keys: &Keys) -> Option<Proof> {
        let addressed = self.template.read(&Request::of_url(&url)?)?;
        if addressed.slug.as_deref() != self.slug() {
            return None;
        }
        let code = addressed.code.ok()??;
        // The whole URL must be as written, not only its code.
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
    /// Checks the data area of a chip of pages: it must hold this URL, and the chip's UID and a
    /// counter that counts if the URL mirrors them. It proves no tap: anyone can write this data.
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
    let (&[high, low], rest) = file.split_first_chunk()?;
    let message = rest.get(..usize::from(u16::from_be_bytes([high, low])))?;
    let (&[0xD1, 0x01, length, b'U', prefix], url) = message.split_first_chunk()? else {
        return None;
    };
    if usize::from(length) != url.len() + 1 {
        return None;
    }
    let prefix = ndef::PREFIXES.get(usize::from(prefix))?;
    Some(format!("{prefix}{}", std::str::from_utf8(url).ok()?))
}
