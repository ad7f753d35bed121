//! A tag in the form that taps need, small enough that a million of them fit into memory: texts in
//! one piece, the single inlay of most tags in place, and rare parts in a separate piece.

#[cfg(test)]
mod tests;

use domain::id::{ExperienceId, GroupId, InlayId, TagId, UrlTemplateId};
use domain::keyring::{Keyring, KeyringError};
use domain::tag::{Location, Slug, Status, TagFields, WidgetSettings};
use inlay::Uid;
use inlay::verify::Candidate;
use storage::{BoundInlay, TagInlays, TagTap};

use super::tag_cache::PLACE_BY_SLUG;
use super::template_cache::TemplateTapInlay;

/// The allocator's overhead for each piece, in bytes.
const PIECE: usize = 16;
/// The cache's overhead for finding a tag by the UID of its inlay, in bytes.
const PLACE_BY_UID: usize = 40;

/// A tag with the opened keys of its inlays.
#[derive(Debug)]
pub struct TapTag {
    id: TagId,
    /// `None`: the tag has no experience of its own.
    experience: Option<ExperienceId>,
    group: Option<GroupId>,
    /// Slug, name, title, description and language, one after the other.
    texts: Box<str>,
    /// The ends of the first four of them, in bytes.
    ends: [u32; 4],
    inlays: Inlays,
    rare: Option<Box<Rare>>,
    /// The last part of its URL, whether it is in use, and so on, as its owner decided.
    pub(crate) switches: Switches,
    simulated: bool,
    /// Whether no other slug, present or former, is the same as its slug but for case.
    is_only_spelling: bool,
    codes: Codes,
}

/// The codes that a tag's inlays make. One byte for two answers, because a million tags have it.
#[derive(Clone, Copy, Debug)]
enum Codes {
    /// No inlay makes codes of either kind.
    None,
    /// An inlay makes codes that prove nothing, or none.
    Static,
    /// An inlay makes codes that can prove a tap.
    Rolling,
    /// It has an inlay of each kind.
    Both,
}

/// The switches that an owner sets.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent switches"
)]
pub(crate) struct Switches {
    pub status: Status,
    pub verifier_enabled: bool,
    pub(crate) updates_require_verified: bool,
    pub(crate) track_location: bool,
    pub has_qr_code: bool,
}

/// The inlays that make codes.
#[derive(Debug)]
enum Inlays {
    None,
    /// One that makes codes of the canonical form.
    One(TapInlay),
    /// One that writes its URLs by a template.
    OfTemplate(TemplateTapInlay),
    Several(Box<Several>),
}

/// Several inlays, or one whose keys cannot be opened.
#[derive(Debug)]
struct Several {
    canonical: Result<Box<[TapInlay]>, KeyringError>,
    of_templates: Result<Box<[TemplateTapInlay]>, KeyringError>,
    /// The template of each of the latter, whether or not their keys can be opened.
    templates: Box<[(InlayId, UrlTemplateId)]>,
}

/// An inlay that makes codes of the canonical form, with its keys.
#[derive(Clone, Debug)]
pub struct TapInlay {
    /// Identifier of the inlay.
    pub id: InlayId,
    /// Rises whenever its keys are replaced, or it is blocked or unblocked.
    pub(crate) key_version: u32,
    /// Whether its owner blocked it.
    pub blocked: bool,
    candidate: Candidate,
}

/// The parts that few tags have.
#[derive(Debug, Default)]
struct Rare {
    location: Option<Location>,
    widget_settings: WidgetSettings,
    /// Former slugs that differ from the present one only in case.
    spellings: Vec<Slug>,
}

/// Opens the keys of an inlay, to verify its codes.
pub(crate) fn candidate(inlay: &BoundInlay, keyring: &Keyring) -> Result<Candidate, KeyringError> {
    Ok(Candidate {
        uid: inlay.uid,
        mirror: inlay.mirror,
        mac_from: inlay.mac_from,
        keys: keyring.canonical_keys(&inlay.keys, inlay.uid, inlay.mirror)?,
    })
}

