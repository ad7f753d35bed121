//! From the URLs of inlays, and keys that may be theirs, to their template.
//!
//! The answer is one of three: *proved*, because the MACs verify and nothing else explains them;
//! *narrowed* to a few; or *unknown*. It never presents a guess as a fact. It opens no URL and uses
//! no key except the given ones.
//!
//! | Module | Subject |
//! |---|---|
//! | `shapes` | the possible templates of a URL, by its lengths and characters |
//! | `sources` | the possible keys, given or derived |
//! | `alike` | other explanations of the same URLs and MACs |
//! | `apart` | chips that each have their own keys |
//! | `parts` | the URLs that have an answer, if all together have none |
//! | `forms` | forms of URLs that other services publish |
//! | `fixed` | URLs that no chip writes into |
//! | `lengths` | values that lack digits |
//! | `remarks` | properties of the URLs that explain the answer |
//! | `windows` | where the MAC's input begins |
//! | `words` | the parts of a URL, and which of them vary |

mod alike;
mod apart;
mod fixed;
mod forms;
mod lengths;
mod parts;
mod remarks;
mod shapes;
mod sources;
mod windows;
mod words;

use std::collections::HashSet;

use shapes::Unread;

use crate::Uid;
use crate::assessment::{Assessment, FileData};
use crate::derivation::MasterSecret;
use crate::key::{InlayKeys, SomeKey};
use crate::pasted::Unused;
use crate::technology::Family;
use crate::template::{Filled, Template, TemplateSettings};

pub use crate::pasted::URLS_MAX;
pub use remarks::Remark;
pub use sources::KeySource;

/// The most keys that are tried, and the most master keys.
pub const KEYS_MAX: usize = 16;
/// How many MACs are computed at most. In AES mode one takes about a microsecond; one in LRP mode
/// counts as thirty.
pub const ATTEMPTS_MAX: u64 = 1_000_000;
/// How many unproved templates are shown at most, whatever chips write them. A longer list would
/// not help.
const SHAPES_MAX: usize = 8;

/// The question: URLs, and keys that may be theirs.
#[derive(Clone, Copy, Debug)]
pub struct Puzzle<'a> {
    /// One-time URLs of one template; at most [`URLS_MAX`] are read.
    pub urls: &'a [&'a str],
    /// Keys of inlays; at most [`KEYS_MAX`].
    pub keys: &'a [SomeKey],
    /// Master keys; at most [`KEYS_MAX`].
    pub master_keys: &'a [MasterSecret],
}

impl<'a> Puzzle<'a> {
    /// The question without master keys.
    pub const fn of(urls: &'a [&'a str], keys: &'a [SomeKey]) -> Self {
        Self {
            urls,
            keys,
            master_keys: &[],
        }
    }
}

/// The certainty of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// All used URLs verify with the one candidate and with no other.
    Proved,
    /// One of the candidates is right, if the URLs are of a supported chip. Candidates with a
    /// source of keys fit by their MACs. If no candidate has one, they fit by their shape, read for
    /// as many placeholders as it has room for.
    Narrowed,
    /// The answer is undecided, or the budget ran out.
    Unknown,
}

/// The answer to a [`Puzzle`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// How sure it is.
    pub certainty: Certainty,
    /// The result of a search for a template.
    pub candidates: Vec<Format>,
    /// How many MACs were made.
    pub tried: u64,
    /// Properties of the URLs that explain the answer.
    pub remarks: Vec<Remark>,
    /// The URLs that were used, each once, in order.
    pub urls: Vec<String>,
    /// The URLs that were not used, each with its reason.
    pub unused: Vec<Unused>,
}

/// A template with its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The template. If no MAC proved it, its `mac_from` is not known.
    pub settings: TemplateSettings,
    /// The keys; `None` if no MAC proves the template.
    pub source: Option<KeySource>,
    /// UID and counter that each URL names, in the order of [`Solution::urls`].
    pub reads: Vec<(Option<Uid>, Option<u32>)>,
    /// How many URLs' MACs prove it.
    pub proved_by: usize,
    /// The keys of each URL's chip, in the order of [`Solution::urls`], if they differ; otherwise
    /// empty.
    pub own_sources: Vec<KeySource>,
}

