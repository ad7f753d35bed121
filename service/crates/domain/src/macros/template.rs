//! Texts with macros in them.
//!
//! ```text
//! template   = { literal | "\{{" | "{{" [operand] { "||" [operand] } "}}" }
//! operand    = name | '"' text '"'          in a text, \" is a quote and \\ a backslash
//! ```
//!
//! Space around operands is free. The first operand that is not empty is the value; without one the
//! expression is empty text. `\{{` is a literal `{{`. Text that does not parse as an expression (an
//! unclosed `{{`, an unknown operator) is literal, so every text is a template.

use std::borrow::Cow;

use super::{Encoding, Macro, Scope};

/// A text with macros, parsed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

/// A piece of a template. No two literals are neighbours, and none is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The owner's own text, unescaped.
    Literal(String),
    /// The placeholder that a value replaces.
    Expression(Expression),
}

/// `{{ a || b || "fallback" }}`: the operands in order, without unknown names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    /// The source text, braces included.
    source: String,
    operands: Vec<Operand>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operand {
    Macro(Macro),
    Text(String),
}

/// The operand that an expression uses.
pub(super) struct Choice<'a> {
    /// The macro; `None` for the owner's own text, and if no operand is left.
    pub(super) name: Option<&'a Macro>,
    /// Text of the operand.
    pub(super) value: Cow<'a, str>,
    /// The index of the next operand.
    pub(super) next: usize,
}

impl Template {
    /// Reads a template. Every text is one.
    pub fn parse(source: &str) -> Self {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = source;
        while let Some((before, braced)) = rest.find("{{").map(|at| rest.split_at(at)) {
            let inner = &braced["{{".len()..];
            if let Some(before) = before.strip_suffix('\\') {
                literal += before;
                literal += "{{";
                rest = inner;
            } else if let Some((expression, after)) = Expression::parse(inner) {
                literal += before;
                push_literal(&mut parts, &mut literal);
                parts.push(Part::Expression(expression));
                rest = after;
            } else {
                literal += before;
                literal.push('{');
                rest = &braced["{".len()..];
            }
        }
        literal += rest;
        push_literal(&mut parts, &mut literal);
        Self {
            source: source.to_owned(),
            parts,
        }
    }

    /// The source text, from which it was parsed.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every macro in it, in the order of the text.
    pub fn macros(&self) -> impl Iterator<Item = &Macro> {
        let expressions = self.parts.iter().filter_map(|part| match part {
            Part::Literal(_) => None,
            Part::Expression(expression) => Some(expression),
        });
        expressions.flat_map(Expression::macros)
    }

    /// Whether it has a macro for which `f` is true.
    pub fn uses(&self, f: impl Fn(&Macro) -> bool) -> bool {
        self.macros().any(f)
    }

    /// The text with its values, each in the given `encoding`.
    pub fn render(&self, scope: &dyn Scope, encoding: Encoding) -> String {
        let mut out = String::with_capacity(self.source.len());
        for part in &self.parts {
            match part {
                Part::Literal(text) => out += text,
                Part::Expression(expression) => out += &encoding.encode(expression.value(scope)),
            }
        }
        out
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text with a mark in place of each expression, for parsers of another syntax. They treat
    /// a mark as a word.
    pub fn marked(&self) -> String {
        let mut out = String::with_capacity(self.source.len());
        for (number, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(text) => out.extend(text.chars().filter(|c| !is_mark(*c))),
                Part::Expression(_) => {
                    out.push(MARK);
                    out += &number.to_string();
                    out.push(MARK_END);
                }
            }
        }
        out
    }

    /// A piece of the [marked](Self::marked) text, with values in place of its marks.
    pub fn fill_marks(&self, piece: &str, scope: &dyn Scope) -> String {
        self.replace_marks(
            piece,
            |expression| expression.value(scope),
            |text| text.into(),
        )
    }

    /// A piece of the [marked](Self::marked) text, turned back into a template's source.
    pub fn unmark(&self, piece: &str) -> String {
        let source = |expression: &Expression| expression.source.clone().into();
        self.replace_marks(piece, source, |text| text.replace("{{", r"\{{").into())
    }