impl AsRef<Candidate> for TapInlay {
    fn as_ref(&self) -> &Candidate {
        &self.candidate
    }
}

impl TapInlay {
    fn of(inlay: &BoundInlay, keyring: &Keyring) -> Result<Self, KeyringError> {
        Ok(Self {
            id: inlay.id,
            key_version: inlay.key_version,
            blocked: inlay.blocked,
            candidate: candidate(inlay, keyring)?,
        })
    }
}

impl TapTag {
    /// A tag that was just read. `proves_taps` returns whether a template's codes prove taps.
    pub(super) fn new(
        tap: TagTap,
        keyring: &Keyring,
        proves_taps: impl Fn(UrlTemplateId) -> bool,
    ) -> Self {
        let TagTap {
            tag,
            inlays,
            is_only_spelling,
        } = tap;
        let mut of_templates = inlays.of_templates.iter();
        let rolls = !inlays.rolling.is_empty()
            || of_templates.any(|inlay| proves_taps(inlay.url_template_id));
        let mut of_templates = inlays.of_templates.iter();
        let has_static = inlays.has_static || of_templates.any(|inlay| !inlay.technology.rolls());
        Self {
            id: tag.id,
            experience: tag.fields.experience_id,
            group: tag.fields.group_id,
            codes: match (rolls, has_static) {
                (false, false) => Codes::None,
                (false, true) => Codes::Static,
                (true, false) => Codes::Rolling,
                (true, true) => Codes::Both,
            },
            is_only_spelling,
            inlays: Inlays::of(&inlays, keyring),
            simulated: tag.simulated,
            switches: Switches {
                status: tag.fields.status,
                verifier_enabled: tag.fields.verifier_enabled,
                updates_require_verified: tag.fields.updates_require_verified,
                track_location: tag.fields.track_location,
                has_qr_code: tag.fields.has_qr_code,
            },
            ends: ends(&tag.fields),
            texts: texts(&tag.fields).concat().into(),
            rare: Rare::of(tag.fields.location, tag.fields.widget_settings),
        }
    }

    /// Identifier of the tag.
    pub fn id(&self) -> TagId {
        self.id
    }

    /// Its own experience, if it has one.
    pub(super) fn own_experience_id(&self) -> Option<ExperienceId> {
        self.experience
    }

    /// The group that it is in.
    pub fn group_id(&self) -> Option<GroupId> {
        self.group
    }

    /// The last part of its present URL. The tag may have been found by a former one.
    pub fn slug(&self) -> &str {
        self.text(0)
    }

    /// The present slug, and the former ones that differ from it only in case, if its inlays need
    /// them.
    pub(super) fn slugs(&self) -> impl Iterator<Item = &str> {
        let rare = self.rare.as_ref();
        let former = rare.map_or(&[][..], |rare| &rare.spellings);
        std::iter::once(self.slug()).chain(former.iter().map(Slug::as_str))
    }

    /// Adds former slugs that differ from the present one only in case.
    pub(super) fn add_spellings(&mut self, slugs: impl Iterator<Item = Slug>) {
        let mut slugs = slugs.peekable();
        if slugs.peek().is_some() {
            let rare = self.rare.get_or_insert_default();
            rare.spellings.extend(slugs);
        }
    }

    /// Name that the owner gave it.
    pub fn name(&self) -> &str {
        self.text(1)
    }

    /// Its own name for visitors, if it has one.
    pub(super) fn own_title(&self) -> &str {
        self.text(2)
    }

    /// Its own sentence for visitors, if it has one.
    pub(super) fn own_description(&self) -> &str {
        self.text(3)
    }

    /// Its own locale, as in `en_US`, if it has one.
    pub(super) fn own_language_code(&self) -> &str {
        self.text(4)
    }

    fn text(&self, index: usize) -> &str {
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        let end = self
            .ends
            .get(index)
            .map_or(self.texts.len(), |end| *end as usize);
        &self.texts[start..end]
    }

