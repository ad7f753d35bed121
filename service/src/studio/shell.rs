//! What all pages have in common, and the plain ones.

use askama::Template;

use super::style;
use crate::experience::{Colour, Theme};
use crate::visitor::is_right_to_left;

/// Around what a page says.
#[derive(Clone, Copy)]
pub(crate) struct Shell<'a> {
    /// A language tag such as `pt-BR`.
    pub language: &'a str,
    /// Its title.
    pub title: &'a str,
    /// How it looks.
    pub theme: &'a Theme,
    /// The address of the image at its top.
    pub logo: Option<&'a str>,
    /// Marks style and script as its own.
    pub nonce: Option<&'a str>,
}

impl Shell<'_> {
    pub(super) fn right_to_left(&self) -> bool {
        is_right_to_left(self.language)
    }

    /// What stands in its style element.
    pub(crate) fn style(&self) -> String {
        style::css(self.theme)
    }

    pub(super) fn frame(&self) -> (Colour, Colour) {
        style::frame(self.theme)
    }
}

#[derive(Template)]
#[template(path = "page.html")]
struct Plain<'a> {
    shell: Shell<'a>,
    texts: &'a [&'a str],
}

/// A page with a title and some texts, no more.
pub(crate) fn plain(shell: Shell<'_>, texts: &[&str]) -> Result<String, askama::Error> {
    Plain { shell, texts }.render()
}
