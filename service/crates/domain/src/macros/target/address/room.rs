//! Decides for which values a location has room.
//!
//! Every expression can fall back to its [reserved] bytes, so a fitting choice always exists. A
//! value that is too long is replaced by the next operand of its expression: values that strangers
//! write before the owner's, the longest first. So a long value never takes the room of a short
//! one.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::{Expression, KEY, Scope, url_length};
use crate::macros::Macro;
use crate::macros::template::Choice;

/// Bytes that `expression` always has: of its longest fallback, or of the key.
pub(super) fn reserved(expression: &Expression) -> usize {
    let key = expression
        .macros()
        .any(|name| *name == Macro::InteractionRk);
    let texts = expression.texts().map(url_length);
    texts.chain(key.then_some(KEY)).max().unwrap_or_default()
}

/// The values of a target's expressions, in the order of the text.
pub(super) struct Values<'a> {
    scope: &'a dyn Scope,
    chosen: Vec<Chosen<'a>>,
}

struct Chosen<'a> {
    expression: &'a Expression,
    choice: Choice<'a>,
    /// Bytes of its value once it is encoded.
    length: usize,
}

/// The author of a value, which decides the order in which values are replaced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Yields {
    Stranger,
    Owner,
}

impl<'a> Chosen<'a> {
    fn new(expression: &'a Expression, choice: Choice<'a>) -> Self {
        let length = url_length(&choice.value);
        Self {
            expression,
            choice,
            length,
        }
    }

    /// The author of the present choice; `None` if it is never replaced: the key, and the owner's
    /// own text.
    fn yields(&self) -> Option<Yields> {
        match self.choice.name? {
            Macro::InteractionRk => None,
            name if name.is_of_stranger() => Some(Yields::Stranger),
            _ => Some(Yields::Owner),
        }
    }
}

impl<'a> Values<'a> {
    pub(super) fn of(
        expressions: impl Iterator<Item = &'a Expression>,
        scope: &'a dyn Scope,
    ) -> Self {
        let chosen = expressions
            .map(|expression| Chosen::new(expression, expression.choice(scope, 0)))
            .collect();
        Self { scope, chosen }
    }

    /// Replaces values until all together have at most `room` bytes. Returns the macros whose
    /// values were replaced.
    pub(super) fn fit(&mut self, room: usize) -> Vec<Macro> {
        let mut left_out = Vec::new();
        let mut length: usize = self.chosen.iter().map(|chosen| chosen.length).sum();
        while length > room {
            let yielding = self
                .chosen
                .iter_mut()
                .filter_map(|chosen| Some((chosen.yields()?, chosen)))
                .min_by_key(|(yields, chosen)| (*yields, Reverse(chosen.length)));
            let Some((_, chosen)) = yielding else {
                break;
            };
            left_out.extend(chosen.choice.name.cloned());
            length -= chosen.length;
            let next = chosen.expression.choice(self.scope, chosen.choice.next);
            *chosen = Chosen::new(chosen.expression, next);
            length += chosen.length;
        }
        left_out.sort_by_key(Macro::to_string);
        left_out.dedup();
        left_out
    }

    /// Texts of the chosen operands.
    pub(super) fn into_texts(self) -> impl Iterator<Item = Cow<'a, str>> {
        self.chosen.into_iter().map(|chosen| chosen.choice.value)
    }
}