    /// Whether it belongs to the simulated world.
    pub fn simulated(&self) -> bool {
        self.simulated
    }

    /// Location of the tag, if it has one.
    pub fn location(&self) -> Option<&Location> {
        self.rare.as_ref()?.location.as_ref()
    }

    /// Settings of widgets by their name.
    pub(crate) fn widget_settings(&self) -> &WidgetSettings {
        static NONE: WidgetSettings = WidgetSettings::new();
        let rare = self.rare.as_ref();
        rare.map_or(&NONE, |rare| &rare.widget_settings)
    }

    /// Whether it has an inlay whose codes can prove a tap.
    pub fn rolls(&self) -> bool {
        matches!(self.codes, Codes::Rolling | Codes::Both)
    }

    /// Whether it has an inlay whose codes prove nothing, or that makes no codes.
    pub(crate) fn has_static_inlay(&self) -> bool {
        matches!(self.codes, Codes::Static | Codes::Both)
    }

    /// Whether a text names it in any case: its slug is this text but for case, and no other slug
    /// is, of this tag or of another one.
    pub(super) fn is_only(&self, text: &str) -> bool {
        self.is_only_spelling && self.slug().eq_ignore_ascii_case(text)
    }

    /// Whether it is found by its slug in small letters, too, which is another text.
    pub(super) fn has_small_letters(&self) -> bool {
        self.is_only_spelling && self.slug().bytes().any(|byte| byte.is_ascii_uppercase())
    }

    /// Its inlays that make codes of the canonical form, with their keys.
    pub fn inlays(&self) -> Result<&[TapInlay], KeyringError> {
        match &self.inlays {
            Inlays::None | Inlays::OfTemplate(_) => Ok(&[]),
            Inlays::One(inlay) => Ok(std::slice::from_ref(inlay)),
            Inlays::Several(several) => several.canonical.as_deref().map_err(Clone::clone),
        }
    }

    /// Its inlays that write their URLs by templates, with their keys.
    pub(crate) fn of_templates(&self) -> Result<&[TemplateTapInlay], KeyringError> {
        match &self.inlays {
            Inlays::None | Inlays::One(_) => Ok(&[]),
            Inlays::OfTemplate(inlay) => Ok(std::slice::from_ref(inlay)),
            Inlays::Several(several) => several.of_templates.as_deref().map_err(Clone::clone),
        }
    }

    /// Its inlay with this UID that writes its URLs by a template.
    pub(crate) fn of_template(&self, uid: Uid) -> Option<&TemplateTapInlay> {
        let mut inlays = self.of_templates().unwrap_or_default().iter();
        inlays.find(|inlay| inlay.uid == uid)
    }

    /// The UID of one of its inlays that make codes.
    pub(crate) fn uid_of(&self, inlay: InlayId) -> Option<Uid> {
        let mut canonical = self.inlays().unwrap_or_default().iter();
        let canonical = canonical.find(|own| own.id == inlay);
        let mut of_templates = self.of_templates().unwrap_or_default().iter();
        let of_template = of_templates.find(|own| own.id == inlay);
        canonical
            .map(|own| own.candidate.uid)
            .or(of_template.map(|own| own.uid))
    }

    /// The template of the address at which a tap came in: the template of the inlay that made its
    /// code, or else of its first inlay; `None` for the canonical form.
    pub fn url_template(&self, inlay: Option<InlayId>) -> Option<UrlTemplateId> {
        match &self.inlays {
            Inlays::None | Inlays::One(_) => None,
            Inlays::OfTemplate(inlay) => Some(inlay.url_template_id),
            Inlays::Several(several) => several.url_template(inlay),
        }
    }

