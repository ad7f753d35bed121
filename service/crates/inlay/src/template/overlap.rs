//! Whether two templates can match one URL, and whether its placeholders tell them apart. In doubt a
//! URL matches: a value of the right length is matched even if it is not hex, and is then a
//! malformed code.

use super::ranking::ASKED_MAX;
use super::syntax::{Parameter, Pattern, Piece};
use super::{Field, Template};
use crate::slug::{self, is_slug_byte};

/// A segment of a route of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteSegment<'a> {
    /// A segment that is exactly this text.
    Literal(&'a str),
    /// One segment with any text.
    Any,
    /// This segment and all after it.
    Rest,
}

impl Template {
    /// Whether there is a URL that both match.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (paths, others) = (&self.parts.path, &other.parts.path);
        paths.len() == others.len()
            && !self.contradicts(other)
            && meet(&self.host_steps(), &other.host_steps())
            && paths
                .iter()
                .zip(others)
                .all(|(a, b)| self.meets(a, other, b))
    }

    /// Whether there is a URL of which nothing tells whether it is this template's or the other's:
    /// neither has a placeholder, or a length of one, that the other does not have. If only one has
    /// `{slug}`, a tag with that slug or an inlay with that code decides.
    pub fn is_confused_with(&self, other: &Self) -> bool {
        self.has(Field::Slug) == other.has(Field::Slug)
            && self.overlaps(other)
            && (self.shapes() == other.shapes()
                || self.is_taken_for(other)
                || other.is_taken_for(self))
    }

    /// Whether one URL can have all values of this template and of more than three `others`, so
    /// that too many would have to be asked whose it is.
    pub fn is_crowded(&self, others: &[&Self]) -> bool {
        let near = others.iter().filter(|other| self.shares_urls(other));
        let near: Vec<&Self> = near.copied().collect();
        have_one_url(&near, ASKED_MAX)
    }

    /// Whether a URL of this template could reach a route of the service, which is matched first.
    /// The first segment of a route must be no tag's slug: a segment that is `{slug}` reaches none.
    pub fn overlaps_route(&self, route: &[RouteSegment<'_>]) -> bool {
        let path = &self.parts.path;
        let rest = route.last() == Some(&RouteSegment::Rest);
        let fixed = route.len() - usize::from(rest);
        if path.len() < fixed || (path.len() > fixed && !rest) {
            return false;
        }
        path.iter().zip(&route[..fixed]).enumerate().all(
            |(index, (pattern, segment))| match segment {
                RouteSegment::Literal(_) if index == 0 && is_slug(pattern) => false,
                RouteSegment::Literal(text) => meet(&self.steps(pattern), &literal(text)),
                RouteSegment::Any | RouteSegment::Rest => true,
            },
        )
    }

    fn meets(&self, mine: &Pattern, other: &Self, theirs: &Pattern) -> bool {
        meet(&self.steps(mine), &other.steps(theirs))
    }

    /// Whether one URL can have all values of both.
    fn shares_urls(&self, other: &Self) -> bool {
        let fits_both = |mine: &Parameter| {
            let named = other.parts.query.iter();
            let mut named = named.filter(|theirs| mine.name.is_some() && theirs.name == mine.name);
            named.all(|theirs| self.meets(&mine.value, other, &theirs.value))
        };
        self.parts.query.iter().all(fits_both) && self.overlaps(other)
    }

    /// Whether a URL that a chip of this template writes can have all values of `other`, and that
    /// one is not asked after this one.
    fn is_taken_for(&self, other: &Self) -> bool {
        let is_sent = |theirs: &Parameter| {
            let mut named = self.parts.query.iter();
            named.any(|mine| {
                mine.name == theirs.name && self.meets(&mine.value, other, &theirs.value)
            })
        };
        other.rank() >= self.rank() && other.parts.query.iter().all(is_sent)
    }

    /// The runs of values that its chips write, as pairs of placeholder and length.
    fn shapes(&self) -> Vec<Vec<(usize, Option<usize>)>> {
        let values = self.parts.query.iter().map(|parameter| &parameter.value);
        let runs = self.parts.path.iter().chain(values).map(|pattern| {
            let fields = pattern.iter().filter_map(|piece| match piece {
                Piece::Field(field) if field.is_of_code() => {
                    Some((*field as usize, self.length(*field)))
                }
                _ => None,
            });
            fields.collect::<Vec<_>>()
        });
        let mut runs: Vec<_> = runs.filter(|run| !run.is_empty()).collect();
        runs.sort();
        runs
    }

    /// Whether both require the same parameter with different fixed values.
    fn contradicts(&self, other: &Self) -> bool {
        let fixed = |value: &Pattern| match value.as_slice() {
            [] => Some(String::new()),
            [Piece::Text(text)] => Some(text.clone()),
            _ => None,
        };
        self.parts.query.iter().any(|mine| {
            let named = other
                .parts
                .query
                .iter()
                .filter(|theirs| theirs.name == mine.name);
            let mut values = named.map(|theirs| (fixed(&mine.value), fixed(&theirs.value)));
            values.any(|pair| matches!(pair, (Some(a), Some(b)) if a != b))
        })
    }

    fn host_steps(&self) -> Vec<Step> {
        self.steps_of(&self.parts.host, Class::Label)
    }

    fn steps(&self, pattern: &Pattern) -> Vec<Step> {
        self.steps_of(pattern, Class::Slug)
    }

    /// The steps of a pattern, in which a slug is of the class `slug`.
    fn steps_of(&self, pattern: &Pattern, slug: Class) -> Vec<Step> {
        let mut steps = Vec::new();
        for piece in pattern {
            match piece {
                Piece::Text(text) => steps.extend(literal(text)),
                Piece::Field(Field::Slug) => {
                    let (shortest, longest) = slug::LENGTHS.into_inner();
                    steps.extend([Step::One(slug)].repeat(shortest));
                    steps.extend([Step::Optional(slug)].repeat(longest - shortest));
                }
                Piece::Field(Field::Any) => steps.push(Step::Many),
                Piece::Field(field) => {
                    let length = self.length(*field).unwrap_or(0);
                    steps.extend([Step::One(Class::Any)].repeat(length));
                }
            }
        }
        steps
    }
}