/// Counts attempts, and ends the search.
struct Budget<'a> {
    tried: u64,
    over: bool,
    keep_going: &'a mut dyn FnMut() -> bool,
}

impl Budget<'_> {
    /// Whether there is time for one more.
    fn spend(&mut self, cost: u64) -> bool {
        self.tried += cost;
        // Reading the clock costs as much as a MAC, so it is read every 256 attempts.
        let asked = self.tried / 256 != (self.tried - cost) / 256;
        self.over |= self.tried > ATTEMPTS_MAX || (asked && !(self.keep_going)());
        !self.over
    }
}

/// Finds the template of the URLs. `keep_going` is called now and then; once it returns false, the
/// answer is unknown.
pub fn solve(puzzle: &Puzzle<'_>, keep_going: &mut dyn FnMut() -> bool) -> Solution {
    let (urls, mut unused) = parts::usable(puzzle.urls);
    let sources = sources::all(puzzle);
    let mut budget = Budget {
        tried: 0,
        over: false,
        keep_going,
    };
    let (used, answer) = parts::best(&urls, &sources, &mut budget);
    unused.extend(parts::unused(&urls, &used, &answer));
    Solution {
        certainty: if budget.over {
            Certainty::Unknown
        } else {
            answer.certainty
        },
        remarks: remarks::of(puzzle.urls, &used, &answer.candidates),
        candidates: answer.candidates,
        tried: budget.tried,
        urls: used.into_iter().map(str::to_owned).collect(),
        unused,
    }
}

/// The answer for URLs that are used together.
struct Answer {
    certainty: Certainty,
    candidates: Vec<Format>,
}

impl Answer {
    /// Whether the MACs of all URLs prove the candidates.
    fn is_verified(&self) -> bool {
        self.candidates.iter().any(|format| format.proved_by > 0)
    }
}

/// The templates of these URLs.
fn answer(urls: &[&str], sources: &[KeySource], budget: &mut Budget<'_>) -> Answer {
    let Some(shapes) = shapes::all(urls) else {
        // A chip could write into URLs with too many shapes to list, so they are not fixed.
        return Answer {
            certainty: Certainty::Unknown,
            candidates: Vec::new(),
        };
    };
    let mut proofs = Vec::new();
    // A slug can look like a value of a chip, but values are rarely slugs. No MAC verifies both ways,
    // so the rare case is tried last.
    let (rare, usual): (Vec<_>, Vec<_>) = shapes.iter().partition(|shape| shape.has_slug_of_hex());
    for shapes in [usual, rare] {
        if proofs.is_empty() {
            for shape in shapes {
                proofs.extend(proofs_of(shape, sources, budget));
            }
        }
    }
    if proofs.is_empty() {
        for shape in &shapes {
            proofs.extend(apart::proofs_of(shape, sources, budget));
        }
    }
    let candidates = alike::distinguished(&proofs);
    if !candidates.is_empty() {
        let certainty = match candidates.as_slice() {
            [only] if only.is_beyond_chance() => Certainty::Proved,
            _ => Certainty::Narrowed,
        };
        return Answer {
            certainty,
            candidates,
        };
    }
    let mut candidates = alike::unproved(&shapes);
    // A URL that a chip writes into is not fixed, though its path may look like a tag's name. The
    // shapes of one URL are those above, so they are not listed again.
    let is_fixed = || urls.len() == 1 || !urls.iter().any(|url| parts::has_shape(url));
    if shapes.is_empty() && is_fixed() {
        candidates = fixed::all(urls);
    }
    if texts(&candidates) > SHAPES_MAX {
        candidates.clear();
    }
    let certainty = match candidates.as_slice() {
        [] => Certainty::Unknown,
        _ => Certainty::Narrowed,
    };
    Answer {
        certainty,
        candidates,
    }
}