    fn replace_marks<'a>(
        &'a self,
        piece: &str,
        with: impl Fn(&'a Expression) -> Cow<'a, str>,
        literal: impl Fn(&str) -> Cow<'_, str>,
    ) -> String {
        let mut out = String::with_capacity(piece.len());
        let mut runs = piece.split(MARK);
        out += &literal(runs.next().unwrap_or_default());
        for run in runs {
            let (number, rest) = run.split_once(MARK_END).unwrap_or((run, ""));
            let part = number
                .parse()
                .ok()
                .and_then(|number: usize| self.parts.get(number));
            if let Some(Part::Expression(expression)) = part {
                out += &with(expression);
            }
            out += &literal(rest);
        }
        out
    }
}

/// The characters around the number of an expression in a marked text. Unicode reserves them as
/// noncharacters, so they occur in no text.
const MARK: char = '\u{FDD0}';
const MARK_END: char = '\u{FDD1}';

fn is_mark(c: char) -> bool {
    matches!(c, MARK | MARK_END)
}

fn push_literal(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(std::mem::take(literal)));
    }
}

impl Expression {
    /// Reads an expression that begins after its `{{`. Also returns the text after its `}}`.
    fn parse(text: &str) -> Option<(Self, &str)> {
        let (written, after) = operands(text)?;
        let source = format!("{{{{{}", &text[..text.len() - after.len()]);
        let known = written.into_iter().filter_map(|operand| match operand {
            Written::Name(name) => name.parse().ok().map(Operand::Macro),
            Written::Text(text) => Some(Operand::Text(text)),
        });
        let operands = known.collect();
        Some((Self { source, operands }, after))
    }

    /// The value of the first operand that is not empty, or the empty text.
    pub(super) fn value<'a>(&'a self, scope: &'a dyn Scope) -> Cow<'a, str> {
        self.choice(scope, 0).value
    }

    /// The first operand at index `from` or later that is not empty, or the empty text.
    pub(super) fn choice<'a>(&'a self, scope: &'a dyn Scope, from: usize) -> Choice<'a> {
        let mut choices = (from..)
            .zip(&self.operands[from..])
            .map(|(place, operand)| {
                let (name, value) = match operand {
                    Operand::Macro(name) => (Some(name), scope.value(name).unwrap_or_default()),
                    Operand::Text(text) => (None, text.into()),
                };
                let next = place + 1;
                Choice { name, value, next }
            });
        choices
            .find(|choice| !choice.value.is_empty())
            .unwrap_or(Choice {
                name: None,
                value: Cow::default(),
                next: self.operands.len(),
            })
    }

    /// Macros among the operands.
    pub(super) fn macros(&self) -> impl Iterator<Item = &Macro> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Macro(name) => Some(name),
            Operand::Text(_) => None,
        })
    }

    /// Fallback texts among the operands.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.operands.iter().filter_map(|operand| match operand {
            Operand::Macro(_) => None,
            Operand::Text(text) => Some(text.as_str()),
        })
    }
}

/// An operand, as written in the source.
pub(super) enum Written<'a> {
    /// The name of a macro, which may be unknown; empty if the operand is missing.
    Name(&'a str),
    /// A text in quotes, without them.
    Text(String),
}

/// Reads the operands of an expression that begins after its `{{`. Also returns the text after its
/// `}}`.
///
/// The expression ends at the next brace outside quotes, whatever that brace is. So a text full of
/// `{{` is read in time proportional to its length.
pub(super) fn operands(text: &str) -> Option<(Vec<Written<'_>>, &str)> {
    let mut operands = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (text, after) = quoted_text(quoted)?;
            operands.push(Written::Text(text));
            rest = after.trim_start();
        } else {
            let (name, after) = rest.split_at(rest.find(['{', '}', '|', '"'])?);
            operands.push(Written::Name(name.trim_end()));
            rest = after;
        }
        if let Some(after) = rest.strip_prefix("}}") {
            return Some((operands, after));
        }
        rest = rest.strip_prefix("||")?;
    }
}

/// A text up to its closing quote, and the text after the quote.
fn quoted_text(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next()? {
            '"' => return Some((out, chars.as_str())),
            '\\' if chars.as_str().starts_with(['"', '\\']) => out.extend(chars.next()),
            c => out.push(c),
        }
    }
}