fn is_slug(pattern: &Pattern) -> bool {
    pattern.as_slice() == [Piece::Field(Field::Slug)]
}

/// Whether one URL can have all values of some `count` of the templates.
fn have_one_url(templates: &[&Template], count: usize) -> bool {
    let Some(rest) = count.checked_sub(1) else {
        return true;
    };
    templates.len() >= count
        && templates.iter().enumerate().any(|(at, one)| {
            let others = templates[at + 1..].iter();
            let others = others.filter(|other| one.shares_urls(other));
            have_one_url(&others.copied().collect::<Vec<_>>(), rest)
        })
}

fn literal(text: &str) -> Vec<Step> {
    text.bytes()
        .map(|byte| Step::One(Class::Byte(byte)))
        .collect()
}

/// A step of a pattern, which matches one byte or several.
#[derive(Clone, Copy)]
enum Step {
    One(Class),
    Optional(Class),
    Many,
}

/// The bytes that a step can match.
#[derive(Clone, Copy)]
enum Class {
    Byte(u8),
    Slug,
    /// A slug in a host, where a dot ends it.
    Label,
    Any,
}

impl Class {
    fn meets(self, other: Self) -> bool {
        match (self, other) {
            (Self::Byte(a), Self::Byte(b)) => a == b,
            (Self::Byte(byte), Self::Slug) | (Self::Slug, Self::Byte(byte)) => is_slug_byte(byte),
            (Self::Byte(byte), Self::Label) | (Self::Label, Self::Byte(byte)) => {
                is_slug_byte(byte) && byte != b'.'
            }
            _ => true,
        }
    }
}

impl Step {
    /// The class of the byte it takes, and whether it stays for more; whether it may be left out.
    fn taken(self) -> (Class, bool, bool) {
        match self {
            Self::One(class) => (class, false, false),
            Self::Optional(class) => (class, false, true),
            Self::Many => (Class::Any, true, true),
        }
    }
}

/// The shortest and the longest text that takes the steps, in bytes.
fn lengths(steps: &[Step]) -> (usize, usize) {
    let lengths = steps.iter().map(|step| match step {
        Step::One(_) => (1, 1),
        Step::Optional(_) => (0, 1),
        Step::Many => (0, usize::MAX),
    });
    lengths.fold((0, 0), |(shortest, longest), (least, most)| {
        (shortest + least, longest.saturating_add(most))
    })
}

/// Whether one text takes both sequences of steps to their ends: the product of two automata,
/// walked once.
fn meet(a: &[Step], b: &[Step]) -> bool {
    // Most patterns that do not meet differ in their lengths.
    let ((a_shortest, a_longest), (b_shortest, b_longest)) = (lengths(a), lengths(b));
    if a_shortest > b_longest || b_shortest > a_longest {
        return false;
    }
    let width = b.len() + 1;
    let mut reached = vec![false; (a.len() + 1) * width];
    let mut open = vec![(0, 0)];
    while let Some((i, j)) = open.pop() {
        if std::mem::replace(&mut reached[i * width + j], true) {
            continue;
        }
        let (of_a, of_b) = (
            a.get(i).map(|step| step.taken()),
            b.get(j).map(|step| step.taken()),
        );
        match (of_a, of_b) {
            (None, None) => return true,
            (Some((a, a_stays, _)), Some((b, b_stays, _))) if a.meets(b) => {
                open.push((i + usize::from(!a_stays), j + usize::from(!b_stays)));
            }
            _ => {}
        }
        if matches!(of_a, Some((_, _, true))) {
            open.push((i + 1, j));
        }
        if matches!(of_b, Some((_, _, true))) {
            open.push((i, j + 1));
        }
    }
    false
}