/// How many different texts the templates have, each counted once for each mode.
fn texts(candidates: &[Format]) -> usize {
    let text = |format: &Format| (format.settings.template.clone(), format.settings.mode);
    let texts: HashSet<_> = candidates.iter().map(text).collect();
    texts.len()
}

/// A template and keys with which all URLs verify, and the file data of each URL.
struct Proof {
    format: Format,
    data: Vec<Option<FileData>>,
}

/// The templates and keys of this shape with which all URLs verify.
fn proofs_of(shape: &Shape, sources: &[KeySource], budget: &mut Budget<'_>) -> Vec<Proof> {
    let mut found = Vec::new();
    for source in sources {
        if budget.over {
            break;
        }
        for template in windows::verifying(shape, source, budget) {
            let checked = shape
                .codes
                .iter()
                .map(|code| verified(&template, code, source));
            let Some(checked) = checked.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let reads = checked.iter().map(|checked| (checked.uid, checked.counter));
            let reads: Vec<_> = reads.collect();
            if names_several(shape, &reads) {
                continue;
            }
            found.push(Proof {
                format: Format {
                    settings: template.settings().clone(),
                    source: Some(source.as_used_by(&template)),
                    reads,
                    proved_by: checked.len(),
                    own_sources: Vec::new(),
                },
                data: checked
                    .into_iter()
                    .map(|checked| checked.file_data)
                    .collect(),
            });
        }
    }
    found
}

/// Whether one slug would stand for several chips: then the segment is not a slug.
fn names_several(shape: &Shape, reads: &[(Option<Uid>, Option<u32>)]) -> bool {
    let slugs = shape.codes.iter().map(|(slug, _)| slug.as_deref());
    let named: Vec<(Option<&str>, Option<Uid>)> =
        slugs.zip(reads.iter().map(|(uid, _)| *uid)).collect();
    named.iter().any(|(slug, uid)| {
        let mut others = named.iter();
        slug.is_some() && others.any(|(same, other)| same == slug && other != uid)
    })
}

/// The verdict on a URL's code; `None` if it is not authentic.
fn verified(
    template: &Template,
    (slug, code): &(Option<String>, Filled),
    source: &KeySource,
) -> Option<Assessment> {
    let uid = source.named(template, code)?;
    let keys = source.keys(uid)?;
    let found = template.check(slug.as_deref(), code, uid, &keys);
    found.is_authentic().then_some(found)
}

/// Variants of the template, one for each other beginning of the MAC's input with which a code is
/// authentic.
pub fn mac_starts(
    template: &Template,
    slug: Option<&str>,
    code: &Filled,
    keys: &InlayKeys,
) -> Vec<Template> {
    let shape = Shape {
        template: template.clone(),
        codes: vec![(slug.map(str::to_owned), code.clone())],
        unread: Unread::Nothing,
    };
    let source = KeySource::Given {
        meta: Some(0),
        file: 0,
        keys: keys.clone(),
    };
    // A file has 256 bytes, and as many possible beginnings.
    let mut budget = Budget {
        tried: 0,
        over: false,
        keep_going: &mut || true,
    };
    windows::verifying(&shape, &source, &mut budget)
}

/// A template that the URLs have the shape of.
struct Shape {
    template: Template,
    /// The code of each URL, with its slug.
    codes: Vec<(Option<String>, Filled)>,
    /// The values that it leaves literal.
    unread: Unread,
}

impl Shape {
    /// Whether a slug has the form of a chip's value, and not that of most slugs.
    fn has_slug_of_hex(&self) -> bool {
        let is_of_hex = |slug: &str| shapes::could_be_code(slug) && !shapes::is_usual_slug(slug);
        let mut slugs = self.codes.iter().filter_map(|(slug, _)| slug.as_deref());
        slugs.any(is_of_hex)
    }
}

impl Format {
    /// Whether so many equal bits cannot be an accident. The 32 bits of a SIC43NT match by accident
    /// once in some thousand searches with many keys. Repeated codes count as one code.
    fn is_beyond_chance(&self) -> bool {
        let several = self.reads.iter().any(|read| *read != self.reads[0]);
        self.settings.technology.family() != Family::Sic43Nt || several
    }
}
