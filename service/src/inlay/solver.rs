//! From URLs as inlays make them, and the keys that might be theirs, to their template.
//!
//! What it says is one of three: *proved*, because the MACs verify and nothing else explains
//! them; *narrowed* to a few; or *unknown*. It never presents a guess as a fact. It opens no URL and
//! uses no key but those it is given.
//!
//! | Module | Subject |
//! |---|---|
//! | `shapes` | the templates a URL could be of, by its lengths and characters |
//! | `sources` | the keys they could have, given or derived |
//! | `alike` | what the same URLs and MACs could be besides |
//! | `windows` | where the MAC's input begins |

mod alike;
mod shapes;
mod sources;
mod windows;

use crate::inlay::Uid;
use crate::inlay::assessment::{Assessment, FileData};
use crate::inlay::derivation::MasterSecret;
use crate::inlay::key::{InlayKeys, SomeKey};
use crate::inlay::technology::Family;
use crate::inlay::template::{Filled, Template, TemplateSettings};

pub use sources::KeySource;

/// The most URLs that are read.
pub const URLS_MAX: usize = 5;
/// The most keys that are tried, and the most master keys.
pub const KEYS_MAX: usize = 16;
/// How many MACs are made at most. In AES mode one takes about a microsecond; one in LRP mode
/// counts as thirty.
pub const ATTEMPTS_MAX: u64 = 1_000_000;
/// How many templates that no MAC proves are still worth showing.
const SHAPES_MAX: usize = 8;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Puzzle<'a> {
    /// One-time URLs of one template; at most [`URLS_MAX`] are read.
    pub urls: &'a [&'a str],
    /// Keys of inlays; at most [`KEYS_MAX`].
    pub keys: &'a [SomeKey],
    /// Master keys; at most [`KEYS_MAX`].
    pub master_keys: &'a [MasterSecret],
}

/// How sure an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// All URLs verify with the one candidate, and with no other.
    Proved,
    /// It is one of the candidates, if the URLs are of a supported chip: by their MACs, or by
    /// their shape alone, read for as many placeholders as it has room for, if no candidate has a
    /// source of keys.
    Narrowed,
    /// It is undecided, or time ran out.
    Unknown,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// How sure it is.
    pub certainty: Certainty,
    /// The result of a search for a template.
    pub candidates: Vec<Format>,
    /// How many MACs were made.
    pub tried: u64,
}

/// A template with its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The template. If no MAC proved it, its `mac_from` is not known.
    pub settings: TemplateSettings,
    /// The keys; `None` if no MAC proved it.
    pub source: Option<KeySource>,
    /// What each URL names, in their order; the same URL once.
    pub reads: Vec<(Option<Uid>, Option<u32>)>,
    /// How many URLs' MACs prove it.
    pub proved_by: usize,
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
        // The clock is asked now and then: asking costs as much as a MAC.
        let asked = self.tried / 256 != (self.tried - cost) / 256;
        self.over |= self.tried > ATTEMPTS_MAX || (asked && !(self.keep_going)());
        !self.over
    }
}

/// Finds the template of the URLs. `keep_going` is asked now and then; once it says no, the
/// answer is unknown.
pub fn solve(puzzle: &Puzzle<'_>, keep_going: &mut dyn FnMut() -> bool) -> Solution {
    // The same URL twice proves no more than once.
    let mut urls: Vec<&str> = Vec::new();
    for url in puzzle.urls.iter().take(URLS_MAX) {
        if !urls.contains(url) {
            urls.push(url);
        }
    }
    let sources = sources::all(puzzle);
    let mut budget = Budget {
        tried: 0,
        over: false,
        keep_going,
    };
    let Some(shapes) = shapes::all(&urls) else {
        return Solution {
            certainty: Certainty::Unknown,
            candidates: Vec::new(),
            tried: 0,
        };
    };
    let mut proofs = Vec::new();
    for shape in &shapes {
        proofs.extend(proofs_of(shape, &sources, &mut budget));
    }
    let mut candidates = alike::told_apart(&proofs);
    let mut certainty = match candidates.as_slice() {
        [] => Certainty::Unknown,
        [only] if only.is_beyond_chance() => Certainty::Proved,
        _ => Certainty::Narrowed,
    };
    if candidates.is_empty() {
        candidates = alike::unproved(&shapes);
        if candidates.len() > SHAPES_MAX {
            candidates.clear();
        } else if !candidates.is_empty() {
            certainty = Certainty::Narrowed;
        }
    }
    if budget.over {
        certainty = Certainty::Unknown;
    }
    Solution {
        certainty,
        candidates,
        tried: budget.tried,
    }
}

/// A format with which all URLs verify, and the file data of each.
struct Proof {
    format: Format,
    data: Vec<Option<FileData>>,
}

/// The ways in which all URLs verify as of this shape.
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

/// Whether one slug stands for several chips: then it is none.
fn names_several(shape: &Shape, reads: &[(Option<Uid>, Option<u32>)]) -> bool {
    let slugs = shape.codes.iter().map(|(slug, _)| slug.as_deref());
    let named: Vec<(Option<&str>, Option<Uid>)> =
        slugs.zip(reads.iter().map(|(uid, _)| *uid)).collect();
    named.iter().any(|(slug, uid)| {
        let mut others = named.iter();
        slug.is_some() && others.any(|(same, other)| same == slug && other != uid)
    })
}

/// The verdict on a URL's code, if it is authentic.
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

/// The template with each other beginning of the MAC's input with which a code is authentic.
pub fn mac_starts(
    template: &Template,
    slug: Option<&str>,
    code: &Filled,
    keys: &InlayKeys,
) -> Vec<Template> {
    let shape = Shape {
        template: template.clone(),
        codes: vec![(slug.map(str::to_owned), code.clone())],
    };
    let source = KeySource::Given {
        meta: Some(0),
        file: 0,
        keys: keys.clone(),
    };
    // A file has 256 bytes, and as many beginnings.
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
}

impl Format {
    /// Whether so many equal bits are no accident. The 32 of a SIC43NT are one, once in some
    /// thousand searches with many keys; the same code in two URLs is one code.
    fn is_beyond_chance(&self) -> bool {
        let several = self.reads.iter().any(|read| *read != self.reads[0]);
        self.settings.technology.family() != Family::Sic43Nt || several
    }
}
