//! Whether two templates can match one URL. In doubt the answer is yes: a value of the right length
//! is matched even if it is not hex, and is then a malformed code.

use super::request::{SLUG, is_slug_byte};
use super::syntax::{Pattern, Piece};
use super::{Field, Template};

/// A segment of a route of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteSegment<'a> {
    /// Exactly this text.
    Literal(&'a str),
    /// Any single segment.
    Any,
    /// This segment and all after it.
    Rest,
}

impl Template {
    /// Whether there is a URL that both match.
    pub fn overlaps(&self, other: &Self) -> bool {
        let meets = |a: &Pattern, b: &Pattern| meet(&self.steps(a), &other.steps(b));
        let (paths, others) = (&self.parts.path, &other.parts.path);
        meets(&self.parts.host, &other.parts.host)
            && paths.len() == others.len()
            && paths.iter().zip(others).all(|(a, b)| meets(a, b))
            && !self.contradicts(other)
    }

    /// Whether a URL of this template could reach a route of the service, which is matched first.
    pub fn overlaps_route(&self, route: &[RouteSegment<'_>]) -> bool {
        let path = &self.parts.path;
        let rest = route.last() == Some(&RouteSegment::Rest);
        let fixed = route.len() - usize::from(rest);
        if path.len() < fixed || (path.len() > fixed && !rest) {
            return false;
        }
        path.iter()
            .zip(&route[..fixed])
            .all(|(pattern, segment)| match segment {
                RouteSegment::Literal(text) => meet(&self.steps(pattern), &literal(text)),
                RouteSegment::Any | RouteSegment::Rest => true,
            })
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

    fn steps(&self, pattern: &Pattern) -> Vec<Step> {
        let mut steps = Vec::new();
        for piece in pattern {
            match piece {
                Piece::Text(text) => steps.extend(literal(text)),
                Piece::Field(Field::Slug) => {
                    let optional = SLUG.end() - SLUG.start();
                    steps.extend([Step::One(Class::Slug)].repeat(*SLUG.start()));
                    steps.extend([Step::Optional(Class::Slug)].repeat(optional));
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
    Any,
}

impl Class {
    fn meets(self, other: Self) -> bool {
        match (self, other) {
            (Self::Byte(a), Self::Byte(b)) => a == b,
            (Self::Byte(byte), Self::Slug) | (Self::Slug, Self::Byte(byte)) => is_slug_byte(byte),
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

/// Whether one text takes both sequences of steps to their ends: the product of two automata,
/// walked once.
fn meet(a: &[Step], b: &[Step]) -> bool {
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