    /// The memory that it takes, in bytes: its allocations, and the overhead of each piece.
    pub(super) fn bytes(&self) -> usize {
        let inlays = match &self.inlays {
            Inlays::None | Inlays::One(_) => 0,
            Inlays::OfTemplate(_) => PLACE_BY_UID,
            Inlays::Several(several) => several.bytes(),
        };
        let rare = self.rare.as_ref().map_or(0, |rare| rare.bytes());
        let small_letters = usize::from(self.has_small_letters()) * PLACE_BY_SLUG;
        size_of::<Self>() + PIECE + self.texts.len() + PIECE + inlays + rare + small_letters
    }
}

impl Inlays {
    fn of(inlays: &TagInlays, keyring: &Keyring) -> Self {
        let canonical = inlays.rolling.iter();
        let canonical: Result<Vec<_>, _> = canonical
            .map(|inlay| TapInlay::of(inlay, keyring))
            .collect();
        let of_templates = inlays.of_templates.iter();
        let of_templates: Result<Vec<_>, _> = of_templates
            .map(|inlay| TemplateTapInlay::of(inlay, keyring))
            .collect();
        match (canonical, of_templates) {
            (Ok(mut canonical), Ok(mut of_templates))
                if canonical.len() + of_templates.len() <= 1 =>
            {
                match (canonical.pop(), of_templates.pop()) {
                    (Some(inlay), _) => Self::One(inlay),
                    (None, Some(inlay)) => Self::OfTemplate(inlay),
                    (None, None) => Self::None,
                }
            }
            (canonical, of_templates) => Self::Several(Box::new(Several {
                canonical: canonical.map(Vec::into_boxed_slice),
                of_templates: of_templates.map(Vec::into_boxed_slice),
                templates: inlays
                    .of_templates
                    .iter()
                    .map(|inlay| (inlay.id, inlay.url_template_id))
                    .collect(),
            })),
        }
    }
}

impl Several {
    fn url_template(&self, inlay: Option<InlayId>) -> Option<UrlTemplateId> {
        let mut templates = self.templates.iter();
        let made = templates.find(|(id, _)| Some(*id) == inlay);
        let only = || {
            let canonical = !matches!(self.canonical.as_deref(), Ok([]));
            self.templates.first().filter(|_| !canonical)
        };
        made.or_else(only).map(|(_, template)| *template)
    }

    fn bytes(&self) -> usize {
        let canonical = self.canonical.as_deref().map_or(0, size_of_val);
        let of_templates = self.of_templates.as_deref().map_or(0, size_of_val);
        let places = self.templates.len() * PLACE_BY_UID;
        let pieces = 4 * PIECE + size_of_val::<[_]>(&self.templates);
        size_of::<Self>() + canonical + of_templates + pieces + places
    }
}

impl Rare {
    fn of(location: Option<Location>, widget_settings: WidgetSettings) -> Option<Box<Self>> {
        if location.is_none() && widget_settings.is_empty() {
            return None;
        }
        Some(Box::new(Self {
            location,
            widget_settings,
            spellings: Vec::new(),
        }))
    }

    /// Roughly: parsed JSON takes a few times as much as its text.
    fn bytes(&self) -> usize {
        const PARSED: usize = 4;
        let json = |json: Result<String, _>| json.map_or(0, |json: String| json.len() * PARSED);
        let location = self.location.as_ref();
        let location = location.map_or(0, |location| json(serde_json::to_string(location)));
        let widgets = json(serde_json::to_string(&self.widget_settings));
        let spellings = self.spellings.iter();
        let spellings = spellings.map(|slug| size_of::<Slug>() + PIECE + slug.as_str().len());
        size_of::<Self>() + location + widgets + spellings.sum::<usize>()
    }
}

fn texts(fields: &TagFields) -> [&str; 5] {
    [
        fields.slug.as_str(),
        &fields.name,
        &fields.title,
        &fields.description,
        &fields.language_code,
    ]
}

fn ends(fields: &TagFields) -> [u32; 4] {
    let texts = texts(fields);
    let mut end = 0;
    std::array::from_fn(|index| {
        end += u32::try_from(texts[index].len()).unwrap_or_default();
        end
    })
}
